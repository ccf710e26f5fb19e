//! Joins steps that nobody can tell apart, where there is any number of threads.
//!
//! A shared variable that every process touches only while it holds a certain mutex is protected by it. From the taking of a mutex on, steps that touch
//! only what is protected, by this mutex or by another one that the process already holds then, can be joined to the step that takes it: between them others can do
//! nothing that matters to them, so they might as well come before (Lipton, CACM 18(12), 1975). Releasing the mutex can end the joined step. Nothing that waits, loops or is jumped to is joined, so the step always comes to its end, and
//! a check that fails in it can fail in the same way in the steps that were joined.

use std::collections::{BTreeSet, HashMap};

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

    fn uses_of(&mut self, statement: &Statement, held: &Held) {
        let mut vars: Vec<VarId> = statement.written().into_iter().collect();
        statement.for_expressions(&mut |expr| expr.for_places(&mut |place| vars.push(place.var)));
        for var in vars {
            self.use_of(var, held);
        }
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

    fn code(&mut self, code: &[Statement], mut held: Option<Held>) -> Option<Held> {
        for statement in code {
            held = self.statement(statement, held);
        }
        held
    }

    fn statement(&mut self, statement: &Statement, held: Option<Held>) -> Option<Held> {
        if let StatementKind::Label(label) = &statement.kind {
            if let Some(held) = &held {
                self.arrive(*label, held);
            }
            return self.at.get(label).cloned();
        }
        let Some(mut held) = held else {
            return self.unreached(statement);
        };
        self.uses_of(statement, &held);
        match &statement.kind {
            StatementKind::Lock(place) => {
                if place.indices.is_empty() {
                    held.insert(place.var);
                }
                Some(held)
            }
            StatementKind::Unlock(place) => {
                match place.indices.is_empty() {
                    true => held.remove(&place.var),
                    false => false,
                };
                Some(held)
            }
            StatementKind::If(_, yes, no) => {
                let yes = self.code(yes, Some(held.clone()));
                let no = self.code(no, Some(held));
                both(yes, no)
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => {
                self.arrive(*head, &held);
                self.rounds(*head, condition.is_some(), body, statement)
            }
            StatementKind::Break => {
                if let Some(exit) = self.exits.pop() {
                    self.exits.push(both(exit, Some(held)));
                }
                None
            }
            StatementKind::Goto(label) => {
                self.arrive(*label, &held);
                None
            }
            StatementKind::Return => None,
            StatementKind::Atomic(inner) => self.code(inner, Some(held)),
            StatementKind::Choose(blocks) => {
                let mut after = None;
                for block in blocks {
                    let one = self.code(block, Some(held.clone()));
                    after = both(after, one);
                }
                after
            }
            _ => Some(held),
        }
    }
}

impl Locks<'_> {
    /// The rounds of a loop, and what is held when it is left. It may be jumped into, and then no round begins at its head at first.
    fn rounds(
        &mut self,
        head: LabelId,
        tests: bool,
        body: &[Statement],
        statement: &Statement,
    ) -> Option<Held> {
        let held = self.at.get(&head).cloned();
        if let Some(held) = &held {
            self.uses_of(statement, held);
        }
        self.exits.push(None);
        if let Some(end) = self.code(body, held.clone()) {
            self.arrive(head, &end);
        }
        let exit = self.exits.pop().flatten();
        match tests {
            true => both(held, exit),
            false => exit,
        }
    }

    /// A statement that nothing leads to from before it; there may be labels within.
    fn unreached(&mut self, statement: &Statement) -> Option<Held> {
        match &statement.kind {
            StatementKind::If(_, yes, no) => {
                let yes = self.code(yes, None);
                both(yes, self.code(no, None))
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => self.rounds(*head, condition.is_some(), body, statement),
            StatementKind::Atomic(inner) => self.code(inner, None),
            StatementKind::Choose(blocks) => {
                let each = blocks.iter().map(|block| self.code(block, None));
                each.fold(None, both)
            }
            _ => None,
        }
    }
}

fn both(one: Option<Held>, other: Option<Held>) -> Option<Held> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(one), Some(other)) => Some(one.intersection(&other).copied().collect()),
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
