//! Systems as diagrams against the evaluator of lowered steps: what each process does in a state, forwards and
//! backwards, state by state; failures, deadlocks, initial states and predicates; and the agenda.
//!
//! Unlike the engines, which meet reachable states first, this looks at any state whose values are encoded, in the natural
//! order of variables and in others.

use std::collections::BTreeSet;

use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::lower::lower;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{ProcessId, System, SystemPropertyKind};
use threadwise_symbolic::{Agenda, Bdd, Error, Hidden, Symbolic, Transition};
use threadwise_testgen::random::Random;
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{instance, library, random_programs};

type State = Vec<i64>;

/// Nodes for each program.
const NODES: usize = 1 << 17;
/// States of a program that are looked at, of each kind.
const STATES: usize = 60;

fn processes(system: &System) -> impl Iterator<Item = ProcessId> + use<> {
    (0..system.processes()).map(ProcessId::from_raw)
}

/// Some reachable states, and some others.
fn states(symbolic: &Symbolic, random: &mut Random) -> Result<Vec<State>, String> {
    let system = symbolic.system;
    let mut found: Vec<State> = eval::initial_states(system)
        .map_err(|error| error.to_string())?
        .take(STATES / 4)
        .collect();
    let mut next = 0;
    while next < found.len() && found.len() < STATES {
        for process in processes(system) {
            for outcome in eval::outcomes(system, &found[next], process) {
                if let Outcome::Move(state) = outcome
                    && !found.contains(&state)
                {
                    found.push(state);
                }
            }
        }
        next += 1;
    }
    found.truncate(STATES);
    for _ in 0..STATES {
        let cells = symbolic.encoding.cells.iter();
        found.push(
            cells
                .map(|cell| cell.codes()[random.below(cell.codes().len())].0)
                .collect(),
        );
    }
    Ok(found)
}

/// What a process does in a state.
struct Doing {
    moves: BTreeSet<State>,
    fails: bool,
    acts: bool,
}

/// `None` if a limit is reached.
fn doing(system: &System, state: &State, process: ProcessId) -> Option<Doing> {
    let mut doing = Doing {
        moves: BTreeSet::new(),
        fails: false,
        acts: false,
    };
    for outcome in eval::outcomes(system, state, process) {
        doing.acts |= outcome != Outcome::Rest;
        match outcome {
            Outcome::Move(next) => {
                doing.moves.insert(next);
            }
            Outcome::Failure(..) => doing.fails = true,
            Outcome::Rest => {}
            Outcome::Overflow | Outcome::Full(_) | Outcome::TooManyChoices => return None,
        }
    }
    Some(doing)
}

/// The image of one state by the transitions of a process.
fn image(
    symbolic: &Symbolic,
    process: ProcessId,
    state: &State,
    image: impl Fn(&Transition, &Bdd) -> Result<Bdd, Error>,
) -> Result<Bdd, Error> {
    let here = symbolic.singleton(state)?;
    let mut all = symbolic.diagrams.none();
    for transition in &symbolic.transitions.moves[process] {
        if transition.process != process {
            return Err(Error::Internal("a transition of another process"));
        }
        all = symbolic.diagrams.or(&all, &image(transition, &here)?)?;
    }
    Ok(symbolic.diagrams.and(&all, &symbolic.valid)?)
}

fn size(symbolic: &Symbolic, set: &Bdd) -> u64 {
    u64::try_from(&symbolic.count(set)).unwrap_or(u64::MAX)
}

/// The same system in a random order of cells, the values of one of them in two classes.
fn shuffled<'s>(symbolic: &Symbolic<'s>, random: &mut Random) -> Result<Symbolic<'s>, Error> {
    let mut layout = symbolic.layout.clone();
    for last in (1..layout.order.len()).rev() {
        layout.order.swap(last, random.below(last + 1));
    }
    if let Some(cell) = layout.order.first().copied() {
        let codes = symbolic.encoding.cells[cell].codes();
        let values = codes.iter().map(|(value, _)| *value);
        let class = values.filter(|_| random.percent(50)).collect();
        layout.classes.insert(cell, vec![class]);
    }
    let other = symbolic.rebuild(layout)?;
    for (here, there) in [
        (&symbolic.initial, &other.initial),
        (&symbolic.valid, &other.valid),
    ] {
        if other.import(symbolic, here)? != *there || symbolic.import(&other, there)? != *here {
            return Err(Error::Internal("a set changes with the layout"));
        }
    }
    Ok(other)
}

/// Compares a system with its diagrams; false if the diagrams do not take it.
fn compare(system: &System, seed: u64) -> Result<bool, String> {
    let built = Symbolic::new(system, NODES).and_then(|symbolic| match seed % 2 {
        0 => Ok(symbolic),
        _ => shuffled(&symbolic, &mut Random::new(seed)),
    });
    let symbolic = match built {
        Ok(symbolic) => symbolic,
        Err(Error::TooManyValues { .. } | Error::Overflow | Error::OutOfNodes(_)) => {
            return Ok(false);
        }
        Err(error) => return Err(error.to_string()),
    };
    let text = |error: Error| error.to_string();
    let d = &symbolic.diagrams;
    let cells = symbolic.encoding.cells.iter();
    let all: u128 = cells.map(|cell| cell.codes().len() as u128).product();
    if symbolic.count(&symbolic.valid).to_string() != all.to_string() {
        return Err(format!(
            "{} valid states, not {all}",
            size(&symbolic, &symbolic.valid)
        ));
    }
    initial(&symbolic)?;
    let stuck = symbolic.deadlocks().map_err(text)?;
    let states = states(&symbolic, &mut Random::new(seed))?;
    let mut after = Vec::new();
    for state in &states {
        let wrong = |what: &str| Err(format!("{what} in {state:?}"));
        let here = symbolic.singleton(state).map_err(text)?;
        if size(&symbolic, &here) != 1 || symbolic.pick(&here).as_ref() != Some(state) {
            return wrong("the state is not itself");
        }
        let mut acts = false;
        let mut each = Vec::new();
        for process in processes(system) {
            let Some(doing) = doing(system, state, process) else {
                return Ok(false);
            };
            acts |= doing.acts;
            if symbolic.contains(&symbolic.transitions.failures[process], state) != doing.fails {
                return wrong("failures differ");
            }
            if symbolic.transitions.enabled[process]
                .iter()
                .any(|part| symbolic.contains(part, state))
                != doing.acts
            {
                return wrong("what is enabled differs");
            }
            // Whether a step that changes nothing is there does not matter.
            let post = image(&symbolic, process, state, |t, set| t.post(d, set)).map_err(text)?;
            let post = d.minus(&post, &here).map_err(|error| error.to_string())?;
            let mut moves = doing.moves;
            moves.remove(state);
            let members = moves.iter().filter(|next| symbolic.contains(&post, next));
            if members.count() != moves.len() || size(&symbolic, &post) != moves.len() as u64 {
                return wrong("moves differ");
            }
            each.push(moves);
        }
        let ended = processes(system).all(|p| eval::active(system, state, p).is_none());
        if symbolic.contains(&stuck, state) != (!acts && !ended) {
            return wrong("deadlocks differ");
        }
        after.push(each);
    }
    predicates(&symbolic, &states)?;
    // Backwards: every move is found again, and nothing else among the states looked at.
    let targets = states.iter().chain(after.iter().flatten().flatten());
    let targets: BTreeSet<&State> = targets.collect();
    for target in targets.into_iter().take(STATES) {
        for process in processes(system) {
            let pre = image(&symbolic, process, target, |t, set| t.pre(d, set)).map_err(text)?;
            for (state, each) in states.iter().zip(&after) {
                let expected = each[process.index()].contains(target);
                if state != target && symbolic.contains(&pre, state) != expected {
                    return Err(format!("backwards from {target:?} to {state:?}"));
                }
            }
        }
    }
    Ok(true)
}

fn initial(symbolic: &Symbolic) -> Result<(), String> {
    let mut count = 0;
    for state in eval::initial_states(symbolic.system).map_err(|error| error.to_string())? {
        count += 1;
        if !symbolic.contains(&symbolic.initial, &state) {
            return Err(format!("{state:?} is initial"));
        }
        if count > 5_000 {
            return Ok(());
        }
    }
    if size(symbolic, &symbolic.initial) != count {
        return Err(format!("{count} initial states"));
    }
    Ok(())
}

fn predicates(symbolic: &Symbolic, states: &[State]) -> Result<(), String> {
    for property in &symbolic.system.properties {
        if let SystemPropertyKind::Invariant(expr) = &property.kind {
            let set = match symbolic.states(expr) {
                Ok(set) => set,
                Err(Error::Overflow) => continue,
                Err(error) => return Err(error.to_string()),
            };
            for state in states {
                if let Ok(holds) = Context::of_state(symbolic.system, state).holds(expr)
                    && symbolic.contains(&set, state) != holds
                {
                    return Err(format!("{} in {state:?}", property.name));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn random_programs_have_the_same_images() {
    let programs = programs(80);
    let compared = random_programs(programs, |seed, _, instance| {
        let system = lower(instance, 2).map_err(|errors| format!("{errors:?}"))?;
        if system.templates.iter().any(|template| template.dynamic) {
            return Ok(false);
        }
        compare(&system, seed)
    });
    let count = compared.iter().filter(|compared| **compared).count();
    println!("{count} programs");
    assert!(count as u64 * 8 >= programs * 3, "{count} programs");
}

#[test]
fn library_models_have_the_same_images() {
    let mut compared = 0;
    for (name, text) in library() {
        let instance = instance(&text, &[("N", 3)]).or_else(|_| instance(&text, &[]));
        let instance = instance.unwrap_or_else(|error| panic!("{name}: {error}"));
        let system = lower(&instance, 0).expect("small");
        if system.templates.iter().any(|template| template.dynamic) {
            continue;
        }
        match compare(&system, 1) {
            Ok(taken) => compared += usize::from(taken),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(compared >= 25, "{compared} models");
}

/// Compares the image of a set under each swap of two processes of a kind with the images of its states; the result is
/// the number of swaps. Whether these are symmetries does not matter here.
fn compare_swaps(symbolic: &Symbolic, seed: u64) -> Result<usize, String> {
    let text = |error: Error| error.to_string();
    let system = symbolic.system;
    let d = &symbolic.diagrams;
    let states: BTreeSet<State> = states(symbolic, &mut Random::new(seed))?
        .into_iter()
        .collect();
    let mut set = d.none();
    for state in &states {
        let one = symbolic.singleton(state).map_err(text)?;
        set = d.or(&set, &one).map_err(|error| error.to_string())?;
    }
    let mut swaps = 0;
    for (id, template) in system.templates.iter_enumerated() {
        for (to, from) in (0..template.count).flat_map(|to| (0..to).map(move |from| (to, from))) {
            let mut images: Vec<u32> = (0..template.count).collect();
            images.swap(from as usize, to as usize);
            let swap = Permutation::of_template(id, images).ok_or("not a permutation")?;
            let image = symbolic.permute(&set, &swap).map_err(text)?;
            let missing = states
                .iter()
                .find(|state| !symbolic.contains(&image, &swap.apply(system, state)));
            if let Some(state) = missing {
                return Err(format!("{state:?} is lost by swapping {from} and {to}"));
            }
            if size(symbolic, &image) != states.len() as u64 {
                return Err(format!("swapping {from} and {to} adds states"));
            }
            swaps += 1;
        }
    }
    Ok(swaps)
}

#[test]
fn images_under_swaps_are_those_of_the_states() {
    let mut swaps = 0;
    for (name, text) in library() {
        let Ok(instance) = instance(&text, &[("N", 4)]) else {
            continue;
        };
        let system = lower(&instance, 0).expect("small");
        let compared = Symbolic::new(&system, NODES).and_then(|natural| {
            let mut layout = shuffled(&natural, &mut Random::new(1))?.layout;
            // Classes would have to be those of everybody.
            layout.classes.clear();
            let other = natural.rebuild(layout)?;
            Ok([compare_swaps(&natural, 2), compare_swaps(&other, 3)])
        });
        // Some models are too large for so few nodes, or have processes that are started.
        for compared in compared.into_iter().flatten() {
            swaps += compared.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    assert!(swaps >= 200, "{swaps} swaps");
}

/// What speaks of the class of one process's location speaks of that of the other when the two are swapped, and of nothing hidden: an
/// image may leave out codes that stand for nothing, so that hidden variables matter to it, but only as far as they tell those.
#[test]
fn images_of_what_is_seen_are_seen() {
    let mut swaps = 0;
    for (name, text) in library() {
        let Ok(instance) = instance(&text, &[("N", 3)]) else {
            continue;
        };
        let system = lower(&instance, 0).expect("small");
        let Ok(natural) = Symbolic::new(&system, NODES) else {
            continue;
        };
        for (id, template) in system.templates.iter_enumerated() {
            let place = |index: u32| system.cell(template.pc, index, 0);
            let mut layout = natural.layout.clone();
            for index in 0..template.count {
                layout.classes.insert(place(index), vec![vec![0]]);
            }
            let symbolic = natural.rebuild(layout).expect("room");
            let d = &symbolic.diagrams;
            let cells = (0..template.count).map(|index| &symbolic.encoding.cells[place(index)]);
            let hidden = Hidden::new(d, cells.flat_map(|cell| cell.hidden_vars(false)));
            let hidden = hidden.expect("room");
            let seen_at_first = |index: u32| {
                let cell = place(index);
                let code = symbolic.encoding.cells[cell].code(0).expect("a location");
                let here = symbolic.encoding.code(d, cell, code, false);
                hidden.forget(d, &here.expect("room")).expect("room")
            };
            let states = |set: &Bdd| d.and(set, &symbolic.valid).expect("room");
            for to in 1..template.count {
                let mut images: Vec<u32> = (0..template.count).collect();
                images.swap(0, to as usize);
                let swap = Permutation::of_template(id, images).expect("a permutation");
                let (set, expected) = (seen_at_first(0), seen_at_first(to));
                let not = |set: &Bdd| d.not(set).expect("room");
                let elsewhere = (not(&set), not(&expected));
                for (set, expected) in [(set, expected), elsewhere] {
                    let image = symbolic.permute(&set, &swap).expect("room");
                    assert!(states(&image) == states(&expected), "{name}: {to}");
                    let seen = hidden.forget(d, &image).expect("room");
                    assert!(states(&seen) == states(&expected), "{name}: {to}, hidden");
                    swaps += 1;
                }
            }
        }
    }
    assert!(swaps >= 60, "{swaps} swaps");
}

#[test]
fn programs_that_single_out_one_thing_have_the_same_images() {
    for text in [
        // Negated values are compared in their own order.
        "shared x, y: 0..2 = any; process S { a: await -x < -y; b: await -x <= y - 2; c: skip; }",
        // Resting, and nothing else.
        "shared x: bool = any; process S { a: stay; await x; b: skip; }",
        // Two writes of one cell through indices.
        "shared i, j: 0..1 = any; shared a: array[0..1] of 0..2 = any;
         process S { s: atomic { a[i] := 1; a[j] := 2; } t: atomic { a[i] := a[j]; a[j] := i; } }",
        // Cells that choose among many above them, one of them among those: such steps are divided. Some indices are outside.
        "shared a: array[0..8] of 0..1 = any; shared i, j: 0..9 = any;
         process S { s: await a[i] != 1 && a[j] < 1; t: atomic { j := a[a[i]] + a[j]; a[i] := 1 - a[j]; }
                     u: if a[j] == 1 { v: a[i] := a[j]; } else { i := a[i]; } w: await a[i] > a[j]; }",
    ] {
        let instance = instance(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let system = lower(&instance, 0).expect("small");
        for seed in 0..2 {
            assert_eq!(compare(&system, seed), Ok(true), "{text}");
        }
    }
}

/// `s[y[i]]` looks at `y[i]` and at all cells of `s`. With `s` above all of `y` the steps take 145,843 nodes at N=8; put together over the values
/// of `y[i]`, every process doubles them.
#[test]
fn choosing_a_cell_by_the_state_stays_small() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["peterson", "peterson_and"] {
        let text = library()
            .into_iter()
            .find_map(|(other, text)| (other == name).then_some(text))
            .ok_or("no such model")?;
        let system =
            lower(&instance(&text, &[("N", 20)])?, 0).map_err(|errors| format!("{errors:?}"))?;
        let symbolic = Symbolic::new(&system, 1 << 22)?;
        let d = &symbolic.diagrams;
        let mut nodes = 0;
        for transition in symbolic.transitions.moves.iter().flatten() {
            nodes += d.size(&transition.relation(d)?);
        }
        assert!(nodes < 100_000, "{name}: {nodes} nodes");
    }
    Ok(())
}

/// Fires what the agenda says until it is empty, and sees that it was right to end. `None` if that takes long, as with
/// counters up to many thousands.
fn close(
    symbolic: &Symbolic,
    from: &Bdd,
    image: impl Fn(&Transition, &Bdd) -> Result<Bdd, Error>,
) -> Result<Option<Bdd>, Error> {
    let d = &symbolic.diagrams;
    let mut agenda = Agenda::new(symbolic.schedule.clone());
    let mut set = from.clone();
    let mut fired = 0;
    while let Some(process) = agenda.take() {
        fired += 1;
        if fired > 300 {
            return Ok(None);
        }
        let before = set.clone();
        for transition in &symbolic.transitions.moves[process] {
            set = d.or(&set, &image(transition, &set)?)?;
        }
        if set != before {
            agenda.found(process);
        }
    }
    for transition in symbolic.transitions.moves.iter().flatten() {
        if !d.is_empty(&d.minus(&image(transition, &set)?, &set)?) {
            return Err(Error::Internal("the agenda ended too early"));
        }
    }
    Ok(Some(set))
}

#[test]
fn an_empty_agenda_means_that_nothing_is_new() {
    let mut closed = 0;
    for (name, text) in library() {
        for n in [2, 3] {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 0).expect("small");
            let Ok(symbolic) = Symbolic::new(&system, NODES) else {
                continue;
            };
            let d = &symbolic.diagrams;
            let valid = &symbolic.valid;
            let forwards = close(&symbolic, &symbolic.initial, |t, set| t.post(d, set));
            let reached = match forwards {
                Ok(Some(reached)) => reached,
                Ok(None) | Err(Error::OutOfNodes(_)) => continue,
                Err(error) => panic!("{name} N={n}: {error}"),
            };
            closed += 1;
            // Backwards from some reachable state an initial one is found.
            let state = symbolic.pick(&reached).expect("a state");
            let here = symbolic.singleton(&state).expect("room");
            let backwards = close(
                &symbolic,
                &here,
                |t, set| Ok(d.and(&t.pre(d, set)?, valid)?),
            );
            match backwards {
                Ok(Some(sources)) => {
                    let both = d.and(&sources, &symbolic.initial).expect("room");
                    assert!(!d.is_empty(&both), "{name} N={n}");
                }
                Ok(None) | Err(Error::OutOfNodes(_)) => {}
                Err(error) => panic!("{name} N={n}: {error}"),
            }
        }
    }
    println!("{closed} instances");
    assert!(closed >= 30, "{closed} instances");
}

#[test]
fn too_few_nodes_for_the_transitions_is_an_error() {
    let models = library();
    let (_, text) = models
        .iter()
        .find(|(name, _)| name == "peterson")
        .expect("there");
    let instance = instance(text, &[("N", 8)]).expect("an instance");
    let system = lower(&instance, 0).expect("small");
    let error = Symbolic::new(&system, 1).err();
    assert!(matches!(error, Some(Error::OutOfNodes(_))), "{error:?}");
}

/// A transition that became an assignment has the images that it had before; and some do.
#[test]
fn simplified_transitions_have_the_same_images() {
    let mut simplified = 0;
    for (name, text) in library() {
        let Ok(instance) = instance(&text, &[("N", 2)]) else {
            continue;
        };
        let system = lower(&instance, 0).expect("small");
        let Ok(symbolic) = Symbolic::new(&system, 1 << 22) else {
            continue;
        };
        let d = &symbolic.diagrams;
        let cells = &symbolic.encoding.cells;
        for (cell, code) in cells.iter_enumerated() {
            let hidden = Hidden::new(d, code.vars(false)).expect("room");
            for transition in symbolic.transitions.moves.iter().flatten() {
                let project = || transition.project(d, &symbolic.valid, &hidden);
                let (plain, simple) = (project().expect("room"), project().expect("room"));
                let simple = simple.simplified(d).expect("room");
                simplified +=
                    usize::from(plain.assignment().is_none() && simple.assignment().is_some());
                for set in [&symbolic.initial, &symbolic.valid, &simple.guard] {
                    let set = hidden.forget(d, set).expect("room");
                    let images = |t: &Transition| {
                        (
                            t.post(d, &set).expect("room"),
                            t.pre(d, &set).expect("room"),
                        )
                    };
                    assert!(
                        images(&plain) == images(&simple),
                        "{name}, without cell {}",
                        cell.index()
                    );
                }
            }
        }
    }
    assert!(simplified >= 20, "{simplified}");
}
