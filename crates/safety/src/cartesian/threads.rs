//! The program as threads: what a thread can do depends on the shared variables and on its own local state, and on nothing else.
//!
//! Valuations of the shared variables and local states are numbered as they are met; steps are evaluated once for each pair of them.

use std::rc::Rc;

use index_vec::{IndexVec, define_index_type};
use rustc_hash::FxHashMap;
use threadwise_model::eval::{self, Outcome};
use threadwise_model::layout::owners;
use threadwise_model::system::{CellId, ProcessId, System};
use threadwise_symbolic::{Error, Halt};

use super::sets::LocalId;

define_index_type! { /// A valuation of the shared variables.
pub(crate) struct SharedId = u32; }

/// What a thread can do.
#[derive(Debug)]
pub(crate) struct Actions {
    /// Where it can move.
    pub(crate) moves: Vec<(SharedId, LocalId)>,
    /// Whether it can fail a check.
    pub(crate) fails: bool,
    /// Whether it can do nothing but rest.
    pub(crate) stuck: bool,
}

/// Rows of values, numbered.
struct Rows<I: index_vec::Idx> {
    list: IndexVec<I, Rc<[i64]>>,
    known: FxHashMap<Rc<[i64]>, I>,
}

impl<I: index_vec::Idx> Rows<I> {
    fn new() -> Self {
        Rows {
            list: IndexVec::new(),
            known: FxHashMap::default(),
        }
    }

    /// The number of a row; a new one takes memory.
    fn number(&mut self, row: Vec<i64>, bytes: &mut usize) -> I {
        if let Some(known) = self.known.get(row.as_slice()) {
            return *known;
        }
        *bytes += 8 * row.len() + 96;
        let row: Rc<[i64]> = row.into();
        let number = self.list.push(row.clone());
        self.known.insert(row, number);
        number
    }
}

/// The threads of a system.
pub(crate) struct Threads<'s> {
    pub(crate) system: &'s System,
    /// The shared cells.
    pub(crate) shared_cells: Vec<CellId>,
    /// The cells of each thread, those of one template in the same order.
    pub(crate) own_cells: Vec<Vec<CellId>>,
    /// The template of each thread.
    template: Vec<usize>,
    shared: Rows<SharedId>,
    /// By template.
    locals: Vec<Rows<LocalId>>,
    actions: FxHashMap<(SharedId, usize, LocalId), Rc<Actions>>,
    /// A state in which steps are evaluated.
    scratch: Vec<i64>,
    bytes: usize,
}

impl<'s> Threads<'s> {
    pub(crate) fn new(system: &'s System) -> Self {
        let owners = owners(system);
        let mut own_cells = vec![Vec::new(); system.processes() as usize];
        let mut shared_cells = Vec::new();
        for (cell, owner) in owners.iter_enumerated() {
            match owner {
                Some(process) => own_cells[process.index()].push(cell),
                None => shared_cells.push(cell),
            }
        }
        Threads {
            system,
            shared_cells,
            template: (0..system.processes())
                .map(|process| system.template_of(ProcessId::from_raw(process)).index())
                .collect(),
            own_cells,
            shared: Rows::new(),
            locals: system.templates.iter().map(|_| Rows::new()).collect(),
            actions: FxHashMap::default(),
            scratch: vec![0; system.cells],
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.own_cells.len()
    }

    /// Memory taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.actions.len() * 120
    }

    pub(crate) fn shared(&self, shared: SharedId) -> &[i64] {
        &self.shared.list[shared]
    }

    /// The values of a thread's own cells.
    pub(crate) fn local(&self, thread: usize, local: LocalId) -> &[i64] {
        &self.locals[self.template[thread]].list[local]
    }

    pub(crate) fn number_shared(&mut self, values: Vec<i64>) -> SharedId {
        self.shared.number(values, &mut self.bytes)
    }

    pub(crate) fn number_local(&mut self, thread: usize, values: Vec<i64>) -> LocalId {
        self.locals[self.template[thread]].number(values, &mut self.bytes)
    }

    /// The state that consists of these.
    pub(crate) fn state(&self, shared: SharedId, tuple: &[LocalId]) -> Vec<i64> {
        let mut state = vec![0; self.system.cells];
        for (cell, value) in self.shared_cells.iter().zip(self.shared(shared)) {
            state[cell.index()] = *value;
        }
        for (thread, local) in tuple.iter().enumerate() {
            let values = self.local(thread, *local);
            for (cell, value) in self.own_cells[thread].iter().zip(values) {
                state[cell.index()] = *value;
            }
        }
        state
    }

    /// A state in which the shared variables and the cells of one thread have these values, and the others any.
    pub(crate) fn around(&mut self, shared: SharedId, thread: usize, local: LocalId) -> &[i64] {
        self.place_shared(shared);
        self.place_local(thread, local);
        &self.scratch
    }

    /// Gives the shared variables these values in the state that [`Threads::placed`] shows.
    pub(crate) fn place_shared(&mut self, shared: SharedId) {
        for (cell, value) in self.shared_cells.iter().zip(&*self.shared.list[shared]) {
            self.scratch[cell.index()] = *value;
        }
    }

    /// The same for a thread's own cells.
    pub(crate) fn place_local(&mut self, thread: usize, local: LocalId) {
        let values = &self.locals[self.template[thread]].list[local];
        for (cell, value) in self.own_cells[thread].iter().zip(&**values) {
            self.scratch[cell.index()] = *value;
        }
    }

    /// A state made of what was placed last.
    pub(crate) fn placed(&self) -> &[i64] {
        &self.scratch
    }

    /// What a thread can do.
    pub(crate) fn actions(
        &mut self,
        shared: SharedId,
        thread: usize,
        local: LocalId,
    ) -> Result<Rc<Actions>, Halt> {
        if let Some(known) = self.actions.get(&(shared, thread, local)) {
            return Ok(known.clone());
        }
        self.around(shared, thread, local);
        let process = ProcessId::from_usize(thread);
        let mut actions = Actions {
            moves: Vec::new(),
            fails: false,
            stuck: true,
        };
        for outcome in eval::outcomes(self.system, &self.scratch, process) {
            match outcome {
                Outcome::Move(state) => {
                    let value = |cell: &CellId| state[cell.index()];
                    let after = self.shared_cells.iter().map(value).collect();
                    let own = self.own_cells[thread].iter().map(value).collect();
                    let after = self.number_shared(after);
                    actions.moves.push((after, self.number_local(thread, own)));
                    actions.stuck = false;
                }
                Outcome::Failure(..) => {
                    actions.fails = true;
                    actions.stuck = false;
                }
                Outcome::Rest => {}
                Outcome::Overflow => return Err(Error::Overflow.into()),
                Outcome::Full(_) => {
                    return Err(Error::Unsupported("processes that are started").into());
                }
                Outcome::TooManyChoices => {
                    return Err(Error::TooManyValues {
                        what: "a step with choices".to_owned(),
                    }
                    .into());
                }
            }
        }
        self.bytes += actions.moves.len() * 8;
        let actions = Rc::new(actions);
        self.actions
            .insert((shared, thread, local), actions.clone());
        Ok(actions)
    }
}
