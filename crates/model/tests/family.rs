//! A family means, at every value of its parameters, what the interpreter says: every model of the library, random programs, and texts
//! that each single out one thing.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;
use threadwise_lang::program::Program;
use threadwise_model::family::{Family, Unsupported};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::family::{Existence, Findings, compare, existence};
use threadwise_testgen::{library, library_for_all, random_programs};

fn program(text: &str) -> Arc<Program> {
    let checked = threadwise_lang::check(text);
    match checked.program {
        Some(program) => Arc::new(program),
        None => panic!("{text}\n{:?}", checked.diagnostics),
    }
}

type Values = BTreeMap<String, i64>;

/// The family of a program, with no value given and with these.
fn families(program: &Arc<Program>, values: &Values) -> [Result<Family, Unsupported>; 2] {
    [&Values::new(), values].map(|values| Family::new(Arc::clone(program), values))
}

fn codes(program: &Arc<Program>, values: &Values) -> Vec<Code> {
    match Instance::new(Arc::clone(program), values) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(|error| error.code).collect(),
    }
}

/// Every combination of small values for the parameters.
fn grid(program: &Program) -> Vec<Values> {
    let mut all = vec![Values::new()];
    for param in &program.params {
        let further = all.iter().flat_map(|values| {
            (-2..=6).map(|value| {
                let mut values = values.clone();
                values.insert(param.name.clone(), value);
                values
            })
        });
        all = further.collect();
    }
    all
}

/// Compares which values of the parameters have instances.
fn exist(program: &Arc<Program>) -> Result<BTreeMap<String, usize>, String> {
    let mut met = BTreeMap::new();
    for values in grid(program) {
        let codes = codes(program, &values);
        if codes.contains(&Code::TooLarge) {
            continue;
        }
        let in_order: Vec<i64> = program.params.iter().map(|p| values[&p.name]).collect();
        for family in families(program, &values).into_iter().flatten() {
            let said = existence(&family, &in_order).map_err(|e| format!("{values:?}: {e}"))?;
            let violated = codes.contains(&Code::WhereViolated);
            let right = match said {
                Existence::Exists => codes.is_empty(),
                Existence::Excluded => violated,
                Existence::Missing => !codes.is_empty() && !violated,
                Existence::Undefined => !codes.is_empty(),
            };
            if !right {
                return Err(format!("{values:?}: {said:?}, but {codes:?}"));
            }
            *met.entry(format!("{said:?}")).or_default() += 1;
        }
    }
    Ok(met)
}

#[test]
fn library_models_agree() {
    let mut unsupported = Vec::new();
    let mut models = 0;
    for (name, text) in library().into_iter().chain(library_for_all()) {
        let program = program(&text);
        exist(&program).unwrap_or_else(|e| panic!("{name}: {e}"));
        models += 1;
        for n in 2..=3 {
            let values: Values = match program.params.iter().any(|p| p.name == "N") {
                true => [("N".to_owned(), n)].into(),
                false => Values::new(),
            };
            let instance = match Instance::new(Arc::clone(&program), &values) {
                Ok(instance) => instance,
                // Some models begin at three.
                Err(errors) if errors[0].code == Code::WhereViolated => continue,
                Err(errors) => panic!("{name} at N={n}: {errors:?}"),
            };
            for family in families(&program, &values) {
                match family {
                    Ok(family) => {
                        let findings = compare(&family, &instance, 2_000)
                            .unwrap_or_else(|e| panic!("{name} at N={n}: {e}"));
                        assert_eq!(findings.limits, 0, "{name} at N={n}");
                    }
                    Err(error) => unsupported.push(format!("{name}: {error}")),
                }
            }
        }
    }
    unsupported.dedup();
    assert_eq!(
        unsupported,
        [
            "bounded_buffer: the size of the array `full` depends on parameters",
            "peterson: the size of the array `s` depends on parameters",
        ]
    );
    assert!(models >= 55, "only {models} models");
}

/// How many random programs are compared.
const PROGRAMS: u64 = 1_500;
/// How many states of each are visited.
const STATES: usize = 60;

#[test]
fn random_programs_agree() {
    let compared = random_programs(PROGRAMS, |_, _, instance| {
        let program = Arc::new(instance.program().clone());
        let family = match Family::new(Arc::clone(&program), &Values::new()) {
            Ok(family) => family,
            Err(error) => return Ok(Err(error.what)),
        };
        exist(&program)?;
        // The same family, at the default and at one more process.
        let mut all = compare(&family, instance, STATES)?;
        let values: Values = instance
            .params()
            .map(|(name, value)| (name.to_owned(), value + 1))
            .collect();
        // Some programs have no instance there, as `exist` has found.
        if let Ok(greater) = Instance::new(Arc::clone(&program), &values) {
            let fixed = Family::new(program, &values).map_err(|e| e.what)?;
            for family in [&family, &fixed] {
                all.add(&compare(family, &greater, STATES / 2)?);
            }
        }
        let system = lower(instance, 1).map_err(|_| "not lowered")?;
        let sample = Sample::new(instance, &system, all.states as u64, all.violations > 0);
        Ok(Ok((sample, all)))
    });
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    let mut samples = Vec::new();
    let mut total = Findings::default();
    for result in compared {
        match result {
            Ok((sample, findings)) => {
                samples.push(sample);
                total.add(&findings);
            }
            Err(what) => *unsupported.entry(what).or_default() += 1,
        }
    }
    println!("{total:?}\n{unsupported:#?}");
    let without: usize = unsupported.values().sum();
    assert!(
        without as u64 <= PROGRAMS / 4,
        "{without} programs of {PROGRAMS} are not supported"
    );
    assert!(
        total.moves > 400_000 && total.failures > 20_000,
        "{total:?}"
    );
    assert!(
        total.violations > 30_000 && total.violations < total.judgements - 100_000,
        "{total:?}"
    );
    Quality::of(samples).assert_constructs(2.0, &[]);
}

/// Compares a text at all small values of its parameters that have an instance.
fn agrees(text: &str) -> Findings {
    let program = program(text);
    let mut total = Findings::default();
    exist(&program).unwrap_or_else(|e| panic!("{text}\n{e}"));
    for values in grid(&program) {
        let Ok(instance) = Instance::new(Arc::clone(&program), &values) else {
            continue;
        };
        for family in families(&program, &values) {
            let findings = family
                .map_err(|error| error.what)
                .and_then(|family| compare(&family, &instance, 300))
                .unwrap_or_else(|e| panic!("{text}\n{values:?}: {e}"));
            total.add(&findings);
        }
    }
    assert!(total.states > 0, "{text}\nno instance");
    total
}

#[test]
fn names_that_are_bound_again_are_others() {
    // The argument of the outer call says `forall j`, in the scope of another `forall j`.
    agrees(
        "param N where N >= 1; shared a: array[P] of bool = false; \
         def f(b: bool) = forall j in P: b <-> a[j]; \
         def g(b: bool) = exists j in P: b && a[j]; \
         def n(x: int) = sum j in P: x + (count k in P: a[j] && a[k]); \
         process P[i: 1..N] { l: a[i] := true; } \
         invariant one: f(f(true)); invariant two: f(g(true)); invariant three: f(g(f(g(true)))); \
         invariant four: forall i in P: n(n(1)) >= (sum j in P: n(1));",
    );
}

#[test]
fn bounds_of_loops_and_quantifiers_are_evaluated() {
    agrees(
        "param N where N >= 0; process P { local x: int = 0; l: for k in 0..4 / N { m: x := k; } }",
    );
    agrees(
        "param N where N >= 0; process P { local x: int = 0; l: choose k in 0..4 % N { x := k; } }",
    );
    agrees("param N; process P { l: skip; } invariant i: P at l || (forall k in 1..0: k < 1);");
}

#[test]
fn checks_of_all_processes() {
    let text = "param N where N >= 2; shared a: array[P] of 0..2 = 0; shared b: array[P] of 0..1 = 0; shared c: array[0..1] of int = 1; \
         process P[i: 1..N] { \
           l: choose { havoc a[i]; } or { havoc b[i]; } \
           m: atomic { assert forall j in P: c[a[j]] / b[j] > 0; } }";
    let findings = agrees(text);
    assert!(findings.other_checks > 0 && findings.failures > findings.other_checks);
}

/// What cannot be said of all instances of a text.
fn unsupported(text: &str) -> Option<String> {
    let family = Family::new(program(text), &Values::new());
    family.err().map(|unsupported| unsupported.what)
}

#[test]
fn arrays_at_the_edge() {
    let last = "9223372036854775807";
    agrees(&format!(
        "shared a: array[{last}..{last}] of bool = false; process P {{ local x: int = {last}; l: a[x] := true; m: a[x - 1] := true; }}"
    ));
    let many = "array[0..4000000000] of ";
    let much = Some("the array `a` has more than 64 entries".to_owned());
    for dims in [many.repeat(3), format!("{many}array[1..0] of ")] {
        let text = format!(
            "shared a: {dims}bool = false; process P {{ l: await forall k in 0..1: true; }}"
        );
        assert_eq!(unsupported(&text), much);
    }
}
