//! Split invariants: one assertion for each process, over what is shared and its own cells, whose conjunction is
//! inductive.
//!
//! Sound, because the conjunction is an inductive invariant; complete for finite programs, because when it is too weak
//! something is exposed, or the error set grows, and both can happen only finitely often. What is exposed of a process is
//! which class the value of one of its cells is in; the others' assertions may then speak of it. With everything exposed
//! the invariant is the set of reachable states.
//!
//! After Cohen and Namjoshi, "Local proofs for global safety properties" (CAV 2007). Errors are looked for at the
//! fixpoint, which lets the computation chain; the proof by "invariant without errors" makes that complete. As in the paper,
//! they can also be looked for at every stage of the computation (`stages`).

mod assertions;
mod division;
mod form;
mod goals;
mod outline;
mod pairs;
mod pairwise;
mod refine;
mod sharp;
mod stages;
mod thread_modular;
mod together;
mod view;
mod witnesses;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::Deserialize;
use threadwise_engine::{
    Answer, Decides, EngineInfo, Form as Given, Make, NO_SYMMETRY, OptionInfo, Refused, Run, Setup,
};
use threadwise_evidence::{Account, Certificate, Outline, Round};
use threadwise_model::influence::{Globals, Influence};
use threadwise_model::symmetry::{self, Permutation};
use threadwise_model::system::{CellId, IdUse, ProcessId, System, SystemProperty};
use threadwise_symbolic::{Bdd, Error, Halt, Layout, Search, Symbolic, certificate};

pub use self::assertions::{Assertions, summary};
pub(crate) use self::division::Division;
use self::division::Fixpoint;
pub use self::form::Form;
use self::goals::Goals;
pub(crate) use self::outline::terms::Naming;
use self::outline::terms::{Literal, all_values};
pub(crate) use self::outline::{outline_at_leisure, tell_relations_omitted};
pub use self::pairwise::{PAIRWISE, Pairwise};
use self::refine::{Among, Predicate, Refinement, refine};
pub use self::thread_modular::{
    THREAD_MODULAR, THREAD_MODULAR_REFINED, ThreadModular, ThreadModularRefined,
};
pub use self::view::{Own, Representatives, Source, View};
use self::witnesses::Witnesses;
use crate::reach::{Method, engine};
use crate::target;

/// Split invariants with refinement, as the engine is known.
pub static SPLIT: EngineInfo = EngineInfo {
    name: Split::NAME,
    about: "One assertion for each process, refined by exposing facts about processes until it is a proof or an error is real; counterexamples are runs through the layers of the error set, not always the shortest.",
    decides: Decides::Safety,
    explains: true,
    options: &[NO_SYMMETRY, ERRORS, PREDICATES, WITNESSES],
    make: Make::One(|setup| Ok(Box::new(Split::of(setup)?))),
};

const ERRORS: OptionInfo = OptionInfo::new(
    "errors",
    "In `split`, when to look for errors in the assertions",
    Given::Choice(
        "WHEN",
        &[
            ("fixpoint", "When the assertions are complete (default)"),
            (
                "stages",
                "After every step of everybody, as the method was published",
            ),
        ],
    ),
);

const PREDICATES: OptionInfo = OptionInfo::new(
    "predicates",
    "In `split` and `thread-modular-refined`, where to look for the facts that the assertions about other processes may speak of",
    Given::Choice(
        "SOURCE",
        &[
            ("violations", "All violations at once (default)"),
            (
                "states",
                "One violation after the other, until some fact that was found holds in each",
            ),
            ("one", "The same, with a single fact of each violation"),
            (
                "paths",
                "The place where the way to the violations breaks; errors are looked for at every stage (`split` only)",
            ),
        ],
    ),
);

const WITNESSES: OptionInfo = OptionInfo::flag(
    "witnesses",
    "In `split`, let everybody see who is at a label (or has a value), before they see of each process whether it is",
);

/// Split invariants with refinement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Split {
    /// What it has in common with others.
    pub how: How,
    /// When errors are looked for.
    pub errors: Errors,
}

/// Choices that the engines have which compute assertions about few processes.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Compute one assertion for all processes, or pairs, that the types cannot tell apart.
    pub symmetry: bool,
    /// Make a certificate of each proof.
    pub certificates: bool,
    /// In which form.
    pub form: Form,
    /// Write proofs as outlines, too.
    pub explain: bool,
    /// What tells errors from other states, and so is exposed.
    pub predicates: Predicates,
    /// Expose of all processes together which one of them it is that a predicate holds of, before it is exposed of each.
    pub witnesses: bool,
    /// Do not share shared variables that only one process needs, or nobody.
    pub globals: bool,
}

impl Default for How {
    fn default() -> Self {
        How {
            symmetry: true,
            certificates: true,
            form: Form::default(),
            explain: false,
            predicates: Predicates::default(),
            witnesses: false,
            globals: false,
        }
    }
}

impl How {
    fn of(setup: &Setup) -> How {
        How {
            symmetry: !setup.options.has(&NO_SYMMETRY),
            certificates: setup.certificates,
            explain: setup.explain,
            ..How::default()
        }
    }
}

/// When errors are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// When the assertions are complete, so that they can be computed in any order.
    #[default]
    Fixpoint,
    /// At every stage, each of which adds one step of everybody: as published.
    Stages,
}

/// Where the predicates come from that are exposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predicates {
    /// All violations at once.
    #[default]
    Violations,
    /// One violation after the other, unless a predicate found before holds there.
    States,
    /// The same with one predicate of each violation, so that one process may be left out.
    One,
    /// The place where the way to the violations breaks. Errors are looked for at every stage then.
    Paths,
}

impl Split {
    fn of(setup: &Setup) -> Result<Split, Refused> {
        let (errors, predicates) = (
            setup.options.choice(&ERRORS)?,
            setup.options.choice(&PREDICATES)?,
        );
        let fixpoint = setup.options.has(&ERRORS) && errors == Errors::Fixpoint;
        if fixpoint && predicates == Predicates::Paths {
            return Err(Refused {
                message: "`--predicates paths` follows violations through the stages, and `--errors fixpoint` has none".to_owned(),
                help: "leave out `--errors`, or say `--errors stages`".to_owned(),
            });
        }
        let how = How {
            predicates,
            witnesses: setup.options.has(&WITNESSES),
            ..How::of(setup)
        };
        Ok(Split { how, errors })
    }
}

engine!(Split);

impl Method for Split {
    const NAME: &'static str = "split";

    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        let system = search.symbolic.system;
        let (how, representatives) = (self.how, Representatives::new(system, self.how.symmetry));
        if self.errors == Errors::Stages || how.predicates == Predicates::Paths {
            stages::decide::<Assertions>(search, &representatives, how, properties, answers)?;
        } else {
            decide::<Assertions>(search, &representatives, how, properties, answers)?;
        }
        Ok(None)
    }
}

/// Decides the properties that have no answer yet.
fn decide<D: Division>(
    search: &mut Search,
    representatives: &D::Representatives,
    how: How,
    properties: &[&SystemProperty],
    answers: &mut [Option<Answer>],
) -> Result<(), Halt> {
    decide_by(
        search,
        representatives,
        how,
        properties,
        answers,
        |attempt: &mut Attempt<D>, start| attempt.run(start),
    )
}

/// The same in a way that begins with the assertions for which nothing is exposed.
fn decide_by<'s, D: Division>(
    search: &mut Search<'_, 's>,
    representatives: &D::Representatives,
    how: How,
    properties: &[&SystemProperty],
    answers: &mut [Option<Answer>],
    mut run: impl FnMut(&mut Attempt<'_, '_, 's, D>, &Stage<'s, D>) -> Result<Answer, Halt>,
) -> Result<(), Halt> {
    let symbolic = search.symbolic.clone();
    // Properties that need different cells begin with different assertions.
    let mut starts: Vec<Stage<D>> = Vec::new();
    each(
        search,
        representatives,
        how,
        properties,
        answers,
        |attempt| {
            let known = starts.iter();
            let mut known = known.filter(|start| start.view.globals == attempt.globals);
            if let Some(start) = known.next() {
                return run(attempt, start);
            }
            attempt.search.symbolic = symbolic.clone();
            let start = Stage::new(attempt.search, representatives, &attempt.globals, &mut None)?;
            let answer = run(attempt, &start);
            starts.push(start);
            answer
        },
    )
}

/// Makes an attempt for each property that has no answer yet.
fn each<'s, D: Division>(
    search: &mut Search<'_, 's>,
    representatives: &D::Representatives,
    how: How,
    properties: &[&SystemProperty],
    answers: &mut [Option<Answer>],
    mut run: impl FnMut(&mut Attempt<'_, '_, 's, D>) -> Result<Answer, Halt>,
) -> Result<(), Halt> {
    let influence = how
        .globals
        .then(|| Influence::new(search.symbolic.optimised()));
    for (place, property) in properties.iter().enumerate() {
        if answers[place].is_none() {
            let globals = match &influence {
                Some(influence) => {
                    let symmetries = match how.symmetry {
                        true => anonymous(search.system, property),
                        false => Vec::new(),
                    };
                    influence.globals(property, &symmetries)
                }
                None => Globals::default(),
            };
            let mut attempt = Attempt::<D> {
                place,
                search,
                representatives,
                how,
                property,
                globals,
                witnesses: Witnesses::default(),
                layers: Vec::new(),
                reachable: None,
            };
            answers[place] = Some(run(&mut attempt)?);
        }
    }
    Ok(())
}

/// The symmetries of a system, whomever a property names.
fn anonymous(system: &System, property: &SystemProperty) -> Vec<Permutation> {
    let anonymous = SystemProperty {
        ids: IdUse::default(),
        ..property.clone()
    };
    symmetry::generators(system, &anonymous)
}

/// Of how many predicates a round tells.
const FEW_TO_TELL: usize = 8;

/// The strongest split invariant for what a layout exposes. The search goes on in another layout if that is better.
pub fn split_invariant(
    search: &mut Search,
    representatives: &Representatives,
) -> Result<(View, Assertions), Halt> {
    let stage: Stage<Assertions> =
        Stage::new(search, representatives, &Globals::default(), &mut None)?;
    Ok((stage.view, stage.assertions))
}

/// That a cell has one of some values, in words.
pub fn fact(symbolic: &Symbolic, cell: CellId, values: BTreeSet<i64>) -> String {
    let literal = Literal::In { cell, values };
    let naming = Naming::plain(symbolic.system);
    naming
        .literal(&literal, &all_values(symbolic, cell))
        .to_string()
}

/// A split invariant as an outline. Nothing depends on it, so it may take no longer than there is time for such things.
pub fn split_outline(
    search: &Search,
    representatives: &Representatives,
    view: View,
    assertions: Assertions,
) -> Result<Outline, Halt> {
    let stage = Stage::of(search.symbolic.clone(), view, assertions);
    outline::outline(search, &stage, representatives)
}

/// The split invariant for what is exposed at some time.
pub(crate) struct Stage<'s, D> {
    symbolic: Rc<Symbolic<'s>>,
    view: View,
    assertions: D,
    /// Whether stronger assertions were asked for.
    sharpened: Cell<bool>,
    /// The assertions in readable form, once somebody asks: several properties can have the same proof. `None` if that takes too long.
    outline: OnceCell<Option<Outline>>,
}

impl<'s, D: Division> Stage<'s, D> {
    pub(crate) fn of(symbolic: Rc<Symbolic<'s>>, view: View, assertions: D) -> Self {
        Stage {
            symbolic,
            view,
            assertions,
            sharpened: Cell::new(false),
            outline: OnceCell::new(),
        }
    }

    /// The assertions for what the layout exposes. The sharp ones come first if it is known that the reachable states take little.
    fn new(
        search: &mut Search<'_, 's>,
        representatives: &D::Representatives,
        globals: &Globals,
        reachable: &mut Option<usize>,
    ) -> Result<Self, Halt> {
        loop {
            let view = View::new(&search.symbolic, globals)?;
            let sharp = match reachable {
                Some(_) => D::sharp(search, &view, representatives, reachable)?,
                None => None,
            };
            let fixpoint = match sharp {
                Some(sharp) => sharp,
                None => D::strongest(search, &view, representatives)?,
            };
            match fixpoint {
                Fixpoint::Reached(assertions) => {
                    return Ok(Stage::of(search.symbolic.clone(), view, assertions));
                }
                Fixpoint::Rearrange(layout) => {
                    let new = search.symbolic.rebuild(layout)?;
                    search.replace(new);
                }
            }
        }
    }
}

/// The attempt to decide one property.
struct Attempt<'a, 'l, 's, D: Division> {
    /// Which one.
    place: usize,
    search: &'a mut Search<'l, 's>,
    representatives: &'a D::Representatives,
    how: How,
    property: &'a SystemProperty,
    /// Which shared cells are not.
    globals: Globals,
    /// What the diagrams have that the system has not.
    witnesses: Witnesses,
    /// The error set, by how many steps its states are away from what the property forbids; empty as
    /// long as nobody has needed it.
    layers: Vec<Bdd>,
    /// How many nodes the reachable states took, if that was less than the factored assertions did.
    reachable: Option<usize>,
}

impl<'s, D: Division> Attempt<'_, '_, 's, D> {
    /// Refines until the property is decided.
    fn run(&mut self, start: &Stage<'s, D>) -> Result<Answer, Halt> {
        self.search.symbolic = start.symbolic.clone();
        self.count();
        let mut refined: Option<Stage<'s, D>> = None;
        loop {
            let stage = refined.as_ref().unwrap_or(start);
            // As long as errors are what the property forbids, the conjunction of all assertions may not be needed.
            if self.layers.len() <= 1 {
                let goals = Goals::of(self.search, &stage.view, self.property)?;
                if goals.hold(self.search, &stage.view, &stage.assertions)? {
                    return self.proved(stage);
                }
            }
            if self.layers.is_empty() {
                self.layers.push(self.forbidden()?);
            }
            if let Some(run) = self.violation()? {
                return Ok(Answer::Violated(run));
            }
            let d = &stage.symbolic.diagrams;
            let invariant = d.and(&stage.assertions.conjunction(d)?, &stage.view.valid)?;
            let error = self.error()?;
            if d.is_empty(&d.and(&invariant, &error)?) {
                return self.proved(stage);
            }
            if !stage.sharpened.replace(true)
                && let Some(next) = self.sharper(stage)?
            {
                refined = Some(next);
                continue;
            }
            match self.refine(&stage.view, &invariant, &error)? {
                Refinement::Proof(set) => return self.proved_without_errors(stage, &set),
                Refinement::Extend(before) => self.extend(before),
                Refinement::Expose(predicates) => {
                    self.expose(predicates)?;
                    let next = self.stage()?;
                    self.bring_layers(&stage.symbolic)?;
                    refined = Some(next);
                }
            }
        }
    }

    /// The stage for what is exposed now.
    fn stage(&mut self) -> Result<Stage<'s, D>, Halt> {
        let (representatives, reachable) = (self.representatives, &mut self.reachable);
        Stage::new(self.search, representatives, &self.globals, reachable)
    }

    /// The stage with stronger assertions, if there are some for what is exposed. The layers are brought along.
    fn sharper(&mut self, stage: &Stage<'s, D>) -> Result<Option<Stage<'s, D>>, Halt> {
        let (assertions, view) = (&stage.assertions, &stage.view);
        if assertions.is_sharp() {
            return Ok(None);
        }
        let next = D::sharp(self.search, view, self.representatives, &mut self.reachable)?;
        Ok(match next {
            None => None,
            Some(Fixpoint::Reached(assertions)) => {
                let symbolic = stage.symbolic.clone();
                let view = View::new(&symbolic, &self.globals)?;
                Some(Stage::of(symbolic, view, assertions))
            }
            Some(Fixpoint::Rearrange(layout)) => {
                self.search.replace(stage.symbolic.rebuild(layout)?);
                let next = self.stage()?;
                self.bring_layers(&stage.symbolic)?;
                Some(next)
            }
        })
    }

    /// From here on there is something to count, even if it stays 0.
    fn count(&mut self) {
        *self.account() = Account {
            refinements: Some(0),
            extensions: Some(0),
            predicates: Some(0),
            ..Account::default()
        };
    }

    /// What the property forbids.
    fn forbidden(&self) -> Result<Bdd, Halt> {
        let symbolic = &self.search.symbolic;
        let bad = target::forbidden(symbolic, self.property)?;
        Ok(symbolic.diagrams.and(&bad, &symbolic.valid)?)
    }

    /// All layers of the error set.
    fn error(&self) -> Result<Bdd, Halt> {
        let d = &self.search.symbolic.diagrams;
        let mut error = d.none();
        for layer in &self.layers {
            error = d.or(&error, layer)?;
        }
        Ok(error)
    }

    /// What is to be done about errors among these states.
    fn refine(&mut self, view: &View, states: &Bdd, error: &Bdd) -> Result<Refinement, Halt> {
        let among = Among {
            view,
            processes: &self.looked_at(view),
            mentioned: &self.mentioned()?,
            predicates: self.how.predicates,
        };
        refine(self.search, &among, states, error)
    }

    /// The variables by which states are errors.
    fn mentioned(&self) -> Result<BTreeSet<u32>, Halt> {
        let d = &self.search.symbolic.diagrams;
        // Without what is said of codes that stand for nothing.
        let bad = target::forbidden(&self.search.symbolic, self.property)?;
        let mut mentioned = d.support(&bad);
        for layer in &self.layers[1..] {
            mentioned.extend(d.support(layer));
        }
        Ok(mentioned)
    }

    /// These are errors too.
    fn extend(&mut self, before: Bdd) {
        self.tell_extension(&before);
        self.layers.push(before);
    }

    /// Goes on with diagrams in which these predicates are exposed too. The layers have to be brought along.
    fn expose(&mut self, predicates: BTreeSet<Predicate>) -> Result<(), Halt> {
        let symbolic = self.search.symbolic.clone();
        if !self.how.witnesses {
            self.tell_refinement(&predicates, Vec::new());
            let layout = self.exposing(&symbolic.layout, predicates);
            self.search.replace(symbolic.rebuild(layout)?);
            return Ok(());
        }
        let sorted = self.witnesses.sort(self.search.system, predicates);
        self.tell_refinement(&sorted.others, sorted.told(self.search.system));
        if !sorted.given_up.is_empty() {
            // What they said of errors goes with them.
            self.layers.truncate(1);
        }
        let known = self.account().predicates.get_or_insert(0);
        *known = *known + sorted.new.len() as u64 - sorted.given_up.len() as u64;
        let grown = self.witnesses.system(self.search.system);
        let grown = grown.ok_or(Error::Internal(
            "a witness that was possible is not any more",
        ))?;
        let grown = self.search.grown.keep(grown);
        let layout = witnesses::layout(&symbolic.layout, self.search.system, grown);
        let layout = self.exposing(&layout, sorted.others);
        let room = symbolic.diagrams.room();
        self.search
            .replace(Symbolic::with_layout(grown, layout, room)?);
        Ok(())
    }

    /// Brings the layers to the present diagrams.
    fn bring_layers(&mut self, from: &Symbolic) -> Result<(), Halt> {
        // The first layer is quickly made anew.
        self.layers[0] = self.forbidden()?;
        for layer in &mut self.layers[1..] {
            *layer = self.search.symbolic.import(from, layer)?;
        }
        Ok(())
    }

    fn account(&mut self) -> &mut Account {
        &mut self.search.accounts[self.place]
    }

    /// Tells what a refinement exposes: these predicates, and what there is about witnesses.
    fn tell_refinement(&mut self, predicates: &BTreeSet<Predicate>, witnesses: Vec<String>) {
        let symbolic = self.search.symbolic.clone();
        let mut exposed = Vec::new();
        for (cell, value) in predicates.iter().take(FEW_TO_TELL) {
            exposed.push(fact(&symbolic, *cell, BTreeSet::from([*value])));
        }
        if predicates.len() > FEW_TO_TELL {
            exposed.push(format!("{} more", predicates.len() - FEW_TO_TELL));
        }
        if self.closed(predicates.clone()).len() > predicates.len() {
            exposed.push("and the same of processes like these".to_owned());
        }
        exposed.extend(witnesses);
        let text = format!(
            "the assertions allow a violation; refined with predicates that separate the violation: {}",
            exposed.join(", ")
        );
        let round = self.measured(Round::new(text).exposing(exposed));
        let account = self.account();
        *account.refinements.get_or_insert(0) += 1;
        account.rounds.push(round);
    }

    fn tell_extension(&mut self, before: &Bdd) {
        let size = self.search.symbolic.diagrams.size(before);
        let round = self.measured(Round::new(format!(
            "the violation is told from everything else already; the states before it become errors too (a set of {size} nodes)"
        )));
        let account = self.account();
        *account.extensions.get_or_insert(0) += 1;
        account.rounds.push(round);
    }

    fn measured(&self, round: Round) -> Round {
        let nodes = self.search.symbolic.diagrams.nodes();
        round
            .sized(nodes, "nodes")
            .after(self.search.limits.seconds())
    }

    /// The processes whose predicates are looked for.
    fn looked_at(&self, view: &View) -> Vec<ProcessId> {
        if self.property.ids == IdUse::default() {
            D::processes(self.representatives)
        } else {
            view.own.indices().collect()
        }
    }

    /// A layout in which these predicates are exposed too; by symmetry, those of all processes.
    fn exposing(&mut self, layout: &Layout, predicates: BTreeSet<Predicate>) -> Layout {
        let mut layout = layout.clone();
        for (cell, value) in self.closed(predicates) {
            if !layout.exposes(cell, value) {
                layout.classes.entry(cell).or_default().push(vec![value]);
                *self.account().predicates.get_or_insert(0) += 1;
            }
        }
        layout
    }

    fn closed(&self, mut predicates: BTreeSet<Predicate>) -> BTreeSet<Predicate> {
        if !self.how.symmetry {
            return predicates;
        }
        let system = self.search.symbolic.system;
        let generators: Vec<_> = anonymous(system, self.property)
            .into_iter()
            .map(|generator| (generator.cells(system), generator))
            .collect();
        let mut waiting: Vec<Predicate> = predicates.iter().copied().collect();
        while let Some((cell, value)) = waiting.pop() {
            for (cells, generator) in &generators {
                let (to, domain) = cells[cell];
                let image = (to, generator.value(system, domain, value));
                if predicates.insert(image) {
                    waiting.push(image);
                }
            }
        }
        predicates
    }

    /// Writes the proof as an outline, if that is wanted. The proof stands without it, so that one that would take too long is none.
    fn explained(&mut self, stage: &Stage<'s, D>, distance: Option<u64>) {
        if self.how.explain {
            let outline = stage
                .outline
                .get_or_init(|| D::outline(self.search, stage, self.representatives).ok());
            self.account().outline = outline.clone().map(|outline| Outline {
                distance,
                ..outline
            });
        }
    }

    fn proved(&mut self, stage: &Stage<'s, D>) -> Result<Answer, Halt> {
        self.explained(stage, None);
        if !self.how.certificates {
            return Ok(Answer::Proved(None));
        }
        let (symbolic, assertions) = (&stage.symbolic, &stage.assertions);
        let d = &symbolic.diagrams;
        // Parts that speak of witnesses are none without the others.
        let whole = if symbolic.system.cells > self.search.system.cells {
            Some(assertions.conjunction(d)?)
        } else {
            self.how.form.whole(d, assertions)?
        };
        if let Some(set) = whole {
            return self.certified(symbolic, &set);
        }
        let parts = certificate::graphs(symbolic, assertions.rows().into_iter().flatten());
        Ok(Answer::Proved(parts.map(|parts| {
            Certificate::conjunction(self.search.system, &self.property.name, parts)
        })))
    }

    /// The assertions allow errors, but nothing else leads to them.
    fn proved_without_errors(&mut self, stage: &Stage<'s, D>, set: &Bdd) -> Result<Answer, Halt> {
        let distance = self.layers.len() as u64;
        self.explained(stage, Some(distance));
        self.certified(&stage.symbolic, set)
    }

    fn certified(&self, symbolic: &Symbolic, set: &Bdd) -> Result<Answer, Halt> {
        let set = witnesses::forget(symbolic, self.search.system, set)?;
        let graph = certificate::graph(symbolic, self.search.system, &set);
        Ok(Answer::Proved(graph.map(|graph| {
            Certificate::inductive(self.search.system, &self.property.name, graph)
        })))
    }

    /// A run through the layers of the error set, if an initial state is among them. Each step leads to a lower layer, so
    /// the run ends in what the property forbids.
    fn violation(&mut self) -> Result<Option<Run>, Halt> {
        let symbolic = self.search.symbolic.clone();
        let d = &symbolic.diagrams;
        let mut start = None;
        for (distance, layer) in self.layers.iter().enumerate() {
            if let Some(state) = symbolic.pick(&d.and(layer, &symbolic.initial)?) {
                start = Some((state, distance));
                break;
            }
        }
        let Some((mut initial, mut distance)) = start else {
            return Ok(None);
        };
        let missing = || Halt::from(Error::Internal("an error that no step leads on from"));
        let mut steps: Vec<(ProcessId, Vec<i64>)> = Vec::new();
        while distance > 0 {
            let here = steps.last().map_or(&initial, |(_, state)| state);
            let here = symbolic.singleton(here)?;
            let mut best: Option<(usize, ProcessId, Vec<i64>)> = None;
            for transition in symbolic.transitions.moves.iter().flatten() {
                self.search.breathe()?;
                let after = transition.post(d, &here)?;
                let limit = best.as_ref().map_or(distance, |(distance, ..)| *distance);
                for (lower, layer) in self.layers[..limit].iter().enumerate() {
                    if let Some(state) = symbolic.pick(&d.and(&after, layer)?) {
                        best = Some((lower, transition.process, state));
                        break;
                    }
                }
            }
            let (lower, process, state) = best.ok_or_else(missing)?;
            steps.push((process, state));
            distance = lower;
        }
        let last = steps.last().map_or(&initial, |(_, state)| state);
        let ending = target::ending(symbolic.system, self.property, last).ok_or_else(missing)?;
        // The cells of witnesses come last.
        initial.truncate(self.search.system.cells);
        for (_, state) in &mut steps {
            state.truncate(self.search.system.cells);
        }
        Ok(Some(Run {
            initial,
            steps,
            ending,
        }))
    }
}
