//! What is aimed at, and whether it is reached: bounds on figures, on growth, and on CPU time by that of the fastest of
//! others (columns or published figures).
//!
//! All is decided from one run. Whoever does not end needs at least the limit: that can show a target met, but never missed.

use serde::Deserialize;

use crate::campaign::{Cell, Cells, Line, lines};
use crate::figures::{Figure, seconds, short_time};
use crate::summary::growth_exponent;
use crate::table::{OneOrMore, Row, Table};

/// What a column of a row should reach.
#[derive(Debug)]
pub(crate) struct Target {
    /// By position.
    pub(crate) column: usize,
    pub(crate) bound: Bound,
}

/// What a target bounds.
#[derive(Debug)]
pub(crate) enum Bound {
    /// A figure at one size.
    Figure {
        /// The instance, by position.
        instance: usize,
        figure: Figure,
        below: f64,
        /// Or below this many times the proof, where that is more.
        or_times_proof: Option<f64>,
    },
    /// CPU time at one size, by that of others.
    Ahead {
        /// The instance, by position.
        instance: usize,
        /// The fastest of these counts.
        of: Vec<Rival>,
        by: Margin,
    },
    /// The exponent of CPU time along the sweep.
    Growth { at_most: f64 },
}

/// Somebody to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// A column, by position.
    Column(usize),
    /// A column of published figures, by position.
    Published(usize),
}

impl Rival {
    /// The head of the column.
    pub(crate) fn name(self, table: &Table) -> &str {
        match self {
            Rival::Column(column) => &table.columns[column].name,
            Rival::Published(source) => &table.sources[source].label,
        }
    }
}

/// How far CPU time is to be from that of the fastest rival: below so many times that and so many seconds more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Margin {
    times: f64,
    plus: f64,
    /// Seconds that are enough in any case.
    enough: f64,
    /// The target is for rivals that need at least so long ...
    from: f64,
    /// ... and less than this.
    until: f64,
}

impl Margin {
    fn bound(&self, rival: f64) -> f64 {
        (self.times * rival + self.plus).max(self.enough)
    }

    /// In words, with whom it is compared.
    fn words(&self, of: &str) -> String {
        let mut words = match self.times == 1.0 && self.plus == 0.0 {
            true => format!("ahead of {of}"),
            false => format!("below {} times {of}", self.times),
        };
        if self.plus > 0.0 {
            words += &format!(" and {}", short_time(self.plus));
        }
        if self.enough > 0.0 {
            words += &format!(", or below {}", short_time(self.enough));
        }
        words
    }
}

/// A target as it is written.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetForm {
    pub(crate) column: String,
    at: Option<i64>,
    figure: Option<Figure>,
    below: Option<f64>,
    or_times_proof: Option<f64>,
    ahead_of: Option<OneOrMore<String>>,
    times: Option<f64>,
    times_at_largest: Option<f64>,
    plus: Option<f64>,
    enough: Option<f64>,
    from: Option<f64>,
    until: Option<f64>,
    growth_at_most: Option<f64>,
}

impl TargetForm {
    /// The target of one row; `rival` finds others by their names.
    pub(crate) fn of_row(
        &self,
        column: usize,
        rival: impl Fn(&String) -> Result<Rival, String>,
        row: &Row,
    ) -> Result<Target, String> {
        self.numbers_are_usable()?;
        let instance = || match self.at {
            None if row.instances.len() == 1 => Ok(0),
            None => Err("a target of a sweep says `at` which value".to_owned()),
            Some(at) => (0..row.instances.len())
                .find(|instance| row.size(*instance) == Some(at))
                .ok_or_else(|| format!("a target is at {at}, which is not in the sweep")),
        };
        let of_a_figure = self.figure.is_some() || self.or_times_proof.is_some();
        let bound = match (self.below, &self.ahead_of, self.growth_at_most) {
            (Some(below), None, None) if !self.has_margin() => Bound::Figure {
                instance: instance()?,
                figure: self.figure.unwrap_or(Figure::Cpu),
                below,
                or_times_proof: self.or_times_proof,
            },
            (None, Some(of), None) if !of_a_figure => {
                let instance = instance()?;
                Bound::Ahead {
                    instance,
                    of: of.as_slice().iter().map(rival).collect::<Result<_, _>>()?,
                    by: self.margin(instance + 1 == row.instances.len()),
                }
            }
            (None, None, Some(at_most))
                if !of_a_figure && !self.has_margin() && self.at.is_none() =>
            {
                match row.sweep.is_some() {
                    true => Bound::Growth { at_most },
                    false => return Err("`growth_at_most` is for a row with a sweep".to_owned()),
                }
            }
            _ => {
                return Err(
                    "a target has `below`, or `ahead_of` and perhaps `at` and a margin, or `growth_at_most` alone"
                        .to_owned(),
                );
            }
        };
        Ok(Target { column, bound })
    }

    /// The targets that one of the whole table means for a row: at each size, by those that the row has.
    pub(crate) fn of_table(
        &self,
        column: usize,
        rival: impl Fn(&String) -> Result<Rival, String>,
        row: &Row,
    ) -> Result<Vec<Target>, String> {
        let Some(of) = &self.ahead_of else {
            return Err("a target of the whole table has `ahead_of`".to_owned());
        };
        if self.at.is_some() {
            return Err("a target of the whole table is for every size, without `at`".to_owned());
        }
        let of: Vec<Rival> = of.as_slice().iter().map(&rival).collect::<Result<_, _>>()?;
        let mut targets = Vec::new();
        for instance in 0..row.instances.len() {
            let of: Vec<Rival> = of
                .iter()
                .copied()
                .filter(|r| row.has(*r, instance))
                .collect();
            if !row.columns.contains(&column) || of.is_empty() {
                continue;
            }
            // Every other rule is that of a target of the row.
            let at = TargetForm {
                at: row.size(instance),
                ..self.clone()
            };
            let mut target = at.of_row(column, &rival, row)?;
            if let Bound::Ahead { of: all, .. } = &mut target.bound {
                *all = of;
            }
            targets.push(target);
        }
        Ok(targets)
    }

    fn has_margin(&self) -> bool {
        let numbers = [
            self.times,
            self.times_at_largest,
            self.plus,
            self.enough,
            self.from,
            self.until,
        ];
        numbers.iter().any(Option::is_some)
    }

    fn margin(&self, largest: bool) -> Margin {
        let at_largest = self.times_at_largest.filter(|_| largest);
        Margin {
            times: at_largest.or(self.times).unwrap_or(1.0),
            plus: self.plus.unwrap_or(0.0),
            enough: self.enough.unwrap_or(0.0),
            from: self.from.unwrap_or(0.0),
            until: self.until.unwrap_or(f64::INFINITY),
        }
    }

    fn numbers_are_usable(&self) -> Result<(), String> {
        let numbers = [
            self.below,
            self.or_times_proof,
            self.growth_at_most,
            self.times,
            self.times_at_largest,
            self.plus,
            self.enough,
            self.from,
            self.until,
        ];
        let mut numbers = numbers.into_iter().flatten();
        match numbers.any(|bound| !bound.is_finite() || bound <= 0.0) {
            true => Err("the bounds of a target are positive numbers".to_owned()),
            false => Ok(()),
        }
    }
}

/// Whether a target is met, with the figures that say so.
pub(crate) enum Aim {
    Met(String),
    Missed(String),
    /// There is no figure; this is what there is instead.
    Open(String),
}

/// What the fastest of some rivals needs.
pub(crate) struct Fastest {
    pub(crate) seconds: f64,
    /// None of them ended: it is more than that.
    pub(crate) more: bool,
    /// With its name: `SPIN 1.20`, `SPIN > 20`, and what is published as it stands.
    pub(crate) shown: String,
}

/// The fastest of those that have a figure; else the least limit of those that did not end. If there are neither, what there is instead.
pub(crate) fn fastest(table: &Table, line: &Line<'_>, rivals: &[Rival]) -> Result<Fastest, String> {
    let mut found: Option<Fastest> = None;
    let mut instead = String::new();
    for rival in rivals {
        let (time, text) = match *rival {
            Rival::Column(column) => {
                let cell = &line.cells[column];
                let text = match cell {
                    Cell::Skipped(_) => format!("> {} s", table.limits.seconds),
                    _ => cell.shown(&[Figure::Cpu], table.limits),
                };
                if *cell == Cell::Missing {
                    return Err(format!("{} {text}", rival.name(table)));
                }
                let ended = cell.median(Figure::Cpu).map(|seconds| (seconds, false));
                let over = cell.at_limit().then_some((table.limits.seconds, true));
                (ended.or(over), text)
            }
            Rival::Published(source) => {
                let text = &line.row.published[source][line.instance];
                (published_seconds(text), text.clone())
            }
        };
        let shown = format!("{} {text}", rival.name(table));
        let Some((seconds, more)) = time else {
            if instead.is_empty() {
                instead = shown;
            }
            continue;
        };
        let better = |best: &Fastest| (more, seconds) < (best.more, best.seconds);
        if found.as_ref().is_none_or(better) {
            found = Some(Fastest {
                seconds,
                more,
                shown,
            });
        }
    }
    found.ok_or(instead)
}

/// The seconds that a published figure begins with, and whether it is more than that: `1.5 (NuSMV)`, `> 120`.
fn published_seconds(text: &str) -> Option<(f64, bool)> {
    let (text, more) = match text.strip_prefix('>') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let number = text.split_whitespace().next()?.parse::<f64>().ok()?;
    number.is_finite().then_some((number, more))
}

/// The targets of a table that apply, in words, and whether they are met.
pub(crate) fn targets(table: &Table, cells: &Cells) -> Vec<(String, Aim)> {
    let mut found = Vec::new();
    for (position, row) in table.rows.iter().enumerate() {
        let at: Vec<Line<'_>> = lines(table, cells)
            .filter(|line| std::ptr::eq(line.row, row))
            .collect();
        for target in &row.targets {
            let column = &table.columns[target.column].name;
            match &target.bound {
                Bound::Figure {
                    instance,
                    figure,
                    below,
                    or_times_proof,
                } => {
                    let cell = &at[*instance].cells[target.column];
                    let times_proof =
                        or_times_proof.and_then(|times| Some(times * cell.median(Figure::Proof)?));
                    let bound = times_proof.map_or(*below, |other| below.max(other));
                    let words = format!(
                        "{}, {column}: below {} {}",
                        row.label(*instance),
                        plain(bound),
                        figure.head()
                    );
                    let aim = match cell.median(*figure) {
                        Some(value) if value < bound => Aim::Met(format!("{value:.2}")),
                        Some(value) => Aim::Missed(format!("{value:.2}")),
                        None => without(table, cell, bound),
                    };
                    found.push((words, aim));
                }
                Bound::Ahead { instance, of, by } => {
                    let line = &at[*instance];
                    if let Some((words, aim)) = ahead(table, line, target.column, of, by) {
                        let label = row.label(*instance);
                        found.push((format!("{label}, {column}: {words}"), aim));
                    }
                }
                Bound::Growth { at_most } => {
                    let size = row.sweep.as_deref().unwrap_or_default();
                    let words = format!("{}, {column}: growth at most {size}^{at_most}", row.name);
                    let aim = match growth_exponent(table, row, &cells[position], target.column) {
                        Some(exponent) if exponent <= *at_most => {
                            Aim::Met(format!("{exponent:.2}"))
                        }
                        Some(exponent) => Aim::Missed(format!("{exponent:.2}")),
                        None => Aim::Open(format!(
                            "too few runs of at least {}",
                            short_time(table.growth_from)
                        )),
                    };
                    found.push((words, aim));
                }
            }
        }
    }
    found
}

/// A column against its rivals in one line; nothing if the target is not for a rival that needs so long.
fn ahead(
    table: &Table,
    line: &Line<'_>,
    column: usize,
    of: &[Rival],
    by: &Margin,
) -> Option<(String, Aim)> {
    let names: Vec<&str> = of.iter().map(|rival| rival.name(table)).collect();
    let fastest = match fastest(table, line, of) {
        Ok(fastest) => fastest,
        Err(why) => return Some((by.words(&names.join(", ")), Aim::Open(why))),
    };
    if fastest.seconds < by.from || fastest.seconds >= by.until {
        return None;
    }
    let words = by.words(match of {
        [one] => one.name(table),
        _ => "the fastest other",
    });
    let cell = &line.cells[column];
    let bound = by.bound(fastest.seconds);
    let aim = match cell.median(Figure::Cpu) {
        Some(own) => {
            let shown = format!("{own:.2}; {}", fastest.shown);
            match own < bound {
                true => Aim::Met(shown),
                // Nobody knows how much longer it would have taken.
                false if fastest.more => Aim::Open(shown),
                false => Aim::Missed(shown),
            }
        }
        None if fastest.more => Aim::Open(cell.outcome(table.limits)),
        None => match without(table, cell, bound) {
            Aim::Missed(outcome) => Aim::Missed(format!("{outcome}; {}", fastest.shown)),
            other => other,
        },
    };
    Some((words, aim))
}

/// A cell without the figure: who ended without an answer has missed, but for a limit on time that is below the bound.
fn without(table: &Table, cell: &Cell, bound: f64) -> Aim {
    let outcome = cell.outcome(table.limits);
    let too_early = cell.ended_after(table.limits).is_some_and(|s| s < bound);
    match (cell.at_limit() || cell.undecided()) && !too_early {
        true => Aim::Missed(outcome),
        false => Aim::Open(outcome),
    }
}

fn plain(value: f64) -> String {
    match value.fract() == 0.0 {
        true => value.to_string(),
        false => seconds(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_begin_with_seconds() {
        assert_eq!(published_seconds("1.5"), Some((1.5, false)));
        assert_eq!(published_seconds("1.5 (NuSMV)"), Some((1.5, false)));
        assert_eq!(published_seconds("> 120"), Some((120.0, true)));
        assert_eq!(published_seconds(""), None);
        assert_eq!(published_seconds("no proof"), None);
        assert_eq!(published_seconds("inf"), None);
    }

    #[test]
    fn a_margin_is_times_and_seconds_and_what_is_enough() {
        let margin = Margin {
            times: 0.5,
            plus: 0.0,
            enough: 0.3,
            from: 0.0,
            until: 1.0,
        };
        assert_eq!(margin.bound(0.2), 0.3);
        assert_eq!(margin.bound(4.0), 2.0);
        assert_eq!(
            margin.words("SPIN"),
            "below 0.5 times SPIN, or below 300 ms"
        );
        let within = Margin {
            times: 2.0,
            plus: 0.5,
            enough: 0.0,
            ..margin
        };
        assert_eq!(within.bound(1.0), 2.5);
        assert_eq!(within.words("it"), "below 2 times it and 500 ms");
    }
}
