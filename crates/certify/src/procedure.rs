//! What a way to decide the conditions of a set has to offer.

use threadwise_evidence::dag::Dag;
use threadwise_model::system::System;

use crate::Error;
use crate::encode::Encoder;
use crate::logic::{Lit, Logic};
use crate::step::Case;

/// A claimed set of states, ready to be asked about.
pub(crate) trait Procedure<'a>: Sized {
    /// How formulas are decided.
    type Logic: Logic;

    /// The set of a decision graph; `cells` are the cells of the system that those of the graph are. An error
    /// if this way does not take the graph.
    fn new(
        system: &'a System,
        dag: &'a Dag,
        cells: &[usize],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Self::Logic>, Self), Error>;

    /// That the state before is in the set.
    fn inside(&self) -> Lit;

    /// That the state before is not in the set.
    fn outside(&self) -> Lit;

    /// Whether there is a state in the set in which these are true, such that a step that writes this is in its
    /// case and leads out of the set or out of a cell's type.
    fn leaves(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        when: &[Lit],
        case: &Case,
    ) -> Result<bool, Error>;
}
