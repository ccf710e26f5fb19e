//! The options of engines on the command line, as the engines describe them.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use threadwise::{EngineOptions, Form, OptionInfo, Registry, Setting};

/// Options of engines that were given.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineArgs(pub(crate) EngineOptions);

impl Args for EngineArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Registry::standard().options().iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EngineArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = EngineOptions::default();
        for option in Registry::standard().options() {
            let name = option.name;
            if matches!(option.form, Form::Flag) {
                if matches.get_flag(name) {
                    given = given.flag(name);
                }
                continue;
            }
            for value in matches.get_raw(name).into_iter().flatten() {
                given = given.value(name, &value.to_string_lossy());
            }
        }
        Ok(EngineArgs(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An option as clap knows it.
fn argument(option: &OptionInfo) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.help);
    match option.form {
        Form::Flag => arg.action(ArgAction::SetTrue),
        Form::Choice(value, choices) => {
            let choices = choices.iter();
            let choices = choices.map(|(name, help)| PossibleValue::new(*name).help(*help));
            arg.value_name(value)
                .value_parser(PossibleValuesParser::new(choices))
        }
        Form::Value(value) => arg.value_name(value),
        Form::Settings => arg
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .value_parser(value_parser!(Setting)),
    }
}
