//! Writing situations down, in the words of claims.

use std::fmt::Write;

use threadwise_evidence::family::{Excluded, Fact};
use threadwise_model::family::{Cell, Index, Term};

use super::columns::{Column, Domain, Frame, Mask, NOBODY, OTHER, Situation, Who, this};

impl Situation {
    /// The situation as one that a claim excludes.
    pub(crate) fn excluded(&self, frame: &Frame) -> Excluded {
        let family = frame.family;
        let references = self
            .scope
            .iter()
            .map(|template| family.templates[*template].name.clone());
        let facts = self
            .masks
            .iter()
            .filter_map(|(column, mask)| self.fact(frame, *column, *mask));
        Excluded {
            references: references.collect(),
            facts: facts.collect(),
        }
    }

    fn fact(&self, frame: &Frame, column: Column, mask: Mask) -> Option<Fact> {
        let family = frame.family;
        let has = |bit: u32| mask & (1 << bit) != 0;
        Some(match column {
            Column::At(who) => {
                let template = &family.templates[self.scope[usize::from(who)]];
                let labels = template.locations.iter().enumerate();
                let labels = labels.filter(|(bit, _)| has(*bit as u32));
                Fact::At {
                    reference: usize::from(who),
                    labels: labels.map(|(_, name)| name.clone()).collect(),
                }
            }
            Column::Order(a, b) => {
                let (first, second) = if has(0) { (a, b) } else { (b, a) };
                Fact::Before {
                    first: usize::from(first),
                    second: usize::from(second),
                }
            }
            Column::Came(a, b) => Fact::Came {
                first: usize::from(a),
                second: usize::from(b),
                before: has(0),
                after: has(1),
                apart: has(2),
            },
            Column::First(who) => Fact::First {
                reference: usize::from(who),
                holds: has(1),
            },
            Column::Last(who) => Fact::Last {
                reference: usize::from(who),
                holds: has(1),
            },
            Column::Beside(who, forward) => {
                let whos = 0..self.scope.len();
                Fact::Beside {
                    reference: usize::from(who),
                    forward,
                    references: whos.filter(|who| mask & this(*who as Who) != 0).collect(),
                    other: mask & OTHER != 0,
                }
            }
            Column::Shared(..) | Column::Own(..) => {
                let cell = name(frame, &frame.cell(column, &self.scope)?);
                match frame.domain(column, &self.scope)? {
                    Domain::Processes(..) => {
                        let whos = 0..self.scope.len();
                        Fact::Id {
                            cell,
                            none: mask & NOBODY != 0,
                            references: whos.filter(|who| mask & this(*who as Who) != 0).collect(),
                            other: mask & OTHER != 0,
                        }
                    }
                    Domain::Numbers(least, count) => {
                        let held = (0..count).filter(|bit| has(*bit));
                        Fact::Value {
                            cell,
                            values: held.map(|bit| least + i64::from(bit)).collect(),
                        }
                    }
                    Domain::Labels(_) | Domain::Either | Domain::Came => return None,
                }
            }
            Column::Choice(_) => return None,
        })
    }
}

/// A cell by name: `x`, `a[$0]`, `$1.v`.
fn name(frame: &Frame, cell: &Cell) -> String {
    let (mut name, indices) = match cell {
        Cell::Shared { var, indices } => (frame.family.shared[*var].name.clone(), indices),
        Cell::Local {
            template,
            process,
            var,
            indices,
        } => {
            let local = &frame.family.templates[*template].locals[*var].name;
            match **process {
                Term::Reference(who) => (format!("${who}.{local}"), indices),
                _ => (local.clone(), indices),
            }
        }
    };
    for index in indices {
        // Writing to a text cannot fail.
        let _ = match index {
            Index::Position(position) => write!(name, "[{position}]"),
            Index::Process(Term::Reference(who)) => write!(name, "[${who}]"),
            Index::Process(_) => Ok(()),
        };
    }
    name
}
