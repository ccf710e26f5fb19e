//! The SAT solver, and gates: formulas as literals.
//!
//! Equal gates are one literal, and constants are folded, so that whoever builds formulas need not
//! think of either. Gates are defined in both directions: a gate's literal *is* its value in every
//! solution. A definition never excludes a solution, since it only fixes the value of a new variable.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use batsat::{Callbacks, ClauseKind, Solver as Batsat, SolverInterface, SolverOpts, lbool};

use crate::Error;
use crate::logic::{Input, Lit, Logic};
use crate::report::Counts;

/// Asks the caller, now and then, whether to go on.
struct Stop<'a> {
    cancel: &'a dyn Fn() -> bool,
    /// Calls until the caller is asked again: the solver asks at every decision.
    left: Cell<u32>,
    stopped: Cell<bool>,
    /// Clauses that the solver learnt: one for each conflict.
    learnt: Cell<u64>,
}

/// How many conflicts the solver may meet. It is a bound on effort that no clock decides, so that the answer
/// is the same every time.
pub(crate) const MOST_CONFLICTS: u64 = 1_000_000;

/// How many calls of the hook, or new clauses, there are between two questions to the caller.
const PATIENCE: u32 = 256;

impl Stop<'_> {
    fn ask(&self) -> bool {
        if !self.stopped.get() {
            let left = self.left.get();
            if left == 0 {
                self.left.set(PATIENCE);
                self.stopped.set((self.cancel)());
            } else {
                self.left.set(left - 1);
            }
        }
        self.stopped.get()
    }
}

impl Callbacks for Stop<'_> {
    fn stop(&self) -> bool {
        self.learnt.get() > MOST_CONFLICTS || self.ask()
    }

    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: ClauseKind) {
        if let ClauseKind::Learnt = kind {
            self.learnt.set(self.learnt.get() + 1);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Ite(Lit, Lit, Lit),
}

/// The solver.
pub(crate) struct Solver<'a> {
    inner: Batsat<Stop<'a>>,
    gates: HashMap<Gate, Lit>,
    wide: HashMap<Box<[Lit]>, Lit>,
    buffer: Vec<batsat::Lit>,
    clauses: u64,
    queries: u64,
}

impl<'a> Solver<'a> {
    pub(crate) fn new(cancel: &'a dyn Fn() -> bool) -> Solver<'a> {
        let stop = Stop {
            cancel,
            left: Cell::new(0),
            stopped: Cell::new(false),
            learnt: Cell::new(0),
        };
        let mut solver = Solver {
            inner: Batsat::new(SolverOpts::default(), stop),
            gates: HashMap::new(),
            wide: HashMap::new(),
            buffer: Vec::new(),
            clauses: 0,
            queries: 0,
        };
        let truth = solver.new_lit();
        debug_assert_eq!(truth, Lit::TRUE);
        solver.clause([truth]);
        solver
    }

    /// A new variable that the solver never guesses: its value follows from those that it guesses, or
    /// does not matter.
    pub(crate) fn new_lit(&mut self) -> Lit {
        Lit(self.inner.new_var(lbool::UNDEF, false).idx() << 1)
    }

    /// A new variable that the solver may guess.
    fn new_input(&mut self) -> Lit {
        Lit(self.inner.new_var_default().idx() << 1)
    }

    fn external(lit: Lit) -> batsat::Lit {
        batsat::Lit::new(batsat::Var::unsafe_from_idx(lit.0 >> 1), lit.0 & 1 == 0)
    }

    /// Adds a clause: one of these literals is true.
    pub(crate) fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        self.buffer.clear();
        for lit in lits {
            match lit {
                Lit::FALSE => {}
                Lit::TRUE if self.clauses > 0 => return,
                lit => self.buffer.push(Self::external(lit)),
            }
        }
        self.clauses += 1;
        self.inner.add_clause_reuse(&mut self.buffer);
    }

    /// Whether there is a solution in which all of these are true.
    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, Error> {
        self.queries += 1;
        if assumptions.contains(&Lit::FALSE) {
            return Ok(false);
        }
        let assumptions: Vec<batsat::Lit> = assumptions
            .iter()
            .filter(|lit| **lit != Lit::TRUE)
            .map(|lit| Self::external(*lit))
            .collect();
        let answer = self.inner.solve_limited(&assumptions);
        if answer == lbool::TRUE {
            Ok(true)
        } else if answer == lbool::FALSE {
            Ok(false)
        } else if self.inner.cb().learnt.get() > MOST_CONFLICTS {
            Err(Error::unsupported(format!(
                "the solver met more than {MOST_CONFLICTS} conflicts"
            )))
        } else {
            Err(Error::Cancelled)
        }
    }
}

impl Logic for Solver<'_> {
    fn input(&mut self, _: Input, size: usize) -> Result<Rc<[Lit]>, Error> {
        let at_most: Rc<[Lit]> = (1..size).map(|_| self.new_input()).collect();
        for pair in at_most.windows(2) {
            self.clause([!pair[0], pair[1]]);
        }
        Ok(at_most)
    }

    fn go_on(&self) -> Result<(), Error> {
        if self.inner.cb().ask() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    fn cases(&mut self, cases: &[(Lit, Vec<Lit>)]) -> Lit {
        let result = self.new_lit();
        for (case, lits) in cases {
            for lit in lits {
                self.clause([!*case, !*lit, result]);
            }
            self.clause(lits.iter().copied().chain([!*case, !result]));
        }
        result
    }

    fn satisfiable(&mut self, all: &[Lit], one_of: &[Lit]) -> Result<bool, Error> {
        let one = self.any(one_of.to_vec());
        let mut assumptions = all.to_vec();
        assumptions.push(one);
        self.solve(&assumptions)
    }

    fn value(&self, lit: Lit) -> bool {
        self.inner.value_lit(Self::external(lit)) == lbool::TRUE
    }

    fn counts(&self) -> Counts {
        Counts {
            questions: self.queries,
            clauses: self.clauses,
            conflicts: self.inner.num_conflicts(),
            visits: 0,
        }
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Lit::TRUE || a == b {
            return b;
        }
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if let Some(lit) = self.gates.get(&Gate::And(a, b)) {
            return *lit;
        }
        let lit = self.new_lit();
        self.clause([!lit, a]);
        self.clause([!lit, b]);
        self.clause([lit, !a, !b]);
        self.gates.insert(Gate::And(a, b), lit);
        lit
    }

    fn all(&mut self, mut lits: Vec<Lit>) -> Lit {
        lits.sort_unstable();
        lits.dedup();
        lits.retain(|lit| *lit != Lit::TRUE);
        // A literal and its negation are neighbours.
        if lits.contains(&Lit::FALSE) || lits.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Lit::FALSE;
        }
        match lits.as_slice() {
            [] => Lit::TRUE,
            [only] => *only,
            [a, b] => self.and(*a, *b),
            _ => {
                if let Some(lit) = self.wide.get(lits.as_slice()) {
                    return *lit;
                }
                let lit = self.new_lit();
                for part in &lits {
                    self.clause([!lit, *part]);
                }
                self.clause(lits.iter().map(|part| !*part).chain([lit]));
                self.wide.insert(lits.into_boxed_slice(), lit);
                lit
            }
        }
    }

    fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        match (condition, yes, no) {
            (Lit::TRUE, _, _) => yes,
            (Lit::FALSE, _, _) => no,
            _ if yes == no => yes,
            (_, Lit::TRUE, _) => self.or(condition, no),
            (_, Lit::FALSE, _) => self.and(!condition, no),
            (_, _, Lit::TRUE) => self.or(!condition, yes),
            (_, _, Lit::FALSE) => self.and(condition, yes),
            _ => {
                let gate = Gate::Ite(condition, yes, no);
                if let Some(lit) = self.gates.get(&gate) {
                    return *lit;
                }
                let lit = self.new_lit();
                self.clause([!condition, !yes, lit]);
                self.clause([!condition, yes, !lit]);
                self.clause([condition, !no, lit]);
                self.clause([condition, no, !lit]);
                self.gates.insert(gate, lit);
                lit
            }
        }
    }
}
