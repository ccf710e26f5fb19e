//! A claim for whoever writes its conditions in another form. Nothing here decides anything.

use threadwise_evidence::Certificate;
use threadwise_evidence::dag::Dag;
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemPropertyKind};

use crate::Error;
use crate::check::property_of;
use crate::fit::{cells, plain};

/// What a certificate of a safety property claims about an instance: for whoever writes its conditions in another form.
pub struct Claimed<'c> {
    /// The plain form of the instance.
    pub system: System,
    /// The property.
    pub kind: SystemPropertyKind,
    /// The sets of which the claimed one is the intersection.
    pub parts: Vec<Part<'c>>,
}

/// A decision graph of a claim.
pub struct Part<'c> {
    /// The graph.
    pub dag: &'c Dag,
    /// The cell of the system that each of its cells is.
    pub cells: Vec<usize>,
}

/// What a certificate claims about an instance, if it fits.
pub fn claimed<'c>(
    instance: &Instance,
    certificate: &'c Certificate,
    property: &str,
) -> Result<Claimed<'c>, Error> {
    let system = plain(instance)?;
    let kind = property_of(&system, certificate, property)?.clone();
    let dags = certificate.claim.parts();
    let cells = cells(&system, dags)?.into_iter();
    let parts = dags.iter().zip(cells);
    Ok(Claimed {
        parts: parts.map(|(dag, cells)| Part { dag, cells }).collect(),
        kind,
        system,
    })
}
