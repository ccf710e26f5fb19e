//! Results as data: what `threadwise check --json` prints, described by `docs/schema/check.schema.json`.
//!
//! Everything here is plain and ordered, so that two runs give the same bytes but for the
//! statistics.

use serde::{Deserialize, Serialize};
use threadwise_evidence::{Certificate, Outline, Reason, Remedy, Stats, Trace, Vacuity};
use threadwise_lang::diagnostics::{Code, Diagnostic, Severity};
use threadwise_lang::program::Span;
use threadwise_lang::render::LineIndex;

use crate::job::Stop;
use crate::judge;
use crate::plan::Options;
use crate::setting::Values;

/// The outcome of one invocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The version of this format: 1.
    pub schema: u32,
    /// The version of threadwise.
    pub version: String,
    /// `sc`: every verdict is for sequentially consistent memory.
    pub memory_model: String,
    /// One for each file and instance.
    pub runs: Vec<Run>,
    /// The exit status that goes with it.
    pub exit: u8,
}

impl Report {
    /// A report of these runs; the exit status follows from them.
    pub fn new(runs: Vec<Run>) -> Report {
        let mut report = Report {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            memory_model: "sc".to_owned(),
            runs,
            exit: 0,
        };
        report.exit = report.status().code();
        report
    }

    /// The exit status that follows from the runs.
    pub fn status(&self) -> Exit {
        let each = self.runs.iter().map(Run::exit);
        each.fold(Exit::Proved, Exit::and)
    }
}

/// What was found about one instance of one file, or about all of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// The file as it was named; `-` for standard input.
    pub file: String,
    /// The value of every parameter, or of those that were given if the run is about all values of the others. Each result has its scope.
    #[serde(skip)]
    pub values: Values,
    /// One for each property: the built-in checks first, then in source order.
    pub results: Vec<PropertyResult>,
    /// Messages about the file, and about this instance of it.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// How many states are reachable, if all of them were visited.
    #[serde(skip)]
    pub state_count: Option<u64>,
    /// What the run adds to the exit status beyond its results and diagnostics.
    #[serde(skip)]
    pub trouble: Option<Exit>,
}

impl Run {
    /// A run that ended outside of the engines, whatever was going on there: the built-in checks, which every program has, are unknown. `place` follows the reason: `while the program was read`.
    pub fn cut_short(file: &str, options: &Options, by: Stop, place: &str) -> Run {
        judge::cut_short(file, options, by, place)
    }

    /// The exit status of this run alone.
    pub fn exit(&self) -> Exit {
        let mut exit = self.trouble.unwrap_or(Exit::Proved);
        if self.diagnostics.iter().any(|d| d.severity == Level::Error) && self.trouble.is_none() {
            exit = Exit::Input;
        }
        for result in &self.results {
            exit = exit.and(match result.verdict {
                VerdictKind::Proved => Exit::Proved,
                VerdictKind::Violated => Exit::Violated,
                VerdictKind::Unknown => Exit::Unknown,
            });
        }
        if exit == Exit::Proved && self.results.is_empty() {
            exit = Exit::Input;
        }
        exit
    }
}

/// Exit statuses, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// Every property was proved.
    Proved,
    /// Something is unknown.
    Unknown,
    /// Some property is violated.
    Violated,
    /// A usage or input error, or nothing to check.
    Input,
    /// An internal error, or evidence that did not hold up.
    Internal,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// The one that counts when both occurred.
    pub fn and(self, other: Exit) -> Exit {
        self.max(other)
    }

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Proved => 0,
            Exit::Violated => 1,
            Exit::Input => 2,
            Exit::Unknown => 3,
            Exit::Internal => 4,
            Exit::Interrupted => 130,
        }
    }
}

/// What was found about one property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PropertyResult {
    /// Its name.
    pub property: String,
    /// What sort of property it is.
    pub kind: Kind,
    /// Whether it holds.
    pub verdict: VerdictKind,
    /// What the verdict speaks of.
    pub scope: Scope,
    /// The engine that gave the verdict, or was asked.
    pub engine: String,
    /// Whether the evidence passed a check that does not depend on the engine.
    pub rechecked: bool,
    /// Why the verdict is unknown, or why it was not rechecked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// If it is unknown: the values of the parameters at which the property was proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Values>,
    /// Which of these values the rounds and the readable proof are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Values>,
    /// If it was proved at some values of the parameters only: why it was not for all, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<String>,
    /// What the engine counted.
    pub stats: Stats,
    /// If several engines took turns, which ones, in order and with their shares of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What the engine did, round by round, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<String>,
    /// What about processes each round exposed to the others, if it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposures: Vec<Exposure>,
    /// What to know besides the verdict, in sentences: what was exposed because the property speaks of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// For a proof: that there was nothing to prove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<Vacuity>,
    /// The proof in readable form, if it was asked for and the engine has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
    /// The execution that violates the property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// For a run without end: fairness that would rule it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The proof, for whoever wants to keep it; too large for the report.
    #[serde(skip)]
    pub certificate: Option<Certificate>,
    /// The proofs of all instances, if the claim was proved one instance after the other.
    #[serde(skip)]
    pub certificates: Vec<(Values, Certificate)>,
}

impl PropertyResult {
    /// A verdict alone.
    pub(crate) fn new(
        property: String,
        kind: Kind,
        verdict: VerdictKind,
        scope: Scope,
        engine: &str,
    ) -> PropertyResult {
        PropertyResult {
            property,
            kind,
            verdict,
            scope,
            engine: engine.to_owned(),
            rechecked: false,
            reason: None,
            holds: Vec::new(),
            shown: None,
            tried: Vec::new(),
            stats: Stats::default(),
            plan: None,
            rounds: Vec::new(),
            exposures: Vec::new(),
            notes: Vec::new(),
            vacuous: None,
            outline: None,
            trace: None,
            remedies: Vec::new(),
            certificate: None,
            certificates: Vec::new(),
        }
    }
}

/// Facts about processes that a round exposed to the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Which round, from 1.
    pub round: usize,
    /// The facts.
    pub facts: Vec<String>,
}

/// The kinds of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The built-in checks.
    Builtin,
    /// `invariant`
    Invariant,
    /// `deadlock_free`
    Deadlock,
    /// `liveness`
    Liveness,
}

/// The verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    /// It holds.
    Proved,
    /// It does not: there is an execution.
    Violated,
    /// Neither was established.
    Unknown,
}

impl VerdictKind {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictKind::Proved => "proved",
            VerdictKind::Violated => "violated",
            VerdictKind::Unknown => "unknown",
        }
    }
}

/// What a verdict speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scope {
    /// One instance.
    Instance {
        /// The value of every parameter.
        values: Values,
    },
    /// Every instance, or every instance with the values given.
    All {
        /// The parameters that the verdict is for all values of.
        parameters: Vec<String>,
        /// The condition on the parameters, as in the source; `true` if there is none.
        #[serde(rename = "where")]
        condition: String,
        /// The values of the other parameters.
        #[serde(default, skip_serializing_if = "Values::is_empty")]
        values: Values,
    },
}

impl Scope {
    /// To follow a verdict: `at N=3`, `for all N >= 2`; nothing for a model without parameters.
    pub fn phrase(&self) -> String {
        match self {
            Scope::Instance { values } if values.is_empty() => String::new(),
            Scope::Instance { values } => format!("at {values}"),
            Scope::All {
                parameters,
                condition,
                values,
            } => {
                let names = parameters.join(", ");
                let mentions = |name: &String| {
                    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
                    words.any(|word| word == name)
                };
                let all = match condition.as_str() {
                    "true" => names,
                    _ if parameters.iter().all(mentions) => condition.clone(),
                    _ => format!("{names} with {condition}"),
                };
                match values.is_empty() {
                    true => format!("for all {all}"),
                    false => format!("for all {all}, at {values}"),
                }
            }
        }
    }
}

/// A diagnostic with its places as lines and columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedDiagnostic {
    /// Error or warning.
    pub severity: Level,
    /// Its code; absent where the file could not be read or threadwise itself failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The code in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The cause, at the place.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Other places that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedPlace>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl ReportedDiagnostic {
    /// An error without a place in the source.
    pub fn error(message: impl Into<String>, help: Option<String>) -> Self {
        ReportedDiagnostic {
            severity: Level::Error,
            code: None,
            name: None,
            message: message.into(),
            place: None,
            label: String::new(),
            related: Vec::new(),
            help,
        }
    }

    /// A diagnostic of the front end; `denied` makes an error of a warning.
    pub fn of(diagnostic: &Diagnostic, denied: bool, text: &str, lines: &LineIndex) -> Self {
        let severity = match diagnostic.severity() {
            Severity::Error => Level::Error,
            Severity::Warning if denied => Level::Error,
            Severity::Warning => Level::Warning,
        };
        let related = diagnostic.related.iter();
        ReportedDiagnostic {
            severity,
            code: Some(diagnostic.code.as_str().to_owned()),
            name: Some(diagnostic.code.slug().to_owned()),
            message: diagnostic.message.clone(),
            // A value from the command line has no place in the text.
            place: (diagnostic.code != Code::UnknownParameter)
                .then(|| Place::of(diagnostic.span, text, lines)),
            label: diagnostic.label.clone(),
            related: related
                .map(|(span, message)| RelatedPlace {
                    place: Place::of(*span, text, lines),
                    message: message.clone(),
                })
                .collect(),
            help: diagnostic.help.clone(),
        }
    }
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The file is not checked.
    Error,
    /// The file is checked all the same.
    Warning,
}

/// Another place that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedPlace {
    /// Where.
    pub place: Place,
    /// What it has to do with it.
    pub message: String,
}

/// A range of the source: lines and columns from 1, columns in characters, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The line where it begins.
    pub line: u32,
    /// The column where it begins.
    pub column: u32,
    /// The line where it ends.
    pub end_line: u32,
    /// The column after its last character.
    pub end_column: u32,
}

impl Place {
    /// The place of a span in a text.
    fn of(span: Span, text: &str, lines: &LineIndex) -> Place {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (line, column) = lines.position(text, span.start);
        let (end_line, end_column) = lines.position(text, span.end.max(span.start));
        Place {
            line: number(line),
            column: number(column),
            end_line: number(end_line),
            end_column: number(end_column),
        }
    }
}
