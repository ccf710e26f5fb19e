//! `threadwise certify`: the independent checker alone.

use std::path::Path;

use threadwise::{
    Certificate, CertifyError, CertifyFailure, CertifyMethod, Claim, Exit, Scope, Values,
    property_exists,
};

use crate::args::CertifyArgs;
use crate::check::with_help;
use crate::input;
use crate::terminal::{Terminal, say};
use threadwise_show::words::{counted, one_line};

pub(crate) fn run(args: &CertifyArgs, terminal: &Terminal) -> Exit {
    if args.file == Path::new("-") && args.certificate == Path::new("-") {
        terminal.error(&"the model and the certificate cannot both be standard input");
        return Exit::Input;
    }
    let (session, text) = match (
        input::read_model(&args.file, &args.language),
        input::read_evidence(&args.certificate, "certificate"),
    ) {
        (Ok(session), Ok(text)) => (session, text),
        (session, text) => {
            for error in [session.err(), text.err()].into_iter().flatten() {
                terminal.error(&error);
            }
            return Exit::Input;
        }
    };
    let certificate = match Certificate::from_json(&text.text) {
        Ok(certificate) => certificate,
        Err(error) => {
            terminal.error(&format_args!(
                "{}: {}\n  help: `threadwise check MODEL --certificate DIR` writes certificates",
                text.name,
                one_line(&error.to_string())
            ));
            return Exit::Input;
        }
    };
    let Some(program) = session.program() else {
        let (name, text) = (session.name(), session.source());
        terminal.refused(session.diagnostics(), name, text, "nothing was certified");
        return Exit::Input;
    };
    if let Some(wanted) = &args.property
        && let Err(error) = property_exists(program, wanted)
    {
        terminal.error(&format_args!("{}: {}", session.name(), with_help(&error)));
        return Exit::Input;
    }
    let mut values = certificate.params.clone();
    for setting in &args.set {
        // The checker says so if the certificate is for another value, or for all.
        values.insert(setting.name.clone(), *setting.values.start());
        if setting.values.start() != setting.values.end() {
            terminal.error(&"a certificate is for one value or for all, and --set gives several");
            return Exit::Input;
        }
    }
    let values = Values(values.into_iter().collect());
    let property = args.property.as_ref().unwrap_or(&certificate.property);
    let shown = one_line(property);
    let scope = match args.set.is_empty() {
        true => session.scope(&certificate),
        false => Scope::Instance {
            values: values.clone(),
        },
    };
    let at = format!(" {}", one_line(&scope.phrase()));
    let at = at.trim_end();
    let checked = if args.smtlib {
        session.conditions(&certificate, &values, property)
    } else {
        let report = session.certify(&certificate, &values, property);
        report.map(|report| {
            let questions = match certificate.claim {
                Claim::Family(_) => counted(report.conditions, "condition"),
                _ => {
                    let nodes = counted(report.nodes as u64, "node");
                    let by = match report.method {
                        Some(CertifyMethod::Each) => ", state by state",
                        Some(CertifyMethod::Walk) => ", by walks",
                        Some(CertifyMethod::Solver) => ", by a solver",
                        None => "",
                    };
                    format!("{nodes}, {}{by}", counted(report.conditions, "question"))
                }
            };
            format!("the certificate proves `{shown}`{at}: {questions}\n")
        })
    };
    match checked {
        Ok(text) => {
            if args.smtlib || !args.quiet {
                say(format_args!("{text}"));
            }
            Exit::Proved
        }
        Err(CertifyFailure::Instance(diagnostics)) => {
            terminal.diagnostics(&diagnostics, session.name(), session.source());
            Exit::Input
        }
        Err(CertifyFailure::Undecided(error)) => {
            terminal.error(&format_args!(
                "{}: the certificate cannot be checked: {}",
                text.name,
                one_line(&error.to_string())
            ));
            Exit::Unknown
        }
        Err(CertifyFailure::Refused(error)) => {
            let line = error.span().map(|span| {
                let line = session.lines().line(span);
                format!("{}:{line}: ", session.name())
            });
            let other = *property != certificate.property
                || values.0.iter().any(|(name, value)| {
                    let named = certificate.params.get(name);
                    let all = matches!(certificate.claim, Claim::Family(_));
                    named.map_or(all, |named| named != value)
                });
            let help = if other {
                "leave out --property and --set to check what the certificate is about"
            } else if certificate.model.is_some() && !matches!(error, CertifyError::Mismatch(_)) {
                "the certificate was made for this model, so it is wrong itself"
            } else {
                "was the model changed after the certificate was written?"
            };
            terminal.error(&format_args!(
                "{}: the certificate does not prove `{shown}`{at}: {}{}\n  help: {help}",
                text.name,
                line.unwrap_or_default(),
                one_line(&error.to_string())
            ));
            Exit::Internal
        }
    }
}
