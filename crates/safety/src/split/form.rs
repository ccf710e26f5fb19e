//! In which form assertions become a certificate.
//!
//! All assertions together are one inductive set, and for most programs a diagram of it is hardly larger than they are: then it is the
//! cheapest to check. But it can also be as large as the set of reachable states would be. Each assertion alone is small, and the checker
//! takes a conjunction of them as it is. So they are conjoined as long as that stays within a multiple of their size.

use threadwise_symbolic::{Bdd, Diagrams, Halt};

use super::division::Division;

/// In which form assertions become a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As one set if that is not much larger than the assertions are, and otherwise as these.
    #[default]
    Cheaper,
    /// As one set.
    Whole,
    /// As a conjunction of all assertions.
    Parts,
}

/// How many times as many nodes as all assertions one set may have.
const TIMES: usize = 4;
/// How many it may have in any case.
const FEW: usize = 1_000;

impl Form {
    /// All assertions as one set, if they are to be one.
    pub(super) fn whole(
        self,
        d: &Diagrams,
        assertions: &impl Division,
    ) -> Result<Option<Bdd>, Halt> {
        match self {
            Form::Whole => assertions.conjunction(d).map(Some),
            Form::Parts => Ok(None),
            Form::Cheaper => {
                let rows = assertions.rows();
                let nodes: usize = rows.iter().flatten().map(|part| d.size(part)).sum();
                assertions.conjunction_within(d, nodes.saturating_mul(TIMES).max(FEW))
            }
        }
    }
}
