//! The search for values, or for a proof that there are none: propagation, the simplex method, and distinction of cases.
//!
//! What is known is propagated as the rules for proofs say ([`threadwise_evidence::arithmetic`]), so whatever this search knows in a case, a checker of the proof knows there too. Then the simplex
//! method looks for fractions within the known bounds. If there are none, the bounds it names add up to a contradiction: a leaf of the proof. If there are, they often
//! make all disjunctions true already. A disjunction that they leave false has an inequality that is open; the search tries it, and then its negation.
//!
//! For every fact it is remembered from which earlier ones it was concluded. A refutation so has a set of cases and of given formulas that it rests on; a case that it does
//! not rest on is not distinguished in the proof, and its other half is never searched. The given formulas are the core: the proof is one from these alone.
//!
//! If fractions satisfy everything, integers are looked for: first an equation without whole solutions among the rows (two cases refute it), then branch and
//! bound, to a limited depth. Soundness: a model satisfies all formulas, and a proof is one by the rules; where a limit is reached the answer is unknown.

use std::cmp::Ordering;

use index_vec::IndexVec;
use num_bigint::BigInt;
use num_traits::{One, Zero};
use threadwise_evidence::arithmetic::{Atom, Proof, Variable};

use super::number::Rational;
use super::simplex::{Bounds, Budget, Contradiction, Simplex};
use super::store::{FormId, Literal, Node, NodeId, Side, Store};
use super::{Limits, Model, Statistics, Why};

/// A bound with the event that brought it.
#[derive(Clone, Copy, Debug)]
struct Bound {
    value: i64,
    event: u32,
}

/// What is known of forms.
#[derive(Debug, Default)]
struct Known {
    bounds: IndexVec<FormId, [Option<Bound>; 2]>,
}

impl Known {
    fn get(&self, form: FormId, side: Side) -> Option<Bound> {
        self.bounds.get(form)?[side as usize]
    }

    fn set(&mut self, form: FormId, side: Side, bound: Option<Bound>) {
        while self.bounds.len() <= form.index() {
            self.bounds.push([None, None]);
        }
        self.bounds[form][side as usize] = bound;
    }

    /// Whether an inequality is known, or refuted.
    fn truth(&self, literal: Literal) -> Option<bool> {
        if let Some(bound) = self.get(literal.form, literal.side)
            && literal.side.implies(bound.value, literal.bound)
        {
            return Some(true);
        }
        let negation = literal.negation();
        let bound = self.get(literal.form, negation.side)?;
        (negation.side.implies(bound.value, negation.bound)).then_some(false)
    }
}

impl Bounds for Known {
    fn bound(&self, form: FormId, side: Side) -> Option<i64> {
        self.get(form, side).map(|bound| bound.value)
    }
}

/// What is known, and how it became so. It is a stack: what became known last can be taken back. The tableau stays as it is then, which helps
/// with the next question: it is often much like the last one.
#[derive(Debug, Default)]
pub(super) struct State {
    known: Known,
    /// The disjunctions that are known, with the events that made them so.
    disjunctions: Vec<(NodeId, u32)>,
    /// The disjunctions that have inequalities of a form, by their positions.
    occurrences: IndexVec<FormId, Vec<u32>>,
    /// The disjunctions that propagation has to look at.
    pending: Vec<u32>,
    /// The forms with bounds that the tableau has not seen.
    unchecked: Vec<FormId>,
    simplex: Simplex,
    events: Vec<Event>,
    causes: Vec<u32>,
    /// How many formulas were given.
    given: u32,
}

/// How much a state knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    events: usize,
    causes: usize,
    given: u32,
}

impl State {
    /// What is known now.
    pub(super) fn moment(&self) -> Moment {
        Moment {
            events: self.events.len(),
            causes: self.causes.len(),
            given: self.given,
        }
    }

    /// Forgets what became known after a moment at which nothing was left to propagate or to check.
    pub(super) fn go_back(&mut self, moment: Moment, store: &Store) {
        self.pending.clear();
        self.unchecked.clear();
        self.causes.truncate(moment.causes);
        self.given = moment.given;
        while self.events.len() > moment.events {
            match self.events.pop().map(|event| event.what) {
                Some(What::Bound {
                    form,
                    side,
                    previous,
                }) => self.known.set(form, side, previous),
                Some(What::Disjunction) => {
                    if let Some((node, _)) = self.disjunctions.pop() {
                        store.literals(node, &mut |literal| {
                            self.occurrences[literal.form].pop();
                        });
                    }
                }
                None => {}
            }
        }
    }

    /// Forgets the forms from this one on. Nothing may be known of them any more.
    pub(super) fn forget(&mut self, first: FormId) {
        self.simplex.forget(first, &self.known);
    }

    /// Whether big numbers were needed since this was asked last.
    pub(super) fn big(&mut self) -> bool {
        std::mem::take(&mut self.simplex.big)
    }

    /// Takes in a disjunction.
    fn disjunction(&mut self, node: NodeId, event: u32, store: &Store) {
        let position = self.disjunctions.len() as u32;
        self.disjunctions.push((node, event));
        self.pending.push(position);
        store.literals(node, &mut |literal| {
            while self.occurrences.len() <= literal.form.index() {
                self.occurrences.push(Vec::new());
            }
            self.occurrences[literal.form].push(position);
        });
    }
}

/// Something that became known.
#[derive(Clone, Copy, Debug)]
struct Event {
    what: What,
    reason: Reason,
}

/// Why something is known.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// It is part of the formula with this number.
    Given(u32),
    /// It is the inequality of a case.
    Case,
    /// It was concluded from events: a range of the list of causes.
    Concluded(u32, u32),
}

#[derive(Clone, Copy, Debug)]
enum What {
    Bound {
        form: FormId,
        side: Side,
        previous: Option<Bound>,
    },
    Disjunction,
}

/// A known formula is refuted; from which events is in [`Search::conflict`].
struct Refuted;

/// What became of a case.
pub(super) enum Outcome {
    /// These values.
    Sat(Model),
    /// A proof, and the events that it rests on, each of which is the inequality of a case or part of a given formula: sorted.
    Unsat(Proof, Vec<u32>),
    /// No answer.
    Unknown(Why),
}

/// A disjunction, seen with what is known.
enum View {
    /// A member is known.
    Holds,
    /// All but this one are refuted.
    Only(NodeId),
    /// All are refuted.
    Refuted,
    /// Several are open.
    Open,
}

/// One search.
pub(super) struct Search<'a> {
    pub(super) store: &'a mut Store,
    pub(super) state: &'a mut State,
    pub(super) limits: &'a Limits,
    pub(super) statistics: &'a mut Statistics,
    pub(super) budget: Budget<'a>,
    splits: u64,
    /// How many cases the search is in, and how many of them are about integers.
    depth: u32,
    branches: u32,
    conflict: Vec<u32>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        store: &'a mut Store,
        state: &'a mut State,
        limits: &'a Limits,
        statistics: &'a mut Statistics,
        stop: &'a dyn Fn() -> bool,
    ) -> Search<'a> {
        Search {
            store,
            state,
            limits,
            statistics,
            budget: Budget {
                pivots: limits.pivots,
                stop,
            },
            splits: 0,
            depth: 0,
            branches: 0,
            conflict: Vec::new(),
        }
    }

    /// Takes formulas in. An outcome if they are refuted at once.
    pub(super) fn assume(&mut self, nodes: &[NodeId]) -> Option<Outcome> {
        for (position, node) in nodes.iter().enumerate() {
            let number = self.state.given + position as u32;
            if self.know(*node, Reason::Given(number)).is_err() {
                return Some(self.obvious());
            }
        }
        self.state.given += nodes.len() as u32;
        None
    }

    /// The numbers of the given formulas among the events that a refutation rests on.
    pub(super) fn core(&self, rests: &[u32]) -> Vec<u32> {
        let each = rests
            .iter()
            .map(|event| self.state.events[*event as usize].reason);
        let given = each.filter_map(|reason| match reason {
            Reason::Given(number) => Some(number),
            Reason::Case | Reason::Concluded(..) => None,
        });
        let mut core: Vec<u32> = given.collect();
        core.sort_unstable();
        core.dedup();
        core
    }

    /// The answer for what has been taken in.
    pub(super) fn run(&mut self) -> Outcome {
        if let Some(outcome) = self.close() {
            return outcome;
        }
        match self.choose() {
            Ok(Choice::Done) => self.model(),
            Ok(Choice::Case(literal)) => self.split(literal),
            Ok(Choice::Integers(literal)) => {
                if self.branches >= self.limits.branches {
                    return Outcome::Unknown(Why::Branches);
                }
                self.statistics.branches += 1;
                self.branches += 1;
                let outcome = self.split(literal);
                self.branches -= 1;
                outcome
            }
            Err(why) => Outcome::Unknown(why),
        }
    }

    /// Propagates, and looks for fractions: what follows without distinguishing cases. An outcome if that decides.
    pub(super) fn close(&mut self) -> Option<Outcome> {
        if self.propagate().is_err() {
            return Some(self.obvious());
        }
        let before = self.budget.pivots;
        let state = &mut *self.state;
        let checked = (state.simplex).check(&state.unchecked, &state.known, &mut self.budget);
        state.unchecked.clear();
        self.statistics.pivots += before - self.budget.pivots;
        match checked {
            Ok(None) => None,
            Ok(Some(contradiction)) => Some(self.sum(&contradiction)),
            Err(why) => Some(Outcome::Unknown(why)),
        }
    }

    fn split(&mut self, on: Literal) -> Outcome {
        if self.splits >= self.limits.splits {
            return Outcome::Unknown(Why::Splits);
        }
        if self.depth >= self.limits.depth {
            return Outcome::Unknown(Why::Depth);
        }
        self.splits += 1;
        self.statistics.splits += 1;
        let case = self.state.events.len() as u32;
        let (holds, mut rests) = match self.case(on) {
            Outcome::Unsat(proof, rests) if rests.binary_search(&case).is_err() => {
                self.statistics.skipped += 1;
                return Outcome::Unsat(proof, rests);
            }
            Outcome::Unsat(proof, rests) => (Ok(proof), rests),
            Outcome::Unknown(why) if !why.ends_search() => (Err(why), Vec::new()),
            other => return other,
        };
        match self.case(on.negation()) {
            Outcome::Unsat(fails, others) => {
                if others.binary_search(&case).is_err() {
                    self.statistics.skipped += 1;
                    return Outcome::Unsat(fails, others);
                }
                let holds = match holds {
                    Ok(proof) => proof,
                    Err(why) => return Outcome::Unknown(why),
                };
                rests.extend(others);
                rests.sort_unstable();
                rests.dedup();
                rests.retain(|event| *event != case);
                let proof = Proof::Split {
                    on: self.store.atom(on),
                    holds: Box::new(holds),
                    fails: Box::new(fails),
                };
                Outcome::Unsat(proof, rests)
            }
            other => other,
        }
    }

    /// The answer in the case that an inequality holds.
    fn case(&mut self, literal: Literal) -> Outcome {
        let before = self.state.moment();
        self.depth += 1;
        let outcome = match self.bind(literal, Reason::Case) {
            Ok(()) => self.run(),
            Err(Refuted) => self.obvious(),
        };
        self.depth -= 1;
        self.state.go_back(before, self.store);
        outcome
    }

    /// Notes that something is known.
    fn note(&mut self, what: What, reason: Reason) -> u32 {
        self.state.events.push(Event { what, reason });
        self.state.events.len() as u32 - 1
    }

    /// Notes that a formula is known.
    fn know(&mut self, node: NodeId, reason: Reason) -> Result<(), Refuted> {
        match self.store.node(node).clone() {
            Node::Atom(literal) => self.bind(literal, reason),
            Node::And(range) => {
                for position in range.clone() {
                    let member = self.store.members(&range)[(position - range.start) as usize];
                    self.know(member, reason)?;
                }
                Ok(())
            }
            Node::Or(_) => {
                let event = self.note(What::Disjunction, reason);
                self.state.disjunction(node, event, self.store);
                Ok(())
            }
        }
    }

    /// Notes that an inequality is known.
    fn bind(&mut self, literal: Literal, reason: Reason) -> Result<(), Refuted> {
        let Literal { form, side, bound } = literal;
        let previous = self.state.known.get(form, side);
        if previous.is_some_and(|previous| side.implies(previous.value, bound)) {
            return Ok(());
        }
        let refuted = self.state.known.truth(literal) == Some(false);
        let what = What::Bound {
            form,
            side,
            previous,
        };
        let event = self.note(what, reason);
        let value = bound;
        (self.state.known).set(form, side, Some(Bound { value, event }));
        self.state.simplex.add(form, self.store);
        self.state.unchecked.push(form);
        if let Some(occurrences) = self.state.occurrences.get(form) {
            self.state.pending.extend_from_slice(occurrences);
        }
        if refuted {
            self.conflict.clear();
            self.conflict.push(event);
            self.conflict.extend(self.refuter(literal));
            return Err(Refuted);
        }
        Ok(())
    }

    /// The first event after which an inequality was refuted.
    fn refuter(&self, literal: Literal) -> Option<u32> {
        let negation = literal.negation();
        let mut found = None;
        let mut bound = self.state.known.get(negation.form, negation.side);
        while let Some(Bound { value, event }) = bound {
            if !negation.side.implies(value, negation.bound) {
                break;
            }
            found = Some(event);
            bound = match self.state.events[event as usize].what {
                What::Bound { previous, .. } => previous,
                What::Disjunction => None,
            };
        }
        found
    }

    fn propagate(&mut self) -> Result<(), Refuted> {
        let mut next = 0;
        while let Some(position) = self.state.pending.get(next).copied() {
            next += 1;
            let (node, event) = self.state.disjunctions[position as usize];
            let only = match self.view(node) {
                View::Holds | View::Open => continue,
                View::Only(member) => Some(member),
                View::Refuted => None,
            };
            let start = self.state.causes.len();
            let mut causes = std::mem::take(&mut self.state.causes);
            causes.push(event);
            self.refuters(node, only, &mut causes);
            self.state.causes = causes;
            match only {
                Some(member) => {
                    let end = self.state.causes.len();
                    self.know(member, Reason::Concluded(start as u32, end as u32))?;
                }
                None => {
                    self.conflict.clear();
                    self.conflict.extend(self.state.causes.drain(start..));
                    return Err(Refuted);
                }
            }
        }
        self.state.pending.clear();
        Ok(())
    }

    fn view(&self, node: NodeId) -> View {
        let Node::Or(range) = self.store.node(node) else {
            // Only disjunctions are looked at.
            return View::Open;
        };
        let mut only = None;
        let mut open = 0;
        for member in self.store.members(range) {
            match self.truth(*member) {
                Some(true) => return View::Holds,
                Some(false) => {}
                None => {
                    open += 1;
                    only = Some(*member);
                }
            }
        }
        match (open, only) {
            (1, Some(member)) if !self.is_known(member) => View::Only(member),
            (1, Some(_)) => View::Holds,
            (0, _) => View::Refuted,
            _ => View::Open,
        }
    }

    /// Whether a disjunction, open as it is, is already among those that are known, and a conjunction of such.
    fn is_known(&self, node: NodeId) -> bool {
        match self.store.node(node) {
            Node::Atom(literal) => self.state.known.truth(*literal) == Some(true),
            Node::And(range) => {
                let members = self.store.members(range);
                members.iter().all(|member| self.is_known(*member))
            }
            Node::Or(_) => (self.state.disjunctions.iter()).any(|(other, _)| *other == node),
        }
    }

    /// Whether a formula is known, or refuted, by the bounds alone.
    fn truth(&self, node: NodeId) -> Option<bool> {
        self.truth_by(node, &|literal| self.state.known.truth(literal))
    }

    fn truth_by(&self, node: NodeId, atom: &dyn Fn(Literal) -> Option<bool>) -> Option<bool> {
        let (range, all) = match self.store.node(node) {
            Node::Atom(literal) => return atom(*literal),
            Node::And(range) => (range, true),
            Node::Or(range) => (range, false),
        };
        let mut open = false;
        for member in self.store.members(range) {
            match self.truth_by(*member, atom) {
                Some(truth) if truth != all => return Some(truth),
                Some(_) => {}
                None => open = true,
            }
        }
        (!open).then_some(all)
    }

    /// Collects the events by which a refuted formula is, but for one of its members.
    fn refuters(&self, node: NodeId, but: Option<NodeId>, found: &mut Vec<u32>) {
        match self.store.node(node) {
            Node::Atom(literal) => found.extend(self.refuter(*literal)),
            Node::And(range) => {
                let mut members = self.store.members(range).iter();
                if let Some(member) = members.find(|member| self.truth(**member) == Some(false)) {
                    self.refuters(*member, None, found);
                }
            }
            Node::Or(range) => {
                for member in self.store.members(range) {
                    if Some(*member) != but {
                        self.refuters(*member, None, found);
                    }
                }
            }
        }
    }

    fn obvious(&self) -> Outcome {
        Outcome::Unsat(Proof::Obvious, self.rests(&self.conflict))
    }

    /// The proof that the simplex method gives.
    fn sum(&self, contradiction: &Contradiction) -> Outcome {
        let mut denominator = BigInt::one();
        for (_, _, factor) in contradiction {
            denominator = lcm(&denominator, &factor.denominator());
        }
        let mut divisor = BigInt::zero();
        let factors: Vec<BigInt> = (contradiction.iter())
            .map(|(_, _, factor)| factor.numerator() * &denominator / factor.denominator())
            .inspect(|factor| divisor = gcd(&divisor, factor))
            .collect();
        let mut sum = Vec::with_capacity(contradiction.len());
        let mut events = Vec::with_capacity(contradiction.len());
        for ((form, side, _), factor) in contradiction.iter().zip(&factors) {
            if let Some(bound) = self.state.known.get(*form, *side) {
                let literal = Literal {
                    form: *form,
                    side: *side,
                    bound: bound.value,
                };
                sum.push((self.store.atom(literal), (factor / &divisor).to_string()));
                events.push(bound.event);
            }
        }
        Outcome::Unsat(Proof::Sum(sum), self.rests(&events))
    }

    /// The cases and given formulas that events were concluded from.
    fn rests(&self, events: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.state.events.len()];
        let mut open = events.to_vec();
        let mut rests = Vec::new();
        while let Some(event) = open.pop() {
            if std::mem::replace(&mut seen[event as usize], true) {
                continue;
            }
            match self.state.events[event as usize].reason {
                Reason::Given(_) | Reason::Case => rests.push(event),
                Reason::Concluded(start, end) => {
                    open.extend(&self.state.causes[start as usize..end as usize]);
                }
            }
        }
        rests.sort_unstable();
        rests
    }
}

/// What to do next.
enum Choice {
    /// The values satisfy everything.
    Done,
    /// Try an inequality of a disjunction.
    Case(Literal),
    /// Try one that keeps values from lying between integers.
    Integers(Literal),
}

impl Search<'_> {
    fn choose(&mut self) -> Result<Choice, Why> {
        let mut best: Option<(usize, NodeId)> = None;
        for (node, _) in &self.state.disjunctions {
            if self.truth(*node) == Some(true) || self.satisfied(*node) {
                continue;
            }
            let open = self.open(*node);
            if best.is_none_or(|(least, _)| open < least) {
                best = Some((open, *node));
            }
        }
        if let Some((_, node)) = best {
            return match self.pick(node) {
                Some(literal) => Ok(Choice::Case(literal)),
                // Propagation leaves no disjunction without an open inequality.
                None => Err(Why::Form),
            };
        }
        if self.state.simplex.fractional().next().is_none() {
            return Ok(Choice::Done);
        }
        self.between_integers().map(Choice::Integers)
    }

    /// Whether the values make a formula true.
    fn satisfied(&self, node: NodeId) -> bool {
        let truth = self.truth_by(node, &|literal| {
            let value = self.state.simplex.value(literal.form, self.store);
            let breaks = match literal.side {
                Side::Lower => Ordering::Less,
                Side::Upper => Ordering::Greater,
            };
            Some(value.compare(literal.bound) != breaks)
        });
        truth == Some(true)
    }

    /// How many inequalities of a formula are open.
    fn open(&self, node: NodeId) -> usize {
        match self.store.node(node) {
            Node::Atom(literal) => usize::from(self.state.known.truth(*literal).is_none()),
            Node::And(range) | Node::Or(range) => (self.store.members(range).iter())
                .filter(|member| self.truth(**member).is_none())
                .map(|member| self.open(*member))
                .sum(),
        }
    }

    /// An open inequality of an open formula: of the member that has the fewest, so that cases of whole conjunctions are not searched again for each of their members.
    fn pick(&self, node: NodeId) -> Option<Literal> {
        match self.store.node(node) {
            Node::Atom(literal) => Some(*literal),
            Node::And(range) | Node::Or(range) => {
                let members = self.store.members(range).iter();
                let open = members.filter(|member| self.truth(**member).is_none());
                let least = open.min_by_key(|member| self.open(**member))?;
                self.pick(*least)
            }
        }
    }

    /// An inequality such that neither it nor its negation holds for the present values.
    fn between_integers(&mut self) -> Result<Literal, Why> {
        if let Some(atom) = self.equation_without_integers() {
            return self.store.literal(&atom);
        }
        let range = |form| {
            let [lower, upper] =
                [Side::Lower, Side::Upper].map(|side| self.state.known.get(form, side));
            match (lower, upper) {
                (Some(lower), Some(upper)) => upper.value.abs_diff(lower.value),
                _ => u64::MAX,
            }
        };
        // If a form is not whole, a variable in it is not, and as columns are, it is a row.
        let fractional = (self.state.simplex.fractional())
            .filter_map(|(form, value, _)| Some((form, self.store.variable(form)?, value)))
            .min_by_key(|(form, ..)| range(*form));
        let Some((_, variable, value)) = fractional else {
            return Err(Why::Form);
        };
        let floor = value.floor().ok_or(Why::Overflow)?;
        let atom = Atom {
            terms: vec![(variable, 1)],
            constant: floor.checked_neg().ok_or(Why::Overflow)?,
        };
        self.store.literal(&atom)
    }

    /// Looks for a row that says: a sum of integers is a fraction. The columns that have one value only are the fraction; the others, with the row's form, are the sum.
    /// The answer is the inequality that the sum is at most the fraction rounded down; the known bounds refute both it and its negation.
    fn equation_without_integers(&self) -> Option<Atom> {
        self.state
            .simplex
            .fractional()
            .find_map(|(form, _, terms)| {
                let free = |column: FormId| {
                    let [lower, upper] = [Side::Lower, Side::Upper]
                        .map(|side| self.state.known.get(column, side).map(|bound| bound.value));
                    lower.is_none() || lower != upper
                };
                let free = || terms.iter().filter(|(column, _)| free(*column));
                let denominator = free().fold(BigInt::one(), |denominator, (_, coefficient)| {
                    lcm(&denominator, &coefficient.denominator())
                });
                let factor = Rational::from(i64::try_from(denominator).ok()?);
                let mut sum: Vec<(Variable, i64)> = Vec::new();
                let mut include = |form: FormId, times: &Rational| {
                    for (variable, coefficient) in self.store.terms(form) {
                        let coefficient = Rational::from(*coefficient).times(times);
                        match coefficient {
                            Rational::Small(coefficient, 1) => sum.push((*variable, coefficient)),
                            _ => return None,
                        }
                    }
                    Some(())
                };
                include(form, &factor)?;
                for (column, coefficient) in free() {
                    include(*column, &coefficient.times(&factor).negated())?;
                }
                let sum = Atom::at_most_zero(sum, 0).ok()?;
                let value = self.sum_value(&sum);
                if value.is_integer() {
                    return None;
                }
                let constant = value.floor()?.checked_neg()?;
                Some(Atom { constant, ..sum })
            })
    }

    /// The present value of the terms of an inequality.
    fn sum_value(&self, atom: &Atom) -> Rational {
        let mut sum = Rational::ZERO;
        for (variable, coefficient) in &atom.terms {
            if let Some(form) = self.store.find_variable(*variable) {
                let value = self.state.simplex.value(form, self.store);
                sum = sum.plus(&Rational::from(*coefficient).times(&value));
            }
        }
        sum
    }

    fn model(&self) -> Outcome {
        let mut values = Vec::new();
        for (variable, form) in self.store.variables() {
            let value = self.state.simplex.value(form, self.store);
            let Some(value) = value.floor() else {
                return Outcome::Unknown(Why::Overflow);
            };
            values.push((variable, value));
        }
        values.sort_unstable();
        Outcome::Sat(Model { values })
    }
}

fn gcd(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a.clone(), b.clone());
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

fn lcm(a: &BigInt, b: &BigInt) -> BigInt {
    a / gcd(a, b) * b
}
