//! Which cells of local arrays and structs are read before they are written.
//!
//! An array or a struct that a function declares without values has any: its cells get any value where it is declared. Most programs fill it right after that, and then
//! nobody sees what it began with; so the code behind the declaration is walked through with the values that are known, round by round, and cells that are certain to be written
//! before anything could read them begin with nothing in particular. Where the walk does not know how control goes on, what was not written until then keeps any value.
//!
//! Other threads can see such a cell once they have been started. Many are given a pointer to an element of their own (`&a[i]`), and then the walk goes on if that one has been written.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ir::{
    Code, Expr, LabelId, Model, Place, Process, Statement, StatementKind, VarId, for_statements,
    is_unset, wrapped,
};

/// How many statements are walked through at most, for one declaration and in all.
const MOST_STEPS: usize = 50_000;
const MOST_STEPS_IN_ALL: usize = 2_000_000;

/// What is known about a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Number(i128),
    /// The value that a variable of the process has where the walk begins.
    Of(VarId),
}

/// A variable with its indices.
type Cell = (VarId, Vec<Known>);

/// Takes out what gives cells any value that nobody reads.
pub(crate) fn settle(model: &mut Model) {
    let mut targets = HashSet::new();
    let mut reads: HashMap<VarId, usize> = HashMap::new();
    let mut found = false;
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            if let StatementKind::Goto(label) = &statement.kind {
                targets.insert(*label);
            }
            found |= is_beginning(statement, model);
        });
        count_reads(&process.body, &mut reads);
    }
    if !found {
        return;
    }
    let threads = threads(model);
    let mut left = MOST_STEPS_IN_ALL;
    for position in 0..model.processes.len() {
        let body = std::mem::take(&mut model.processes[position].body);
        let mut search = Search {
            model,
            targets: &targets,
            reads: &reads,
            threads: &threads,
            left: &mut left,
        };
        let body = search.code(body);
        model.processes[position].body = body;
    }
}

fn count_reads(code: &[Statement], reads: &mut HashMap<VarId, usize>) {
    for_places(code, &mut |place| *reads.entry(place.var).or_default() += 1);
}

/// Whether a statement gives cells of an array or of a shared variable any value.
fn is_beginning(statement: &Statement, model: &Model) -> bool {
    match &statement.kind {
        StatementKind::Havoc(place) => is_unset(place, model),
        StatementKind::Atomic(inner) => {
            !inner.is_empty() && inner.iter().all(|inner| is_beginning(inner, model))
        }
        _ => false,
    }
}

fn cells_of(statement: &Statement, cells: &mut BTreeSet<Cell>) {
    match &statement.kind {
        StatementKind::Havoc(place) => {
            let indices = place.indices.iter().map(|index| match index {
                Expr::Load(place) => Known::Of(place.var),
                Expr::Number(number) => Known::Number(*number),
                _ => Known::Number(0),
            });
            cells.insert((place.var, indices.collect()));
        }
        StatementKind::Atomic(inner) => inner.iter().for_each(|inner| cells_of(inner, cells)),
        _ => {}
    }
}

struct Search<'m> {
    model: &'m Model,
    targets: &'m HashSet<LabelId>,
    /// How often each variable is read in the whole program.
    reads: &'m HashMap<VarId, usize>,
    threads: &'m HashMap<VarId, Option<Reads>>,
    left: &'m mut usize,
}

impl Search<'_> {
    fn code(&mut self, code: Code) -> Code {
        let mut output: Code = Vec::new();
        let mut rest = code.into_iter();
        let mut group: Code = Vec::new();
        while let Some(statement) = rest.next() {
            if is_beginning(&statement, self.model) {
                group.push(statement);
                continue;
            }
            if !group.is_empty() {
                let behind = std::slice::from_ref(&statement);
                let kept = self.kept(&group, behind, rest.as_slice());
                output.extend(without(std::mem::take(&mut group), &kept));
            }
            let Statement { at, kind } = statement;
            let kind = kind.with_inner(&mut |inner| self.code(inner));
            output.push(Statement { at, kind });
        }
        if !group.is_empty() {
            let kept = self.kept(&group, &[], &[]);
            output.extend(without(group, &kept));
        }
        output
    }

    /// The cells of a group that may be read before they are written.
    fn kept(&mut self, group: &Code, first: &[Statement], rest: &[Statement]) -> BTreeSet<Cell> {
        let mut cells = BTreeSet::new();
        group.iter().for_each(|one| cells_of(one, &mut cells));
        let steps = MOST_STEPS.min(*self.left);
        let mut walk = Walk {
            model: self.model,
            targets: self.targets,
            threads: self.threads,
            given: HashMap::new(),
            shared: cells.iter().any(|(var, _)| self.model.is_shared(*var)),
            open: cells,
            known: HashMap::new(),
            changed: HashSet::new(),
            left: steps,
        };
        let flow = match walk.code(first) {
            Flow::Next => walk.code(rest),
            flow => flow,
        };
        *self.left -= steps - walk.left;
        match flow {
            Flow::Ended => return BTreeSet::new(),
            Flow::Lost => return walk.open,
            Flow::Next | Flow::Break => {}
        }
        // The block of the declaration is over. What another copy of the code reads is not told apart.
        let mut inside = HashMap::new();
        count_reads(first, &mut inside);
        count_reads(rest, &mut inside);
        walk.open
            .retain(|(var, _)| self.reads.get(var) != inside.get(var));
        walk.open
    }
}

fn without(group: Code, kept: &BTreeSet<Cell>) -> Code {
    let mut output = Vec::new();
    for Statement { at, kind } in group {
        let kind = match kind {
            StatementKind::Atomic(inner) => match without(inner, kept) {
                inner if inner.is_empty() => continue,
                inner => StatementKind::Atomic(inner),
            },
            kind => {
                let mut own = BTreeSet::new();
                let statement = Statement { at, kind };
                cells_of(&statement, &mut own);
                if own.is_disjoint(kept) {
                    continue;
                }
                statement.kind
            }
        };
        output.push(Statement { at, kind });
    }
    output
}

/// The index of a cell that a thread reads.
#[derive(Clone, Copy)]
enum Index {
    Number(i128),
    /// What it finds in this variable when it begins.
    Argument(VarId),
    Any,
}

/// What the threads of a template read: variables with their indices.
type Reads = Vec<(VarId, Vec<Index>)>;

/// The variables that threads wait for before they do anything, with what these threads read; nothing if that is not known.
fn threads(model: &Model) -> HashMap<VarId, Option<Reads>> {
    let first = |process: &Process| process.body.first().and_then(waits_for);
    let flags: HashSet<VarId> = model.processes.iter().filter_map(first).collect();
    let mut threads = HashMap::new();
    for process in &model.processes {
        let Some(flag) = first(process) else {
            continue;
        };
        // What other threads read that it starts is not looked for.
        let mut starts = false;
        for_statements(&process.body, &mut |statement| {
            starts |= matches!(
                statement.kind,
                StatementKind::Start(_) | StatementKind::Create { .. }
            ) || statement.written().is_some_and(|var| flags.contains(&var));
        });
        let known = !starts && !threads.contains_key(&flag);
        threads.insert(flag, known.then(|| reads_of(model, &process.body)));
    }
    threads
}

/// The variable that a thread waits for before it does anything.
fn waits_for(first: &Statement) -> Option<VarId> {
    match &first.kind {
        StatementKind::Await(Expr::Load(place)) => Some(place.var),
        StatementKind::Atomic(inner) => inner.first().and_then(waits_for),
        _ => None,
    }
}

fn reads_of(model: &Model, body: &[Statement]) -> Reads {
    let arguments = arguments(model, body);
    let mut reads = Vec::new();
    for_places(body, &mut |place| {
        let index = |index: &Expr| match index {
            Expr::Number(number) => Index::Number(*number),
            Expr::Load(place) if place.indices.is_empty() => arguments
                .get(&place.var)
                .map_or(Index::Any, |var| Index::Argument(*var)),
            _ => Index::Any,
        };
        reads.push((place.var, place.indices.iter().map(index).collect()));
    });
    reads
}

/// Everything that is read.
fn for_places(code: &[Statement], f: &mut dyn FnMut(&Place)) {
    for_statements(code, &mut |statement| {
        statement.for_expressions(&mut |expr| expr.for_places(f));
    });
}

/// The variables of a thread that hold one of its arguments whenever they are read.
fn arguments(model: &Model, body: &[Statement]) -> HashMap<VarId, VarId> {
    let mut writes: HashMap<VarId, usize> = HashMap::new();
    for_statements(body, &mut |statement| {
        if let Some(var) = statement.written() {
            *writes.entry(var).or_default() += 1;
        }
    });
    let mut found = HashMap::new();
    let Some((first, rest)) = body.split_first() else {
        return found;
    };
    let mut read = HashSet::new();
    let StatementKind::Atomic(begin) = &first.kind else {
        return found;
    };
    for (statement, begins) in begin
        .iter()
        .map(|statement| (statement, true))
        .chain(rest.iter().map(|statement| (statement, false)))
    {
        if let StatementKind::Assign(place, Expr::Load(value)) = &statement.kind
            && place.indices.is_empty()
            && !model.is_shared(place.var)
            && writes.get(&place.var) == Some(&1)
            && !read.contains(&place.var)
        {
            let argument = match model.is_shared(value.var) {
                true => begins.then_some(value.var),
                false => found.get(&value.var).copied(),
            };
            found.extend(argument.map(|argument| (place.var, argument)));
        }
        for_places(std::slice::from_ref(statement), &mut |place| {
            read.insert(place.var);
        });
    }
    found
}

/// Where control goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    /// The process does nothing more.
    Ended,
    /// That is not known, or a cell is read that was not written.
    Lost,
}

#[derive(Clone)]
struct Walk<'m> {
    model: &'m Model,
    targets: &'m HashSet<LabelId>,
    threads: &'m HashMap<VarId, Option<Reads>>,
    /// What has been put last where the arguments of threads are.
    given: HashMap<VarId, i128>,
    /// Some of the cells can be seen by other processes, once these have been started.
    shared: bool,
    /// Cells that were not written yet.
    open: BTreeSet<Cell>,
    known: HashMap<VarId, Known>,
    /// Variables that were written since the walk began.
    changed: HashSet<VarId>,
    left: usize,
}

impl Walk<'_> {
    fn code(&mut self, code: &[Statement]) -> Flow {
        for statement in code {
            if self.left == 0 {
                return Flow::Lost;
            }
            self.left -= 1;
            match self.statement(statement) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &Statement) -> Flow {
        if self.open.is_empty() || self.reads_open(statement) {
            return Flow::Lost;
        }
        match &statement.kind {
            StatementKind::Assign(place, value) => {
                if self.shared && self.starts(place.var) && self.shows_open(place.var) {
                    return Flow::Lost;
                }
                let value = self.known(value);
                match value {
                    Some(Known::Number(number)) => self.given.insert(place.var, number),
                    _ => self.given.remove(&place.var),
                };
                self.write(place, value);
                self.after_write(place.var)
            }
            StatementKind::Havoc(place) => {
                self.known.remove(&place.var);
                self.changed.insert(place.var);
                self.after_write(place.var)
            }
            StatementKind::If(condition, yes, no) => match self.truth(condition) {
                Some(true) => self.code(yes),
                Some(false) => self.code(no),
                None => self.both(yes, no),
            },
            StatementKind::Loop {
                condition, body, ..
            } => self.repeat(condition.as_ref(), body),
            StatementKind::Break => Flow::Break,
            StatementKind::Goto(_) => Flow::Lost,
            StatementKind::Label(label) => match self.targets.contains(label) {
                true => Flow::Lost,
                false => Flow::Next,
            },
            StatementKind::Return => Flow::Ended,
            StatementKind::Atomic(inner) => self.code(inner),
            StatementKind::Start(_) | StatementKind::Create { .. } if self.shared => Flow::Lost,
            StatementKind::Choose(blocks) => {
                let mut flow = Flow::Next;
                for block in blocks {
                    flow = match self.skip(block) {
                        Flow::Next => flow,
                        other => other,
                    };
                }
                flow
            }
            StatementKind::Assert(..)
            | StatementKind::Await(_)
            | StatementKind::Lock(_)
            | StatementKind::Unlock(_)
            | StatementKind::Start(_)
            | StatementKind::Create { .. }
            | StatementKind::Join(_)
            | StatementKind::Detach(_)
            | StatementKind::Initialised(_)
            | StatementKind::Exclusive(_) => Flow::Next,
        }
    }

    fn repeat(&mut self, condition: Option<&Expr>, body: &[Statement]) -> Flow {
        loop {
            let again = match condition {
                Some(condition) => self.truth(condition),
                None => Some(true),
            };
            match again {
                Some(false) => return Flow::Next,
                None => return self.skip(body),
                Some(true) => {}
            }
            if self.left == 0 {
                return Flow::Lost;
            }
            self.left -= 1;
            match self.code(body) {
                Flow::Next => {
                    if let Some(condition) = condition
                        && self.reads_cell(condition)
                    {
                        return Flow::Lost;
                    }
                }
                Flow::Break => return Flow::Next,
                flow => return flow,
            }
        }
    }

    /// Either of two branches.
    fn both(&mut self, yes: &[Statement], no: &[Statement]) -> Flow {
        let mut other = self.clone();
        let one = self.code(yes);
        other.left = self.left;
        let two = other.code(no);
        self.left = other.left;
        match (one, two) {
            (Flow::Ended, flow) => {
                *self = other;
                flow
            }
            (flow, Flow::Ended) => flow,
            (one, two) => {
                self.open.append(&mut other.open);
                self.given
                    .retain(|var, value| other.given.get(var) == Some(value));
                self.changed.extend(other.changed);
                self.known
                    .retain(|var, value| other.known.get(var) == Some(value));
                match one == two {
                    true => one,
                    false => Flow::Lost,
                }
            }
        }
    }

    /// Code that may be executed, any number of times.
    fn skip(&mut self, code: &[Statement]) -> Flow {
        let mut flow = Flow::Next;
        for_statements(code, &mut |statement| {
            let jumps = matches!(
                statement.kind,
                StatementKind::Goto(_) | StatementKind::Start(_) | StatementKind::Create { .. }
            );
            let label = matches!(&statement.kind, StatementKind::Label(label)
                if self.targets.contains(label));
            let starts = statement.written().is_some_and(|var| self.starts(var));
            if jumps || label || starts || self.reads_open(statement) {
                flow = Flow::Lost;
            }
        });
        for_statements(code, &mut |statement| {
            if let Some(var) = statement.written() {
                self.known.remove(&var);
                self.given.remove(&var);
                self.changed.insert(var);
                if self.after_write(var) != Flow::Next {
                    flow = Flow::Lost;
                }
            }
        });
        // With indices that are not known any more.
        for_statements(code, &mut |statement| {
            if self.reads_open(statement) {
                flow = Flow::Lost;
            }
        });
        flow
    }

    /// Whether a thread that is started now may read a cell that was not written.
    fn shows_open(&self, started: VarId) -> bool {
        let Some(Some(reads)) = self.threads.get(&started) else {
            return true;
        };
        reads.iter().any(|(var, indices)| {
            let indices = indices.iter().map(|index| match index {
                Index::Number(number) => Some(Known::Number(*number)),
                Index::Argument(var) => self.given.get(var).map(|given| Known::Number(*given)),
                Index::Any => None,
            });
            let indices: Option<Vec<Known>> = indices.collect();
            self.is_open(*var, indices.as_deref())
        })
    }

    /// Whether a variable is one by which threads are started.
    fn starts(&self, var: VarId) -> bool {
        self.threads.contains_key(&var)
    }

    fn write(&mut self, place: &Place, value: Option<Known>) {
        if let Some(cell) = self.cell(place) {
            self.open.remove(&cell);
        }
        self.changed.insert(place.var);
        let own = !self.model.is_shared(place.var) && place.indices.is_empty();
        match value {
            Some(value) if own => self.known.insert(place.var, value),
            _ => self.known.remove(&place.var),
        };
    }

    /// Gives up where a cell is not known any more by the variable that its index is.
    fn after_write(&self, var: VarId) -> Flow {
        let index = Known::Of(var);
        match self
            .open
            .iter()
            .any(|(_, indices)| indices.contains(&index))
        {
            true => Flow::Lost,
            false => Flow::Next,
        }
    }

    fn cell(&self, place: &Place) -> Option<Cell> {
        let mut indices = Vec::new();
        for index in &place.indices {
            indices.push(self.known(index)?);
        }
        Some((place.var, indices))
    }

    /// Whether a statement itself may read a cell that was not written.
    fn reads_open(&self, statement: &Statement) -> bool {
        let mut reads = false;
        statement.for_expressions(&mut |expr| reads |= self.reads_cell(expr));
        reads
    }

    fn reads_cell(&self, expr: &Expr) -> bool {
        let mut reads = false;
        expr.for_places(&mut |place| {
            let cell = self.cell(place);
            let indices = cell.as_ref().map(|(_, indices)| indices.as_slice());
            reads |= self.is_open(place.var, indices);
        });
        reads
    }

    /// Whether a cell may be one that was not written, with its indices if they are known.
    fn is_open(&self, var: VarId, indices: Option<&[Known]>) -> bool {
        // Two that are not both numbers may be the same.
        let differ = |(one, other): (&Known, &Known)| matches!((one, other), (Known::Number(one), Known::Number(other)) if one != other);
        self.open.iter().any(|(other, open)| {
            *other == var && indices.is_none_or(|indices| !open.iter().zip(indices).any(differ))
        })
    }

    fn known(&self, expr: &Expr) -> Option<Known> {
        if let Expr::Load(place) = expr
            && place.indices.is_empty()
            && !self.model.is_shared(place.var)
        {
            return match self.known.get(&place.var) {
                Some(known) => Some(*known),
                None if self.changed.contains(&place.var) => None,
                None => Some(Known::Of(place.var)),
            };
        }
        self.value(expr).map(Known::Number)
    }

    fn value(&self, expr: &Expr) -> Option<i128> {
        match expr {
            Expr::Number(number) => Some(*number),
            Expr::Truth(truth) => Some(i128::from(*truth)),
            Expr::Load(place) if place.indices.is_empty() => match self.known.get(&place.var) {
                Some(Known::Number(number)) => Some(*number),
                _ => None,
            },
            Expr::Arith(op, left, right) => {
                let left = Expr::Number(self.value(left)?);
                let right = Expr::Number(self.value(right)?);
                match Expr::arith(*op, left, right) {
                    Expr::Number(number) => Some(number),
                    _ => None,
                }
            }
            Expr::Fit(ty, inner) | Expr::Wrapping(ty, inner) => {
                let value = self.value(inner)?;
                let same = wrapped(*ty, value) == value || matches!(expr, Expr::Fit(..));
                same.then(|| wrapped(*ty, value))
            }
            Expr::Checked(ty, inner) => {
                let value = self.value(inner)?;
                (ty.least() <= value && value <= ty.greatest()).then_some(value)
            }
            _ => self.truth(expr).map(i128::from),
        }
    }

    fn truth(&self, expr: &Expr) -> Option<bool> {
        match expr {
            Expr::Truth(truth) => Some(*truth),
            Expr::Not(inner) => self.truth(inner).map(|truth| !truth),
            Expr::And(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Expr::Or(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Expr::Compare(op, left, right) => Some(op.holds(self.value(left)?, self.value(right)?)),
            Expr::Load(place) if place.indices.is_empty() => {
                self.value(expr).map(|value| value != 0)
            }
            _ => None,
        }
    }
}
