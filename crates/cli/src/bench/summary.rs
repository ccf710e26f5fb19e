//! What the runs of a cell amount to: medians, growth, targets.

use crate::bench::campaign::{Cell, Cells};
use crate::bench::figures::{Figure, median, seconds, short_time};
use crate::bench::fit::exponent;
use crate::bench::results::{Outcome, Run};
use crate::bench::table::{Bound, CellLimits, Row, Table};

impl Cell {
    /// The median of a figure over the runs, if all are decided.
    pub(crate) fn median(&self, figure: Figure) -> Option<f64> {
        let Cell::Run(runs) = self else { return None };
        runs.iter()
            .try_for_each(|run| run.outcome.decided().map(|_| ()))?;
        median(runs.iter().filter_map(|run| figure.of(run)))
    }

    /// The same, or what it took to find that the method does not decide.
    pub(crate) fn taken(&self, figure: Figure) -> Option<f64> {
        match self {
            Cell::Run(runs) if self.undecided() => figure.of(runs.last()?),
            _ => self.median(figure),
        }
    }

    /// Whether the method ended by itself without an answer.
    fn undecided(&self) -> bool {
        let Cell::Run(runs) = self else { return false };
        runs.last()
            .is_some_and(|run| run.outcome == Outcome::Unknown)
    }

    /// Whether a limit ended it, here or at a smaller size.
    fn at_limit(&self) -> bool {
        match self {
            Cell::Run(runs) => runs.iter().any(|run| run.outcome.at_limit()),
            Cell::Skipped(_) => true,
            _ => false,
        }
    }

    /// How it ended, in a word or two.
    pub(crate) fn outcome(&self, limits: CellLimits) -> String {
        match self {
            Cell::Run(runs) => match runs.last().map(|run| run.outcome) {
                Some(Outcome::Proved) => "proved".to_owned(),
                Some(Outcome::Violated) => "violated".to_owned(),
                Some(Outcome::Unknown) => "unknown".to_owned(),
                Some(Outcome::Time) => over_time(runs, limits),
                Some(Outcome::Memory) => format!("> {} MiB", limits.memory_mib),
                Some(Outcome::Unprepared) => "not prepared".to_owned(),
                Some(Outcome::Failed) | None => "failed".to_owned(),
            },
            Cell::Skipped(_) => "skipped".to_owned(),
            Cell::Absent => "absent".to_owned(),
            Cell::Refused(_) => "no export".to_owned(),
            Cell::LeftOut => String::new(),
            Cell::Missing => "not run".to_owned(),
        }
    }

    /// The figures in the grid, or why there are none. Those that the method does not have are dashes, and left out at the end.
    pub(crate) fn shown(&self, figures: &[Figure], limits: CellLimits) -> String {
        let medians: Vec<Option<f64>> = figures.iter().map(|f| self.taken(*f)).collect();
        let Some(last) = medians.iter().rposition(Option::is_some) else {
            return self.outcome(limits);
        };
        let known = figures.iter().zip(&medians).take(last + 1);
        let shown = known.map(|(figure, median)| match median {
            Some(value) => figure.shown(*value),
            None => "-".to_owned(),
        });
        let shown = shown.collect::<Vec<_>>().join(" / ");
        match self.undecided() {
            true => format!("{} ({shown})", self.outcome(limits)),
            false => shown,
        }
    }

    /// Why it has no verdict, if there is more to say.
    pub(crate) fn remark(&self) -> Option<&str> {
        match self {
            Cell::Refused(why) => Some(why),
            Cell::Run(runs) => {
                let run: &Run = runs.last()?;
                match run.outcome {
                    Outcome::Unknown | Outcome::Unprepared | Outcome::Failed => {
                        run.message.as_deref()
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// What a run that was ended has taken at least: the limit, or less if it was the clock that ended it.
fn over_time(runs: &[Run], limits: CellLimits) -> String {
    let taken = runs.last().and_then(|run| run.cpu_seconds);
    match taken.filter(|taken| *taken < limits.seconds) {
        Some(taken) => format!("> {} s", seconds(taken)),
        None => format!("> {} s", limits.seconds),
    }
}

/// The points of a curve: sizes, and CPU seconds where they are decided.
pub(crate) fn curve(row: &Row, cells: &[Vec<Cell>], column: usize) -> Vec<(i64, f64)> {
    let points = cells.iter().enumerate().filter_map(|(instance, cells)| {
        let seconds = cells[column].median(Figure::Cpu)?;
        Some((row.size(instance)?, seconds))
    });
    points.collect()
}

/// The exponent of a column along a row.
fn growth_exponent(table: &Table, row: &Row, cells: &[Vec<Cell>], column: usize) -> Option<f64> {
    row.sweep.as_ref()?;
    exponent(&curve(row, cells, column), table.growth_from)
}

/// The growth of a column along a row, as it is printed: `N^1.9`.
pub(crate) fn growth(
    table: &Table,
    row: &Row,
    cells: &[Vec<Cell>],
    column: usize,
) -> Option<String> {
    let name = row.sweep.as_deref()?;
    let exponent = growth_exponent(table, row, cells, column)?;
    Some(format!("{name}^{exponent:.1}"))
}

/// Whether targets are met.
pub(crate) enum Aim {
    Met(f64),
    Missed(f64),
    /// There is no figure; this is what there is instead.
    Open(String),
}

/// A target in words, and whether it is met.
pub(crate) fn targets(table: &Table, cells: &Cells) -> Vec<(String, Aim)> {
    let mut found = Vec::new();
    for (row, cells) in table.rows.iter().zip(cells) {
        for target in &row.targets {
            let column = &table.columns[target.column].name;
            found.push(match &target.bound {
                Bound::Figure {
                    instance,
                    figure,
                    below,
                    or_times_proof,
                } => {
                    let cell = &cells[*instance][target.column];
                    let times_proof =
                        or_times_proof.and_then(|times| Some(times * cell.median(Figure::Proof)?));
                    let bound = times_proof.map_or(*below, |other| below.max(other));
                    let words = format!(
                        "{}, {column}: below {} {}",
                        row.label(*instance),
                        figure_plain(bound),
                        figure.head()
                    );
                    let aim = match cell.median(*figure) {
                        Some(value) if value < bound => Aim::Met(value),
                        Some(value) => Aim::Missed(value),
                        None => Aim::Open(cell.outcome(table.limits)),
                    };
                    (words, aim)
                }
                Bound::Ahead { instance, of } => {
                    let (own, other) = (&cells[*instance][target.column], &cells[*instance][*of]);
                    let words = format!(
                        "{}, {column}: ahead of {}",
                        row.label(*instance),
                        table.columns[*of].name
                    );
                    let aim = match (own.median(Figure::Cpu), other.median(Figure::Cpu)) {
                        (Some(own), Some(other)) if own < other => Aim::Met(own),
                        (Some(own), Some(_)) => Aim::Missed(own),
                        // Whoever ends is ahead of whoever does not.
                        (Some(own), None) if other.at_limit() => Aim::Met(own),
                        (Some(_), None) => Aim::Open(other.outcome(table.limits)),
                        (None, _) => Aim::Open(own.outcome(table.limits)),
                    };
                    (words, aim)
                }
                Bound::Growth { at_most } => {
                    let size = row.sweep.as_deref().unwrap_or_default();
                    let words = format!("{}, {column}: growth at most {size}^{at_most}", row.name);
                    let aim = match growth_exponent(table, row, cells, target.column) {
                        Some(exponent) if exponent <= *at_most => Aim::Met(exponent),
                        Some(exponent) => Aim::Missed(exponent),
                        None => Aim::Open(format!(
                            "too few runs of at least {}",
                            short_time(table.growth_from)
                        )),
                    };
                    (words, aim)
                }
            });
        }
    }
    found
}

fn figure_plain(value: f64) -> String {
    match value.fract() == 0.0 {
        true => value.to_string(),
        false => seconds(value),
    }
}

/// The least and the greatest load while the runs were made.
pub(crate) fn loads<'a>(cells: impl Iterator<Item = &'a Cells>) -> Option<(f64, f64)> {
    let runs = cells
        .flatten()
        .flatten()
        .flatten()
        .filter_map(|cell| match cell {
            Cell::Run(runs) => Some(runs),
            _ => None,
        });
    let loads = runs.flatten().filter_map(|run| run.load);
    loads.fold(None, |range, load| match range {
        None => Some((load, load)),
        Some((least, most)) => Some((least.min(load), most.max(load))),
    })
}
