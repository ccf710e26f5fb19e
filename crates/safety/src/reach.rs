//! What makes an engine for safety of a method that searches with decision diagrams.
//!
//! Shortest runs come from breadth-first layers, which are computed only when there is a run to show.

use threadwise_engine::{Answer, Limits, Observer, Outcome, Run};
use threadwise_evidence::Account;
use threadwise_model::system::{ProcessId, System, SystemProperty};
use threadwise_symbolic::{
    Bdd, Error, Grown, Halt, SIFT_AT, Search, Symbolic, room, with_deep_stack,
};

use crate::target;

/// A method that searches with decision diagrams; [`engine!`] makes an engine of it.
pub(crate) trait Method: Sync {
    /// What `--engine` calls it.
    const NAME: &'static str;

    /// The number of nodes at which a better order of variables is looked for.
    fn sift_at(&self) -> usize {
        SIFT_AT
    }

    /// Answers what is open, as far as it gets; the result is the set of all reachable states, if that was computed.
    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt>;
}

/// Makes engines of methods.
macro_rules! engine {
    ($method:ty) => {
        impl threadwise_engine::Engine for $method {
            fn name(&self) -> &'static str {
                <Self as $crate::reach::Method>::NAME
            }

            fn accepts(
                &self,
                system: &threadwise_model::system::System,
                property: &threadwise_model::system::SystemProperty,
            ) -> Result<(), threadwise_engine::Unsupported> {
                $crate::target::accepts(self.name(), system, property)
            }

            fn check_all(
                &self,
                system: &threadwise_model::system::System,
                properties: &[&threadwise_model::system::SystemProperty],
                limits: &threadwise_engine::Limits,
                observer: &mut dyn threadwise_engine::Observer,
            ) -> threadwise_engine::Outcome {
                $crate::reach::run_search(self, system, properties, limits, observer)
            }
        }
    };
}
pub(crate) use engine;

/// Runs a method for the properties that it accepts, where the recursion of the diagrams has room.
/// What is left open when it halts is unknown.
pub(crate) fn run_search<M: Method>(
    method: &M,
    system: &System,
    properties: &[&SystemProperty],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut answers: Vec<Option<Answer>> = properties
        .iter()
        .map(
            |property| match target::accepts(M::NAME, system, property) {
                Ok(()) => None,
                Err(unsupported) => Some(Answer::Unknown(unsupported.into())),
            },
        )
        .collect();
    let mut outcome = Outcome::default();
    if answers.iter().any(Option::is_none) {
        let result = with_deep_stack(|| -> Result<(), Halt> {
            let grown = Grown::default();
            let symbolic = Symbolic::new(system, room(limits))?;
            let mut under_way =
                Search::new(&grown, symbolic, limits, observer).sifting_at(method.sift_at());
            under_way.accounts = vec![Account::default(); properties.len()];
            let result = method.search(&mut under_way, properties, &mut answers);
            let reached = result.as_ref().ok().and_then(Option::as_ref);
            outcome.stats = under_way.stats(reached);
            outcome.accounts = std::mem::take(&mut under_way.accounts);
            outcome.complete = reached.is_some();
            result.map(|_| ())
        });
        if let Err(halt) = result {
            for answer in answers.iter_mut().filter(|answer| answer.is_none()) {
                *answer = Some(Answer::Unknown(halt.clone().into()));
            }
        }
    }
    outcome.answers = answers.into_iter().flatten().collect();
    outcome
}

/// A shortest run into a set that can be reached, by breadth-first layers forwards.
pub(crate) fn shortest_run(
    search: &mut Search,
    property: &SystemProperty,
    bad: &Bdd,
) -> Result<Run, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let mut layers = vec![symbolic.initial.clone()];
    let mut reached = symbolic.initial.clone();
    loop {
        let last = layers.last().unwrap_or(&reached);
        let hit = d.and(last, bad)?;
        if !d.is_empty(&hit) {
            return walk_back(search, property, &layers, &hit);
        }
        let after = search.post(&layers[layers.len() - 1].clone())?;
        let new = d.minus(&after, &reached)?;
        if d.is_empty(&new) {
            return Err(Error::Internal("a reachable set that no run leads to").into());
        }
        reached = d.or(&reached, &new)?;
        layers.push(new);
    }
}

/// A run through the layers that ends in a state of the last one.
fn walk_back(
    search: &mut Search,
    property: &SystemProperty,
    layers: &[Bdd],
    hit: &Bdd,
) -> Result<Run, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let missing = || Halt::from(Error::Internal("a layer without a predecessor"));
    let mut state = symbolic.pick(hit).ok_or_else(missing)?;
    let ending = target::ending(symbolic.system, property, &state).ok_or_else(missing)?;
    let mut backwards: Vec<(ProcessId, Vec<i64>)> = Vec::new();
    for layer in layers[..layers.len() - 1].iter().rev() {
        let here = symbolic.singleton(&state)?;
        let mut found = None;
        for transition in symbolic.transitions.moves.iter().flatten() {
            let before = d.and(&transition.pre(d, &here)?, layer)?;
            if let Some(previous) = symbolic.pick(&before) {
                found = Some((transition.process, previous));
                break;
            }
        }
        let (process, previous) = found.ok_or_else(missing)?;
        backwards.push((process, std::mem::replace(&mut state, previous)));
    }
    backwards.reverse();
    Ok(Run {
        initial: state,
        steps: backwards,
        ending,
    })
}
