//! What instances of a program say about a claim for all of them.
//!
//! A property that is proved at every instance that the claim is about is proved. One that is proved at some of them is not: the verdict is unknown, and the reason says where it holds.

use threadwise_evidence::{Certificate, Reason, ReasonCode, Stats};
use threadwise_lang::program::Program;

use crate::claim::{Claim, listed};
use crate::judge::scope;
use crate::report::{PropertyResult, Scope, VerdictKind};
use crate::setting::Values;

/// What was found about a property that is violated at none of the instances that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Where it holds, and the proof.
    pub(crate) held: Vec<(Values, PropertyResult)>,
    /// The last instance at which it was not decided, and what is said of that.
    pub(crate) left: Option<(Values, PropertyResult)>,
}

impl Seen {
    /// Whether there is no time for further instances.
    pub(crate) fn out_of_time(&self) -> bool {
        let left = self.left.as_ref();
        let reason = left.and_then(|(_, left)| left.reason.as_ref());
        reason.is_some_and(|reason| {
            matches!(reason.code, ReasonCode::Timeout | ReasonCode::Interrupted)
        })
    }

    /// The result about the claim, if anything was found; `tried` says why there is no proof for all, and `spent` what all of it took.
    pub(crate) fn result(
        self,
        program: &Program,
        given: &Values,
        claim: &Claim,
        tried: Vec<String>,
        spent: &Stats,
    ) -> Option<PropertyResult> {
        let holds: Vec<Values> = self.held.iter().map(|(values, _)| values.clone()).collect();
        let covers = |all: &Vec<Values>| all.iter().all(|values| holds.contains(values));
        let covered = claim.all.as_ref().is_some_and(covers);
        // Whoever reads a proof knows the default.
        let default =
            |(values, _): &&(Values, PropertyResult)| claim.default.as_ref() == Some(values);
        let shown = self.held.iter().find(default).or(self.held.last());
        let at = shown.map(|(values, _)| values.clone());
        let (_, shown) = shown.or(self.left.as_ref())?;
        let several = holds.len() > 1;
        let mut stats = match several {
            // Of which of them would the others be?
            true => Stats::default(),
            false => shown.stats.clone(),
        };
        stats.seconds = spent.seconds.or(stats.seconds);
        stats.cpu_seconds = spent.cpu_seconds.or(stats.cpu_seconds);
        let found = PropertyResult {
            stats,
            certificate: None,
            ..shown.clone()
        };
        if !covered {
            return Some(PropertyResult {
                verdict: VerdictKind::Unknown,
                scope: scope(program, given),
                rechecked: false,
                reason: self.reason(&holds, claim),
                holds,
                shown: at,
                tried,
                ..found
            });
        }
        let unchecked = self.held.iter().find(|(_, result)| !result.rechecked);
        let certificates = self.held.iter().filter_map(|(values, result)| {
            let certificate = result.certificate.clone()?;
            Some((values.clone(), certificate))
        });
        let certificates: Vec<(Values, Certificate)> = certificates.collect();
        Some(PropertyResult {
            scope: match holds.as_slice() {
                [values] => Scope::Instance {
                    values: values.clone(),
                },
                _ => scope(program, given),
            },
            rechecked: unchecked.is_none(),
            reason: unchecked.and_then(|(_, result)| result.reason.clone()),
            certificate: match certificates.as_slice() {
                [(_, one)] if !several => Some(one.clone()),
                _ => None,
            },
            certificates: certificates.into_iter().filter(|_| several).collect(),
            ..found
        })
    }

    /// Why the claim is not decided.
    fn reason(&self, holds: &[Values], claim: &Claim) -> Option<Reason> {
        let left = self.left.as_ref();
        let left = left.and_then(|(values, left)| Some((values, left.reason.clone()?)));
        let Some(first) = holds.first() else {
            return left.map(|(_, reason)| reason);
        };
        let held = format!("holds for {}", listed(holds));
        if let Some((_, reason)) = &left
            && reason.code.is_limit()
        {
            return Some(Reason {
                message: format!("{}; {held}", reason.message),
                ..reason.clone()
            });
        }
        let mut message = format!("{held}, not proved for every {}", claim.open.join(", "));
        if let Some((values, reason)) = left {
            message.push_str(&format!("; at {values}: {}", reason.message));
        }
        let one = claim
            .default
            .as_ref()
            .filter(|values| holds.contains(values));
        let sets = one.unwrap_or(first).0.iter();
        let sets = sets.filter(|(name, _)| claim.open.contains(name));
        let sets = sets.map(|(name, value)| format!("--set {name}={value}"));
        let sets: Vec<String> = sets.collect();
        Some(Reason::new(ReasonCode::Bounded, message).next(format!(
            "`--verbose` says what was tried for every {}; to claim less, say so: {}, or `where` in the model",
            claim.open.join(", "),
            sets.join(" ")
        )))
    }
}
