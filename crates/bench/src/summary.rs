//! What the runs of a cell amount to: medians and growth.

use crate::campaign::{Cell, Cells};
use crate::figures::{Figure, median, seconds};
use crate::fit::exponent;
use crate::results::{Outcome, Run};
use crate::table::{CellLimits, Row, Table};

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
    pub(crate) fn undecided(&self) -> bool {
        let Cell::Run(runs) = self else { return false };
        runs.last()
            .is_some_and(|run| run.outcome == Outcome::Unknown)
    }

    /// Whether a limit ended it, here or at a smaller size.
    pub(crate) fn at_limit(&self) -> bool {
        match self {
            Cell::Run(runs) => runs.iter().any(|run| run.outcome.at_limit()),
            Cell::Skipped(_) => true,
            _ => false,
        }
    }

    /// The CPU seconds after which the limit on time ended it, here or at a smaller size.
    pub(crate) fn ended_after(&self, limits: CellLimits) -> Option<f64> {
        match self {
            Cell::Run(runs) => {
                let run = runs.last().filter(|run| run.outcome == Outcome::Time)?;
                run.cpu_seconds
            }
            Cell::Skipped(_) => Some(limits.seconds),
            _ => None,
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
pub(crate) fn growth_exponent(
    table: &Table,
    row: &Row,
    cells: &[Vec<Cell>],
    column: usize,
) -> Option<f64> {
    row.sweep.as_ref()?;
    if table.columns[column].open {
        return None;
    }
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
