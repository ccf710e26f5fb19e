//! Runs without end: recorded, written, read back, replayed; and those that are not what they claim.

use std::collections::BTreeSet;

use crate::common::{drawn, instance};
use threadwise_evidence::{
    Because, FairnessName, ReplayError, RunEnding, Trace, annotate, record, remedies, replay,
};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};
use threadwise_show::{Layout, to_itf, to_mermaid, to_text};

/// A semaphore, with more and less fairness than it needs.
const SEMAPHORE: &str = "\
param N = 2 where N >= 2;
shared x: bool = true;
process P[i: 1..N] {
    loop {
        idle:     stay;
        request:  atomic { await x; x := false; }
        critical: skip;
        leave:    x := true;
    }
}
fairness scheduling: unconditional;
fairness entry: strong forall i in P:
    if P[i] at request && x then P[i] at critical;
fairness either: strong forall i in P: if P[i] at request && x then P[i] at critical or weak x;
fairness steps: strong forall i in P: if enabled(P[i], request) then taken(P[i], request);
liveness access under scheduling: forall i in P: G (P[i] at request -> F P[i] at critical);
liveness fair under scheduling, entry: forall i in P: G (P[i] at request -> F P[i] at critical);
liveness lax under either: forall i in P: G (P[i] at request -> F P[i] at critical);
liveness stepwise under steps: forall i in P: G (P[i] at request -> F P[i] at critical);
liveness any: forall i in P: G (P[i] at request -> F P[i] at critical);
liveness both: G F x && G F !x;
liveness used: F !x;
invariant low: true || x;
";

/// A run written down: names of processes, `P[1]` for its first move, `P[1]!` for a step that changes nothing; `|` where the loop begins.
struct Script {
    initial: State,
    steps: Vec<(ProcessRef, State)>,
    from: usize,
    moves: BTreeSet<usize>,
}

impl Script {
    fn new(instance: &Instance, script: &str) -> Script {
        let interpreter = Interpreter::new(instance);
        let initial = interpreter.initial_states().unwrap().next().unwrap();
        let mut run = Script {
            initial: initial.clone(),
            steps: Vec::new(),
            from: 0,
            moves: BTreeSet::new(),
        };
        let mut state = initial;
        for word in script.split_whitespace() {
            if word == "|" {
                run.from = run.steps.len();
                continue;
            }
            let (name, stays) = match word.strip_suffix('!') {
                Some(name) => (name, true),
                None => (word, false),
            };
            let process = Names::new(instance).parse_process(name, &state).unwrap();
            if !stays {
                let outcomes = interpreter.outcomes(&state, process).unwrap();
                let moved = outcomes.into_iter().find_map(|outcome| match outcome {
                    Outcome::Move { state, .. } => Some(state),
                    _ => None,
                });
                let moved = moved.unwrap_or_else(|| panic!("{word} cannot move"));
                if moved == state {
                    run.moves.insert(run.steps.len());
                }
                state = moved;
            }
            run.steps.push((process, state.clone()));
        }
        run
    }

    fn record(self, instance: &Instance, property: &str) -> Result<Trace, ReplayError> {
        let ending = RunEnding::Loop {
            from: self.from,
            moves: self.moves,
        };
        record(instance, Some(property), self.initial, self.steps, ending)
    }
}

fn recorded(text: &str, property: &str, script: &str) -> Result<Trace, ReplayError> {
    let instance = instance(text, &[]);
    let trace = Script::new(&instance, script).record(&instance, property)?;
    let read = Trace::from_json(&trace.to_json()).unwrap();
    assert_eq!(read, trace);
    assert_eq!(replay(&instance, &read), Ok(()));
    Ok(trace)
}

fn refused(text: &str, property: &str, script: &str) -> String {
    recorded(text, property, script).unwrap_err().to_string()
}

/// P[2] is scheduled only while P[1] is inside.
const OVERTAKEN: &str = "P[2] P[1] | P[1] P[2]! P[1] P[1] P[1]";

#[test]
fn a_waiting_process_that_is_scheduled_at_the_wrong_times() {
    let trace = recorded(SEMAPHORE, "access", OVERTAKEN).unwrap();
    assert!(trace.steps[3].idle && !trace.steps[3].rest);
    assert_eq!(trace.loop_from, Some(2));
    let lasso = trace.lasso.clone().unwrap();
    assert_eq!(lasso.violated.len(), 1);
    assert_eq!(lasso.violated[0].after, Some(1));
    assert_eq!(lasso.fairness[0].because, Because::Scheduled);
    assert_eq!(lasso.fairness[0].kind, FairnessName::Unconditional);
    let steps: Vec<_> = lasso.fairness[0].met.iter().map(|met| met.step).collect();
    assert_eq!(steps, [Some(3), Some(4)]);
    insta::assert_snapshot!("overtaken", to_text(&trace, Some(SEMAPHORE)));
    insta::assert_snapshot!("overtaken_json", trace.to_json());
    let lanes = |width| drawn(&trace, Some(SEMAPHORE), width, Layout::Fitting);
    insta::assert_snapshot!("overtaken_lanes", lanes(None));
    insta::assert_snapshot!("overtaken_mermaid", to_mermaid(&trace));
    // In ITF the last state is followed by the one after the first of the loop.
    let itf = to_itf(&trace);
    assert_eq!(itf["loop"], 3);
    assert_eq!(itf["states"].as_array().unwrap().len(), 8);
    assert_eq!(itf["states"][7]["x"], itf["states"][2]["x"]);
}

#[test]
fn every_kind_of_fairness_says_why_it_is_met() {
    // The alternative `weak x` is met where the other one is not.
    let trace = recorded(SEMAPHORE, "lax", OVERTAKEN).unwrap();
    let lasso = trace.lasso.clone().unwrap();
    assert_eq!(lasso.fairness.len(), 1);
    assert_eq!(lasso.fairness[0].kind, FairnessName::Weak);
    assert_eq!(lasso.fairness[0].predicate.as_deref(), Some("x"));
    assert_eq!(lasso.fairness[0].because, Because::Holds);
    assert_eq!(lasso.fairness[0].met[0].step, Some(6));
    // P[2] remains inside, so the semaphore is not free again.
    let text = SEMAPHORE.replace("critical: skip", "critical: stay");
    let trace = recorded(&text, "fair", "P[1] P[2] P[2] | P[1]! P[2]!").unwrap();
    insta::assert_snapshot!("never_free", to_text(&trace, Some(&text)));
    // Without fairness, there is nothing to say about it.
    let trace = recorded(SEMAPHORE, "any", "P[1] | P[2]!").unwrap();
    assert!(trace.lasso.unwrap().fairness.is_empty());
}

#[test]
fn the_part_that_is_violated_is_named() {
    let shown = |property: &str, script: &str| {
        let trace = recorded(SEMAPHORE, property, script).unwrap();
        let text = to_text(&trace, Some(SEMAPHORE));
        let from = text.find("and for ever").unwrap();
        text[from..].to_owned()
    };
    let mut all = vec![
        shown("both", "| P[1]!"),
        shown("both", "P[1] P[1] | P[2]!"),
        shown("used", "| P[1]!"),
    ];
    // A process that goes round alone leaves all others behind.
    let instance = instance(SEMAPHORE, &[("N", 5)]);
    let trace = Script::new(&instance, "P[2] P[3] P[5] | P[1]!")
        .record(&instance, "any")
        .unwrap();
    all.push(to_text(&trace, None));
    insta::assert_snapshot!("parts", all.join("---\n"));
}

#[test]
fn a_thousand_processes_fit_a_screen() {
    let instance = instance(SEMAPHORE, &[("N", 1000)]);
    let stem: Vec<String> = (2..=3).map(|i| format!("P[{i}]")).collect();
    let still: Vec<String> = (2..=1000).map(|i| format!("P[{i}]!")).collect();
    let script = format!(
        "{} | P[1] P[1] {} P[1] P[1]",
        stem.join(" "),
        still.join(" ")
    );
    let trace = Script::new(&instance, &script)
        .record(&instance, "access")
        .unwrap();
    assert_eq!(trace.steps.len(), 1005);
    let text = to_text(&trace, Some(SEMAPHORE));
    assert!(text.contains("P[1..1000] are scheduled"), "{text}");
    assert!(text.contains("for i = 2,3"), "{text}");
    assert!(text.contains("5..1003"), "{text}");
    assert!(text.contains("rests at idle"), "{text}");
    assert!(text.lines().count() < 25, "{text}");
    let lanes = drawn(&trace, Some(SEMAPHORE), Some(100), Layout::Fitting);
    assert!(lanes.contains("P[4..1000] never move"), "{lanes}");
    assert!(lanes.lines().count() < 30, "{lanes}");
    assert!(lanes.lines().all(|line| line.len() <= 100), "{lanes}");
}

/// `taken` asks about the last step, which is another one when the loop is entered than when it comes round.
#[test]
fn taken_is_exact_where_the_loop_begins() {
    let text = "\
shared x: bool = false;
process S { a: skip; loop { b: skip; c: x := x; } }
process T { loop { t: skip; } }
fairness again: weak taken(S, a);
fairness round: weak taken(S, c);
liveness once under again: false;
liveness always under round: false;
liveness entered: G !taken(S, a);
liveness rounds: F G !taken(S, c);
liveness once_only: F G !taken(S, a);
liveness never: G !(taken(S, c) && S at b);
liveness next: G (taken(S, a) -> X taken(S, b));
liveness resting: G !taken(T, t);
";
    // S takes `a` on the way into the loop, and never again.
    let way = "S | S S";
    let error = refused(text, "once", way);
    assert_eq!(
        error,
        "the run is not fair by `again`: what it asks for never holds in the loop"
    );
    assert_eq!(
        recorded(text, "always", way)
            .unwrap()
            .lasso
            .unwrap()
            .fairness[0]
            .met[0]
            .step,
        Some(3)
    );
    let entered = recorded(text, "entered", way).unwrap();
    assert_eq!(entered.lasso.unwrap().violated[0].after, Some(1));
    recorded(text, "rounds", way).unwrap();
    assert!(refused(text, "once_only", way).contains("`once_only` holds on this run"));
    recorded(text, "never", way).unwrap();
    assert!(refused(text, "next", way).contains("`next` holds on this run"));
    // T moves, though nothing changes.
    let moves = recorded(text, "resting", "| T").unwrap();
    assert!(!moves.steps[0].rest && !moves.steps[0].idle);
    assert!(moves.steps[0].changes.is_empty());
}

/// That one process does nothing is a step, after which `X` looks.
#[test]
fn doing_nothing_is_a_step() {
    let text = "\
shared x: 0..2 = 0;
process S { a: x := 1; b: x := 2; }
process T { c: await x == 2; }
liveness at_once: X (x == 1);
liveness ends: F (S at done && T at done);
liveness over: G (taken(S, a) -> X !taken(S, a));
";
    recorded(text, "at_once", "T! S S T | S!").unwrap();
    assert!(refused(text, "at_once", "S T! S T | S!").contains("holds on this run"));
    // After it, the step before is not the last one any more.
    assert!(refused(text, "over", "S T! S T | S!").contains("holds on this run"));
    // Ended processes have no step.
    assert!(refused(text, "ends", "S S T | S! T!").contains("holds on this run"));
    recorded(text, "ends", "S S | S!").unwrap();
}

#[test]
fn predicates_that_cannot_be_evaluated() {
    let text = "\
shared x: 0..2 = 0;
process S { a: x := 1; b: x := 2; }
fairness odd: weak 1 / (2 - x) > 0;
fairness even: strong if 1 / (2 - x) == 0 then false;
liveness zero: F (1 / (1 - x) <= 1);
liveness late under odd: false;
liveness lucky under even: false;
";
    let trace = recorded(text, "zero", "S S | S!").unwrap();
    let part = trace.lasso.clone().unwrap().violated.remove(0);
    assert_eq!(part.after, Some(1));
    assert_eq!(part.fails.unwrap().line, Some(5));
    let shown = to_text(&trace, Some(text));
    let end = "evaluating `zero` fails after step 1: the divisor is zero\n    5: liveness zero: F (1 / (1 - x) <= 1);\n";
    assert!(shown.ends_with(end), "{shown}");
    // In fairness, what fails does not hold.
    assert!(refused(text, "late", "S S | S!").contains("not fair by `odd`"));
    recorded(text, "lucky", "S S | S!").unwrap();
}

#[test]
fn runs_that_violate_nothing_are_not_recorded() {
    let errors = [
        // Both get in.
        refused(
            SEMAPHORE,
            "access",
            "| P[1] P[1] P[1] P[1] P[2] P[2] P[2] P[2]",
        ),
        // P[2] is not scheduled.
        refused(SEMAPHORE, "access", "P[2] P[1] | P[1] P[1] P[1] P[1]"),
        // P[2] could get in again and again, and never does.
        refused(SEMAPHORE, "fair", OVERTAKEN),
        refused(SEMAPHORE, "stepwise", OVERTAKEN),
        // The loop does not close.
        refused(SEMAPHORE, "any", "P[1] | P[2] P[2]"),
        refused(SEMAPHORE, "any", "P[1] |"),
        // P[2] cannot but go on.
        refused(SEMAPHORE, "any", "P[1] P[2] | P[2]!"),
        refused(SEMAPHORE, "low", "P[1] | P[2]!"),
        refused(SEMAPHORE, "checks", "P[1] | P[2]!"),
        refused(SEMAPHORE, "nothing", "P[1] | P[2]!"),
    ];
    insta::assert_snapshot!("unfit", errors.join("\n"));
}

#[test]
fn wrong_moves_are_not_recorded() {
    // Where a process can both move and rest without a change, who records has to know which it was.
    let text = "process S { loop { a: stay; goto a; } } liveness never: G !taken(S, a);";
    let instance = instance(text, &[]);
    let trace = Script::new(&instance, "| S").record(&instance, "never");
    assert!(!trace.unwrap().steps[0].rest);
    let mut rests = Script::new(&instance, "| S");
    rests.moves.clear();
    let error = rests.record(&instance, "never").unwrap_err();
    assert!(error.to_string().contains("`never` holds"), "{error}");
    // What has no step, or can only rest, does not move; what can only move does not rest.
    let instance = crate::common::instance(SEMAPHORE, &[]);
    for script in ["P[1] P[2] P[1] | P[2]!", "P[1] | P[2]!"] {
        let mut moved = Script::new(&instance, script);
        moved.moves.insert(moved.steps.len() - 1);
        let error = moved.record(&instance, "any").unwrap_err();
        assert!(matches!(error, ReplayError::NoSuchStep { .. }), "{error}");
    }
    let only = "process S { loop { a: skip; } } liveness never: G !taken(S, a);";
    let instance = crate::common::instance(only, &[]);
    let mut rests = Script::new(&instance, "| S");
    rests.moves.clear();
    let error = rests.record(&instance, "never").unwrap_err();
    assert!(
        matches!(error, ReplayError::NoSuchStep { step: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_process_whose_step_fails_cannot_do_nothing() {
    let text = "shared x: 0..1 = 1; process S { a: x := x + 1; } liveness ends: F S at done;";
    assert!(refused(text, "ends", "| S!").contains("does not take this step"));
}

/// What is wrong with a lasso after a change to it.
fn tampered(property: &str, change: impl FnOnce(&mut Trace)) -> String {
    let instance = instance(SEMAPHORE, &[]);
    let mut trace = recorded(SEMAPHORE, property, OVERTAKEN).unwrap();
    change(&mut trace);
    replay(&instance, &trace).unwrap_err().to_string()
}

#[test]
fn a_lasso_that_lies_is_found_out() {
    let lies = [
        tampered("access", |trace| trace.loop_from = None),
        tampered("access", |trace| trace.loop_from = Some(0)),
        tampered("access", |trace| trace.loop_from = Some(7)),
        tampered("access", |trace| trace.loop_from = Some(usize::MAX)),
        tampered("access", |trace| trace.property = Some("fair".to_owned())),
        tampered("access", |trace| trace.property = Some("used".to_owned())),
        tampered("access", |trace| trace.property = Some("low".to_owned())),
        tampered("access", |trace| trace.property = None),
        tampered("access", |trace| {
            trace.ending = threadwise_evidence::Ending::Deadlock
        }),
        tampered("access", |trace| trace.steps[3].rest = true),
        tampered("access", |trace| trace.steps[3].idle = false),
        tampered("access", |trace| trace.steps[4].idle = true),
        tampered("access", |trace| {
            trace.steps[3].idle = false;
            trace.steps[3].rest = true;
        }),
        tampered("access", |trace| {
            // P[2] would get in.
            let step = trace.steps.remove(3);
            trace.steps.push(step);
        }),
        tampered("access", |trace| drop(trace.steps.remove(3))),
        tampered("access", |trace| {
            let lasso = trace.lasso.as_mut().unwrap();
            lasso.fairness[0].met.pop();
        }),
        tampered("access", |trace| {
            let lasso = trace.lasso.as_mut().unwrap();
            lasso.violated[0].after = Some(3);
        }),
        tampered("lax", |trace| {
            let lasso = trace.lasso.as_mut().unwrap();
            lasso.fairness[0].because = Because::Never;
        }),
    ];
    insta::assert_snapshot!("lies", lies.join("\n"));
}

#[test]
fn reasons_and_lines_can_be_left_out_and_are_found_again() {
    let instance = instance(SEMAPHORE, &[]);
    let trace = recorded(SEMAPHORE, "access", OVERTAKEN).unwrap();
    let mut bare = trace.clone();
    bare.lasso = None;
    bare.steps.iter_mut().for_each(|step| step.line = None);
    assert_eq!(replay(&instance, &bare), Ok(()));
    assert_eq!(annotate(&instance, &bare), Ok(trace));
}

/// What would rule out a run: names of declarations, or assumptions.
fn ruled_out_by(text: &str, property: &str, script: &str) -> Vec<String> {
    let instance = instance(text, &[]);
    let trace = recorded(text, property, script).unwrap();
    let found = remedies(&instance, &trace).unwrap();
    let name = |r: &threadwise_evidence::Remedy| {
        let name = r.declaration.as_ref().or(r.assumption.as_ref());
        name.unwrap().clone()
    };
    found.iter().map(name).collect()
}

/// The semaphore without fairness.
fn undeclared() -> String {
    SEMAPHORE
        .lines()
        .filter(|line| !line.contains("under") && !line.contains("fairness"))
        .filter(|line| !line.contains("if P[i]"))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn fairness_that_would_rule_a_run_out_is_named() {
    // `either` is met, and `scheduling` assumed.
    let declared = ruled_out_by(SEMAPHORE, "access", OVERTAKEN);
    assert_eq!(declared, ["entry", "steps"]);
    // P[2] rests, and could be scheduled as well without a difference.
    let resting = ruled_out_by(SEMAPHORE, "used", "| P[1]!");
    assert_eq!(
        resting,
        ["weak forall i in P: !enabled(P[i], idle) || taken(P[i], idle)"]
    );
    // P[1] is at the semaphore, and could not but take it: then `scheduling` matters.
    let waiting = ruled_out_by(SEMAPHORE, "any", "P[1] | P[2]!");
    assert_eq!(waiting, ["scheduling", "entry", "steps"]);
    let undeclared = undeclared();
    let waiting = ruled_out_by(&undeclared, "any", "P[1] | P[2]!");
    assert_eq!(waiting, ["unconditional"]);
    let overtaken = ruled_out_by(&undeclared, "any", OVERTAKEN);
    assert_eq!(
        overtaken,
        ["strong forall i in P: if enabled(P[i], request) then taken(P[i], request)"]
    );
    // Nobody could have done otherwise.
    let text = "process S { a: skip; } liveness never: G S at a;";
    assert!(ruled_out_by(text, "never", "S | S!").is_empty());
    // A single process has no number.
    let text = "process S { a: stay; } liveness ends: F S at done;";
    assert_eq!(
        ruled_out_by(text, "ends", "| S!"),
        ["weak !enabled(S, a) || taken(S, a)"]
    );
}

/// With `X`, it makes a difference that a process is scheduled and does nothing.
#[test]
fn being_scheduled_is_noticed_by_next() {
    let text = "\
shared x: bool = false;
process S { loop { a: x := !x; } }
process T { stuck: await false; }
fairness all: unconditional;
liveness odd: G (x -> X x);
liveness ends: F T at done;
";
    assert_eq!(ruled_out_by(text, "odd", "| S S"), ["all"]);
    assert!(ruled_out_by(text, "ends", "| S S").is_empty());
}

/// What is suggested can be declared, and then the run is refused.
#[test]
fn suggestions_are_assumptions_of_the_language() {
    for (property, script) in [
        ("any", "P[1] | P[2]!"),
        ("any", OVERTAKEN),
        ("used", "| P[1]!"),
    ] {
        let text = undeclared();
        let [assumption] = &ruled_out_by(&text, property, script)[..] else {
            panic!("one suggestion for {script}");
        };
        let assumed = text.replace(
            &format!("liveness {property}:"),
            &format!("fairness new: {assumption};\nliveness {property} under new:"),
        );
        let error = refused(&assumed, property, script);
        assert!(error.starts_with("the run is not fair by `new`"), "{error}");
    }
}
