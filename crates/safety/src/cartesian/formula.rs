//! State predicates as sets of tuples of local states, at given values of the shared variables.
//!
//! With the shared variables fixed, a predicate is a Boolean combination of conditions on single threads and of comparisons of
//! sums over threads ("at most one thread is inside" is one). Both are small graphs. What is left (a product of two
//! threads' values, say) is tried for all values that the threads concerned have.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use threadwise_engine::Limits;
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind, LocationId};
use threadwise_model::eval::{Context, Overflow};
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::partial::{bind, for_cells};
use threadwise_model::system::{CellId, Expr, ProcessId, SystemProperty, SystemPropertyKind};
use threadwise_symbolic::{Error, Halt};

use super::graph::{Graphs, NONE, Node};
use super::sets::{EMPTY, LocalId, SetId};
use super::threads::{SharedId, Threads};

/// After how many evaluations the clock is looked at.
const SELDOM: u32 = 256;

/// A predicate at given values of the shared variables.
#[derive(Debug)]
enum Formula {
    Constant(bool),
    /// A condition on one thread.
    Local(usize, Test),
    Not(Box<Formula>),
    And(Vec<Formula>),
    /// A sum of terms, each about one thread, compared with zero.
    Sum {
        constant: i128,
        /// By thread.
        terms: BTreeMap<usize, Vec<Term>>,
        op: CompareOp,
    },
    /// A condition on several threads.
    Several(Vec<usize>, Expr),
}

/// A condition on one thread.
#[derive(Clone, Debug)]
enum Test {
    Holds(Expr),
    Fails,
    Stuck,
    Ended,
}

#[derive(Debug)]
struct Term {
    value: Expr,
    negative: bool,
}

fn or(parts: Vec<Formula>) -> Formula {
    Formula::not(Formula::And(parts.into_iter().map(Formula::not).collect()))
}

impl Formula {
    fn not(part: Formula) -> Formula {
        match part {
            Formula::Constant(value) => Formula::Constant(!value),
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }
}

/// A predicate on states.
pub(crate) struct Predicate {
    what: What,
    /// The shared cells that it depends on, by place among the shared cells.
    mentioned: Vec<usize>,
    /// What it is for values of these.
    known: FxHashMap<Vec<i64>, Rc<Formula>>,
}

enum What {
    /// One of these holds.
    AnyOf(Vec<Expr>),
    /// Some thread fails a check.
    Fails,
    /// Nobody can do anything but rest, and not all have ended.
    Deadlock,
}

impl Predicate {
    /// What a property forbids; `None` if it is no safety property.
    pub(crate) fn forbidden(threads: &Threads, property: &SystemProperty) -> Option<Self> {
        Some(match &property.kind {
            SystemPropertyKind::Invariant(expr) => {
                Self::any_of(threads, vec![Expr::Not(Box::new(expr.clone()))])
            }
            SystemPropertyKind::Checks => Self::of(What::Fails),
            SystemPropertyKind::DeadlockFree => Self::of(What::Deadlock),
            SystemPropertyKind::Liveness(_) => return None,
        })
    }

    fn of(what: What) -> Self {
        Predicate {
            what,
            mentioned: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// That one of these holds.
    pub(crate) fn any_of(threads: &Threads, exprs: Vec<Expr>) -> Self {
        let mut mentioned = Vec::new();
        for expr in &exprs {
            for_cells(threads.system, expr, &mut |cell| {
                mentioned.extend(threads.shared_cells.binary_search(&cell));
            });
        }
        mentioned.sort_unstable();
        mentioned.dedup();
        Predicate {
            mentioned,
            ..Self::of(What::AnyOf(exprs))
        }
    }

    /// Where it holds among the tuples of a product, at a valuation of the shared variables.
    pub(crate) fn within(
        &mut self,
        threads: &mut Threads,
        graphs: &mut Graphs,
        limits: &Limits,
        shared: SharedId,
        components: &[SetId],
    ) -> Result<Node, Halt> {
        if let What::AnyOf(exprs) = &self.what
            && exprs.is_empty()
        {
            return Ok(NONE);
        }
        let values = threads.shared(shared);
        let key: Vec<i64> = self.mentioned.iter().map(|place| values[*place]).collect();
        let formula = match self.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let formula = Rc::new(self.formula(threads, limits, shared)?);
                self.known.insert(key, formula.clone());
                formula
            }
        };
        let mut within = Within {
            threads,
            graphs,
            limits,
            evaluated: 0,
            shared,
            components,
        };
        within.graph(&formula)
    }

    fn formula(
        &self,
        threads: &mut Threads,
        limits: &Limits,
        shared: SharedId,
    ) -> Result<Formula, Halt> {
        Ok(match &self.what {
            What::AnyOf(exprs) => {
                threads.place_shared(shared);
                let translator = Translator::new(threads, limits);
                let parts = exprs.iter().map(|expr| translator.truth(expr));
                or(parts.collect::<Result<_, _>>()?)
            }
            What::Fails => or((0..threads.len())
                .map(|thread| Formula::Local(thread, Test::Fails))
                .collect()),
            What::Deadlock => {
                let all = 0..threads.len();
                let ended = all
                    .clone()
                    .map(|thread| Formula::Local(thread, Test::Ended));
                let stuck = all.map(|thread| Formula::Local(thread, Test::Stuck));
                let mut parts: Vec<Formula> = stuck.collect();
                parts.push(Formula::not(Formula::And(ended.collect())));
                Formula::And(parts)
            }
        })
    }
}

/// From expressions to formulas, with the shared variables as they are placed.
struct Translator<'a, 's> {
    threads: &'a Threads<'s>,
    limits: &'a Limits<'a>,
    /// The thread that each cell belongs to.
    whose: FxHashMap<CellId, usize>,
}

impl<'a, 's> Translator<'a, 's> {
    fn new(threads: &'a Threads<'s>, limits: &'a Limits<'a>) -> Self {
        let own = threads.own_cells.iter().enumerate();
        let whose = own.flat_map(|(thread, cells)| cells.iter().map(move |cell| (*cell, thread)));
        Translator {
            threads,
            limits,
            whose: whose.collect(),
        }
    }

    /// The threads that an expression speaks of.
    fn about(&self, expr: &Expr) -> Vec<usize> {
        let mut about = Vec::new();
        for_cells(self.threads.system, expr, &mut |cell| {
            about.extend(self.whose.get(&cell).copied());
        });
        about.sort_unstable();
        about.dedup();
        about
    }

    /// The value of an expression that speaks of no thread.
    fn value(&self, expr: &Expr) -> Result<i64, Halt> {
        value(self.threads, expr)
    }

    /// Quantifiers are written out, and each part may look at all cells: that can take long.
    fn breathe(&self) -> Result<(), Halt> {
        let stop = self.limits.should_stop();
        stop.map_or(Ok(()), |stop| Err(Halt::Stop(stop)))
    }

    fn truth(&self, expr: &Expr) -> Result<Formula, Halt> {
        self.breathe()?;
        let all = |parts: &[Expr]| -> Result<Vec<Formula>, Halt> {
            parts.iter().map(|part| self.truth(part)).collect()
        };
        Ok(match expr {
            Expr::Const(value) => Formula::Constant(*value != 0),
            Expr::Not(inner) => Formula::not(self.truth(inner)?),
            Expr::And(parts) => Formula::And(all(parts)?),
            Expr::Or(parts) => or(all(parts)?),
            Expr::Ite(condition, yes, no) => {
                let condition = || self.truth(condition);
                or(vec![
                    Formula::And(vec![condition()?, self.truth(yes)?]),
                    Formula::And(vec![Formula::not(condition()?), self.truth(no)?]),
                ])
            }
            Expr::Fold {
                kind: kind @ (FoldKind::Forall | FoldKind::Exists),
                bound,
                lo,
                hi,
                body,
            } => {
                if let Some(found) = AtMostOne::of(expr) {
                    let count = Expr::Fold {
                        kind: FoldKind::Count,
                        bound: found.bound,
                        lo: found.lo,
                        hi: found.hi,
                        body: Box::new(found.body),
                    };
                    let one = Expr::Const(1);
                    return self.compare(CompareOp::Le, &count, &one, expr);
                }
                let parts = (*lo..=*hi).map(|value| self.truth(&bind(body, *bound, value)));
                let parts = parts.collect::<Result<_, Halt>>()?;
                match kind {
                    FoldKind::Forall => Formula::And(parts),
                    _ => or(parts),
                }
            }
            Expr::Compare(op, a, b) => self.compare(*op, a, b, expr)?,
            other => self.condition(other)?,
        })
    }

    /// A condition as it stands.
    fn condition(&self, expr: &Expr) -> Result<Formula, Halt> {
        let about = self.about(expr);
        Ok(match about.as_slice() {
            [] => Formula::Constant(self.value(expr)? != 0),
            [thread] => Formula::Local(*thread, Test::Holds(expr.clone())),
            _ => Formula::Several(about, expr.clone()),
        })
    }

    /// A comparison; `expr` is the whole of it.
    fn compare(&self, op: CompareOp, a: &Expr, b: &Expr, expr: &Expr) -> Result<Formula, Halt> {
        let mut constant = 0;
        let mut terms = BTreeMap::new();
        let linear = self.terms(a, false, &mut constant, &mut terms)?
            && self.terms(b, true, &mut constant, &mut terms)?;
        if !linear || terms.len() < 2 {
            return self.condition(expr);
        }
        Ok(Formula::Sum {
            constant,
            terms,
            op,
        })
    }

    /// Adds an expression to a sum; false if it is none of terms about one thread each.
    fn terms(
        &self,
        expr: &Expr,
        negative: bool,
        constant: &mut i128,
        terms: &mut BTreeMap<usize, Vec<Term>>,
    ) -> Result<bool, Halt> {
        self.breathe()?;
        match self.about(expr).as_slice() {
            [] => {
                let value = i128::from(self.value(expr)?);
                *constant += if negative { -value } else { value };
                return Ok(true);
            }
            [thread] => {
                let value = expr.clone();
                let list = terms.entry(*thread).or_default();
                list.push(Term { value, negative });
                return Ok(true);
            }
            _ => {}
        }
        match expr {
            Expr::Neg(inner) => self.terms(inner, !negative, constant, terms),
            Expr::Arith(ArithOp::Add, a, b) => Ok(self.terms(a, negative, constant, terms)?
                && self.terms(b, negative, constant, terms)?),
            Expr::Arith(ArithOp::Sub, a, b) => Ok(self.terms(a, negative, constant, terms)?
                && self.terms(b, !negative, constant, terms)?),
            Expr::Fold {
                kind: FoldKind::Count | FoldKind::Sum,
                bound,
                lo,
                hi,
                body,
            } => {
                for value in *lo..=*hi {
                    if !self.terms(&bind(body, *bound, value), negative, constant, terms)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

fn value(threads: &Threads, expr: &Expr) -> Result<i64, Halt> {
    let context = Context::of_state(threads.system, threads.placed());
    context
        .value(expr)
        .map_err(|Overflow| Error::Overflow.into())
}

/// From formulas to graphs.
struct Within<'a, 's> {
    threads: &'a mut Threads<'s>,
    graphs: &'a mut Graphs,
    limits: &'a Limits<'a>,
    /// How often something was evaluated.
    evaluated: u32,
    shared: SharedId,
    components: &'a [SetId],
}

impl Within<'_, '_> {
    /// To be called before something is evaluated: there may be many local states, and many more combinations.
    fn breathe(&mut self) -> Result<(), Halt> {
        self.evaluated = self.evaluated.wrapping_add(1);
        if !self.evaluated.is_multiple_of(SELDOM) {
            return Ok(());
        }
        self.limits
            .should_stop()
            .map_or(Ok(()), |stop| Err(Halt::Stop(stop)))
    }

    fn graph(&mut self, formula: &Formula) -> Result<Node, Halt> {
        self.breathe()?;
        self.threads.place_shared(self.shared);
        Ok(match formula {
            Formula::Constant(true) => self.graphs.product(self.components),
            Formula::Constant(false) => NONE,
            Formula::Not(inner) => {
                let inside = self.graph(inner)?;
                let all = self.graphs.product(self.components);
                self.graphs.minus(all, inside)
            }
            Formula::Local(..) => self.conjunction(std::slice::from_ref(formula))?,
            Formula::And(parts) => self.conjunction(parts)?,
            Formula::Sum {
                constant,
                terms,
                op,
            } => self.sum(*constant, terms, *op)?,
            Formula::Several(about, expr) => self.several(about, expr)?,
        })
    }

    fn conjunction(&mut self, parts: &[Formula]) -> Result<Node, Halt> {
        // Conditions on single threads make one product.
        let mut components = self.components.to_vec();
        let mut others = Vec::new();
        for part in parts {
            match part {
                Formula::Local(thread, test) => self.keep(&mut components, *thread, test, true)?,
                Formula::Not(inner) => match &**inner {
                    Formula::Local(thread, test) => {
                        self.keep(&mut components, *thread, test, false)?;
                    }
                    _ => others.push(part),
                },
                _ => others.push(part),
            }
        }
        let mut all = self.graphs.product(&components);
        for part in others {
            if all == NONE {
                return Ok(NONE);
            }
            let graph = match part {
                Formula::Not(inner) => {
                    let excluded = self.graph(inner)?;
                    all = self.graphs.minus(all, excluded);
                    continue;
                }
                part => self.graph(part)?,
            };
            all = self.graphs.meet(all, graph);
        }
        Ok(all)
    }

    /// Keeps those local states of a thread for which a test has this result.
    fn keep(
        &mut self,
        components: &mut [SetId],
        thread: usize,
        test: &Test,
        result: bool,
    ) -> Result<(), Halt> {
        let mut kept = Vec::new();
        for local in self.graphs.sets.members(components[thread]) {
            self.breathe()?;
            if self.test(thread, local, test)? == result {
                kept.push(local);
            }
        }
        components[thread] = self.graphs.sets.of(kept);
        Ok(())
    }

    fn test(&mut self, thread: usize, local: LocalId, test: &Test) -> Result<bool, Halt> {
        Ok(match test {
            Test::Holds(expr) => {
                self.threads.place_local(thread, local);
                value(self.threads, expr)? != 0
            }
            Test::Fails => self.threads.actions(self.shared, thread, local)?.fails,
            Test::Stuck => self.threads.actions(self.shared, thread, local)?.stuck,
            Test::Ended => {
                let process = ProcessId::from_usize(thread);
                let system = self.threads.system;
                let done: LocationId = system.templates[system.template_of(process)].done();
                let state = self.threads.around(self.shared, thread, local);
                system.location(state, process) == Some(done)
            }
        })
    }

    /// Where a sum compares with zero as it should. Once the terms that are left cannot change that, they are not looked at.
    fn sum(
        &mut self,
        constant: i128,
        terms: &BTreeMap<usize, Vec<Term>>,
        op: CompareOp,
    ) -> Result<Node, Halt> {
        let count = self.threads.len();
        // For each thread its local states by what they add.
        let mut adds: Vec<Vec<(i128, SetId)>> = Vec::with_capacity(count);
        for thread in 0..count {
            let all = self.components[thread];
            let Some(terms) = terms.get(&thread) else {
                adds.push(vec![(0, all)]);
                continue;
            };
            let mut by_value: BTreeMap<i128, Vec<LocalId>> = BTreeMap::new();
            for local in self.graphs.sets.members(all) {
                self.breathe()?;
                self.threads.place_local(thread, local);
                let mut sum = 0;
                for term in terms {
                    let value = i128::from(value(self.threads, &term.value)?);
                    sum += if term.negative { -value } else { value };
                }
                by_value.entry(sum).or_default().push(local);
            }
            let by_value = by_value.into_iter();
            adds.push(
                by_value
                    .map(|(value, locals)| (value, self.graphs.sets.of(locals)))
                    .collect(),
            );
        }
        if adds.iter().any(|adds| adds.is_empty()) {
            return Ok(NONE);
        }
        // What the threads from each one on can add, at least and at most.
        let mut rest = vec![(0, 0); count + 1];
        for thread in (0..count).rev() {
            let (least, most) = rest[thread + 1];
            let values = adds[thread].iter().map(|(value, _)| *value);
            rest[thread] = (
                least + values.clone().min().unwrap_or(0),
                most + values.max().unwrap_or(0),
            );
        }
        let mut known = FxHashMap::default();
        Ok(self.sum_from(0, constant, op, &adds, &rest, &mut known))
    }

    fn sum_from(
        &mut self,
        thread: usize,
        sum: i128,
        op: CompareOp,
        adds: &[Vec<(i128, SetId)>],
        rest: &[(i128, i128)],
        known: &mut FxHashMap<(usize, i128), Node>,
    ) -> Node {
        let (least, most) = (sum + rest[thread].0, sum + rest[thread].1);
        if let Some(decided) = decided(op, least, most) {
            return match decided {
                true => self.graphs.suffix(self.components, thread),
                false => NONE,
            };
        }
        if let Some(known) = known.get(&(thread, sum)) {
            return *known;
        }
        let mut edges = Vec::new();
        for &(value, locals) in &adds[thread] {
            let below = self.sum_from(thread + 1, sum + value, op, adds, rest, known);
            edges.push((locals, below));
        }
        let node = self.graphs.above(thread, edges);
        known.insert((thread, sum), node);
        node
    }

    /// Tries all values of the cells that an expression reads of several threads.
    fn several(&mut self, about: &[usize], expr: &Expr) -> Result<Node, Halt> {
        let mut read: Vec<CellId> = Vec::new();
        for_cells(self.threads.system, expr, &mut |cell| read.push(cell));
        read.sort_unstable();
        read.dedup();
        // For each of the threads its local states by what is read of them.
        let mut groups: Vec<Vec<(LocalId, SetId)>> = Vec::new();
        for &thread in about {
            let own = self.threads.own_cells[thread].iter().enumerate();
            let places: Vec<usize> = own
                .filter(|(_, cell)| read.binary_search(cell).is_ok())
                .map(|(place, _)| place)
                .collect();
            let mut alike: BTreeMap<Vec<i64>, Vec<LocalId>> = BTreeMap::new();
            for local in self.graphs.sets.members(self.components[thread]) {
                let values = self.threads.local(thread, local);
                let key = places.iter().map(|place| values[*place]).collect();
                alike.entry(key).or_default().push(local);
            }
            let alike = alike.into_values();
            groups.push(
                alike
                    .map(|locals| (locals[0], self.graphs.sets.of(locals)))
                    .collect(),
            );
        }
        self.several_from(0, about, &groups, expr)
    }

    fn several_from(
        &mut self,
        level: usize,
        about: &[usize],
        groups: &[Vec<(LocalId, SetId)>],
        expr: &Expr,
    ) -> Result<Node, Halt> {
        let (Some((&thread, about)), Some((group, groups))) =
            (about.split_first(), groups.split_first())
        else {
            self.breathe()?;
            return Ok(match value(self.threads, expr)? {
                0 => NONE,
                _ => self.graphs.suffix(self.components, level),
            });
        };
        let mut edges = Vec::new();
        for &(local, alike) in group {
            self.threads.place_local(thread, local);
            edges.push((alike, self.several_from(thread + 1, about, groups, expr)?));
        }
        let mut node = self.graphs.above(thread, edges);
        for between in (level..thread).rev() {
            let all = self.components[between];
            node = self.graphs.above(between, vec![(all, node)]);
        }
        Ok(node)
    }
}

/// Whether all numbers in a range compare with zero in the same way; if so, in which.
fn decided(op: CompareOp, least: i128, most: i128) -> Option<bool> {
    let (holds_least, holds_most) = (op.holds(least, 0), op.holds(most, 0));
    match op {
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => {
            (holds_least == holds_most).then_some(holds_least)
        }
        CompareOp::Eq | CompareOp::Ne => {
            let outside = least > 0 || most < 0;
            (least == most || outside).then_some(holds_least)
        }
    }
}

/// Components of which one is empty stand for no tuple at all.
pub(crate) fn is_void(components: &[SetId]) -> bool {
    components.contains(&EMPTY)
}

#[cfg(test)]
mod tests;
