//! Results as a page: one self-contained HTML file that needs no network.
//!
//! The page is a fixed text with the results in it as JSON; its script draws them. Nothing of a model becomes markup: JSON is written so that it cannot end
//! the element it stands in, the script makes text nodes of it, and the page's own policy admits no other script.
//!
//! The explorer of the command line is made of the same parts: [`document`], [`VIEWER`] and [`Source`].

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use threadwise_lang::control_flow;
use threadwise_lang::print;
use threadwise_lang::program::Span;
use threadwise_lang::syntax::{self, SyntaxKind, SyntaxNode};
use threadwise_show::{assertion, to_conclusion, to_outline};

use crate::claim::listed;
use crate::report::{Exit, PropertyResult, Report, ReportedDiagnostic};
use crate::session::Session;

/// The script that draws walks: see its first lines.
pub const VIEWER: &str = include_str!("viewer.js");
/// The style of all pages.
pub const STYLE: &str = include_str!("viewer.css");

/// What a page says that was written early.
const INTERRUPTED: &str = "Interrupted: not everything was checked.";
const REPORT: &str = include_str!("report.js");

/// A model as pages show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    /// The name of the file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The templates of its processes.
    pub templates: Vec<SourceTemplate>,
    /// Its properties.
    pub properties: Vec<SourceProperty>,
}

/// A property as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceProperty {
    /// Its name.
    pub name: String,
    /// The line of its name, from 1; none if it stands for something that nobody wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its declaration, in one line.
    pub text: String,
}

/// A template with its control flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceTemplate {
    /// Its name.
    pub name: String,
    /// The position of the label where its processes begin.
    pub entry: usize,
    /// Its labels, `done` last.
    pub labels: Vec<SourceLabel>,
    /// Steps that may be, as positions of labels.
    pub edges: Vec<(usize, usize)>,
}

/// A label.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceLabel {
    /// Its name.
    pub name: String,
    /// Its line, from 1; none for `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Source {
    /// A model that was read. One with errors has its text only.
    pub fn new(session: &Session) -> Source {
        let lines = session.lines();
        let line = |span: Span| Some(lines.line(span) as usize);
        let templates = session.program().map_or_else(Vec::new, |program| {
            let each = program.templates.iter_enumerated().map(|(id, template)| {
                let labels = template.locations.iter_enumerated();
                SourceTemplate {
                    name: template.name.clone(),
                    entry: template.entry.index(),
                    labels: labels
                        .map(|(id, location)| SourceLabel {
                            name: location.name.clone(),
                            line: line(location.span).filter(|_| id != template.done()),
                        })
                        .collect(),
                    edges: control_flow(program, id)
                        .into_iter()
                        .map(|(from, to)| (from.index(), to.index()))
                        .collect(),
                }
            });
            each.collect()
        });
        let tree = (!session.is_imported()).then(|| syntax::parse(session.source()).tree);
        let properties = session.program().map_or_else(Vec::new, |program| {
            let each = program.properties.iter().map(|property| SourceProperty {
                name: property.name.clone(),
                line: line(property.span),
                text: match &tree {
                    Some(tree) => declaration(tree, property.span.start),
                    None => print::property(program, property),
                },
            });
            each.collect()
        });
        Source {
            name: session.name().to_owned(),
            text: session.source().to_owned(),
            templates,
            properties,
        }
    }
}

/// The declaration around a name, in one line and without comments.
fn declaration(tree: &SyntaxNode, name: u32) -> String {
    let item = tree.children().find(|item| {
        let range = item.text_range();
        u32::from(range.start()) <= name && name < u32::from(range.end())
    });
    let mut text = String::new();
    let tokens = item.iter().flat_map(|item| item.descendants_with_tokens());
    for token in tokens.filter_map(|element| element.into_token()) {
        match token.kind() {
            SyntaxKind::LineComment | SyntaxKind::BlockComment => text.push(' '),
            _ => text.push_str(token.text()),
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// What the report's script reads.
#[derive(Serialize)]
struct Data<'r> {
    title: String,
    version: &'r str,
    exit: u8,
    files: &'r [Source],
    runs: Vec<RunData<'r>>,
}

#[derive(Serialize)]
struct RunData<'r> {
    /// Which of the files; none if the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    title: String,
    results: &'r [PropertyResult],
    /// For each result: what it speaks of, what is wrong with its run, and whether its outline is all of the proof.
    scopes: Vec<String>,
    conclusions: Vec<Option<String>>,
    /// For each result, each part of its outline and each of the labels there: what holds, as one expression.
    assertions: Vec<Vec<Vec<String>>>,
    endings: Vec<Option<String>>,
    diagnostics: &'r [ReportedDiagnostic],
}

/// The report as a page. `sources` are the files that its runs name.
pub fn report(report: &Report, sources: &[Source]) -> Result<String, serde_json::Error> {
    let mut names: Vec<&str> = report.runs.iter().map(|run| run.file.as_str()).collect();
    names.dedup();
    let title = match names.as_slice() {
        [] => "threadwise".to_owned(),
        [name] => (*name).to_owned(),
        [name, others @ ..] => format!("{name} and {} more", others.len()),
    };
    let runs = report.runs.iter().map(|run| {
        let file = sources.iter().position(|source| source.name == run.file);
        let text = file.map(|file| sources[file].text.as_str());
        let conclusion = |result: &PropertyResult| {
            let trace = result.trace.as_ref()?;
            Some(to_conclusion(trace, text))
        };
        let ending = |result: &PropertyResult| {
            let outline = result.outline.as_ref()?;
            // The argument of liveness is shown by itself, and ends with its own last line.
            outline
                .argument
                .is_empty()
                .then(|| to_outline(outline).pop())?
        };
        let assertions = |result: &PropertyResult| -> Vec<Vec<String>> {
            let processes = result.outline.iter().flat_map(|outline| &outline.processes);
            let labels = processes.map(|process| process.labels.iter());
            labels
                .map(|labels| labels.map(assertion).collect())
                .collect()
        };
        let mut title = run.file.clone();
        if !run.values.is_empty() {
            title.push_str(&format!(" at {}", run.values));
        }
        RunData {
            file,
            title,
            results: &run.results,
            scopes: run.results.iter().map(reach).collect(),
            conclusions: run.results.iter().map(conclusion).collect(),
            assertions: run.results.iter().map(assertions).collect(),
            endings: run.results.iter().map(ending).collect(),
            diagnostics: &run.diagnostics,
        }
    });
    let runs: Vec<RunData> = runs.collect();
    let mut plain: Vec<String> = runs.iter().flat_map(plain_lines).collect();
    if report.exit == Exit::Interrupted.code() {
        plain.push(INTERRUPTED.to_owned());
    }
    let data = serde_json::to_string(&Data {
        title: title.clone(),
        version: &report.version,
        exit: report.exit,
        runs,
        files: sources,
    })?;
    Ok(document(&Document {
        title: &format!("{title} – threadwise"),
        data: &data,
        scripts: &[VIEWER, REPORT],
        plain: &plain.join("\n"),
        policy: "",
    }))
}

/// What a verdict is about; where it is unknown, and that is known, at which values the property holds.
fn reach(result: &PropertyResult) -> String {
    match result.holds.as_slice() {
        [] => result.scope.phrase(),
        holds => format!("holds for {}", listed(holds)),
    }
}

/// The verdicts of a run as lines, for browsers without scripts.
fn plain_lines(run: &RunData) -> Vec<String> {
    let mut lines = vec![run.title.clone()];
    for (position, result) in run.results.iter().enumerate() {
        lines.push(format!(
            "  {}  {}  {}",
            result.property,
            result.verdict.as_str(),
            run.scopes[position]
        ));
        let conclusion = run.conclusions[position].iter();
        lines.extend(conclusion.flat_map(|text| text.lines().map(|line| format!("    {line}"))));
    }
    let diagnostics = run.diagnostics.iter();
    lines.extend(diagnostics.map(|diagnostic| format!("  {}", diagnostic.message)));
    lines
}

/// A page to be.
#[derive(Clone, Copy, Debug)]
pub struct Document<'d> {
    /// What the browser shows as its name.
    pub title: &'d str,
    /// What its scripts find in the element `data`: JSON.
    pub data: &'d str,
    /// Its scripts, in order.
    pub scripts: &'d [&'d str],
    /// What is shown where scripts do not run.
    pub plain: &'d str,
    /// Directives to add to its policy, such as `connect-src 'self';`.
    pub policy: &'d str,
}

/// The whole text of a page: its style and scripts are in it, and nothing else is loaded or run.
pub fn document(page: &Document) -> String {
    // Only the page's own script has the number. That it follows from the page keeps the bytes the same from run to run.
    let mut hasher = DefaultHasher::new();
    (page.title, page.data).hash(&mut hasher);
    let nonce = format!("{:016x}", hasher.finish());
    let title = escaped(page.title);
    let plain = escaped(page.plain);
    let data = inert(page.data);
    let scripts = page.scripts.join("\n");
    let policy = page.policy;
    format!(
        "<!DOCTYPE html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; img-src data:; base-uri 'none'; form-action 'none'; {policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <style nonce=\"{nonce}\">\n{STYLE}</style>\n\
         </head>\n\
         <body>\n\
         <noscript><pre class=\"plain\">{plain}</pre></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script nonce=\"{nonce}\">\n{scripts}</script>\n\
         </body>\n\
         </html>\n"
    )
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

/// JSON that says the same and has no character with which markup could begin: in JSON these occur within strings only.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_shown_whole_and_without_comments() {
        let text = "shared x: bool = true; process P { a: x := false; }\n\
                    invariant one: /* not; this } */ x || !x; invariant\n  two: // nor; this\n    !x -> !x;\n";
        let source = Source::new(&Session::new("m.tw", text));
        let shown: Vec<&str> = source.properties.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(
            shown,
            ["invariant one: x || !x;", "invariant two: !x -> !x;"]
        );
    }

    #[test]
    fn data_cannot_become_markup() {
        let json = serde_json::to_string("</script><!-- & \u{2028}").unwrap();
        let text = inert(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: String = serde_json::from_str(&text).unwrap();
        assert_eq!(back, "</script><!-- & \u{2028}");
    }
}
