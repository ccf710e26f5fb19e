//! A shared variable that names the one process that something holds of.
//!
//! Proofs about one process at a time often need to know *who* is at a label, or that nobody is: "some process is critical", and which one.
//! Two auxiliary variables say it of all processes of a template at once. `who` is the process of which a predicate
//! holds, or `none` if it holds of nobody; `lost` is set when it holds of two at a time, and stays set. Steps write both, and
//! no step reads them: the runs of the program are those of the program with the variables, which can be left out of every state.

use crate::build::{and, boolean, constant, eq, load, not, or};
use crate::state::NONE;
use crate::system::{
    CellDomain, CellId, CellInitial, Clause, Expr, Place, Scope, Step, System, SystemVar, Update,
    VarId,
};

/// Something that may hold of a process: its variable (or program counter) has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// The variable, local to a template.
    pub var: VarId,
    /// The value.
    pub value: i64,
}

/// A system with two more variables after all others, which say of whom something holds. `None` if that cannot be kept up to date: the
/// variable is no scalar, it begins with any value, others write it, or processes are started on the way. Nor if the value is an id:
/// that it is this one would tell processes apart that are alike. Nor if it holds of several processes from the beginning: then there is no
/// one to name.
pub fn witnessed(system: &System, watched: Watched, name: &str) -> Option<System> {
    let var = &system.vars[watched.var];
    let Scope::Local(template) = var.scope else {
        return None;
    };
    let count = system.templates[template].count;
    let initial = match &var.initial {
        CellInitial::Value(value) => constant(value)?,
        CellInitial::Any => return None,
    };
    let is_id = matches!(
        var.domain,
        CellDomain::Id(_) | CellDomain::OptId(_) | CellDomain::Mutex
    );
    if is_id || !var.dims.is_empty() || system.templates.iter().any(|template| template.dynamic) {
        return None;
    }
    let others = system.templates.iter_enumerated();
    let others = others.filter(|(id, _)| *id != template);
    let mut steps = others.flat_map(|(_, other)| other.steps.iter().flatten());
    if steps.any(|step| writes(step, watched.var)) {
        return None;
    }
    let who_at_first = match (initial == watched.value, count) {
        (true, 1) => 0,
        (true, 2..) => return None,
        _ => NONE,
    };
    let mut witnessed = system.clone();
    let mut add = |name: String, domain: CellDomain, initial: i64| {
        let first = CellId::new(witnessed.cells);
        witnessed.cells += 1;
        witnessed.vars.push(SystemVar {
            name,
            scope: Scope::Shared,
            dims: Vec::new(),
            domain,
            initial: CellInitial::Value(Expr::Const(initial)),
            first,
            len: 1,
            stride: 0,
        })
    };
    let who = add(
        format!("the {name}"),
        CellDomain::OptId(template),
        who_at_first,
    );
    let lost = add(format!("several {name}"), CellDomain::Bool, 0);
    let witness = Witness {
        watched,
        is_counter: system.templates[template].pc == watched.var,
        who,
        lost,
    };
    for steps in &mut witnessed.templates[template].steps {
        let mut cases = Vec::new();
        for step in steps.iter() {
            cases.extend(witness.cases(step)?);
        }
        *steps = cases;
    }
    Some(witnessed)
}

struct Witness {
    watched: Watched,
    is_counter: bool,
    who: VarId,
    lost: VarId,
}

impl Witness {
    /// The cases of a step, each with constants to write. `None` if the step can write what is another's.
    fn cases(&self, step: &Step) -> Option<Vec<Step>> {
        if !self.is_counter && !writes(step, self.watched.var) {
            return Some(vec![step.clone()]);
        }
        let value = Expr::Const(self.watched.value);
        let (before, after) = if self.is_counter {
            let here = |location: usize| boolean(location as i64 == self.watched.value);
            (here(step.from.index()), here(step.to.index()))
        } else {
            let own = Place {
                var: self.watched.var,
                process: Some(Expr::Own),
                offset: None,
            };
            let mut last = load(own.clone());
            for update in &step.updates {
                if update.cell.var == self.watched.var {
                    if update.cell != own {
                        return None;
                    }
                    last = update.value.clone();
                }
            }
            (eq(load(own), value.clone()), eq(last, value))
        };
        let nobody = Expr::Const(NONE);
        let known = not(load(shared(self.lost)));
        let is = |id: &Expr| and([known.clone(), eq(load(shared(self.who)), id.clone())]);
        let enters = and([not(before.clone()), after.clone(), is(&nobody)]);
        let leaves = and([before.clone(), not(after.clone()), is(&Expr::Own)]);
        let stays = eq(before, after);
        let otherwise = not(or([stays.clone(), enters.clone(), leaves.clone()]));
        let write = |var: VarId, value: Expr| Update {
            cell: shared(var),
            value,
        };
        let cases = [
            (stays, vec![]),
            (enters, vec![write(self.who, Expr::Own)]),
            (leaves, vec![write(self.who, nobody.clone())]),
            (
                otherwise,
                vec![write(self.who, nobody), write(self.lost, Expr::Const(1))],
            ),
        ];
        let cases = cases.into_iter();
        let possible = cases.filter(|(when, _)| constant(when) != Some(0));
        Some(
            possible
                .map(|(when, writes)| {
                    let mut case = step.clone();
                    if constant(&when).is_none() {
                        // Last, so that every check is made in every case.
                        case.clauses.push(Clause::Guard(when));
                    }
                    case.updates.extend(writes);
                    case
                })
                .collect(),
        )
    }
}

fn writes(step: &Step, var: VarId) -> bool {
    step.updates.iter().any(|update| update.cell.var == var)
}

fn shared(var: VarId) -> Place {
    Place {
        var,
        process: None,
        offset: None,
    }
}
