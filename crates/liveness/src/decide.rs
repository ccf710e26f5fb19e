//! What all engines for liveness share: which properties they take, and the frame around deciding each.

use std::collections::BTreeSet;

use threadwise_engine::{Answer, Engine, Limits, Observer, Outcome, Stop, Unsupported};
use threadwise_evidence::{Account, Outline, Reason, ReasonCode, Stats, Symmetric, Vacuity};
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{Expr, System, SystemProperty, SystemPropertyKind};
use threadwise_model::temporal::{Formula, Liveness};
use threadwise_symbolic::{Error, Halt, Search, Symbolic, room, with_deep_stack};

use crate::monolithic::no_fair_run;
use crate::orbits::images;
use crate::vacuity::takes_turns_fairly;

/// The attempt to decide a property.
pub(crate) struct Attempt<'a> {
    pub(crate) system: &'a System,
    pub(crate) property: &'a SystemProperty,
    pub(crate) liveness: &'a Liveness,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) account: Account,
    /// What was exposed, to be used elsewhere.
    pub(crate) learnt: std::collections::BTreeSet<crate::Exposed>,
    /// Conjuncts that wait for what never happens.
    pub(crate) never: BTreeSet<usize>,
    /// The argument of the proof, as far as it was told.
    pub(crate) outline: Outline,
    stats: Stats,
}

impl Attempt<'_> {
    /// Which conjuncts are images of others, if that is wanted.
    pub(crate) fn images(
        &self,
        conjuncts: &[Formula<Expr>],
        symmetric: bool,
    ) -> Result<Vec<Option<(usize, Permutation)>>, Halt> {
        if !symmetric || conjuncts.len() < 2 {
            return Ok(vec![None; conjuncts.len()]);
        }
        match Symbolic::without_steps(self.system, room(self.limits)) {
            Ok(symbolic) => images(&symbolic, self.property, conjuncts),
            // Each is then decided by itself.
            Err(Error::TooManyValues { .. }) => Ok(vec![None; conjuncts.len()]),
            Err(error) => Err(error.into()),
        }
    }

    /// What a certificate says of the conjuncts that are images of others.
    pub(crate) fn symmetric(&self, images: &[Option<(usize, Permutation)>]) -> Vec<Symmetric> {
        let entry = |(number, image): (usize, &Option<(usize, Permutation)>)| {
            let (of, permutation) = image.as_ref()?;
            Some(Symmetric::new(self.system, number, *of, permutation))
        };
        images.iter().enumerate().filter_map(entry).collect()
    }

    /// Says of a proof that there was nothing to prove, if that is so. `images` are the conjuncts that others stand for.
    pub(crate) fn judge_vacuity(
        &mut self,
        observer: &mut dyn Observer,
        images: &[Option<(usize, Permutation)>],
    ) {
        let never = (0..images.len()).filter(|number| {
            let of = images[*number].as_ref().map_or(*number, |(of, _)| *of);
            self.never.contains(&of)
        });
        let never: Vec<usize> = never.collect();
        if !never.is_empty() {
            self.account.vacuous = Some(Vacuity::NeverTriggered {
                conjuncts: never,
                triggers: Vec::new(),
            });
        }
        if takes_turns_fairly(self.system, self.liveness) {
            return;
        }
        let limits = self.limits;
        let stop = || match limits.has_leisure() {
            true => limits.should_stop(),
            false => Some(Stop::Time),
        };
        let leisurely = Limits {
            stop: Some(&stop),
            ..*limits
        };
        // What cannot be told in time is not told.
        if let Ok(true) = no_fair_run(self.system, self.liveness, &leisurely, observer) {
            self.account.vacuous = Some(Vacuity::NoFairRun);
        }
    }

    /// Adds what a search has counted.
    pub(crate) fn count(&mut self, search: &Search) {
        let more = search.stats(None);
        *self.stats.iterations.get_or_insert(0) += more.iterations.unwrap_or(0);
        self.stats.peak_nodes = self.stats.peak_nodes.max(more.peak_nodes);
    }
}

/// Whether an engine can decide a property.
pub(crate) fn accepts(
    name: &str,
    system: &System,
    property: &SystemProperty,
) -> Result<(), Unsupported> {
    let SystemPropertyKind::Liveness(_) = property.kind else {
        return Err(Unsupported {
            message: format!(
                "`{name}` decides liveness properties, and `{}` is none",
                property.name
            ),
            next: Some("use a safety engine".to_owned()),
        });
    };
    if let Some(template) = system.templates.iter().find(|template| template.dynamic) {
        return Err(Unsupported {
            message: format!(
                "`{name}` needs a fixed number of processes, and those of `{}` are started while others run",
                template.name
            ),
            next: None,
        });
    }
    Ok(())
}

/// Decides properties one after the other, where the recursion of the diagrams has room.
pub(crate) fn all(
    engine: &(impl Engine + Sync),
    system: &System,
    properties: &[&SystemProperty],
    limits: &Limits,
    observer: &mut dyn Observer,
    decide: impl Fn(&mut Attempt, &mut dyn Observer) -> Result<Answer, Halt> + Sync,
) -> Outcome {
    let mut outcome = Outcome::default();
    with_deep_stack(|| {
        for property in properties {
            let refused = engine.accepts(system, property).err();
            let (answer, account) = match (&property.kind, refused) {
                (SystemPropertyKind::Liveness(liveness), None) => {
                    let mut attempt = Attempt {
                        system,
                        property,
                        liveness,
                        limits,
                        account: Account::default(),
                        learnt: BTreeSet::new(),
                        never: BTreeSet::new(),
                        outline: Outline::default(),
                        stats: std::mem::take(&mut outcome.stats),
                    };
                    let answer = decide(&mut attempt, observer);
                    outcome.stats = attempt.stats;
                    let answer = answer.unwrap_or_else(|halt| {
                        let mut reason = Reason::from(halt);
                        if reason.code == ReasonCode::Unsupported {
                            // What takes such programs decides no liveness.
                            reason.next =
                                Some("give variables ranges with fewer values".to_owned());
                        }
                        Answer::Unknown(reason)
                    });
                    let told = !attempt.outline.argument.is_empty();
                    let account = Account {
                        exposed: attempt.learnt.into_iter().collect(),
                        outline: told.then_some(attempt.outline),
                        ..attempt.account
                    };
                    (answer, account)
                }
                (_, Some(unsupported)) => (Answer::Unknown(unsupported.into()), Account::default()),
                // Refused above.
                (_, None) => continue,
            };
            outcome.answers.push(answer);
            outcome.accounts.push(account);
        }
    });
    outcome
}
