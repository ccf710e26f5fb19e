//! The moves of the product of a program and an automaton, as formulas.
//!
//! A move is what a scheduled process does with the program and `$last`; the bits after are free as far as the demands of those before allow.

use threadwise_evidence::dag::Dag;
use threadwise_model::system::{Expr, ProcessId, Step};

use super::shape::Product;
use crate::Error;
use crate::automaton::{Algebra, Satisfied};
use crate::encode::{Encoder, Env, Finite, boolean};
use crate::logic::{Lit, Logic};
use crate::step;
use crate::value::{Value, Writes};

impl<L: Logic> Algebra for L {
    type Value = Lit;

    fn not(&mut self, a: Lit) -> Lit {
        !a
    }

    fn all(&mut self, lits: Vec<Lit>) -> Lit {
        Logic::all(self, lits)
    }

    fn any(&mut self, lits: Vec<Lit>) -> Lit {
        Logic::any(self, lits)
    }
}

impl Product {
    /// Where the predicates of the property stand.
    fn env(&self, encoder: &mut Encoder<'_, impl Logic>) -> Env {
        let values = self.last.map_or_else(Vec::new, |last| {
            let steps = 1..=self.taken.len() as i64;
            let is = steps.map(|step| encoder.cell_is(last, step));
            is.map(boolean).collect()
        });
        Env::new(None, values)
    }

    /// Whether a predicate of the property holds, and whether finding out leaves 64 bits.
    pub(crate) fn predicate(
        &self,
        encoder: &mut Encoder<'_, impl Logic>,
        expr: &Expr,
    ) -> Result<(Lit, Lit), Error> {
        let mut env = self.env(encoder);
        encoder.condition(expr, &mut env)
    }

    /// What of the negated conjunct is satisfied in a state, with the bits in some cells.
    pub(crate) fn satisfied(
        &self,
        encoder: &mut Encoder<'_, impl Logic>,
        bits: std::ops::Range<usize>,
    ) -> Result<Satisfied<Lit>, Error> {
        let mut env = self.env(encoder);
        let mut atoms = Vec::with_capacity(self.automaton.atoms.len());
        for atom in &self.automaton.atoms {
            // That none leaves 64 bits is a condition of its own.
            atoms.push(encoder.condition(atom, &mut env)?.0);
        }
        let bits: Vec<Lit> = bits.map(|bit| encoder.cell_is(bit, 1)).collect();
        Ok(self.automaton.satisfied(&mut encoder.logic, &atoms, &bits))
    }

    /// That a state in which the bits are in the second place meets the demands of the bits before.
    pub(crate) fn demands(&self, encoder: &mut Encoder<'_, impl Logic>) -> Result<Lit, Error> {
        let met = self.satisfied(encoder, self.bits_after())?.demands;
        let mut demands = Vec::with_capacity(met.len());
        for (bit, met) in self.bits().zip(met) {
            let set = encoder.cell_is(bit, 1);
            demands.push(encoder.logic.or(!set, met));
        }
        Ok(encoder.logic.all(demands))
    }

    /// What the processes can do.
    pub(crate) fn moves<'a>(
        &'a self,
        encoder: &mut Encoder<'a, impl Logic>,
    ) -> Result<Vec<Move<'a>>, Error> {
        let mut moves: Vec<Move<'a>> = Vec::new();
        for (mover, steps) in step::movers(&self.system) {
            let process = mover.process;
            let mut add =
                |step: Option<&'a Step>, choices: &[Finite], when: Lit, writes: Writes| {
                    let mut writes = writes;
                    if let Some(last) = self.last {
                        let value = Value::Const(self.last_after(process, step));
                        // It is the last of the cells that a move writes.
                        writes.push((last, value));
                    }
                    if when != Lit::FALSE {
                        moves.push(Move {
                            process,
                            step,
                            choices: choices.to_vec(),
                            when,
                            writes,
                        });
                    }
                };
            let mut idle = Vec::new();
            for step in steps {
                encoder.logic.go_on()?;
                let Some(mut taken) = step::take(encoder, mover, step)? else {
                    continue;
                };
                idle.push(!step::acts(encoder, mover, step, true)?);
                if taken.passes == Lit::FALSE {
                    continue;
                }
                if step.rest {
                    add(Some(step), &taken.choices, taken.passes, Writes::new());
                    continue;
                }
                for case in step::writes(encoder, mover, step, &mut taken)? {
                    let when = encoder.logic.and(taken.passes, case.when);
                    add(Some(step), &taken.choices, when, case.writes);
                }
            }
            let idle = encoder.logic.all(idle);
            add(None, &[], idle, Writes::new());
        }
        encoder.logic.go_on()?;
        Ok(moves)
    }
}

/// What a scheduled process can do.
pub(crate) struct Move<'a> {
    pub(crate) process: ProcessId,
    /// The step that it takes, or rests by; nothing if it does nothing, for want of a step.
    pub(crate) step: Option<&'a Step>,
    pub(crate) choices: Vec<Finite>,
    /// When it can do so.
    pub(crate) when: Lit,
    /// What it writes.
    pub(crate) writes: Writes,
}

/// Where a set of states comes from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// A graph of the certificate, with the cells that its own are.
    Graph(&'a Dag, &'a [usize]),
    /// A predicate of the property.
    Predicate(&'a Expr),
}

/// A set of states of the product.
#[derive(Clone, Copy)]
pub(crate) struct Set<'a> {
    pub(crate) source: Source<'a>,
    /// That the state before is in it.
    pub(crate) lit: Lit,
}

/// Sets of states put together: those that are, for each list, in one of its sets, or outside where that is what it says.
#[derive(Clone)]
pub(crate) struct Region {
    /// Places in the list of all sets, and whether the inside is meant.
    pub(crate) clauses: Vec<Vec<(usize, bool)>>,
    /// That the state before is in it. This may leave out states outside the invariant.
    pub(crate) lit: Lit,
}
