//! The engines that there are, and what can be asked of each.
//!
//! An engine describes itself in its own module ([`EngineInfo`]); this is the list of them. Everything that depends on which engines there are is made from it: command line,
//! manual, listing, and the check that an option is one of the engine that was asked for. A program that embeds threadwise can add engines of its own.

use std::borrow::Cow;

use threadwise_engine::{EngineInfo, Form, Make, OptionInfo, Setup};
use threadwise_evidence::{Reason, ReasonCode};

use crate::plan::{Options, Planned, RequestError, did_you_mean};
use crate::portfolio::{self, AUTO};
use crate::report::Kind;

/// Engines by name.
#[derive(Clone, Debug)]
pub struct Registry {
    engines: Cow<'static, [&'static EngineInfo]>,
}

/// Every engine of threadwise.
static STANDARD: Registry = Registry {
    engines: Cow::Borrowed(&[
        &AUTO,
        &threadwise_explicit::EXPLICIT,
        &threadwise_safety::FORWARD,
        &threadwise_safety::BACKWARD,
        &threadwise_safety::SPLIT,
        &threadwise_safety::PAIRWISE,
        &threadwise_safety::THREAD_MODULAR,
        &threadwise_safety::THREAD_MODULAR_REFINED,
        &threadwise_safety::CARTESIAN,
        &threadwise_liveness::MONOLITHIC,
        &threadwise_liveness::LOCAL,
        &threadwise_liveness::FAIR_LOCAL_A,
        &threadwise_liveness::FAIR_LOCAL_B,
        &threadwise_param::engine::COUNTER,
        &threadwise_param::engine::GENERALISE,
        &threadwise_param::engine::CUBES,
        &threadwise_param::engine::RANKING,
    ]),
};

impl Default for &Registry {
    fn default() -> Self {
        &STANDARD
    }
}

impl Default for Registry {
    fn default() -> Self {
        STANDARD.clone()
    }
}

impl Registry {
    /// The engines of threadwise.
    pub fn standard() -> &'static Registry {
        &STANDARD
    }

    /// The same engines and one more, which takes the place of another with its name.
    pub fn with(&self, engine: &'static EngineInfo) -> Registry {
        let others = self.engines.iter().copied();
        let others = others.filter(|known| known.name != engine.name);
        Registry {
            engines: others.chain([engine]).collect(),
        }
    }

    /// All of them.
    pub fn engines(&self) -> impl Iterator<Item = &'static EngineInfo> {
        self.engines.iter().copied()
    }

    /// The engine of this name.
    pub fn get(&self, name: &str) -> Result<&'static EngineInfo, RequestError> {
        let found = self.engines().find(|known| known.name == name);
        found.ok_or_else(|| {
            let names = self.engines().map(|known| known.name.to_owned());
            RequestError::UnknownEngine {
                name: name.to_owned(),
                help: did_you_mean(name, names, "the engines"),
            }
        })
    }

    /// Every option of an engine, once. Where several engines have it, each value that one of them takes.
    pub fn options(&self) -> Vec<OptionInfo> {
        let mut all: Vec<OptionInfo> = Vec::new();
        let choices = |option: &OptionInfo| match option.form {
            Form::Choice(_, choices) => choices.len(),
            _ => 0,
        };
        for option in self.engines().flat_map(|engine| engine.options) {
            match all.iter_mut().find(|known| known.name == option.name) {
                None => all.push(*option),
                Some(known) if choices(known) < choices(option) => *known = *option,
                Some(_) => {}
            }
        }
        all
    }

    /// Checks that the engine that was asked for has a use for the options that are for some engines only, and that it can be made with them. That does not need a model.
    pub fn check(&self, options: &Options) -> Result<(), RequestError> {
        let asked = self.get(&options.engine)?;
        let kind = match options.only {
            Some(crate::plan::Only::Liveness) => Kind::Liveness,
            _ => Kind::Builtin,
        };
        let chosen = chosen(asked, kind);
        for (name, values) in options.engine_options.iter() {
            let takes = |engine: &EngineInfo| {
                let mut own = engine.options.iter();
                own.any(|option| option.name == name && option.allows(values))
            };
            if takes(asked) || takes(chosen) {
                continue;
            }
            let named = |engine: &EngineInfo| engine.options.iter().any(|o| o.name == name);
            return Err(match named(chosen) {
                true => self.misplaced(format!("--{name} {}", values.join(" ")), takes, chosen),
                false => self.misplaced(format!("--{name}"), named, chosen),
            });
        }
        if options.explain && !asked.explains && !chosen.explains {
            return Err(self.misplaced("--explain".to_owned(), |engine| engine.explains, chosen));
        }
        let setup = Setup {
            options: options.engine_options.of(chosen),
            ..Setup::default()
        };
        match chosen.make {
            Make::One(make) => make(&setup).map(drop)?,
            Make::All(make) => make(&setup).map(drop)?,
            Make::Several => {}
        }
        Ok(())
    }

    /// An option that an engine does not have.
    fn misplaced(
        &self,
        option: String,
        takes: impl Fn(&EngineInfo) -> bool,
        engine: &EngineInfo,
    ) -> RequestError {
        let others = self.engines().filter(|engine| takes(engine));
        let for_engines: Vec<&str> = others.map(|engine| engine.name).collect();
        if for_engines.is_empty() {
            let known = self.options().into_iter();
            let known = known.map(|known| format!("--{}", known.name));
            let help = did_you_mean(&option, known, "the options of engines");
            return RequestError::UnknownOption { option, help };
        }
        RequestError::EngineOption {
            option,
            for_engines,
            engine: engine.name.to_owned(),
        }
    }
}

/// The engine that a choice comes down to for a kind of properties.
pub(crate) fn chosen(engine: &'static EngineInfo, kind: Kind) -> &'static EngineInfo {
    match engine.make {
        Make::Several => portfolio::alone(kind),
        _ => engine,
    }
}

/// Whether an engine decides properties of a kind; if not, why.
pub(crate) fn decides(engine: &'static EngineInfo, planned: &Planned) -> Result<(), Reason> {
    use threadwise_engine::Decides::{Liveness, Safety};
    let (engine, property) = (chosen(engine, planned.kind), &planned.name);
    let name = engine.name;
    let other = |kind| portfolio::alone(kind).name;
    let (message, next) = match (planned.kind, engine.decides) {
        (Kind::Liveness, Safety) => (
            format!("`{name}` decides safety properties, and `{property}` is a liveness property"),
            format!(
                "`--engine {}` decides liveness, and `--only safety` leaves it out",
                other(Kind::Liveness)
            ),
        ),
        (Kind::Builtin | Kind::Invariant | Kind::Deadlock, Liveness) => (
            format!("`{name}` decides liveness properties, and `{property}` is none"),
            format!(
                "`--engine {}` decides safety, and `--only liveness` leaves it out",
                other(Kind::Builtin)
            ),
        ),
        _ => return Ok(()),
    };
    Err(Reason::new(ReasonCode::Unsupported, message).next(next))
}
