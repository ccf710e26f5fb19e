//! The product of a program and the automaton of a negated conjunct, as cells.
//!
//! A state of the product is a state of the program, the step that led to it as far as the property asks (`$last`), and the automaton's
//! bits (`$0`, `$1`, ...). There is one more cell for each bit: its value in the state after.

use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{Context, Overflow};
use threadwise_model::layout::process_id;
use threadwise_model::system::{
    CellDomain, CellId, CellInitial, Expr, ProcessId, Scope, Step, System, SystemVar,
};
use threadwise_model::temporal::{Formula, Liveness, Taken};

use crate::automaton::Automaton;
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
    pub(super) taken: Vec<(ProcessId, Taken)>,
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

    /// What a step leaves in `$last`.
    pub(crate) fn last_after(&self, process: ProcessId, step: Option<&Step>) -> i64 {
        let step = step.filter(|step| !step.rest);
        let is = |(other, taken): &(ProcessId, Taken)| {
            *other == process && step.is_some_and(|step| step.from == taken.location)
        };
        let found = self.taken.iter().position(is);
        found.map_or(0, |at| at as i64 + 1)
    }
}
