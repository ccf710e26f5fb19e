//! Programs that a front end made from another language: what is said about them is about what people wrote.
//!
//! Places in such a program are places in the original's files, so lines need no translation. What does is advice: a model that is too large is not one
//! that somebody could write differently, the original is.

use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{Block, Directive, Note, Program, Span, Stmt};
use threadwise_lang::source::SourceMap;
use threadwise_model::lower::MAX_PATHS;

/// What to do where no verdict was found because an input has too many values: what the front end says about the first such input.
pub(crate) fn advice(program: &Program) -> Option<String> {
    let mut wide: Vec<(Span, &str)> = Vec::new();
    for template in &program.templates {
        for_statements(&template.body, &mut |stmt| {
            if let Some(Note::Wide(advice)) = &stmt.note {
                wide.push((stmt.span, advice));
            }
        });
    }
    let (span, advice) = *wide.first()?;
    let line = program.source.lines().line(span);
    let more = match wide.len() {
        1 => String::new(),
        2 => " (1 more is like that)".to_owned(),
        count => format!(" ({} more are like that)", count - 1),
    };
    Some(format!("{advice} of line {line}{more}"))
}

pub(crate) fn for_statements<'p>(block: &'p Block, visit: &mut dyn FnMut(&'p Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in stmt.kind.parts().blocks {
            for_statements(inner, visit);
        }
    }
}

/// A message about a program as one about the original's own file; what to do about a model that is too large is said in terms of the original.
pub(crate) fn diagnostic(source: &SourceMap, mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.span = source.in_program(diagnostic.span);
    for (span, _) in &mut diagnostic.related {
        *span = source.in_program(*span);
    }
    diagnostic.fix = None;
    let (message, help) = match diagnostic.code {
        Code::ExpansionTooLarge => (
            "the model of this program grows too large here".to_owned(),
            "use fewer processes or threads, smaller arrays, or simpler conditions",
        ),
        Code::TooManyPaths => (
            format!("more than {MAX_PATHS} ways through what is one step here"),
            "let it choose less often, or make several steps of it",
        ),
        Code::TooLarge => (
            format!(
                "the model of this program is too large: {}",
                diagnostic.message
            ),
            "use fewer processes or threads, smaller arrays, or fewer values",
        ),
        _ => return diagnostic,
    };
    diagnostic.message = message;
    diagnostic.help(help)
}

/// What a text in another language says is expected of it: comments that begin `//@`, alone in their lines.
pub(crate) fn directives(text: &str) -> Vec<Directive> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        if let Some(text) = line.trim().strip_prefix("//@") {
            let span = Span {
                start: at as u32,
                end: (at + line.trim().len()) as u32,
            };
            found.push(Directive {
                span,
                text: text.trim().to_owned(),
            });
        }
        start += line.len();
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use threadwise_evidence::Ending;
    use threadwise_lang::print::Layout;
    use threadwise_lang::program::{Note, Span, Stmt, TemplateId};
    use threadwise_lang::render::LineIndex;
    use threadwise_lang::rewrite::Rewrite;
    use threadwise_lang::source::SourceMap;

    use crate::{Options, PropertyResult, ReportedDiagnostic, Session, VerdictKind};

    /// Gives the statements of a line a note.
    struct Noted<'n> {
        lines: &'n LineIndex,
        notes: &'n [(usize, Note)],
    }

    impl Rewrite for Noted<'_> {
        fn stmt(&mut self, _: TemplateId, stmt: &mut Stmt) {
            let line = self.lines.line(stmt.span.start);
            let found = self.notes.iter().find(|(at, _)| *at == line);
            stmt.note = found.map(|(_, note)| note.clone());
        }
    }

    /// A session as a front end makes it: the program that a model says, each line of which comes from a line of the original.
    pub(crate) fn made(
        original: &str,
        model: &str,
        lines: &[Option<u32>],
        notes: &[(usize, Note)],
    ) -> Session {
        let mut program = threadwise_lang::check(model).program.expect("a program");
        let index = LineIndex::new(model);
        program.rewrite(&mut Noted {
            lines: &index,
            notes,
        });
        let mut starts = vec![0];
        starts.extend(original.match_indices('\n').map(|(at, _)| at as u32 + 1));
        program.map_spans(&mut |span| {
            let before = &lines[..index.line(span.start).min(lines.len())];
            let line = before.iter().rev().find_map(|line| *line).unwrap_or(1) as usize;
            let text = original.lines().nth(line - 1).unwrap_or("");
            let start = starts[line - 1] + (text.len() - text.trim_start().len()) as u32;
            let end = start + text.trim().len() as u32;
            Span { start, end }
        });
        program.source = Arc::new(SourceMap::foreign("test.c", original));
        let layout = Layout::of(&program);
        Session::imported("test.c", program, layout, Vec::new())
    }

    /// What is found about a model whose lines all come from line 7.
    fn checked(model: &str, notes: &[(usize, Note)]) -> PropertyResult {
        let lines = vec![Some(7); model.lines().count()];
        let session = made(&"a program\n".repeat(9), model, &lines, notes);
        let report = session.check(&Options::default()).expect("the options");
        let run = report.runs.into_iter().next().expect("one run");
        let mut results = run.results.into_iter();
        let found = results.find(|result| result.property == "checks");
        found.unwrap_or_else(|| panic!("no result: {:?}", run.diagnostics))
    }

    #[test]
    fn a_failing_check_says_what_it_stands_for() {
        let fails = |meaning: &str| vec![(4, Note::Fails(meaning.to_owned()))];
        for (check, notes, wanted) in [
            (
                "assert x < 0;",
                fails("the lock is free"),
                Some("the lock is free"),
            ),
            ("x := x + 9;", fails("an overflow"), Some("an overflow")),
            ("assert x < 0;", Vec::new(), None),
            // The words are about the check that the front end wrote, and this is another one.
            ("x := 1 / x;", fails("an overflow"), None),
        ] {
            let model = format!(
                "shared x: 0..3 = 0;\nprocess P {{\n    a: atomic {{\n        {check}\n    }}\n}}\n"
            );
            let trace = checked(&model, &notes).trace.expect("a run");
            let Ending::Check { line, meaning, .. } = &trace.ending else {
                panic!("{check}: {:?}", trace.ending);
            };
            assert_eq!((meaning.as_deref(), *line), (wanted, Some(7)), "{check}");
        }
    }

    /// What is said about a model, with the text of its place in the program.
    fn said(program: &str, model: &str, lines: &[Option<u32>]) -> Option<(String, String)> {
        let session = made(program, model, lines, &[]);
        let report = session.check(&Options::default()).expect("the options");
        let run = report.runs.into_iter().next().expect("one run");
        let diagnostics = run.diagnostics.into_iter();
        let is_error = |d: &ReportedDiagnostic| d.code.as_ref().is_some_and(|c| c.starts_with('E'));
        let error = diagnostics.rev().find(is_error)?;
        let place = error.place.as_ref().expect("a place");
        assert!(error.help.is_some_and(|help| !help.contains("label")));
        let line = program
            .lines()
            .nth(place.line as usize - 1)
            .expect("a line");
        let quoted = &line[place.column as usize - 1..place.end_column as usize - 1];
        Some((error.message, quoted.to_owned()))
    }

    #[test]
    fn says_where_a_model_has_too_many_paths() {
        let program = "byte x;\nactive proctype P() {\n  atomic { x = 1 }\n}\n";
        let choices = "choose { x := 0; } or { x := 1; }\n".repeat(13);
        let model = format!("shared x: 0..1 = 0;\nprocess P {{\na: atomic {{\n{choices}}}\n}}\n");
        let lines = [Some(1), Some(2), Some(3)];
        let (message, place) = said(program, &model, &lines).unwrap();
        let wanted = "more than 4096 ways through what is one step here";
        assert_eq!(
            (message.as_str(), place.as_str()),
            (wanted, "atomic { x = 1 }")
        );
        let small = model.replacen(&choices, "x := 1;\n", 1);
        assert_eq!(said(program, &small, &lines), None);
    }

    #[test]
    fn says_where_a_model_grows() {
        let program = "byte x;\nactive proctype P() {\n  x > 0\n}\n";
        let mut model = "shared x: 0..1 = 0;\ndef d0 = x > 0;\n".to_owned();
        for n in 1..25 {
            model += &format!("def d{n} = d{m} || !d{m};\n", m = n - 1);
        }
        let mut lines = vec![Some(1); 26];
        lines.extend([Some(2), Some(3)]);
        model += "process P {\na: await d24;\n}\n";
        let (message, place) = said(program, &model, &lines).unwrap();
        // It is said where the definitions are used.
        let wanted = "the model of this program grows too large here";
        assert_eq!((message.as_str(), place.as_str()), (wanted, "x > 0"));
    }

    #[test]
    fn advice_names_the_input() {
        let wide = |line| (line, Note::Wide("bound the one".to_owned()));
        let model = "shared x: 0..2000000000 = 0;\nprocess P {\n    a: havoc x;\n    b: assert x * x != 49;\n}\n";
        let result = checked(model, &[wide(3)]);
        if result.verdict == VerdictKind::Unknown {
            let next = result.reason.and_then(|reason| reason.next);
            assert_eq!(next.as_deref(), Some("bound the one of line 7"));
        } else {
            assert_eq!(result.verdict, VerdictKind::Violated);
        }
        let model = "shared x: bool = any;\nprocess P {\n    a: havoc x;\n    b: havoc x;\n}\n";
        let lines = [None, None, Some(3), Some(4)];
        let advice = |notes: &[(usize, Note)]| {
            let session = made("1\n2\n3\n4\n", model, &lines, notes);
            super::advice(session.program().expect("a program"))
        };
        let wanted = "bound the one of line 3 (1 more is like that)";
        assert_eq!(advice(&[wide(3), wide(4)]).as_deref(), Some(wanted));
        assert_eq!(advice(&[]), None);
    }
}
