//! A system as decision diagrams.
//!
//! [`Symbolic`] holds everything that the engines share: the diagrams with their budget, the
//! encoding of the cells, the initial states, and each step as a [`Transition`] with its images
//! forwards and backwards. A [`Search`] is a computation with it under way. They know no property; those live in `threadwise-safety`.

mod cases;
pub mod certificate;
mod diagrams;
mod encoding;
mod layout;
mod schedule;
mod search;
mod sift;
mod transfer;
mod transitions;

pub use cases::{Cases, Translator};
pub use diagrams::{AskStop, Bdd, Diagrams, GaveUp, OutOfNodes, Renaming, Room};
pub use encoding::{CellCode, Encoding};
pub use layout::Layout;
pub use oxidd_core::util::num::Natural;
pub use schedule::{Agenda, Schedule};
pub use search::{Grown, Halt, SIFT_AT, Search, room};
pub use transitions::{Hidden, Transition, Transitions};

use std::rc::Rc;

use index_vec::IndexVec;
use threadwise_engine::Stop;
use threadwise_model::optimise::Optimised;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellId, Expr, ProcessId, System};

use crate::schedule::Touches;

/// Why a system has no diagrams.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No room.
    #[error(transparent)]
    OutOfNodes(#[from] OutOfNodes),
    /// Somebody wants all of this to stop.
    #[error("the computation was told to stop")]
    Stopped(Stop),
    /// Too many values to list.
    #[error("{what} has too many values for decision diagrams")]
    TooManyValues {
        /// What has them.
        what: String,
    },
    /// Something that diagrams of a fixed number of cells cannot express.
    #[error("decision diagrams cannot express {0}")]
    Unsupported(&'static str),
    /// A computation leaves 64 bits.
    #[error("a computation leaves 64 bits")]
    Overflow,
    /// A mistake in threadwise.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

impl From<GaveUp> for Error {
    fn from(gave_up: GaveUp) -> Error {
        match gave_up {
            GaveUp::OutOfNodes(error) => Error::OutOfNodes(error),
            GaveUp::Stopped(stop) => Error::Stopped(stop),
        }
    }
}

/// A system as decision diagrams.
pub struct Symbolic<'s> {
    /// The system.
    pub system: &'s System,
    /// Where cells stand among the variables.
    pub layout: Layout,
    /// The diagrams.
    pub diagrams: Diagrams<'s>,
    /// How cells are encoded.
    pub encoding: Encoding,
    /// The initial states.
    pub initial: Bdd,
    /// The states whose codes all stand for values: all that there are.
    pub valid: Bdd,
    /// The steps.
    pub transitions: Transitions,
    /// Which processes depend on which.
    pub schedule: Rc<Schedule>,
    source: Rc<Source<'s>>,
}

/// What the diagrams are built from.
struct Source<'s> {
    optimised: Optimised<'s>,
    touches: Touches,
    /// Whether steps are wanted.
    steps: bool,
    /// The values that are encoded, if not all that intervals allow.
    values: Option<Rc<SeenValues>>,
}

/// The values, ascending, that the first cells of a system were seen to have. Where nothing is listed, all values
/// are meant; so it must be for cells that begin with any value.
pub type SeenValues = IndexVec<CellId, Option<Vec<i64>>>;

impl<'s> Source<'s> {
    fn new(system: &'s System, steps: bool, values: Option<Rc<SeenValues>>) -> Self {
        let optimised = Optimised::new(system);
        let touches = Touches::new(&optimised);
        Source {
            optimised,
            touches,
            steps,
            values,
        }
    }
}

impl<'s> Symbolic<'s> {
    /// The diagrams of a system in the natural order, with some room.
    pub fn new(system: &'s System, room: impl Into<Room<'s>>) -> Result<Self, Error> {
        Self::build(Rc::new(Source::new(system, true, None)), None, room.into())
    }

    /// The same with codes for these values only. Whoever uses it must make sure that no state it reaches is an
    /// [escape](Transitions::escapes).
    pub fn with_values(
        system: &'s System,
        values: Rc<SeenValues>,
        room: impl Into<Room<'s>>,
    ) -> Result<Self, Error> {
        let source = Source::new(system, true, Some(values));
        Self::build(Rc::new(source), None, room.into())
    }

    /// The same without steps, for those who have sets of states and want to write about them.
    pub fn without_steps(system: &'s System, room: impl Into<Room<'s>>) -> Result<Self, Error> {
        Self::build(Rc::new(Source::new(system, false, None)), None, room.into())
    }

    /// The diagrams of a system in a layout, with some room.
    pub fn with_layout(
        system: &'s System,
        layout: Layout,
        room: impl Into<Room<'s>>,
    ) -> Result<Self, Error> {
        let source = Rc::new(Source::new(system, true, None));
        Self::build(source, Some(layout), room.into())
    }

    /// The diagrams of the same system in another layout.
    pub fn rebuild(&self, layout: Layout) -> Result<Self, Error> {
        Self::build(self.source.clone(), Some(layout), self.diagrams.room())
    }

    fn build(
        source: Rc<Source<'s>>,
        layout: Option<Layout>,
        room: Room<'s>,
    ) -> Result<Self, Error> {
        let system = source.optimised.system();
        let layout = match layout {
            Some(layout) => layout,
            None => Layout::natural(system, &source.touches),
        };
        let bounds = &source.optimised.claims().bounds;
        let encoding = Encoding::new(system, bounds, source.values.as_deref(), &layout)?;
        let diagrams = Diagrams::new(encoding.variables, room);
        let mut initial = transitions::initial(system, &diagrams, &encoding, &encoding.order())?;
        if !system.initially.is_empty() {
            for predicate in &system.initially {
                let translator = Translator {
                    system,
                    diagrams: &diagrams,
                    encoding: &encoding,
                    choices: &[],
                    given: &[],
                };
                initial = diagrams.and(&initial, &translator.truth(predicate)?)?;
            }
            if diagrams.is_empty(&initial) {
                return Err(Error::Unsupported(
                    "programs of which no state satisfies `initially`",
                ));
            }
        }
        let valid = encoding.valid(&diagrams)?;
        let transitions = match source.steps {
            true => {
                let narrow = source.values.is_some();
                Transitions::new(&source.optimised, &diagrams, &encoding, narrow)?
            }
            false => Transitions::none(system, &diagrams),
        };
        Ok(Symbolic {
            system,
            layout,
            diagrams,
            encoding,
            initial,
            valid,
            transitions,
            schedule: Rc::new(Schedule::new(system, &source.touches)),
            source,
        })
    }

    /// The steps that the diagrams are built from.
    pub fn optimised(&self) -> &Optimised<'s> {
        &self.source.optimised
    }

    /// A layout in which a set takes fewer nodes, if sifting finds one that is clearly better.
    pub fn sifted(&self, set: &Bdd) -> Option<Layout> {
        let order = sift::sift(&self.diagrams, &self.encoding, set)?;
        Some(Layout {
            order,
            classes: self.layout.classes.clone(),
        })
    }

    /// A set of states of the same system in another layout, as a set in this one. This system may have more cells, of
    /// which the set says nothing.
    pub fn import(&self, other: &Symbolic, set: &Bdd) -> Result<Bdd, Error> {
        transfer::transfer(other, set, self)
    }

    /// The image of a set under a permutation of processes, which the classes of the layout must respect.
    pub fn permute(&self, set: &Bdd, by: &Permutation) -> Result<Bdd, Error> {
        transfer::permute(self, set, by)
    }

    /// The initial values of some cells, given in the order of their variables. May be too many: what `initially` says is left out.
    pub fn initial_of(&self, cells: &[CellId]) -> Result<Bdd, Error> {
        transitions::initial(self.system, &self.diagrams, &self.encoding, cells)
    }

    /// The states in which a predicate holds.
    pub fn states(&self, predicate: &Expr) -> Result<Bdd, Error> {
        Translator {
            system: self.system,
            diagrams: &self.diagrams,
            encoding: &self.encoding,
            choices: &[],
            given: &[],
        }
        .truth(predicate)
    }

    /// The deadlocks: some process has not ended, and none has a step other than resting.
    pub fn deadlocks(&self) -> Result<Bdd, Error> {
        let d = &self.diagrams;
        let mut moving = d.none();
        let mut ended = d.all();
        for raw in 0..self.system.processes() {
            let process = ProcessId::from_raw(raw);
            moving = d.or(&moving, &d.union(&self.transitions.enabled[process])?)?;
            let template = &self.system.templates[self.system.template_of(process)];
            let pc = self
                .system
                .cell(template.pc, self.system.index_of(process), 0);
            let done = match self.encoding.cells[pc].code(i64::from(template.done().raw())) {
                Some(code) => self.encoding.code(d, pc, code, false)?,
                None => d.none(),
            };
            ended = d.and(&ended, &done)?;
        }
        let stuck = d.not(&moving)?;
        Ok(d.minus(&stuck, &ended)?)
    }

    /// The states in which a process can be scheduled and nothing changes: it rests, moves without a change, or
    /// has no step. Says something about states whose codes all stand for values only.
    pub fn still(&self, process: ProcessId) -> Result<Bdd, Error> {
        let d = &self.diagrams;
        let stuck = d.not(&d.union(&self.transitions.enabled[process])?)?;
        Ok(d.or(&stuck, &d.union(&self.transitions.still[process])?)?)
    }

    /// The number of states in a set of valid states.
    pub fn count(&self, set: &Bdd) -> Natural {
        self.diagrams.count(set, self.encoding.state_bits)
    }

    /// Some state of a set.
    pub fn pick(&self, set: &Bdd) -> Option<Vec<i64>> {
        self.encoding.decode(&self.diagrams.member(set)?)
    }

    /// A set divided by the codes of a cell, which comes before all others that it depends on; one part
    /// if it does not depend on the cell.
    pub fn split(&self, set: &Bdd, cell: CellId) -> Vec<Bdd> {
        let vars: Vec<u32> = self.encoding.cells[cell].vars(false).collect();
        let looks = |set: &Bdd| match self.diagrams.top(set) {
            Some((var, ..)) => vars.contains(&var),
            None => false,
        };
        if !looks(set) {
            return vec![set.clone()];
        }
        let mut parts = vec![set.clone()];
        for var in vars {
            parts = parts
                .into_iter()
                .flat_map(|part| match self.diagrams.top(&part) {
                    Some((top, no, yes)) if top == var => [no, yes],
                    _ => [part.clone(), part],
                })
                .collect();
        }
        parts
    }

    /// The set of one state.
    pub fn singleton(&self, state: &[i64]) -> Result<Bdd, Error> {
        let mut set = self.diagrams.all();
        // From the last variable up, so that each step adds on top.
        for cell in self.encoding.order().into_iter().rev() {
            let code = self.encoding.cells[cell]
                .code(state[cell.index()])
                .ok_or(Error::Internal("a state with a value without a code"))?;
            let one = self.encoding.code(&self.diagrams, cell, code, false)?;
            set = self.diagrams.and(&one, &set)?;
        }
        Ok(set)
    }

    /// Whether a state is in a set.
    pub fn contains(&self, set: &Bdd, state: &[i64]) -> bool {
        match self.encoding.encode(state) {
            Some(bits) => {
                self.diagrams
                    .contains(set, |var| bits[var as usize], self.encoding.variables)
            }
            None => false,
        }
    }
}

/// Runs a computation on a stack that is deep enough for diagrams of many thousand variables: the
/// library recurses once for each level.
pub fn with_deep_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    /// Reserved, not used: pages are taken as they are touched.
    const STACK: usize = 1 << 30;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, run);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread for the computation: {error}"),
        }
    })
}
