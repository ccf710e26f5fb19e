//! What a way to decide the conditions of a claim has to offer.

use threadwise_model::system::System;

use crate::Error;
use crate::encode::Encoder;
use crate::logic::{Lit, Logic};
use crate::parts::Part;
use crate::step::Case;

/// The parts of a claim, ready to be asked about. They are known by their places in the list.
pub(crate) trait Procedure<'a>: Sized {
    /// How formulas are decided.
    type Logic: Logic;

    /// The parts over a system. An error if this way does not take their graphs.
    fn new(
        system: &'a System,
        parts: &'a [Part<'a>],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Self::Logic>, Self), Error>;

    /// That the state before is in a part.
    fn inside(&self, part: usize) -> Lit;

    /// That the state before is not in a part.
    fn outside(&self, part: usize) -> Lit;

    /// Whether there is a state in a part and in these parts in which these are true, such that a step that writes this is in its
    /// case and leads out of the part. Values outside a cell's type are left to the caller.
    fn leaves(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        when: &[Lit],
        within: &[usize],
        part: usize,
        case: &Case,
    ) -> Result<bool, Error>;
}
