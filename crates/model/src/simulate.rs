//! Simulation: a random walk of an instance, which the same seed repeats, or one that somebody
//! steers.

use threadwise_lang::program::LocationId;

use crate::expression::Limit;
use crate::instance::Instance;
use crate::interpreter::{Interpreter, Outcome};
use crate::state::{ProcessRef, State};

/// How often an initial state is picked that `initially` may exclude, before the first one is taken.
const MOST_PICKS: usize = 1_000;

/// A run in progress.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    interpreter: Interpreter<'a>,
    state: State,
    random: Random,
}

/// What happened when a simulation went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A process did something. After a failed check the state is the one before, and the run is over.
    Step {
        /// Who.
        process: ProcessRef,
        /// The label it was at.
        from: LocationId,
        /// What.
        outcome: Outcome,
        /// The state before.
        before: State,
    },
    /// Some process has not ended, and none can do anything but rest.
    Deadlock,
    /// Every process has ended.
    Ended,
}

impl<'a> Simulation<'a> {
    /// Begins in an initial state that the seed picks.
    pub fn new(instance: &'a Instance, seed: u64) -> Result<Self, Limit> {
        let interpreter = Interpreter::new(instance);
        let mut random = Random(seed);
        let mut states = interpreter.initial_states()?;
        // Most picks may be states that `initially` excludes.
        let mut tries = 0..MOST_PICKS;
        let picked = tries.find_map(|_| states.pick(|choices| random.below(choices)));
        Ok(Simulation {
            interpreter,
            // An instance has an initial state.
            state: picked.or_else(|| states.next()).unwrap_or_default(),
            random,
        })
    }

    /// The state so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Everything that can happen next.
    pub fn options(&self) -> Result<Vec<(ProcessRef, Outcome)>, Limit> {
        self.interpreter.successors(&self.state)
    }

    /// Goes on as one of the options says.
    pub fn take(&mut self, process: ProcessRef, outcome: Outcome) -> Event {
        let from = self.state.location(process);
        let before = match &outcome {
            Outcome::Move { state, .. } => std::mem::replace(&mut self.state, state.clone()),
            Outcome::Rest { .. } | Outcome::Fail { .. } => self.state.clone(),
        };
        Event::Step {
            process,
            from,
            outcome,
            before,
        }
    }

    /// Goes on at random: some process that can move, and any of its moves. Nobody rests, since
    /// that would change nothing.
    pub fn advance(&mut self) -> Result<Event, Limit> {
        let mut processes: Vec<ProcessRef> = self.state.processes().collect();
        let mut unfinished = false;
        while !processes.is_empty() {
            let drawn = self.random.below(processes.len() as u128) as usize;
            let process = processes.swap_remove(drawn);
            unfinished |= !self.interpreter.has_ended(&self.state, process);
            let mut moves = self.interpreter.outcomes(&self.state, process)?;
            moves.retain(|outcome| !matches!(outcome, Outcome::Rest { .. }));
            if !moves.is_empty() {
                let drawn = self.random.below(moves.len() as u128) as usize;
                let outcome = moves.swap_remove(drawn);
                return Ok(self.take(process, outcome));
            }
        }
        Ok(if unfinished {
            Event::Deadlock
        } else {
            Event::Ended
        })
    }
}

/// Random numbers that are the same everywhere: splitmix64. Ten lines here, rather than a
/// dependency whose sequence may change with its version.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound; the bias is far below what a simulation could show.
    fn below(&mut self, bound: u128) -> u128 {
        let wide = (u128::from(self.next()) << 64) | u128::from(self.next());
        wide % bound.max(1)
    }
}
