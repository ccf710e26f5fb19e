//! A liveness property as the source has it, with its predicates for the interpreter.
//!
//! The property holds if no fair run violates one of its conjuncts, and no fair run has a state in which evaluating one of its predicates fails. A certificate has proofs of all conjuncts of
//! the *lowered* formula. That is the source's formula with lowered predicates, and perhaps one more conjunct, that no check ever fails in the predicates. The lowered
//! formula says how the conjuncts are numbered, and which predicates are the same; the source says what is true of them. Predicates that the lowered formula
//! takes for the same must be so in every state where they are asked for, and where the lowered formula has no conjunct about checks, none may fail in any state.

use std::collections::{BTreeSet, HashMap};

use threadwise_lang::program::{DefId, Expr, ExprKind, FairnessId, Ltl, Program, Span};
use threadwise_model::instance::Instance;
use threadwise_model::system;
use threadwise_model::temporal::{self, Atom, Fairness, Formula, Liveness, Taken, TooLarge};

use crate::Error;
use crate::space::{Last, Space, StateId};

/// A liveness property.
pub(crate) struct Meaning<'a> {
    pub(super) conjuncts: Vec<Conjunct<'a>>,
    pub(super) fairness: Vec<Vec<Fairness<Atom<'a>>>>,
    /// The steps that states of the product tell apart.
    pub(super) taken: Vec<Taken>,
    /// Whether anything depends on the step that was taken last.
    pub(super) asks: bool,
    /// Whether a conjunct says that no predicate fails.
    pub(super) defined: bool,
}

/// A conjunct, its predicates by number.
pub(super) struct Conjunct<'a> {
    pub(super) formula: Formula<usize>,
    pub(super) predicates: Vec<Predicate<'a>>,
}

/// A predicate of a conjunct.
pub(super) enum Predicate<'a> {
    /// These, which are the same.
    Same(Vec<Atom<'a>>),
    /// That none of these fails.
    Defined(Vec<Atom<'a>>),
}

impl<'a> Meaning<'a> {
    /// A property with this formula under this fairness, which stands there in the source.
    pub(crate) fn new(
        instance: &'a Instance,
        (formula, under, span): (&'a Ltl, &[FairnessId], Span),
        lowered: &Liveness,
    ) -> Result<Meaning<'a>, Error> {
        let large = |_: TooLarge| Error::unsupported("the property is too large to go through");
        let formula = temporal::unfold(instance, formula, span).map_err(large)?;
        let fairness = temporal::unfold_fairness(instance, under, span).map_err(large)?;
        let own = formula.conjuncts();
        let theirs = lowered.formula.conjuncts();
        let mut conjuncts = Vec::with_capacity(theirs.len());
        for (own, theirs) in own.iter().zip(&theirs) {
            conjuncts.push(Conjunct::new(own, theirs)?);
        }
        let mut all = Vec::new();
        formula.for_atoms(&mut |atom| all.push(atom.clone()));
        let terms = fairness.iter().flatten();
        let of_terms = terms.flat_map(|term| [term.kind.first(), term.kind.second()]);
        let exprs: Vec<&Expr> = all
            .iter()
            .chain(of_terms.flatten())
            .map(|atom| atom.expr)
            .collect();
        let seen = &mut BTreeSet::new();
        let asks = exprs
            .into_iter()
            .any(|expr| asks(instance.program(), seen, expr));
        let defined = theirs.len() == own.len() + 1;
        if defined {
            conjuncts.push(Conjunct {
                formula: Formula::Atom(0).always(),
                predicates: vec![Predicate::Defined(all)],
            });
        }
        if conjuncts.len() != theirs.len() || fairness.len() != lowered.fairness.len() {
            return Err(unlike());
        }
        Ok(Meaning {
            conjuncts,
            fairness,
            taken: lowered.taken.clone(),
            asks,
            defined,
        })
    }

    /// What `$last` is after a step.
    pub(super) fn last(&self, step: Last) -> usize {
        let is = |taken: &Taken| Some((taken.process, taken.location)) == step;
        self.taken.iter().position(is).map_or(0, |at| at + 1)
    }

    /// The step that a value of `$last` stands for.
    pub(super) fn step(&self, last: usize) -> Last {
        let taken = self.taken.get(last.wrapping_sub(1))?;
        Some((taken.process, taken.location))
    }
}

fn unlike() -> Error {
    Error::unsupported("the property is not one to go through: its lowered form is another one")
}

impl<'a> Conjunct<'a> {
    fn new(own: &Formula<Atom<'a>>, theirs: &Formula<system::Expr>) -> Result<Conjunct<'a>, Error> {
        let mut atoms: Vec<&system::Expr> = Vec::new();
        theirs.for_atoms(&mut |atom| atoms.push(atom));
        let mut atoms = atoms.into_iter();
        let mut known: HashMap<&system::Expr, usize> = HashMap::new();
        let mut predicates: Vec<Vec<Atom<'a>>> = Vec::new();
        let formula = own.try_map(&mut |atom: &Atom<'a>| {
            let number = *known
                .entry(atoms.next().ok_or_else(unlike)?)
                .or_insert(predicates.len());
            if number == predicates.len() {
                predicates.push(Vec::new());
            }
            predicates[number].push(atom.clone());
            Ok::<usize, Error>(number)
        })?;
        Ok(Conjunct {
            formula,
            predicates: predicates.into_iter().map(Predicate::Same).collect(),
        })
    }
}

impl Predicate<'_> {
    /// Whether the predicate holds in a state.
    pub(super) fn holds(
        &self,
        space: &Space<'_>,
        state: StateId,
        last: Last,
    ) -> Result<bool, Error> {
        match self {
            Predicate::Same(atoms) => {
                let mut agreed = None;
                for atom in atoms {
                    let truth = space.truth(state, last, atom)?.ok_or_else(fails)?;
                    if *agreed.get_or_insert(truth) != truth {
                        return Err(unlike());
                    }
                }
                agreed.ok_or_else(unlike)
            }
            Predicate::Defined(atoms) => {
                for atom in atoms {
                    if space.truth(state, last, atom)?.is_none() {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

fn fails() -> Error {
    Error::unsupported("a predicate of the property fails in a state to go through")
}

/// Whether the value of an expression depends on the step that was taken last. Definitions that were looked into already are known not to ask.
fn asks(program: &Program, seen: &mut BTreeSet<DefId>, expr: &Expr) -> bool {
    let mut found = match &expr.kind {
        ExprKind::Taken { .. } => true,
        ExprKind::Call(def, _) if seen.insert(*def) => {
            asks(program, seen, &program.defs[*def].body)
        }
        _ => false,
    };
    expr.children(&mut |child| found = found || asks(program, seen, child));
    found
}
