//! Temporal formulas and fairness of an instance: quantifiers unfolded, few operators left.
//!
//! A formula speaks of runs without end. In every step one process is scheduled. It moves, or rests (`stay`), or, if it has no step at all, does
//! nothing: that is a step, too, after which the state is as before. A step that fails a check ends a run, and of runs that end nothing is
//! said. [`Formula`] is generic in what stands at its leaves: an expression of the source ([`Atom`]), for the interpreter, or a
//! lowered one, for engines.

use threadwise_lang::program::{
    BoundId, Domain, Expr, FairnessId, FairnessTerm, LocationId, Ltl, Span,
};

use crate::instance::Instance;
use crate::state::ProcessRef;
use crate::system;

/// The greatest number of nodes of an unfolded formula, or of terms of unfolded fairness.
pub const MAX_NODES: usize = 1 << 18;
/// The greatest number of alternatives that fairness may come down to.
pub const MAX_ALTERNATIVES: usize = 64;

/// A formula that grows too large when its quantifiers are unfolded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Where it stands.
    pub span: Span,
}

/// A temporal formula in few operators: `F f` is `true U f`, `G f` is `false R f`, and `f W g` is `g R (f || g)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula<A> {
    /// A predicate.
    Atom(A),
    /// Negation.
    Not(Box<Formula<A>>),
    /// Conjunction; empty is true.
    And(Vec<Formula<A>>),
    /// Disjunction; empty is false.
    Or(Vec<Formula<A>>),
    /// In the next state.
    Next(Box<Formula<A>>),
    /// The second comes, and until then the first holds.
    Until(Box<Formula<A>>, Box<Formula<A>>),
    /// The second holds up to and including when the first comes, which it need not.
    Release(Box<Formula<A>>, Box<Formula<A>>),
}

impl<A> Formula<A> {
    /// What is always true.
    pub const TRUE: Formula<A> = Formula::And(Vec::new());
    /// What is never true.
    pub const FALSE: Formula<A> = Formula::Or(Vec::new());

    /// Always.
    pub fn always(self) -> Formula<A> {
        Formula::Release(Box::new(Formula::FALSE), Box::new(self))
    }

    /// Some time.
    pub fn eventually(self) -> Formula<A> {
        Formula::Until(Box::new(Formula::TRUE), Box::new(self))
    }

    /// The same formula with other leaves.
    pub fn try_map<B, E>(&self, leaf: &mut dyn FnMut(&A) -> Result<B, E>) -> Result<Formula<B>, E> {
        let mut list = |parts: &[Formula<A>]| -> Result<Vec<Formula<B>>, E> {
            parts.iter().map(|part| part.try_map(leaf)).collect()
        };
        Ok(match self {
            Formula::Atom(atom) => Formula::Atom(leaf(atom)?),
            Formula::Not(f) => Formula::Not(Box::new(f.try_map(leaf)?)),
            Formula::And(parts) => Formula::And(list(parts)?),
            Formula::Or(parts) => Formula::Or(list(parts)?),
            Formula::Next(f) => Formula::Next(Box::new(f.try_map(leaf)?)),
            Formula::Until(f, g) => {
                Formula::Until(Box::new(f.try_map(leaf)?), Box::new(g.try_map(leaf)?))
            }
            Formula::Release(f, g) => {
                Formula::Release(Box::new(f.try_map(leaf)?), Box::new(g.try_map(leaf)?))
            }
        })
    }

    /// Visits the leaves from left to right.
    pub fn for_atoms<'a>(&'a self, visit: &mut dyn FnMut(&'a A)) {
        match self {
            Formula::Atom(atom) => visit(atom),
            Formula::Not(f) | Formula::Next(f) => f.for_atoms(visit),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| part.for_atoms(visit));
            }
            Formula::Until(f, g) | Formula::Release(f, g) => {
                f.for_atoms(visit);
                g.for_atoms(visit);
            }
        }
    }

    /// The formulas that hold together exactly if this one does, as far as conjunctions stand at the top or under
    /// `G` there. Each can be decided by itself.
    pub fn conjuncts(&self) -> Vec<Formula<A>>
    where
        A: Clone,
    {
        match self {
            Formula::And(parts) => parts.iter().flat_map(Formula::conjuncts).collect(),
            Formula::Release(never, f) if matches!(&**never, Formula::Or(none) if none.is_empty()) => {
                f.conjuncts().into_iter().map(Formula::always).collect()
            }
            f => vec![f.clone()],
        }
    }

    /// What a formula of the form `G (f -> g)` waits for: `f`. If that never happens, the formula says nothing.
    pub fn trigger(&self) -> Option<&Formula<A>> {
        let Formula::Release(never, body) = self else {
            return None;
        };
        match (&**never, &**body) {
            (Formula::Or(none), Formula::Or(parts)) if none.is_empty() => match parts.as_slice() {
                [Formula::Not(f), _, ..] => Some(f),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the formula holds at the beginning of a run without end: `positions` states, after the last of which it goes
    /// on as from position `loop_from`, which must be one of them. This *is* the meaning of formulas.
    pub fn holds(
        &self,
        positions: usize,
        loop_from: usize,
        atom: &mut dyn FnMut(&A, usize) -> bool,
    ) -> bool {
        let values = self.values(positions, loop_from, atom);
        values.first().copied().unwrap_or(false)
    }

    /// Whether the formula holds at each position of such a run.
    pub fn values(
        &self,
        positions: usize,
        loop_from: usize,
        atom: &mut dyn FnMut(&A, usize) -> bool,
    ) -> Vec<bool> {
        let next = |at: usize| {
            if at + 1 == positions {
                loop_from
            } else {
                at + 1
            }
        };
        // A fixpoint along the run: once round the loop for what is not known, and once more for what that says.
        let fixpoint = |mut values: Vec<bool>, step: &dyn Fn(usize, bool) -> bool| {
            for _ in 0..2 {
                for at in (0..positions).rev() {
                    values[at] = step(at, values[next(at)]);
                }
            }
            values
        };
        match self {
            Formula::Atom(a) => (0..positions).map(|at| atom(a, at)).collect(),
            Formula::Not(f) => {
                let values = f.values(positions, loop_from, atom);
                values.into_iter().map(|value| !value).collect()
            }
            Formula::And(parts) => {
                let mut all = vec![true; positions];
                for part in parts {
                    let values = part.values(positions, loop_from, atom);
                    all.iter_mut()
                        .zip(values)
                        .for_each(|(all, one)| *all &= one);
                }
                all
            }
            Formula::Or(parts) => {
                let mut any = vec![false; positions];
                for part in parts {
                    let values = part.values(positions, loop_from, atom);
                    any.iter_mut()
                        .zip(values)
                        .for_each(|(any, one)| *any |= one);
                }
                any
            }
            Formula::Next(f) => {
                let values = f.values(positions, loop_from, atom);
                (0..positions).map(|at| values[next(at)]).collect()
            }
            Formula::Until(f, g) => {
                let f = f.values(positions, loop_from, atom);
                let g = g.values(positions, loop_from, atom);
                fixpoint(vec![false; positions], &|at, then| g[at] || (f[at] && then))
            }
            Formula::Release(f, g) => {
                let f = f.values(positions, loop_from, atom);
                let g = g.values(positions, loop_from, atom);
                fixpoint(vec![true; positions], &|at, then| g[at] && (f[at] || then))
            }
        }
    }
}

/// An assumption about the runs that are spoken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness<A> {
    /// The declaration it comes from.
    pub declaration: FairnessId,
    /// What it assumes.
    pub kind: FairnessKind<A>,
}

/// What is assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FairnessKind<A> {
    /// The process is scheduled infinitely often.
    Scheduled(ProcessRef),
    /// This holds infinitely often.
    Weak(A),
    /// If the first holds infinitely often, so does the second.
    Strong(A, A),
}

impl<A> FairnessKind<A> {
    /// Its predicate, or the first of two.
    pub fn first(&self) -> Option<&A> {
        match self {
            FairnessKind::Scheduled(_) => None,
            FairnessKind::Weak(e) | FairnessKind::Strong(e, _) => Some(e),
        }
    }

    /// The second of its predicates.
    pub fn second(&self) -> Option<&A> {
        match self {
            FairnessKind::Scheduled(_) | FairnessKind::Weak(_) => None,
            FairnessKind::Strong(_, q) => Some(q),
        }
    }
}

impl<A> Fairness<A> {
    /// The same assumption in other terms.
    pub fn try_map<B, E>(
        &self,
        leaf: &mut dyn FnMut(&A) -> Result<B, E>,
    ) -> Result<Fairness<B>, E> {
        Ok(Fairness {
            declaration: self.declaration,
            kind: match &self.kind {
                FairnessKind::Scheduled(process) => FairnessKind::Scheduled(*process),
                FairnessKind::Weak(e) => FairnessKind::Weak(leaf(e)?),
                FairnessKind::Strong(p, q) => FairnessKind::Strong(leaf(p)?, leaf(q)?),
            },
        })
    }
}

/// A predicate of the source with values for the variables that quantifiers around it bind.
#[derive(Clone, Debug)]
pub struct Atom<'a> {
    /// The predicate.
    pub expr: &'a Expr,
    /// The values, outermost first.
    pub bindings: Vec<(BoundId, i64)>,
}

/// A liveness property of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// The names of the program's fairness declarations, by their ids.
    pub declarations: Vec<String>,
    /// What `taken` asks about. In the predicates of this property, `Expr::Choice(k)` is 1 after a step of
    /// the k-th of these, and 0 otherwise.
    pub taken: Vec<Taken>,
    /// What must hold of every run that is fair.
    pub formula: Formula<system::Expr>,
    /// A run is fair if all assumptions of one of these alternatives are met. There is at least one.
    pub fairness: Vec<Vec<Fairness<system::Expr>>>,
}

/// A step of a process from a label. Resting, and doing nothing for want of a step, are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// Whose.
    pub process: ProcessRef,
    /// From where.
    pub location: LocationId,
}

/// A formula of the source with its quantifiers unfolded; `span` is the property's.
pub fn unfold<'a>(
    instance: &Instance,
    formula: &'a Ltl,
    span: Span,
) -> Result<Formula<Atom<'a>>, TooLarge> {
    let mut unfolder = Unfolder {
        instance,
        span,
        left: MAX_NODES,
        bindings: Vec::new(),
    };
    unfolder.formula(formula)
}

struct Unfolder<'i> {
    instance: &'i Instance,
    span: Span,
    left: usize,
    bindings: Vec<(BoundId, i64)>,
}

impl Unfolder<'_> {
    fn formula<'a>(&mut self, formula: &'a Ltl) -> Result<Formula<Atom<'a>>, TooLarge> {
        self.left = self
            .left
            .checked_sub(1 + self.bindings.len())
            .ok_or(TooLarge { span: self.span })?;
        Ok(match formula {
            Ltl::State(expr) => Formula::Atom(Atom {
                expr,
                bindings: self.bindings.clone(),
            }),
            Ltl::Not(f) => Formula::Not(Box::new(self.formula(f)?)),
            Ltl::And(parts) => Formula::And(self.all(parts)?),
            Ltl::Or(parts) => Formula::Or(self.all(parts)?),
            Ltl::Implies(f, g) => {
                let not = Formula::Not(Box::new(self.formula(f)?));
                Formula::Or(vec![not, self.formula(g)?])
            }
            Ltl::Iff(f, g) => {
                let (f, g) = (self.formula(f)?, self.formula(g)?);
                let not = |f: &Formula<Atom<'a>>| Formula::Not(Box::new(f.clone()));
                // Both are copied, and what is inside of them was paid for once.
                self.left = self
                    .left
                    .checked_sub(size(&f) + size(&g))
                    .ok_or(TooLarge { span: self.span })?;
                Formula::And(vec![
                    Formula::Or(vec![not(&f), g.clone()]),
                    Formula::Or(vec![f.clone(), not(&g)]),
                ])
            }
            Ltl::Globally(f) => self.formula(f)?.always(),
            Ltl::Finally(f) => self.formula(f)?.eventually(),
            Ltl::Next(f) => Formula::Next(Box::new(self.formula(f)?)),
            Ltl::Until(f, g) => {
                Formula::Until(Box::new(self.formula(f)?), Box::new(self.formula(g)?))
            }
            Ltl::Release(f, g) => {
                Formula::Release(Box::new(self.formula(f)?), Box::new(self.formula(g)?))
            }
            Ltl::WeakUntil(f, g) => {
                let (f, g) = (self.formula(f)?, self.formula(g)?);
                self.left = self
                    .left
                    .checked_sub(size(&g))
                    .ok_or(TooLarge { span: self.span })?;
                Formula::Release(Box::new(g.clone()), Box::new(Formula::Or(vec![f, g])))
            }
            Ltl::Quantified {
                forall,
                var,
                domain,
                body,
            } => {
                let mut parts = Vec::new();
                let (lo, hi) = self.instance.domain_bounds(domain);
                for value in lo..=hi {
                    self.bindings.push((*var, value));
                    let part = self.formula(body);
                    self.bindings.pop();
                    parts.push(part?);
                }
                match forall {
                    true => Formula::And(parts),
                    false => Formula::Or(parts),
                }
            }
        })
    }

    fn all<'a>(&mut self, parts: &'a [Ltl]) -> Result<Vec<Formula<Atom<'a>>>, TooLarge> {
        parts.iter().map(|part| self.formula(part)).collect()
    }
}

fn size<A>(formula: &Formula<A>) -> usize {
    match formula {
        Formula::Atom(_) => 1,
        Formula::Not(f) | Formula::Next(f) => 1 + size(f),
        Formula::And(parts) | Formula::Or(parts) => 1 + parts.iter().map(size).sum::<usize>(),
        Formula::Until(f, g) | Formula::Release(f, g) => 1 + size(f) + size(g),
    }
}

/// The fairness that some declarations assume together, as alternatives with their quantifiers unfolded; `span` is
/// that of the property that assumes them.
pub fn unfold_fairness<'a>(
    instance: &'a Instance,
    under: &[FairnessId],
    span: Span,
) -> Result<Vec<Vec<Fairness<Atom<'a>>>>, TooLarge> {
    let mut all: Vec<Vec<Fairness<Atom<'a>>>> = vec![Vec::new()];
    for id in under {
        let mut alternatives = Vec::new();
        for list in &instance.program().fairness[*id].alternatives {
            let mut terms = Vec::new();
            for term in list {
                unfold_term(instance, *id, term, &mut terms, span)?;
            }
            alternatives.push(terms);
        }
        let mut combined = Vec::new();
        for before in &all {
            for alternative in &alternatives {
                combined.push([before.as_slice(), alternative].concat());
            }
        }
        let terms: usize = combined.iter().map(Vec::len).sum();
        if combined.len() > MAX_ALTERNATIVES || terms > MAX_NODES {
            return Err(TooLarge { span });
        }
        all = combined;
    }
    Ok(all)
}

fn unfold_term<'a>(
    instance: &'a Instance,
    declaration: FairnessId,
    term: &'a FairnessTerm,
    terms: &mut Vec<Fairness<Atom<'a>>>,
    span: Span,
) -> Result<(), TooLarge> {
    let binders: &[(BoundId, Domain)] = match term {
        FairnessTerm::Unconditional => {
            let program = instance.program();
            for template in program.templates.indices() {
                for index in 0..instance.count(template) {
                    let process = ProcessRef { template, index };
                    terms.push(Fairness {
                        declaration,
                        kind: FairnessKind::Scheduled(process),
                    });
                }
            }
            return Ok(());
        }
        FairnessTerm::Weak(binders, _) | FairnessTerm::Strong(binders, ..) => binders,
    };
    let mut valuations: Vec<Vec<(BoundId, i64)>> = vec![Vec::new()];
    for (var, domain) in binders {
        let (lo, hi) = instance.domain_bounds(domain);
        let mut longer = Vec::new();
        for valuation in &valuations {
            for value in lo..=hi {
                longer.push([valuation.as_slice(), &[(*var, value)]].concat());
                if longer.len() > MAX_NODES {
                    return Err(TooLarge { span });
                }
            }
        }
        valuations = longer;
    }
    for bindings in valuations {
        let atom = |expr: &'a Expr| Atom {
            expr,
            bindings: bindings.clone(),
        };
        terms.push(Fairness {
            declaration,
            kind: match term {
                FairnessTerm::Unconditional => return Ok(()),
                FairnessTerm::Weak(_, e) => FairnessKind::Weak(atom(e)),
                FairnessTerm::Strong(_, p, q) => FairnessKind::Strong(atom(p), atom(q)),
            },
        });
    }
    Ok(())
}
