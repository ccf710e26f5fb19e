//! The examples of the documentation and the expectations of the model library, by the interpreter alone.
//!
//! The interpreter is the semantics, so whatever the documentation and the library claim is measured
//! against it, without any engine: every reachable state, one by one. Instances that are too large for
//! that are left to the engines.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use threadwise_lang::diagnostics::Severity;
use threadwise_lang::program::PropertyKind;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};

/// Instances with more states than this are not explored here.
const MAX_STATES: usize = 10_000;

/// What exploring an instance found.
struct Found {
    states: usize,
    /// The violated properties, `checks` and `deadlock_free` among them.
    violated: BTreeSet<String>,
}

/// Every reachable state; `None` if there are too many.
fn explore(instance: &Instance) -> Option<Found> {
    let interpreter = Interpreter::new(instance);
    let mut violated = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut waiting = VecDeque::new();
    for state in interpreter.initial_states().expect("within 64 bits") {
        if seen.insert(state.clone()) {
            waiting.push_back(state);
        }
    }
    while let Some(state) = waiting.pop_front() {
        if seen.len() > MAX_STATES {
            return None;
        }
        for property in &instance.program().properties {
            let holds = match &property.kind {
                PropertyKind::Invariant(predicate) => interpreter
                    .judge(&state, predicate)
                    .expect("within 64 bits")
                    .holds(),
                PropertyKind::DeadlockFree => {
                    !interpreter.is_deadlock(&state).expect("within 64 bits")
                }
                PropertyKind::Liveness { .. } => continue,
            };
            if !holds {
                violated.insert(property.name.clone());
            }
        }
        for (_, outcome) in interpreter.successors(&state).expect("within 64 bits") {
            match outcome {
                Outcome::Move { state, .. } => {
                    if seen.insert(state.clone()) {
                        waiting.push_back(state);
                    }
                }
                Outcome::Fail { .. } => {
                    violated.insert("checks".to_owned());
                }
                Outcome::Rest { .. } => {}
            }
        }
    }
    Some(Found {
        states: seen.len(),
        violated,
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A fenced block of a page.
struct Example {
    line: usize,
    mark: String,
    text: String,
}

/// The blocks whose mark begins with `tw`.
fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (index, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(mark) if !inside && mark.split(',').next() == Some("tw") => {
                inside = true;
                examples.push(Example {
                    line: index + 1,
                    mark: mark.to_owned(),
                    text: String::new(),
                });
            }
            Some(_) => inside = false,
            None if inside => {
                let example = examples.last_mut().expect("a block has begun");
                example.text.push_str(line);
                example.text.push('\n');
            }
            None => {}
        }
    }
    examples
}

impl Example {
    /// The names in `key=a+b` of the mark.
    fn names(&self, key: &str) -> BTreeSet<String> {
        let values = self.mark.split(',').filter_map(|part| part.split_once('='));
        let values = values.filter(|(name, _)| *name == key);
        values
            .flat_map(|(_, value)| value.split('+').map(str::to_owned))
            .collect()
    }

    /// Whether it is as its mark says; the complaint if not.
    fn check(&self) -> Result<(), String> {
        for part in self.mark.split(',').skip(1) {
            let key = part.split('=').next().unwrap_or_default();
            if !["error", "warning", "violated", "states", "file"].contains(&key) {
                return Err(format!("the mark `{part}` has no meaning"));
            }
        }
        let checked = threadwise_lang::check(&self.text);
        for (key, severity) in [("error", Severity::Error), ("warning", Severity::Warning)] {
            let given: BTreeSet<String> = checked
                .diagnostics
                .iter()
                .filter(|d| d.severity() == severity)
                .map(|d| d.code.as_str().to_owned())
                .collect();
            if given != self.names(key) {
                let messages: Vec<&str> = checked
                    .diagnostics
                    .iter()
                    .map(|d| d.message.as_str())
                    .collect();
                return Err(format!("{key}: {given:?}, {messages:?}"));
            }
        }
        let Some(program) = checked.program else {
            return Ok(());
        };
        let instance = Instance::new(Arc::new(program), &BTreeMap::new())
            .map_err(|errors| format!("no default instance: {errors:?}"))?;
        let found = explore(&instance).ok_or("too many states for an example")?;
        if found.violated != self.names("violated") {
            return Err(format!("violated: {:?}", found.violated));
        }
        match self.names("states").first() {
            Some(states) if *states != found.states.to_string() => {
                Err(format!("it has {} states", found.states))
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn examples_of_the_documentation_are_as_marked() {
    let mut complaints = Vec::new();
    let chapters = std::fs::read_dir(root().join("docs/book/src")).expect("the book");
    let mut pages: Vec<PathBuf> = chapters
        .map(|file| file.expect("a chapter").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    let mut seen = 0;
    for page in pages {
        for example in examples(&read(&page)) {
            seen += 1;
            if let Err(complaint) = example.check() {
                complaints.push(format!("{}:{}: {complaint}", page.display(), example.line));
            }
        }
    }
    assert!(seen >= 40, "only {seen} examples");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_wrong_mark_is_noticed() {
    let wrong = |mark: &str| Example {
        line: 1,
        mark: mark.to_owned(),
        text: "process P { a: skip; }".to_owned(),
    };
    assert_eq!(wrong("tw,states=2").check(), Ok(()));
    for mark in [
        "tw,states=3",
        "tw,error=E0101",
        "tw,warning=W0001",
        "tw,violated=checks",
        "tw,x=1",
    ] {
        assert!(wrong(mark).check().is_err(), "{mark}");
    }
}

/// The `//@` lines of a model about one instance: expected verdicts by property (`true`: proved), and
/// state counts.
#[derive(Default)]
struct Expected {
    proved: BTreeMap<String, bool>,
    states: Option<usize>,
}

/// The values of parameters that a line names; none for the default instance.
type Named = BTreeMap<String, i64>;

/// Reads the forms that the library uses: `at N=k`, `at N=a..b`, with further values (`, M=k`), or no `at`. What is to hold
/// `for all N` holds of every instance that a line names.
fn expectations(text: &str) -> BTreeMap<Named, Expected> {
    let mut all: BTreeMap<Named, Expected> = BTreeMap::new();
    let mut everywhere = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
        let (what, at, count) = match line.strip_prefix("states") {
            Some(rest) => {
                let (at, count) = rest.rsplit_once(": ").expect(line);
                (None, at, Some(count.parse().expect(line)))
            }
            None => {
                let rest = line.strip_prefix("expect ").expect(line);
                let (name, rest) = rest.split_once(": ").expect(line);
                let (verdict, at) = rest.split_once(' ').unwrap_or((rest, ""));
                assert!(["proved", "violated"].contains(&verdict), "{line}");
                (Some((name, verdict == "proved")), at, None)
            }
        };
        if let (Some((name, true)), Some(_)) = (what, at.strip_prefix("for all ")) {
            everywhere.push(name);
            continue;
        }
        let mut instances = vec![Named::new()];
        let named = at.trim().strip_prefix("at ").into_iter();
        for (name, range) in named
            .flat_map(|at| at.split(", "))
            .map(|part| part.split_once('=').expect(line))
        {
            let (low, high) = range.split_once("..").unwrap_or((range, range));
            let bound = |text: &str| text.parse::<i64>().expect(line);
            let with = |value| {
                let with_value = |instance: &Named| {
                    let mut instance = instance.clone();
                    instance.insert(name.to_owned(), value);
                    instance
                };
                instances.iter().map(with_value).collect::<Vec<_>>()
            };
            instances = (bound(low)..=bound(high)).flat_map(with).collect();
        }
        for instance in instances {
            let expected = all.entry(instance).or_default();
            match what {
                Some((name, proved)) => {
                    expected.proved.insert(name.to_owned(), proved);
                }
                None => expected.states = count,
            }
        }
    }
    for expected in all.values_mut() {
        for name in &everywhere {
            let before = expected.proved.insert((*name).to_owned(), true);
            assert_ne!(before, Some(false), "{name} is proved and violated");
        }
    }
    all
}

#[test]
fn the_model_library_is_as_it_says() {
    let folders = ["models", "models/any"].map(|folder| root().join(folder));
    let files = |folder| std::fs::read_dir(folder).expect("the model library is there");
    let mut paths: Vec<PathBuf> = (folders.into_iter().flat_map(files))
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "tw"));
    paths.sort();
    assert!(paths.len() >= 55, "only {} models found", paths.len());
    let mut explored = 0;
    for path in paths {
        let text = read(&path);
        let name = path.file_stem().expect("a name").to_string_lossy();
        let checked = threadwise_lang::check(&text);
        let messages: Vec<&str> = checked
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect();
        assert!(messages.is_empty(), "{name}: {messages:?}");
        let program = Arc::new(checked.program.expect("no errors"));
        for (values, expected) in expectations(&text) {
            if expected.states.is_none_or(|states| states > MAX_STATES) {
                continue;
            }
            let instance = Instance::new(Arc::clone(&program), &values)
                .unwrap_or_else(|errors| panic!("{name} at {values:?}: {errors:?}"));
            let found = explore(&instance)
                .unwrap_or_else(|| panic!("{name} at {values:?} has too many states"));
            assert_eq!(Some(found.states), expected.states, "{name} at {values:?}");
            for property in &program.properties {
                let liveness = matches!(property.kind, PropertyKind::Liveness { .. });
                let proved = expected.proved.get(&property.name);
                assert!(
                    liveness || proved.is_some(),
                    "{name} at {values:?} expects nothing of {}",
                    property.name
                );
                if let (false, Some(proved)) = (liveness, proved) {
                    let violated = found.violated.contains(&property.name);
                    assert_eq!(
                        !violated, *proved,
                        "{} of {name} at {values:?}",
                        property.name
                    );
                }
            }
            let checks = !found.violated.contains("checks");
            assert_eq!(
                expected.proved.get("checks"),
                Some(&checks),
                "{name} at {values:?}"
            );
            explored += 1;
        }
    }
    assert!(explored >= 68, "only {explored} instances explored");
}
