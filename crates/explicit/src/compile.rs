//! From guarded steps to flat code.
//!
//! There is code for each process and each of its locations, with the process's own index folded
//! in; processes of a template with very many share theirs. The steps of a location are paths
//! through one piece of text, so neighbours begin with the same clauses: those are tested once
//! (a tree of tests, not a list of paths).
//!
//! For each step it is worked out whether it can make an invariant false: an invariant is split
//! into its conjuncts, and a step that writes no cell of a conjunct, or writes constants that make
//! it true, need not be looked at again. In most protocols only the steps into a critical section
//! remain.

use std::collections::BTreeMap;

use threadwise_lang::program::{LocationId, Span, TemplateId};
use threadwise_model::system::{
    Check, CheckKind, Clause, Expr, ProcessId, Scope, Step, System, SystemTemplate, VarId,
};

use crate::code::{Address, Bits, Code, Dynamic, Op, Slot};
use crate::emit::{Emitter, Label};
use crate::layout::{Field, Layout};
use crate::term::{Known, NODES_IN_PROPERTY, NODES_IN_STEP, Target, Term, Variable, nodes, reads};

/// Processes of a template with more than this share their code.
const OWN_CODE: u32 = 64;
/// The most nodes of expressions in all the code of a template: beyond, its processes share it.
const MOST_NODES: u64 = 1_000_000;
/// The most work spent on finding out which steps can make invariants false.
const MOST_MARK_WORK: usize = 20_000_000;

/// The most combinations of choices that are gone through for one step, and the most words that
/// their successors may take.
const MOST_CHOICES: i128 = 1 << 20;
const MOST_CHOICE_WORDS: i128 = 1 << 24;

/// No code: the process is blocked or has ended.
pub(crate) const NOTHING: Address = Address::MAX;

/// A compiled system.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub code: Code,
    pub processes: Vec<ProcessCode>,
    /// Where the code of each process and location begins.
    pub entries: Vec<Address>,
    /// Where the code of each invariant begins, in the order given.
    pub invariants: Vec<Address>,
    /// The checks, by the number in `Op::Fail`.
    pub checks: Vec<CheckSite>,
    /// Bytes taken by all this, about.
    pub bytes: u64,
}

/// The code of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessCode {
    /// The cell of its program counter.
    pub pc: u32,
    /// The place in `Compiled::entries` for its first location.
    pub entries: u32,
    /// Its index in its template.
    pub index: u32,
    /// It shares its code.
    pub shared: bool,
    /// The location at which it has ended; one more is not started.
    pub done: i64,
}

/// Where a check stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckSite {
    pub kind: CheckKind,
    pub span: Span,
    /// The location the step begins at.
    pub from: LocationId,
}

/// Compiles a system, and the invariants that are to be watched.
pub(crate) fn compile(system: &System, layout: &Layout, invariants: &[&Expr]) -> Compiled {
    let mut compiler = Compiler {
        system,
        layout,
        emitter: Emitter::new(system.cells),
        checks: Vec::new(),
        watch: Watch::new(system, invariants),
    };
    let mut entries = Vec::new();
    let mut processes = Vec::new();
    for (id, template) in system.templates.iter_enumerated() {
        let shared = template.count > OWN_CODE
            || size(template).saturating_mul(u64::from(template.count)) > MOST_NODES;
        let pc = &system.vars[template.pc];
        let mut first_entry = entries.len();
        for index in 0..template.count {
            let own = (
                i64::from(index),
                i64::from(template.first.raw()) + i64::from(index),
            );
            if index == 0 || !shared {
                first_entry = entries.len();
                compiler.template(id, template, (!shared).then_some(own), &mut entries);
            }
            processes.push(ProcessCode {
                pc: pc.first.raw() + index * pc.stride,
                entries: first_entry as u32,
                index,
                shared,
                done: template.locations.len() as i64 - 1,
            });
        }
    }
    let invariants = invariants
        .iter()
        .map(|invariant| compiler.invariant(invariant))
        .collect();
    let dynamic = system
        .templates
        .iter()
        .map(|template| dynamic(system, template))
        .collect();
    let (ops, bits, memory, own) = compiler.emitter.finish();
    let bytes = ops.len() * size_of::<Op>()
        + (bits.len() + memory.len()) * 16
        + processes.len() * size_of::<ProcessCode>()
        + layout.fields.len() * size_of::<Field>()
        + entries.len() * 4;
    let code = Code {
        ops,
        bits,
        fields: layout.fields.clone(),
        dynamic,
        memory,
        own,
    };
    Compiled {
        code,
        processes,
        entries,
        invariants,
        checks: compiler.checks,
        bytes: bytes as u64,
    }
}

/// About how many nodes the expressions of a template have.
fn size(template: &SystemTemplate) -> u64 {
    let of = |expr: &Expr| nodes(expr, NODES_IN_STEP);
    let of_step = |step: &Step| {
        let clauses = step.clauses.iter().map(|clause| match clause {
            Clause::Guard(guard) => of(guard),
            Clause::Check(check) => of(&check.holds),
        });
        let updates = step.updates.iter().map(|update| {
            let place = [&update.cell.process, &update.cell.offset];
            1 + of(&update.value) + place.into_iter().flatten().map(of).sum::<u64>()
        });
        1 + clauses.sum::<u64>() + updates.sum::<u64>()
    };
    template.steps.iter().flatten().map(of_step).sum()
}

/// The process with this number.
pub(crate) fn process_id(number: usize) -> ProcessId {
    ProcessId::from_usize(number)
}

fn dynamic(system: &System, template: &SystemTemplate) -> Option<Dynamic> {
    let pc = &system.vars[template.pc];
    template.dynamic.then(|| Dynamic {
        first_pc: pc.first.raw(),
        stride: pc.stride,
        count: template.count,
        not_started: template.locations.len() as i64,
        entry: i64::from(template.entry.raw()),
    })
}

struct Compiler<'a> {
    system: &'a System,
    layout: &'a Layout,
    emitter: Emitter,
    checks: Vec<CheckSite>,
    watch: Watch,
}

/// A step, and what is to be tested on its way.
struct Path<'s> {
    step: &'s Step,
    items: Vec<Item<'s>>,
}

#[derive(PartialEq)]
enum Item<'s> {
    /// More choices than can be gone through.
    TooMany,
    Choice(u32, i64, i64),
    Guard(&'s Expr),
    Check(&'s Check),
}

/// What a test has begun.
enum Opened {
    /// It always passes.
    Always,
    /// It never passes.
    Never,
    /// Where it does not pass, the code goes on at the label.
    Until(Label),
    /// A loop with its last value.
    Loop((Slot, Label), i64),
}

impl Compiler<'_> {
    /// The code of a process, or of all processes of a template. Adds an entry for each location,
    /// and one for `not started`.
    fn template(
        &mut self,
        id: TemplateId,
        template: &SystemTemplate,
        own: Option<(i64, i64)>,
        entries: &mut Vec<Address>,
    ) {
        for location in 0..=template.locations.len() {
            let steps = template
                .steps
                .get(LocationId::from_usize(location))
                .map_or(&[][..], Vec::as_slice);
            if steps.is_empty() {
                entries.push(NOTHING);
                continue;
            }
            entries.push(self.emitter.here());
            let most = MOST_CHOICES.min(MOST_CHOICE_WORDS / self.layout.words as i128);
            let paths: Vec<Path> = steps.iter().map(|step| path(step, most)).collect();
            let mut known = Known::new(self.system, own, NODES_IN_STEP);
            self.paths(id, &paths, 0, &mut known);
            self.emitter.op(Op::End);
        }
    }

    /// The code of neighbouring paths that agree up to item `at`.
    fn paths(
        &mut self,
        template: TemplateId,
        mut paths: &[Path],
        mut at: usize,
        known: &mut Known,
    ) {
        let outer = self.emitter.mark();
        let mut closers = Vec::new();
        while let Some(first) = paths.first() {
            let Some(item) = first.items.get(at) else {
                self.finish(template, first, known);
                paths = &paths[1..];
                continue;
            };
            let same = paths
                .iter()
                .take_while(|path| path.items.get(at) == Some(item))
                .count();
            let (mine, rest) = paths.split_at(same);
            if let Item::Guard(guard) = item {
                let opposite = rest
                    .iter()
                    .take_while(|path| is_opposite(guard, path.items.get(at)))
                    .count();
                let (others, rest) = rest.split_at(opposite);
                match known.term(guard) {
                    Term::Const(value) => {
                        let alive = if value != 0 { mine } else { others };
                        if rest.is_empty() {
                            paths = alive;
                            at += 1;
                            continue;
                        }
                        self.paths(template, alive, at + 1, known);
                    }
                    term if others.is_empty() && rest.is_empty() => {
                        let end = self.emitter.label();
                        self.emitter.jump(&term, false, end);
                        closers.push(Opened::Until(end));
                        paths = mine;
                        at += 1;
                        continue;
                    }
                    term => {
                        let (no, end) = (self.emitter.label(), self.emitter.label());
                        self.emitter.jump(&term, false, no);
                        self.paths(template, mine, at + 1, known);
                        if !others.is_empty() {
                            self.emitter.go(end);
                        }
                        self.emitter.place(no);
                        self.paths(template, others, at + 1, known);
                        self.emitter.place(end);
                    }
                }
                paths = rest;
                continue;
            }
            // The last run of paths goes on in this loop: a path may have very many items.
            let opened = self.open(item, first.step.from, known);
            match opened {
                Opened::Never => paths = rest,
                _ if rest.is_empty() => {
                    closers.push(opened);
                    paths = mine;
                    at += 1;
                }
                _ => {
                    self.paths(template, mine, at + 1, known);
                    self.close(opened);
                    paths = rest;
                }
            }
        }
        while let Some(opened) = closers.pop() {
            self.close(opened);
        }
        self.emitter.release(outer);
    }

    /// Opens a choice or makes a check.
    fn open(&mut self, item: &Item, from: LocationId, known: &mut Known) -> Opened {
        match item {
            Item::Guard(_) => Opened::Always,
            Item::TooMany => {
                self.emitter.op(Op::TooMany);
                Opened::Never
            }
            Item::Choice(_, lo, hi) if lo > hi => Opened::Never,
            Item::Choice(choice, lo, hi) => {
                Opened::Loop(self.emitter.begin_loop(Variable::Choice(*choice), *lo), *hi)
            }
            Item::Check(check) => {
                let term = known.term(&check.holds);
                if matches!(term, Term::Const(value) if value != 0) {
                    return Opened::Always;
                }
                let (ok, end) = (self.emitter.label(), self.emitter.label());
                self.emitter.jump(&term, true, ok);
                self.emitter.op(Op::Fail {
                    check: self.checks.len() as u32,
                });
                self.checks.push(CheckSite {
                    kind: check.kind,
                    span: check.span,
                    from,
                });
                self.emitter.go(end);
                self.emitter.place(ok);
                Opened::Until(end)
            }
        }
    }

    fn close(&mut self, opened: Opened) {
        match opened {
            Opened::Always | Opened::Never => {}
            Opened::Until(label) => self.emitter.place(label),
            Opened::Loop(counter, hi) => self.emitter.end_loop(counter, hi),
        }
    }

    /// The successor of a path that has passed all its tests.
    fn finish(&mut self, template: TemplateId, path: &Path, known: &mut Known) {
        let step = path.step;
        if step.rest {
            self.emitter.op(Op::Rest);
            return;
        }
        let mark = self.emitter.mark();
        let mut writes: Vec<(Target, Term)> = step
            .updates
            .iter()
            .map(|update| (known.cell(&update.cell), known.term(&update.value)))
            .collect();
        if step.from != step.to {
            let pc = threadwise_model::system::Place {
                var: self.system.templates[template].pc,
                process: Some(Expr::Own),
                offset: None,
            };
            writes.push((known.cell(&pc), Term::Const(i64::from(step.to.raw()))));
        }
        let changes = self
            .watch
            .may_break(self.system, known, &writes, !step.starts.is_empty());
        self.write(&writes, step, changes);
        self.emitter.release(mark);
    }

    fn write(&mut self, writes: &[(Target, Term)], step: &Step, mark: bool) {
        // Everything is computed before the successor is begun.
        let mut puts = Vec::new();
        let mut words: BTreeMap<u32, Bits> = BTreeMap::new();
        // A later write to the same cell counts. Cells that are all known are written together.
        let all_known = writes
            .iter()
            .all(|(target, _)| !matches!(target, Target::Among { .. }));
        let mut last = BTreeMap::new();
        for (number, (target, _)) in writes.iter().enumerate() {
            if let Target::Cell(cell) = target {
                last.insert(*cell, number);
            }
        }
        for (number, (target, value)) in writes.iter().enumerate() {
            match target {
                Target::Nowhere => {}
                Target::Cell(cell) => {
                    if all_known && last[cell] != number {
                        continue;
                    }
                    let field = &self.layout.fields[*cell as usize];
                    let bits = match value {
                        Term::Const(value) if all_known => field.bits(*value),
                        _ => None,
                    };
                    match bits {
                        Some(bits) => {
                            let word = words.entry(field.word).or_insert(Bits {
                                keep: u64::MAX,
                                set: 0,
                            });
                            word.keep &= !field.place();
                            word.set |= bits;
                        }
                        None => {
                            let a = self.emitter.value(value);
                            puts.push(Op::PutSlot { a, cell: *cell });
                        }
                    }
                }
                Target::Among { first, index, .. } => {
                    let a = self.emitter.value(value);
                    let index = self.emitter.value(index);
                    puts.push(Op::PutAt {
                        a,
                        first: *first,
                        index,
                    });
                }
            }
        }
        if let (1, [], [], Some((&word, &bits))) = (
            words.len(),
            &puts[..],
            &step.starts[..],
            words.first_key_value(),
        ) {
            let bits = self.emitter.bits(bits);
            self.emitter.op(Op::Emit { word, bits, mark });
            return;
        }
        self.emitter.op(Op::Open);
        // First, so that writes to a process that is started now find it.
        for (at, &template) in step.starts.iter().enumerate() {
            let nth = step.starts[..at]
                .iter()
                .filter(|&&earlier| earlier == template)
                .count() as u32;
            self.emitter.op(Op::Start { template, nth });
        }
        for (word, bits) in words {
            let bits = self.emitter.bits(bits);
            self.emitter.op(Op::Put { word, bits });
        }
        for put in puts {
            self.emitter.op(put);
        }
        self.emitter.op(Op::Close { mark });
    }

    fn invariant(&mut self, invariant: &Expr) -> Address {
        let start = self.emitter.here();
        let term = Known::new(self.system, None, NODES_IN_PROPERTY).term(invariant);
        let mark = self.emitter.mark();
        let broken = self.emitter.label();
        self.emitter.jump(&term, false, broken);
        self.emitter.op(Op::End);
        self.emitter.place(broken);
        self.emitter.op(Op::Broken);
        self.emitter.release(mark);
        start
    }
}

fn is_opposite(guard: &Expr, item: Option<&Item>) -> bool {
    match item {
        Some(Item::Guard(other)) => match (guard, other) {
            (Expr::Not(inner), other) if **inner == **other => true,
            (guard, Expr::Not(inner)) => *guard == **inner,
            _ => false,
        },
        _ => false,
    }
}

/// The tests of a step in order; a choice is opened just before what mentions it first.
fn path(step: &Step, most_choices: i128) -> Path<'_> {
    let mut items = Vec::new();
    let mut open = vec![false; step.choices.len()];
    let sizes = step
        .choices
        .iter()
        .map(|&(lo, hi)| (i128::from(hi) - i128::from(lo) + 1).max(0));
    let too_many = sizes.fold(1i128, |all, size| all.saturating_mul(size)) > most_choices;
    for clause in &step.clauses {
        let expr = match clause {
            Clause::Guard(guard) => guard,
            Clause::Check(check) => &check.holds,
        };
        open_choices(step, expr, too_many, &mut open, &mut items);
        items.push(match clause {
            Clause::Guard(guard) => Item::Guard(guard),
            Clause::Check(check) => Item::Check(check),
        });
    }
    for update in &step.updates {
        let place = [&update.cell.process, &update.cell.offset];
        for expr in place.into_iter().flatten().chain([&update.value]) {
            open_choices(step, expr, too_many, &mut open, &mut items);
        }
    }
    // A choice that nothing mentions matters only if it is among no values.
    for (choice, &(lo, hi)) in step.choices.iter().enumerate() {
        if !open[choice] && lo > hi {
            items.push(Item::Choice(choice as u32, lo, hi));
        }
    }
    Path { step, items }
}

fn open_choices<'s>(
    step: &'s Step,
    expr: &Expr,
    too_many: bool,
    open: &mut [bool],
    items: &mut Vec<Item<'s>>,
) {
    let mut mentioned = Vec::new();
    choices(expr, &mut mentioned);
    for choice in mentioned {
        if let Some(seen) = open.get_mut(choice as usize)
            && !*seen
        {
            *seen = true;
            if too_many {
                items.push(Item::TooMany);
            }
            let (lo, hi) = step.choices[choice as usize];
            items.push(Item::Choice(choice, lo, hi));
        }
    }
}

fn choices(expr: &Expr, found: &mut Vec<u32>) {
    match expr {
        Expr::Choice(choice) => found.push(*choice),
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) => {}
        Expr::Load(place) => {
            for part in [&place.process, &place.offset].into_iter().flatten() {
                choices(part, found);
            }
        }
        Expr::Not(inner) | Expr::Neg(inner) | Expr::Fold { body: inner, .. } => {
            choices(inner, found)
        }
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| choices(part, found)),
        Expr::Compare(_, left, right) | Expr::Arith(_, left, right) => {
            choices(left, found);
            choices(right, found);
        }
        Expr::Ite(cond, yes, no) => {
            choices(cond, found);
            choices(yes, found);
            choices(no, found);
        }
    }
}

/// The conjuncts of the invariants, to find out which steps can break one.
struct Watch {
    conjuncts: Vec<Conjunct>,
    /// The nodes of all conjuncts.
    size: usize,
    work: usize,
}

struct Conjunct {
    term: Term,
    cells: Vec<u32>,
    /// It reads cells that depend on the state.
    anywhere: bool,
}

impl Watch {
    fn new(system: &System, invariants: &[&Expr]) -> Self {
        let mut conjuncts = Vec::new();
        let mut size = 0;
        for invariant in invariants {
            let term = Known::new(system, None, NODES_IN_PROPERTY).term(invariant);
            let parts = match term {
                Term::And(parts) => parts,
                term => vec![term],
            };
            for term in parts {
                let (mut cells, mut anywhere) = (Vec::new(), false);
                reads(&term, &mut cells, &mut anywhere);
                size += cells.len() + 1;
                cells.sort_unstable();
                cells.dedup();
                conjuncts.push(Conjunct {
                    term,
                    cells,
                    anywhere,
                });
            }
        }
        Watch {
            conjuncts,
            size,
            work: 0,
        }
    }

    /// Whether a step may lead from a state in which the invariants hold to one in which they do
    /// not. May say yes too often, never no.
    fn may_break(
        &mut self,
        system: &System,
        known: &Known,
        writes: &[(Target, Term)],
        starts: bool,
    ) -> bool {
        if self.conjuncts.is_empty() {
            return false;
        }
        self.work += self.size;
        if starts || self.work > MOST_MARK_WORK {
            return true;
        }
        let mut constants = known.clone();
        constants.cells.clear();
        let mut written = Vec::new();
        for (target, value) in writes {
            match target {
                Target::Nowhere => {}
                Target::Cell(cell) => {
                    written.push(*cell..*cell + 1);
                    match value {
                        Term::Const(value) => constants.cells.insert(*cell, *value),
                        _ => constants.cells.remove(cell),
                    };
                }
                Target::Among { var, .. } => {
                    let cells = extent(system, *var);
                    constants.cells.retain(|cell, _| !cells.contains(cell));
                    written.push(cells);
                }
            }
        }
        self.conjuncts.iter().any(|conjunct| {
            let touched = conjunct.anywhere
                || written.iter().any(|cells| {
                    let next = conjunct.cells.partition_point(|&cell| cell < cells.start);
                    conjunct
                        .cells
                        .get(next)
                        .is_some_and(|&cell| cell < cells.end)
                });
            touched && !matches!(constants.apply(&conjunct.term), Term::Const(value) if value != 0)
        })
    }
}

/// All cells of a variable, those of every process.
fn extent(system: &System, var: VarId) -> std::ops::Range<u32> {
    let var = &system.vars[var];
    let copies = match var.scope {
        Scope::Shared => 1,
        Scope::Local(template) => system.templates[template].count,
    };
    let first = var.first.raw();
    first..first + copies.saturating_sub(1) * var.stride + var.len
}
