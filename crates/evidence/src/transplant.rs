//! A run of one instance at another: the same processes take the same steps, and all others none.
//!
//! A bug that two processes have is as a rule one that two of a hundred have, and is found sooner with two. Whether it is one there, too, the interpreter says: what it
//! does not confirm is no run.

use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};

use crate::record::{RunEnding, record, valuation};
use crate::trace::{CheckName, Ending, Step, Trace};

/// Initial states that are tried.
const STARTS: usize = 16;
/// Steps that are tried, in all.
const TRIES: usize = 2_000;

/// The run of a trace at another instance of the same program, if there is one. Runs without end are not tried. `source` is the program's text.
pub fn transplant(trace: &Trace, instance: &Instance) -> Option<Trace> {
    if trace.loop_from.is_some() || trace.steps.len() > TRIES {
        return None;
    }
    let mut search = Search {
        trace,
        instance,
        left: TRIES,
        steps: Vec::new(),
    };
    let starts = Interpreter::new(instance).initial_states().ok()?;
    starts
        .take(STARTS)
        .find_map(|initial| search.from(&initial, &initial, &trace.steps))
}

struct Search<'a> {
    trace: &'a Trace,
    instance: &'a Instance,
    left: usize,
    /// The steps so far.
    steps: Vec<(ProcessRef, State)>,
}

impl Search<'_> {
    /// A run with these steps from a state on that ends as the trace does. Recursion is as deep as the trace is long.
    fn from(&mut self, initial: &State, state: &State, steps: &[Step]) -> Option<Trace> {
        let Some((step, rest)) = steps.split_first() else {
            return self.finish(initial, state);
        };
        if step.rest {
            return self.from(initial, state, rest);
        }
        for (process, after) in self.candidates(state, step)? {
            self.steps.push((process, after.clone()));
            let found = self.from(initial, &after, rest);
            if found.is_some() {
                return found;
            }
            self.steps.pop();
        }
        None
    }

    /// What the process of a step can do that leads to the same label, the most similar first.
    fn candidates(&mut self, state: &State, step: &Step) -> Option<Vec<(ProcessRef, State)>> {
        self.left = self.left.checked_sub(1)?;
        let names = Names::new(self.instance);
        let process = names.parse_process(&step.process, state).ok()?;
        let outcomes = Interpreter::new(self.instance)
            .outcomes(state, process)
            .ok()?;
        let mut found: Vec<(usize, State)> = Vec::new();
        for outcome in outcomes {
            if let Outcome::Move {
                state: after, to, ..
            } = outcome
                && names.location(process.template, to) == step.to
            {
                let changes = valuation(names.changes(state, &after)).0;
                let same = |change: &&(String, _)| step.changes.0.contains(change);
                let same = changes.iter().filter(same).count();
                found.push((step.changes.0.len().abs_diff(same), after));
            }
        }
        // The order of what is equally similar stays.
        found.sort_by_key(|(differences, _)| *differences);
        let found = found.into_iter().map(|(_, after)| (process, after));
        Some(found.collect())
    }

    /// The whole run, if it ends as the trace does.
    fn finish(&self, initial: &State, last: &State) -> Option<Trace> {
        let ending = match &self.trace.ending {
            Ending::Invariant { .. } => RunEnding::Invariant,
            Ending::Deadlock => RunEnding::Deadlock,
            Ending::End => RunEnding::End,
            Ending::Check { process, check, .. } => {
                let process = Names::new(self.instance)
                    .parse_process(process, last)
                    .ok()?;
                let outcomes = Interpreter::new(self.instance).outcomes(last, process);
                let failure = outcomes
                    .ok()?
                    .into_iter()
                    .find_map(|outcome| match outcome {
                        Outcome::Fail { failure, .. }
                            if CheckName::from(failure.kind) == *check =>
                        {
                            Some(failure)
                        }
                        _ => None,
                    });
                RunEnding::Check {
                    process,
                    failure: failure?,
                }
            }
        };
        let property = self.trace.property.as_deref();
        let (initial, steps) = (initial.clone(), self.steps.clone());
        record(self.instance, property, initial, steps, ending).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::replay;

    const RACE: &str = "
        param N = 2 where N >= 2;
        shared x: 0..1 = 0;
        shared owner: P? = none;
        process P[i: 1..N] {
            look: await x == 0;
            take: atomic { x := 1; owner := i; }
            have: atomic { assert N < 5; }
        }
        invariant mutex: forall i, j in P: i != j -> !(P[i] at have && P[j] at have);
        invariant few: N < 4 || (forall i in P: !P[i] at have);
    ";

    fn instance(n: i64) -> Instance {
        let program = threadwise_lang::check(RACE).program.unwrap();
        Instance::new(Arc::new(program), &BTreeMap::from([("N".to_owned(), n)])).unwrap()
    }

    /// A run in which processes take turns, each one step, at an instance.
    fn run(n: i64, turns: &[u32], property: &str, ending: RunEnding) -> Trace {
        let instance = instance(n);
        let interpreter = Interpreter::new(&instance);
        let initial = interpreter.initial_states().unwrap().next().unwrap();
        let mut state = initial.clone();
        let mut steps = Vec::new();
        for turn in turns {
            let process = ProcessRef {
                template: threadwise_lang::program::TemplateId::from_usize(0),
                index: *turn,
            };
            let outcomes = interpreter.outcomes(&state, process).unwrap();
            let Some(Outcome::Move { state: after, .. }) = outcomes.into_iter().next() else {
                panic!("it moves");
            };
            state = after.clone();
            steps.push((process, after));
        }
        record(&instance, Some(property), initial, steps, ending).unwrap()
    }

    #[test]
    fn a_bug_of_two_is_one_of_many() {
        let trace = run(2, &[0, 1, 0, 1], "mutex", RunEnding::Invariant);
        for n in [3, 10, 100] {
            let moved = transplant(&trace, &instance(n)).unwrap();
            assert_eq!(moved.params, BTreeMap::from([("N".to_owned(), n)]));
            assert_eq!(moved.steps.len(), 4);
            replay(&instance(n), &moved).unwrap();
        }
    }

    #[test]
    fn what_is_no_violation_elsewhere_is_no_run() {
        let trace = run(4, &[0, 0], "few", RunEnding::Invariant);
        assert!(transplant(&trace, &instance(5)).is_some());
        assert!(transplant(&trace, &instance(3)).is_none());
        // Nor is there a third process at an instance with two.
        let trace = run(3, &[2, 1, 2, 1], "mutex", RunEnding::Invariant);
        assert!(transplant(&trace, &instance(2)).is_none());
    }
}
