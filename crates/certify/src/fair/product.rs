//! The product of a program and the automaton of a negated conjunct, as cells and moves.
//!
//! A state of the product is a state of the program, the step that led to it as far as the property asks (`$last`), and the automaton's
//! bits (`$0`, `$1`, ...). The checker has one more cell for each bit: its value in the state after. A move is what a scheduled process
//! does with the program and `$last`; the bits after are free as far as the demands of those before allow.

use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{Context, Overflow};
use threadwise_model::layout::process_id;
use threadwise_model::system::{
    CellDomain, CellId, CellInitial, Expr, ProcessId, Scope, Step, System, SystemVar,
};
use threadwise_model::temporal::{Formula, Liveness, Taken};

use crate::automaton::{Automaton, Satisfied};
use crate::encode::{Encoder, Env, Finite, boolean};
use crate::graph::Writes;
use crate::logic::{Lit, Logic};
use crate::step;
use crate::value::Value;
use crate::{Error, fit};

/// How many bits the automaton may have: some work is recursive in them.
const MOST_BITS: usize = 256;

/// The product of a program and an automaton.
pub(crate) struct Product {
    /// The program with the cells of the product. Its steps are those of the program.
    pub(crate) system: System,
    pub(crate) automaton: Automaton<Expr>,
    /// The cells of the program alone come first, and there are so many.
    pub(crate) program: usize,
    /// The cell that says which step led here, if the property asks.
    pub(crate) last: Option<usize>,
    /// The cell of the first bit, and of the first bit in the state after.
    bits: usize,
    after: usize,
    taken: Vec<(ProcessId, Taken)>,
}

impl Product {
    /// The product of a program and the automaton of a formula's negation.
    pub(crate) fn new(
        program: &System,
        liveness: &Liveness,
        conjunct: &Formula<Expr>,
    ) -> Result<Product, Error> {
        let automaton = Automaton::of_negation(conjunct);
        if automaton.bits() > MOST_BITS {
            return Err(Error::unsupported(format!(
                "the automaton of the property has more than {MOST_BITS} bits"
            )));
        }
        for (at, taken) in liveness.taken.iter().enumerate() {
            if liveness.taken[..at].contains(taken) {
                return Err(Error::unsupported(
                    "the property asks for the same steps twice",
                ));
            }
        }
        let mut system = System {
            properties: Vec::new(),
            exceptions: Vec::new(),
            ..program.clone()
        };
        let mut add = |name: String, domain: CellDomain| {
            let first = system.cells;
            system.vars.push(SystemVar {
                name,
                scope: Scope::Shared,
                dims: Vec::new(),
                domain,
                initial: CellInitial::Any,
                first: CellId::from_usize(first),
                len: 1,
                stride: 0,
            });
            system.cells += 1;
            first
        };
        let last = match liveness.taken.len() {
            0 => None,
            steps => Some(add("$last".to_owned(), CellDomain::Range(0, steps as i64))),
        };
        for bit in 0..automaton.bits() {
            add(format!("${bit}"), CellDomain::Bool);
        }
        for bit in 0..automaton.bits() {
            add(format!("${bit}'"), CellDomain::Bool);
        }
        let of_process = |taken: &Taken| (process_id(program, taken.process), *taken);
        Ok(Product {
            program: program.cells,
            last,
            bits: system.cells - 2 * automaton.bits(),
            after: system.cells - automaton.bits(),
            system,
            automaton,
            taken: liveness.taken.iter().map(of_process).collect(),
        })
    }

    /// The cells of the bits.
    pub(crate) fn bits(&self) -> std::ops::Range<usize> {
        self.bits..self.after
    }

    /// The cells of the bits in the state after.
    pub(crate) fn bits_after(&self) -> std::ops::Range<usize> {
        self.after..self.system.cells
    }

    /// For each decision graph the cells that its own are.
    pub(crate) fn cells(&self, dags: &[&Dag]) -> Result<Vec<Vec<usize>>, Error> {
        let cells = fit::cells(&self.system, dags.iter().copied())?;
        for (dag, cells) in dags.iter().zip(&cells) {
            if let Some(at) = cells.iter().position(|cell| *cell >= self.after) {
                let name = &dag.cells()[at];
                return Err(Error::mismatch(format!("the model has no cell `{name}`")));
            }
        }
        Ok(cells)
    }

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

    /// Whether a predicate of the property holds in a state of the product.
    pub(crate) fn holds(&self, expr: &Expr, state: &[i64]) -> Result<bool, Overflow> {
        let last = self.last.map_or(0, |last| state[last]);
        let steps = 1..=self.taken.len() as i64;
        let choices: Vec<i64> = steps.map(|step| i64::from(step == last)).collect();
        let context = Context {
            choices: &choices,
            ..Context::of_state(&self.system, state)
        };
        context.holds(expr)
    }

    /// What of the negated conjunct is satisfied in a state, with the bits in some cells.
    pub(crate) fn satisfied(
        &self,
        encoder: &mut Encoder<'_, impl Logic>,
        bits: std::ops::Range<usize>,
    ) -> Result<Satisfied, Error> {
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

    /// What a step leaves in `$last`.
    pub(crate) fn last_after(&self, process: ProcessId, step: Option<&Step>) -> i64 {
        let step = step.filter(|step| !step.rest);
        let is = |(other, taken): &(ProcessId, Taken)| {
            *other == process && step.is_some_and(|step| step.from == taken.location)
        };
        let found = self.taken.iter().position(is);
        found.map_or(0, |at| at as i64 + 1)
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
