//! What a claim says about fair runs: there are all proofs that it needs, each is one, and images are images.

use threadwise_evidence::certificate::FairClaim;
use threadwise_model::temporal::{Formula, Liveness};

use super::claim::covers;
use super::judge::{Judge, Plan};
use super::shape::Product;
use super::solver::Clauses;
use super::symmetric;
use super::walk::Walks;
use crate::Error;
use crate::parts::Parts;
use crate::report::{Method, Report, Subject};

/// Checks what a claim says about fair runs, its invariant being known to be one. If states are gone through one by one, its proofs are known to be, too.
pub(crate) fn fair(
    method: Method,
    subject: Subject<'_>,
    parts: &Parts<'_>,
    claim: &FairClaim,
    liveness: &Liveness,
) -> Result<Report, Error> {
    let conjuncts = liveness.formula.conjuncts();
    let numbers = (conjuncts.len(), liveness.fairness.len());
    covers(subject.instance, numbers, claim)?;
    let mut report = Report::default();
    for proof in &claim.proofs {
        let plan = || Plan::new(subject, liveness, &conjuncts, proof);
        let done = match method {
            Method::Each => continue,
            Method::Walk => Judge::<Walks<'_>>::judge(method, subject, parts, &plan()?)?,
            Method::Solver => Judge::<Clauses<'_>>::judge(method, subject, parts, &plan()?)?,
        };
        report = report.and(done);
    }
    if claim.symmetric.is_empty() {
        return Ok(report);
    }
    let product = Product::new(subject.system, liveness, &Formula::TRUE)?;
    let (method, counts) = match method {
        // About the steps, whatever the states.
        Method::Each | Method::Walk => (
            Method::Walk,
            symmetric::check::<Walks<'_>>(subject, liveness, &conjuncts, claim, &product)?,
        ),
        Method::Solver => (
            method,
            symmetric::check::<Clauses<'_>>(subject, liveness, &conjuncts, claim, &product)?,
        ),
    };
    Ok(report.and(Report::counted(method, 0, counts)))
}
