//! The way in: whether a certificate proves a property of an instance.
//!
//! A certificate must fit (`fit`), its claim must be one that can prove the property, and the methods are asked one after the other until one of them decides.

use threadwise_evidence::{Certificate, Claim};
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_model::temporal::Liveness;

use crate::conditions::decide;
use crate::fair::check::fair;
use crate::graph::Graphs;
use crate::parts::Parts;
use crate::report::{Method, Report, Subject};
use crate::walk::Walk;
use crate::{Error, each, fit};

/// The most states that are gone through: of more, walks are quicker.
const FEW_STATES: usize = 10_000;
/// The most states that are gone through if nothing else is left.
const MOST_STATES: usize = 50_000;

/// Few states are gone through; otherwise walks come first, and the solver decides what they do not. What is left to do may still be to go through many states.
const ALL: &[(Method, usize)] = &[
    (Method::Each, FEW_STATES),
    (Method::Walk, 0),
    (Method::Solver, 0),
    (Method::Each, MOST_STATES),
];

/// Checks that a certificate proves a property of an instance. `cancel` is asked every few milliseconds
/// whether to give up.
pub fn check(
    instance: &Instance,
    certificate: &Certificate,
    property: &str,
    cancel: &dyn Fn() -> bool,
) -> Result<Report, Error> {
    only(check_by(ALL, instance, &[(certificate, property)], cancel))
}

/// The same by one method alone: so each can be compared with the other.
pub fn check_with(
    method: Method,
    instance: &Instance,
    certificate: &Certificate,
    property: &str,
    cancel: &dyn Fn() -> bool,
) -> Result<Report, Error> {
    let requests = [(certificate, property)];
    let methods = [(method, MOST_STATES)];
    only(check_by(&methods, instance, &requests, cancel))
}

fn only(mut answers: Vec<Result<Report, Error>>) -> Result<Report, Error> {
    answers.pop().unwrap_or(Err(Error::Cancelled))
}

/// Checks several certificates of one instance, each for its property. Where they claim the same set, what does
/// not depend on the property is checked once. The counts of a report are those of all of them.
pub fn check_all(
    instance: &Instance,
    requests: &[(&Certificate, &str)],
    cancel: &dyn Fn() -> bool,
) -> Vec<Result<Report, Error>> {
    check_by(ALL, instance, requests, cancel)
}

fn check_by(
    methods: &[(Method, usize)],
    instance: &Instance,
    requests: &[(&Certificate, &str)],
    cancel: &dyn Fn() -> bool,
) -> Vec<Result<Report, Error>> {
    let system = match fit::plain(instance) {
        Ok(system) => system,
        Err(error) => return vec![Err(error); requests.len()],
    };
    let mut answers: Vec<Option<Result<Report, Error>>> = vec![None; requests.len()];
    for first in 0..requests.len() {
        if answers[first].is_some() {
            continue;
        }
        let claim = &requests[first].0.claim;
        let mut group = Vec::new();
        for (at, (certificate, property)) in requests.iter().enumerate().skip(first) {
            if answers[at].is_none() && certificate.claim == *claim {
                match property_of(&system, certificate, property) {
                    Ok(kind) => group.push((at, *property, kind)),
                    Err(error) => answers[at] = Some(Err(error)),
                }
            }
        }
        let properties: Vec<_> = group.iter().map(|(_, name, kind)| (*name, *kind)).collect();
        let subject = Subject {
            instance,
            system: &system,
            cancel,
        };
        let checked = check_claim(methods, subject, claim, &properties);
        for ((at, ..), answer) in group.into_iter().zip(checked) {
            answers[at] = Some(answer);
        }
    }
    answers
        .into_iter()
        .map(|answer| answer.unwrap_or(Err(Error::Cancelled)))
        .collect()
}

/// The property that a certificate is asked about, if it is one that its kind of claim can prove.
pub(crate) fn property_of<'s>(
    system: &'s System,
    certificate: &Certificate,
    property: &str,
) -> Result<&'s SystemPropertyKind, Error> {
    if let Claim::Family(_) = certificate.claim {
        return Err(Error::mismatch(
            "it is about all values of the parameters, not about one instance",
        ));
    }
    fit::envelope(system, certificate, property)?;
    let found = system
        .properties
        .iter()
        .find(|known| known.name == property);
    match (found.map(|found| &found.kind), &certificate.claim) {
        (None, _) => Err(Error::mismatch(format!(
            "the model has no property `{property}`"
        ))),
        (Some(kind @ SystemPropertyKind::Liveness(_)), Claim::Fair(_)) => Ok(kind),
        (Some(SystemPropertyKind::Liveness(_)), _) => Err(Error::mismatch(format!(
            "`{property}` is a liveness property, which an inductive set does not prove"
        ))),
        (Some(_), Claim::Fair(_)) => Err(Error::mismatch(format!(
            "`{property}` is a safety property, and the claim is about fair runs"
        ))),
        (Some(kind), _) => Ok(kind),
    }
}

/// Checks one claim for several properties.
fn check_claim(
    methods: &[(Method, usize)],
    subject: Subject<'_>,
    claim: &Claim,
    properties: &[(&str, &SystemPropertyKind)],
) -> Vec<Result<Report, Error>> {
    let parts = match fit::cells(subject.system, claim.parts()) {
        Ok(cells) => Parts::new(subject.system, claim.parts(), cells),
        Err(error) => return vec![Err(error); properties.len()],
    };
    let undecided = Error::unsupported("no method was asked");
    let mut answers = vec![Err(undecided); properties.len()];
    let mut closed = false;
    for (method, most) in methods {
        let is_open = |at: &usize| matches!(answers[*at], Err(Error::Unsupported(_)));
        let open: Vec<usize> = (0..properties.len()).filter(is_open).collect();
        if open.is_empty() {
            break;
        }
        let asked: Vec<_> = open.iter().map(|at| properties[*at]).collect();
        let fair = |liveness: &Liveness| match claim {
            Claim::Fair(claim) => fair(*method, subject, &parts, claim, liveness),
            // `property_of` lets no other claim through.
            _ => Err(Error::mismatch("the claim is not about fair runs")),
        };
        let decided = match method {
            Method::Each => each::decide(subject, *most, claim, &parts, &asked, &mut closed, &fair),
            Method::Walk => {
                decide::<Walk<'_>>(*method, subject, &parts, &asked, &mut closed, &fair)
            }
            Method::Solver => {
                decide::<Graphs<'_>>(*method, subject, &parts, &asked, &mut closed, &fair)
            }
        };
        for (at, answer) in open.into_iter().zip(decided) {
            answers[at] = answer;
        }
    }
    answers
}
