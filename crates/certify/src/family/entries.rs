//! Entries of arrays that a condition names by their index.
//!
//! `a[e]` is an entry that belongs to none of the processes in scope. Where `a` is over a range whose size depends on parameters, its indices are the processes of a
//! template without steps, and the entry is that of one of them: unless e is no index at all, or that of a process in scope, there is one more process with the id e, different from all
//! in scope. Under this proviso all that is known of a scope is known of the scope with this process: what holds in every state, what the claim asserts, and
//! what the condition assumes, which may be about it. Each entry is brought in by itself, so two of them may be the same process. Which terms are
//! looked at matters for what can be proved, and not for whether it is true.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::Formula as Known;
use threadwise_model::family::{Formula, Term, Write};

use super::Claimed;
use super::linear::{Linear, at_most, equal, less};
use super::names::{Table, id_name};
use super::scope::{Process, Scope, assertions, facts};
use super::translate::Translation;
use crate::Error;

/// How many entries are brought in at most.
pub(super) const MAX_ENTRIES: usize = 4;

/// What a condition says of a scope, resolved.
pub(super) struct Said<'s> {
    /// What holds in the state before, or does not.
    pub(super) formulas: &'s [Formula],
    pub(super) holds: bool,
    /// What is written.
    pub(super) writes: &'s [Write],
    /// The processes whose indices are named, too, if others are compared with the entries.
    pub(super) processes: &'s [Process],
    /// The first number that no process has.
    pub(super) first: u32,
}

/// What is known because of entries that are named; what is known without them is left out.
pub(super) fn entries(
    family: &threadwise_model::family::Family,
    scope: &Scope,
    table: &mut Table,
    claim: &Claimed<'_>,
    said: &Said<'_>,
    everywhere: &[&[Known]],
) -> Result<Vec<Known>, Error> {
    let mut named = family.named_slots(said.formulas, said.writes, MAX_ENTRIES);
    for process in said.processes {
        for slot in family.slots_of(process.template, process.number) {
            let compared = claim.compared.iter().any(|compared| compared.of == slot.0);
            if compared && named.len() < MAX_ENTRIES && !named.contains(&slot) {
                named.push(slot);
            }
        }
    }
    let mut all = Vec::new();
    if named.is_empty() {
        return Ok(all);
    }
    let everywhere: HashSet<&Known> = everywhere.iter().copied().flatten().collect();
    for ((template, index), number) in named.iter().zip(said.first..) {
        let mut with = scope.clone();
        with.processes.push(Process {
            number,
            template: *template,
            location: family.templates[*template].entry,
        });
        let mut translation = Translation::new(family, &with, table);
        let index = translation.linear(index)?;
        let population = translation.population(*template)?;
        let mut proviso = vec![
            less(&index, &Linear::default())?,
            at_most(&population, &index)?,
        ];
        for other in scope.of(*template) {
            let id = translation.variable(id_name(other.number));
            proviso.push(equal(&index, &id)?);
        }
        let id = translation.variable(id_name(number));
        let mut known = vec![equal(&index, &id)?];
        known.extend(facts(&mut translation, claim)?);
        known.extend(assertions(&mut translation, claim)?);
        for formula in said.formulas {
            known.push(translation.assume(formula, said.holds)?);
        }
        for write in said.writes.iter().filter(|write| write.each.is_empty()) {
            translation.linear(&write.value)?;
            translation.linear(&Term::Cell(write.cell.clone()))?;
        }
        known.extend(translation.take_facts());
        let new = known
            .into_iter()
            .filter(|known| !everywhere.contains(known));
        all.extend(new.map(|known| Known::any(proviso.iter().cloned().chain([known]))));
    }
    Ok(all)
}
