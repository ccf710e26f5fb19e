//! What is to be checked: which properties of a model, at which instances.

use threadwise_engine::{Decides, EngineInfo, EngineOptions, LEARN, Make, Refused};
use threadwise_lang::diagnostics::{Code, Severity};
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_lang::suggest::closest;

use crate::advice::endless;
use crate::portfolio::{self, AUTO, Entry};
use crate::registry::{Registry, decides};
use crate::report::Kind;
use crate::setting::{Setting, SettingError, Values, combinations};

/// The name of the built-in checks, which every model has.
pub const CHECKS: &str = "checks";

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Values of parameters; those not named have their defaults.
    pub settings: Vec<Setting>,
    /// Parameters for all values of which the claim is to be proved.
    pub for_all: Vec<String>,
    /// The properties to check; all if empty. The built-in checks always run along.
    pub properties: Vec<String>,
    /// Properties of this kind only.
    pub only: Option<Only>,
    /// The engine, by name.
    pub engine: String,
    /// Its own options.
    pub engine_options: EngineOptions,
    /// The engines that there are.
    pub registry: Registry,
    /// Write proofs as outlines, too, in engines that can.
    pub explain: bool,
    /// Go on after every property is decided, until all states are counted.
    pub count_states: bool,
    /// Replay traces and check certificates before they are reported.
    pub recheck: bool,
    /// Ask for certificates, even if they are not to be checked.
    pub certificates: bool,
    /// Seconds for each property.
    pub seconds: Option<f64>,
    /// Bytes for an engine.
    pub memory: Option<u64>,
    /// Threads of an engine.
    pub threads: u16,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            settings: Vec::new(),
            for_all: Vec::new(),
            properties: Vec::new(),
            only: None,
            engine: AUTO.name.to_owned(),
            engine_options: EngineOptions::default(),
            registry: Registry::default(),
            explain: false,
            count_states: false,
            recheck: true,
            certificates: false,
            seconds: None,
            memory: None,
            threads: 1,
        }
    }
}

/// The two halves of the properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Invariants, freedom from deadlock, and the built-in checks.
    Safety,
    /// Liveness.
    Liveness,
}

impl Only {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Only::Safety => "safety",
            Only::Liveness => "liveness",
        }
    }

    /// Whether properties of a kind belong to it.
    pub(crate) fn has(self, kind: Kind) -> bool {
        (kind == Kind::Liveness) == (self == Only::Liveness)
    }

    /// What an engine for it decides.
    fn decided(self) -> Decides {
        match self {
            Only::Safety => Decides::Safety,
            Only::Liveness => Decides::Liveness,
        }
    }
}

/// Why a request makes no sense for a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No such property.
    #[error("the model has no property `{name}`")]
    UnknownProperty {
        /// The name that was given.
        name: String,
        /// What to do next.
        help: String,
    },
    /// No such parameter.
    #[error("the model has no parameter `{name}`")]
    UnknownParameter {
        /// The name that was given.
        name: String,
        /// What to do next.
        help: String,
    },
    /// No such engine.
    #[error("there is no engine `{name}`")]
    UnknownEngine {
        /// The name that was given.
        name: String,
        /// What to do next.
        help: String,
    },
    /// No such warning.
    #[error("there is no warning `{name}`")]
    UnknownWarning {
        /// The name that was given.
        name: String,
        /// What to do next.
        help: String,
    },
    /// `--for-all N --set N=3`
    #[error("parameter `{0}` has a value, and the claim is to be for all of its values")]
    SetForAll(String),
    /// `--only liveness --property mutex`
    #[error(
        "`{name}` is no {kind} property, so `--only {kind}` leaves nothing of what `--property` names"
    )]
    Conflict {
        /// The property that was named.
        name: String,
        /// The kind that was asked for.
        kind: &'static str,
    },
    /// An option that the engine has no use for; ignored, it would pass for one that was heeded.
    #[error(
        "`{option}` is for the engine {}, and the engine is `{engine}`",
        alternatives(for_engines, "")
    )]
    EngineOption {
        /// The option.
        option: String,
        /// The engines that it is for.
        for_engines: Vec<&'static str>,
        /// The engine that was asked for.
        engine: String,
    },
    /// An option that no engine has.
    #[error("no engine has the option `{option}`")]
    UnknownOption {
        /// The option.
        option: String,
        /// What to do next.
        help: String,
    },
    /// Options that the engine cannot be made with.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// `--learn N=2..3`
    #[error("`--learn` takes one value of `{0}`, not a range")]
    LearnRange(String),
    /// The filters leave no property.
    #[error("nothing to check: the model has no property that was asked for")]
    Nothing,
    /// A model with nothing in it.
    #[error("nothing to check: the model has neither processes nor properties")]
    EmptyModel,
    /// `where` allows no instance of a sweep.
    #[error("nothing to check: `where` excludes every value that was given")]
    AllExcluded,
    /// Bad values.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl RequestError {
    /// What to do next.
    pub fn help(&self) -> Option<String> {
        match self {
            RequestError::UnknownProperty { help, .. }
            | RequestError::UnknownParameter { help, .. }
            | RequestError::UnknownEngine { help, .. }
            | RequestError::UnknownOption { help, .. }
            | RequestError::Refused(Refused { help, .. })
            | RequestError::UnknownWarning { help, .. } => Some(help.clone()),
            RequestError::SetForAll(name) => Some(format!("leave out one of the two for `{name}`")),
            RequestError::EngineOption {
                option,
                for_engines,
                ..
            } => {
                let engines = alternatives(for_engines, "--engine ");
                Some(format!("leave out `{option}`, or use {engines}"))
            }
            RequestError::LearnRange(name) => {
                Some(format!("give a small value, such as --learn {name}=3"))
            }
            RequestError::Conflict { .. } => Some("leave out `--only`, or `--property`".to_owned()),
            RequestError::Nothing => {
                Some("leave out `--only`, or name another property".to_owned())
            }
            RequestError::EmptyModel => {
                Some("`threadwise new FILE` writes a model to begin with".to_owned())
            }
            RequestError::AllExcluded => Some("choose values that `where` allows".to_owned()),
            RequestError::Setting(_) => None,
        }
    }
}

/// What is to be checked of one model.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The values that are given, for each instance.
    pub instances: Vec<Values>,
    /// The properties, the built-in checks first, then in source order.
    pub properties: Vec<Planned>,
    /// What was asked for.
    pub options: Options,
    /// The engine.
    pub(crate) engine: &'static EngineInfo,
    /// The values of the instance to learn from, if one was asked for.
    pub(crate) learn: Vec<Setting>,
}

/// A property to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// What sort it is.
    pub kind: Kind,
}

impl Plan {
    /// Works out what a request means for a model.
    pub fn new(program: &Program, options: &Options) -> Result<Plan, RequestError> {
        let engine = options.registry.get(&options.engine)?;
        options.registry.check(options)?;
        let learn = options.engine_options.all(&LEARN).iter();
        let learn: Vec<Setting> = learn.map(|text| text.parse()).collect::<Result<_, _>>()?;
        let params = || program.params.iter().map(|param| param.name.clone());
        let given = options.settings.iter().chain(&learn);
        let given = given.map(|setting| &setting.name);
        for name in given.chain(&options.for_all) {
            if !params().any(|known| known == *name) {
                return Err(RequestError::UnknownParameter {
                    name: name.clone(),
                    help: did_you_mean(name, params(), "the model's parameters"),
                });
            }
        }
        if let Some(setting) = learn.iter().find(|setting| setting.is_sweep()) {
            return Err(RequestError::LearnRange(setting.name.clone()));
        }
        combinations(&learn)?;
        for name in &options.for_all {
            if options.settings.iter().any(|setting| setting.name == *name) {
                return Err(RequestError::SetForAll(name.clone()));
            }
        }
        if program.templates.is_empty() && program.properties.is_empty() {
            return Err(RequestError::EmptyModel);
        }
        let all = properties(program);
        for name in &options.properties {
            property_exists(program, name)?;
        }
        let right_kind = |property: &Planned| match options.only {
            None => true,
            Some(half) => half.has(property.kind),
        };
        let wanted = |property: &Planned| {
            options.properties.is_empty() || options.properties.contains(&property.name)
        };
        if !all
            .iter()
            .any(|property| right_kind(property) && wanted(property))
        {
            return Err(match (options.only, options.properties.first()) {
                (Some(only), Some(name)) => RequestError::Conflict {
                    name: name.clone(),
                    kind: only.as_str(),
                },
                _ => RequestError::Nothing,
            });
        }
        // Verdicts speak of runs up to the first failure, so the built-in checks belong to them.
        let checks = |property: &Planned| property.kind == Kind::Builtin;
        let properties = all
            .iter()
            .filter(|p| right_kind(p) && (wanted(p) || checks(p)));
        Ok(Plan {
            instances: combinations(&options.settings)?,
            properties: properties.cloned().collect(),
            options: options.clone(),
            engine,
            learn,
        })
    }

    /// Whether there is more than one instance.
    pub fn is_sweep(&self) -> bool {
        self.instances.len() > 1
    }

    /// The engines for all instances that are to be tried before one instance is looked at, or instead of that. Where several engines are asked, that is for what is not
    /// one instance with finitely many states.
    pub(crate) fn families(&self, program: &Program, values: &Values, half: Only) -> Vec<Entry> {
        if !self.properties.iter().any(|planned| half.has(planned.kind)) {
            return Vec::new();
        }
        let open = program.params.iter();
        let open = open.filter(|param| values.get(&param.name).is_none());
        let claim = || open.count() > 0 || endless(program).is_some();
        match self.engine.make {
            Make::All(_) if self.engine.decides == half.decided() => vec![Entry::new(self.engine)],
            Make::Several if !self.options.count_states && claim() => portfolio::for_all(half),
            _ => Vec::new(),
        }
    }

    /// Whether an engine for all instances was asked for, and no other.
    pub(crate) fn is_family(&self) -> bool {
        matches!(self.engine.make, Make::All(_))
    }

    /// Of these properties, those that an engine decides at an instance, together if one search serves them: all of safety, and each of liveness.
    pub(crate) fn searches<'p>(&self, properties: &[&'p Planned]) -> Vec<Vec<&'p Planned>> {
        let decided = |p: &&Planned| decides(self.engine, p).is_ok() && !self.is_family();
        let decided = properties.iter().copied().filter(decided);
        let (liveness, safety): (Vec<&'p Planned>, Vec<&'p Planned>) =
            decided.partition(|p| p.kind == Kind::Liveness);
        let safety = (!safety.is_empty()).then_some(safety);
        let liveness = liveness.into_iter().map(|property| vec![property]);
        safety.into_iter().chain(liveness).collect()
    }
}

/// Every property of a model, the built-in checks first.
pub fn properties(program: &Program) -> Vec<Planned> {
    let checks = Planned {
        name: CHECKS.to_owned(),
        kind: Kind::Builtin,
    };
    let declared = program.properties.iter().map(|property| Planned {
        name: property.name.clone(),
        kind: match property.kind {
            PropertyKind::Invariant(_) => Kind::Invariant,
            PropertyKind::DeadlockFree => Kind::Deadlock,
            PropertyKind::Liveness { .. } => Kind::Liveness,
        },
    });
    std::iter::once(checks).chain(declared).collect()
}

/// Whether the model has a property with this name; if not, what to say about it.
pub fn property_exists(program: &Program, name: &str) -> Result<(), RequestError> {
    let known = properties(program);
    let mut names = known.into_iter().map(|property| property.name);
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    Err(RequestError::UnknownProperty {
        name: name.to_owned(),
        help: did_you_mean(name, names.by_ref(), "the model's properties"),
    })
}

/// Which warnings count as errors.
#[derive(Clone, Debug, Default)]
pub struct Denied(Vec<Code>);

impl Denied {
    /// Reads codes (`W0001`), names (`coarse-step`) and `all`.
    pub fn parse(names: &[String]) -> Result<Denied, RequestError> {
        let warnings = || {
            let all = Code::ALL.iter().copied();
            all.filter(|code| code.severity() == Severity::Warning)
        };
        let mut denied = Vec::new();
        for name in names {
            if name == "all" {
                denied.extend(warnings());
                continue;
            }
            let found = warnings().find(|code| {
                code.slug() == name.as_str() || code.as_str().eq_ignore_ascii_case(name)
            });
            denied.push(found.ok_or_else(|| RequestError::UnknownWarning {
                name: name.clone(),
                help: {
                    let names = warnings().flat_map(|c| [c.slug(), c.as_str()]);
                    let near = closest(name, names.map(str::to_owned));
                    let near = near.map(|near| format!("did you mean `{near}`? "));
                    let all: Vec<String> = warnings()
                        .map(|code| format!("{} ({})", code.slug(), code.as_str()))
                        .collect();
                    let near = near.unwrap_or_default();
                    format!(
                        "{near}the warnings are {}, and `all` is all of them",
                        all.join(", ")
                    )
                },
            })?);
        }
        Ok(Denied(denied))
    }

    /// Whether this one does.
    pub fn contains(&self, code: Code) -> bool {
        self.0.contains(&code)
    }
}

/// Names in quotes, each with what comes before it: "`a`, `b` or `c`".
fn alternatives(names: &[&str], before: &str) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{before}{name}`"))
        .collect();
    match quoted.as_slice() {
        [more @ .., last] if !more.is_empty() => format!("{} or {last}", more.join(", ")),
        one => one.concat(),
    }
}

pub(crate) fn did_you_mean(name: &str, known: impl Iterator<Item = String>, what: &str) -> String {
    let known: Vec<String> = known.collect();
    match closest(name, known.iter().cloned()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("{what}: none"),
        None => format!("{what}: {}", known.join(", ")),
    }
}
