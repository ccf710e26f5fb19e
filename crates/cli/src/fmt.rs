//! `threadwise fmt`: models in their canonical layout.

use std::fs;
use std::path::Path;

use threadwise::Exit;

use crate::args::FmtArgs;
use crate::input;
use crate::terminal::{Terminal, say};

pub(crate) fn run(args: &FmtArgs, terminal: &Terminal) -> Exit {
    let mut exit = Exit::Proved;
    for path in &args.files {
        exit = exit.and(file(path, args.check, terminal));
    }
    exit
}

fn file(path: &Path, check: bool, terminal: &Terminal) -> Exit {
    let input = match input::read(path) {
        Ok(input) => input,
        Err(error) => {
            terminal.error(&error);
            return Exit::Input;
        }
    };
    let formatted = match threadwise_lang::format(&input.text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            terminal.diagnostics(&diagnostics, &input.name, &input.text);
            return Exit::Input;
        }
    };
    let stdin = path == Path::new("-");
    if check {
        if formatted != input.text {
            say(format_args!("{}: not formatted\n", input.name));
            return Exit::Violated;
        }
    } else if stdin {
        say(format_args!("{formatted}"));
    } else if formatted != input.text
        && let Err(error) = fs::write(path, formatted)
    {
        terminal.error(&format_args!(
            "{}: cannot be written: {error}\n  help: the file is unchanged, or incomplete; check its permissions and the disk",
            input.name
        ));
        return Exit::Input;
    }
    Exit::Proved
}
