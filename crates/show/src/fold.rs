//! Which steps of a run are worth a line, and which are folded into one line for many.
//!
//! Three kinds of stretches are folded: processes that rest or have no step one after the other (always, since nothing changes), the same steps again
//! and again, and a long run of one process while the others wait. What is still longer than anybody reads is cut in the middle. A fold
//! says which steps it stands for and what has changed at its end, so nothing is lost but the way there.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::grouping::{assignments, names};
use threadwise_evidence::{Step, Trace, Valuation, Value};

/// Runs up to this length are shown as they are.
const SHORT: usize = 40;
/// The longest sequence of lines whose repetition is looked for.
const LONGEST_PERIOD: usize = 24;
/// A stretch of one process from this length on is folded; at either end so many lines stay.
const ALONE: usize = 16;
const ALONE_ENDS: usize = 4;
/// At most so many lines are shown, half of them at either end.
const MOST: usize = 200;
/// How many groups of values a fold names.
const SHOWN_VALUES: usize = 6;

/// A line, or some that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A step.
    Step(usize),
    /// Steps that change nothing.
    Still(Range<usize>),
    /// Steps that are not shown.
    Folded(Range<usize>, Why),
}

/// Why steps are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// They are like those before them: so many steps, so many times more.
    Repeated { steps: usize, times: usize },
    /// One process goes on and on.
    Alone,
    /// There is too much.
    Long,
}

impl Row {
    /// The steps that it stands for.
    pub(crate) fn steps(&self) -> Range<usize> {
        match self {
            Row::Step(step) => *step..step + 1,
            Row::Still(steps) | Row::Folded(steps, _) => steps.clone(),
        }
    }
}

/// The lines of some steps.
pub(crate) fn rows(trace: &Trace, range: Range<usize>, folded: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut position = range.start;
    while position < range.end {
        let steps = trace.steps.get(position..range.end).unwrap_or_default();
        let still = steps.iter().take_while(|step| step.rest || step.idle);
        match still.count() {
            0 | 1 => {
                rows.push(Row::Step(position));
                position += 1;
            }
            still => {
                rows.push(Row::Still(position..position + still));
                position += still;
            }
        }
    }
    if !folded || rows.len() <= SHORT {
        return rows;
    }
    cut(alone(trace, repeated(trace, rows)))
}

/// Folds what is repeated.
fn repeated(trace: &Trace, rows: Vec<Row>) -> Vec<Row> {
    let mut known: BTreeMap<Vec<Alike<'_>>, usize> = BTreeMap::new();
    let kinds: Vec<usize> = rows
        .iter()
        .map(|row| {
            let steps = trace.steps.get(row.steps()).unwrap_or_default();
            let next = known.len();
            *known
                .entry(steps.iter().map(alike).collect())
                .or_insert(next)
        })
        .collect();
    let mut shown = Vec::new();
    let mut position = 0;
    while position < rows.len() {
        let best = (1..=LONGEST_PERIOD)
            .map(|period| (times(&kinds[position..], period), period))
            .filter(|(times, period)| *times >= 3 && (times - 1) * period >= 4)
            .max_by_key(|(times, period)| (times * period, std::cmp::Reverse(*period)));
        match best {
            Some((times, period)) => {
                let again = position + period;
                let end = position + times * period;
                shown.extend_from_slice(&rows[position..again]);
                let (first, last) = (rows[again].steps(), rows[end - 1].steps());
                let why = Why::Repeated {
                    steps: first.start - rows[position].steps().start,
                    times: times - 1,
                };
                shown.push(Row::Folded(first.start..last.end, why));
                position = end;
            }
            None => {
                shown.push(rows[position].clone());
                position += 1;
            }
        }
    }
    shown
}

/// What makes steps alike: everything but the values.
type Alike<'t> = (&'t str, &'t str, &'t str, bool, bool, Vec<&'t str>);

fn alike(step: &Step) -> Alike<'_> {
    let changes = step.changes.iter().chain(step.started.iter());
    let changes = changes.map(|(name, _)| name).collect();
    let (process, from, to) = (&step.process, &step.from, &step.to);
    (process, from, to, step.rest, step.idle, changes)
}

/// How many times a sequence of this length stands at the beginning, one after the other.
fn times(kinds: &[usize], period: usize) -> usize {
    let Some(first) = kinds.get(..period) else {
        return 0;
    };
    let all = kinds.chunks_exact(period);
    all.take_while(|chunk| *chunk == first).count()
}

/// Folds stretches of one process.
fn alone(trace: &Trace, rows: Vec<Row>) -> Vec<Row> {
    let process = |row: &Row| match row {
        Row::Step(step) => trace.steps.get(*step).map(|step| step.process.as_str()),
        Row::Still(_) | Row::Folded(..) => None,
    };
    let mut shown = Vec::new();
    for stretch in rows.chunk_by(|a, b| process(a).is_some() && process(a) == process(b)) {
        if stretch.len() < ALONE {
            shown.extend_from_slice(stretch);
            continue;
        }
        let (first, rest) = stretch.split_at(ALONE_ENDS);
        let (middle, last) = rest.split_at(rest.len() - ALONE_ENDS);
        shown.extend_from_slice(first);
        shown.extend(together(middle, Why::Alone));
        shown.extend_from_slice(last);
    }
    shown
}

/// Leaves out the middle of what is too long.
fn cut(rows: Vec<Row>) -> Vec<Row> {
    if rows.len() <= MOST {
        return rows;
    }
    let (first, rest) = rows.split_at(MOST / 2);
    let (middle, last) = rest.split_at(rest.len() - MOST / 2);
    let mut shown = first.to_vec();
    shown.extend(together(middle, Why::Long));
    shown.extend_from_slice(last);
    shown
}

fn together(rows: &[Row], why: Why) -> Option<Row> {
    let (first, last) = (rows.first()?.steps(), rows.last()?.steps());
    Some(Row::Folded(first.start..last.end, why))
}

/// A fold in words.
pub(crate) fn describe(trace: &Trace, folded: &Range<usize>, why: Why) -> String {
    let steps = trace.steps.get(folded.clone()).unwrap_or_default();
    let numbers = format!("steps {}..{}", folded.start + 1, folded.end);
    let mut values: BTreeMap<&str, &Value> = BTreeMap::new();
    for step in steps {
        values.extend(step.changes.iter());
    }
    let text = match why {
        Why::Repeated { steps, times } => {
            // What is as it was after the lines above needs no mention.
            let before = folded.start.saturating_sub(steps)..folded.start;
            let mut known: BTreeMap<&str, &Value> = BTreeMap::new();
            for step in trace.steps.get(before).unwrap_or_default() {
                known.extend(step.changes.iter());
            }
            values.retain(|name, value| known.get(name) != Some(value));
            match steps {
                1 => format!("{numbers}: the same step {times} times more"),
                _ => format!("{numbers}: the same {steps} steps {times} times more"),
            }
        }
        Why::Alone => match steps.last() {
            Some(last) => format!(
                "{numbers}: {} goes on alone, and comes to {}",
                last.process, last.to
            ),
            None => numbers,
        },
        Why::Long => {
            let moving = steps.iter().filter(|step| !step.rest && !step.idle);
            let mut moving: Vec<&str> = moving.map(|step| step.process.as_str()).collect();
            moving.sort_unstable();
            moving.dedup();
            format!(
                "{numbers} are folded: {} of {}",
                folded.len(),
                names(moving)
            )
        }
    };
    let values = values.into_iter();
    let values = values.map(|(name, value)| (name.to_owned(), value.clone()));
    let mut values = assignments(&Valuation(values.collect()), " = ");
    let hidden = values.len().saturating_sub(SHOWN_VALUES);
    values.truncate(SHOWN_VALUES);
    if hidden > 0 {
        values.push(format!("and {hidden} more"));
    }
    match values.is_empty() {
        true => text,
        false => format!("{text}; then {}", values.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadwise_evidence::{Ending, Initial, MemoryModel, TRACE_VERSION};

    fn trace(steps: &[(&str, &str, &str)]) -> Trace {
        let steps = steps.iter().map(|(process, from, to)| Step {
            process: (*process).to_owned(),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            line: None,
            then: Vec::new(),
            rest: false,
            idle: false,
            changes: Valuation::default(),
            started: Valuation::default(),
        });
        Trace {
            version: TRACE_VERSION,
            memory_model: MemoryModel::SequentiallyConsistent,
            property: None,
            params: BTreeMap::new(),
            initial: Initial::default(),
            steps: steps.collect(),
            loop_from: None,
            ending: Ending::End,
            lasso: None,
            causes: Vec::new(),
        }
    }

    /// Every step is in one row, in order.
    fn complete(trace: &Trace, rows: &[Row]) {
        let mut next = 0;
        for row in rows {
            assert_eq!(row.steps().start, next, "{rows:?}");
            next = row.steps().end;
        }
        assert_eq!(next, trace.steps.len());
    }

    #[test]
    fn repetitions_fold_to_their_first_time() {
        let mut steps = vec![("Q", "x", "y")];
        for _ in 0..100 {
            steps.extend([("P", "a", "b"), ("Q", "y", "y"), ("P", "b", "a")]);
        }
        let mut trace = trace(&steps);
        for (number, step) in trace.steps.iter_mut().enumerate() {
            let value = Value::Int(number as i64 % 3);
            let counted = Value::Int(number as i64);
            if step.from == "a" {
                step.changes.0 = vec![("k".to_owned(), value), ("n".to_owned(), counted)];
            }
        }
        let rows = rows(&trace, 0..301, true);
        complete(&trace, &rows);
        let why = Why::Repeated {
            steps: 3,
            times: 99,
        };
        assert_eq!(rows.len(), 5, "{rows:?}");
        assert_eq!(rows[4], Row::Folded(4..301, why));
        assert_eq!(
            describe(&trace, &(4..301), why),
            "steps 5..301: the same 3 steps 99 times more; then n = 298"
        );
    }

    #[test]
    fn a_process_alone_and_runs_that_never_repeat() {
        // Labels that occur once, so that nothing is a repetition.
        let labels: Vec<String> = (0..=5000).map(|number| format!("l{number}")).collect();
        let process = |number: usize| match number {
            0..=99 => "P",
            _ => ["P", "Q", "R"][number * number / 7 % 3],
        };
        let steps: Vec<(&str, &str, &str)> = (0..5000)
            .map(|at| (process(at), labels[at].as_str(), labels[at + 1].as_str()))
            .collect();
        let trace = trace(&steps);
        let shown = rows(&trace, 0..5000, true);
        complete(&trace, &shown);
        assert!(shown.len() <= MOST + 1, "{}", shown.len());
        assert_eq!(shown[ALONE_ENDS].steps().start, ALONE_ENDS);
        assert!(matches!(shown[ALONE_ENDS], Row::Folded(_, Why::Alone)));
        let long = |row: &&Row| matches!(row, Row::Folded(_, Why::Long));
        assert_eq!(shown.iter().filter(long).count(), 1);
        let all = rows(&trace, 0..5000, false);
        complete(&trace, &all);
        assert_eq!(all.len(), 5000);
    }
}
