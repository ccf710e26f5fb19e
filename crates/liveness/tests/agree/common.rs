//! Comparing engines with the oracle. Every proof is accepted by the independent checker, and every run is replayed by the
//! interpreter, and judged by the oracle as well.

use threadwise_certify::check;
use threadwise_engine::{Answer, Engine, Limits, Run, RunEnding, Silent};
use threadwise_liveness::Monolithic;
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemProperty};
use threadwise_model::temporal::Liveness;
use threadwise_testgen::liveness::{Judgement, Lasso, LassoStep};

/// An engine with what to call it.
pub type Named = (&'static str, Box<dyn Engine + Sync + Send>);

/// Every engine, in every setting that may matter to a verdict.
pub fn engines() -> Vec<Named> {
    vec![(
        "monolithic",
        Box::new(Monolithic {
            symmetric: true,
            certificates: true,
        }),
    )]
}

/// What became of the answers of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub proved: usize,
    pub violated: usize,
    /// Answers that needed a refinement.
    pub refined: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.proved += other.proved;
        self.violated += other.violated;
        self.refined += other.refined;
    }
}

/// A liveness property of a program.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub instance: &'a Instance,
    pub text: &'a str,
    pub system: &'a System,
    pub property: &'a SystemProperty,
    pub liveness: &'a Liveness,
}

/// The answer of an engine to a question, compared with the oracle's.
pub fn compare(
    question: Question,
    oracle: &Judgement,
    (name, engine): &Named,
) -> Result<Count, String> {
    let Question {
        instance,
        text,
        system,
        property,
        liveness,
    } = question;
    let place = format!("{name}, {}", property.name);
    let outcome = engine.check(system, property, &Limits::NONE, &mut Silent);
    let mut count = Count::default();
    match (&oracle.violation, outcome.answers.first()) {
        (None, Some(Answer::Proved(certificate))) => {
            count.proved += 1;
            let Some(certificate) = certificate else {
                return Err(format!("{place}: no certificate"));
            };
            let checked = check(instance, certificate, &property.name, &|| false);
            checked.map_err(|error| format!("{place}: {error}"))?;
        }
        (Some(_), Some(Answer::Violated(run))) => {
            count.violated += 1;
            let lasso = lasso(run).ok_or_else(|| format!("{place}: a run that ends"))?;
            if lasso.refutes(system, liveness) != Ok(true) {
                return Err(format!("{place}: not refuted by {lasso:?}"));
            }
            run.record(instance, text, system, &property.name)
                .map_err(|error| format!("{place}: {error}"))?;
        }
        (expected, found) => {
            return Err(format!("{place}: expected {expected:?}, found {found:?}"));
        }
    }
    let refined = outcome
        .accounts
        .iter()
        .any(|account| account.refinements > Some(0));
    count.refined += usize::from(refined);
    Ok(count)
}

/// A run without end in the oracle's terms.
fn lasso(run: &Run) -> Option<Lasso> {
    let RunEnding::Loop { from, moves } = &run.ending else {
        return None;
    };
    let mut before = &run.initial;
    let mut steps = Vec::new();
    for (position, (process, state)) in run.steps.iter().enumerate() {
        steps.push(LassoStep {
            process: *process,
            moves: state != before || moves.contains(&position),
            state: state.clone(),
        });
        before = state;
    }
    Some(Lasso {
        initial: run.initial.clone(),
        steps,
        loop_from: *from,
    })
}
