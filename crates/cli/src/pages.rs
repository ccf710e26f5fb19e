//! `threadwise completions` and `threadwise man`, both made from the description of the arguments. The page in Markdown is a chapter of
//! the book; a test compares the two.

use std::fmt::Write as _;
use std::io;

use clap::{Arg, CommandFactory};
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

/// `threadwise man --markdown`
pub(crate) fn reference() -> Exit {
    let mut all = Cli::command().term_width(80);
    all.build();
    let mut page = String::from(
        "# Commands and options\n\n\
         This page is made by the program: `threadwise man --markdown` prints it. `threadwise COMMAND --help` says the same in the terminal. \
         What other tools may rely on is in [the chapter on the command line](command-line.md).\n\n\
         | command | what it does |\n|---|---|\n",
    );
    let visible = || all.get_subcommands().filter(|known| !known.is_hide_set());
    for command in visible().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        let about = about(command);
        push(
            &mut page,
            format_args!("| [`threadwise {name}`](#threadwise-{name}) | {about} |\n"),
        );
    }
    push(&mut page, format_args!("\n```text\n{}\n```\n", after(&all)));
    for command in visible().filter(|command| command.get_name() != "help") {
        section(&mut page, command);
    }
    say(format_args!("{page}"));
    Exit::Proved
}

/// Appends to a text.
fn push(page: &mut String, text: std::fmt::Arguments) {
    // Writing to a string does not fail.
    let _ = page.write_fmt(text);
}

fn about(command: &clap::Command) -> String {
    cell(
        &command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
    )
}

fn after(command: &clap::Command) -> String {
    let help = command.get_after_help().map(ToString::to_string);
    help.unwrap_or_default().trim_end().to_owned()
}

/// One command.
fn section(page: &mut String, command: &clap::Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    push(
        page,
        format_args!(
            "\n## threadwise {}\n\n{}.\n\n```text\n{usage}\n```\n",
            command.get_name(),
            about(command)
        ),
    );
    let shown =
        |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in command.get_arguments().filter(shown) {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        push(
            page,
            format_args!(
                "\n| {} | |\n|---|---|\n",
                heading.unwrap_or("arguments and options").to_lowercase()
            ),
        );
        let args = command.get_arguments().filter(shown);
        for arg in args.filter(|arg| arg.get_help_heading() == heading) {
            push(page, format_args!("| {} | {} |\n", form(arg), meaning(arg)));
        }
    }
    let after = after(command);
    if !after.is_empty() {
        push(page, format_args!("\n```text\n{after}\n```\n"));
    }
}

/// How an argument is written.
fn form(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let mut form = match (arg.get_long(), arg.get_short()) {
        (Some(long), Some(short)) => format!("--{long}`, `-{short}"),
        (Some(long), None) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => String::new(),
    };
    if arg.get_action().takes_values() {
        form = format!("{form} {}", values.join(" "));
    }
    format!("`{}`", cell(form.trim()))
}

/// What an argument means, with its values.
fn meaning(arg: &Arg) -> String {
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default();
    if !arg.get_action().takes_values() {
        return cell(&meaning);
    }
    for value in arg.get_possible_values() {
        let help = value.get_help().map(|help| format!(": {help}"));
        let help = help.unwrap_or_default();
        meaning = format!("{meaning}<br>`{}`{help}", value.get_name());
    }
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() {
        meaning = format!("{meaning}<br>default: `{}`", defaults.join(" "));
    }
    cell(&meaning)
}

/// A text as the cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
