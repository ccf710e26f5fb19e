//! The program together with the automaton of a negated property.
//!
//! The product is a system with more shared cells: a bit for each promise of the automaton, and, if the property asks what was `taken`,
//! which of those steps was the last. The bits are no part of the program's steps. A step of the product is one of the program, after
//! which the promises that were made before it must be kept: on sets this is one operation for the steps of all processes, so
//! images are those of the program, before or after it.

use std::rc::Rc;

use index_vec::IndexVec;
use threadwise_engine::State;
use threadwise_lang::program::CompareOp;
use threadwise_model::eval::{self, Outcome};
use threadwise_model::partial::choose;
use threadwise_model::system::{
    CellDomain, CellId, CellInitial, Expr, Place, ProcessId, Scope, System, SystemVar, Update,
    VarId,
};
use threadwise_model::tableau::{Tableau, Truth};
use threadwise_model::temporal::{Formula, Liveness};
use threadwise_symbolic::{Bdd, Diagrams, Halt, Hidden, Renaming, Symbolic, Transition};

/// A system with room for the state of an automaton.
pub(crate) struct Extended {
    /// The system.
    pub(crate) system: System,
    /// How many of its cells are the program's; they come first.
    pub(crate) program_cells: usize,
    /// Which of the steps that the property asks about was the last; 0 if none of them.
    pub(crate) last: Option<CellId>,
    last_var: Option<VarId>,
    /// The bits of the automaton.
    pub(crate) bits: Vec<CellId>,
    /// The automaton, with predicates over the system.
    pub(crate) tableau: Tableau<Expr>,
}

impl Extended {
    /// The system for the automaton of the negation of one conjunct of a property.
    pub(crate) fn new(system: &System, liveness: &Liveness, conjunct: &Formula<Expr>) -> Self {
        let mut extended = system.clone();
        extended.properties.clear();
        extended.exceptions.clear();
        let program_cells = system.cells;
        let last = (!liveness.taken.is_empty()).then(|| {
            let count = liveness.taken.len() as i64;
            let initial = CellInitial::Value(Expr::Const(0));
            add(&mut extended, "$last", CellDomain::Range(0, count), initial)
        });
        if let Some(last) = last {
            for (id, template) in extended.templates.iter_mut_enumerated() {
                for (location, steps) in template.steps.iter_mut_enumerated() {
                    let mut number = Expr::Const(0);
                    for (place, taken) in liveness.taken.iter().enumerate() {
                        if taken.process.template == id && taken.location == location {
                            let index = Expr::Const(i64::from(taken.process.index));
                            number = Expr::Ite(
                                Box::new(equal(Expr::Own, index)),
                                Box::new(Expr::Const(place as i64 + 1)),
                                Box::new(number),
                            );
                        }
                    }
                    for step in steps.iter_mut().filter(|step| !step.rest) {
                        step.updates.push(Update {
                            cell: shared(last),
                            value: number.clone(),
                        });
                    }
                }
            }
        }
        let predicate =
            |expr: &Expr| -> Result<Expr, std::convert::Infallible> { Ok(over(expr, last)) };
        let Ok(conjunct) = conjunct.try_map(&mut { predicate });
        let tableau = Tableau::of_negation(&conjunct);
        let bits: Vec<VarId> = (0..tableau.bits.len())
            .map(|bit| {
                let name = format!("${bit}");
                add(&mut extended, &name, CellDomain::Bool, CellInitial::Any)
            })
            .collect();
        Extended {
            last: last.map(|last| extended.vars[last].first),
            last_var: last,
            bits: bits.iter().map(|bit| extended.vars[*bit].first).collect(),
            system: extended,
            program_cells,
            tableau,
        }
    }

    /// A predicate of the property over the system.
    pub(crate) fn predicate(&self, expr: &Expr) -> Expr {
        over(expr, self.last_var)
    }
}

/// A predicate with the last step in place of what was `taken`.
fn over(expr: &Expr, last: Option<VarId>) -> Expr {
    choose(expr, &mut |number| match last {
        Some(last) => {
            let last = Expr::Load(Box::new(shared(last)));
            equal(last, Expr::Const(i64::from(number) + 1))
        }
        None => Expr::Const(0),
    })
}

fn add(system: &mut System, name: &str, domain: CellDomain, initial: CellInitial) -> VarId {
    let first = CellId::new(system.cells);
    system.cells += 1;
    system.vars.push(SystemVar {
        name: name.to_owned(),
        scope: Scope::Shared,
        dims: Vec::new(),
        domain,
        initial,
        first,
        len: 1,
        stride: 0,
    })
}

fn shared(var: VarId) -> Place {
    Place {
        var,
        process: None,
        offset: None,
    }
}

fn equal(a: Expr, b: Expr) -> Expr {
    Expr::Compare(CompareOp::Eq, Box::new(a), Box::new(b))
}

/// A transition system: the whole product, or what one process sees of it.
pub(crate) struct Graph {
    /// What the steps of each process can do that changes something.
    pub(crate) moves: IndexVec<ProcessId, Vec<Transition>>,
    /// Where each process can be scheduled and nothing changes.
    pub(crate) still: IndexVec<ProcessId, Bdd>,
    /// Where it begins.
    pub(crate) initial: Bdd,
    /// The variables that are seen of a state.
    pub(crate) seen: Vec<u32>,
    /// The automaton on what is seen.
    pub(crate) promises: Promises,
}

/// What an automaton demands, on the predicates as one process sees them.
#[derive(Clone)]
pub(crate) struct Promises {
    /// The demands: bits before, and the state and the twins of the bits after.
    demand: Bdd,
    /// The bits.
    bits: Bdd,
    /// Their twins.
    twins: Bdd,
    back: Rc<Renaming>,
    forth: Rc<Renaming>,
    /// Where the negated conjunct holds.
    pub(crate) root: Bdd,
    /// Where each obligation is not put off.
    pub(crate) fulfilled: Vec<Bdd>,
    /// Where the codes of the last step stand for something.
    valid: Bdd,
    /// The last step, to be forgotten, and that it was none of those asked about.
    last: Option<Rc<(Hidden, Bdd)>>,
}

impl Promises {
    /// The demands of an automaton; `literal` says where a predicate, or its negation, holds.
    pub(crate) fn new(
        extended: &Extended,
        symbolic: &Symbolic,
        literal: &mut dyn FnMut(&Expr, bool) -> Result<Bdd, Halt>,
    ) -> Result<Self, Halt> {
        let d = &symbolic.diagrams;
        let vars: Vec<u32> = symbolic.encoding.vars_of(&extended.bits, false);
        let twin_vars: Vec<u32> = vars.iter().map(|var| var + 1).collect();
        let forth = d.renaming(&vars, &twin_vars)?;
        let mut sets = Sets {
            d,
            bits: &vars,
            literal,
        };
        let tableau = &extended.tableau;
        let values = tableau.values(&mut sets)?;
        let root = tableau.start(&values, &mut sets)?;
        let demands = tableau.demands(&values, &mut sets)?;
        let mut demand = d.all();
        for (var, kept) in vars.iter().zip(&demands) {
            let kept = d.rename(kept, &forth)?;
            let free = d.literal(*var, false)?;
            demand = d.and(&demand, &d.or(&free, &kept)?)?;
        }
        let fulfilled = tableau.obligations().into_iter();
        let fulfilled = fulfilled.map(|bit| d.literal(vars[bit], false));
        let valid = match extended.last {
            Some(cell) => symbolic.encoding.valid_cell(d, cell)?,
            None => d.all(),
        };
        let last = match extended.last {
            Some(cell) => {
                let none = symbolic.encoding.cells[cell].code(0);
                let none = match none {
                    Some(code) => symbolic.encoding.code(d, cell, code, false)?,
                    None => d.none(),
                };
                let vars = symbolic.encoding.cells[cell].vars(false);
                Some(Rc::new((Hidden::new(d, vars)?, none)))
            }
            None => None,
        };
        Ok(Promises {
            demand,
            bits: d.cube(&vars)?,
            twins: d.cube(&twin_vars)?,
            back: Rc::new(d.renaming(&twin_vars, &vars)?),
            forth: Rc::new(forth),
            root,
            fulfilled: fulfilled.collect::<Result<_, _>>()?,
            valid,
            last,
        })
    }

    /// The states after a step, given a set in which the program has taken it already and the bits are those before: with all bits that
    /// keep to what was promised.
    pub(crate) fn keep(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Halt> {
        let after = d.and_exists(set, &self.demand, &self.bits)?;
        Ok(d.rename(&after, &self.back)?)
    }

    /// The reverse: with the bits before the step.
    fn unkeep(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Halt> {
        let after = d.rename(set, &self.forth)?;
        Ok(d.and_exists(&after, &self.demand, &self.twins)?)
    }

    /// A set after a step that changes nothing of the program.
    fn idle(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Halt> {
        match self.last.as_deref() {
            Some((last, none)) => Ok(d.and(&last.forget(d, set)?, none)?),
            None => Ok(set.clone()),
        }
    }

    /// The reverse.
    pub(crate) fn unidle(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Halt> {
        match self.last.as_deref() {
            Some((last, none)) => last.forget_and(d, set, none).map_err(Halt::from),
            None => Ok(set.clone()),
        }
    }
}

impl Graph {
    /// What is reached from a set by one step of a process.
    pub(crate) fn post(&self, d: &Diagrams, process: ProcessId, set: &Bdd) -> Result<Bdd, Halt> {
        let still = d.and(set, &self.still[process])?;
        let mut after = self.promises.idle(d, &still)?;
        for transition in &self.moves[process] {
            after = d.or(&after, &transition.post(d, set)?)?;
        }
        self.promises.keep(d, &after)
    }

    /// The variables that a process changes when it is scheduled, but for the bits of the automaton.
    pub(crate) fn written(&self, d: &Diagrams, process: ProcessId) -> Result<Bdd, Halt> {
        let moves = self.moves[process].iter();
        let mut vars: Vec<u32> = moves.flat_map(Transition::written).copied().collect();
        if let Some((last, _)) = self.promises.last.as_deref() {
            vars.extend(last.vars());
        }
        Ok(d.cube(&vars)?)
    }

    /// The set with the bits as they were before a step: what is the same in the preimages by all processes.
    pub(crate) fn promised(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Halt> {
        self.promises.unkeep(d, set)
    }

    /// Whether a step of a process leads from a set into another one, given with the bits as they were before.
    pub(crate) fn leads(
        &self,
        d: &Diagrams,
        process: ProcessId,
        from: &Bdd,
        promised: &Bdd,
    ) -> Result<bool, Halt> {
        let resting = d.and(from, &self.promises.unidle(d, promised)?)?;
        if !d.is_empty(&d.and(&resting, &self.still[process])?) {
            return Ok(true);
        }
        for transition in &self.moves[process] {
            if !d.is_empty(&d.and(&transition.post(d, from)?, promised)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The states of a set from which no step of a process leads into another one, given with the bits as they were before.
    pub(crate) fn leading_nowhere(
        &self,
        d: &Diagrams,
        process: ProcessId,
        from: &Bdd,
        promised: &Bdd,
    ) -> Result<Bdd, Halt> {
        let resting = d.and(&self.promises.unidle(d, promised)?, &self.still[process])?;
        let mut nowhere = d.minus(from, &resting)?;
        for transition in &self.moves[process] {
            let leading = transition.pre_within(d, promised, &nowhere)?;
            nowhere = d.minus(&nowhere, &leading)?;
        }
        Ok(nowhere)
    }

    /// The preimage of such a set by the program's steps of a process.
    pub(crate) fn before(&self, d: &Diagrams, process: ProcessId, set: &Bdd) -> Result<Bdd, Halt> {
        let mut before = d.and(&self.promises.unidle(d, set)?, &self.still[process])?;
        for transition in &self.moves[process] {
            before = d.or(&before, &transition.pre(d, set)?)?;
        }
        Ok(before)
    }
}

/// Sets between which there is one that contains the initial states and that no step leads out of.
pub(crate) struct Bounds {
    /// Where the program can be, with the automaton at its beginning.
    pub(crate) least: Bdd,
    /// The same with the automaton in whatever it could do if the program took any steps.
    pub(crate) most: Bdd,
    /// From all other states, steps lead into the least.
    pub(crate) leaving: Bdd,
}

impl Graph {
    /// Bounds of a set that contains the initial states and that no step leads out of, quick to compute. `program` is such a set of the
    /// program. What is not known of the last step is left open.
    pub(crate) fn start(&self, d: &Diagrams, program: &Bdd) -> Result<Bounds, Halt> {
        let bits = d.support(&self.promises.bits);
        let others: Vec<u32> = self
            .seen
            .iter()
            .copied()
            .filter(|var| !bits.contains(var))
            .collect();
        let others = Hidden::new(d, others)?;
        let program = match self.promises.last.as_deref() {
            Some((last, _)) => d.and(&last.forget(d, program)?, &self.promises.valid)?,
            None => program.clone(),
        };
        let least = d.and(&self.promises.root, &program)?;
        let mut promised = others.forget(d, &least)?;
        let most = loop {
            let after = d.and(&self.promises.keep(d, &promised)?, &program)?;
            let more = d.or(&promised, &others.forget(d, &after)?)?;
            if more == promised {
                break d.or(&least, &after)?;
            }
            promised = more;
        };
        let elsewhere = self.promises.unkeep(d, &d.minus(&most, &least)?)?;
        Ok(Bounds {
            least,
            most,
            leaving: others.forget(d, &elsewhere)?,
        })
    }
}

/// Truth values as sets of states.
struct Sets<'a> {
    d: &'a Diagrams<'a>,
    bits: &'a [u32],
    literal: &'a mut dyn FnMut(&Expr, bool) -> Result<Bdd, Halt>,
}

impl Truth<Expr> for Sets<'_> {
    type Value = Bdd;
    type Error = Halt;

    fn constant(&mut self, value: bool) -> Result<Bdd, Halt> {
        Ok(self.d.constant(value))
    }

    fn literal(&mut self, atom: &Expr, positive: bool) -> Result<Bdd, Halt> {
        (self.literal)(atom, positive)
    }

    fn bit(&mut self, bit: usize) -> Result<Bdd, Halt> {
        Ok(self.d.literal(self.bits[bit], true)?)
    }

    fn and(&mut self, a: &Bdd, b: &Bdd) -> Result<Bdd, Halt> {
        Ok(self.d.and(a, b)?)
    }

    fn or(&mut self, a: &Bdd, b: &Bdd) -> Result<Bdd, Halt> {
        Ok(self.d.or(a, b)?)
    }
}

/// Whether a process that is scheduled and changes nothing moves, as opposed to resting or having no step.
pub(crate) fn moves_without_change(system: &System, state: &State, process: ProcessId) -> bool {
    let outcomes = eval::outcomes(system, state, process);
    !outcomes.is_empty() && !outcomes.contains(&Outcome::Rest)
}
