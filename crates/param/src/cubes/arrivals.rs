//! The order in which processes came: a ghost that tells who of those who queue was there first.
//!
//! Where a process puts its name into a shared variable and learns whose was there before (`swap`, or `cas`), a queue goes from process to process: each knows the one before, nobody knows the whole. That no two
//! may go on then takes an order. So the search gets one: whoever comes to the labels behind such a step is the latest there, until it leaves them. That is a history variable
//! (Abadi and Lamport, The existence of refinement mappings, TCS 82, 1991): no step asks for it, so there are as many runs as without it.
//!
//! Which labels that are is a guess, by the text. Whatever they are, the order is defined, and the checker follows it by itself.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use threadwise_evidence::family::{Arrivals as Claimed, Queue};
use threadwise_lang::program::{CompareOp, LocationId, Scalar, TemplateId};
use threadwise_model::family::{Cell, Family, Path, PathEnd, Population, Term};
use threadwise_model::state::{ProcessRef, State};
use threadwise_model::system::{
    CellDomain, CellId, CellInitial, Dim, DimKind, Expr, Place, Scope, System, SystemVar, Update,
    VarId,
};

use super::columns::Mask;

/// At which labels processes of each template are in the order; there may be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrivals {
    labels: IndexVec<TemplateId, BTreeSet<LocationId>>,
}

impl Arrivals {
    /// The labels that are only come to by a step that queues; `None` if there are none.
    pub(crate) fn of(family: &Family) -> Option<Arrivals> {
        let each = family.templates.indices().map(|id| queued(family, id));
        let labels: IndexVec<TemplateId, BTreeSet<LocationId>> = each.collect();
        let some = labels.iter().any(|labels| !labels.is_empty());
        some.then_some(Arrivals { labels })
    }

    /// The labels of a template, as a mask.
    pub(crate) fn inside(&self, template: TemplateId) -> Mask {
        let labels = self.labels[template].iter();
        labels.fold(0, |mask, label| mask | 1 << label.index())
    }

    /// Templates of which some labels are in the order, with these.
    pub(crate) fn templates(
        &self,
    ) -> impl Iterator<Item = (TemplateId, &BTreeSet<LocationId>)> + '_ {
        let all = self.labels.iter_enumerated();
        all.filter(|(_, labels)| !labels.is_empty())
    }

    /// The labels by name.
    pub(crate) fn claimed(&self, family: &Family) -> Claimed {
        let each = self.templates().map(|(template, labels)| {
            let declared = &family.templates[template];
            let names = labels
                .iter()
                .map(|label| declared.locations[*label].clone());
            Queue {
                template: declared.name.clone(),
                labels: names.collect(),
            }
        });
        Claimed(each.collect())
    }

    /// Adds the order to a system: for each two processes whether the one came before the other one, and both are there.
    pub(crate) fn added(&self, system: &mut System) {
        let mut vars: Vec<(TemplateId, TemplateId, VarId)> = Vec::new();
        for (a, _) in self.templates() {
            for (b, _) in self.templates() {
                let dims = [a, b].map(|template| Dim {
                    size: system.templates[template].count,
                    kind: DimKind::Template(template),
                });
                let len = dims[0].size * dims[1].size;
                let first = CellId::new(system.cells);
                system.cells += len as usize;
                let var = system.vars.push(SystemVar {
                    name: "came before".to_owned(),
                    scope: Scope::Shared,
                    dims: dims.to_vec(),
                    domain: CellDomain::Bool,
                    initial: CellInitial::Value(Expr::Const(0)),
                    first,
                    len,
                    stride: 0,
                });
                vars.push((a, b, var));
            }
        }
        for (mover, labels) in self.templates() {
            for from in system.templates[mover].steps.indices() {
                for number in 0..system.templates[mover].steps[from].len() {
                    let step = &system.templates[mover].steps[from][number];
                    let updates = match (labels.contains(&from), labels.contains(&step.to)) {
                        (false, true) => self.latest(system, &vars, mover),
                        (true, false) => forgotten(system, &vars, mover),
                        _ => continue,
                    };
                    system.templates[mover].steps[from][number]
                        .updates
                        .extend(updates);
                }
            }
        }
    }

    /// Whether a process came before another one, in a state of a system to which [the order was added](Arrivals::added).
    pub(crate) fn came_before(&self, state: &State, a: ProcessRef, b: ProcessRef) -> bool {
        let sizes = |(first, _)| {
            let of = move |(second, _)| (first, second);
            self.templates().map(of)
        };
        let mut after = 0;
        // The entries are the last ones.
        let mut place = None;
        for (first, second) in self.templates().flat_map(sizes) {
            let (rows, width) = (state.count(first) as usize, state.count(second) as usize);
            if (first, second) == (a.template, b.template) {
                place = Some(a.index as usize * width + b.index as usize);
                after = 0;
            }
            after += rows * width;
        }
        let cell =
            place.and_then(|place| state.shared.len().checked_sub(after)?.checked_add(place));
        cell.is_some_and(|cell| state.shared.get(cell) == Some(&1))
    }

    /// Whoever is there came before the one that moves.
    fn latest(
        &self,
        system: &System,
        vars: &[(TemplateId, TemplateId, VarId)],
        mover: TemplateId,
    ) -> Vec<Update> {
        let mut updates = Vec::new();
        for (a, b, var) in vars {
            if *b != mover {
                continue;
            }
            for index in 0..system.templates[*a].count {
                let pc = Place {
                    var: system.templates[*a].pc,
                    process: Some(Expr::Const(i64::from(index))),
                    offset: None,
                };
                let at = |label: &LocationId| {
                    let here = Expr::Load(Box::new(pc.clone()));
                    let label = Expr::Const(label.index() as i64);
                    Expr::Compare(CompareOp::Eq, Box::new(here), Box::new(label))
                };
                let there = Expr::Or(self.labels[*a].iter().map(at).collect());
                // The mover is at a label before.
                updates.push(Update {
                    cell: entry(system, *var, Expr::Const(i64::from(index)), Expr::Own),
                    value: there,
                });
            }
        }
        updates
    }
}

/// Nobody came before or after the one that moves.
fn forgotten(
    system: &System,
    vars: &[(TemplateId, TemplateId, VarId)],
    mover: TemplateId,
) -> Vec<Update> {
    let mut updates = Vec::new();
    for (a, b, var) in vars {
        let mut forget = |first: Expr, second: Expr| {
            updates.push(Update {
                cell: entry(system, *var, first, second),
                value: Expr::Const(0),
            });
        };
        if *a == mover {
            for index in 0..system.templates[*b].count {
                forget(Expr::Own, Expr::Const(i64::from(index)));
            }
        }
        if *b == mover {
            for index in 0..system.templates[*a].count {
                forget(Expr::Const(i64::from(index)), Expr::Own);
            }
        }
    }
    updates
}

fn entry(system: &System, var: VarId, a: Expr, b: Expr) -> Place {
    use threadwise_lang::program::ArithOp::{Add, Mul};
    let width = Expr::Const(i64::from(system.vars[var].dims[1].size));
    let row = Expr::Arith(Mul, Box::new(a), Box::new(width));
    Place {
        var,
        process: None,
        offset: Some(Expr::Arith(Add, Box::new(row), Box::new(b))),
    }
}

/// The labels that a process comes to by queueing, and only so.
fn queued(family: &Family, template: TemplateId) -> BTreeSet<LocationId> {
    let declared = &family.templates[template];
    if matches!(&declared.population, Population::Between(lo, hi) if lo == hi) {
        return BTreeSet::new();
    }
    let follow = |from: BTreeSet<LocationId>, queueing: bool| {
        let mut reached = from;
        let mut open: Vec<LocationId> = reached.iter().copied().collect();
        while let Some(label) = open.pop() {
            for path in declared.paths.iter().filter(|path| path.from == label) {
                if let PathEnd::At(to) = path.end
                    && (queueing || !queues(family, path))
                    && reached.insert(to)
                {
                    open.push(to);
                }
            }
        }
        reached
    };
    let without = follow(BTreeSet::from([declared.entry]), false);
    let all = follow(without.clone(), true);
    all.difference(&without).copied().collect()
}

/// Whether a step writes the name of its process, or what it holds, into a shared variable, and keeps what was there.
fn queues(family: &Family, path: &Path) -> bool {
    let own = |term: &Term| match term {
        Term::Own => true,
        Term::Cell(Cell::Local { process, .. }) => **process == Term::Own,
        _ => false,
    };
    let program = family.program();
    path.writes.iter().any(|write| {
        let Cell::Shared { var, indices } = &write.cell else {
            return false;
        };
        let is_id = matches!(
            program.shared[*var].scalar,
            Scalar::Id(_) | Scalar::OptId(_)
        );
        let before = Term::Cell(write.cell.clone());
        let keeps = |other: &threadwise_model::family::Write| {
            matches!(other.cell, Cell::Local { .. }) && leaves(&other.value).contains(&&before)
        };
        is_id
            && indices.is_empty()
            && leaves(&write.value).into_iter().any(own)
            && path.writes.iter().any(keeps)
    })
}

/// What a term can be: the branches of conditionals.
fn leaves(term: &Term) -> Vec<&Term> {
    match term {
        Term::If(_, yes, no) => [leaves(yes), leaves(no)].concat(),
        other => vec![other],
    }
}
