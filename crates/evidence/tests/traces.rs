//! Traces: recorded, written, read back, replayed; and those that are not what they claim.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{drawn, instance};
use threadwise_evidence::{
    CheckName, Ending, FailedCheck, Recorder, ReplayError, RunEnding, Trace, TraceError, Valuation,
    Value, annotate, replay,
};
use threadwise_lang::program::PropertyKind;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::simulate::{Event, Simulation};
use threadwise_model::state::{ProcessRef, State};
use threadwise_show::{Layout, to_itf, to_mermaid, to_text};

/// A test-and-set lock whose test and set are two steps.
const LOCK: &str = "\
param N = 2 where N >= 1;
enum Colour { red, green }
shared held: bool = false;
shared total: 0..9 = 0;
shared last: P? = none;
shared m: mutex;
shared hue: array[Colour] of 0..1 = 0;
process P[i: 1..N] {
    local tries: 0..9 = 0;
    loop {
        idle:  stay;
        test:  await !held;
        set:   held, last, tries := true, i, tries + 1;
        inside: hue[green] := 1;
        leave: held := false;
    }
}
process Server {
    local on: bool = true;
    serve: lock m;
    off:   on := false;
    stop:  unlock m;
}
invariant mutex: forall i, j in P: i != j -> !(P[i] at inside && P[j] at inside);
invariant low: total == 0;
deadlock_free;
";

/// A shortest run to a state where `found` gives an ending.
pub(crate) fn search(
    instance: &Instance,
    property: &str,
    found: impl Fn(&State) -> Option<RunEnding>,
) -> Option<Trace> {
    let interpreter = Interpreter::new(instance);
    let mut paths: Vec<(State, Option<usize>, Option<ProcessRef>)> = interpreter
        .initial_states()
        .unwrap()
        .map(|state| (state, None, None))
        .collect();
    let mut known: BTreeSet<State> = paths.iter().map(|path| path.0.clone()).collect();
    let mut next = 0;
    while next < paths.len() {
        let state = paths[next].0.clone();
        if let Some(ending) = found(&state) {
            let mut steps = Vec::new();
            let mut at = next;
            while let (Some(before), Some(process)) = (paths[at].1, paths[at].2) {
                steps.push((process, paths[at].0.clone()));
                at = before;
            }
            steps.reverse();
            let initial = paths[at].0.clone();
            let recorded =
                threadwise_evidence::record(instance, Some(property), initial, steps, ending);
            return Some(recorded.unwrap());
        }
        for (process, outcome) in interpreter.successors(&state).unwrap() {
            if let Outcome::Move { state, .. } = outcome
                && known.insert(state.clone())
            {
                paths.push((state, Some(next), Some(process)));
            }
        }
        next += 1;
    }
    None
}

fn violation(instance: &Instance, property: &str) -> Option<Trace> {
    let interpreter = Interpreter::new(instance);
    let found = instance
        .program()
        .properties
        .iter()
        .find(|p| p.name == property);
    search(instance, property, |state| match found.map(|p| &p.kind) {
        Some(PropertyKind::Invariant(predicate)) => {
            (!interpreter.judge(state, predicate).unwrap().holds()).then_some(RunEnding::Invariant)
        }
        Some(PropertyKind::DeadlockFree) => interpreter
            .is_deadlock(state)
            .unwrap()
            .then_some(RunEnding::Deadlock),
        _ => interpreter
            .successors(state)
            .unwrap()
            .into_iter()
            .find_map(|(process, outcome)| match outcome {
                Outcome::Fail { failure, .. } => Some(RunEnding::Check { process, failure }),
                _ => None,
            }),
    })
}

fn broken_lock() -> (Instance, Trace) {
    let instance = instance(LOCK, &[]);
    let trace = violation(&instance, "mutex").unwrap();
    (instance, trace)
}

#[test]
fn a_recorded_trace_replays_also_after_writing_and_reading() {
    let (instance, trace) = broken_lock();
    assert_eq!(replay(&instance, &trace), Ok(()));
    let read = Trace::from_json(&trace.to_json()).unwrap();
    assert_eq!(read, trace);
    assert_eq!(replay(&instance, &read), Ok(()));
}

#[test]
fn the_text_shows_only_what_changed() {
    let (_, trace) = broken_lock();
    insta::assert_snapshot!("lock", to_text(&trace, Some(LOCK)));
    insta::assert_snapshot!("lock_without_source", to_text(&trace, None));
}

#[test]
fn lanes_have_a_column_for_each_process_that_moves() {
    let (_, trace) = broken_lock();
    let fitting = |width| drawn(&trace, Some(LOCK), Some(width), Layout::Fitting);
    insta::assert_snapshot!("lock_lanes", fitting(120));
    // Where it is narrower, what a process changes of its own goes into lines of its own; then the table fits better.
    insta::assert_snapshot!("lock_narrow_lanes", fitting(76));
    assert_eq!(
        fitting(70),
        drawn(&trace, Some(LOCK), Some(70), Layout::Table)
    );
    for width in 76..200 {
        let text = fitting(width);
        assert!(text.contains("Server never moves"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.max(92 + 4)), "{width}: {text}");
    }
    // Whoever asks for lanes gets them, without the source.
    let lanes = drawn(&trace, Some(LOCK), Some(30), Layout::Lanes);
    assert!(lanes.contains("step  P[1]"), "{lanes}");
    assert!(!lanes.contains("await"), "{lanes}");
}

#[test]
fn the_diagram() {
    let (_, trace) = broken_lock();
    insta::assert_snapshot!("lock_mermaid", to_mermaid(&trace));
}

#[test]
fn the_json_form() {
    let (_, trace) = broken_lock();
    insta::assert_snapshot!("json", trace.to_json());
}

#[test]
fn the_itf_form() {
    let (_, mut trace) = broken_lock();
    trace.steps.truncate(3);
    trace.loop_from = Some(1);
    insta::assert_snapshot!(
        "itf",
        serde_json::to_string_pretty(&to_itf(&trace)).unwrap()
    );
}

#[test]
fn a_thousand_processes_fit_a_screen() {
    let instance = instance(LOCK, &[("N", 1000)]);
    let mut simulation = Simulation::new(&instance, 7).unwrap();
    let mut recorder = Recorder::new(&instance, simulation.state().clone()).unwrap();
    for _ in 0..20 {
        let Event::Step {
            process, outcome, ..
        } = simulation.advance().unwrap()
        else {
            panic!("nobody moves");
        };
        recorder.outcome(process, &outcome);
    }
    let trace = recorder.finish(None, RunEnding::End).unwrap();
    assert_eq!(replay(&instance, &trace), Ok(()));
    let text = to_text(&trace, Some(LOCK));
    assert!(text.contains("P[1..1000].tries = 0"), "{text}");
    assert!(text.contains("P[1..1000] at idle"), "{text}");
    assert!(text.lines().count() < 35, "{text}");
    assert!(text.lines().all(|line| line.len() < 120), "{text}");
}

#[test]
fn cells_with_one_value_are_written_together() {
    let text = "param N = 6; shared f: array[1..N] of array[1..N] of 0..9 = 0; shared odd: array[1..N] of bool = false;
        process S { a: for k in 1..N { odd[k] := k % 2 == 1; f[k][k] := k; } }";
    let instance = instance(text, &[]);
    let mut simulation = Simulation::new(&instance, 0).unwrap();
    let mut recorder = Recorder::new(&instance, simulation.state().clone()).unwrap();
    let Event::Step {
        process, outcome, ..
    } = simulation.advance().unwrap()
    else {
        panic!("S moves");
    };
    recorder.outcome(process, &outcome);
    let trace = recorder.finish(None, RunEnding::End).unwrap();
    insta::assert_snapshot!("together", to_text(&trace, None));
}

#[test]
fn checks_and_deadlocks() {
    let text = "shared m: mutex; shared x: 0..1 = 0;
process P[i: 1..2] {
    a: lock m;
    b: x := x + 1;
}
deadlock_free;
";
    let instance = instance(text, &[]);
    let deadlock = violation(&instance, "deadlock_free").unwrap();
    assert_eq!(replay(&instance, &deadlock), Ok(()));
    insta::assert_snapshot!("deadlock", to_text(&deadlock, Some(text)));

    let text = text.replace("0..1 = 0", "0..1 = 1");
    let instance = crate::common::instance(&text, &[]);
    let check = violation(&instance, "checks").unwrap();
    assert_eq!(replay(&instance, &check), Ok(()));
    insta::assert_snapshot!("check", to_text(&check, Some(&text)));
    let Ending::Check { line, .. } = &check.ending else {
        panic!("{:?}", check.ending);
    };
    assert_eq!(*line, Some(4));

    // Lines can be left out, and are found again.
    let mut bare = check.clone();
    bare.steps[0].line = None;
    if let Ending::Check { line, .. } = &mut bare.ending {
        *line = None;
    }
    assert_eq!(annotate(&instance, &bare), Ok(check));
}

/// What a step sets before its check fails, such as the input that makes it fail.
#[test]
fn a_failing_step_says_what_it_has_set() {
    let text = "shared x: 0..9 = 0; shared y: 0..9 = 0;
process P {
    a: y := 4;
    skip;
    b: havoc x;
    y := 7;
    assert x != 3;
}
";
    let instance = instance(text, &[]);
    let trace = violation(&instance, "checks").unwrap();
    assert_eq!(replay(&instance, &trace), Ok(()));
    insta::assert_snapshot!("inputs", to_text(&trace, Some(text)));
    assert_eq!(
        (trace.steps[0].line, &trace.steps[0].then),
        (Some(3), &vec![4])
    );
    let Ending::Check { after, changes, .. } = &trace.ending else {
        panic!("{:?}", trace.ending);
    };
    assert_eq!(after, &[5, 6]);
    let set = |x, y| {
        let cell = |name: &str, value| (name.to_owned(), Value::Int(value));
        Valuation(vec![cell("x", x), cell("y", y)])
    };
    assert_eq!(changes, &set(3, 7));

    // What is left out is found again; what is claimed must be so.
    let with = |claimed: Valuation| {
        let mut trace = trace.clone();
        trace.steps[0].then.clear();
        if let Ending::Check { after, changes, .. } = &mut trace.ending {
            after.clear();
            *changes = claimed;
        }
        trace
    };
    let bare = with(Valuation::default());
    assert_eq!(annotate(&instance, &bare), Ok(trace.clone()));
    for lie in [set(4, 7), set(3, 4), Valuation(set(3, 7).0[..1].to_vec())] {
        let refused = replay(&instance, &with(lie)).unwrap_err().to_string();
        assert!(refused.contains("having set x = "), "{refused}");
    }
}

#[test]
fn an_invariant_that_cannot_be_evaluated_says_why() {
    let text = "shared x: 0..2 = 0;\nprocess P { a: x := 1; }\ninvariant zero: 1 / (1 - x) > 0;\n";
    let instance = instance(text, &[]);
    let trace = violation(&instance, "zero").unwrap();
    let failed = FailedCheck {
        check: CheckName::Division,
        line: Some(3),
    };
    let ending = |fails| Ending::Invariant { fails };
    assert_eq!(trace.ending, ending(Some(failed)));
    assert_eq!(annotate(&instance, &trace).unwrap(), trace);
    let shown = to_text(&trace, Some(text));
    assert!(
        shown.ends_with(
            "here evaluating `zero` fails: the divisor is zero\n    3: invariant zero: 1 / (1 - x) > 0;\n"
        ),
        "{shown}"
    );
    let with = |check| Trace {
        ending: ending(check),
        ..trace.clone()
    };
    // To say why is not needed; to say it wrongly is a lie.
    replay(&instance, &with(None)).unwrap();
    let index = FailedCheck {
        check: CheckName::Index,
        line: None,
    };
    replay(&instance, &with(Some(index))).unwrap_err();
    let (lock, broken) = broken_lock();
    let lie = Trace {
        ending: ending(Some(failed)),
        ..broken
    };
    replay(&lock, &lie).unwrap_err();
}

#[test]
fn started_processes_are_in_the_trace() {
    let text = "process Child[] { local k: 1..2 = any; work: skip; } process Main { a: start Child; start Child; b: assert false; }";
    let instance = instance(text, &[]);
    let trace = violation(&instance, "checks").unwrap();
    assert_eq!(trace.steps[0].started.0.len(), 2);
    assert_eq!(
        replay(&instance, &Trace::from_json(&trace.to_json()).unwrap()),
        Ok(())
    );
    insta::assert_snapshot!("started", to_text(&trace, None));
    let itf = to_itf(&trace);
    // Every state has every variable, also before there are such processes.
    let names = itf["vars"].as_array().unwrap();
    assert_eq!(names.len(), 3, "{names:?}");
    for state in itf["states"].as_array().unwrap() {
        let has = |name: &serde_json::Value| state.get(name.as_str().unwrap()).is_some();
        assert!(names.iter().all(has), "{state}");
    }
    assert_eq!(
        itf["states"][0]["Child.at"],
        serde_json::json!({ "#map": [] })
    );
    assert_eq!(itf["states"][1]["Child.at"]["#map"][0][1], "work");
    let mut fewer = trace;
    fewer.steps[0].started.0.pop();
    assert!(matches!(
        replay(&instance, &fewer),
        Err(ReplayError::NoSuchStep { step: 1, .. })
    ));
}

/// What is wrong with the broken lock's trace after a change to it.
fn tampered(change: impl FnOnce(&mut Trace)) -> String {
    let (instance, mut trace) = broken_lock();
    change(&mut trace);
    replay(&instance, &trace).unwrap_err().to_string()
}

#[test]
fn a_trace_that_lies_is_found_out() {
    let errors = [
        tampered(|trace| trace.version = 2),
        tampered(|trace| trace.params = BTreeMap::from([("N".to_owned(), 3)])),
        tampered(|trace| trace.params = BTreeMap::new()),
        tampered(|trace| trace.property = Some("nonsense".to_owned())),
        tampered(|trace| trace.property = Some("low".to_owned())),
        tampered(|trace| trace.property = Some("deadlock_free".to_owned())),
        tampered(|trace| trace.property = Some("checks".to_owned())),
        tampered(|trace| trace.property = None),
        tampered(|trace| trace.ending = Ending::End),
        tampered(|trace| trace.ending = Ending::Deadlock),
        tampered(|trace| {
            trace.property = Some("deadlock_free".to_owned());
            trace.ending = Ending::Deadlock;
        }),
        tampered(|trace| {
            trace.property = Some("checks".to_owned());
            trace.ending = Ending::Check {
                process: "P[1]".to_owned(),
                from: "inside".to_owned(),
                check: threadwise_evidence::CheckName::Range,
                line: None,
                after: Vec::new(),
                changes: Valuation::default(),
                meaning: None,
            };
        }),
        tampered(|trace| trace.steps.truncate(4)),
        tampered(|trace| trace.initial.variables.0[0].1 = Value::Bool(true)),
        tampered(|trace| trace.initial.variables.0[0].1 = Value::Int(1)),
        tampered(|trace| trace.initial.variables.0[0].0 = "nowhere".to_owned()),
        tampered(|trace| trace.initial.variables.0[1].1 = Value::Int(i64::MAX)),
        tampered(|trace| trace.initial.variables.0[2].1 = Value::Int(i64::MIN)),
        tampered(|trace| trace.initial.variables.0[3].1 = Value::Name("P[7]".to_owned())),
        tampered(|trace| drop(trace.initial.variables.0.remove(1))),
        tampered(|trace| drop(trace.initial.locations.0.remove(1))),
        tampered(|trace| {
            let twice = trace.initial.variables.0[0].clone();
            trace.initial.variables.0.push(twice);
        }),
        tampered(|trace| {
            let twice = trace.initial.locations.0[0].clone();
            trace.initial.locations.0.push(twice);
        }),
        tampered(|trace| trace.initial.locations.0[0].1 = Value::Name("nowhere".to_owned())),
        tampered(|trace| trace.initial.locations.0[0].1 = Value::Int(0)),
        tampered(|trace| trace.initial.locations.0[0].1 = Value::Name("leave".to_owned())),
        tampered(|trace| trace.initial.locations.0[0].0 = "P[99999999999999999999]".to_owned()),
        tampered(|trace| trace.initial.locations.0[0].0 = "P[-9223372036854775808]".to_owned()),
        tampered(|trace| trace.initial.locations.0[0].0 = "P[1".to_owned()),
        tampered(|trace| trace.steps[0].process = "P[3]".to_owned()),
        tampered(|trace| trace.steps[0].process = "Q".to_owned()),
        tampered(|trace| trace.steps[0].from = "leave".to_owned()),
        tampered(|trace| trace.steps[0].to = "leave".to_owned()),
        tampered(|trace| trace.steps[1].rest = true),
        tampered(|trace| trace.steps[4].changes.0.clear()),
        tampered(|trace| trace.steps[4].changes.0[0].1 = Value::Bool(false)),
        tampered(|trace| {
            let twice = trace.steps[4].changes.0[0].clone();
            trace.steps[4].changes.0.push(twice);
        }),
        tampered(|trace| trace.steps.swap(3, 4)),
        tampered(|trace| trace.loop_from = Some(0)),
        tampered(|trace| trace.loop_from = Some(usize::MAX)),
    ];
    insta::assert_snapshot!("lies", errors.join("\n"));
}

#[test]
fn a_step_that_was_not_taken_is_not_recorded() {
    let instance = instance(LOCK, &[]);
    let interpreter = Interpreter::new(&instance);
    let initial = interpreter.initial_states().unwrap().next().unwrap();
    let process = initial.processes().next().unwrap();
    let mut elsewhere = initial.clone();
    elsewhere.shared[0] = 1;
    assert_eq!(
        Recorder::new(&instance, elsewhere.clone()).err(),
        Some(ReplayError::NotInitial)
    );
    let mut recorder = Recorder::new(&instance, initial.clone()).unwrap();
    assert!(recorder.step(process, elsewhere).is_err());
    // Resting is a step that changes nothing.
    recorder.step(process, initial).unwrap();
    assert!(
        recorder
            .finish(Some("mutex"), RunEnding::Invariant)
            .is_err()
    );
}

#[test]
fn hostile_files_are_errors() {
    let (_, trace) = broken_lock();
    let good = trace.to_json();
    let deep = format!(
        "{{\"version\": 1, \"params\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let texts = [
        "",
        "null",
        "[]",
        "{}",
        "{\"version\": 1}",
        "{\"version\": -1}",
        "{\"version\": 1e999}",
        &deep,
        &good[..good.len() / 2],
        &good.replace("\"total\": 0", "\"total\": 99999999999999999999"),
        &good.replace("\"total\": 0", "\"total\": 0.5"),
        &good.replace("\"total\": 0", "\"total\": [0]"),
        &good.replace("\"sc\"", "\"tso\""),
        &good.replace("\"kind\": \"invariant\"", "\"kind\": \"magic\""),
        &good.replace("\"line\": 11", "\"line\": -11"),
    ];
    for text in texts {
        assert!(Trace::from_json(text).is_err(), "{text}");
    }
    let newer = good.replace("\"version\": 1", "\"version\": 2, \"anything\": []");
    assert!(matches!(
        Trace::from_json(&newer),
        Err(TraceError::Version { found: 2 })
    ));
    // Fields that are added later are ignored.
    assert_eq!(
        Trace::from_json(&good.replace("\"version\": 1", "\"version\": 1, \"new\": {}")).unwrap(),
        trace
    );
}

#[test]
fn rendering_never_fails_on_strange_names() {
    let (_, mut trace) = broken_lock();
    for name in [
        "",
        "[",
        "]",
        "x[",
        "x]1[",
        "x[1]]",
        "x[9223372036854775807]",
        "x[1]",
        "x",
        "ä[ö]",
        "P[1].k[2][3][4][5]",
    ] {
        trace
            .initial
            .variables
            .0
            .push((name.to_owned(), Value::Int(i64::MIN)));
    }
    let _ = to_text(&trace, Some("\u{feff}\n"));
    let _ = to_itf(&trace);
    for (from, to) in [
        ("end", "loop"),
        ("a\nend", "x;y"),
        ("%%{init}", "\u{e9}nd #35;"),
    ] {
        let mut step = trace.steps[0].clone();
        step.process = format!("{to}->>{from}: <b>\r\nend");
        step.from = from.to_owned();
        step.to = to.to_owned();
        step.changes = Valuation(vec![(
            "x\" alt else".to_owned(),
            Value::Name("`</script>".into()),
        )]);
        trace.steps.push(step);
    }
    trace.property = Some("autonumber\nend\nend".to_owned());
    trace.loop_from = Some(trace.steps.len() - 2);
    let _ = drawn(&trace, None, Some(3), Layout::Lanes);
    let diagram = to_mermaid(&trace);
    insta::assert_snapshot!("hostile_mermaid", diagram);
    // No line but those of the diagram itself: what a model or a file names is escaped.
    let harmless = |c: char| c.is_ascii_alphanumeric() || " _.,=#;[]".contains(c);
    for line in diagram.lines().skip(1) {
        let line = line.strip_prefix("    ").unwrap();
        let (statement, text) = line.split_once(": ").unwrap_or((line, ""));
        let words: Vec<&str> = statement.split(' ').collect();
        match words.as_slice() {
            ["participant", _, "as", ..] => assert!(line.chars().all(harmless), "{line}"),
            ["Note", "over", _] | ["loop", "for", "ever"] | ["end"] => {}
            [message] => assert!(message.contains("->>"), "{line}"),
            _ => panic!("{line}"),
        }
        assert!(text.chars().all(harmless), "{line}");
        let ends = |word: &str| word.eq_ignore_ascii_case("end");
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        assert!(!words.any(ends), "{line}");
    }
}

/// The model library: simulated runs replay, and so do the shortest violations.
#[test]
fn library_models_replay() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut files: Vec<_> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut simulated = 0;
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "tw"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        let instance = instance(&text, &[]);
        for seed in 0..5 {
            let mut simulation = Simulation::new(&instance, seed).unwrap();
            let mut recorder = Recorder::new(&instance, simulation.state().clone()).unwrap();
            let mut ending = RunEnding::End;
            for _ in 0..60 {
                match simulation.advance().unwrap() {
                    Event::Step {
                        process,
                        outcome: Outcome::Fail { failure, .. },
                        ..
                    } => {
                        ending = RunEnding::Check { process, failure };
                        break;
                    }
                    Event::Step {
                        process, outcome, ..
                    } => recorder.outcome(process, &outcome),
                    Event::Deadlock => {
                        ending = RunEnding::Deadlock;
                        break;
                    }
                    Event::Ended => break,
                }
            }
            let trace = recorder.finish(None, ending).unwrap();
            let read = Trace::from_json(&trace.to_json()).unwrap();
            assert_eq!(replay(&instance, &read), Ok(()), "{}", file.display());
            assert!(!to_text(&read, Some(&text)).is_empty());
            simulated += 1;
        }
        // The same seed, the same run.
        let run = |seed| {
            let mut simulation = Simulation::new(&instance, seed).unwrap();
            (0..20)
                .map(|_| format!("{:?}", simulation.advance().unwrap()))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
    }
    assert!(simulated >= 100, "{simulated}");
}
