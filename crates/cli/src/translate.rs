//! `threadwise export`: a model in another tool's language.

use std::fs;

use threadwise::{Exit, Kind, Only, Options, Plan};
use threadwise_import::promela::promela;
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
    let positions = plan
        .properties
        .iter()
        .filter(|planned| planned.kind != Kind::Builtin);
    let positions: Vec<usize> = positions
        .filter_map(|planned| {
            system
                .properties
                .iter()
                .position(|p| p.name == planned.name)
        })
        .collect();
    let text = match args.to {
        Target::Promela => match promela(&system, &positions) {
            Ok(program) => program.text,
            Err(error) => return refuse(&error),
        },
    };
    let declared = instance.program().properties.len();
    if args.property.is_empty() && positions.len() < declared {
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
