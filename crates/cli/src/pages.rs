//! `threadwise completions` and `threadwise man`, both made from the description of the arguments.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;
use threadwise::Exit;
use threadwise_lang::suggest::closest;

use crate::args::Cli;
use crate::terminal::{Terminal, say};

pub(crate) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "threadwise", &mut script);
    say(format_args!("{}", String::from_utf8_lossy(&script)));
    Exit::Proved
}

pub(crate) fn man(command: Option<&str>, terminal: &Terminal) -> Exit {
    let mut all = Cli::command();
    all.build();
    let page = match command {
        None => all,
        Some(name) => {
            let visible = all.get_subcommands().filter(|known| !known.is_hide_set());
            let names: Vec<&str> = visible.map(clap::Command::get_name).collect();
            let found = all.get_subcommands().find(|known| known.get_name() == name);
            match found.filter(|found| !found.is_hide_set()) {
                Some(found) => {
                    let title = format!("threadwise-{name}");
                    found.clone().display_name(title)
                }
                None => {
                    let help = closest(name, names.iter().map(|known| (*known).to_owned()))
                        .map_or_else(
                            || format!("the commands are {}", names.join(", ")),
                            |near| format!("did you mean `{near}`?"),
                        );
                    terminal.error(&format_args!(
                        "there is no command `{name}`\n  help: {help}"
                    ));
                    return Exit::Input;
                }
            }
        }
    };
    match render(page) {
        Ok(text) => {
            say(format_args!("{text}"));
            Exit::Proved
        }
        Err(error) => {
            terminal.error(&format_args!("the page cannot be made: {error}"));
            Exit::Internal
        }
    }
}

fn render(command: clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
