//! Sharp assertions: the form of the paper, in which the assertion of process i speaks of all classes.
//!
//! `common and own_i` leaves out how what is hidden of i depends on the classes of others. Where that lets an error in, the assertions
//! are computed once more, each over the shared variables, the cells of its process and the classes of everybody: for what is exposed,
//! the strongest split invariant (Cohen and Namjoshi, "Local proofs for global safety properties", CAV 2007, Theorem 1). May contain states
//! that are not reachable, never misses one.
//!
//! As the paper defines it: all assertions together are closed under everybody's steps, then each process keeps what it sees of the
//! result, and so on until what they keep is together no more than there was. The states that the assertions allow are one diagram on the
//! way, as they are for refinement. On some programs that takes far more than the factored form, and excludes nothing (ticket_lock): then it is given up.
//!
//! To close each assertion by itself, under what is seen of the steps of others, gives the same; but then a guard is as large as an
//! assertion, and dining takes twice the nodes at N=8.

use index_vec::IndexVec;
use threadwise_evidence::Outline;
use threadwise_symbolic::{Agenda, Bdd, Halt, Search, Transition};

use super::Stage;
use super::assertions::Assertions;
use super::division::{Division, Fixpoint};
use super::outline::{outline, tell_relations_omitted};
use super::view::{Representatives, Source, View};

/// This many nodes the sharp form may take in any case.
const FEW: usize = 50_000;
/// And this many times those that the reachable states take.
const TIMES: usize = 2;

/// The strongest split invariant for what is exposed; none if it takes much more than the reachable states, with which it begins, or if these
/// take much more than the assertions that it is to replace. `reachable` is the nodes that they took before, if those were fewer
/// than the others took, and these were not few: proofs in factored form are told whole, so they come first where they cost little.
pub(super) fn strongest(
    search: &mut Search,
    view: &View,
    representatives: &Representatives,
    reachable: &mut Option<usize>,
) -> Result<Option<Fixpoint<Assertions>>, Halt> {
    let symbolic = search.symbolic.clone();
    let begun = symbolic.diagrams.nodes();
    let mut most = match *reachable {
        Some(nodes) => begun + TIMES * nodes + FEW,
        None => 2 * begun + FEW,
    };
    let mut are_reachable = true;
    let mut all = symbolic.initial.clone();
    loop {
        let mut agenda = Agenda::new(symbolic.schedule.clone());
        while !search.advance(&mut agenda, &mut all, Transition::post)? {
            if symbolic.diagrams.nodes() > most {
                return Ok(None);
            }
            if let Some(layout) = search.better_layout(&all)? {
                return Ok(Some(Fixpoint::Rearrange(layout)));
            }
        }
        if std::mem::take(&mut are_reachable) {
            let nodes = symbolic.diagrams.nodes().saturating_sub(begun);
            if begun > FEW && nodes < begun {
                *reachable = Some(nodes);
            }
            most = most.min(begun + TIMES * nodes + FEW);
        }
        let assertions = divided(search, view, representatives, &all)?;
        let together = assertions.conjunction(&symbolic.diagrams)?;
        if together == all {
            return Ok(Some(Fixpoint::Reached(assertions)));
        }
        if symbolic.diagrams.nodes() > most {
            return Ok(None);
        }
        all = together;
    }
}

/// The stage after some assertions, which adds one step of everybody.
pub(super) fn next(
    search: &Search,
    view: &View,
    representatives: &Representatives,
    assertions: &Assertions,
) -> Result<Assertions, Halt> {
    let symbolic = &search.symbolic;
    let d = &symbolic.diagrams;
    let before = assertions.conjunction(d)?;
    let mut all = before.clone();
    for step in symbolic.transitions.moves.iter().flatten() {
        search.breathe()?;
        all = d.or(&all, &step.post(d, &before)?)?;
    }
    divided(search, view, representatives, &all)
}

/// What each process keeps of a set of states: all but what is hidden of the others.
pub(super) fn divided(
    search: &Search,
    view: &View,
    representatives: &Representatives,
    all: &Bdd,
) -> Result<Assertions, Halt> {
    let symbolic = &search.symbolic;
    let d = &symbolic.diagrams;
    let mut own: IndexVec<_, Bdd> = view.own.iter().map(|_| d.all()).collect();
    for Source { process, image } in representatives.sources(symbolic) {
        search.breathe()?;
        let part = match &image {
            None => all.clone(),
            // The image also says which codes of others stand for values.
            Some((from, permutation)) => symbolic.permute(&own[*from], permutation)?,
        };
        let others = view.hidden_outside(d, |other| other == process)?;
        own[process] = others.forget(d, &part)?;
    }
    Ok(Assertions {
        common: view.hidden.forget(d, all)?,
        own,
        sharp: true,
    })
}

/// Assertions as an outline: each about its process alone, and what it says of others left out.
pub(super) fn outline_alone<'s>(
    search: &Search,
    stage: &Stage<'s, impl Division>,
    assertions: &Assertions,
    representatives: &Representatives,
) -> Result<Outline, Halt> {
    let (symbolic, view) = (&stage.symbolic, &stage.view);
    let d = &symbolic.diagrams;
    let mut own = IndexVec::new();
    for (process, part) in assertions.own.iter_enumerated() {
        let classes = view.classes_outside(d, |other| other == process)?;
        let hidden = view.hidden_outside(d, |other| other == process)?;
        own.push(hidden.forget(d, &classes.forget(d, part)?)?);
    }
    let alone = Assertions {
        common: assertions.common.clone(),
        own,
        sharp: false,
    };
    let alone = Stage::of(symbolic.clone(), View::new(symbolic, &view.globals)?, alone);
    let mut outline = outline(search, &alone, representatives)?;
    if assertions.sharp {
        let told = alone.assertions.conjunction(d)?;
        let all = assertions.conjunction(d)?;
        tell_relations_omitted(symbolic, &mut outline, &told, &all);
    }
    Ok(outline)
}
