//! Claims about all values of the parameters.
//!
//! A claim has assertions for *views*: some processes, all different, each at a label. Here it is listed what must hold for the assertions to be true of all processes that
//! the views fit, in all reachable states, whatever the parameters are (`conditions`); and the proofs that the claim brings are checked by adding up inequalities
//! (`proof`). There is no search, and no solver. Or a claim lists situations of a few processes that never come about; these are checked by cases (`excluded`).
//!
//! What is trusted: the front end, `model::family`, and this. The engines that find such claims build the same conditions by their own code.

mod after;
mod among;
mod blockers;
mod compared;
mod conditions;
mod deadlock;
mod entries;
mod excluded;
mod fair;
mod least;
mod linear;
mod names;
mod proof;
mod scope;
mod sums;
#[cfg(test)]
mod tests;
mod translate;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use threadwise_evidence::arithmetic::{Formula, Proof};
use threadwise_evidence::family::{Condition, FamilyClaim, Reference};
use threadwise_evidence::{CHECKS, Certificate, Claim};
use threadwise_lang::program::{LocationId, Program, PropertyKind, Span, TemplateId};
use threadwise_model::family::{Conjunct, Family, Formula as Assumption, Liveness, Unsupported};

use crate::fit;
use crate::rejection::{Error, Fault, Unproved};
use crate::report::Report;
use compared::{Comparing, is_comparable};
pub use conditions::Judge;
use conditions::Lister;
use excluded::Conditions;
pub use names::Table;
use names::{Symbol, location_named, template_named};
use proof::{Flaw, Known};
use sums::Summed;

/// How many references a view may have: the number of conditions grows fast with it.
const MAX_REFERENCES: usize = 8;
/// How many comparisons a claim may have.
const MAX_COMPARISONS: usize = 64;

/// Checks that a certificate proves a property of a program for all values of the parameters, but for those that it names a value of. The
/// property is an invariant, freedom from deadlock, or `checks`. `stop` is asked every few milliseconds whether to give up.
pub fn check_family(
    program: &Arc<Program>,
    certificate: &Certificate,
    property: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Report, Error> {
    let subject = Subject::new(program, certificate, property)?;
    let mut proofs = HashMap::new();
    for listed in &subject.claim.proofs {
        if proofs.insert(&listed.condition, &listed.proof).is_some() {
            return Err(Error::no_proof(format!(
                "there are two proofs of one condition: {}",
                listed.condition
            )));
        }
    }
    let checker = Checker {
        known: Known::default(),
        proofs,
    };
    let (checker, conditions) = subject.list(checker, stop)?;
    if let Some(condition) = checker.proofs.keys().min() {
        return Err(Error::no_proof(format!(
            "there is a proof of a condition that is none: {condition}"
        )));
    }
    Ok(Report {
        conditions,
        visits: checker.known.visits,
        ..Report::default()
    })
}

/// Lists the conditions of a certificate about all values of the parameters for a judge; gives it back.
pub fn list_family<J: Judge>(
    program: &Arc<Program>,
    certificate: &Certificate,
    property: &str,
    judge: J,
) -> Result<J, Error> {
    let subject = Subject::new(program, certificate, property)?;
    if subject.claim.excluded.is_some() {
        return Err(Error::unsupported(
            "excluded situations are checked by cases, and not written as formulas",
        ));
    }
    Ok(subject.list(judge, &|| false)?.0)
}

/// What a certificate is about, and its claim.
struct Subject<'a> {
    family: Family,
    property: &'a str,
    asked: Asked,
    claim: &'a FamilyClaim,
}

/// What a property asks for.
enum Asked {
    /// No check fails.
    Checks,
    /// This holds in every state.
    Invariant(Vec<Conjunct>),
    /// No state is a deadlock.
    Deadlock,
    /// No fair run waits for ever.
    Liveness(Box<Liveness>),
}

/// A claim with its names looked up.
#[derive(Debug)]
pub(crate) struct Claimed<'a> {
    pub(crate) views: Vec<View<'a>>,
    pub(crate) counted: Vec<Counted<'a>>,
    pub(crate) compared: Vec<Comparing<'a>>,
}

/// The assertions about some processes.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) references: Vec<(TemplateId, LocationId)>,
    pub(crate) assertions: &'a [Formula],
}

/// A predicate of which it is counted how many processes it holds of.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) template: TemplateId,
    pub(crate) predicate: &'a Formula,
}

impl<'a> Subject<'a> {
    fn new(
        program: &Arc<Program>,
        certificate: &'a Certificate,
        property: &'a str,
    ) -> Result<Subject<'a>, Error> {
        let Claim::Family(claim) = &certificate.claim else {
            return Err(Error::mismatch(
                "it is about one instance, not about all values of the parameters",
            ));
        };
        fit::form(certificate, property)?;
        if certificate.model.is_some() {
            return Err(Error::mismatch(
                "it names a model, which a claim about all values of the parameters does not",
            ));
        }
        let known = |name: &String| program.params.iter().any(|param| param.name == *name);
        if let Some(name) = certificate.params.keys().find(|name| !known(name)) {
            return Err(Error::mismatch(format!(
                "it has a value of `{name}`, which is no parameter"
            )));
        }
        let unsupported = |unsupported: Unsupported| Error::unsupported(unsupported.to_string());
        let family = Family::new(Arc::clone(program), &certificate.params).map_err(unsupported)?;
        if family.assumptions.contains(&Assumption::Constant(false)) {
            return Err(Error::mismatch(
                "it is for values of parameters that `where` does not allow",
            ));
        }
        let mut declared = program.properties.iter();
        let declared = declared.find(|known| known.name == property);
        let asked = match declared.map(|known| &known.kind) {
            _ if property == CHECKS => Asked::Checks,
            Some(PropertyKind::DeadlockFree) => Asked::Deadlock,
            Some(PropertyKind::Liveness { .. }) => {
                let liveness = family.liveness(property).map_err(unsupported)?;
                let liveness = liveness.ok_or_else(|| Error::mismatch("no liveness property"))?;
                Asked::Liveness(Box::new(liveness))
            }
            _ => Asked::Invariant(
                family
                    .invariant(property)
                    .map_err(unsupported)?
                    .ok_or_else(|| {
                        Error::mismatch(format!("the model has no invariant `{property}`"))
                    })?,
            ),
        };
        if claim.fair.is_some() && !matches!(asked, Asked::Liveness(_)) {
            return Err(Error::no_proof(
                "it is about fair runs, and the property is not",
            ));
        }
        Ok(Subject {
            family,
            property,
            asked,
            claim,
        })
    }

    /// Lists the conditions for a judge. Gives it back, and how many they are.
    fn list<J: Judge>(&self, judge: J, stop: &dyn Fn() -> bool) -> Result<(J, u64), Error> {
        let mut table = Table::new(&self.family, self.claim)?;
        table.summed = Summed::of_claim(&self.family, self.claim, &table)?;
        let claimed = Claimed::new(&self.family, self.claim, &table)?;
        let compared = claimed.compared.iter();
        let compared = compared.map(|comparing| among::Comparison {
            template: comparing.template,
            of: comparing.of,
            predicate: comparing.predicate.clone(),
        });
        table.compared = compared.collect();
        let mut lister = Lister {
            family: &self.family,
            claim: &claimed,
            property: self.property,
            table,
            judge,
            stop,
            conditions: 0,
            orders: BTreeSet::new(),
        };
        lister.instance()?;
        if let Some(excluded) = &self.claim.excluded {
            let claim = self.claim;
            if !claim.views.is_empty()
                || !claim.counted.is_empty()
                || !claim.summed.is_empty()
                || claim.fair.is_some()
                || !claim.compared.is_empty()
            {
                return Err(Error::no_proof("it has both views and excluded situations"));
            }
            let arrivals = claim.arrivals.as_ref();
            let arrivals = arrivals.map_or(&[][..], |arrivals| &arrivals.0);
            let mut further =
                Conditions::new(&self.family, self.property, excluded, arrivals, stop)?;
            further.initial()?;
            further.steps()?;
            match &self.asked {
                Asked::Checks => further.checks()?,
                Asked::Invariant(conjuncts) => further.invariant(conjuncts)?,
                Asked::Deadlock | Asked::Liveness(_) => {
                    return Err(Error::no_proof(
                        "excluded situations are for invariants and the built-in checks",
                    ));
                }
            }
            return Ok((lister.judge, lister.conditions + further.conditions));
        }
        if self.claim.arrivals.is_some() {
            return Err(Error::no_proof(
                "the order in which processes came is for excluded situations",
            ));
        }
        lister.initial()?;
        lister.steps()?;
        match &self.asked {
            Asked::Checks => lister.checks()?,
            Asked::Invariant(conjuncts) => lister.invariant(conjuncts)?,
            Asked::Deadlock => lister.deadlock()?,
            Asked::Liveness(liveness) => match &self.claim.fair {
                Some(fair) => lister.liveness(liveness, fair)?,
                None => return Err(Error::no_proof("it does not say why no fair run waits")),
            },
        }
        Ok((lister.judge, lister.conditions))
    }
}

impl<'a> Claimed<'a> {
    /// Looks up the names of a claim.
    fn new(family: &Family, claim: &'a FamilyClaim, table: &Table) -> Result<Claimed<'a>, Error> {
        let mut views: Vec<View> = Vec::with_capacity(claim.views.len());
        for (position, view) in claim.views.iter().enumerate() {
            let references = view.references.iter();
            let references = references.map(|reference| place(family, reference));
            let references = references.collect::<Result<Vec<_>, Error>>()?;
            if references.len() > MAX_REFERENCES {
                return Err(Error::unsupported(format!(
                    "view {position} has more than {MAX_REFERENCES} references"
                )));
            }
            if views.iter().any(|other| other.references == references) {
                let message = format!("view {position} has the references of another one");
                return Err(Error::no_proof(message));
            }
            let template_of = |i: u32| {
                let reference = references.get(i as usize);
                reference.map(|(template, _)| *template)
            };
            for assertion in &view.assertions {
                mentioned(assertion, &mut |variable| {
                    let symbol = table.symbol(variable)?;
                    symbol.fits(family, &template_of).map_err(|why| {
                        let name = table.name(variable);
                        Error::no_proof(format!("`{name}` is not for view {position}: {why}"))
                    })
                })?;
            }
            views.push(View {
                references,
                assertions: &view.assertions,
            });
        }
        let mut counted = Vec::with_capacity(claim.counted.len());
        for listed in &claim.counted {
            let template = template(family, &listed.template)?;
            mentioned(&listed.predicate, &mut |variable| {
                let symbol = table.symbol(variable)?;
                let fits = match symbol {
                    Symbol::Count(..) | Symbol::Counted(..) | Symbol::Compared(_) => {
                        Err("it is a number of processes".to_owned())
                    }
                    Symbol::Sum(..) => Err("it is a sum over processes".to_owned()),
                    _ => symbol.fits(family, &|i| (i == 0).then_some(template)),
                };
                fits.map_err(|why| {
                    let name = table.name(variable);
                    Error::no_proof(format!("`{name}` is not for a counted predicate: {why}"))
                })
            })?;
            counted.push(Counted {
                template,
                predicate: &listed.predicate,
            });
        }
        let compared = comparisons(family, claim, table)?;
        Ok(Claimed {
            views,
            counted,
            compared,
        })
    }
}

/// Looks up the names of the comparisons of a claim.
fn comparisons<'a>(
    family: &Family,
    claim: &'a FamilyClaim,
    table: &Table,
) -> Result<Vec<Comparing<'a>>, Error> {
    if claim.compared.len() > MAX_COMPARISONS {
        return Err(Error::unsupported(format!(
            "there are more than {MAX_COMPARISONS} comparisons"
        )));
    }
    let mut compared = Vec::with_capacity(claim.compared.len());
    for listed in &claim.compared {
        let counted = template(family, &listed.template)?;
        let of = template(family, &listed.of)?;
        if listed.order && counted != of {
            return Err(Error::no_proof(
                "an order compares processes of two templates",
            ));
        }
        mentioned(&listed.predicate, &mut |variable| {
            let symbol = table.symbol(variable)?;
            let fits = match is_comparable(symbol) {
                false => Err("it is a number of processes".to_owned()),
                true => symbol.fits(family, &|i| match i {
                    0 => Some(counted),
                    1 => Some(of),
                    _ => None,
                }),
            };
            fits.map_err(|why| {
                let name = table.name(variable);
                Error::no_proof(format!("`{name}` is not for a comparison: {why}"))
            })
        })?;
        compared.push(Comparing {
            template: counted,
            of,
            predicate: &listed.predicate,
            order: listed.order,
        });
    }
    Ok(compared)
}

fn template(family: &Family, name: &str) -> Result<TemplateId, Error> {
    template_named(family, name)
        .ok_or_else(|| Error::no_proof(format!("the model has no template `{name}`")))
}

fn place(family: &Family, reference: &Reference) -> Result<(TemplateId, LocationId), Error> {
    let Reference { template, location } = reference;
    let id = self::template(family, template)?;
    let place = location_named(family, id, location)
        .ok_or_else(|| Error::no_proof(format!("`{template}` has no label `{location}`")))?;
    Ok((id, place))
}

/// Calls a function for every variable of a formula.
fn mentioned(
    formula: &Formula,
    each: &mut dyn FnMut(u32) -> Result<(), Error>,
) -> Result<(), Error> {
    match formula {
        Formula::Atom(atom) => atom
            .terms
            .iter()
            .try_for_each(|(variable, _)| each(*variable)),
        Formula::And(members) | Formula::Or(members) => {
            let mut members = members.iter();
            members.try_for_each(|member| mentioned(member, each))
        }
    }
}

/// A judge that checks the proofs of a claim.
struct Checker<'a> {
    known: Known,
    /// The proofs that have not been asked for yet.
    proofs: HashMap<&'a Condition, &'a Proof>,
}

impl Judge for Checker<'_> {
    fn push(&mut self, _: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.known.push();
        self.known.assume(formulas);
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Error> {
        self.known.pop();
        Ok(())
    }

    fn judge(
        &mut self,
        table: &Table,
        condition: &Condition,
        about: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error> {
        let proof = self.proofs.remove(condition);
        let flaw = match self.known.check(proof.unwrap_or(&Proof::Obvious)) {
            Ok(()) => return Ok(()),
            Err(flaw) => flaw,
        };
        let (what, span) = about(table);
        let fault = match (proof, flaw) {
            (None, _) => Fault::Missing,
            (_, Flaw::NotObvious) => Fault::NotObvious,
            (_, Flaw::NotKnown(atom)) => Fault::NotKnown(table.text(&atom)),
            (_, Flaw::NotNormal(atom)) => Fault::NotNormal(table.text(&atom)),
            (_, Flaw::Factor(factor)) => Fault::Factor(factor),
            (_, Flaw::Sum) => Fault::Sum,
            (_, Flaw::TooLarge) => Fault::TooLarge,
        };
        Err(Error::Unproved(Box::new(Unproved {
            condition: condition.clone(),
            what,
            span,
            fault,
        })))
    }
}
