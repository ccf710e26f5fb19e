//! Whether a certificate is about the instance at hand, before anything is encoded.
//!
//! Only the names and numbers of values of cells matter for what comes after. The rest is so that people are
//! told at once that they took the wrong file.

use std::collections::HashMap;

use threadwise_evidence::certificate::{cell_names, cell_values, digest};
use threadwise_evidence::dag::Dag;
use threadwise_evidence::{CERTIFICATE_VERSION, Certificate};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::System;

use crate::Error;

/// The plain form of an instance.
pub(crate) fn plain(instance: &Instance) -> Result<System, Error> {
    let templates = &instance.program().templates;
    if let Some(id) = templates.indices().find(|id| instance.is_dynamic(*id)) {
        return Err(Error::unsupported(format!(
            "processes of `{}` are started during the run, which certificates do not cover",
            templates[id].name
        )));
    }
    lower(instance, 0).map_err(|errors| {
        let messages: Vec<String> = errors.into_iter().map(|error| error.message).collect();
        Error::unsupported(messages.join("; "))
    })
}

/// Compares what does not depend on the kind of claim: the version of the format, and the property.
pub(crate) fn form(certificate: &Certificate, property: &str) -> Result<(), Error> {
    if certificate.version != CERTIFICATE_VERSION {
        return Err(Error::mismatch(format!(
            "it has version {} of the format, and this is {CERTIFICATE_VERSION}",
            certificate.version
        )));
    }
    if certificate.property != property {
        return Err(Error::mismatch(format!(
            "it is about `{}`, not about `{property}`",
            certificate.property
        )));
    }
    Ok(())
}

/// Compares a certificate's envelope with the property, the parameters and the model.
pub(crate) fn envelope(
    system: &System,
    certificate: &Certificate,
    property: &str,
) -> Result<(), Error> {
    form(certificate, property)?;
    for (name, value) in &system.params {
        match certificate.params.get(name) {
            Some(other) if other == value => {}
            Some(other) => {
                return Err(Error::mismatch(format!(
                    "it is for {name} = {other}, and here {name} = {value}"
                )));
            }
            None => return Err(Error::mismatch(format!("it has no value of `{name}`"))),
        }
    }
    let known = |name: &String| system.params.iter().any(|(param, _)| param == name);
    if let Some(name) = certificate.params.keys().find(|name| !known(name)) {
        return Err(Error::mismatch(format!(
            "it has a value of `{name}`, which is no parameter"
        )));
    }
    match &certificate.model {
        Some(model) if *model != digest(system) => Err(Error::mismatch(
            "it was made for another model, or for another version of this one",
        )),
        _ => Ok(()),
    }
}

/// For each decision graph the cells of a system that those of the graph are. Every node has a child for each value, and
/// no more.
pub(crate) fn cells<'d>(
    system: &System,
    dags: impl IntoIterator<Item = &'d Dag>,
) -> Result<Vec<Vec<usize>>, Error> {
    let names = cell_names(system);
    let values = cell_values(system);
    let mut numbers = HashMap::with_capacity(names.len());
    for (cell, name) in names.iter().enumerate() {
        if numbers.insert(name.as_str(), cell).is_some() {
            return Err(Error::unsupported(format!(
                "two cells of the model are called `{name}`"
            )));
        }
    }
    let of = |dag: &Dag| -> Result<Vec<usize>, Error> {
        let cells: Vec<usize> = dag
            .cells()
            .iter()
            .map(|name| {
                let number = numbers.get(name.as_str()).copied();
                number.ok_or_else(|| Error::mismatch(format!("the model has no cell `{name}`")))
            })
            .collect::<Result<_, _>>()?;
        for (position, node) in dag.nodes().enumerate() {
            let cell = cells[node.cell];
            let size = values[cell].map_or(0, |(_, size)| size);
            if node.values() != size {
                return Err(Error::mismatch(format!(
                    "node {position} has {} children, and `{}` has {size} values",
                    node.values(),
                    names[cell]
                )));
            }
        }
        Ok(cells)
    };
    dags.into_iter().map(of).collect()
}
