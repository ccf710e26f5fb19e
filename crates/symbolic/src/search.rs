//! A computation with decision diagrams under way: the system in its present layout, its limits, and what was counted.
//!
//! Transitions are *chained*: each is applied to all that is known by then, the results of the
//! transitions before it included. A round of chaining goes many steps deep, so there are few of
//! them (2 instead of 103 for a hundred processes round a semaphore). Which to fire next is the agenda's
//! business (`schedule`).

use std::cell::OnceCell;
use std::rc::Rc;

use index_vec::IndexVec;
use threadwise_engine::{Limits, Observer, Progress, Stop};
use threadwise_evidence::{Account, Reason, ReasonCode, Stats};
use threadwise_model::system::{ProcessId, System};

use crate::{Agenda, Bdd, Diagrams, Error, Layout, Room, Symbolic, Transition};

/// Nodes when no memory limit is given.
const DEFAULT_NODES: usize = 1 << 26;

/// A set of so many nodes is worth a better layout. Looking earlier made `ticket_lock` at N=6 twice as slow, and gained
/// nothing on `peterson`, whose order is found late as well as early.
pub const SIFT_AT: usize = 20_000;

/// What diagrams may use: as many nodes as fit into a memory limit.
pub fn room<'a>(limits: &Limits<'a>) -> Room<'a> {
    let capacity = match limits.memory {
        Some(bytes) => {
            let node = Diagrams::bytes(1);
            (usize::try_from(bytes).unwrap_or(usize::MAX) / node).min(DEFAULT_NODES)
        }
        None => DEFAULT_NODES,
    };
    Room {
        capacity,
        stop: limits.stop,
        work: limits.work,
    }
}

/// Why a computation ended early.
#[derive(Clone, Debug)]
pub enum Halt {
    /// The diagrams gave up.
    Symbolic(Error),
    /// The caller wants it to stop.
    Stop(Stop),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Halt {
        match error.into() {
            Error::Stopped(stop) => Halt::Stop(stop),
            error => Halt::Symbolic(error),
        }
    }
}

impl From<Halt> for Reason {
    fn from(halt: Halt) -> Reason {
        match halt {
            Halt::Stop(stop) => stop.into(),
            Halt::Symbolic(error @ Error::OutOfNodes(_)) => {
                Reason::new(ReasonCode::MemoryLimit, error.to_string())
                    .next("give it more memory with `--memory`, or try another engine")
            }
            Halt::Symbolic(error @ Error::Overflow) => {
                Reason::new(ReasonCode::Overflow, error.to_string())
            }
            Halt::Symbolic(error @ Error::Internal(_)) => {
                Reason::new(ReasonCode::Internal, error.to_string())
            }
            Halt::Symbolic(error) => Reason::new(ReasonCode::Unsupported, error.to_string())
                .next("`explicit` takes such programs"),
        }
    }
}

/// Systems made from the one that is checked, while it is checked.
#[derive(Default)]
pub struct Grown {
    next: OnceCell<Box<(System, Grown)>>,
}

impl Grown {
    /// Keeps a system.
    pub fn keep(&self, system: System) -> &System {
        let mut last = self;
        while let Some(link) = last.next.get() {
            last = &link.1;
        }
        &last
            .next
            .get_or_init(|| Box::new((system, Grown::default())))
            .0
    }
}

/// A computation under way: the system, its limits, and what was counted.
pub struct Search<'a, 's> {
    /// What is checked; the diagrams may be those of a system that has grown from it.
    pub system: &'s System,
    /// Where systems live that are made on the way.
    pub grown: &'s Grown,
    /// The system in the present layout.
    pub symbolic: Rc<Symbolic<'s>>,
    /// What it may use.
    pub limits: &'a Limits<'a>,
    /// Who wants to know how far it is.
    pub observer: &'a mut dyn Observer,
    rounds: u64,
    /// How the answer about each property came about.
    pub accounts: Vec<Account>,
    /// The most nodes in the layouts before.
    peak_nodes: usize,
    /// The size of a set at which a better layout is looked for first.
    least_sift: usize,
    /// The size at which it is looked for next.
    sift_at: usize,
}

impl<'a, 's> Search<'a, 's> {
    /// A computation on a system in a layout that begins now.
    pub fn new(
        grown: &'s Grown,
        symbolic: Symbolic<'s>,
        limits: &'a Limits<'a>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Search {
            system: symbolic.system,
            grown,
            symbolic: Rc::new(symbolic),
            limits,
            observer,
            rounds: 0,
            accounts: Vec::new(),
            peak_nodes: 0,
            least_sift: SIFT_AT,
            sift_at: SIFT_AT,
        }
    }

    /// The same, in which a better layout is looked for once a set has so many nodes.
    pub fn sifting_at(self, nodes: usize) -> Self {
        Search {
            least_sift: nodes,
            sift_at: nodes,
            ..self
        }
    }

    /// To be called between operations.
    pub fn breathe(&self) -> Result<(), Halt> {
        self.limits.spend(self.symbolic.diagrams.take_work());
        match self.limits.should_stop() {
            Some(stop) => Err(Halt::Stop(stop)),
            None => Ok(()),
        }
    }

    /// The same for what no verdict depends on.
    pub fn breathe_at_leisure(&self) -> Result<(), Halt> {
        match self.limits.has_leisure() {
            true => self.breathe(),
            false => Err(Halt::Stop(Stop::Time)),
        }
    }

    /// A better layout once a set has grown large, if there is one.
    pub fn better_layout(&mut self, set: &Bdd) -> Result<Option<Layout>, Halt> {
        let size = self.symbolic.diagrams.size(set);
        if size < self.sift_at {
            return Ok(None);
        }
        self.sift_at = 4 * size;
        let layout = self.symbolic.sifted(set);
        self.breathe()?;
        Ok(layout)
    }

    /// Looks for a better layout once a set has grown large. If there is one, all diagrams are
    /// built anew, and the result is the set in them: every other diagram must be computed again.
    pub fn rearrange(&mut self, set: &Bdd) -> Result<Option<Bdd>, Halt> {
        let Some(layout) = self.better_layout(set)? else {
            return Ok(None);
        };
        let new = self.symbolic.rebuild(layout)?;
        let set = new.import(&self.symbolic, set)?;
        self.sift_at = self.least_sift.max(4 * new.diagrams.size(&set));
        self.replace(new);
        Ok(Some(set))
    }

    /// Goes on with other diagrams of the same system.
    pub fn replace(&mut self, symbolic: Symbolic<'s>) {
        self.peak_nodes = self.peak_nodes.max(self.symbolic.diagrams.peak_nodes());
        self.symbolic = Rc::new(symbolic);
    }

    /// Counts a round, and tells how far the computation is.
    pub fn round(&mut self) {
        self.rounds += 1;
        self.report();
    }

    fn report(&mut self) {
        let nodes = self.symbolic.diagrams.peak_nodes();
        self.observer.progress(&Progress {
            iterations: self.rounds,
            peak_nodes: self.peak_nodes.max(nodes) as u64,
            bytes: Diagrams::bytes(nodes) as u64,
            ..Progress::default()
        });
    }

    /// All reachable states, in the present layout.
    pub fn reachable(&mut self) -> Result<Bdd, Halt> {
        let mut agenda = Agenda::new(self.symbolic.schedule.clone());
        let mut reached = self.symbolic.initial.clone();
        while !self.advance(&mut agenda, &mut reached, Transition::post)? {}
        Ok(reached)
    }

    /// Closes a set under images (or preimages) by the agenda, for at most one turn of all
    /// processes; true if nothing is left to do.
    pub fn advance(
        &mut self,
        agenda: &mut Agenda,
        set: &mut Bdd,
        image: impl Fn(&Transition, &Diagrams, &Bdd) -> Result<Bdd, Error>,
    ) -> Result<bool, Halt> {
        let symbolic = self.symbolic.clone();
        self.advance_by(agenda, &symbolic.transitions.moves, set, image)
    }

    /// The same with these transitions.
    pub fn advance_by(
        &mut self,
        agenda: &mut Agenda,
        moves: &IndexVec<ProcessId, Vec<impl std::borrow::Borrow<Transition>>>,
        set: &mut Bdd,
        image: impl Fn(&Transition, &Diagrams, &Bdd) -> Result<Bdd, Error>,
    ) -> Result<bool, Halt> {
        let symbolic = self.symbolic.clone();
        let d = &symbolic.diagrams;
        self.rounds += 1;
        for _ in 0..moves.len().max(1) {
            let Some(process) = agenda.take() else {
                return Ok(true);
            };
            let mut grown = set.clone();
            for transition in &moves[process] {
                self.breathe()?;
                grown = d.or(&grown, &image(transition.borrow(), d, &grown)?)?;
            }
            if grown != *set {
                *set = grown;
                agenda.found(process);
            }
        }
        self.report();
        Ok(false)
    }

    /// What is reached from a set in one step.
    pub fn post(&mut self, set: &Bdd) -> Result<Bdd, Halt> {
        let symbolic = self.symbolic.clone();
        let d = &symbolic.diagrams;
        let mut after = d.none();
        for transition in symbolic.transitions.moves.iter().flatten() {
            self.breathe()?;
            after = d.or(&after, &transition.post(d, set)?)?;
        }
        self.round();
        Ok(after)
    }

    /// The states of a set from which one step leads into another.
    pub fn pre_within(&self, set: &Bdd, within: &Bdd) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let mut before = d.none();
        for transition in self.symbolic.transitions.moves.iter().flatten() {
            self.breathe()?;
            before = d.or(&before, &d.and(&transition.pre(d, set)?, within)?)?;
        }
        Ok(before)
    }

    /// What was counted.
    pub fn stats(&self, states: Option<&Bdd>) -> Stats {
        let states = states.map(|set| self.symbolic.count(set));
        let number = states
            .as_ref()
            .and_then(|states| u64::try_from(states).ok());
        Stats {
            iterations: Some(self.rounds),
            peak_nodes: Some(self.peak_nodes.max(self.symbolic.diagrams.peak_nodes()) as u64),
            states: number,
            states_decimal: match number {
                Some(_) => None,
                None => states.map(|states| states.to_string()),
            },
            ..Stats::default()
        }
    }
}
