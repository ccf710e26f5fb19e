//! Exceptions from spurious errors.
//!
//! The product at a valuation would contain errors, though no step leads to one: what steps lead to are several sets, each
//! free of errors, and their combinations are not. Some of it has to be kept as it is. An error is one by certain local
//! states (with another one in its place it would be none): what has one of these becomes an exception, and all else may be combined.
//! An exception is generalised: every local state in it stands for all that were met there and that the errors do not tell from
//! it. So one refinement of mutual exclusion excepts "one is inside and the others are not", for all threads and all places that
//! are inside, in a graph of two nodes a thread.
//!
//! No exception is an error: what steps lead to is none, and local states that errors do not tell apart make none of it.

use threadwise_evidence::{Account, Round};
use threadwise_model::system::CellId;

use super::abstraction::{Abstraction, Incoming};
use super::graph::{NONE, Node};
use super::sets::SetId;
use super::threads::SharedId;
use crate::split::Naming;

/// Of how many cells values are written.
const FEW_TO_TELL: usize = 8;
/// Rounds that are told.
const MOST_ROUNDS: usize = 100;

impl Abstraction<'_, '_> {
    /// Exceptions for some of the states `rest`, which would make the product contain `wrong`.
    pub(super) fn exceptions(
        &mut self,
        next: &Incoming,
        rest: Node,
        wrong: Node,
        product: &[SetId],
    ) -> Node {
        let (essential, _) = self.graphs.essentials(wrong, product);
        let (_, classes) = self.graphs.essentials(next.error, &next.seen);
        let mut new = self.graphs.touching(rest, &essential);
        if new == NONE {
            new = rest;
        }
        self.graphs.widened(new, &classes)
    }

    /// Tells that exceptions were added at these valuations.
    pub(super) fn tell_refinement(&self, at: &[SharedId], account: &mut Account) {
        let Some(first) = at.first() else {
            return;
        };
        *account.refinements.get_or_insert(0) += 1;
        let cells = self.threads.shared_cells.iter().copied();
        let values = cells.zip(self.threads.shared(*first).iter().copied());
        let place = match self.threads.shared_cells.is_empty() {
            true => "the only valuation of the shared variables".to_owned(),
            false => self.written(values),
        };
        let others = match at.len() {
            1 => String::new(),
            2 => " and at one other valuation of the shared variables".to_owned(),
            count => format!(
                " and at {} other valuations of the shared variables",
                count - 1
            ),
        };
        let text = format!(
            "all combinations of local states allow an error that no step leads to, at {place}{others}; what steps lead to there becomes an exception"
        );
        tell(account, self.measured(Round::new(text)));
    }

    /// Values of cells, as a condition; of many only the first.
    pub(super) fn written(&self, mut values: impl Iterator<Item = (CellId, i64)>) -> String {
        let naming = Naming::plain(self.threads.system);
        let few = values.by_ref().take(FEW_TO_TELL);
        let mut parts: Vec<String> = few
            .map(|(cell, value)| naming.equation(cell, value))
            .collect();
        if values.next().is_some() {
            parts.push("...".to_owned());
        }
        parts.join(" && ")
    }

    pub(super) fn tell_extension(&self, account: &mut Account) {
        *account.extensions.get_or_insert(0) += 1;
        let text = "a step leads to an error; the states before it become errors too";
        tell(account, self.measured(Round::new(text)));
    }

    fn measured(&self, round: Round) -> Round {
        round
            .sized(self.graphs.len(), "nodes")
            .after(self.limits.seconds())
    }
}

/// Tells of a round, unless there were many.
fn tell(account: &mut Account, round: Round) {
    if account.rounds.len() < MOST_ROUNDS {
        account.rounds.push(round);
    } else if account.rounds.len() == MOST_ROUNDS {
        account.rounds.push(Round::new("and so on"));
    }
}
