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

use threadwise_evidence::Account;

use super::abstraction::{Abstraction, Incoming};
use super::graph::{NONE, Node};
use super::sets::SetId;
use super::threads::SharedId;

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

    pub(super) fn tell_refinement(&self, at: SharedId, exceptions: Node, account: &mut Account) {
        *account.refinements.get_or_insert(0) += 1;
        account.rounds.push(format!(
            "combining local states at the shared values {:?} allows an error that no step leads to; exceptions there are a graph of {} nodes",
            self.threads.shared(at),
            self.graphs.size(exceptions)
        ));
    }

    pub(super) fn tell_extension(&self, account: &mut Account) {
        *account.extensions.get_or_insert(0) += 1;
        account.rounds.push(
            "a step leads to an error; the states before it become errors too".to_owned(),
        );
    }
}
