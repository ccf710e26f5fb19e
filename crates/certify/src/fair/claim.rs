//! What a claim about fair runs consists of: which proofs there must be, and what the layers of each of them say.
//!
//! This is about numbers and names alone: how many conjuncts, alternatives and obligations there are, and who the processes are. What predicates mean is left to those who
//! decide the conditions.

use threadwise_evidence::certificate::{Duty, FairClaim, FairProof, Layer, Symmetric};
use threadwise_evidence::dag::Dag;
use threadwise_model::instance::Instance;
use threadwise_model::names::Names;
use threadwise_model::state::ProcessRef;
use threadwise_model::temporal::{Fairness, FairnessKind};

use crate::Error;
use crate::rejection::FairPlace;

/// That there are proofs for all conjuncts and alternatives, and no others.
pub(super) fn covers(
    instance: &Instance,
    (conjuncts, alternatives): (usize, usize),
    claim: &FairClaim,
) -> Result<(), Error> {
    let mut covered = vec![Vec::new(); conjuncts * alternatives];
    for proof in &claim.proofs {
        let FairProof {
            conjunct,
            alternative,
            ..
        } = *proof;
        if conjunct >= conjuncts || alternative >= alternatives {
            return Err(Error::no_proof(format!(
                "a proof is about conjunct {conjunct} and alternative {alternative}, and the property has \
                 {conjuncts} and {alternatives}, counted from 0"
            )));
        }
        covered[conjunct * alternatives + alternative].push(mover(instance, proof)?);
    }
    let mut elsewhere = vec![None; conjuncts];
    for Symmetric { conjunct, of, .. } in &claim.symmetric {
        if conjunct.max(of) >= &conjuncts {
            return Err(Error::no_proof(format!(
                "conjunct {conjunct} is said to be an image of {of}, and the property has {conjuncts}, counted from 0"
            )));
        }
        elsewhere[*conjunct] = Some(*of);
    }
    // What is an image needs no proofs of its own, but what it is an image of does.
    let own = |conjunct: usize| {
        let image_of = |other: &Option<usize>| *other == Some(conjunct);
        elsewhere[conjunct].is_none() || elsewhere.iter().any(image_of)
    };
    for (at, movers) in covered.iter().enumerate() {
        if !own(at / alternatives) {
            continue;
        }
        let missing = processes(instance).find(|process| !movers.contains(&Some(*process)));
        if let Some(missing) = missing.filter(|_| !movers.contains(&None)) {
            let steps = match movers.is_empty() {
                true => String::new(),
                false => format!(" with steps of {}", Names::new(instance).process(missing)),
            };
            return Err(Error::no_proof(format!(
                "it has no proof of conjunct {} for alternative {}{steps}",
                at / alternatives,
                at % alternatives
            )));
        }
    }
    Ok(())
}

/// The processes of an instance: none is started later.
fn processes(instance: &Instance) -> impl Iterator<Item = ProcessRef> + '_ {
    let templates = instance.program().templates.indices();
    templates.flat_map(|template| {
        (0..instance.count(template)).map(move |index| ProcessRef { template, index })
    })
}

/// The mover of a proof.
fn mover(instance: &Instance, proof: &FairProof) -> Result<Option<ProcessRef>, Error> {
    let Some(name) = &proof.mover else {
        return Ok(None);
    };
    let names = Names::new(instance);
    let named = processes(instance).find(|process| names.process(*process) == *name);
    let unknown = || Error::no_proof(format!("the model has no process `{name}`"));
    named.map(Some).ok_or_else(unknown)
}

/// What a run must do infinitely often: be in a state of a set, have a process scheduled, or both at once.
#[derive(Clone, Copy)]
pub(super) struct Task {
    pub(super) process: Option<ProcessRef>,
    pub(super) state: Option<Wanted>,
}

impl Task {
    /// Whether moves of a process can do it.
    pub(super) fn is_of(&self, process: ProcessRef) -> bool {
        self.process.is_none_or(|wanted| wanted == process)
    }
}

/// In which states something is done.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// Where this bit is not set.
    Unset(usize),
    /// Where the predicate of this assumption holds, which is a weak one.
    Term(usize),
}

/// A layer that makes sense.
pub(super) enum Deletion {
    Stuck,
    Unfair(Task),
    /// By this assumption, which is a strong one.
    Strong(usize),
}

/// The layers of a proof, whose automaton has these obligations and whose alternative these assumptions: what is removed, or gone through, and why.
pub(super) fn layers<'p, A>(
    instance: &Instance,
    obligations: &[usize],
    terms: &[Fairness<A>],
    proof: &'p FairProof,
) -> Result<Vec<(&'p Dag, Deletion)>, Error> {
    let mover = mover(instance, proof)?;
    let mut layers = Vec::with_capacity(proof.layers.len());
    for (number, layer) in proof.layers.iter().enumerate() {
        let nonsense = |message: String| {
            let place = place(proof, Some(number));
            Error::no_proof(format!("{place}: {message}"))
        };
        layers.push(match layer {
            Layer::Stuck { remove } => (remove, Deletion::Stuck),
            Layer::Unfair { lacks, remove } => {
                let task = task(*lacks, mover, obligations, terms);
                (remove, Deletion::Unfair(task.map_err(nonsense)?))
            }
            Layer::Strong { term, within } => match terms.get(*term).map(|term| &term.kind) {
                Some(FairnessKind::Strong(..)) => (within, Deletion::Strong(*term)),
                Some(_) => {
                    let message = format!("assumption {term} is not a strong one");
                    return Err(nonsense(message));
                }
                None => return Err(nonsense(unknown_term(*term, terms.len()))),
            },
        });
    }
    Ok(layers)
}

/// Where a proof stands.
pub(super) fn place(proof: &FairProof, layer: Option<usize>) -> FairPlace {
    FairPlace {
        conjunct: proof.conjunct,
        alternative: proof.alternative,
        mover: proof.mover.clone(),
        layer,
    }
}

fn unknown_term(term: usize, terms: usize) -> String {
    format!("there is no assumption {term}: the alternative has {terms}, counted from 0")
}

/// What a run must do by a duty, if that is one.
fn task<A>(
    duty: Duty,
    mover: Option<ProcessRef>,
    obligations: &[usize],
    terms: &[Fairness<A>],
) -> Result<Task, String> {
    let unset = |obligation: usize| obligations.get(obligation).map(|bit| Wanted::Unset(*bit));
    match (duty, mover) {
        (Duty::Obligation(0), Some(_)) => {
            Err("the first obligation is the mover's in this proof".to_owned())
        }
        (Duty::Obligation(obligation), _) => match unset(obligation) {
            Some(state) => Ok(Task {
                process: None,
                state: Some(state),
            }),
            None => Err(format!(
                "there is no obligation {obligation}: the automaton has {}, counted from 0",
                obligations.len()
            )),
        },
        (Duty::Mover, None) => Err("the proof has no mover".to_owned()),
        (Duty::Mover, process) => Ok(Task {
            process,
            state: unset(0),
        }),
        (Duty::Term(term), _) => match terms.get(term).map(|term| &term.kind) {
            Some(FairnessKind::Scheduled(process)) => Ok(Task {
                process: Some(*process),
                state: None,
            }),
            Some(FairnessKind::Weak(_)) => Ok(Task {
                process: None,
                state: Some(Wanted::Term(term)),
            }),
            Some(FairnessKind::Strong(..)) => Err(format!(
                "assumption {term} is a strong one, which is no duty"
            )),
            None => Err(unknown_term(term, terms.len())),
        },
    }
}
