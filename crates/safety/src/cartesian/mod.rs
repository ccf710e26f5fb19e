//! Cartesian abstraction with exception sets.
//!
//! For each valuation of the shared variables and each thread there is one set of local states; abstractly, any combination
//! of them is possible. That is thread-modular verification, polynomial in the number of threads, and it loses every relation between threads.
//! An *exception set* keeps some of it: its states are left out when the combinations are formed, and put back unchanged.
//!
//! After Malkis, Podelski and Rybalchenko, "Precise thread-modular verification" (SAS 2007). How sets of states are
//! kept is told in `graph`, how the abstraction of a step is computed in `abstraction`, where exceptions come from in `refine`. Nothing here uses
//! binary diagrams: local states are numbers, whatever their values are.

mod abstraction;
mod formula;
mod graph;
mod outline;
mod proof;
mod refine;
mod sets;
mod threads;

use serde::Deserialize;
use threadwise_engine::{
    Answer, Decides, Engine, EngineInfo, Form, Limits, Make, Observer, OptionInfo, Outcome,
    Unsupported,
};
use threadwise_evidence::Account;
use threadwise_model::intervals::{Bounds, Interval};
use threadwise_model::system::{System, SystemProperty};
use threadwise_symbolic::with_deep_stack;

use self::abstraction::Abstraction;
use crate::target;

/// Cartesian abstraction, as the engine is known.
pub static CARTESIAN: EngineInfo = EngineInfo {
    name: "cartesian",
    about: "One set of local states for each thread and each valuation of the shared variables, combined freely but for exceptions, which are the model's or computed; counterexamples as of `split`.",
    decides: Decides::Safety,
    explains: true,
    options: &[EXCEPTIONS],
    make: Make::One(|setup| {
        Ok(Box::new(Cartesian {
            exceptions: setup.options.choice(&EXCEPTIONS)?,
            certificates: setup.certificates,
            explain: setup.explain,
        }))
    }),
};

const EXCEPTIONS: OptionInfo = OptionInfo::new(
    "exceptions",
    "In `cartesian`, which states are kept as they are while all others are combined",
    Form::Choice(
        "WHICH",
        &[
            (
                "both",
                "Those of the model, and what else is needed (default)",
            ),
            (
                "given",
                "Those of the model alone; `unknown` where they do not suffice",
            ),
            ("computed", "What is needed, whatever the model says"),
        ],
    ),
);

/// Cartesian abstraction with exception sets.
#[derive(Clone, Copy, Debug)]
pub struct Cartesian {
    /// Where exceptions come from.
    pub exceptions: Exceptions,
    /// Make a certificate of each proof.
    pub certificates: bool,
    /// Write proofs as outlines, too.
    pub explain: bool,
}

impl Default for Cartesian {
    fn default() -> Self {
        Cartesian {
            exceptions: Exceptions::default(),
            certificates: true,
            explain: false,
        }
    }
}

/// Where exceptions come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exceptions {
    /// The model's, and what else is needed.
    #[default]
    Both,
    /// The model's alone. Where they do not suffice there is no answer.
    Given,
    /// What is needed; the model's are not looked at.
    Computed,
}

impl Engine for Cartesian {
    fn name(&self) -> &'static str {
        CARTESIAN.name
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        target::accepts(self.name(), system, property)?;
        match system.initially.is_empty() {
            true => Ok(()),
            false => Err(Unsupported {
                message: format!(
                    "`{}` takes the initial values of each process by themselves, and `initially` ties them together",
                    self.name()
                ),
                next: Some("`forward` and `explicit` take such programs".to_owned()),
            }),
        }
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let mut outcome = Outcome {
            accounts: vec![Account::default(); properties.len()],
            ..Outcome::default()
        };
        with_deep_stack(|| {
            let finite = finite(self.name(), system);
            let mut abstraction = Abstraction::new(self, system, limits, observer);
            for (property, account) in properties.iter().zip(&mut outcome.accounts) {
                let accepted = self.accepts(system, property).and(finite.clone());
                outcome.answers.push(match accepted {
                    Ok(()) => abstraction
                        .decide(property, account)
                        .unwrap_or_else(|halt| Answer::Unknown(halt.into())),
                    Err(unsupported) => Answer::Unknown(unsupported.into()),
                });
            }
            outcome.stats = abstraction.stats();
        });
        outcome
    }
}

/// An `int` that is known to stay among so many values is finite enough.
const MOST_VALUES: i128 = 1 << 16;

/// The abstraction forgets how often others have done what they do: whoever adds to a variable without bounds adds for ever.
fn finite(name: &str, system: &System) -> Result<(), Unsupported> {
    let bounds = Bounds::of(system);
    let unbounded = system.vars.iter_enumerated().find(|(id, var)| {
        let Interval { lo, hi } = bounds.vars[*id];
        let count = i128::from(hi) - i128::from(lo) + 1;
        system.values(var.domain).is_none() && count > MOST_VALUES
    });
    match unbounded {
        None => Ok(()),
        Some((_, var)) => Err(Unsupported {
            message: format!(
                "`{name}` needs finitely many values, and no bounds of `{}` are known",
                var.name
            ),
            next: Some("give it a range as its type; `explicit` takes it as it is".to_owned()),
        }),
    }
}
