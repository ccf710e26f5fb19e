//! `threadwise new`: a starter model that teaches.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use threadwise::Exit;

use crate::args::NewArgs;
use crate::terminal::{Terminal, say};

/// The model that is written; a test checks it.
const STARTER: &str = include_str!("starter.tw");

pub(crate) fn run(args: &NewArgs, terminal: &Terminal) -> Exit {
    if args.file == Path::new("-") {
        say(format_args!("{STARTER}"));
        return Exit::Proved;
    }
    let mut path = args.file.clone();
    if path.extension().is_none() {
        path.set_extension("tw");
    }
    let shown = path.display();
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    match file.and_then(|mut file| file.write_all(STARTER.as_bytes())) {
        Ok(()) => {
            if path.extension().is_none_or(|extension| extension != "tw") {
                terminal.note(&format_args!(
                    "{shown}: models are named *.tw; `threadwise test` and `threadwise fmt` find no others below a directory"
                ));
            }
            say(format_args!(
                "{shown} written\nNext: threadwise check {shown}\n"
            ));
            Exit::Proved
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            terminal.error(&format_args!(
                "{shown}: the file exists already, and is left as it is\n  help: choose another name"
            ));
            Exit::Input
        }
        Err(error) => {
            terminal.error(&format_args!(
                "{shown}: cannot be written: {error}\n  help: check that the directory exists and may be written"
            ));
            Exit::Input
        }
    }
}
