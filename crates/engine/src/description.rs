//! An engine as it is known before it runs: data, and a constructor.
//!
//! An engine describes itself once, beside its code: its name, what it decides, and its own options. The command line, the manual, the listing of engines and the check
//! that an option belongs to the engine are all made from that. Whoever wants an engine to run has its constructor make one from a [`Setup`]; options that contradict each other
//! are refused there, so a setup is checked by making the engine.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use threadwise_evidence::Exposed;
use threadwise_lang::program::Program;

use crate::engine::Engine;
use crate::family::FamilyEngine;

/// An engine, before it runs.
#[derive(Debug)]
pub struct EngineInfo {
    /// What `--engine` calls it.
    pub name: &'static str,
    /// How it works, in a sentence.
    pub about: &'static str,
    /// Which properties it decides.
    pub decides: Decides,
    /// Whether its proofs can be written so that people can read them.
    pub explains: bool,
    /// Its own options.
    pub options: &'static [OptionInfo],
    /// Makes one that can run.
    pub make: Make,
}

/// Kinds of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// Invariants, freedom from deadlock, and the built-in checks.
    Safety,
    /// Liveness.
    Liveness,
    /// Both.
    Both,
}

impl Decides {
    /// For people.
    pub fn as_str(self) -> &'static str {
        match self {
            Decides::Safety => "safety",
            Decides::Liveness => "liveness",
            Decides::Both => "safety, liveness",
        }
    }
}

/// Makes an engine as a setup says, or refuses the setup.
#[derive(Clone, Copy, Debug)]
pub enum Make {
    /// One for a single instance, which it sees as a system.
    One(fn(&Setup) -> Result<Box<dyn Engine>, Refused>),
    /// One for all instances at once, which it sees as a program.
    All(fn(&Setup) -> Result<Box<dyn FamilyEngine>, Refused>),
    /// None: the name stands for several engines that take turns.
    Several,
}

impl Make {
    /// What verdicts speak of, for people.
    pub fn scope(self) -> &'static str {
        match self {
            Make::One(_) => "one instance",
            Make::All(_) => "all instances",
            Make::Several => "all instances, or else one",
        }
    }
}

/// How an engine is to work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Setup {
    /// Its own options.
    pub options: EngineOptions,
    /// Threads it may use.
    pub threads: u16,
    /// Whether proofs are to come with certificates.
    pub certificates: bool,
    /// Whether proofs are to come with outlines.
    pub explain: bool,
    /// Go on after every property is decided, until all states are counted.
    pub count_states: bool,
    /// Do not go on for long for the sake of the built-in checks when all else is violated.
    pub along: bool,
    /// Give up after some amount of work that depends on nothing but the task, since there are others to try.
    pub bounded: bool,
    /// What was learnt at a smaller instance, in engines that have the option [`LEARN`].
    pub exposed: Vec<Exposed>,
}

/// Options that no engine can be made with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Why, in a sentence.
    pub message: String,
    /// What to do next.
    pub help: String,
}

/// An option of an engine.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// What stands behind `--` on the command line.
    pub name: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// How it is given.
    pub form: Form,
    /// Whether it may help with a program for which a limit was reached.
    pub remedy: Option<fn(&Program) -> bool>,
}

/// How an option is given.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// It is, or it is not.
    Flag,
    /// With one of these values, each with what it means; what the placeholder is called.
    Choice(&'static str, &'static [(&'static str, &'static str)]),
    /// With any value, which the engine looks at; what the placeholder is called.
    Value(&'static str),
    /// With a value for a parameter of the model, any number of times.
    Settings,
}

impl OptionInfo {
    /// An option without a value.
    pub const fn flag(name: &'static str, help: &'static str) -> OptionInfo {
        OptionInfo::new(name, help, Form::Flag)
    }

    /// An option in any form.
    pub const fn new(name: &'static str, help: &'static str, form: Form) -> OptionInfo {
        OptionInfo {
            name,
            help,
            form,
            remedy: None,
        }
    }

    /// Whether it can be given with these values.
    pub fn allows(&self, values: &[String]) -> bool {
        match (self.form, values) {
            (Form::Flag, values) => values.is_empty(),
            (Form::Choice(_, choices), [value]) => choices.iter().any(|(name, _)| name == value),
            (Form::Value(_), [_]) => true,
            (Form::Settings, values) => !values.is_empty(),
            _ => false,
        }
    }
}

/// In engines that look at processes one by one.
pub const NO_SYMMETRY: OptionInfo = OptionInfo::flag(
    "no-symmetry",
    "In engines that look at processes one by one, look at every one, not at one for all that are alike: slower, for comparison",
);

/// In engines that can begin with what was exposed at a smaller instance. Whoever runs them runs them there first, if nothing else is said where parameters are at most three.
pub const LEARN: OptionInfo = OptionInfo::new(
    "learn",
    "In the local engines for liveness, first decide the property at the instance with this value, and begin with what was exposed there (repeatable, for several parameters; default: every parameter at most 3)",
    Form::Settings,
);

/// In engines that have [`LEARN`].
pub const NO_LEARN: OptionInfo = OptionInfo::flag(
    "no-learn",
    "In the local engines for liveness, begin with nothing exposed, without a look at a smaller instance: slower, for comparison",
);

/// Options of an engine that were given, by their names, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineOptions(BTreeMap<String, Vec<String>>);

/// As on the command line, each behind a space.
impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, values) in &self.0 {
            match values.as_slice() {
                [] => write!(f, " --{name}")?,
                values => values
                    .iter()
                    .try_for_each(|value| write!(f, " --{name} {value}"))?,
            }
        }
        Ok(())
    }
}

impl EngineOptions {
    /// The same with an option that has no value.
    pub fn flag(mut self, name: &str) -> EngineOptions {
        self.0.entry(name.to_owned()).or_default();
        self
    }

    /// The same with an option that has a value, or one value more.
    pub fn value(mut self, name: &str, value: &str) -> EngineOptions {
        let values = self.0.entry(name.to_owned()).or_default();
        values.push(value.to_owned());
        self
    }

    /// The same with these in place of what was given by their names.
    pub fn and(mut self, others: &EngineOptions) -> EngineOptions {
        self.0.extend(others.0.clone());
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each with its values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        let all = self.0.iter();
        all.map(|(name, values)| (name.as_str(), values.as_slice()))
    }

    /// Those that an engine has.
    pub fn of(&self, engine: &EngineInfo) -> EngineOptions {
        let known = |name: &String| engine.options.iter().any(|option| option.name == *name);
        let own = self.0.iter().filter(|(name, _)| known(name));
        EngineOptions(own.map(|(name, v)| (name.clone(), v.clone())).collect())
    }

    /// Whether an option was given.
    pub fn has(&self, option: &OptionInfo) -> bool {
        self.0.contains_key(option.name)
    }

    /// All values of an option.
    pub fn all(&self, option: &OptionInfo) -> &[String] {
        self.0.get(option.name).map_or(&[], Vec::as_slice)
    }

    /// The choice that was made, or else the default.
    pub fn choice<T: Default + DeserializeOwned>(&self, option: &OptionInfo) -> Result<T, Refused> {
        let Some(value) = self.all(option).last() else {
            return Ok(T::default());
        };
        let text: StrDeserializer<'_, Error> = value.as_str().into_deserializer();
        T::deserialize(text).map_err(|error| Refused {
            message: format!("`--{} {value}`: {error}", option.name),
            help: format!("choose one of the values that `--{}` has", option.name),
        })
    }
}
