//! The conditions of proofs that no fair run violates a property, and how they are decided.
//!
//! A run that violates a conjunct of the property is a run of the product of the program and the automaton of the negated conjunct
//! (`product`, `automaton`), and if it is fair, it fulfils the automaton's obligations and meets the assumptions of some alternative. A proof deletes
//! states of the product, layer by layer, such that from some time on no such run is in what was deleted. When none is left, there is no such run. Every
//! condition speaks of one step only. All are meant relative to the invariant, whose own conditions are those of any inductive set: all states of
//! runs are in it.
//!
//! Let A be what is not deleted yet: runs are in it from some time on. At first it is the start, in which runs are from the beginning.
//! - *Stuck*: no step leads from W to A. A run that stays in A is in W at most in its beginning, so it is not in W from some time on.
//! - *Unfair*: no step leads from W to A without W, and none within W is what the run must do infinitely often. A run that stays in A and is in W
//!   infinitely often enters W some time and cannot leave it, and then does no more what it must.
//! - *Strong*: no step leads from W to A without W, and the second predicate of an assumption holds nowhere in W. A run that stays in A and is in W
//!   infinitely often stays there, as before; so the second predicate holds finitely often, and by the assumption the first does, too: the states of W
//!   where the first holds are deleted.
//!
//! With a mover, what is to be done infinitely often for the first obligation is a step of that process from a state that fulfils it. A
//! run that fulfils the obligation does so infinitely often with some process scheduled, so proofs for all processes cover all runs.

pub(crate) mod check;
mod claim;
pub(crate) mod each;
mod judge;
pub(crate) mod meaning;
mod product;
mod shape;
mod solver;
mod symmetric;
mod walk;
