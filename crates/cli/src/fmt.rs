//! `threadwise fmt`: models in their canonical layout.

use std::fs;
use std::path::Path;

use threadwise::Exit;

use crate::args::FmtArgs;
use crate::input::{self, Wanted};
use crate::terminal::{Terminal, say};

pub(crate) fn run(args: &FmtArgs, terminal: &Terminal) -> Exit {
    let mut exit = Exit::Proved;
    for path in &args.files {
        let files = match input::files(path, Wanted::Models) {
            Ok(files) => files,
            Err(error) => {
                terminal.error(&error);
                exit = exit.and(Exit::Input);
                continue;
            }
        };
        if files.is_empty() {
            terminal.error(&format_args!(
                "{}: there is no model (`*.tw`) below it",
                path.display()
            ));
            exit = exit.and(Exit::Input);
        }
        for file in files {
            exit = exit.and(format_file(&file, args.check, terminal));
        }
    }
    exit
}

fn format_file(path: &Path, check: bool, terminal: &Terminal) -> Exit {
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
            terminal.refused(
                &diagnostics,
                &input.name,
                &input.text,
                "nothing was formatted",
            );
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
