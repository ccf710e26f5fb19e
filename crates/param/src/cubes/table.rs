//! What samples show of a few processes: for each state and each way to pick them, the value of every column.
//!
//! Rows that look the same are one. For each value of a column there is the set of rows that have it, so whether a situation is in a sample is asked of all at once.

use std::collections::{BTreeMap, HashSet};

use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::instance::{Instance, Shape};
use threadwise_model::state::{ProcessRef, State};

use super::cases::bits;
use super::columns::{
    APART, Column, Domain, Frame, Mask, NOBODY, OTHER, Place, Situation, Who, this,
};
use crate::small::Sample;

/// Rows that are looked at for one scope.
const LOOKED_AT: usize = 250_000;

/// The rows for some scope.
#[derive(Debug)]
pub(crate) struct Table {
    columns: BTreeMap<Column, Vec<(Mask, Vec<u64>)>>,
    rows: Vec<Vec<Mask>>,
    order: Vec<Column>,
    /// Whether some states have more processes of each template.
    pub(crate) telling: bool,
}

impl Table {
    pub(crate) fn new(frame: &Frame, samples: &[Sample], scope: &[TemplateId]) -> Table {
        let order = frame.columns(scope);
        let mut seen: HashSet<Vec<Mask>> = HashSet::new();
        let mut rows = Vec::new();
        let mut telling = false;
        let mut looked = 0;
        for sample in samples {
            for state in &sample.states {
                if looked > LOOKED_AT {
                    break;
                }
                let mut picks = vec![Vec::new()];
                for template in scope {
                    let count = state.count(*template);
                    let mut further = Vec::new();
                    for pick in &picks {
                        for index in 0..count {
                            let one = ProcessRef {
                                template: *template,
                                index,
                            };
                            if !pick.contains(&one) {
                                let mut pick: Vec<ProcessRef> = pick.clone();
                                pick.push(one);
                                further.push(pick);
                            }
                        }
                    }
                    picks = further;
                }
                telling |= scope.iter().all(|template| {
                    let picked = scope.iter().filter(|other| *other == template).count();
                    frame.singles.contains(template) || state.count(*template) as usize > picked
                });
                looked += picks.len();
                for picked in &picks {
                    let moment = Moment {
                        frame,
                        instance: &sample.instance,
                        state,
                        picked,
                    };
                    let row: Vec<Mask> = order
                        .iter()
                        .map(|column| moment.value(*column, scope))
                        .collect();
                    if !seen.contains(&row) {
                        seen.insert(row.clone());
                        rows.push(row);
                    }
                }
            }
        }
        let words = rows.len().div_ceil(64);
        let mut columns: BTreeMap<Column, Vec<(Mask, Vec<u64>)>> = BTreeMap::new();
        for (place, column) in order.iter().enumerate() {
            let values = columns.entry(*column).or_default();
            for (row, cells) in rows.iter().enumerate() {
                let value = cells[place];
                let known = values.iter().position(|(known, _)| *known == value);
                let known = known.unwrap_or_else(|| {
                    values.push((value, vec![0; words]));
                    values.len() - 1
                });
                values[known].1[row / 64] |= 1 << (row % 64);
            }
        }
        Table {
            columns,
            rows,
            order,
            telling,
        }
    }

    /// A row in which a situation is.
    pub(crate) fn find(&self, situation: &Situation) -> Option<usize> {
        let words = self.rows.len().div_ceil(64);
        let mut sets: Vec<Vec<&[u64]>> = Vec::with_capacity(situation.masks.len());
        for (column, mask) in &situation.masks {
            let values = self.columns.get(column)?;
            let held = values.iter().filter(|(value, _)| value & mask != 0);
            sets.push(held.map(|(_, rows)| rows.as_slice()).collect());
        }
        for word in 0..words {
            let mut left = Mask::MAX;
            if word + 1 == words && !self.rows.len().is_multiple_of(64) {
                left = (1 << (self.rows.len() % 64)) - 1;
            }
            for set in &sets {
                left &= set.iter().fold(0, |held, rows| held | rows[word]);
                if left == 0 {
                    break;
                }
            }
            if left != 0 {
                return Some(word * 64 + left.trailing_zeros() as usize);
            }
        }
        None
    }

    /// What a row shows, where it is known.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (Column, Mask)> {
        let cells = self
            .order
            .iter()
            .copied()
            .zip(self.rows[row].iter().copied());
        cells.filter(|(_, value)| *value != Mask::MAX)
    }
}

/// A state with processes picked from it.
struct Moment<'a, 'f> {
    frame: &'a Frame<'f>,
    instance: &'a Instance,
    state: &'a State,
    picked: &'a [ProcessRef],
}

impl Moment<'_, '_> {
    fn pick(&self, who: Who) -> ProcessRef {
        self.picked[usize::from(who)]
    }

    /// The value of a column, as a mask; all if it is none.
    fn value(&self, column: Column, scope: &[TemplateId]) -> Mask {
        self.known(column, scope).unwrap_or(Mask::MAX)
    }

    fn known(&self, column: Column, scope: &[TemplateId]) -> Option<Mask> {
        let either = |holds: bool| if holds { 2 } else { 1 };
        let program = self.instance.program();
        let (value, scalar) = match column {
            Column::At(who) => return Some(1 << self.state.location(self.pick(who)).index()),
            Column::Order(a, b) => return Some(either(self.pick(a).index > self.pick(b).index)),
            Column::First(who) => return Some(either(self.pick(who).index == 0)),
            Column::Last(who) => {
                let one = self.pick(who);
                return Some(either(one.index + 1 == self.state.count(one.template)));
            }
            Column::Beside(who, forward) => {
                let ProcessRef { template, index } = self.pick(who);
                let count = self.state.count(template);
                let by = if forward { 1 } else { count - 1 };
                let beside = ProcessRef {
                    template,
                    index: (index + by) % count,
                };
                return Some(self.named(beside));
            }
            Column::Came(a, b) => {
                let (a, b) = (self.pick(a), self.pick(b));
                let arrivals = self.frame.arrivals.as_ref()?;
                let before = |a, b| arrivals.came_before(self.state, a, b);
                return Some(match (before(a, b), before(b, a)) {
                    (true, _) => 1,
                    (_, true) => 2,
                    _ => APART,
                });
            }
            Column::Shared(var, places) => {
                let position = self.position(self.instance.shared(var), &places)?;
                (
                    *self.state.shared.get(position)?,
                    &program.shared[var].scalar,
                )
            }
            Column::Own(who, var, places) => {
                let ProcessRef { template, index } = self.pick(who);
                let stride = self.instance.local_cells(template);
                let shape = self.instance.local(template, var);
                let position = index as usize * stride + self.position(shape, &places)?;
                let value = self.state.templates[template].cells.get(position)?;
                (*value, &program.templates[template].locals[var].scalar)
            }
            Column::Choice(_) => return None,
        };
        match self.frame.domain(column, scope)? {
            Domain::Numbers(least, count) => {
                let bit = value.checked_sub(least)?;
                (0..i64::from(count)).contains(&bit).then(|| 1 << bit)
            }
            Domain::Processes(of, _) => {
                let process = match scalar {
                    Scalar::Mutex => ProcessRef::from_mutex_code(value),
                    _ => of.and_then(|template| {
                        let index = u32::try_from(value).ok()?;
                        Some(ProcessRef { template, index })
                    }),
                };
                Some(match process {
                    None => NOBODY,
                    Some(process) => self.named(process),
                })
            }
            Domain::Labels(_) | Domain::Either | Domain::Came => None,
        }
    }

    /// A process, as the value of an id.
    fn named(&self, process: ProcessRef) -> Mask {
        match self.picked.iter().position(|one| *one == process) {
            Some(who) => this(who as Who),
            None => OTHER,
        }
    }

    fn position(&self, shape: &Shape, places: &[Place]) -> Option<usize> {
        let mut offset = 0;
        for (dim, place) in shape.dims.iter().zip(places) {
            let index = match place {
                Place::Absent => return None,
                Place::Position(position) => i64::from(*position),
                Place::Of(who) => i64::from(self.pick(*who).index),
            };
            offset = offset * dim.size as usize + dim.offset(index)?;
        }
        Some(shape.first + offset)
    }
}

/// Situations that are smaller by one value in one column.
pub(crate) fn wider(frame: &Frame, situation: &Situation) -> Vec<(Column, Mask)> {
    let mut ways = Vec::new();
    for (column, mask) in &situation.masks {
        if let Some(domain) = frame.domain(*column, &situation.scope) {
            let missing = frame.all(domain, &situation.scope) & !mask;
            ways.extend(bits(missing).map(|bit| (*column, bit)));
        }
    }
    ways
}
