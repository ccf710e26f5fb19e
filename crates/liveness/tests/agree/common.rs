//! Comparing engines with the oracle. Every proof is accepted by the independent checker, and every run is replayed by the
//! interpreter, and judged by the oracle as well.

use threadwise_certify::check;
use threadwise_engine::{Answer, Engine, Limits, Run, RunEnding, Silent};
use threadwise_liveness::{Local, Monolithic, Variant};
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemProperty};
use threadwise_model::temporal::Liveness;
use threadwise_testgen::liveness::{Judgement, Lasso, LassoStep};

/// An engine in some setting.
pub struct Setting {
    /// What to call it.
    pub name: &'static str,
    /// Whether one process stands for all that are alike.
    pub symmetric: bool,
    /// Whether it looks at one process at a time.
    pub local: bool,
    certificates: bool,
    engine: Box<dyn Engine + Sync + Send>,
}

/// Every engine, in every setting that may matter to a verdict.
pub fn settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for symmetric in [false, true] {
        settings.push(Setting {
            name: match symmetric {
                false => "monolithic",
                true => "monolithic, symmetric",
            },
            symmetric,
            local: false,
            certificates: true,
            engine: Box::new(Monolithic {
                symmetric,
                certificates: true,
                ..Monolithic::default()
            }),
        });
    }
    // Few states are looked at, so that values that occur are not among those seen at first.
    for (name, symmetric, look) in [
        ("monolithic, narrow", false, 1),
        ("monolithic, symmetric, narrow", true, 12),
    ] {
        settings.push(Setting {
            name,
            symmetric,
            local: false,
            certificates: true,
            engine: Box::new(Monolithic {
                symmetric,
                certificates: true,
                look: Some(look),
                ..Monolithic::default()
            }),
        });
    }
    // Without certificates one process stands for others in more places.
    for (name, variant, symmetric, certificates, must) in [
        ("plain", Variant::Plain, false, true, false),
        ("plain, symmetric", Variant::Plain, true, true, false),
        (
            "plain, symmetric, uncertified",
            Variant::Plain,
            true,
            false,
            false,
        ),
        ("a", Variant::A, false, true, false),
        ("a, symmetric", Variant::A, true, true, false),
        ("a, symmetric, uncertified", Variant::A, true, false, false),
        ("a, symmetric, must", Variant::A, true, true, true),
        ("b", Variant::B, false, true, false),
        ("b, symmetric", Variant::B, true, true, false),
        ("b, must", Variant::B, false, true, true),
    ] {
        settings.push(Setting {
            name,
            symmetric,
            local: true,
            certificates,
            engine: Box::new(Local {
                variant,
                symmetric,
                certificates,
                must,
                ..Local::default()
            }),
        });
    }
    settings
}

/// What became of the answers of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub proved: usize,
    pub violated: usize,
    /// Answers that needed a refinement.
    pub refined: usize,
    /// Answers for which a local engine looked at the whole program after all.
    pub gave_up: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.proved += other.proved;
        self.violated += other.violated;
        self.refined += other.refined;
        self.gave_up += other.gave_up;
    }
}

/// So many states are few.
const FEW: usize = 150;

/// A liveness property of a program.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub instance: &'a Instance,
    pub system: &'a System,
    pub property: &'a SystemProperty,
    pub liveness: &'a Liveness,
}

/// The answer of an engine to a question, compared with the oracle's.
pub fn compare(question: Question, oracle: &Judgement, setting: &Setting) -> Result<Count, String> {
    let Question {
        instance,
        system,
        property,
        liveness,
    } = question;
    let place = format!("{}, {}", setting.name, property.name);
    // Making room for diagrams takes longer than deciding something about few states.
    let limits = Limits {
        memory: (oracle.states <= FEW).then_some(16 << 20),
        ..Limits::NONE
    };
    let outcome = setting.engine.check(system, property, &limits, &mut Silent);
    let mut count = Count::default();
    match (&oracle.violation, outcome.answers.first()) {
        (None, Some(Answer::Proved(certificate))) => {
            count.proved += 1;
            if certificate.is_some() != setting.certificates {
                return Err(format!("{place}: no certificate, or one too many"));
            }
            if let Some(certificate) = certificate {
                let checked = check(instance, certificate, &property.name, &|| false);
                checked.map_err(|error| format!("{place}: {error}"))?;
            }
        }
        (Some(_), Some(Answer::Violated(run))) => {
            count.violated += 1;
            let lasso = lasso(run).ok_or_else(|| format!("{place}: a run that ends"))?;
            if lasso.refutes(system, liveness) != Ok(true) {
                return Err(format!("{place}: not refuted by {lasso:?}"));
            }
            run.record(instance, system, &property.name)
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
    let mut rounds = outcome.accounts.iter().flat_map(|account| &account.rounds);
    count.gave_up += usize::from(rounds.any(|round| round.text.contains("the whole program")));
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
