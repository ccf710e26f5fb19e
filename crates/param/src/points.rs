//! States of small instances, as views see them: a value for each variable of a view, for each way to pick its processes.
//!
//! These are the points that no assertion may exclude. They are no proof of anything; they save asking about assertions that are wrong at small instances already.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Variable};
use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::instance::{Instance, Shape};
use threadwise_model::state::{ProcessRef, State};

use crate::conditions::Cases;
use crate::scope::{ComparedAt, Form, Place, Var};
use crate::small::Sample;

/// Points that are kept of one view.
const MOST: usize = 3_000;

/// The points of each view, each a value for each variable of the view.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    pub(crate) of_view: Vec<Vec<Vec<i64>>>,
}

impl Points {
    /// What the views see in the samples.
    pub(crate) fn new(cases: &Cases, samples: &[Sample]) -> Points {
        let mut seen: Vec<HashSet<Vec<i64>>> = vec![HashSet::new(); cases.views.len()];
        let mut of_view: Vec<Vec<Vec<i64>>> = vec![Vec::new(); cases.views.len()];
        for sample in samples {
            for state in &sample.states {
                for (number, view) in cases.views.iter().enumerate() {
                    if of_view[number].len() >= MOST {
                        continue;
                    }
                    for picked in picks(view, state) {
                        let moment = Moment {
                            cases,
                            instance: &sample.instance,
                            state,
                            picked: &picked,
                        };
                        let variables = cases.variables[number].iter();
                        let point: Option<Vec<i64>> =
                            variables.map(|variable| moment.value(*variable)).collect();
                        if let Some(point) = point
                            && seen[number].insert(point.clone())
                        {
                            of_view[number].push(point);
                        }
                    }
                }
            }
        }
        Points { of_view }
    }
}

/// All ways to pick the processes of a view in a state.
fn picks(view: &crate::conditions::View, state: &State) -> Vec<Vec<ProcessRef>> {
    let mut picks: Vec<Vec<ProcessRef>> = vec![Vec::new()];
    for reference in &view.references {
        let locations = &state.templates[reference.template].locations;
        let here: Vec<ProcessRef> = locations
            .iter()
            .enumerate()
            .filter(|(_, location)| **location == reference.location)
            .map(|(index, _)| ProcessRef {
                template: reference.template,
                index: index as u32,
            })
            .collect();
        picks = picks
            .iter()
            .flat_map(|pick| {
                let free = here.iter().filter(|one| !pick.contains(one));
                free.map(|one| {
                    let mut pick = pick.clone();
                    pick.push(*one);
                    pick
                })
            })
            .collect();
        if picks.is_empty() {
            break;
        }
    }
    picks
}

/// A state with processes picked from it.
struct Moment<'a> {
    cases: &'a Cases<'a>,
    instance: &'a Instance,
    state: &'a State,
    picked: &'a [ProcessRef],
}

impl Moment<'_> {
    fn value(&self, variable: Variable) -> Option<i64> {
        let program = self.instance.program();
        match self.cases.table.var(variable) {
            Var::Param(param) => Some(self.instance.param(*param)),
            Var::Shared(var, places) => {
                let shape = self.instance.shared(*var);
                let value = self.state.shared.get(self.position(shape, places)?)?;
                self.decoded(&program.shared[*var].scalar, *value)
            }
            Var::Counter(template, location) => {
                let locations = self.state.templates[*template].locations.iter();
                Some(locations.filter(|other| *other == location).count() as i64)
            }
            Var::Counted(number, template, location, false) => {
                let counted = &self.cases.ghosts.counted[*number as usize];
                let locations = self.state.templates[*template].locations.iter();
                let mut count = 0;
                for (index, other) in locations.enumerate() {
                    let process = ProcessRef {
                        template: *template,
                        index: index as u32,
                    };
                    if other == location && self.holds(&counted.predicate, process)? {
                        count += 1;
                    }
                }
                Some(count)
            }
            Var::Sum(number, template, location, false) => {
                let summed = &self.cases.table.summed[*number as usize];
                let locations = self.state.templates[*template].locations.iter();
                let mut sum = 0_i64;
                for (index, other) in locations.enumerate() {
                    if other == location {
                        let process = ProcessRef {
                            template: *template,
                            index: index as u32,
                        };
                        sum = sum.checked_add(self.of_process(&summed.term, process)?)?;
                    }
                }
                Some(sum)
            }
            Var::Id(reference) => {
                let process = self.picked.get(*reference as usize)?;
                Some(i64::from(process.index))
            }
            Var::Local(reference, template, var, places) => {
                let process = self.picked.get(*reference as usize)?;
                let shape = self.instance.local(*template, *var);
                let stride = self.instance.local_cells(*template);
                let position = process.index as usize * stride + self.position(shape, places)?;
                let value = self.state.templates[*template].cells.get(position)?;
                self.decoded(&program.templates[*template].locals[*var].scalar, *value)
            }
            Var::Compared(at, false) => self.compared(*at),
            Var::Counted(..)
            | Var::Sum(..)
            | Var::Indicator(..)
            | Var::Choice(_)
            | Var::Opaque(_)
            | Var::Compared(..)
            | Var::Comparison(..)
            | Var::Blocker(..) => None,
        }
    }

    /// How many processes other than a reference compare with it.
    fn compared(&self, at: ComparedAt) -> Option<i64> {
        let comparison = &self.cases.ghosts.compared[at.comparison as usize];
        let reference = *self.picked.get(at.reference as usize)?;
        let locations = self.state.templates[at.template].locations.iter();
        let mut count = 0;
        for (index, other) in locations.enumerate() {
            let process = ProcessRef {
                template: at.template,
                index: index as u32,
            };
            if *other == at.location && process != reference {
                let moment = Moment {
                    picked: &[process, reference],
                    ..*self
                };
                count += i64::from(moment.truth(&comparison.predicate)?);
            }
        }
        Some(count)
    }

    /// Whether a predicate holds of a process.
    fn holds(&self, predicate: &Atom, process: ProcessRef) -> Option<bool> {
        let moment = Moment {
            picked: &[process],
            ..*self
        };
        moment.at_most_zero(predicate)
    }

    fn at_most_zero(&self, atom: &Atom) -> Option<bool> {
        let mut sum = i128::from(atom.constant);
        for (variable, factor) in &atom.terms {
            sum += i128::from(*factor) * i128::from(self.value(*variable)?);
        }
        Some(sum <= 0)
    }

    /// The value of a term for a process.
    fn of_process(&self, term: &Form, process: ProcessRef) -> Option<i64> {
        let moment = Moment {
            picked: &[process],
            ..*self
        };
        let mut sum = term.constant;
        for (variable, factor) in &term.terms {
            let value = moment.value(*variable)?;
            sum = sum.checked_add(factor.checked_mul(value)?)?;
        }
        Some(sum)
    }

    /// Whether a formula holds.
    fn truth(&self, formula: &Linear) -> Option<bool> {
        let each = |members: &[Linear]| -> Option<Vec<bool>> {
            members.iter().map(|member| self.truth(member)).collect()
        };
        Some(match formula {
            Linear::Atom(atom) => self.at_most_zero(atom)?,
            Linear::And(members) => each(members)?.into_iter().all(|truth| truth),
            Linear::Or(members) => each(members)?.into_iter().any(|truth| truth),
        })
    }

    fn position(&self, shape: &Shape, places: &[Place]) -> Option<usize> {
        let mut offset = 0;
        for (dim, place) in shape.dims.iter().zip(places) {
            let index = match place {
                Place::Position(position) => *position,
                Place::Reference(reference) => {
                    i64::from(self.picked.get(*reference as usize)?.index)
                }
            };
            offset = offset * dim.size as usize + dim.offset(index)?;
        }
        Some(shape.first + offset)
    }

    /// A value as a family codes it.
    fn decoded(&self, scalar: &Scalar, value: i64) -> Option<i64> {
        match scalar {
            Scalar::Mutex => Some(match ProcessRef::from_mutex_code(value) {
                None => value,
                Some(holder) => mutex_code(self.cases, holder.template, holder.index),
            }),
            _ => Some(value),
        }
    }
}

fn mutex_code(cases: &Cases, template: TemplateId, index: u32) -> i64 {
    let templates = cases.family.program().templates.len() as i64;
    templates * i64::from(index) + i64::from(template.raw())
}

/// Whether a formula holds at a point; `place` says where a variable's value is.
pub(crate) fn holds(
    formula: &Linear,
    place: &std::collections::HashMap<Variable, usize>,
    point: &[i64],
) -> bool {
    match formula {
        Linear::Atom(atom) => {
            let mut sum = i128::from(atom.constant);
            for (variable, factor) in &atom.terms {
                let value = place.get(variable).map_or(0, |place| point[*place]);
                sum += i128::from(*factor) * i128::from(value);
            }
            sum <= 0
        }
        Linear::And(members) => members.iter().all(|member| holds(member, place, point)),
        Linear::Or(members) => members.iter().any(|member| holds(member, place, point)),
    }
}
