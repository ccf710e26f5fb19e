//! A family means, at every value of its parameters, what the interpreter says: every model of the library, random programs, and texts
//! that each single out one thing.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;
use threadwise_lang::program::Program;
use threadwise_model::family::{Family, Unsupported};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_testgen::agree;
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::family::{Existence, Findings, compare, existence};
use threadwise_testgen::generate::generate_for_everybody;
use threadwise_testgen::random::Random;
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{generated_programs, library, library_for_all, random_programs};

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
    assert_eq!(unsupported, [""; 0]);
    assert!(models >= 55, "only {models} models");
}

/// How many random programs are compared.
const PROGRAMS: u64 = 300;
/// How many states of each are visited.
const STATES: usize = 60;

#[test]
fn random_programs_agree() {
    let count = programs(PROGRAMS);
    let compared = random_programs(count, |_, _, instance| {
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
        without as u64 <= count / 4,
        "{without} programs of {count} are not supported"
    );
    assert!(
        total.moves > 266 * count as usize && total.failures > 13 * count as usize,
        "{total:?}"
    );
    assert!(
        total.violations > 20 * count as usize
            && total.violations < total.judgements - 66 * count as usize,
        "{total:?}"
    );
    Quality::of(samples).assert_constructs(2.0, &[]);
}

#[test]
fn random_writes_to_everybody_agree() {
    let count = programs(200);
    let compared = generated_programs(generate_for_everybody, count, |_, _, instance| {
        let program = Arc::new(instance.program().clone());
        let Ok(family) = Family::new(program, &Values::new()) else {
            return Ok(None);
        };
        let findings = compare(&family, instance, STATES)?;
        let paths = family.templates.iter().flat_map(|template| &template.paths);
        let writes: Vec<usize> = paths
            .flat_map(|path| path.writes.iter().map(|write| write.each.len()))
            .collect();
        let of = |many: usize| writes.iter().filter(|each| **each == many).count();
        Ok(Some((findings, of(1), of(2))))
    });
    let supported: Vec<_> = compared.into_iter().flatten().collect();
    let mut total = Findings::default();
    supported
        .iter()
        .for_each(|(findings, ..)| total.add(findings));
    let with = supported.iter().filter(|(_, one, _)| *one > 0).count();
    let with_two = supported.iter().filter(|(.., two)| *two > 0).count();
    let count = count as usize;
    println!(
        "{} of {count}, {with} and {with_two} write to everybody: {total:?}",
        supported.len()
    );
    assert!(supported.len() > count / 2 && with > count / 3 && with_two > count / 20);
    assert!(
        total.moves > 80 * count && total.failures > 5 * count,
        "{total:?}"
    );
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
fn statements_agree() {
    // Who holds a mutex: processes of three kinds, and an array of mutexes.
    agrees(
        "param N where N >= 0; shared m: array[P] of mutex; shared n: mutex; shared j: P? = none; \
         process P[i: 1..N] { local own: mutex; \
           a: lock m[i]; o: lock own; b: j := i; c: atomic { choose k in P { unlock m[k]; } } d: lock n; e: unlock own; f: unlock n; } \
         process S { a: lock n; b: if j != none { unlock n; } c: unlock n; } \
         process C[] { a: lock n; b: unlock n; } process T { a: start C; start C; b: start C; } \
         invariant free: !locked(n) || (exists i in P: P[i] at f) || S at {b, c};",
    );
    // Processes that are started, with variables of all kinds.
    agrees(
        "param N where N >= 1; shared j: P = any; \
         process P[i: 1..N] { a: skip; } \
         process C[] { local x: 0..1 = any; local y: array[0..1] of 0..N = N; local z: P? = any; a: y[x] := 0; b: j := z; } \
         process S { a: start C; b: if j == j { start C; } start C; }",
    );
    // Loops with and without labels, left in every way; some never run.
    agrees(
        "param N where N >= -1; shared x: -3..9 = 0; shared j: P? = none; \
         ordered process P[i: 1..N] { local c: 0..9 = 0; \
           a: for k in 2..N { b: x := k; if k == 3 { break; } for l in 1..2 { c: if x > 2 { goto d; } e: havoc x; if x == 1 { return; } } } \
           d: for k in 1..3 { c := c + k; if c == 3 { break; } } x := c; \
           f: for k in P { g: j := k; if x > 0 { break; } } h: while x > 0 { i: x := x - 1; if x == 2 { break; } } \
           j: loop { k: choose { goto a; } or { break; } or { return; } } }",
    );
    // Several cells at once, perhaps the same; what was written before is seen.
    agrees(
        "param N where N >= 1; shared a: array[P] of array[0..1] of 0..2 = 0; shared j: P = any; shared x: 0..2 = 0; \
         process P[i: 1..N] { local y: 0..1 = 0; local s: array[0..1] of int = 0; \
           a: a[i][y], a[j][x] := 1, 2; \
           b: atomic { a[i][y] := x; x := a[j][y]; a[j][y] := 1; x := a[i][y] + a[j][0]; s[y] := x; y := s[0]; s[y] := s[1 - y]; } \
           c: atomic { havoc y, a[i][y], a[j][y]; } d: s[x], y := y, s[x]; \
           e: atomic { choose k in P { x, a[k][y] := a[k][y], x; } } }",
    );
    // Primitives: where the result goes is found first, and it may be the same cell.
    agrees(
        "param N where N >= 1; shared j: P? = none; shared x: 0..3 = 0; shared b: array[0..2] of bool = false; shared c: array[0..2] of 0..3 = any; \
         process P[i: 1..N] { local r: bool = false; local o: P? = none; \
           a: r := cas(j, none, i); b: b[x] := cas(x, 0, x + 2); c: o := swap(j, none); d: x := fetch_add(c[x], x - 1); \
           e: c[0] := swap(c[x], 1); f: b[0] := cas(b[x], r, !r); g: fetch_add(x, c[1]); h: swap(x, 2); i: cas(x, 2, x + 2); }",
    );
}

#[test]
fn expressions_agree() {
    // Each check only where it is reached.
    let findings = agrees(
        "param N where N >= 0; shared x: -2..2 = any; shared y: 0..1 = any; shared a: array[0..1] of int = 1; \
         def d(p: int, q: bool) = q && 3 / p > 0; \
         process S { local t: bool = false; \
           a: t := x == 0 || 6 / x > 1; b: t := x > 0 && a[x] == 1 && a[y - 1] == 1; c: t := x != 0 -> 5 % x == 1 -> a[y] == 1; \
           d: t := d(x, y == 1); e: t := (y == 0 || a[x] == 1) <-> (y == 1 || 1 / x > 0); f: if x > 1 { x := 0; } else if 1 / x > 0 { x := 1; } \
           g: x := min(x / 2, -x) - max(x % 2, y * x); h: await x != 0 && y == 1; i: while 1 / x > 0 { j: x := x - 1; } \
           k: assert (x == y) == t && (t != (x <= y)); }",
    );
    assert!(findings.failures > 0 && findings.other_checks == 0);
    // Of nothing there is no least; ids and numbers.
    let findings = agrees(
        "param N where N >= 0; param K where K == 0 || K == 2 * N; shared a: array[P] of 0..1 = 0; shared x: int = 0; shared j: P? = none; \
         ordered process P[i: K..K + N - 1] { \
           a: a[i] := i % 2; b: j := i; x := i; c: a[x - 1] := 1; d: a[j] := 0; e: if j == x { j := none; } } \
         process S { \
           a: atomic { x := min k in P: a[k] + k; } b: atomic { x := (max k in P: a[k]) + (count k in P: a[k] == 1) + (sum k in P: k * a[k]); } \
           c: await forall k in P: a[k] == 0 || (exists l in P: k != l && a[l] == 1); } \
         invariant checked: forall k in P: P[k] at e -> 1 / a[j] > 0; \
         invariant least: S at done -> x > (min k in P: k);",
    );
    assert!(findings.failures > 0 && findings.violations > 0);
    // Rings of one process, too.
    agrees(
        "param N where N >= 0; shared j: R? = none; shared a: array[R] of 0..3 = 0; \
         ring process R[i: 1..N] { local v: array[0..1] of R = i; \
           a: j := next(i); b: a[j] := a[prev(prev(i))] + 1; c: v[0] := prev(v[1]); d: atomic { v[1] := next(v[0]); a[v[0]] := 3; } } \
         process S { local u: 0..2 = 0; a: u := 1; b: u := 2; } \
         invariant i: forall k in R: R[k].v[0] == k || S.u <= 1 || (S at b && R[next(k)] at {a, done}); \
         invariant n: S at done -> R[1].v[1] == 2;",
    );
}

#[test]
fn counts_agree() {
    // Compared with few, or with all, in every way and on either side; counts in counts, and one that labels decide a part of.
    let findings = agrees(
        "param N where N >= 0; shared a: array[P] of 0..2 = 0; shared b: array[P] of bool = false; \
         process P[i: 1..N] { local c: bool = false; \
           a: a[i] := 1; \
           b: choose { await (count k in P: a[k] == 1) <= 1; b[i] := true; } or { await 2 < count k in P: a[k] > 0; a[i] := 2; } or { await (count k in P: b[k]) != 1; c := true; } \
           d: choose { await N == (count k in P: a[k] > 0); b[i] := !b[i]; } or { await (count k in P: a[k] > 0) < N; c := !c; } or { await (count k in P: b[k]) >= 2 || i == i; a[i] := 0; } \
           e: await (count k in P: (count l in P: a[l] == a[k]) >= 2) == 2; } \
         invariant few: (count k in P: a[k] == 1) <= 1 || 3 > (count k in P: b[k]); \
         invariant one: (count k in P: P[k].c) == 1 -> (count k in P: P[k].c && P[k] at {d, e}) > 0; \
         invariant all: (count k in P: a[k] == 0 || b[k]) == N || (count k in P: b[k]) < 2; \
         invariant none: (exists k in P: P[k] at e) -> 0 == (count k in P: b[k] && a[k] == 0);",
    );
    assert!(findings.violations > 0);
    // A number that may be negative is not that of all processes.
    let findings = agrees(
        "param N where N >= -1; shared b: array[P] of bool = false; shared x: 0..1 = 0; process P[i: 1..N] { a: b[i] := true; } process S { a: await (count k in P: b[k]) == N; b: x := 1; } \
         invariant all: x == 1 -> (count k in P: b[k]) >= N; invariant some: (count k in P: b[k]) <= N;",
    );
    assert!(findings.violations > 0);
}

#[test]
fn writes_to_everybody_agree() {
    // Before and after other writes, with an `if`, and seen again in the same step.
    agrees(
        "param N where N >= 0; shared a: array[P] of 0..2 = 0; shared b: array[P] of bool = false; shared x: 0..3 = 0; shared o: P? = none; \
         process P[i: 1..N] { local y: 0..2 = 0; local t: bool = false; \
           k: choose { a[i] := 1; } or { b[i] := true; } \
           l: atomic { a[i] := 2; for j in P { if b[j] { a[j] := 0; } else if j == i { b[j] := a[j] == 2; } } y := a[i]; a[i] := 1; o := i; } \
           m: atomic { for j in P { b[j] := j != i && a[j] < 2; } x := count j in P: b[j]; for j in P { b[j] := !b[j]; a[j] := min(a[j], y); } } \
           n: atomic { if o != none { y := a[o]; b[o] := true; t := b[i]; for j in P { if j == o { a[j], b[j] := 2, t || a[j] == 1; } } y := a[o]; } } }",
    );
    // Variables of the process itself, two dimensions, and loops in loops.
    agrees(
        "param N where N >= 0; shared g: array[Q] of array[P] of array[0..1] of bool = false; shared c: array[P] of 0..1 = 0; \
         shared m: array[P] of array[P] of bool = false; shared w: array[0..1] of 0..1 = 0; \
         process Q[q: 1..2] { local seen: array[P] of bool = true; local t: bool = false; \
           k: for i in P { g[q][i][c[i]] := !seen[i]; seen[i] := g[q][i][0]; } \
           l: atomic { for i in P { for r in Q { if r != q { g[r][i][w[0]] := seen[i]; } } } t := exists i in P: g[q][i][1]; } \
           n: for i in P { for d in 0..1 { if g[q][i][d] { c[i] := 1 - c[i]; } } } } \
         process P[i: 1..N] { local h: array[Q] of 0..2 = 0; \
           k: for j in P { m[i][j] := i == j; } \
           l: for j in P { for k in P { m[j][k] := m[j][k] || j == i; } } \
           n: atomic { for j in P { m[j][i] := m[j][j]; } w[1] := 1; for q in Q { h[q] := w[c[i]] + 1; } } o: c[i] := 1; }",
    );
    // Ids as numbers, and the neighbours of a ring.
    agrees(
        "param N where N >= 0; param K where K == 0 || K == 2; shared a: array[P] of -2..9 = 0; \
         ordered process P[i: K..K + N - 1] { k: for j in P { if j <= i { a[j] := j - i; } } l: atomic { a[i] := 5; for j in P { a[j] := a[j] + 1; } assert a[i] == 6; } } \
         shared b: array[R] of 0..2 = 0; shared d: array[R] of 0..2 = 0; \
         ring process R[i: 1..2] { k: b[i] := 1; l: for j in R { d[j] := b[next(j)] + b[prev(j)]; } }",
    );
}

#[test]
fn cells_that_are_written_nowhere_need_not_exist() {
    let text = "param N where N >= 0; shared o: P? = none; shared x: -1..3 = 3; shared m: array[P] of array[P] of bool = false; shared t: array[0..1] of array[P] of 0..1 = 0; \
         process P[i: 1..N] { local own: array[P] of array[1..2] of bool = true; \
           k: choose { o := i; } or { skip; } or { x := 0; } or { x := -1; } \
           l: for j in P { if o != none && m[i][j] { m[o][j] := !m[o][j]; } else if x < 2 { t[x][j] := 1 - t[x][j]; own[j][x + 1] := t[x][j] == 0; } } \
           n: for j in P { if o == i { if j == o { m[o][j] := true; } } else if x == 0 { own[j][x + 2] := false; own[j][x + 1] := own[j][2]; } } \
           p: x := 3; }";
    agrees(text);
    // The steps of instances, too.
    for n in 1..=3 {
        let instance = threadwise_testgen::instance(text, &[("N", n)]).expect("an instance");
        let found = agree::compare(&instance, 1, 1_000).unwrap_or_else(|e| panic!("{n}: {e}"));
        assert!(found.failures && found.transitions > 10, "{n}: {found:?}");
    }
}

#[test]
fn checks_of_writes_to_everybody_agree() {
    let findings = agrees(
        "param N where N >= 0; shared a: array[P] of 0..2 = 0; shared b: array[P] of 0..2 = 0; shared c: array[0..1] of int = 1; shared m: array[P] of array[0..1] of 0..1 = 0; \
         process P[i: 1..N] { \
           k: a[i] := 1; l: choose { b[i] := 2; } or { a[i] := 2; } or { skip; } \
           m: for j in P { if j != i { assert a[j] < 2; b[j] := a[j] + b[j] / a[j]; } } \
           n: for j in P { if c[a[j]] == 1 { m[j][a[j]], m[j][b[j]] := 1, 0; } else if b[j] > 0 { a[j] := a[j] / b[j] + 1; } } \
           o: atomic { for j in P { b[j] := b[j] + 1; } assert b[i] > 1; } }",
    );
    println!("{findings:?}");
    assert!(findings.failures > findings.other_checks && findings.other_checks > 0);
}

#[test]
fn names_inside_written_values_are_not_mixed_up() {
    // `d` takes what `f` said for each process, and `c` gets it; then `f` asks all entries of `c`, in the scope of the very name that is inside of them.
    agrees(
        "param N where N >= 0; shared c: array[P] of bool = false; shared d: array[P] of bool = false; shared m: array[P] of array[P] of bool = false; \
         shared n: array[P] of 0..9 = 0; \
         def f(k: P) = forall b in P: c[b] || m[k][b]; \
         def g(k: P) = sum b in P: n[b] + (if_(m[b][k])); def if_(t: bool) = count u in 0..0: t; \
         process P[i: 1..N] { local t: bool = false; local s: 0..9 = 0; \
           k: choose { c[i] := true; } or { m[i][i] := true; } or { choose j in P { m[j][i] := true; } } \
           l: atomic { for j in P { d[j] := f(j); } for j in P { c[j] := d[j]; } t := f(i); for j in P { d[j] := f(j) != d[j]; } } \
           o: for r in 0..1 { for j in P { c[j] := !c[j] || m[j][i]; } t := t != f(i); } }",
    );
}

#[test]
fn loops_whose_rounds_depend_are_not_supported() {
    let process = "param N where N >= 1; shared a: array[P] of bool = false; shared x: 0..9 = 0; def some(k: P) = exists l in P: k != l && a[l]; ordered process P[i: 1..N]";
    let dependent = Some(
        "rounds of a `for` over all processes in one step may influence one another".to_owned(),
    );
    for body in [
        "for j in P { x := 1; }",
        "for j in P { a[i] := true; }",
        "for j in P { a[j] := a[i]; }",
        "for j in P { a[j] := exists k in P: a[k]; }",
        "for j in P { a[j] := some(j); }",
        "for j in P { await a[j]; }",
        "for j in P { if a[j] { break; } }",
    ] {
        let text = format!("{process} {{ l: {body} }}");
        assert_eq!(unsupported(&text), dependent, "{text}");
    }
    assert_eq!(
        unsupported(&format!(
            "{process} {{ l: for j in P {{ a[j] := !a[j]; }} }}"
        )),
        None
    );
}

#[test]
fn arrays_whose_size_is_a_parameter_agree() {
    // Ranges that begin anywhere, own arrays, two ranges with one least number, and quantifiers over both.
    let findings = agrees(
        "param N where N >= 0; param C where C >= -1 && C <= 3; \
         shared a: array[2..C] of bool = false; shared b: array[2..C + 1] of 0..C = any; shared x: 0..4 = 2; \
         process P[i: 1..N] { local own: array[C..4] of 0..2 = 0; local k: 1..4 = any; \
           l: a[x], x := true, x + 1; \
           m: own[k], k := own[k] + 1, 1; \
           n: atomic { if x <= C && a[x] { b[x + 1] := b[x]; } } \
           o: await C < 2 || !(exists j in 2..C: a[j] && b[j] > 0); } \
         invariant one: forall j in 2..C: a[j] -> j < x; \
         invariant two: (count j in 2..C + 1: b[j] == 0) <= C; \
         invariant three: (sum j in C..4: j) >= 4; \
         invariant four: forall p in P, j in C..4: P[p].own[j] <= max j in C..4: P[p].own[j] + j;",
    );
    assert!(
        findings.failures > 0 && findings.violations > 0,
        "{findings:?}"
    );
    // A loop over such a range, all rounds at once, and arrays of mutexes.
    agrees(
        "param C where C >= 0 && C <= 3; shared a, b: array[1..C] of 0..2 = 0; shared m: array[0..C] of mutex; \
         process P[i: 1..2] { \
           l: for k in 1..C { a[k] := (a[k] + 1) % 3; if k > 1 { b[k] := a[k]; } } \
           m: lock m[C]; n: unlock m[C]; o: lock m[0]; p: unlock m[C]; } \
         invariant one: forall k in 1..C: a[k] != 2; invariant two: (exists k in 1..C: b[k] == 1) -> C >= 2;",
    );
    // A loop whose rounds follow one another.
    assert!(
        unsupported(
            "param C where C >= 1; shared a: array[0..C] of bool = false; process P { l: for k in 1..C { a[k] := a[k - 1]; } }"
        )
        .is_some()
    );
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
fn one_process_of_a_template_that_grows_must_fit() {
    agrees(
        "param N where N >= -1; process P { l: start C; start C; } \
         process C[] { local x: 1..N = any; local y: 0..3 = 6 / (N + 1); l: x := 1; }",
    );
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

/// A random constant over the parameters, and the own id if it has a name.
fn constant(random: &mut Random, own: Option<&str>, depth: usize) -> String {
    let mut leaves = vec!["N", "M", "1", "2", "3", "-1", "0"];
    leaves.extend(own);
    if depth == 0 || random.percent(40) {
        return leaves[random.below(leaves.len())].to_owned();
    }
    let (a, b) = (
        constant(random, own, depth - 1),
        constant(random, own, depth - 1),
    );
    match random.below(8) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 => format!("({a} * {b})"),
        4 => format!("({a} / {b})"),
        5 => format!("({a} % {b})"),
        6 => format!("min({a}, {b})"),
        _ => format!("max({a}, {b})"),
    }
}

/// A random condition on the parameters.
fn condition(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.percent(30) {
        let (a, b) = (constant(random, None, 1), constant(random, None, 1));
        let ops = ["==", "!=", "<", "<=", ">", ">="];
        return format!("({a} {} {b})", ops[random.below(ops.len())]);
    }
    let (a, b) = (condition(random, depth - 1), condition(random, depth - 1));
    match random.below(6) {
        0 | 1 => format!("({a} && {b})"),
        2 | 3 => format!("({a} || {b})"),
        4 => format!("({a} -> {b})"),
        _ => format!("!({a} <-> {b})"),
    }
}

/// A random program whose bounds and initial values are constants of all kinds. More than a few of them would leave most
/// programs without an instance.
fn with_constants(random: &mut Random) -> String {
    let mut text = format!(
        "param N where {}; param M where {};\n",
        condition(random, 1),
        condition(random, 0)
    );
    let mut ids = "-1..N".to_owned();
    for part in 0..2 {
        let mut any = || constant(random, None, 1);
        let (lo, hi, value) = (any(), any(), any());
        let own = constant(random, Some("i"), 1);
        text.push_str(&match random.below(12) {
            0 => format!("shared x{part}: {lo}..{hi} = {value};"),
            1 => format!("shared x{part}: {lo}..{hi} = any;"),
            2 => format!("shared x{part}: array[P] of {lo}..{hi} = {value};"),
            3 => format!("shared x{part}: array[P] of array[1..0] of {lo}..{hi} = {value};"),
            4 => format!("shared x{part}: P = any;"),
            5 => format!("shared x{part}: P = {value};"),
            6 => format!("shared x{part}: P? = none;"),
            7 => format!("process R{part}[i: {lo}..{hi}] {{ local x: 1..3 = {value}; l: skip; }}"),
            8 => format!(
                "ordered process R{part}[i: 0..2] {{ local x: {lo}..{hi} = {own}; l: skip; }}"
            ),
            9 => format!("process R{part}[] {{ local x: {lo}..{hi} = {value}; l: skip; }}"),
            10 => format!("process R{part} {{ l: choose k in {lo}..{hi} {{ skip; }} }}"),
            _ => {
                ids = format!("{lo}..{hi}");
                String::new()
            }
        });
    }
    format!("{text}\nordered process P[i: {ids}] {{ l: skip; }}")
}

#[test]
fn random_constants_agree() {
    let mut random = Random::new(7);
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut programs = 0;
    while programs < 600 {
        let text = with_constants(&mut random);
        // The front end rejects constants that can never be right.
        let Some(program) = threadwise_lang::check(&text).program.map(Arc::new) else {
            continue;
        };
        programs += 1;
        for (said, times) in exist(&program).unwrap_or_else(|e| panic!("{text}\n{e}")) {
            *met.entry(said).or_default() += times;
        }
    }
    println!("{met:?}");
    assert!(
        met.len() == 4 && met.values().all(|times| *times > 1_000),
        "{met:?}"
    );
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

#[test]
fn what_grows_without_end_is_not_supported() {
    let large = "a value leads to very large terms";
    let loops = |depth: usize, body: &str| {
        let around: String = (0..depth)
            .map(|k| format!("for k{k} in 1..60 {{ "))
            .collect();
        let text = format!(
            "shared a: array[1..60] of int = 1; def f(x: int) = x * x; def g(x: int) = f(f(f(f(x)))); \
             process P {{ local x: int = 1; l: {around} {body} {} }}",
            "}".repeat(depth)
        );
        unsupported(&text).unwrap_or_default()
    };
    assert_eq!(loops(1, "x := x + x;"), large);
    assert_eq!(loops(1, "x := min(x, a[k0]);"), large);
    assert_eq!(loops(1, "a[x] := 2; x := a[x];"), large);
    assert_eq!(loops(0, "x := g(g(g(g(x))));"), large);
    assert_eq!(loops(2, "x := 1;"), "a step has more than 1000 writes");
    assert_eq!(
        loops(3, "skip;"),
        "the steps have more than 20000 statements"
    );
    assert_eq!(
        loops(1, "choose { x := 1; } or { x := 2; }"),
        "the template has more than 2000 paths"
    );
    assert_eq!(loops(2, "assert a[x] > k0;"), "the steps are too large");
    let all = "forall k, l, m, n in 1..60: true || x > k + l + m + n";
    assert_eq!(
        loops(0, &format!("assert {all};")),
        "an expression takes more than 100000 operations"
    );
}
