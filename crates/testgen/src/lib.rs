//! For tests only: random programs, and the comparison of all forms of a program.
//!
//! [`agree`] explores a program with the interpreter and compares what it finds, state by state and
//! process by process, with the plain and the optimised lowering; [`family`](mod@family) does so with the lowering for all values of the
//! parameters. [`symmetry`] checks that the permutations
//! that are claimed map the program onto itself. [`random_programs`] and [`library`] give what to compare on, and
//! [`coverage`] says what random programs are worth, and [`slips`] whether the comparison would notice a mistake.

pub mod agree;
pub mod coverage;
pub mod family;
pub mod generate;
pub mod liveness;
pub mod origins;
pub mod parametric;
pub mod random;
pub mod slips;
pub mod sweep;
pub mod symmetry;
pub mod tools;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use threadwise_lang::diagnostics::Severity;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::instance::Instance;
use threadwise_model::system::{ProcessId, System, SystemProperty, SystemPropertyKind};

/// The instance of a text with these parameter values; what is wrong with it otherwise.
pub fn instance(text: &str, params: &[(&str, i64)]) -> Result<Instance, String> {
    let checked = threadwise_lang::check(text);
    let Some(program) = checked.program else {
        let errors: Vec<String> = checked
            .diagnostics
            .iter()
            .filter(|d| d.severity() == Severity::Error)
            .map(|d| {
                let line = text[..d.span.start as usize].lines().count();
                format!("{} {} (near line {line})", d.code.as_str(), d.message)
            })
            .collect();
        return Err(errors.join("\n"));
    };
    let values: BTreeMap<String, i64> = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    Instance::new(Arc::new(program), &values).map_err(|errors| {
        let errors: Vec<String> = errors
            .iter()
            .map(|d| format!("{} {}", d.code.as_str(), d.message))
            .collect();
        errors.join("\n")
    })
}

/// Tests the random programs of the first `count` seeds and some of fresh seeds (see [`sweep`]), on two threads. Gives what the test gives for
/// the first, in the order of the seeds; panics if the test of a program fails, and shows the program.
pub fn random_programs<T: Send>(
    count: u64,
    test: impl Fn(u64, &str, &Instance) -> Result<T, String> + Sync,
) -> Vec<T> {
    generated_programs(generate::generate, count, test)
}

/// The same for programs of another kind, given by what makes one of a seed.
pub fn generated_programs<T: Send>(
    generate: fn(u64) -> String,
    count: u64,
    test: impl Fn(u64, &str, &Instance) -> Result<T, String> + Sync,
) -> Vec<T> {
    let seeds: Vec<u64> = (0..count).chain(sweep::fresh_seeds(count)).collect();
    let next = AtomicUsize::new(0);
    let failed = AtomicU64::new(0);
    let work = || {
        let mut results = Vec::new();
        // A few failures tell more than one, and thousands no more than a few.
        while failed.load(Ordering::Relaxed) < 3 {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = seeds.get(at) else {
                break;
            };
            let text = generate(seed);
            let result = instance(&text, &[]).and_then(|instance| test(seed, &text, &instance));
            failed.fetch_add(u64::from(result.is_err()), Ordering::Relaxed);
            let result = result.map_err(|error| format!("seed {seed}:\n{text}\n{error}"));
            results.push((at, result));
        }
        results
    };
    let mut results = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut results = work();
        match other.join() {
            Ok(others) => results.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        results
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    let (good, wrong): (Vec<_>, Vec<_>) = results
        .into_iter()
        .map(|(_, result)| result)
        .partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // What fresh programs exercise is another thing each time.
    let good = good.into_iter().filter_map(Result::ok);
    good.take(count as usize).collect()
}

/// Whether a safety property forbids a state, by trying every process; `None` if that is beyond 64 bits.
pub fn is_forbidden(system: &System, property: &SystemProperty, state: &[i64]) -> Option<bool> {
    let processes = || (0..system.processes()).map(ProcessId::from_raw);
    let outcomes = || processes().flat_map(|process| eval::outcomes(system, state, process));
    if outcomes().any(|outcome| outcome == Outcome::Overflow) {
        return None;
    }
    Some(match &property.kind {
        SystemPropertyKind::Invariant(expr) => {
            !Context::of_state(system, state).holds(expr).ok()?
        }
        SystemPropertyKind::Checks => {
            outcomes().any(|outcome| matches!(outcome, Outcome::Failure(..)))
        }
        SystemPropertyKind::DeadlockFree => {
            outcomes().all(|outcome| outcome == Outcome::Rest)
                && processes().any(|process| eval::active(system, state, process).is_some())
        }
        SystemPropertyKind::Liveness(_) => return None,
    })
}

/// The models of the library by name, each with its text. Each instance of theirs is finite.
pub fn library() -> Vec<(String, String)> {
    models_in("models")
}

/// The models that are about any number of processes. Their instances need not be finite.
pub fn library_for_all() -> Vec<(String, String)> {
    models_in("models/any")
}

/// Programs for any number of processes that are wrong somewhere (`wrong_*`), and right ones beside them (`right_*`).
/// Where they are wrong is written inside.
pub fn variants_for_all() -> Vec<(String, String)> {
    models_in("tests/any")
}

/// Protocols of the literature for any number of processes, right (`right_*`) and wrong (`wrong_*`): larger than the variants,
/// and not all of the right ones are proved.
pub fn protocols_for_all() -> Vec<(String, String)> {
    models_in("tests/any/protocols")
}

/// The models in a folder of the repository by name, in order.
fn models_in(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}"));
    let mut models: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".tw")?.to_owned();
            let text = std::fs::read_to_string(&path).ok()?;
            Some((name, text))
        })
        .collect();
    models.sort_unstable();
    assert!(
        models.len() >= 20,
        "there should be more in {}",
        folder.display()
    );
    models
}
