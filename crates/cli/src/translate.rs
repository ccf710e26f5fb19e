//! `threadwise export`: a model in another tool's language.
//!
//! All languages but Horn clauses are for one instance; these are for all values of the parameters.

use std::fs;
use std::path::Path;

use threadwise::{Exit, Kind, Only, Options, Plan};
use threadwise_export::UnfoldError;
use threadwise_export::blif::blif;
use threadwise_export::dot::dot;
use threadwise_export::hoa::{HoaError, hoa};
use threadwise_export::promela::promela;
use threadwise_export::smv::smv;
use threadwise_lang::program::Span;
use threadwise_model::lower::lower;
use threadwise_param::horn::{Others, horn};

use crate::args::{ExportArgs, ImportArgs, Target};
use crate::check::with_help;
use crate::input;
use crate::simulate::{given, instance};
use crate::terminal::{Terminal, say};

pub(crate) fn export(args: &ExportArgs, terminal: &Terminal) -> Exit {
    match args.to {
        Target::Chc => return clauses(args, terminal),
        Target::Dot if !args.property.is_empty() || !args.instance.set.is_empty() => {
            terminal.error(&"`--to dot` draws the program text: leave --property and --set out");
            return Exit::Input;
        }
        _ if args.with_lemmas || args.as_published => {
            let option = match args.with_lemmas {
                true => "--with-lemmas",
                false => "--as-published",
            };
            terminal.error(&format_args!(
                "`{option}` is for `--to chc`: leave it out for other languages"
            ));
            return Exit::Input;
        }
        Target::Dot => return graph(args, terminal),
        _ => {}
    }
    let (session, instance) = match instance(&args.file, &args.language, &args.instance, terminal) {
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
            terminal.diagnostics(&diagnostics, session.name(), session.source());
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
            [] => hoa(&instance, None),
            [one] => hoa(&instance, Some(one)),
            several => Err(HoaError::NotOne(several.to_vec())),
        }
        .map_err(|error| error.to_string()),
        Target::Chc => return clauses(args, terminal),
        Target::Dot => return graph(args, terminal),
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
    write(args.output.as_deref(), &text, terminal)
}

/// Writes the control flow of a model.
fn graph(args: &ExportArgs, terminal: &Terminal) -> Exit {
    let (session, _) = match given(&args.file, &args.language, &args.instance, terminal) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let Some(program) = session.program() else {
        return Exit::Input;
    };
    let lines = session.lines();
    let texts: Vec<&str> = session.source().lines().collect();
    let source = |span: Span| {
        let line = lines.line(span);
        let text = texts.get(line as usize - 1)?;
        Some((line, (*text).to_owned()))
    };
    let text = dot(session.name(), program, &source);
    write(args.output.as_deref(), &text, terminal)
}

/// Writes the Horn clauses of a model, for all values of the parameters that are not given.
fn clauses(args: &ExportArgs, terminal: &Terminal) -> Exit {
    let (session, values) = match given(&args.file, &args.language, &args.instance, terminal) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let refuse = |message: &dyn std::fmt::Display| {
        terminal.error(&format_args!("{}: {message}", session.name()));
        Exit::Input
    };
    let Some(program) = session.program() else {
        return Exit::Input;
    };
    let options = Options {
        properties: args.property.clone(),
        settings: args.instance.set.clone(),
        ..Options::default()
    };
    if let Err(error) = Plan::new(program, &options) {
        return refuse(&with_help(&error));
    }
    let fixed = values.0.into_iter().collect();
    let others = match (args.with_lemmas, args.as_published) {
        (true, _) => Others::WithLemmas,
        (_, true) => Others::Anything,
        _ => Others::Known,
    };
    let clauses = match horn(program, &fixed, &args.property, others) {
        Ok(clauses) => clauses,
        Err(error) => return refuse(&error),
    };
    if !clauses.left_out.is_empty() {
        let names = clauses.left_out.iter().map(|name| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        terminal.note(&format_args!(
            "{}: not part of the translation: {}",
            session.name(),
            names.join(", ")
        ));
    }
    write(args.output.as_deref(), &clauses.text, terminal)
}

/// `threadwise import`: a program of another language as a model.
pub(crate) fn import(args: &ImportArgs, terminal: &Terminal) -> Exit {
    let session = match input::read_model(&args.file, &args.language) {
        Ok(session) => session,
        Err(error) => {
            terminal.error(&error);
            return Exit::Input;
        }
    };
    let (name, source) = (session.name(), session.source());
    if session.program().is_none() {
        let consequence = "no model was written";
        terminal.refused(session.diagnostics(), name, source, consequence);
        return Exit::Input;
    }
    if !session.is_imported() {
        terminal.error(&format_args!(
            "{name}: this is a model already\n  help: `threadwise import` reads Promela (`.pml`) and C (`.c`, `.i`)"
        ));
        return Exit::Input;
    }
    terminal.diagnostics(session.diagnostics(), name, source);
    write(args.output.as_deref(), &session.model(), terminal)
}

/// Writes a text to where it was asked for.
fn write(output: Option<&Path>, text: &str, terminal: &Terminal) -> Exit {
    match output {
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
