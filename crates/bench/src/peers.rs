//! Other tools on the same models: how each is found, started and understood.
//!
//! A peer gets what `threadwise export` writes for it. Export and compilation are preparation; measured is the search
//! alone. What a peer prints counts as a verdict only if it says so in the words it has for it: a search that was cut
//! short, at whatever limit, is none.

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use crate::measure::{Command, End, MeasureError, Measured, measure};
use crate::results::{Outcome, Run};
use crate::table::{CellLimits, Decided};

/// The most that an export or a compilation may take, which is not part of what is measured.
const PREPARATION_SECONDS: f64 = 40.0;

/// A tool that decides the same questions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Peer {
    /// Explicit states, depth first, with partial-order reduction.
    Spin,
    /// IC3 (`pdr`) on circuits.
    Abc,
    /// Decision diagrams.
    Nusmv,
    /// Horn clauses (Spacer): for any number of processes.
    Z3,
}

impl Peer {
    /// All of them.
    pub(crate) const ALL: [Peer; 4] = [Peer::Spin, Peer::Abc, Peer::Nusmv, Peer::Z3];

    /// The name as its authors write it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Peer::Spin => "SPIN",
            Peer::Abc => "ABC",
            Peer::Nusmv => "NuSMV",
            Peer::Z3 => "Z3",
        }
    }

    /// The programs that must be on the path, its own first.
    pub(crate) fn programs(self) -> &'static [&'static str] {
        match self {
            Peer::Spin => &["spin", "gcc"],
            Peer::Abc => &["berkeley-abc"],
            Peer::Nusmv => &["NuSMV"],
            Peer::Z3 => &["z3"],
        }
    }

    /// The language that models are exported to, and the file's name.
    fn export(self) -> (&'static str, &'static str) {
        match self {
            Peer::Spin => ("promela", "model.pml"),
            Peer::Abc => ("blif", "model.blif"),
            Peer::Nusmv => ("smv", "model.smv"),
            Peer::Z3 => ("chc", "model.smt2"),
        }
    }

    /// Its version, if it is on the path.
    pub(crate) fn version(self) -> Option<String> {
        if !self.programs().iter().all(|program| on_path(program)) {
            return None;
        }
        // The word after the name, if it is a number.
        let version = |text: String, name: &str| {
            let words = text.split(name).skip(1);
            let mut words = words.filter_map(|rest| rest.split_whitespace().next());
            let number = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            number.unwrap_or("of unknown version").to_owned()
        };
        let version = match self {
            Peer::Spin => {
                let spin = version(said("spin", &["-V"]), "Version ");
                let gcc = version(said("gcc", &["--version"]), ") ");
                format!("SPIN {spin}, gcc {gcc}")
            }
            Peer::Abc => {
                let banner = said("berkeley-abc", &["-c", "version"]);
                format!("ABC {}", version(banner, "ABC "))
            }
            Peer::Nusmv => format!("NuSMV {}", version(said("NuSMV", &["-h"]), "NuSMV ")),
            Peer::Z3 => format!("Z3 {}", version(said("z3", &["--version"]), "version ")),
        };
        Some(version)
    }

    /// Whether an option of a column is one of the export, not of the peer itself.
    fn takes_in_export(self, option: &str) -> bool {
        self == Peer::Z3 && option.starts_with("--")
    }

    /// Why there is no verdict, if its output says that it has none.
    fn undecided(self, output: &str) -> Option<&'static str> {
        if self != Peer::Z3 {
            return None;
        }
        // What violates the abstraction may be no run of the program.
        match output.lines().next()?.trim() {
            "unsat" => Some("the clauses have no solution: the abstraction has a violation"),
            "unknown" => Some("it says `unknown`"),
            _ => None,
        }
    }

    /// What its output says.
    fn verdict(self, output: &str) -> Option<Decided> {
        let says = |words: &str| output.contains(words);
        match self {
            Peer::Spin => {
                let errors: u64 = number(output, "errors: ")?;
                if errors > 0 {
                    return Some(Decided::Violated);
                }
                let cut = says("max search depth too small") || says("Search not completed");
                (!cut).then_some(Decided::Proved)
            }
            Peer::Abc if says("was asserted in frame") => Some(Decided::Violated),
            Peer::Abc => says("Property proved").then_some(Decided::Proved),
            Peer::Nusmv => {
                // It repeats the property, over several lines if need be, and ends with the verdict.
                let ends = |words: &str| {
                    let lines = output.lines().map(str::trim_end);
                    lines.filter(|line| line.ends_with(words)).count()
                };
                let begun = output.lines().filter(|line| {
                    line.starts_with("-- invariant") || line.starts_with("-- specification")
                });
                match (begun.count(), ends("is true"), ends("is false")) {
                    (_, _, 1..) => Some(Decided::Violated),
                    (begun @ 1.., held, 0) if begun == held => Some(Decided::Proved),
                    _ => None,
                }
            }
            Peer::Z3 => {
                let first = output.lines().next().map(str::trim);
                (first == Some("sat")).then_some(Decided::Proved)
            }
        }
    }

    /// The states that its output counts.
    fn states(self, output: &str) -> Option<u64> {
        match self {
            Peer::Spin => output
                .lines()
                .find(|line| line.contains("states, stored"))
                .and_then(|line| line.split_whitespace().next()?.parse().ok()),
            Peer::Abc | Peer::Nusmv | Peer::Z3 => None,
        }
    }

    /// The run that a measurement shows.
    fn read(self, measured: &Measured) -> Run {
        let output = format!("{}\n{}", measured.stdout, measured.stderr);
        let (outcome, message) = match &measured.end {
            End::Time => (Outcome::Time, None),
            End::Memory => (Outcome::Memory, None),
            _ if output.contains("out of memory") => (Outcome::Memory, None),
            _ => match (self.verdict(&output), self.undecided(&output)) {
                (Some(verdict), _) => (verdict.into(), None),
                (None, Some(why)) => (Outcome::Unknown, Some(why.to_owned())),
                (None, None) => (Outcome::Failed, Some(complaint(measured))),
            },
        };
        Run {
            outcome,
            message,
            cpu_seconds: measured.cpu_seconds,
            clock_seconds: measured.clock_seconds,
            engine_cpu_seconds: None,
            rechecked: false,
            peak_mib: measured.peak_mib,
            states: self.states(&output),
            nodes: None,
            refinements: None,
            predicates: None,
            extensions: None,
            load: None,
        }
    }
}

/// A model that was exported for a peer, in a folder of its own.
pub(crate) struct Exported {
    peer: Peer,
    folder: Folder,
    limits: CellLimits,
    /// What the peer gets.
    pub(crate) text: String,
}

/// What came of an export.
pub(crate) enum Export {
    Done(Exported),
    /// The model cannot be said in the peer's language.
    Refused(String),
}

/// Exports a model: `words` name it, its values and its properties; of the `options` of the column it takes those that are its own.
pub(crate) fn export(
    peer: Peer,
    words: Vec<String>,
    options: &[String],
    limits: CellLimits,
    interrupted: &AtomicBool,
) -> Result<Export, MeasureError> {
    let folder = Folder::new()?;
    let (language, file) = peer.export();
    let path = folder.0.join(file);
    let mut args = vec!["export".to_owned()];
    args.extend(words);
    let own = options.iter().filter(|option| peer.takes_in_export(option));
    args.extend(own.cloned());
    args.extend(["--to", language, "--output"].map(str::to_owned));
    args.push(path.display().to_string());
    let command = Command {
        program: std::env::current_exe()?,
        args,
        folder: None,
        cpu_seconds: PREPARATION_SECONDS,
        memory: limits.memory_mib << 20,
    };
    let measured = measure(&command, interrupted)?;
    if measured.end != End::Exited(0) {
        return Ok(Export::Refused(complaint(&measured)));
    }
    let text = std::fs::read_to_string(&path)?;
    Ok(Export::Done(Exported {
        peer,
        folder,
        limits,
        text,
    }))
}

/// A peer that is about to run.
pub(crate) enum Prepared {
    Ready(Command),
    /// The preparation has shown already how the run ends.
    Over(Box<Run>),
}

impl Exported {
    /// Does what comes before the search.
    pub(crate) fn prepare(
        &self,
        options: &[String],
        interrupted: &AtomicBool,
    ) -> Result<Prepared, MeasureError> {
        let (_, file) = self.peer.export();
        let own = |option: &&String| !self.peer.takes_in_export(option);
        let options: Vec<String> = options.iter().filter(own).cloned().collect();
        match self.peer {
            Peer::Spin => self.prepare_spin(options, interrupted),
            Peer::Abc => {
                let script = format!("read_blif {file}; strash; pdr {}", options.join(" "));
                let args = vec!["-c".to_owned(), script];
                Ok(Prepared::Ready(self.command("berkeley-abc", args)))
            }
            Peer::Nusmv | Peer::Z3 => {
                let mut args = options;
                args.push(file.to_owned());
                let program = self.peer.programs()[0];
                Ok(Prepared::Ready(self.command(program, args)))
            }
        }
    }

    /// Runs the prepared command.
    pub(crate) fn run(
        &self,
        command: &Command,
        interrupted: &AtomicBool,
    ) -> Result<Run, MeasureError> {
        Ok(self.peer.read(&measure(command, interrupted)?))
    }

    fn command(&self, program: &str, args: Vec<String>) -> Command {
        Command {
            program: PathBuf::from(program),
            args,
            folder: Some(self.folder.0.clone()),
            cpu_seconds: self.limits.seconds,
            memory: self.limits.memory_mib << 20,
        }
    }

    /// SPIN writes a verifier in C. A first run of it, which is not the one that counts, tells how deep the search is and how
    /// many states there are: the one that counts gets exactly that depth and a hash table that fits, since
    /// both cost time and memory before the first state.
    fn prepare_spin(
        &self,
        options: Vec<String>,
        interrupted: &AtomicBool,
    ) -> Result<Prepared, MeasureError> {
        const DEPTHS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];
        const LEAST_TABLE: u32 = 10;
        const MOST_TABLE: u32 = 34;
        let of_compiler = |option: &String| option.starts_with("-D") || option.starts_with("-O");
        let (compiler, search): (Vec<String>, Vec<String>) =
            options.into_iter().partition(of_compiler);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut gcc = words("-O2 -w -DSAFETY");
        gcc.extend(compiler);
        gcc.extend(words("-o pan pan.c"));
        for (program, args) in [("spin", words("-a -o2 model.pml")), ("gcc", gcc)] {
            let command = Command {
                cpu_seconds: PREPARATION_SECONDS,
                ..self.command(program, args)
            };
            let measured = measure(&command, interrupted)?;
            if measured.end != End::Exited(0) {
                let outcome = match measured.end {
                    End::Time | End::Memory => Outcome::Unprepared,
                    _ => Outcome::Failed,
                };
                let failed = Run {
                    outcome,
                    message: Some(format!("{program}: {}", complaint(&measured))),
                    ..self.peer.read(&measured)
                };
                return Ok(Prepared::Over(Box::new(failed)));
            }
        }
        let pan = self.folder.0.join("pan").display().to_string();
        let with = |own: &[String]| {
            let args = own.iter().chain(&search).cloned().collect();
            self.command(&pan, args)
        };
        for depth in DEPTHS {
            let measured = measure(&with(&[format!("-m{depth}")]), interrupted)?;
            if measured.stdout.contains("max search depth too small") && depth != DEPTHS[2] {
                continue;
            }
            let run = self.peer.read(&measured);
            let reached: Option<u64> = number(&measured.stdout, "depth reached ");
            let (Some(_), Some(reached), Some(states)) =
                (run.outcome.decided(), reached, run.states)
            else {
                return Ok(Prepared::Over(Box::new(run)));
            };
            let table = u64::BITS - states.saturating_sub(1).leading_zeros();
            let table = table.clamp(LEAST_TABLE, MOST_TABLE);
            let own = [format!("-m{}", reached + 10), format!("-w{table}")];
            return Ok(Prepared::Ready(with(&own)));
        }
        Err(MeasureError::Lost("no depth was tried".to_owned()))
    }
}

/// A folder for the files of one cell, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        let name = format!("threadwise-bench-{}", process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first thing that a program complained of, or else how it ended; without paths, since it goes into a page.
fn complaint(measured: &Measured) -> String {
    const MOST: usize = 160;
    let lines = measured.stderr.lines().chain(measured.stdout.lines());
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
    let end = match &measured.end {
        End::Exited(status) => format!("no verdict, exit status {status}"),
        End::Crashed(how) => how.clone(),
        End::Time => "at the limit on time".to_owned(),
        End::Memory => "at the limit on memory".to_owned(),
        End::NotStarted(why) => why.clone(),
    };
    let said = lines
        .clone()
        .find(|line| line.contains("rror"))
        .or_else(|| lines.next());
    match said {
        Some(said) => {
            let words = said.split(' ').filter(|word| !word.starts_with('/'));
            let said: String = words.collect::<Vec<_>>().join(" ");
            said.chars().take(MOST).collect()
        }
        None => end,
    }
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    folders.any(|folder| Path::new(&folder).join(program).is_file())
}

/// What a program prints.
fn said(program: &str, args: &[&str]) -> String {
    let output = process::Command::new(program)
        .args(args)
        .stdin(process::Stdio::null())
        .output();
    output.map_or(String::new(), |output| {
        let (out, err) = (&output.stdout, &output.stderr);
        format!(
            "{}\n{}",
            String::from_utf8_lossy(out),
            String::from_utf8_lossy(err)
        )
    })
}

/// The number after some words.
fn number(text: &str, words: &str) -> Option<u64> {
    let rest = text.split(words).nth(1)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_search_is_a_verdict() {
        let proved =
            "State-vector 92 byte, depth reached 2056, errors: 0\n     3850 states, stored\n";
        assert_eq!(Peer::Spin.verdict(proved), Some(Decided::Proved));
        assert_eq!(Peer::Spin.states(proved), Some(3850));
        assert_eq!(number(proved, "depth reached "), Some(2056));
        let short = format!("error: max search depth too small\n{proved}");
        assert_eq!(Peer::Spin.verdict(&short), None);
        let stopped = format!("Warning: Search not completed\n{proved}");
        assert_eq!(Peer::Spin.verdict(&stopped), None);
        let violated = "Warning: Search not completed\ndepth reached 11, errors: 1\n";
        assert_eq!(Peer::Spin.verdict(violated), Some(Decided::Violated));
        assert_eq!(Peer::Spin.verdict("Killed"), None);
    }

    #[test]
    fn the_words_of_abc_and_nusmv() {
        let abc = |text: &str| Peer::Abc.verdict(text);
        assert_eq!(
            abc("Property proved.  Time =     0.10 sec\n"),
            Some(Decided::Proved)
        );
        let violated = "Output 0 of miter \"m\" was asserted in frame 4.  Time = 0.01 sec\n";
        assert_eq!(abc(violated), Some(Decided::Violated));
        assert_eq!(abc("Property UNDECIDED.  Time = 0.10 sec\n"), None);
        let nusmv = |text: &str| Peer::Nusmv.verdict(text);
        let yes = "-- invariant (!a | case\na : b;\nesac)  is true\n";
        let no = "-- invariant !(a & c)  is false\n-- as demonstrated\n";
        assert_eq!(nusmv(yes), Some(Decided::Proved));
        assert_eq!(nusmv(&format!("{yes}{no}")), Some(Decided::Violated));
        assert_eq!(nusmv("*** This is NuSMV 2.5.4\n"), None);
        assert_eq!(nusmv(&format!("{yes}-- invariant (!a | case\n")), None);
    }
    #[test]
    fn what_violates_horn_clauses_is_no_violation() {
        let z3 = |text: &str| (Peer::Z3.verdict(text), Peer::Z3.undecided(text).is_some());
        assert_eq!(z3("sat\n(\n"), (Some(Decided::Proved), false));
        assert_eq!(z3("unsat\n"), (None, true));
        assert_eq!(z3("unknown\n"), (None, true));
        assert_eq!(z3("(error \"line 1: sat\")\nsat\n"), (None, false));
        assert_eq!(z3(""), (None, false));
    }
}
