//! The optimised form: the same steps with fewer clauses and simpler expressions.
//!
//! Two stages. For each template once: checks that the interval analysis shows to hold are dropped,
//! and each is listed in [`Claims`], so that a checker can establish it again from the plain form and
//! the claimed intervals alone. For a process, when it is asked for: its index and number become
//! constants, and what follows from that is folded. The second stage is done on demand, because
//! the steps of all processes together are as large as the square of their number.
//!
//! No transition is added or lost, no failure that can occur is dropped.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use threadwise_lang::program::{LocationId, TemplateId};

use crate::build;
use crate::intervals::Bounds;
use crate::system::{
    CellId, Check, CheckKind, Clause, Expr, Place, ProcessId, Scope, Step, System,
    TemplateSymmetry, Update, VarId,
};

/// The optimised form of a system.
#[derive(Clone, Debug)]
pub struct Optimised<'s> {
    system: &'s System,
    templates: IndexVec<TemplateId, Steps>,
    claims: Claims,
}

/// The steps from each location.
pub type Steps = IndexVec<LocationId, Vec<Step>>;

/// What the optimised form rests on beyond the folding of constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// In every reachable state each cell of a variable lies in the variable's interval. The intervals are inductive:
    /// the initial states lie in them, and steps whose checks hold preserve them.
    pub bounds: Bounds,
    /// These checks of the plain form hold whenever they are reached, by the intervals and the clauses before them.
    pub discharged: Vec<Discharged>,
    /// These permutations of processes map the system onto itself.
    pub symmetries: Vec<(TemplateId, TemplateSymmetry)>,
}

/// A check of the plain form that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Discharged {
    /// The template.
    pub template: TemplateId,
    /// The location.
    pub location: LocationId,
    /// The position of the step among those from the location.
    pub step: usize,
    /// The position of the check among the step's clauses.
    pub clause: usize,
    /// What kind of check it is.
    pub kind: CheckKind,
}

impl<'s> Optimised<'s> {
    /// Optimises a system.
    pub fn new(system: &'s System) -> Optimised<'s> {
        let bounds = Bounds::of(system);
        let mut discharged = Vec::new();
        let templates = system
            .templates
            .iter_enumerated()
            .map(|(template, shape)| {
                shape
                    .steps
                    .iter_enumerated()
                    .map(|(location, steps)| {
                        steps
                            .iter()
                            .enumerate()
                            .map(|(number, step)| {
                                let safe = bounds.safe_checks(system, template, step);
                                discharged.extend(safe.iter().filter_map(|clause| {
                                    let Clause::Check(check) = &step.clauses[*clause] else {
                                        return None;
                                    };
                                    Some(Discharged {
                                        template,
                                        location,
                                        step: number,
                                        clause: *clause,
                                        kind: check.kind,
                                    })
                                }));
                                without(step, &safe)
                            })
                            .collect()
                    })
                    .collect()
            })
            .collect();
        let symmetries = system
            .templates
            .iter_enumerated()
            .filter(|(_, template)| template.symmetry != TemplateSymmetry::Identity)
            .map(|(id, template)| (id, template.symmetry))
            .collect();
        Optimised {
            system,
            templates,
            claims: Claims {
                bounds,
                discharged,
                symmetries,
            },
        }
    }

    /// The system it was made from.
    pub fn system(&self) -> &'s System {
        self.system
    }

    /// What it rests on.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// The steps of a template, for any of its processes.
    pub fn steps_of_template(&self, template: TemplateId) -> &Steps {
        &self.templates[template]
    }

    /// The steps of one process, with its index and number as constants.
    pub fn steps_of(&self, process: ProcessId) -> Steps {
        let template = self.system.template_of(process);
        self.templates[template]
            .iter()
            .map(|steps| {
                steps
                    .iter()
                    .filter_map(|step| specialise(self.system, step, process))
                    .collect()
            })
            .collect()
    }
}

fn without(step: &Step, clauses: &[usize]) -> Step {
    let mut step = step.clone();
    let mut position = 0;
    step.clauses.retain(|_| {
        position += 1;
        clauses.binary_search(&(position - 1)).is_err()
    });
    step
}

/// The step for one process; `None` if it cannot be taken and no check of it can fail.
pub fn specialise(system: &System, step: &Step, process: ProcessId) -> Option<Step> {
    let index = i64::from(system.index_of(process));
    let mut leaf = |expr: &Expr| match expr {
        Expr::Own => Expr::Const(index),
        Expr::OwnProcess => Expr::Const(i64::from(process.raw())),
        other => other.clone(),
    };
    let mut clauses = Vec::with_capacity(step.clauses.len());
    let mut ends = false;
    for clause in &step.clauses {
        match clause {
            Clause::Guard(condition) => match build::rebuild(condition, &mut leaf) {
                Expr::Const(0) => {
                    clauses.push(Clause::Guard(build::FALSE));
                    ends = true;
                }
                Expr::Const(_) => {}
                condition => clauses.push(Clause::Guard(condition)),
            },
            Clause::Check(check) => match build::rebuild(&check.holds, &mut leaf) {
                Expr::Const(value) if value != 0 => {}
                holds => {
                    ends = holds == build::FALSE;
                    clauses.push(Clause::Check(Check {
                        holds,
                        kind: check.kind,
                        span: check.span,
                    }));
                }
            },
        }
        if ends {
            break;
        }
    }
    if ends
        && !clauses
            .iter()
            .any(|clause| matches!(clause, Clause::Check(_)))
    {
        return None;
    }
    let updates = if ends {
        Vec::new()
    } else {
        step.updates
            .iter()
            .map(|update| Update {
                cell: build::rebuild_place(&update.cell, &mut leaf),
                value: build::rebuild(&update.value, &mut leaf),
            })
            .collect()
    };
    Some(Step {
        from: step.from,
        to: step.to,
        rest: step.rest,
        choices: step.choices.clone(),
        clauses,
        updates,
        starts: if ends {
            Vec::new()
        } else {
            step.starts.clone()
        },
        span: step.span,
    })
}

/// A set of cells of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// The variable.
    pub var: VarId,
    /// The index of the process whose copy it is; `None` for a shared variable, or if it can be any.
    pub process: Option<u32>,
    /// The offset; `None` if it can be any.
    pub offset: Option<u32>,
}

impl Region {
    /// Whether the two can have a cell in common.
    pub fn meets(&self, other: &Region) -> bool {
        fn agree(a: Option<u32>, b: Option<u32>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.var == other.var
            && agree(self.process, other.process)
            && agree(self.offset, other.offset)
    }
}

/// The cells that a step may read and write. Over-approximates: nothing is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What is read.
    pub reads: BTreeSet<Region>,
    /// What is written.
    pub writes: BTreeSet<Region>,
}

impl Footprint {
    /// The footprint of a step of the given process.
    pub fn of(system: &System, step: &Step, process: ProcessId) -> Footprint {
        let mut footprint = Footprint::default();
        let template = &system.templates[system.template_of(process)];
        let own = system.index_of(process);
        let pc = Region {
            var: template.pc,
            process: Some(own),
            offset: Some(0),
        };
        footprint.reads.insert(pc);
        if step.to != step.from {
            footprint.writes.insert(pc);
        }
        for clause in &step.clauses {
            match clause {
                Clause::Guard(e) => footprint.read(system, e, own),
                Clause::Check(check) => footprint.read(system, &check.holds, own),
            }
        }
        for update in &step.updates {
            footprint.read(system, &update.value, own);
            footprint.read_indices(system, &update.cell, own);
            footprint.writes.insert(region(system, &update.cell, own));
        }
        for started in &step.starts {
            let pcs = Region {
                var: system.templates[*started].pc,
                process: None,
                offset: Some(0),
            };
            footprint.reads.insert(pcs);
            footprint.writes.insert(pcs);
        }
        footprint
    }

    pub(crate) fn read(&mut self, system: &System, expr: &Expr, own: u32) {
        if let Expr::Load(place) = expr {
            self.reads.insert(region(system, place, own));
        }
        build::for_children(expr, &mut |child| self.read(system, child, own));
    }

    pub(crate) fn read_indices(&mut self, system: &System, place: &Place, own: u32) {
        for expr in place.process.iter().chain(&place.offset) {
            self.read(system, expr, own);
        }
    }
}

impl Region {
    /// The cells; none for an index outside the array.
    pub(crate) fn cells(self, system: &System) -> impl Iterator<Item = CellId> + use<'_> {
        let var = &system.vars[self.var];
        let among = |index: Option<u32>, size: u32| match index {
            Some(index) => index.min(size)..index.saturating_add(1).min(size),
            None => 0..size,
        };
        let copies = match var.scope {
            Scope::Shared => 0..1,
            Scope::Local(template) => among(self.process, system.templates[template].count),
        };
        let offsets = among(self.offset, var.len);
        copies.flat_map(move |copy| {
            let offsets = offsets.clone();
            offsets.map(move |offset| system.cell(self.var, copy, offset))
        })
    }
}

/// The cells that an expression names, for the process with this index.
pub(crate) fn region(system: &System, place: &Place, own: u32) -> Region {
    let number = |expr: &Option<Expr>| match expr {
        None => Some(0),
        Some(Expr::Const(value)) => u32::try_from(*value).ok(),
        Some(Expr::Own) => Some(own),
        Some(_) => None,
    };
    Region {
        var: place.var,
        process: match system.vars[place.var].scope {
            Scope::Shared => None,
            Scope::Local(_) => number(&place.process),
        },
        offset: number(&place.offset),
    }
}
