//! Where a model comes from that was written in another language: its text there, and which line each line of the model comes from.
//!
//! Everything inside speaks of the model's lines. What leaves a [`Session`](crate::Session) speaks of the original's: people wrote that.

use std::collections::BTreeSet;

use threadwise_evidence::{CheckName, Ending, Trace};
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{Directive, Span};
use threadwise_lang::render::LineIndex;
use threadwise_model::lower::MAX_PATHS;

/// What a front end writes behind a check of its own: the words that follow say what is wrong if it fails.
const MEANING: &str = "// fails: ";

/// What a front end writes behind a statement that gives any of many values: what to do if these are too many.
const WIDE: &str = "// many values: ";

/// What a check on a line of a model stands for, if the front end that wrote the model says so.
fn meaning_at(model: &str, line: u32) -> Option<&str> {
    let text = model.lines().nth((line as usize).checked_sub(1)?)?;
    text.split_once(MEANING).map(|(_, words)| words.trim())
}

/// The program that a model was made from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Its text.
    pub text: String,
    /// For each line of the model, the line of the original, from 1.
    pub lines: Vec<Option<u32>>,
}

impl Origin {
    /// The line of the original that a line of the model comes from, or the nearest one before it that has one. Both from 1.
    pub fn line(&self, line: u32) -> Option<u32> {
        let before = self.lines.get(..(line as usize).min(self.lines.len()))?;
        before.iter().rev().find_map(|line| *line)
    }

    /// The same for a place in the model's text.
    pub(crate) fn line_at(&self, model: &LineIndex, at: u32) -> Option<u32> {
        self.line(u32::try_from(model.line(at)).unwrap_or(u32::MAX))
    }

    /// Makes the lines of a trace those of the original, and says what a failing check stands for there.
    pub(crate) fn trace(&self, model: &str, trace: &mut Trace) {
        if let Ending::Check {
            check: CheckName::Assert | CheckName::Range,
            line: Some(line),
            meaning,
            ..
        } = &mut trace.ending
        {
            *meaning = meaning_at(model, *line).map(str::to_owned);
        }
        let moved = |line: &mut Option<u32>| *line = line.and_then(|line| self.line(line));
        // Several lines of the model may come from one.
        let others = |lines: &mut Vec<u32>, first: Option<u32>| {
            let mut known: BTreeSet<u32> = first.into_iter().collect();
            let originals = lines.iter().filter_map(|line| self.line(*line));
            *lines = originals.filter(|line| known.insert(*line)).collect();
        };
        for step in &mut trace.steps {
            moved(&mut step.line);
            others(&mut step.then, step.line);
        }
        match &mut trace.ending {
            Ending::Check { line, after, .. } => {
                moved(line);
                others(after, *line);
            }
            Ending::Invariant {
                fails: Some(failed),
            } => moved(&mut failed.line),
            Ending::Invariant { fails: None } | Ending::Deadlock | Ending::End => {}
        }
        if let Some(lasso) = &mut trace.lasso {
            for part in &mut lasso.violated {
                moved(&mut part.line);
                part.fails
                    .iter_mut()
                    .for_each(|failed| moved(&mut failed.line));
            }
            lasso
                .fairness
                .iter_mut()
                .for_each(|assumed| moved(&mut assumed.line));
        }
    }

    /// What to do where no verdict was found because an input has too many values: what the front end says about the first such input.
    pub(crate) fn advice(&self, model: &str) -> Option<String> {
        let mut wide = Vec::new();
        for (position, line) in model.lines().enumerate() {
            if let Some((_, advice)) = line.split_once(WIDE) {
                wide.push((self.line(position as u32 + 1), advice.trim()));
            }
        }
        let (line, advice) = *wide.first()?;
        let place = line.map_or(String::new(), |line| format!(" of line {line}"));
        let more = match wide.len() {
            1 => String::new(),
            2 => " (1 more is like that)".to_owned(),
            count => format!(" ({} more are like that)", count - 1),
        };
        Some(format!("{advice}{place}{more}"))
    }

    /// A message about the model as one about the lines of the original; what to do about a model that is too large is said in terms of the
    /// original.
    pub(crate) fn diagnostic(&self, model: &str, mut diagnostic: Diagnostic) -> Diagnostic {
        let lines = LineIndex::new(model);
        let moved = |span: Span| self.whole_line(self.line_at(&lines, span.start).unwrap_or(1));
        diagnostic.span = moved(diagnostic.span);
        for (span, _) in &mut diagnostic.related {
            *span = moved(*span);
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

    /// The text of a line, without the space around it.
    fn whole_line(&self, number: u32) -> Span {
        let mut start = 0;
        for (position, line) in self.text.split_inclusive('\n').enumerate() {
            if position + 1 == number as usize {
                let text = line.trim();
                start += line.len() - line.trim_start().len();
                return Span {
                    start: start as u32,
                    end: (start + text.len()) as u32,
                };
            }
            start += line.len();
        }
        Span { start: 0, end: 0 }
    }

    /// What the original says is expected of it: comments that begin `//@`, alone in their lines.
    pub(crate) fn directives(&self) -> Vec<Directive> {
        let mut start = 0;
        let mut found = Vec::new();
        for line in self.text.split_inclusive('\n') {
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
}

#[cfg(test)]
mod tests {
    use threadwise_evidence::Ending;

    use super::Origin;
    use crate::{Options, PropertyResult, ReportedDiagnostic, Session, VerdictKind};

    /// What is found about a model whose lines all come from line 7.
    fn checked(model: &str) -> PropertyResult {
        let origin = Origin {
            text: "a program\n".repeat(9),
            lines: vec![Some(7); model.lines().count()],
        };
        let session = Session::imported("test.c", model, origin, Vec::new());
        let report = session.check(&Options::default()).expect("the options");
        let run = report.runs.into_iter().next().expect("one run");
        let mut results = run.results.into_iter();
        let found = results.find(|result| result.property == "checks");
        found.unwrap_or_else(|| panic!("no result: {:?}", run.diagnostics))
    }

    #[test]
    fn a_failing_check_says_what_it_stands_for() {
        for (check, wanted) in [
            (
                "assert x < 0; // fails: the lock is free",
                Some("the lock is free"),
            ),
            ("x := x + 9; // fails: an overflow", Some("an overflow")),
            ("assert x < 0; // a comment", None),
            // The words are about the check that the front end wrote, and this is another one.
            ("x := 1 / x; // fails: an overflow", None),
        ] {
            let model = format!(
                "shared x: 0..3 = 0;\nprocess P {{\n    a: atomic {{\n        {check}\n    }}\n}}\n"
            );
            let trace = checked(&model).trace.expect("a run");
            let Ending::Check { line, meaning, .. } = &trace.ending else {
                panic!("{check}: {:?}", trace.ending);
            };
            assert_eq!((meaning.as_deref(), *line), (wanted, Some(7)), "{check}");
        }
    }

    /// What is said about a model, with the text of its place in the program.
    fn said(program: &str, model: &str, lines: Vec<Option<u32>>) -> Option<(String, String)> {
        let text = program.to_owned();
        let session = Session::imported("test.c", model, Origin { text, lines }, Vec::new());
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
        let mut lines = vec![Some(1), Some(2), Some(3)];
        let (message, place) = said(program, &model, lines.clone()).unwrap();
        let wanted = "more than 4096 ways through what is one step here";
        assert_eq!(
            (message.as_str(), place.as_str()),
            (wanted, "atomic { x = 1 }")
        );
        // A line without an origin has that of the one before.
        lines[2] = None;
        let (_, place) = said(program, &model, lines.clone()).unwrap();
        assert_eq!(place, "active proctype P() {");
        let small = model.replacen(&choices, "x := 1;\n", 1);
        assert_eq!(said(program, &small, lines), None);
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
        let (message, place) = said(program, &model, lines).unwrap();
        // It is said where the definitions are used.
        let wanted = "the model of this program grows too large here";
        assert_eq!((message.as_str(), place.as_str()), (wanted, "x > 0"));
    }

    #[test]
    fn advice_names_the_input() {
        let model = "shared x: 0..2000000000 = 0;\nprocess P {\n    a: havoc x; // many values: bound the one\n    b: assert x * x != 49;\n}\n";
        let result = checked(model);
        if result.verdict == VerdictKind::Unknown {
            let next = result.reason.and_then(|reason| reason.next);
            assert_eq!(next.as_deref(), Some("bound the one of line 7"));
        } else {
            assert_eq!(result.verdict, VerdictKind::Violated);
        }
        let origin = Origin {
            text: String::new(),
            lines: vec![None, Some(3), Some(4)],
        };
        let advice = origin.advice("\na // many values: bound the one\nb // many values: other\n");
        let wanted = "bound the one of line 3 (1 more is like that)";
        assert_eq!(advice.as_deref(), Some(wanted));
        assert_eq!(origin.advice("shared x: bool = any;\n"), None);
    }
}
