//! What `threadwise bench` needs of the program that it is a part of.

use std::fmt::Display;
use std::path::Path;

use clap::Parser;
use threadwise::Registry;

use crate::args::{Cli, Command};
use crate::check::{options, with_help};
use crate::input;
use crate::terminal::{Terminal, say};

/// This program.
pub(crate) struct Host(pub(crate) Terminal);

impl threadwise_bench::Host for Host {
    fn table(&self, path: &Path) -> Result<String, String> {
        let table = input::read_table(path).map_err(|error| error.to_string())?;
        Ok(table.text)
    }

    fn model(&self, path: &Path) -> Result<String, String> {
        let model = input::read(path).map_err(|error| error.message)?;
        Ok(model.text)
    }

    fn column(&self, engine: &str, wanted: &[String]) -> Result<(), String> {
        let registry = Registry::standard();
        registry.get(engine).map_err(|error| with_help(&error))?;
        let words = ["threadwise", "check", "model", "--engine", engine];
        let words = words.into_iter().chain(wanted.iter().map(|o| &**o));
        match Cli::try_parse_from(words) {
            Ok(Cli {
                command: Command::Check(args),
            }) => registry
                .check(&options(&args))
                .map_err(|error| error.to_string()),
            Ok(_) => Err("these are no options of `check`".to_owned()),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                Err(first.trim_start_matches("error: ").to_owned())
            }
        }
    }

    fn say(&self, text: &str) {
        say(format_args!("{text}"));
    }

    fn error(&self, message: &dyn Display) {
        self.0.error(message);
    }

    fn note(&self, message: &dyn Display) {
        self.0.note(message);
    }

    fn progress(&self) -> bool {
        self.0.progress
    }
}
