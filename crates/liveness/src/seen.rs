//! Which values variables really have.
//!
//! A variable of type `int` that never leaves 0..10 has many more values by its type, and often by its intervals, too: a guard on another variable
//! bounds it, or a remainder. Diagrams over all of these values are large, or cannot be had. So a short search visits the first
//! states, and diagrams are made for the values that it saw.
//!
//! Nothing is taken for granted by that. A step that writes another value is known as an escape, and if a state from which there is one turns out to
//! be reachable, the diagrams are thrown away: more states are visited from there on, and after some rounds of this all values have codes. So the search may
//! stop anywhere, and programs with far more states than it visits profit as well.

use std::collections::BTreeSet;
use std::rc::Rc;

use threadwise_engine::{Limits, Observer, Silent, State};
use threadwise_explicit::Explicit;
use threadwise_model::eval;
use threadwise_model::system::{CellInitial, ProcessId, Scope, System};
use threadwise_symbolic::{Bdd, Grown, Halt, Search, SeenValues, Symbolic, room};

/// A system in which no variable has more values than this has all of them encoded.
const FEW_VALUES: i128 = 8;
/// How many states are visited at first.
const FIRST_STATES: u64 = 20_000;
/// How many states with escapes are followed in a round, how many states are visited from them, and how often.
const ESCAPES: usize = 16;
const MORE_STATES: usize = 4_000;
const ROUNDS: usize = 40;

/// The values that were seen so far.
pub(crate) struct Seen {
    values: Option<Rc<SeenValues>>,
    rounds: usize,
    /// How many states are visited in a round.
    more: usize,
}

impl Seen {
    /// Has a first look at so many states; if nothing is said, only where it may be of use.
    pub(crate) fn of(system: &System, limits: &Limits, look: Option<u64>) -> Seen {
        let mut seen = Seen {
            values: None,
            rounds: 0,
            more: look.map_or(MORE_STATES, |states| {
                usize::try_from(states).map_or(MORE_STATES, |states| states.min(MORE_STATES))
            }),
        };
        let wide = system.vars.iter_enumerated().any(|(id, var)| {
            let is_place = system.templates.iter().any(|template| template.pc == id);
            let size = |(lo, hi): (i64, i64)| i128::from(hi) - i128::from(lo) + 1;
            let few = |size| size <= FEW_VALUES;
            !is_place && !system.values(var.domain).map(size).is_some_and(few)
        });
        if !wide && look.is_none() {
            return seen;
        }
        let limits = Limits {
            states: Some(look.unwrap_or(FIRST_STATES)),
            ..*limits
        };
        let visited = Explicit::default().states(system, &limits, &mut Silent);
        if !visited.states.is_empty() {
            seen.add(system, &visited.states);
        }
        seen
    }

    /// Adds the values of some states.
    fn add(&mut self, system: &System, states: &[State]) {
        let nothing = || Rc::new((0..system.cells).map(|_| None).collect());
        let mut values: SeenValues = (*self.values.take().unwrap_or_else(nothing)).clone();
        for (id, var) in system.vars.iter_enumerated() {
            // Not all initial states need have been visited.
            if var.initial == CellInitial::Any {
                continue;
            }
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(template) => system.templates[template].count,
            };
            for copy in 0..copies {
                for offset in 0..var.len {
                    let cell = system.cell(id, copy, offset);
                    let before = values[cell].take().unwrap_or_default().into_iter();
                    let more = states.iter().map(|state| state[cell.index()]);
                    let all: BTreeSet<i64> = before.chain(more).collect();
                    values[cell] = Some(all.into_iter().collect());
                }
            }
        }
        self.values = Some(Rc::new(values));
    }

    /// Visits states from some of those that have escapes, and adds their values.
    fn follow(
        &mut self,
        system: &System,
        symbolic: &Symbolic,
        mut escaping: Bdd,
        limits: &Limits,
    ) -> Result<(), Halt> {
        self.rounds += 1;
        if self.rounds > ROUNDS {
            self.values = None;
            return Ok(());
        }
        let mut states: Vec<State> = Vec::new();
        for _ in 0..ESCAPES {
            let Some(state) = symbolic.pick(&escaping) else {
                break;
            };
            let one = symbolic.singleton(&state)?;
            escaping = symbolic.diagrams.minus(&escaping, &one)?;
            states.push(state[..system.cells].to_vec());
        }
        let mut known: BTreeSet<State> = states.iter().cloned().collect();
        let picked = states.len();
        let mut next = 0;
        // All that were picked, so that something new is seen in any case.
        while next < states.len() && (next < picked || states.len() < self.more) {
            if next.is_multiple_of(64)
                && let Some(stop) = limits.should_stop()
            {
                return Err(Halt::Stop(stop));
            }
            for process in (0..system.processes()).map(ProcessId::from_raw) {
                for outcome in eval::outcomes(system, &states[next], process) {
                    if let eval::Outcome::Move(state) = outcome
                        && known.insert(state.clone())
                    {
                        states.push(state);
                    }
                }
            }
            next += 1;
        }
        limits.spend(100 * next as u64);
        self.add(system, &states);
        Ok(())
    }

    /// Computes with the diagrams of a system that has grown from this one, and with its reachable states. What is computed is given those
    /// states only if no step escapes from them.
    pub(crate) fn compute<T>(
        &mut self,
        system: &System,
        grown: &System,
        limits: &Limits,
        observer: &mut dyn Observer,
        mut work: impl FnMut(&mut Search, &Bdd) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        loop {
            let symbolic = match &self.values {
                Some(values) => Symbolic::with_values(grown, values.clone(), room(limits))?,
                None => Symbolic::new(grown, room(limits))?,
            };
            let more = Grown::default();
            let mut search = Search::new(&more, symbolic, limits, observer);
            let reached = search.reachable()?;
            let symbolic = search.symbolic.clone();
            let d = &symbolic.diagrams;
            let escaping = d.and(&reached, &symbolic.transitions.escapes)?;
            if d.is_empty(&escaping) {
                return work(&mut search, &reached);
            }
            self.follow(system, &symbolic, escaping, limits)?;
        }
    }
}
