//! Joins steps that nobody can tell apart, where there is any number of threads.
//!
//! A shared variable that every process touches only while it holds a certain mutex is protected by it. From the taking of a mutex on, steps that touch
//! only what is protected, by this mutex or by another one that the process already holds then, can be joined to the step that takes it: between them others can do
//! nothing that matters to them, so they might as well come before (Lipton, CACM 18(12), 1975). Releasing the mutex can end the joined step. Nothing that waits, loops or is jumped to is joined, so the step always comes to its end, and
//! a check that fails in it can fail in the same way in the steps that were joined.

use std::collections::{BTreeSet, HashMap};

use super::forward::Forward;
use super::ir::{Code, Expr, LabelId, Model, Place, Statement, StatementKind, VarId, VarKind};

/// How many branches a joined step may have.
const MOST_BRANCHES: usize = 4;
/// How often a process is gone through at most.
const MOST_ROUNDS: usize = 50;

/// The mutexes that are held for certain.
type Held = BTreeSet<VarId>;

/// What may be touched as part of a joined step.
struct Protected {
    /// For each shared variable the mutexes that are held at all of its uses.
    by: HashMap<VarId, Held>,
    /// Variables that are written only before there are threads.
    fixed: BTreeSet<VarId>,
    /// Mutexes of which somebody asks whether they are held: taking and releasing one in a single step would hide it.
    observed: BTreeSet<VarId>,
}

impl Protected {
    /// Whether nobody else can touch a variable while a process does. Who touches a protected one holds its mutex, whichever that is.
    fn allows(&self, var: VarId, model: &Model) -> bool {
        !model.is_shared(var)
            || self.fixed.contains(&var)
            || self.by.get(&var).is_some_and(|held| !held.is_empty())
    }
}

/// Joins what can be joined.
pub(crate) fn reduce(model: &mut Model) {
    if !model.is_unbounded() || !model.has_main {
        return;
    }
    let Some(protected) = protected(model) else {
        return;
    };
    for position in 0..model.processes.len() {
        let body = std::mem::take(&mut model.processes[position].body);
        let body = joined(body, model, &protected);
        model.processes[position].body = body;
    }
}

/// What protects shared variables. `None` if that was not found out.
fn protected(model: &Model) -> Option<Protected> {
    let mut locks = Locks {
        model,
        at: HashMap::new(),
        uses: HashMap::new(),
        written: BTreeSet::new(),
        exits: Vec::new(),
        changed: false,
    };
    for (position, process) in model.processes.iter().enumerate() {
        locks.at.clear();
        let mut stable = false;
        for _ in 0..MOST_ROUNDS {
            locks.changed = false;
            locks.process(&process.body, position == 0);
            if !locks.changed {
                stable = true;
                break;
            }
        }
        if !stable {
            return None;
        }
    }
    let shared = (0..model.variables.len())
        .map(VarId)
        .filter(|var| model.is_shared(*var));
    let mut observed = BTreeSet::new();
    for process in &model.processes {
        super::ir::for_statements(&process.body, &mut |statement| {
            statement.for_expressions(&mut |expr| {
                expr.for_places(&mut |place| {
                    if model.variable(place.var).kind == VarKind::Mutex {
                        observed.insert(place.var);
                    }
                });
            });
        });
    }
    Some(Protected {
        observed,
        fixed: shared.filter(|var| !locks.written.contains(var)).collect(),
        by: locks.uses,
    })
}

struct Locks<'m> {
    model: &'m Model,
    /// What is held wherever control comes to a label.
    at: HashMap<LabelId, Held>,
    uses: HashMap<VarId, Held>,
    /// Variables that are written when there may be threads.
    written: BTreeSet<VarId>,
    exits: Vec<Option<Held>>,
    changed: bool,
}

impl Locks<'_> {
    /// What `main` does before it makes a thread is done alone.
    fn process(&mut self, body: &[Statement], main: bool) {
        let makes = |statement: &Statement| {
            let mut makes = false;
            super::ir::for_statements(std::slice::from_ref(statement), &mut |inner| {
                let flag = inner.written().is_some_and(|var| {
                    let variable = self.model.variable(var);
                    variable.owner.is_none() && variable.kind == VarKind::Truth
                });
                let label = matches!(inner.kind, StatementKind::Label(_));
                makes |= flag || label || matches!(inner.kind, StatementKind::Start(_));
            });
            makes
        };
        let alone = match main {
            true => body.iter().position(makes).unwrap_or(body.len()),
            false => 0,
        };
        // Locks that are taken meanwhile count, uses do not.
        let uses = self.uses.clone();
        let held = self.code(&body[..alone], Some(Held::new()));
        self.uses = uses;
        super::ir::for_statements(&body[alone..], &mut |statement| {
            self.written.extend(statement.written());
        });
        self.code(&body[alone..], held);
    }

    fn use_of(&mut self, var: VarId, held: &Held) {
        let variable = self.model.variable(var);
        if variable.owner.is_some() || variable.kind == VarKind::Mutex {
            return;
        }
        match self.uses.get_mut(&var) {
            Some(known) => known.retain(|lock| held.contains(lock)),
            None => {
                self.uses.insert(var, held.clone());
            }
        }
    }
}

impl Forward for Locks<'_> {
    type Fact = Held;

    fn at(&self, label: LabelId) -> Option<Held> {
        self.at.get(&label).cloned()
    }

    fn arrive(&mut self, label: LabelId, held: &Held) {
        match self.at.get_mut(&label) {
            Some(known) => {
                let before = known.len();
                known.retain(|lock| held.contains(lock));
                self.changed |= known.len() != before;
            }
            None => {
                self.at.insert(label, held.clone());
                self.changed = true;
            }
        }
    }

    fn both(one: Held, other: Held) -> Held {
        one.intersection(&other).copied().collect()
    }

    fn exits(&mut self) -> &mut Vec<Option<Held>> {
        &mut self.exits
    }

    fn visit(&mut self, statement: &Statement, held: &Held) {
        let mut vars: Vec<VarId> = statement.written().into_iter().collect();
        statement.for_expressions(&mut |expr| expr.for_places(&mut |place| vars.push(place.var)));
        for var in vars {
            self.use_of(var, held);
        }
    }

    fn round(&mut self, statement: &Statement, held: &Held) {
        self.visit(statement, held);
    }

    fn after(&mut self, statement: &Statement, mut held: Held) -> Option<Held> {
        match &statement.kind {
            StatementKind::Lock(place) if place.indices.is_empty() => held.insert(place.var),
            StatementKind::Unlock(place) if place.indices.is_empty() => held.remove(&place.var),
            _ => false,
        };
        Some(held)
    }
}

fn joined(code: Code, model: &Model, protected: &Protected) -> Code {
    let mut output: Code = Vec::new();
    let mut rest = code.into_iter().peekable();
    while let Some(Statement { at, kind }) = rest.next() {
        let kind = match kind {
            StatementKind::Lock(place)
                if place.indices.is_empty() && !protected.observed.contains(&place.var) =>
            {
                let lock = place.var;
                let mut step = vec![Statement::new(at, StatementKind::Lock(place))];
                let mut branches = 0;
                while let Some(next) = rest.next_if(|next| {
                    joins(next, model, protected, &mut branches) && branches <= MOST_BRANCHES
                }) {
                    step.push(next);
                }
                let releases = |next: &Statement| {
                    matches!(&next.kind, StatementKind::Unlock(place)
                    if place.var == lock && place.indices.is_empty())
                };
                if step.len() > 1
                    && let Some(next) = rest.next_if(releases)
                {
                    step.push(next);
                }
                match step.len() {
                    1 => output.append(&mut step),
                    _ => output.push(Statement::new(at, StatementKind::Atomic(step))),
                }
                continue;
            }
            StatementKind::Atomic(_) => kind,
            other => other.with_inner(&mut |inner| joined(inner, model, protected)),
        };
        output.push(Statement { at, kind });
    }
    output
}

/// Whether a statement touches nothing but what a mutex protects, and comes to its end.
fn joins(
    statement: &Statement,
    model: &Model,
    protected: &Protected,
    branches: &mut usize,
) -> bool {
    let fine = |var: VarId| protected.allows(var, model);
    let mut all = true;
    statement.for_expressions(&mut |expr: &Expr| {
        expr.for_places(&mut |place: &Place| all &= fine(place.var));
    });
    all && match &statement.kind {
        StatementKind::Assign(place, _) | StatementKind::Havoc(place) => fine(place.var),
        StatementKind::Assert(..) => true,
        StatementKind::If(_, yes, no) => {
            *branches += 1;
            let mut inner = |code: &Code| {
                code.iter()
                    .all(|statement| joins(statement, model, protected, branches))
            };
            inner(yes) && inner(no)
        }
        _ => false,
    }
}
