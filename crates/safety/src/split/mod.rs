//! Split invariants: one assertion for each process, over what is shared and its own cells, whose conjunction is
//! inductive.
//!
//! Sound, because the conjunction is an inductive invariant; complete for finite programs, because when it is too weak
//! something is exposed, or the error set grows, and both can happen only finitely often. What is exposed of a process is
//! which class the value of one of its cells is in; the others' assertions may then speak of it. With everything exposed
//! the invariant is the set of reachable states.
//!
//! After Cohen and Namjoshi, "Local proofs for global safety properties" (CAV 2007). Errors are looked for at the
//! fixpoint, which lets the computation chain; the proof by "invariant without errors" makes that complete.

mod assertions;
mod division;
mod form;
mod goals;
mod outline;
mod pairs;
mod pairwise;
mod refine;
mod together;
mod view;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use threadwise_engine::{Answer, Run};
use threadwise_evidence::{Account, Certificate, Outline};
use threadwise_model::symmetry;
use threadwise_model::system::{IdUse, ProcessId, SystemProperty};
use threadwise_symbolic::{Bdd, Error, Layout, Symbolic};

use self::assertions::Assertions;
use self::division::{Division, Fixpoint};
pub use self::form::Form;
use self::goals::Goals;
use self::outline::terms::{Literal, Naming, all_values};
pub use self::pairwise::Pairwise;
use self::refine::{Predicate, Refinement, refine};
use self::view::{Representatives, View};
use crate::certificate;
use crate::reach::{Halt, Method, Search, engine};
use crate::target;

/// Split invariants with refinement.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// Compute the assertion of one process for all that the types cannot tell from it.
    pub symmetry: bool,
    /// Make a certificate of each proof.
    pub certificates: bool,
    /// In which form.
    pub form: Form,
    /// Write proofs as outlines, too.
    pub explain: bool,
}

impl Default for Split {
    fn default() -> Self {
        Split {
            symmetry: true,
            certificates: true,
            form: Form::default(),
            explain: false,
        }
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
        let representatives = if self.symmetry {
            Representatives::by_symmetry(system)
        } else {
            Representatives::everybody(system)
        };
        let how = How {
            symmetric: self.symmetry,
            certificates: self.certificates,
            form: self.form,
            explain: self.explain,
        };
        decide::<Assertions>(search, &representatives, how, properties, answers)?;
        Ok(None)
    }
}

/// Choices of the two engines.
#[derive(Clone, Copy)]
struct How {
    /// One assertion stands for all that are alike.
    symmetric: bool,
    /// Make certificates.
    certificates: bool,
    /// In which form.
    form: Form,
    /// Write proofs as outlines, too.
    explain: bool,
}

/// Decides the properties that have no answer yet.
fn decide<'s, D: Division>(
    search: &mut Search<'_, 's>,
    representatives: &D::Representatives,
    how: How,
    properties: &[&SystemProperty],
    answers: &mut [Option<Answer>],
) -> Result<(), Halt> {
    let start = Stage::<D>::new(search, representatives)?;
    for (place, property) in properties.iter().enumerate() {
        if answers[place].is_none() {
            let mut attempt = Attempt::<D> {
                place,
                search,
                representatives,
                how,
                property,
                layers: Vec::new(),
            };
            answers[place] = Some(attempt.run(&start)?);
        }
    }
    Ok(())
}

/// Of how many predicates a round tells.
const FEW_TO_TELL: usize = 8;

/// The split invariant for what is exposed at some time.
pub(crate) struct Stage<'s, D> {
    symbolic: Rc<Symbolic<'s>>,
    view: View,
    assertions: D,
    /// The assertions in readable form, once somebody asks: several properties can have the same proof. `None` if that takes too long.
    outline: OnceCell<Option<Outline>>,
}

impl<'s, D: Division> Stage<'s, D> {
    fn new(
        search: &mut Search<'_, 's>,
        representatives: &D::Representatives,
    ) -> Result<Self, Halt> {
        loop {
            let view = View::new(&search.symbolic)?;
            match D::strongest(search, &view, representatives)? {
                Fixpoint::Reached(assertions) => {
                    return Ok(Stage {
                        symbolic: search.symbolic.clone(),
                        view,
                        assertions,
                        outline: OnceCell::new(),
                    });
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
    /// The error set, by how many steps its states are away from what the property forbids; empty as
    /// long as nobody has needed it.
    layers: Vec<Bdd>,
}

impl<'s, D: Division> Attempt<'_, '_, 's, D> {
    fn run(&mut self, start: &Stage<'s, D>) -> Result<Answer, Halt> {
        *self.account() = Account {
            refinements: Some(0),
            extensions: Some(0),
            predicates: Some(0),
            ..Account::default()
        };
        self.search.symbolic = start.symbolic.clone();
        let goals = Goals::of(self.search, self.property)?;
        if goals.hold(self.search, &start.view, &start.assertions)? {
            return self.proved(start);
        }
        let d = &start.symbolic.diagrams;
        let bad = target::forbidden(&start.symbolic, self.property)?;
        self.layers = vec![d.and(&bad, &start.symbolic.valid)?];
        let mut refined: Option<Stage<'s, D>> = None;
        loop {
            let stage = refined.as_ref().unwrap_or(start);
            if let Some(run) = self.violation()? {
                return Ok(Answer::Violated(run));
            }
            let d = &stage.symbolic.diagrams;
            let invariant = stage.assertions.conjunction(d)?;
            let mut error = d.none();
            for layer in &self.layers {
                error = d.or(&error, layer)?;
            }
            if d.is_empty(&d.and(&invariant, &error)?) {
                return self.proved(stage);
            }
            let processes = self.looked_at(&stage.view);
            match refine(self.search, &stage.view, &processes, &invariant, &error)? {
                Refinement::Proof(set) => {
                    let distance = self.layers.len() as u64;
                    self.explained(stage, Some(distance));
                    return Ok(self.certified(&stage.symbolic, &set));
                }
                Refinement::Extend(before) => {
                    self.tell_extension(&stage.symbolic, &before);
                    self.layers.push(before);
                }
                Refinement::Expose(predicates) => {
                    self.tell_refinement(&stage.symbolic, &predicates);
                    let layout = self.exposing(&stage.symbolic.layout, predicates);
                    let new = stage.symbolic.rebuild(layout)?;
                    self.search.replace(new);
                    let next = Stage::new(self.search, self.representatives)?;
                    // The first layer is quickly made anew.
                    let new = &next.symbolic;
                    let bad = target::forbidden(new, self.property)?;
                    self.layers[0] = new.diagrams.and(&bad, &new.valid)?;
                    for layer in &mut self.layers[1..] {
                        *layer = new.import(&stage.symbolic, layer)?;
                    }
                    refined = Some(next);
                }
            }
        }
    }

    fn account(&mut self) -> &mut Account {
        &mut self.search.accounts[self.place]
    }

    fn tell_refinement(&mut self, symbolic: &Symbolic, predicates: &BTreeSet<Predicate>) {
        let naming = Naming::plain(symbolic.system);
        let mut exposed = Vec::new();
        for (cell, value) in predicates.iter().take(FEW_TO_TELL) {
            let literal = Literal::In {
                cell: *cell,
                values: BTreeSet::from([*value]),
            };
            let text = naming.literal(&literal, &all_values(symbolic, *cell));
            exposed.push(text.to_string());
        }
        if predicates.len() > FEW_TO_TELL {
            exposed.push(format!("{} more", predicates.len() - FEW_TO_TELL));
        }
        let everywhere = if self.how.symmetric {
            ", and the same of processes like these"
        } else {
            ""
        };
        let account = self.account();
        *account.refinements.get_or_insert(0) += 1;
        account.rounds.push(format!(
            "the assertions allow a violation; what tells it from states that are none is exposed: {}{everywhere}",
            exposed.join(", ")
        ));
    }

    fn tell_extension(&mut self, symbolic: &Symbolic, before: &Bdd) {
        let size = symbolic.diagrams.size(before);
        let account = self.account();
        *account.extensions.get_or_insert(0) += 1;
        account.rounds.push(format!(
            "the violation is told from everything else already; the states before it become errors too (a set of {size} nodes)"
        ));
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
            let classes = layout.classes.entry(cell).or_default();
            if !classes.contains(&vec![value]) {
                classes.push(vec![value]);
                *self.account().predicates.get_or_insert(0) += 1;
            }
        }
        layout
    }

    fn closed(&self, mut predicates: BTreeSet<Predicate>) -> BTreeSet<Predicate> {
        if !self.how.symmetric {
            return predicates;
        }
        let system = self.search.symbolic.system;
        let anonymous = SystemProperty {
            ids: IdUse::default(),
            ..self.property.clone()
        };
        let generators: Vec<_> = symmetry::generators(system, &anonymous)
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
        if let Some(set) = self.how.form.whole(&symbolic.diagrams, assertions)? {
            return Ok(self.certified(symbolic, &set));
        }
        let parts = certificate::graphs(symbolic, assertions.rows().into_iter().flatten());
        Ok(Answer::Proved(parts.map(|parts| {
            Certificate::conjunction(symbolic.system, &self.property.name, parts)
        })))
    }

    fn certified(&self, symbolic: &Symbolic, set: &Bdd) -> Answer {
        let graph = certificate::graph(symbolic, set);
        Answer::Proved(
            graph.map(|graph| Certificate::inductive(symbolic.system, &self.property.name, graph)),
        )
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
        let Some((initial, mut distance)) = start else {
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
        Ok(Some(Run {
            initial,
            steps,
            ending,
        }))
    }
}
