//! `threadwise export`: a model in another tool's language.

use std::fs;

use threadwise::{Exit, Kind, Only, Options, Plan};
use threadwise_import::UnfoldError;
use threadwise_import::blif::blif;
use threadwise_import::hoa::{HoaError, hoa};
use threadwise_import::promela::promela;
use threadwise_import::smv::smv;
use threadwise_model::lower::lower;

use crate::args::{ExportArgs, Target};
use crate::check::with_help;
use crate::simulate::instance;
use crate::terminal::{Terminal, say};

pub(crate) fn export(args: &ExportArgs, terminal: &Terminal) -> Exit {
    let (session, instance) = match instance(&args.file, &args.instance, terminal) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let refuse = |message: &dyn std::fmt::Display| {
        terminal.error(&format_args!("{}: {message}", session.name()));
        Exit::Input
    };
    // What is asked for by name must be expressed or refused; what merely stands in the model
    // and cannot be expressed is left out, with a note.
    let options = Options {
        properties: args.property.clone(),
        only: args.property.is_empty().then_some(Only::Safety),
        ..Options::default()
    };
    let plan = match Plan::new(instance.program(), &options) {
        Ok(plan) => plan,
        Err(error) => return refuse(&with_help(&error)),
    };
    let system = match lower(&instance, 1) {
        Ok(system) => system,
        Err(diagnostics) => {
            terminal.diagnostics(&diagnostics, session.name(), session.text());
            return Exit::Input;
        }
    };
    let planned: Vec<(usize, bool)> = plan
        .properties
        .iter()
        .filter_map(|planned| {
            let mut all = system.properties.iter();
            let at = all.position(|property| property.name == planned.name)?;
            Some((at, planned.kind == Kind::Builtin))
        })
        .collect();
    // The built-in checks are planned whatever is asked for.
    let asked = |at: usize| {
        let name = &system.properties[at].name;
        args.property.is_empty() || args.property.contains(name)
    };
    let positions: Vec<usize> = planned
        .iter()
        .map(|&(at, _)| at)
        .filter(|&at| asked(at))
        .collect();
    let declared: Vec<usize> = planned
        .iter()
        .filter(|(_, builtin)| !builtin)
        .map(|&(at, _)| at)
        .collect();
    let written = match args.to {
        // Its program has the built-in checks in it.
        Target::Promela => promela(&system, &declared)
            .map(|program| program.text)
            .map_err(|error| error.to_string()),
        Target::Smv => smv(&system, &positions).map_err(|error| error.to_string()),
        Target::Blif => match positions[..] {
            [one] => blif(&system, one),
            _ => {
                let names = positions
                    .iter()
                    .map(|&at| system.properties[at].name.clone());
                Err(UnfoldError::NotOne(names.collect()))
            }
        }
        .map_err(|error| error.to_string()),
        Target::Hoa => match &args.property[..] {
            [] => hoa(&instance, session.text(), None),
            [one] => hoa(&instance, session.text(), Some(one)),
            several => Err(HoaError::NotOne(several.to_vec())),
        }
        .map_err(|error| error.to_string()),
    };
    let text = match written {
        Ok(text) => text,
        Err(error) => return refuse(&error),
    };
    let left_out = declared.len() < instance.program().properties.len();
    if args.to != Target::Hoa && args.property.is_empty() && left_out {
        terminal.note(&format_args!(
            "{}: liveness properties are not part of the translation",
            session.name()
        ));
    }
    match &args.output {
        None => say(format_args!("{text}")),
        Some(path) => {
            if let Err(error) = fs::write(path, text) {
                terminal.error(&format_args!(
                    "{}: cannot be written: {error}",
                    path.display()
                ));
                return Exit::Input;
            }
        }
    }
    Exit::Proved
}
