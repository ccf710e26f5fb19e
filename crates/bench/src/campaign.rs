//! Running tables: every cell that has no result yet, one after the other.
//!
//! Within a row the columns take turns as a whole, each from the smallest instance to the largest: when one ends at a limit, the
//! larger instances of that column are skipped. A cell that is not decided is run once, any other as often as the
//! table says.

use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;
use threadwise::{Kind, Make, PropertyResult, ReasonCode, Registry, Report, Stats, VerdictKind};

use crate::journal::JournalError;
use crate::machine;
use crate::measure::{Command, End, MeasureError, Measured, measure};
use crate::peers::{Export, Peer, Prepared, export};
use crate::redraw;
use crate::results::{CellName, Outcome, Results, Run, fingerprint};
use crate::share::Share;
use crate::table::{Column, Decided, Row, Table, Tool};
use threadwise_show::words::{counted, one_line};

/// What is known of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// At least one run; if they are not all decided, it is only one.
    Run(Vec<Run>),
    /// The same column ended at a limit at this smaller value.
    Skipped(i64),
    /// The peer is not on this machine.
    Absent,
    /// The model cannot be exported for the peer.
    Refused(String),
    /// The row leaves this column out.
    LeftOut,
    /// Not run yet.
    Missing,
}

/// The cells of a table: by row, instance and column.
pub(crate) type Cells = Vec<Vec<Vec<Cell>>>;

/// A peer, and its version if it is on this machine.
pub(crate) type Found = (Peer, Option<String>);

/// Why running stops.
#[derive(Debug, Error)]
pub(crate) enum Stop {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Results(#[from] JournalError),
}

/// Everything that runs need.
pub(crate) struct Campaign<'a> {
    pub(crate) results: Results,
    pub(crate) peers: Vec<Found>,
    pub(crate) machine: String,
    /// The fingerprint of this program.
    pub(crate) program: String,
    /// Only collect what there is.
    pub(crate) no_run: bool,
    /// Whether to show progress.
    pub(crate) progress: bool,
    pub(crate) interrupted: &'a AtomicBool,
    /// How many runs were made.
    pub(crate) made: usize,
    /// The rows that are run here.
    pub(crate) share: Share,
    /// How many rows were passed, those of other shares included.
    pub(crate) rows: usize,
}

impl Campaign<'_> {
    /// Fills the cells of a table. An error leaves the rest missing.
    pub(crate) fn table(&mut self, table: &Table, cells: &mut Cells) -> Result<(), Stop> {
        for (row, cells) in table.rows.iter().zip(cells) {
            self.rows += 1;
            if !self.share.has(self.rows - 1) {
                continue;
            }
            for &column in &row.columns {
                let mut skip = None;
                for (instance, cells) in cells.iter_mut().enumerate() {
                    if let Some(at) = skip {
                        cells[column] = Cell::Skipped(at);
                        continue;
                    }
                    let cell = self.cell(table, row, instance, &table.columns[column])?;
                    // What is left open is the same run at every size.
                    if !table.columns[column].open
                        && let (Cell::Run(runs), Some(at)) = (&cell, row.size(instance))
                        && runs.iter().any(|run| run.outcome.at_limit())
                    {
                        skip = Some(at);
                    }
                    cells[column] = cell;
                }
            }
        }
        Ok(())
    }

    fn cell(
        &mut self,
        table: &Table,
        row: &Row,
        instance: usize,
        column: &Column,
    ) -> Result<Cell, Stop> {
        let mut words = vec![row.model.display().to_string()];
        let open = row.sweep.as_ref().filter(|_| column.open);
        let given = match column.open || is_for_all(&column.tool) {
            true => &row.instances[instance],
            false => &row.settled[instance],
        };
        let given = given.0.iter();
        for (name, value) in given.filter(|(name, _)| Some(name) != open) {
            words.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        for property in &row.properties {
            words.extend(["--property".to_owned(), property.clone()]);
        }
        let name = CellName {
            table: &table.name,
            row: &row.name,
            column: &column.name,
            values: &row.instances[instance],
        };
        match &column.tool {
            Tool::Engine(engine) => {
                if let Some(only) = row.only {
                    words.extend(["--only", only.as_str()].map(str::to_owned));
                }
                let limits = table.limits;
                words.extend(["--engine", engine].map(str::to_owned));
                words.extend(column.options.iter().cloned());
                words.extend(["--memory".to_owned(), limits.memory_mib.to_string()]);
                let seconds = limits.seconds.to_string();
                // Where the model lies makes no difference.
                let mut parts = vec!["engine", &self.program, &self.machine, &row.model_text];
                parts.push(&seconds);
                if column.open {
                    parts.push("open");
                }
                parts.extend(words[1..].iter().map(String::as_str));
                let key = fingerprint(parts.into_iter().map(str::as_bytes));
                let mut args = vec!["check".to_owned(), "--json".to_owned()];
                args.extend(words);
                let command = Command {
                    program: std::env::current_exe().map_err(MeasureError::from)?,
                    args,
                    folder: None,
                    cpu_seconds: limits.seconds,
                    memory: limits.memory_mib << 20,
                };
                let interrupted = self.interrupted;
                self.runs(&key, name, table.runs, |_| {
                    let run = read_check(&measure(&command, interrupted)?);
                    Ok(run)
                })
            }
            Tool::Peer(peer) => {
                let found = self.peers.iter().find(|(other, _)| other == peer);
                let Some(version) = found.and_then(|(_, version)| version.clone()) else {
                    return Ok(Cell::Absent);
                };
                self.announce(name, "export");
                let options = &column.options;
                let exported = match export(*peer, words, options, table.limits, self.interrupted)?
                {
                    Export::Done(exported) => exported,
                    Export::Refused(why) => return Ok(Cell::Refused(why)),
                };
                let seconds = table.limits.seconds.to_string();
                let memory = table.limits.memory_mib.to_string();
                let mut parts = vec!["peer", &version, &self.machine, &exported.text];
                parts.extend([seconds.as_str(), memory.as_str()]);
                parts.extend(column.options.iter().map(String::as_str));
                let key = fingerprint(parts.into_iter().map(str::as_bytes));
                let mut prepared = None;
                self.runs(&key, name, table.runs, |interrupted| {
                    let command = match &prepared {
                        Some(command) => command,
                        None => match exported.prepare(&column.options, interrupted)? {
                            Prepared::Over(run) => return Ok(*run),
                            Prepared::Ready(command) => prepared.insert(command),
                        },
                    };
                    exported.run(command, interrupted)
                })
            }
        }
    }

    /// The runs of a cell: those that are known, and new ones until there are enough.
    fn runs(
        &mut self,
        key: &str,
        name: CellName<'_>,
        wanted: usize,
        mut run: impl FnMut(&AtomicBool) -> Result<Run, MeasureError>,
    ) -> Result<Cell, Stop> {
        let mut runs = self.results.get(key).to_vec();
        runs.truncate(wanted);
        let decided = |runs: &[Run]| runs.iter().all(|run| run.outcome.decided().is_some());
        while runs.len() < wanted && decided(&runs) && !self.no_run {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted.into());
            }
            self.announce(name, &format!("run {} of {wanted}", runs.len() + 1));
            let mut new = run(self.interrupted)?;
            new.load = machine::load();
            self.made += 1;
            if new.outcome != Outcome::Failed {
                self.results.add(key, name, &new)?;
            }
            runs.push(new);
        }
        Ok(match runs.is_empty() {
            true => Cell::Missing,
            false => Cell::Run(runs),
        })
    }

    fn announce(&self, name: CellName<'_>, what: &str) {
        if self.progress {
            let line = format!(
                "{}: {} {}, {}, {what} ({} so far)",
                name.table,
                name.row,
                name.values,
                name.column,
                counted(self.made as u64, "run")
            );
            redraw(&one_line(&line));
        }
    }
}

/// Whether it is an engine for all values of the parameters that are left open.
fn is_for_all(tool: &Tool) -> bool {
    let Tool::Engine(name) = tool else {
        return false;
    };
    let engine = Registry::standard().get(name);
    engine.is_ok_and(|engine| matches!(engine.make, Make::All(_)))
}

/// The run that a measurement of `check --json` shows.
fn read_check(measured: &Measured) -> Run {
    let mut run = Run {
        outcome: Outcome::Failed,
        message: None,
        cpu_seconds: measured.cpu_seconds,
        clock_seconds: measured.clock_seconds,
        engine_cpu_seconds: None,
        rechecked: false,
        peak_mib: measured.peak_mib,
        states: None,
        nodes: None,
        refinements: None,
        predicates: None,
        extensions: None,
        load: None,
    };
    match measured.end {
        End::Time => run.outcome = Outcome::Time,
        End::Memory => run.outcome = Outcome::Memory,
        _ => {}
    }
    let complaint = || {
        let lines = measured.stderr.lines();
        let said: Vec<&str> = lines.map(str::trim).filter(|l| !l.is_empty()).collect();
        said.first().map_or("no report", |line| *line).to_owned()
    };
    let report: Report = match serde_json::from_str(&measured.stdout) {
        Ok(report) => report,
        Err(_) => {
            if run.outcome == Outcome::Failed {
                run.message = Some(complaint());
            }
            return run;
        }
    };
    let results: Vec<_> = report.runs.iter().flat_map(|run| &run.results).collect();
    let has = |verdict| results.iter().any(|result| result.verdict == verdict);
    // One search serves all safety properties, and each liveness property has one of its own.
    let liveness = |result: &&&PropertyResult| result.kind == Kind::Liveness;
    let safety = results.iter().find(|result| !liveness(result));
    let searches = safety.into_iter().chain(results.iter().filter(liveness));
    let times = searches.filter_map(|result| result.stats.cpu_seconds);
    run.engine_cpu_seconds = times.reduce(|one, other| one + other);
    run.states = results.first().and_then(|result| result.stats.states);
    // Each property has its own refinements: what the hardest of them took.
    let most = |of: fn(&Stats) -> Option<u64>| results.iter().filter_map(|r| of(&r.stats)).max();
    run.nodes = most(|stats| stats.peak_nodes);
    run.refinements = most(|stats| stats.refinements);
    run.predicates = most(|stats| stats.predicates);
    run.extensions = most(|stats| stats.extensions);
    run.rechecked = !results.is_empty() && results.iter().all(|result| result.rechecked);
    if report.exit > 3 || results.is_empty() {
        run.message = Some(complaint());
    } else if has(VerdictKind::Violated) {
        run.outcome = Outcome::Violated;
    } else if has(VerdictKind::Unknown) {
        let unknown = results.iter().filter(|r| r.verdict == VerdictKind::Unknown);
        let reason = unknown.filter_map(|result| result.reason.as_ref()).next();
        run.outcome = match reason.map(|reason| reason.code) {
            Some(ReasonCode::Timeout) => Outcome::Time,
            Some(ReasonCode::Memory) => Outcome::Memory,
            _ => Outcome::Unknown,
        };
        run.message = reason.map(|reason| reason.message.clone());
    } else {
        run.outcome = Outcome::Proved;
    }
    run
}

/// Cells of which nothing is known yet.
pub(crate) fn no_cells(table: &Table) -> Cells {
    let of_row = |row: &Row| {
        let cell = |column| match row.columns.contains(&column) {
            true => Cell::Missing,
            false => Cell::LeftOut,
        };
        let cells: Vec<Cell> = (0..table.columns.len()).map(cell).collect();
        vec![cells; row.instances.len()]
    };
    table.rows.iter().map(of_row).collect()
}

/// A line of the grid: a row at one instance.
pub(crate) struct Line<'a> {
    pub(crate) row: &'a Row,
    pub(crate) instance: usize,
    /// By column.
    pub(crate) cells: &'a [Cell],
}

impl Line<'_> {
    /// What stands at its beginning.
    pub(crate) fn label(&self) -> String {
        self.row.label(self.instance)
    }

    /// What the columns say, in their order. A violation where the size was left open may be one at another size.
    pub(crate) fn verdicts<'b>(
        &'b self,
        table: &'b Table,
    ) -> impl Iterator<Item = (&'b str, Decided)> {
        let columns = table.columns.iter().zip(self.cells);
        columns.flat_map(|(column, cell)| {
            let runs = match cell {
                Cell::Run(runs) => runs.as_slice(),
                _ => &[],
            };
            let elsewhere = column.open && self.row.sweep.is_some();
            let verdicts = runs.iter().filter_map(|run| run.outcome.decided());
            verdicts
                .filter(move |verdict| !(elsewhere && *verdict == Decided::Violated))
                .map(|verdict| (column.name.as_str(), verdict))
        })
    }
}

/// The lines of a table.
pub(crate) fn lines<'a>(table: &'a Table, cells: &'a Cells) -> impl Iterator<Item = Line<'a>> {
    let rows = table.rows.iter().zip(cells);
    rows.flat_map(|(row, cells)| {
        let numbered = cells.iter().enumerate();
        numbered.map(move |(instance, cells)| Line {
            row,
            instance,
            cells,
        })
    })
}

/// Rows whose columns do not agree, in words.
pub(crate) fn disagreements(table: &Table, cells: &Cells) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines(table, cells) {
        let expected = line.row.expected.map(|verdict| ("expected", verdict));
        let mut verdicts: Vec<_> = expected.into_iter().collect();
        verdicts.extend(line.verdicts(table));
        verdicts.dedup();
        if verdicts
            .iter()
            .any(|(_, verdict)| *verdict != verdicts[0].1)
        {
            let said: Vec<String> = verdicts
                .iter()
                .map(|(who, verdict)| format!("{who}: {}", verdict.word()))
                .collect();
            found.push(format!(
                "{}: {}: the verdicts differ: {}",
                table.name,
                line.label(),
                said.join("; ")
            ));
        }
    }
    found
}

/// Runs of our own program that should have given an answer, in words.
pub(crate) fn failures(table: &Table, cells: &Cells) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines(table, cells) {
        for (column, cell) in table.columns.iter().zip(line.cells) {
            let Cell::Run(runs) = cell else { continue };
            let failed = runs.iter().find(|run| run.outcome == Outcome::Failed);
            if let (Some(run), Tool::Engine(_)) = (failed, &column.tool) {
                let why = run.message.as_deref().unwrap_or("no answer");
                let (label, column) = (line.label(), &column.name);
                found.push(format!("{}: {label}, {column}: {why}", table.name));
            }
        }
    }
    found
}
