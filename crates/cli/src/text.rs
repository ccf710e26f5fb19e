//! Results for people: what was checked and for which parameters, a line for each property, the
//! executions that violate properties, and what to do next.

use std::collections::{BTreeMap, BTreeSet};

use threadwise::{Kind, PropertyResult, Report, Run, Scope, Values, VerdictKind};
use threadwise_show::to_outline;

use crate::args::TraceFormat;
use crate::check::explains;
use crate::terminal::{Style, Terminal, say};
use crate::traces;
use threadwise_show::words::{count, counted, one_line, rounded, seconds};

/// What to do about a violation.
const VIOLATED: &str = "fix the model, or keep the execution with --trace DIR; \
     `threadwise replay` shows it again";

/// So many lines of a proof are printed, unless all are asked for.
const MOST_LINES: usize = 40;

/// How many further instances that violate a property are listed.
const LISTED: usize = 20;

/// How much is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) explain: bool,
}

/// Prints runs as they come.
pub(crate) struct Printer {
    terminal: Terminal,
    quiet: bool,
    verbose: bool,
    explain: bool,
    /// How traces are drawn; nothing for what fits.
    layout: Option<TraceFormat>,
    /// Advice, each piece once, in the order in which it came up.
    advice: Vec<String>,
    printed: bool,
    /// Properties of the present file whose violation was shown, with the further instances that
    /// violate them: of a sweep, the smallest execution is the one to read.
    shown: BTreeMap<String, Vec<Values>>,
}

impl Printer {
    /// A printer for standard output. Traces are drawn in this form, or in one that fits.
    pub(crate) fn new(terminal: Terminal, detail: Detail, form: Option<TraceFormat>) -> Printer {
        Printer {
            terminal,
            quiet: detail.quiet,
            verbose: detail.verbose,
            explain: detail.explain,
            layout: form.filter(|form| form.is_for_people()),
            advice: Vec::new(),
            printed: false,
            shown: BTreeMap::new(),
        }
    }

    /// Prints what was found about one instance of a program with this text, which says what must hold, or not.
    pub(crate) fn run(&mut self, run: &Run, source: &str, stated: bool) {
        if run.results.is_empty() {
            return;
        }
        let mut text = String::new();
        if self.printed && !self.quiet {
            text.push('\n');
        }
        self.printed = true;
        let mut title = one_line(&run.file).into_owned();
        if !run.values.is_empty() {
            title.push_str(&format!(" at {}", run.values));
        }
        text.push_str(&self.terminal.paint(Style::Strong, &title));
        text.push('\n');
        let width = run.results.iter().map(|r| r.property.chars().count()).max();
        for result in &run.results {
            self.line(&mut text, result, width.unwrap_or(0));
        }
        if !self.quiet && !stated {
            let none = "the model says nothing that must hold: only ranges, indices and divisions were checked";
            text.push_str(&format!("  {}\n", self.terminal.paint(Style::Faint, none)));
            self.advise(
                "state what must hold, for example `invariant name: ..;` or `deadlock_free;`",
            );
        }
        if self.explain {
            self.proofs(&mut text, run);
        }
        if !self.quiet {
            for result in run.results.iter().filter(|r| r.trace.is_some()) {
                if let Some(further) = self.shown.get_mut(&result.property)
                    && let Scope::Instance { values } = &result.scope
                    && !self.verbose
                {
                    further.push(values.clone());
                } else {
                    self.shown.insert(result.property.clone(), Vec::new());
                    self.trace(&mut text, result, source);
                }
            }
            let violated = |r: &PropertyResult| r.verdict == VerdictKind::Violated;
            if run.results.iter().any(violated) {
                self.advise(VIOLATED);
            }
            for result in &run.results {
                let next = result.reason.as_ref().and_then(|r| r.next.as_deref());
                // Whoever has a violation to fix does not go on to other instances.
                let beyond = !result.holds.is_empty();
                if let Some(next) = next
                    && !(beyond && run.results.iter().any(violated))
                {
                    self.advise(next);
                }
                let missing = result.reason.as_ref().and_then(|r| r.missing.as_ref());
                if let Some(help) = missing.and_then(|missing| missing.help.as_deref())
                    && !run.results.iter().any(violated)
                {
                    self.advise(help);
                }
            }
        }
        say(format_args!("{text}"));
    }

    /// Keeps a piece of advice, unless another says all that it says: `try A, B, or C` does of `try A, or C`.
    fn advise(&mut self, advice: &str) {
        if self.advice.iter().any(|known| says(known, advice)) {
            return;
        }
        self.advice.retain(|known| !says(advice, known));
        self.advice.push(advice.to_owned());
    }

    fn line(&self, text: &mut String, result: &PropertyResult, width: usize) {
        let style = match result.verdict {
            VerdictKind::Proved => Style::Good,
            VerdictKind::Violated => Style::Bad,
            VerdictKind::Unknown => Style::Unsure,
        };
        let verdict = format!("{:8}", result.verdict.as_str());
        let verdict = self.terminal.paint(style, &verdict);
        let mut facts = Vec::new();
        // The values at which it holds say what it is about.
        let scope = result.scope.phrase();
        facts.extend(Some(scope).filter(|phrase| !phrase.is_empty() && result.holds.is_empty()));
        if let Some(trace) = &result.trace {
            facts.push(format!("after {}", traces::length(trace)));
        }
        if result.verdict == VerdictKind::Unknown
            && let Some(reason) = &result.reason
        {
            facts.push(reason.message.clone());
        }
        if let Some(states) = result.stats.states {
            let symmetry = match result.stats.up_to_symmetry {
                Some(true) => " up to symmetry",
                _ => "",
            };
            facts.push(format!("{}{symmetry}", counted(states, "state")));
        }
        if let Some(states) = &result.stats.states_decimal {
            facts.push(format!("{} states", rounded(states)));
        }
        if let Some(time) = result.stats.seconds {
            facts.push(seconds(time));
        }
        let line = format!(
            "  {:width$}  {verdict}  {}",
            result.property,
            facts.join(", ")
        );
        text.push_str(line.trim_end());
        text.push('\n');
        let missing = result.reason.as_ref().and_then(|r| r.missing.as_ref());
        if let Some(missing) = missing.filter(|_| !self.quiet) {
            let gap = format!("missing: {}", missing.gap);
            self.below(text, Style::Unsure, &gap, width);
            if let Some(state) = &missing.state {
                self.below(text, Style::Faint, &format!("as in: {state}"), width);
            }
        }
        if let Some(vacuous) = &result.vacuous {
            self.below(
                text,
                Style::Unsure,
                &format!("but vacuously: {vacuous}"),
                width,
            );
        }
        if !self.quiet {
            for note in &result.notes {
                self.below(text, Style::Faint, note, width);
            }
        }
        if self.verbose {
            self.details(text, result, width);
        }
    }

    fn details(&self, text: &mut String, result: &PropertyResult, width: usize) {
        let stats = &result.stats;
        let mut facts = vec![format!("engine {}", result.engine)];
        if let Some(transitions) = stats.transitions {
            facts.push(counted(transitions, "transition"));
        }
        if let Some(depth) = stats.depth {
            facts.push(format!("depth {}", count(depth)));
        }
        if let Some(iterations) = stats.iterations {
            facts.push(counted(iterations, "iteration"));
        }
        if let Some(nodes) = stats.peak_nodes {
            facts.push(format!("at most {}", counted(nodes, "node")));
        }
        // For a handful of states the figure says nothing.
        if let Some(bytes) = stats.bytes_per_state
            && stats.states.is_some_and(|states| states >= 10_000)
        {
            facts.push(format!("{bytes:.1} bytes a state"));
        }
        if let Some(refinements) = stats.refinements {
            facts.push(counted(refinements, "refinement"));
        }
        if let Some(predicates) = stats.predicates {
            facts.push(counted(predicates, "predicate"));
        }
        if let Some(extensions) = stats.extensions {
            facts.push(format!(
                "{} of the errors",
                counted(extensions, "extension")
            ));
        }
        if let Some(memory) = stats.memory_mib {
            facts.push(format!("{memory:.1} MiB"));
        }
        if result.rechecked && result.verdict == VerdictKind::Proved {
            let took = stats.recheck_seconds.map(seconds);
            let took = took.map_or_else(String::new, |took| format!(" in {took}"));
            facts.push(format!("certificate checked{took}"));
        } else if result.rechecked {
            facts.push("replayed by the interpreter".to_owned());
        } else if result.verdict == VerdictKind::Proved
            && let Some(reason) = &result.reason
        {
            facts.push(format!("not rechecked: {}", reason.message));
        }
        self.below(text, Style::Faint, &facts.join(", "), width);
        for why in &result.tried {
            let line = format!("not for all: {why}");
            self.below(text, Style::Faint, &line, width);
        }
        if let Some(plan) = &result.plan {
            let line = format!("plan: {plan}");
            self.below(text, Style::Faint, &line, width);
        }
        for (number, round) in result.rounds.iter().enumerate() {
            let line = format!("round {}: {round}", number + 1);
            self.below(text, Style::Faint, &line, width);
        }
    }

    /// A line that belongs to the verdict above it.
    fn below(&self, text: &mut String, style: Style, line: &str, width: usize) {
        let line = format!("  {:width$}            {}", "", one_line(line));
        text.push_str(&self.terminal.paint(style, line.trim_end()));
        text.push('\n');
    }

    /// The proofs, each with the properties that it proves.
    fn proofs(&self, text: &mut String, run: &Run) {
        let proved = |r: &&PropertyResult| r.verdict == VerdictKind::Proved || !r.holds.is_empty();
        let title = |result: &PropertyResult| match &result.shown {
            Some(values) => format!("{} at {values}", result.property),
            None => result.property.clone(),
        };
        let mut shown: Vec<(&PropertyResult, Vec<String>)> = Vec::new();
        for result in run.results.iter().filter(proved) {
            let same = |(known, _): &&mut (&PropertyResult, _)| {
                known.outline == result.outline
                    && (known.engine == result.engine || known.outline.is_some())
            };
            match shown.iter_mut().find(same) {
                Some((_, names)) => names.push(title(result)),
                None => shown.push((result, vec![title(result)])),
            }
        }
        for (result, names) in shown {
            let title = format!("\nThe proof of {}:", names.join(", "));
            text.push_str(&self.terminal.paint(Style::Strong, &title));
            text.push('\n');
            let mut lines = match &result.outline {
                Some(outline) => to_outline(outline),
                None => unwritten(result),
            };
            // The short facts come first.
            let hidden = lines.len().saturating_sub(MOST_LINES);
            if hidden > 1 && !self.verbose {
                lines.truncate(MOST_LINES);
                lines.push(format!("... and {hidden} more lines, with --verbose"));
            }
            for line in lines {
                text.push_str(&format!("  {line}\n"));
            }
        }
    }

    fn trace(&self, text: &mut String, result: &PropertyResult, source: &str) {
        let Some(trace) = &result.trace else { return };
        let title = format!("{} is violated {}", result.property, result.scope.phrase());
        let title = format!("\n{}:", title.trim_end());
        text.push_str(&self.terminal.paint(Style::Strong, &title));
        text.push('\n');
        match traces::printed(trace, self.layout, source, &self.terminal, 2, self.verbose) {
            Ok(drawn) => text.push_str(&drawn),
            Err(error) => text.push_str(&format!("  (the execution cannot be shown: {error})\n")),
        }
        for remedy in &result.remedies {
            text.push_str(&format!("  {}\n", one_line(&remedy.message)));
        }
    }

    /// Prints what concerns all runs of a file.
    pub(crate) fn end_of_file(&mut self) {
        let mut text = String::new();
        for (property, further) in std::mem::take(&mut self.shown) {
            if !further.is_empty() {
                text.push_str(&format!(
                    "{property} is also violated at {}; their traces: --verbose\n",
                    list(&further)
                ));
            }
        }
        if !text.is_empty() {
            say(format_args!("\n{text}"));
        }
    }

    /// Prints what concerns all runs.
    pub(crate) fn end(&mut self, report: &Report) {
        if self.quiet {
            return;
        }
        let mut text = String::new();
        if report.runs.len() > 1 {
            let results = report.runs.iter().flat_map(|run| &run.results);
            let number = |verdict| results.clone().filter(|r| r.verdict == verdict).count();
            let parts = [
                VerdictKind::Proved,
                VerdictKind::Violated,
                VerdictKind::Unknown,
            ]
            .map(|verdict| format!("{} {}", number(verdict), verdict.as_str()));
            let unusable = report
                .runs
                .iter()
                .filter(|run| run.results.is_empty())
                .count();
            text.push_str(&format!("\n{}", parts.join(", ")));
            if unusable > 0 {
                text.push_str(&format!(", {unusable} not checked"));
            }
            text.push('\n');
        }
        if !self.advice.is_empty() {
            text.push('\n');
            for advice in &self.advice {
                text.push_str(&format!("Next: {advice}\n"));
            }
        }
        say(format_args!("{text}"));
    }
}

/// Why there is no proof to read, and how there may be one.
fn unwritten(result: &PropertyResult) -> Vec<String> {
    let engine = &result.engine;
    let visited = !explains(engine);
    let mut lines = vec![match visited {
        true => format!("(`{engine}` visited every state: there is nothing to read)"),
        false => "(it could not be written down within the limits)".to_owned(),
    }];
    // Other engines prove liveness in words of their own only.
    let (other, smallest) = match result.kind {
        Kind::Liveness => (None, None),
        _ => (
            Some("split").filter(|other| other != engine),
            result.holds.first().filter(|_| result.holds.len() > 1),
        ),
    };
    let given = |values: &Values| {
        let each = values.0.iter();
        let each: Vec<String> = each
            .map(|(name, value)| format!("--set {name}={value}"))
            .collect();
        each.join(" ")
    };
    let at = match (&result.shown, &result.scope) {
        (Some(values), _) | (None, Scope::Instance { values }) => given(values),
        _ => String::new(),
    };
    let other = other.map(|other| format!("--engine {other} {at}").trim_end().to_owned());
    let tries: Vec<String> = smallest.map(given).into_iter().chain(other).collect();
    if !tries.is_empty() {
        lines.push(format!(
            "To read a proof, try --explain with {}",
            tries.join(", or with ")
        ));
    }
    lines
}

/// Whether one list of advice has everything that another one has.
fn says(more: &str, less: &str) -> bool {
    let parts: BTreeSet<&str> = more.split(", ").collect();
    less.split(", ").all(|part| parts.contains(part))
}

/// Instances in one line: `N=3, 4, 5` for one parameter, `N=2, M=1; N=2, M=2` for several.
fn list(instances: &[Values]) -> String {
    let one = instances.iter().all(|values| values.0.len() == 1);
    let shown = instances.iter().take(LISTED).enumerate();
    let shown: Vec<String> = shown
        .map(|(position, values)| match values.0.first() {
            Some((_, value)) if one && position > 0 => value.to_string(),
            _ => values.to_string(),
        })
        .collect();
    let mut text = shown.join(if one { ", " } else { "; " });
    if instances.len() > LISTED {
        text.push_str(&format!(" and {} more", instances.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `auto` looks for a readable proof itself; where there is none, it says which engine may have one.
    #[test]
    fn what_there_is_no_proof_of_to_read_says_what_to_try() {
        let result = |engine: &str, kind: &str| -> PropertyResult {
            serde_json::from_value(serde_json::json!({
                "property": "mutex", "kind": kind, "verdict": "proved", "engine": engine,
                "scope": {"kind": "instance", "values": {"N": 3}}, "rechecked": true, "stats": {},
            }))
            .unwrap()
        };
        assert_eq!(
            unwritten(&result("explicit", "invariant")),
            [
                "(`explicit` visited every state: there is nothing to read)",
                "To read a proof, try --explain with --engine split --set N=3"
            ]
        );
        let limited = ["(it could not be written down within the limits)"];
        assert_eq!(unwritten(&result("split", "invariant")), limited);
        assert_eq!(unwritten(&result("ranking", "liveness")), limited);
    }

    #[test]
    fn advice_that_another_one_contains_is_noticed() {
        let both = "try a longer --timeout, --symmetry, or smaller parameters";
        let one = "try a longer --timeout, or smaller parameters";
        assert!(says(both, one) && says(one, one));
        assert!(!says(one, both));
        assert!(!says(both, "leave out --only"));
    }
}
