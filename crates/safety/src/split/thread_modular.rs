//! Thread-modular checking: each process against what the others guarantee.
//!
//! The *guarantee* of a process is what its steps do to the shared variables, whatever its own cells are: all its steps, taken anywhere,
//! with what is hidden of it forgotten. Each process is explored once, together with the guarantees of the others, and what is reached is its
//! assertion. Sound: the conjunction of the assertions holds initially, is closed under the steps of each process in its own
//! assertion, and in those of the others under its guarantee, which contains them. It differs from split invariants in one thing: there the steps of a
//! process are those it takes where its assertion holds. So nothing here depends on the assertions of others, nothing has to be
//! iterated, and less is proved: round a semaphore anybody may release it at any time. Where that is not enough there is
//! no verdict, or the assertions are refined as split invariants are.
//!
//! First the assertion of process i is `common and own_i` here too: `common` is what the guarantees of all reach together, and `own_i` has the guarantees
//! of the others where `common` allows them. That is as cheap as it can be, and leaves out how what is hidden of i depends on the classes of
//! others. Only where it does not suffice, the *sharp* assertions are computed, which are those of the paper: `own_i` is what process i reaches
//! with the guarantees of the others, over their classes too.
//!
//! After Meng, He, Wang and Liu, "Thread-modular model checking with iterative refinement" (NFM 2012), Algorithms 1 to 3.

use index_vec::IndexVec;
use threadwise_engine::{
    Answer, Decides, EngineInfo, Form as Given, Make, NO_SYMMETRY, OptionInfo,
};
use threadwise_evidence::{Outline, Reason, ReasonCode};
use threadwise_model::influence::Globals;
use threadwise_model::system::{ProcessId, SystemProperty};
use threadwise_symbolic::{Bdd, Diagrams, Halt, Layout, Search, Transition};

use super::assertions::{Assertions, Environments, close, close_common, summary};
use super::division::{Body, Division, Fixpoint, Staged};
use super::goals::Goals;
use super::sharp::outline_alone;
use super::view::{Representatives, Source, View};
use super::{Attempt, How, PREDICATES, Stage, decide, decide_by};
use crate::reach::{Method, engine};

/// Thread-modular checking, as it is known.
pub static THREAD_MODULAR: EngineInfo = EngineInfo {
    name: ThreadModular::NAME,
    about: "Each process against what the steps of the others may do to shared variables, wherever these are taken: quick, but no more than a proof or `unknown`.",
    decides: Decides::Safety,
    explains: true,
    options: &[NO_SYMMETRY],
    make: Make::One(|setup| {
        Ok(Box::new(ThreadModular(How {
            globals: true,
            ..How::of(setup)
        })))
    }),
};

/// Thread-modular checking with refinement, as it is known.
pub static THREAD_MODULAR_REFINED: EngineInfo = EngineInfo {
    name: ThreadModularRefined::NAME,
    about: "The same, refined in the way of `split` where it does not suffice; counterexamples as of `split`.",
    decides: Decides::Safety,
    explains: true,
    options: &[NO_SYMMETRY, SOME_PREDICATES],
    make: Make::One(|setup| {
        Ok(Box::new(ThreadModularRefined(How {
            globals: true,
            predicates: setup.options.choice(&SOME_PREDICATES)?,
            ..How::of(setup)
        })))
    }),
};

/// What `split` has, but for the last choice: there are no stages to follow violations through.
const SOME_PREDICATES: OptionInfo = match PREDICATES.form {
    Given::Choice(value, choices) => OptionInfo {
        form: Given::Choice(value, choices.split_at(3).0),
        ..PREDICATES
    },
    _ => PREDICATES,
};

/// Thread-modular checking: a proof, or no verdict.
#[derive(Clone, Copy, Debug)]
pub struct ThreadModular(pub How);

impl Default for ThreadModular {
    fn default() -> Self {
        ThreadModular(How {
            globals: true,
            ..How::default()
        })
    }
}

engine!(ThreadModular);

impl Method for ThreadModular {
    const NAME: &'static str = "thread-modular";

    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        let representatives = Representatives::new(search.symbolic.system, self.0.symmetry);
        decide_by(
            search,
            &representatives,
            self.0,
            properties,
            answers,
            |attempt: &mut Attempt<Guaranteed>, start| attempt.once(start),
        )?;
        Ok(None)
    }
}

/// Thread-modular checking with refinement.
#[derive(Clone, Copy, Debug)]
pub struct ThreadModularRefined(pub How);

impl Default for ThreadModularRefined {
    fn default() -> Self {
        ThreadModularRefined(How {
            globals: true,
            ..How::default()
        })
    }
}

engine!(ThreadModularRefined);

impl Method for ThreadModularRefined {
    const NAME: &'static str = "thread-modular-refined";

    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        let representatives = Representatives::new(search.symbolic.system, self.0.symmetry);
        decide::<Guaranteed>(search, &representatives, self.0, properties, answers)?;
        Ok(None)
    }
}

impl<'s> Attempt<'_, '_, 's, Guaranteed> {
    /// Looks whether the assertions prove the property as they are.
    fn once(&mut self, start: &Stage<'s, Guaranteed>) -> Result<Answer, Halt> {
        self.search.symbolic = start.symbolic.clone();
        let goals = Goals::of(self.search, &start.view, self.property)?;
        // Exact: what the assertions about others say of what everybody sees is a part of what is common.
        if goals.hold(self.search, &start.view, &start.assertions)? {
            return self.proved(start);
        }
        if self.globals != Globals::default() {
            // What nobody needs can still record what happened, and nothing will be exposed in its place.
            self.globals = Globals::default();
            let shared = Stage::new(self.search, self.representatives, &self.globals, &mut None)?;
            return self.once(&shared);
        }
        let reason = Reason::new(
            ReasonCode::GuaranteesTooWeak,
            "what the processes guarantee each other does not exclude a violation; whether there is one was not found out",
        );
        Ok(Answer::Unknown(reason.next(format!(
            "`--engine {}` goes on from here until the property is decided, which may take long",
            ThreadModularRefined::NAME
        ))))
    }
}

/// Assertions by guarantees.
pub(super) struct Guaranteed(Assertions);

/// The steps of each process.
type Moves = IndexVec<ProcessId, Vec<Transition>>;

/// The steps with what is unneeded left out; `None` if nothing is. Exact, because they do not depend on it.
fn needed(search: &Search, view: &View) -> Result<Option<Moves>, Halt> {
    let symbolic = &search.symbolic;
    let d = &symbolic.diagrams;
    if view.unneeded.is_empty() {
        return Ok(None);
    }
    let mut needed = IndexVec::new();
    for moves in &symbolic.transitions.moves {
        search.breathe()?;
        let mut kept = Vec::new();
        for step in moves {
            let step = step.project(d, &view.valid, &view.unneeded)?;
            if !step.is_idle() {
                kept.push(step.simplified(d)?);
            }
        }
        needed.push(kept);
    }
    Ok(Some(needed))
}

/// What each process guarantees, wherever its own cells have values.
fn guarantees(search: &Search, view: &View, moves: &Moves) -> Result<Moves, Halt> {
    let symbolic = &search.symbolic;
    let d = &symbolic.diagrams;
    let mut guarantees = IndexVec::new();
    for (process, own) in view.own.iter_enumerated() {
        search.breathe()?;
        let anywhere = symbolic.encoding.valid_cells(d, &own.cells)?;
        guarantees.push(summary(d, &moves[process], &anywhere, &own.hidden)?);
    }
    Ok(guarantees)
}

/// More layers than this are for chaining.
const MOST_LAYERS: usize = 64;

/// Adds layers of steps to the part of a process, until there are no more or many, unless a better layout shows up.
///
/// A guarantee holds wherever the others are, so that everybody's steps are enabled nearly everywhere. Chaining fires one process in
/// sets that the others have half explored, and where many touch the same cells these are far larger than any layer.
fn add_layers<'t>(
    search: &mut Search,
    own: &mut Bdd,
    steps: impl Iterator<Item = &'t Transition> + Clone,
) -> Result<Option<Layout>, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    if !symbolic.schedule.is_far() {
        return Ok(None);
    }
    for _ in 0..MOST_LAYERS {
        search.round();
        let before = own.clone();
        for step in steps.clone() {
            search.breathe()?;
            *own = d.or(own, &step.post(d, &before)?)?;
        }
        if *own == before {
            break;
        }
        if let Some(layout) = search.better_layout(own)? {
            return Ok(Some(layout));
        }
    }
    Ok(None)
}

/// Closes the part of a process under its steps and those of its environment, unless a better layout shows up.
fn close_own<'t>(
    search: &mut Search,
    own: &mut Bdd,
    steps: impl Iterator<Item = &'t Transition> + Clone,
) -> Result<Option<Layout>, Halt> {
    loop {
        let before = own.clone();
        if let Some(layout) = close(search, own, steps.clone())? {
            return Ok(Some(layout));
        }
        // The schedule knows who depends on whom through shared variables. What the others guarantee may also depend on classes.
        if *own == before {
            return Ok(None);
        }
    }
}

impl Guaranteed {
    /// With the own parts of those who stand for others.
    fn new(
        search: &Search,
        view: &View,
        representatives: &Representatives,
        mut parts: Assertions,
    ) -> Result<Self, Halt> {
        let symbolic = &search.symbolic;
        let d = &symbolic.diagrams;
        for Source { process, image } in representatives.sources(symbolic) {
            search.breathe()?;
            if let Some((from, permutation)) = image {
                parts.own[process] = symbolic.permute(&parts.own[from], &permutation)?;
            }
        }
        // Each process excludes what its guarantee allows, but not its steps. With that in the common part, nobody has to look at
        // the assertions of others to know what they say of what is seen.
        for process in view.own.indices().rev() {
            search.breathe()?;
            // An image may also speak of which codes of others stand for values.
            let seen = view.hidden.forget(d, &parts.own[process])?;
            parts.common = d.and(&parts.common, &seen)?;
        }
        Ok(Guaranteed(parts))
    }
}

impl Division for Guaranteed {
    type Representatives = Representatives;

    fn processes(representatives: &Representatives) -> Vec<ProcessId> {
        representatives.all()
    }

    fn outline(
        search: &Search,
        stage: &Stage<Self>,
        representatives: &Representatives,
    ) -> Result<Outline, Halt> {
        outline_alone(search, stage, &stage.assertions.0, representatives)
    }

    fn strongest(
        search: &mut Search,
        view: &View,
        representatives: &Representatives,
    ) -> Result<Fixpoint<Self>, Halt> {
        let symbolic = search.symbolic.clone();
        let mut parts = Assertions::first(&symbolic, view)?;
        let needed = needed(search, view)?;
        let moves = needed.as_ref().unwrap_or(&symbolic.transitions.moves);
        let guarantees = guarantees(search, view, moves)?;
        let exposes = view.exposes();
        if exposes {
            close_common(search, view, &guarantees, &mut parts.common)?;
        }
        let wanted = representatives.all();
        let environments =
            Environments::new(search, view, &parts.common, &guarantees)?.of(search, &wanted)?;
        for (&process, environment) in wanted.iter().zip(&environments) {
            let steps = moves[process].iter().chain(environment);
            let own = &mut parts.own[process];
            if let Some(layout) = add_layers(search, own, steps.clone())? {
                return Ok(Fixpoint::Rearrange(layout));
            }
            if let Some(layout) = close_own(search, own, steps)? {
                return Ok(Fixpoint::Rearrange(layout));
            }
        }
        let parts = Guaranteed::new(search, view, representatives, parts)?;
        Ok(Fixpoint::Reached(parts))
    }

    fn sharp(
        search: &mut Search,
        view: &View,
        representatives: &Representatives,
        _reachable: &mut Option<usize>,
    ) -> Result<Option<Fixpoint<Self>>, Halt> {
        let symbolic = search.symbolic.clone();
        let d = &symbolic.diagrams;
        let needed = needed(search, view)?;
        let moves = needed.as_ref().unwrap_or(&symbolic.transitions.moves);
        let guarantees = guarantees(search, view, moves)?;
        let mut parts = Assertions {
            common: d.all(),
            own: view.own.iter().map(|_| d.all()).collect(),
            sharp: true,
        };
        for process in representatives.all() {
            let own = &mut parts.own[process];
            let others = view.hidden_outside(d, |other| other == process)?;
            *own = others.forget(d, &view.initial(&symbolic)?)?;
            let theirs = guarantees.iter().flatten();
            let theirs = theirs.filter(|step| step.process != process);
            let steps = moves[process].iter().chain(theirs);
            if let Some(layout) = close_own(search, own, steps)? {
                return Ok(Some(Fixpoint::Rearrange(layout)));
            }
        }
        let parts = Guaranteed::new(search, view, representatives, parts)?;
        Ok(Some(Fixpoint::Reached(parts)))
    }

    fn is_sharp(&self) -> bool {
        self.0.sharp
    }

    fn rows(&self) -> Vec<Vec<&Bdd>> {
        self.0.rows()
    }

    fn among(&self, d: &Diagrams, set: &Bdd, processes: &[ProcessId]) -> Result<Bdd, Halt> {
        self.0.among(d, set, processes)
    }

    fn two_of(&self, d: &Diagrams, view: &View, bodies: &[Body]) -> Result<Bdd, Halt> {
        self.0.two_of(d, view, bodies)
    }
}
