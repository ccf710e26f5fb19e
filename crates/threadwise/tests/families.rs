//! Claims for all values of the parameters: which engines are asked, in which order, and what the results speak of.

use std::collections::BTreeMap;

use threadwise::{
    Checked, Execution, Exit, Finding, InProcess, Job, JobOutcome, Options, Plan, PropertyResult,
    Run, Runner, Scope, Session, Setting, Stats, Stop, Values, VerdictKind, Whole,
};
use threadwise_evidence::family::FamilyClaim;
use threadwise_evidence::{Account, Certificate, Reason, ReasonCode, Verdict};

const MODEL: &str = "\
param N = 3 where N >= 2;
param M = 1 where M >= 1 || N > 5;
shared x: 0..9 = 0;
process P[i: 1..N] { a: x := 1; b: x := M; }
invariant low: x < 9;
invariant one: M == 1 -> x <= 1;
liveness ends: F (x == 1);
";

/// Decides what it is told to for all instances, and has all else decided in this process.
#[derive(Default)]
struct Script {
    /// Engine and property.
    proved: Vec<(&'static str, &'static str)>,
    /// What jobs for all instances take.
    seconds: Option<f64>,
    /// What becomes of their answers.
    forge: Option<fn(&mut JobOutcome)>,
    asked: Vec<Job>,
}

impl Runner for Script {
    fn run(&mut self, job: &Job) -> Execution {
        self.asked.push(job.clone());
        if !["counter", "cubes", "generalise", "ranking"].contains(&job.engine.as_str()) {
            return InProcess::default().run(job);
        }
        let verdict = |property: &String| {
            let known = (job.engine.as_str(), property.as_str());
            if self.proved.contains(&known) {
                let params = job.values.0.iter().cloned().collect();
                let claim = FamilyClaim::default();
                return Verdict::Proved(Some(Certificate::family(property, params, claim)));
            }
            let message = format!("`{}` found no proof", job.engine);
            Verdict::Unknown(Reason::new(ReasonCode::NoProof, message))
        };
        let mut outcome = JobOutcome {
            findings: job
                .properties
                .iter()
                .map(|property| Finding {
                    property: property.clone(),
                    verdict: verdict(property),
                    account: Account::default(),
                })
                .collect(),
            stats: Stats {
                seconds: self.seconds,
                ..Stats::default()
            },
            complete: false,
        };
        if let Some(forge) = self.forge {
            forge(&mut outcome);
        }
        Execution::Finished(outcome)
    }
}

fn options(settings: &[&str]) -> Options {
    let settings = settings.iter().map(|text| text.parse::<Setting>().unwrap());
    Options {
        settings: settings.collect(),
        // No certificate here proves anything.
        recheck: false,
        ..Options::default()
    }
}

fn check(text: &str, options: &Options, runner: &mut dyn Runner) -> Checked {
    let session = Session::new("model.tw", text);
    let plan = Plan::new(session.program().unwrap(), options).unwrap();
    let [values] = plan.instances.as_slice() else {
        panic!("one run");
    };
    session.check_instance(&plan, values, &mut Whole::new(runner))
}

fn run(text: &str, options: &Options, runner: &mut dyn Runner) -> Run {
    match check(text, options, runner) {
        Checked::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

fn result<'a>(run: &'a Run, property: &str) -> &'a PropertyResult {
    let mut results = run.results.iter();
    results.find(|result| result.property == property).unwrap()
}

fn engines(script: &Script) -> Vec<&str> {
    script.asked.iter().map(|job| job.engine.as_str()).collect()
}

fn reason(result: &PropertyResult) -> (&str, &str) {
    let reason = result.reason.as_ref().unwrap();
    (reason.code.as_str(), &reason.message)
}

#[test]
fn all_instances_come_first_and_some_are_looked_at_for_what_is_left() {
    let mut script = Script {
        proved: vec![("counter", "low"), ("generalise", "one")],
        ..Script::default()
    };
    let run = run(MODEL, &options(&[]), &mut script);
    let mut asked = engines(&script);
    asked.dedup();
    assert_eq!(
        asked,
        [
            "counter",
            "cubes",
            "generalise",
            "counter",
            "ranking",
            "explicit",
            "liveness-monolithic"
        ]
    );
    let asked: Vec<&[String]> = script.asked.iter().map(|job| &job.properties[..]).collect();
    assert_eq!(asked[0], ["checks", "low", "one"]);
    // Both begin in the first round, and are asked for what is open then.
    assert_eq!(asked[1], ["checks", "low", "one"]);
    assert_eq!(asked[2], ["checks", "one"]);
    // What is left is for a solver.
    assert_eq!(asked[3], ["checks"]);
    assert_eq!(asked[4], ["ends"]);
    assert_eq!(asked[5], ["checks"]);
    assert_eq!(script.asked[0].values, Values::default());
    let bounded: Vec<bool> = script.asked.iter().map(|job| job.setup.bounded).collect();
    assert_eq!(bounded[..6], [true, true, true, true, true, false]);
    let all = Scope::All {
        parameters: vec!["N".to_owned(), "M".to_owned()],
        condition: "N >= 2 && (M >= 1 || N > 5)".to_owned(),
        values: Values::default(),
    };
    for (property, engine) in [("low", "counter"), ("one", "generalise")] {
        let result = result(&run, property);
        assert_eq!(result.verdict, VerdictKind::Proved);
        assert_eq!(result.engine, engine);
        assert_eq!(result.scope, all);
        assert!(result.certificate.is_some());
    }
    assert_eq!(all.phrase(), "for all N >= 2 && (M >= 1 || N > 5)");
    let checks = result(&run, "checks");
    assert_eq!(checks.engine, "explicit");
    assert_eq!(checks.verdict, VerdictKind::Unknown);
    assert_eq!(checks.scope, all);
    // The run is about no instance.
    assert!(run.values.is_empty());
}

#[test]
fn what_is_proved_at_instances_says_where_and_why() {
    let recheck = Options {
        recheck: true,
        ..options(&[])
    };
    let mut script = Script::default();
    let run = run(MODEL, &recheck, &mut script);
    let low = result(&run, "low");
    assert_eq!(low.verdict, VerdictKind::Unknown);
    let (code, message) = reason(low);
    assert_eq!(code, "bounded");
    assert!(
        message.starts_with("holds for N=2, M=1; N=2, M=2; "),
        "{message}"
    );
    assert!(
        message.ends_with(", not proved for every N, M"),
        "{message}"
    );
    assert_eq!(
        low.tried,
        [
            "`counter` found no proof",
            "`cubes` found no proof",
            "`generalise` found no proof",
            // The method that asks a solver, when the others have given up.
            "`counter` found no proof"
        ]
    );
    // The default is among them, and what there is to read is about it.
    assert_eq!(low.shown.as_ref().unwrap().to_string(), "N=3, M=1");
    assert!(low.holds.contains(low.shown.as_ref().unwrap()));
    assert!(low.certificate.is_none() && !low.rechecked);
    // A few, whatever it takes: how many does not depend on the machine.
    assert!((3..8).contains(&low.holds.len()), "{:?}", low.holds);
    let ends = result(&run, "ends");
    assert_eq!(reason(ends).0, "bounded");
    assert_eq!(ends.tried, ["`ranking` found no proof"]);
    assert_eq!(run.exit(), Exit::Unknown);
    // Smaller ones first, in one job each.
    let at: Vec<String> = script.asked[5..]
        .iter()
        .map(|job| job.values.to_string())
        .collect();
    let safety = low.holds.iter().map(Values::to_string);
    let liveness = ends.holds.iter().map(Values::to_string);
    assert_eq!(at, safety.chain(liveness).collect::<Vec<_>>());
    // At an instance that was asked for, it is the claim.
    let asked = self::run(MODEL, &options(&["N=3", "M=1"]), &mut Script::default());
    assert_eq!(result(&asked, "low").verdict, VerdictKind::Proved);
    let (code, _) = reason(result(&asked, "low"));
    assert!(["no-certificate", "no-recheck"].contains(&code), "{code}");
}

#[test]
fn to_insist_is_to_say_what_the_claim_is() {
    let mut insist = options(&[]);
    insist.for_all = vec!["N".to_owned()];
    let mut script = Script {
        proved: vec![("counter", "low")],
        ..Script::default()
    };
    let run = run(MODEL, &insist, &mut script);
    assert_eq!(result(&run, "low").verdict, VerdictKind::Proved);
    assert_eq!(reason(result(&run, "one")).0, "bounded");
    insist.engine = "counter".to_owned();
    let run = self::run(MODEL, &insist, &mut Script::default());
    assert_eq!(
        reason(result(&run, "one")),
        ("no-proof", "`counter` found no proof")
    );
    insist.engine = "explicit".to_owned();
    let run = self::run(MODEL, &insist, &mut Script::default());
    let one = result(&run, "one");
    assert_eq!(
        reason(one),
        ("bounded", "holds for N=3, M=1, not proved for every N, M")
    );
    assert_eq!(one.tried, ["`explicit` looks at one instance at a time"]);
}

/// Of some instances says nothing.
struct Silent(fn(&Values) -> bool);

impl Runner for Silent {
    fn run(&mut self, job: &Job) -> Execution {
        let execution = match job.engine.as_str() {
            "counter" | "cubes" | "generalise" | "ranking" => return Script::default().run(job),
            _ => InProcess::default().run(job),
        };
        let Execution::Finished(mut outcome) = execution else {
            return execution;
        };
        if self.0(&job.values) {
            for finding in &mut outcome.findings {
                let reason = Reason::new(ReasonCode::Integers, "nobody knows");
                finding.verdict = Verdict::Unknown(reason);
            }
        }
        Execution::Finished(outcome)
    }
}

#[test]
fn a_finite_claim_is_proved_by_all_of_its_instances_and_not_by_fewer() {
    let text = MODEL
        .replace("N >= 2", "N >= 2 && N <= 3")
        .replace("M >= 1", "M == 1 || M == 2");
    let all = run(&text, &options(&[]), &mut Script::default());
    for property in ["checks", "low", "one", "ends"] {
        let result = result(&all, property);
        assert_eq!(result.verdict, VerdictKind::Proved, "{property}");
        assert!(result.holds.is_empty() && result.tried.is_empty());
        assert_eq!(
            result.scope.phrase(),
            "for all N >= 2 && N <= 3 && (M == 1 || M == 2 || N > 5)"
        );
    }
    assert_eq!(all.exit(), Exit::Proved);
    let silent: fn(&Values) -> bool = |values| values.to_string() == "N=2, M=2";
    let some = run(&text, &options(&[]), &mut Silent(silent));
    let low = result(&some, "low");
    assert_eq!(low.verdict, VerdictKind::Unknown);
    let (code, message) = reason(low);
    assert_eq!(code, "bounded");
    // What comes after one that is not decided is larger, but for the default.
    assert_eq!(
        message,
        "holds for N=2..3, M=1, not proved for every N, M; at N=2, M=2: nobody knows"
    );
    // With one instance that the claim has, that is what it is about.
    let one = run(&text, &options(&["N=3", "M=2"]), &mut Script::default());
    assert_eq!(result(&one, "low").scope.phrase(), "at N=3, M=2");
    let given = run(&text, &options(&["M=2"]), &mut Silent(silent));
    assert_eq!(
        reason(result(&given, "low")).1,
        "holds for N=3, M=2, not proved for every N; at N=2, M=2: nobody knows"
    );
}

#[test]
fn values_that_are_set_are_part_of_the_claim() {
    let mut script = Script {
        proved: vec![("counter", "low")],
        ..Script::default()
    };
    let run = run(MODEL, &options(&["M=1"]), &mut script);
    assert_eq!(script.asked[0].values.to_string(), "M=1");
    let low = result(&run, "low");
    assert_eq!(
        low.scope.phrase(),
        "for all N >= 2 && (M >= 1 || N > 5), at M=1"
    );
    assert_eq!(run.values.to_string(), "M=1");
    // One instance is no claim for all, but may be proved as one: then it is what was asked for that is said to be proved.
    let mut script = Script {
        proved: vec![("counter", "low")],
        ..Script::default()
    };
    let run = self::run(MODEL, &options(&["M=1", "N=6"]), &mut script);
    assert_eq!(
        engines(&script),
        ["counter", "explicit", "liveness-monolithic"]
    );
    assert_eq!(script.asked[0].values, Values::default());
    assert_eq!(run.values.to_string(), "N=6, M=1");
    let (low, one) = (result(&run, "low"), result(&run, "one"));
    assert_eq!(
        (low.engine.as_str(), one.engine.as_str()),
        ("counter", "explicit")
    );
    assert_eq!(low.scope.phrase(), "at N=6, M=1");
    assert_eq!(low.notes, ["it holds for all N >= 2 && (M >= 1 || N > 5)"]);
    // But a proof by an engine for all instances is one for it.
    let mut script = Script {
        proved: vec![("counter", "low")],
        ..Script::default()
    };
    let counter = Options {
        engine: "counter".to_owned(),
        ..options(&["M=1", "N=2"])
    };
    let run = self::run(MODEL, &counter, &mut script);
    assert_eq!(engines(&script), ["counter"]);
    assert!(!script.asked[0].setup.bounded);
    assert_eq!(result(&run, "low").scope.phrase(), "at N=2, M=1");
    assert_eq!(result(&run, "one").verdict, VerdictKind::Unknown);
    assert_eq!(reason(result(&run, "ends")).0, "unsupported");
}

#[test]
fn what_may_have_no_end_of_states_is_for_them_too() {
    let text = "
        shared x: int = 0;
        process P { loop { a: x := x + 1; } }
        invariant positive: x >= 0;
    ";
    let mut script = Script {
        proved: vec![("counter", "positive"), ("counter", "checks")],
        ..Script::default()
    };
    let run = run(text, &options(&[]), &mut script);
    assert_eq!(engines(&script), ["counter"]);
    let positive = result(&run, "positive");
    assert_eq!(positive.verdict, VerdictKind::Proved);
    assert_eq!(positive.scope.phrase(), "");
}

#[test]
fn the_time_is_shared() {
    let limited = Options {
        seconds: Some(30.0),
        ..options(&[])
    };
    let mut script = Script {
        seconds: Some(2.0),
        ..Script::default()
    };
    run(MODEL, &limited, &mut script);
    let seconds: Vec<f64> = script.asked.iter().filter_map(|job| job.seconds).collect();
    // Half of it for all instances, half of the rest for their liveness, and what they leave for some.
    assert_eq!(seconds[..6], [15.0, 15.0, 15.0, 15.0, 11.0, 20.0]);
    // Who knows no clock has used up what there was.
    let mut script = Script::default();
    run(MODEL, &limited, &mut script);
    let seconds: Vec<f64> = script.asked.iter().filter_map(|job| job.seconds).collect();
    assert_eq!(seconds[..6], [15.0, 15.0, 15.0, 15.0, 7.5, 7.5]);
}

#[test]
fn a_violation_is_at_the_instance_of_its_trace() {
    let text = "
        param N = 2 where N >= 2;
        shared x: 0..9 = 0;
        process P[i: 1..N] { a: x := x + 1; }
        invariant few: x < 3;
    ";
    let report = Session::new("few.tw", text);
    let report = report.check(&Options::default()).unwrap();
    let few = result(&report.runs[0], "few");
    assert_eq!(few.verdict, VerdictKind::Violated);
    assert_eq!(few.scope.phrase(), "at N=3");
    assert!(few.rechecked);
    let params = BTreeMap::from([("N".to_owned(), 3)]);
    assert_eq!(few.trace.as_ref().unwrap().params, params);
    // A trace of an instance that was not asked for is a fault of the engine.
    let forged = |outcome: &mut JobOutcome| {
        for finding in &mut outcome.findings {
            if let Verdict::Violated(trace) = &mut finding.verdict {
                trace.params.insert("N".to_owned(), 4);
            }
        }
    };
    struct Forger(fn(&mut JobOutcome));
    impl Runner for Forger {
        fn run(&mut self, job: &Job) -> Execution {
            match InProcess::default().run(job) {
                Execution::Finished(mut outcome) => {
                    self.0(&mut outcome);
                    Execution::Finished(outcome)
                }
                other => other,
            }
        }
    }
    for settings in [&["N=3"][..], &[]] {
        let counter = Options {
            engine: "counter".to_owned(),
            recheck: true,
            ..options(settings)
        };
        let run = run(text, &counter, &mut Forger(forged));
        assert_eq!(run.trouble, Some(Exit::Internal), "{settings:?}");
    }
}

/// Proves less than it was asked for: the property of the instance with N=2.
struct Modest;

impl Runner for Modest {
    fn run(&mut self, job: &Job) -> Execution {
        let less = Job {
            values: Values(vec![("N".to_owned(), 2)]),
            ..job.clone()
        };
        InProcess::default().run(&less)
    }
}

#[test]
fn a_proof_about_fewer_instances_is_none() {
    let text = "
        param N = 2 where N >= 1;
        shared x: int = 0;
        process P[i: 1..N] { a: x := x + 1; }
        invariant most: x <= N;
    ";
    let counter = |settings: &[&str]| Options {
        engine: "counter".to_owned(),
        recheck: true,
        ..options(settings)
    };
    let two = run(text, &counter(&["N=2"]), &mut Modest);
    let most = result(&two, "most");
    assert!(most.verdict == VerdictKind::Proved && most.rechecked);
    assert_eq!(most.scope.phrase(), "at N=2");
    for settings in [&[][..], &["N=3"]] {
        let run = run(text, &counter(settings), &mut Modest);
        assert_eq!(run.trouble, Some(Exit::Internal), "{settings:?}");
        let messages: Vec<&str> = run.diagnostics.iter().map(|d| &*d.message).collect();
        assert!(
            messages.concat().contains("it is about N=2 alone"),
            "{messages:?}"
        );
    }
    // Nor is one about all taken for one about a value, though it is one: the scope would be wrong.
    struct Proud;
    impl Runner for Proud {
        fn run(&mut self, job: &Job) -> Execution {
            let more = Job {
                values: Values::default(),
                ..job.clone()
            };
            InProcess::default().run(&more)
        }
    }
    let run = run(text, &counter(&["N=3"]), &mut Proud);
    assert_eq!(run.trouble, Some(Exit::Internal));
}

#[test]
fn a_parameter_without_default_is_no_obstacle_to_a_claim_for_all() {
    let text = "
        param N where N >= 1;
        shared x: 0..9 = 0;
        process P[i: 1..N] { a: x := 1; }
        invariant low: x < 9;
    ";
    let mut script = Script {
        proved: vec![("counter", "low"), ("counter", "checks")],
        ..Script::default()
    };
    let run = run(text, &options(&[]), &mut script);
    assert_eq!(result(&run, "low").scope.phrase(), "for all N >= 1");
    // What is not proved is looked at in instances, of which none is the default.
    script.proved.pop();
    let run = self::run(text, &options(&[]), &mut script);
    let checks = result(&run, "checks");
    let (code, message) = reason(checks);
    assert_eq!(code, "bounded");
    assert!(
        message.starts_with("holds for N=1..") && message.ends_with(", not proved for every N")
    );
    assert_eq!(checks.shown.as_ref(), checks.holds.last());
    // That may lead nowhere, too. An engine that is asked about the default says that there is none.
    let run = self::run(text, &options(&[]), &mut Silent(|_| true));
    let (code, message) = reason(result(&run, "checks"));
    assert_eq!((code, message), ("integers", "nobody knows"));
    let explicit = Options {
        engine: "explicit".to_owned(),
        ..options(&[])
    };
    let checked = check(text, &explicit, &mut Script::default());
    assert!(matches!(checked, Checked::Rejected(_)), "{checked:?}");
    // Values that `where` excludes are refused by everybody.
    let counter = Options {
        engine: "counter".to_owned(),
        ..options(&["N=0"])
    };
    let checked = check(text, &counter, &mut Script::default());
    assert!(matches!(checked, Checked::Rejected(_)), "{checked:?}");
}

#[test]
fn faults_and_interrupts_end_it() {
    let forget = Script {
        forge: Some(|outcome| outcome.findings.clear()),
        ..Script::default()
    };
    let mut script = forget;
    let run = run(MODEL, &options(&[]), &mut script);
    assert_eq!(run.trouble, Some(Exit::Internal));
    assert_eq!(engines(&script), ["counter"]);
    struct Interrupted;
    impl Runner for Interrupted {
        fn run(&mut self, _: &Job) -> Execution {
            Execution::Stopped {
                by: Stop::Interrupted,
                stats: Stats::default(),
            }
        }
    }
    let run = self::run(MODEL, &options(&[]), &mut Interrupted);
    assert_eq!(run.trouble, Some(Exit::Interrupted));
    assert!(!run.results.is_empty());
}
