//! What to do when the split invariant does not imply the property.
//!
//! Two states that the others cannot tell apart, of which one is an error and the other is not, show that too little is seen:
//! what sets them apart is exposed. All such predicates are found at once, as sets: for each process, the
//! errors in which another value of one of its cells (the other hidden ones that the error does not mention being free) would be
//! none. If there are none, the errors are themselves to be excluded before they come about: their predecessors become errors.
//! If nothing is new there either, no state of the invariant that is no error has an error after it, and the
//! invariant without the errors is the proof. (Cohen and Namjoshi, Section 3; the last exit is that of Meng et al., Algorithm 2.)

use std::collections::BTreeSet;

use threadwise_model::system::{CellId, ProcessId};
use threadwise_symbolic::{Bdd, Error, Halt, Hidden, Search, Symbolic};

use super::Predicates;
use super::view::View;

/// A cell and a value: that the cell has the value is what the others are to see.
pub(crate) type Predicate = (CellId, i64);

/// What is to be done.
pub(crate) enum Refinement {
    /// Expose these.
    Expose(BTreeSet<Predicate>),
    /// These are errors too.
    Extend(Bdd),
    /// Nothing: these states are an inductive invariant without errors.
    Proof(Bdd),
}

/// Among what predicates are looked for.
pub(crate) struct Among<'a> {
    pub(crate) view: &'a View,
    /// Those of these processes.
    pub(crate) processes: &'a [ProcessId],
    /// The variables by which a state can be wrong; others had better stay out of predicates.
    pub(crate) mentioned: &'a BTreeSet<u32>,
    /// Whether in all states at once, or in one after the other.
    pub(crate) predicates: Predicates,
}

/// Looks for a refinement. `invariant` is all of the split invariant, and has errors in it.
pub(crate) fn refine(
    search: &mut Search,
    among: &Among,
    invariant: &Bdd,
    error: &Bdd,
) -> Result<Refinement, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let wrong = d.and(invariant, error)?;
    let right = d.minus(invariant, error)?;
    let found = among.predicates(search, &wrong, &right)?;
    if !found.is_empty() {
        return Ok(Refinement::Expose(found));
    }
    let before = search.pre_within(&wrong, &right)?;
    if d.is_empty(&before) {
        return Ok(Refinement::Proof(right));
    }
    Ok(Refinement::Extend(before))
}

impl Among<'_> {
    /// Predicates by which the others see a difference between wrong and right states. None if what is wrong looks like nothing that
    /// is right.
    pub(crate) fn predicates(
        &self,
        search: &Search,
        wrong: &Bdd,
        right: &Bdd,
    ) -> Result<BTreeSet<Predicate>, Halt> {
        let symbolic = &search.symbolic;
        let d = &symbolic.diagrams;
        let mut found = BTreeSet::new();
        let of_each = match self.predicates {
            Predicates::Violations | Predicates::Paths => None,
            Predicates::States => Some(usize::MAX),
            Predicates::One => Some(1),
        };
        if of_each.is_none() {
            for &process in self.processes {
                search.breathe()?;
                self.one_process(symbolic, process, wrong, right, &mut found)?;
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut rest = d.and(wrong, &self.view.hidden.forget(d, right)?)?;
        while let Some(state) = symbolic.pick(&rest) {
            search.breathe()?;
            let essential = self.essential(symbolic, &state, right)?;
            if essential.is_empty() {
                return Err(Error::Internal("two states that differ in nothing").into());
            }
            let Some(most) = of_each else {
                return Ok(essential);
            };
            // No more from states in which one of these holds. (Cohen and Namjoshi, Section 4, "Exploiting Symmetry in
            // Refinement" and "Extracting Relevant Predicates".)
            for predicate in essential.into_iter().take(most) {
                rest = d.minus(&rest, &holds(symbolic, predicate)?)?;
                found.insert(predicate);
            }
        }
        Ok(found)
    }

    /// The predicates of one process by which some state is wrong.
    fn one_process(
        &self,
        symbolic: &Symbolic,
        process: ProcessId,
        wrong: &Bdd,
        right: &Bdd,
        found: &mut BTreeSet<Predicate>,
    ) -> Result<(), Halt> {
        let d = &symbolic.diagrams;
        let hidden = |cell: CellId| symbolic.encoding.cells[cell].hidden_vars(false);
        let (cells, others): (Vec<CellId>, Vec<CellId>) = self.view.own[process]
            .cells
            .iter()
            .copied()
            .filter(|cell| hidden(*cell).next().is_some())
            .partition(|cell| hidden(*cell).any(|var| self.mentioned.contains(&var)));
        if cells.is_empty() {
            return Ok(());
        }
        let free = Hidden::new(d, others.into_iter().flat_map(hidden))?;
        let wrong = free.forget(d, wrong)?;
        let right = free.forget(d, right)?;
        let mut any = false;
        for &cell in &cells {
            let other = Hidden::new(d, hidden(cell))?.forget(d, &right)?;
            any |= values_in(symbolic, cell, &d.and(&wrong, &other)?, found)?;
        }
        if !any && cells.len() > 1 {
            let other =
                Hidden::new(d, cells.iter().copied().flat_map(hidden))?.forget(d, &right)?;
            let apart = d.and(&wrong, &other)?;
            for &cell in &cells {
                values_in(symbolic, cell, &apart, found)?;
            }
        }
        Ok(())
    }

    /// The predicates that together make a state wrong, given what is seen of it: cells are left out one by one, as long as what remains
    /// excludes everything that is right.
    fn essential(
        &self,
        symbolic: &Symbolic,
        state: &[i64],
        right: &Bdd,
    ) -> Result<BTreeSet<Predicate>, Halt> {
        let d = &symbolic.diagrams;
        let here = |cell: CellId| holds(symbolic, (cell, state[cell.index()]));
        // Everything that is right and looks the same.
        let seen = self.view.hidden.forget(d, &symbolic.singleton(state)?)?;
        let mut alike = d.and(right, &seen)?;
        let hidden = |cell: &CellId| symbolic.encoding.cells[*cell].hidden_vars(false);
        let mut cells: Vec<CellId> = self
            .view
            .own
            .iter()
            .flat_map(|own| own.cells.iter().copied())
            .filter(|cell| hidden(cell).next().is_some())
            .collect();
        // Those by which no state is wrong can best be left out.
        cells.sort_by_key(|cell| hidden(cell).any(|var| self.mentioned.contains(&var)));
        // What all cells from a place on say together.
        let mut rest = vec![d.all()];
        for &cell in cells.iter().rev() {
            let last = d.and(&here(cell)?, &rest[rest.len() - 1])?;
            rest.push(last);
        }
        let mut essential = BTreeSet::new();
        for (place, &cell) in cells.iter().enumerate() {
            // Without this cell, and those already left out.
            let without = d.and(&alike, &rest[cells.len() - place - 1])?;
            if !d.is_empty(&without) {
                essential.insert((cell, state[cell.index()]));
                alike = d.and(&alike, &here(cell)?)?;
            }
        }
        Ok(essential)
    }
}

/// Where a predicate holds.
fn holds(symbolic: &Symbolic, (cell, value): Predicate) -> Result<Bdd, Halt> {
    let d = &symbolic.diagrams;
    Ok(match symbolic.encoding.cells[cell].code(value) {
        Some(code) => symbolic.encoding.code(d, cell, code, false)?,
        None => d.none(),
    })
}

/// Adds a predicate for each value that a cell has in a set, where others share its class.
fn values_in(
    symbolic: &Symbolic,
    cell: CellId,
    set: &Bdd,
    found: &mut BTreeSet<Predicate>,
) -> Result<bool, Halt> {
    let d = &symbolic.diagrams;
    if d.is_empty(set) {
        return Ok(false);
    }
    let mut any = false;
    for (value, code) in symbolic.encoding.cells[cell].codes() {
        let here = symbolic.encoding.code(d, cell, *code, false)?;
        if !d.is_empty(&d.and(set, &here)?) {
            found.insert((cell, *value));
            any = true;
        }
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::{Method, run_search};
    use crate::target;
    use threadwise_engine::{Answer, Limits, Silent};
    use threadwise_model::influence::Globals;
    use threadwise_model::lower::lower;
    use threadwise_model::system::SystemProperty;
    use threadwise_testgen::instance;

    /// Asks for a refinement of all states, and proves what is left only if it has no errors and lacks nothing else.
    struct Everything;

    impl Method for Everything {
        const NAME: &'static str = "everything";

        fn search(
            &self,
            search: &mut Search,
            properties: &[&SystemProperty],
            answers: &mut [Option<Answer>],
        ) -> Result<Option<Bdd>, Halt> {
            let symbolic = search.symbolic.clone();
            let d = &symbolic.diagrams;
            let error = target::forbidden(&symbolic, properties[0])?;
            let among = Among {
                view: &View::new(&symbolic, &Globals::default())?,
                processes: &[],
                mentioned: &BTreeSet::new(),
                predicates: Predicates::Violations,
            };
            let right = d.minus(&symbolic.valid, &error)?;
            if let Refinement::Proof(set) = refine(search, &among, &symbolic.valid, &error)? {
                answers[0] =
                    (set == right && right != symbolic.valid).then_some(Answer::Proved(None));
            }
            Ok(None)
        }
    }

    #[test]
    fn the_proof_is_what_has_no_errors() {
        // Errors lead to errors, and nothing else does.
        let text =
            "shared x: 0..2 = 0; process P { loop { a: x := 2 - x; } } invariant even: x != 1;";
        let instance = instance(text, &[]).expect("an instance");
        let system = lower(&instance, 0).expect("small");
        let even = system.properties.iter().find(|p| p.name == "even");
        let even = even.expect("the property is there");
        let outcome = run_search(&Everything, &system, &[even], &Limits::NONE, &mut Silent);
        assert!(matches!(outcome.answers[..], [Answer::Proved(None)]));
    }
}
