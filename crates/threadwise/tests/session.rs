//! A session with an executor that does what a test wants: what becomes of an engine's answers.

use std::sync::Arc;

use threadwise::{
    AskStop, Checked, EngineOptions, Execution, Exit, Finding, InProcess, Job, JobOutcome, Only,
    Options, Plan, Report, Run, Runner, Session, Stats, Stop, Trace, Values, VerdictKind, Whole,
};
use threadwise_evidence::dag::Dag;
use threadwise_evidence::{Account, Certificate, Claim, Reason, ReasonCode, Vacuity, Verdict};
use threadwise_lang::print::Layout;
use threadwise_lang::program::Note;
use threadwise_lang::source::SourceMap;

const BROKEN: &str = "\
shared x: 0..9 = 0;
process P[i: 1..2] { a: x := 1; b: x := 2; }
invariant low: x < 2;
invariant high: x < 9;
";

/// Answers every job in the same way.
struct Answer(Execution);

impl Runner for Answer {
    fn run(&mut self, _job: &Job) -> Execution {
        self.0.clone()
    }
}

/// Lets the engine work, and then changes its answer.
struct Forger(fn(&mut JobOutcome));

impl Runner for Forger {
    fn run(&mut self, job: &Job) -> Execution {
        match InProcess::default().run(job) {
            Execution::Finished(mut outcome) => {
                self.0(&mut outcome);
                Execution::Finished(outcome)
            }
            other => panic!("{other:?}"),
        }
    }
}

fn run(options: &Options, runner: &mut dyn Runner) -> Run {
    let session = Session::new("broken.tw", BROKEN);
    let plan = Plan::new(session.program().unwrap(), options).unwrap();
    match session.check_instance(&plan, &Values::default(), &mut Whole::new(runner)) {
        Checked::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

fn trace_of(outcome: &mut JobOutcome) -> &mut Trace {
    let traces = outcome
        .findings
        .iter_mut()
        .filter_map(|f| match &mut f.verdict {
            Verdict::Violated(trace) => Some(trace),
            _ => None,
        });
    traces.last().unwrap()
}

#[test]
fn an_honest_engine_is_believed_after_its_trace_replayed() {
    let run = run(&Options::default(), &mut InProcess::default());
    let low = &run.results[1];
    assert_eq!(
        (low.property.as_str(), low.verdict),
        ("low", VerdictKind::Violated)
    );
    assert!(low.rechecked && low.trace.is_some());
    assert_eq!(run.results[2].verdict, VerdictKind::Proved);
    assert!(run.results[2].rechecked && run.results[2].certificate.is_some());
    assert_eq!(run.exit(), Exit::Violated);
}

#[test]
fn a_trace_that_does_not_replay_is_an_internal_error() {
    let forgeries: [fn(&mut JobOutcome); 5] = [
        |outcome| trace_of(outcome).steps.clear(),
        |outcome| trace_of(outcome).steps[0].process = "P[7]".to_owned(),
        |outcome| trace_of(outcome).property = Some("high".to_owned()),
        |outcome| trace_of(outcome).steps.swap(0, 1),
        |outcome| {
            // A violation of the property that holds.
            let trace = trace_of(outcome).clone();
            outcome.findings[2].verdict = Verdict::Violated(Trace {
                property: Some("high".to_owned()),
                ..trace
            });
        },
    ];
    for forgery in forgeries {
        let run = run(&Options::default(), &mut Forger(forgery));
        assert_eq!(run.exit(), Exit::Internal, "{run:?}");
        assert!(run.diagnostics[0].message.contains("internal error"));
    }
}

#[test]
fn a_certificate_that_proves_nothing_is_an_internal_error() {
    fn certificate_of(outcome: &mut JobOutcome) -> &mut Certificate {
        match &mut outcome.findings[2].verdict {
            Verdict::Proved(Some(certificate)) => certificate,
            other => panic!("{other:?}"),
        }
    }
    let forgeries: [fn(&mut JobOutcome); 4] = [
        |outcome| certificate_of(outcome).claim = Claim::Inductive(Dag::leaf(true)),
        |outcome| certificate_of(outcome).claim = Claim::Inductive(Dag::leaf(false)),
        |outcome| certificate_of(outcome).property = "low".to_owned(),
        |outcome| certificate_of(outcome).model = Some("0".to_owned()),
    ];
    for forgery in forgeries {
        let run = run(&Options::default(), &mut Forger(forgery));
        assert_eq!(run.exit(), Exit::Internal, "{run:?}");
        assert!(run.diagnostics[0].message.contains("is refused"), "{run:?}");
    }
    let options = Options {
        recheck: false,
        certificates: true,
        ..Options::default()
    };
    let unchecked = self::run(&options, &mut Forger(forgeries[0]));
    assert_eq!(unchecked.results[2].verdict, VerdictKind::Proved);
    assert!(!unchecked.results[2].rechecked);
}

#[test]
fn an_engine_that_forgets_a_property_is_an_internal_error() {
    let run = run(
        &Options::default(),
        &mut Forger(|outcome| outcome.findings.truncate(1)),
    );
    assert_eq!(run.exit(), Exit::Internal);
    let internal = |outcome: &mut JobOutcome| {
        outcome.findings[1] = Finding {
            property: "low".to_owned(),
            verdict: Verdict::Unknown(Reason::new(ReasonCode::Internal, "lost its way")),
            account: Default::default(),
        };
    };
    let run = self::run(&Options::default(), &mut Forger(internal));
    assert_eq!(run.exit(), Exit::Internal);
}

#[test]
fn a_crash_is_an_internal_error_and_an_interrupt_is_not() {
    let crash = Execution::Crashed("bang".to_owned());
    let crashed = run(&Options::default(), &mut Answer(crash));
    assert_eq!(crashed.exit(), Exit::Internal);
    assert!(crashed.diagnostics[0].message.contains("bang"));
    for (by, exit, code) in [
        (Stop::Interrupted, Exit::Interrupted, "interrupted"),
        (Stop::Time, Exit::Unknown, "timeout"),
        (Stop::TotalTime, Exit::Unknown, "timeout"),
        (Stop::Memory, Exit::Unknown, "memory"),
    ] {
        let stats = Stats {
            states: Some(7),
            ..Stats::default()
        };
        let run = run(
            &Options::default(),
            &mut Answer(Execution::Stopped { by, stats }),
        );
        assert_eq!(run.exit(), exit);
        for result in &run.results {
            assert_eq!(result.verdict, VerdictKind::Unknown);
            assert_eq!(result.reason.as_ref().unwrap().code.as_str(), code);
            assert_eq!(result.stats.states, Some(7));
        }
    }
}

#[test]
fn without_rechecking_a_result_says_so() {
    let options = Options {
        recheck: false,
        ..Options::default()
    };
    let run = run(&options, &mut InProcess::default());
    assert!(!run.results[1].rechecked);
    assert_eq!(
        run.results[1].reason.as_ref().unwrap().code.as_str(),
        "no-recheck"
    );
}

/// Lets the engine work, and ends the recheck at its n-th question whether to stop.
struct Hasty(Stop, u32);

impl Runner for Hasty {
    fn run(&mut self, job: &Job) -> Execution {
        InProcess::default().run(job)
    }

    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        let left = std::cell::Cell::new(self.1);
        check(&|| {
            let before = left.get();
            left.set(before.saturating_sub(1));
            (before <= 1).then_some(self.0)
        });
        Some(0.25)
    }
}

#[test]
fn after_a_limit_the_advice_about_wide_inputs_comes_second() {
    let model = "shared x: 0..2000000000 = 0;\nprocess P {\n    a: havoc x;\n}\n";
    let mut program = threadwise_lang::check(model).program.unwrap();
    let havoc = &mut program.templates[0].body[0];
    havoc.note = Some(Note::Wide("bound the input".to_owned()));
    (havoc.span.start, havoc.span.end) = (6, 7);
    program.source = Arc::new(SourceMap::foreign("program.c", &"\n".repeat(9)));
    let layout = Layout::of(&program);
    let session = Session::imported("program.c", program, layout, Vec::new());
    let options = Options {
        seconds: Some(2.0),
        memory: Some(256 << 20),
        ..Options::default()
    };
    let plan = Plan::new(session.program().unwrap(), &options).unwrap();
    for (by, raise) in [
        (Stop::Time, "--timeout"),
        (Stop::TotalTime, "--total-timeout"),
        (Stop::Memory, "--memory"),
    ] {
        let stats = Stats::default();
        let answer = Answer(Execution::Stopped { by, stats });
        let checked = session.check_instance(&plan, &Values::default(), &mut Whole::new(answer));
        let Checked::Run(run) = checked else {
            panic!("{checked:?}");
        };
        let reason = run.results[0].reason.as_ref().unwrap();
        let next = reason.next.as_deref().unwrap();
        assert!(next.contains(raise), "{by:?}: {next}");
        assert!(next.ends_with("; or bound the input of line 7"), "{next}");
    }
}

#[test]
fn a_proof_whose_recheck_is_cut_short_is_none() {
    let options = Options {
        seconds: Some(2.0),
        memory: Some(256 << 20),
        ..Options::default()
    };
    for (stop, code, message, exit) in [
        (
            Stop::Time,
            "timeout",
            "the time limit of 2 s was reached before",
            Exit::Violated,
        ),
        (
            Stop::TotalTime,
            "timeout",
            "whole invocation was reached before",
            Exit::Violated,
        ),
        (
            Stop::Memory,
            "memory",
            "256 MiB was reached before",
            Exit::Violated,
        ),
        (
            Stop::Interrupted,
            "interrupted",
            "interrupted before",
            Exit::Interrupted,
        ),
    ] {
        let run = run(&options, &mut Hasty(stop, 1));
        assert_eq!(run.exit(), exit);
        let [checks, low, high] = run.results.as_slice() else {
            panic!("{run:?}");
        };
        assert_eq!(low.verdict, VerdictKind::Violated);
        for result in [checks, high] {
            assert_eq!(result.verdict, VerdictKind::Unknown, "{stop:?}");
            assert!(!result.rechecked && result.certificate.is_none());
            assert_eq!(result.stats.recheck_seconds, Some(0.25));
            let reason = result.reason.as_ref().unwrap();
            assert_eq!(reason.code.as_str(), code);
            assert!(reason.message.contains(message), "{}", reason.message);
            assert!(reason.message.ends_with("before the proof was rechecked"));
        }
    }
    // One that ends in time is a proof.
    let run = run(&options, &mut Hasty(Stop::Time, u32::MAX));
    assert_eq!(run.results[2].verdict, VerdictKind::Proved);
    assert!(run.results[2].rechecked);
    assert_eq!(run.results[2].stats.recheck_seconds, Some(0.25));
}

#[test]
fn the_worst_exit_status_wins() {
    use Exit::*;
    // In this order each wins over those before it.
    let order = [Proved, Unknown, Violated, Input, Internal, Interrupted];
    for (i, low) in order.iter().enumerate() {
        for high in &order[i..] {
            assert_eq!(low.and(*high), *high);
            assert_eq!(high.and(*low), *high);
        }
    }
    assert_eq!(order.map(Exit::code), [0, 3, 1, 2, 4, 130]);
}

#[test]
fn a_session_checks_in_this_process() {
    let session = Session::new("broken.tw", BROKEN);
    let report: Report = session.check(&Options::default()).unwrap();
    assert_eq!(report.exit, 1);
    let options = Options {
        properties: vec!["high".to_owned()],
        only: Some(Only::Safety),
        ..Options::default()
    };
    assert_eq!(session.check(&options).unwrap().exit, 0);
    let wrong = Session::new("wrong.tw", "shared x;");
    let report = wrong.check(&Options::default()).unwrap();
    assert_eq!(report.exit, 2);
    assert!(!report.runs[0].diagnostics.is_empty());
}

#[test]
fn processes_can_be_started_beyond_the_first_room() {
    // Ten children, while room is made for four at first.
    let text = "\
shared n: 0..10 = 0;
process Child[] { a: skip; }
process P { loop { a: atomic { await n < 10; n := n + 1; start Child; } } }
invariant few: n <= 10;
";
    let session = Session::new("start.tw", text);
    let report = session.check(&Options::default()).unwrap();
    assert_eq!(report.exit, 0, "{report:?}");
}

const WAITING: &str = "\
param N = 4 where N >= 2;
param M = 2 where M >= 2;
shared x: 0..M = 0;
process P[i: 1..N] { loop { a: x := 1; b: x := 2; } }
liveness often: G F (x == 1);
liveness seldom: F G (x == 1);
";

/// Notes every job, and proves everything with something to say.
struct Learner(Vec<Job>);

impl Runner for Learner {
    fn run(&mut self, job: &Job) -> Execution {
        self.0.push(job.clone());
        let finding = |property: &String| Finding {
            property: property.clone(),
            verdict: Verdict::Proved(None),
            account: Account {
                notes: vec!["exposed for the property: P[1] at a".to_owned()],
                vacuous: Some(Vacuity::NoFairRun),
                ..Account::default()
            },
        };
        Execution::Finished(JobOutcome {
            findings: job.properties.iter().map(finding).collect(),
            stats: Stats::default(),
            complete: false,
        })
    }
}

#[test]
fn the_instance_to_learn_from_is_part_of_the_job() {
    let session = Session::new("waiting.tw", WAITING);
    let options = Options {
        engine: "fair-local-liveness-b".to_owned(),
        only: Some(Only::Liveness),
        engine_options: EngineOptions::default().value("learn", "N=3"),
        ..Options::default()
    };
    let plan = Plan::new(session.program().unwrap(), &options).unwrap();
    let mut learner = Whole::new(Learner(Vec::new()));
    let Checked::Run(run) = session.check_instance(&plan, &Values::default(), &mut learner) else {
        panic!("it is checked");
    };
    // Each property by itself.
    let asked: Vec<String> = learner.runner.0.iter().map(words).collect();
    assert_eq!(
        asked,
        [
            "often at N=4, M=2 from N=3, M=2",
            "seldom at N=4, M=2 from N=3, M=2",
        ]
    );
    let result = &run.results[0];
    assert_eq!(result.notes, ["exposed for the property: P[1] at a"]);
    assert_eq!(result.vacuous, Some(Vacuity::NoFairRun));
    let json = serde_json::to_value(result).unwrap();
    assert_eq!(json["vacuous"]["kind"], "no_fair_run");
    // The engine says what it has learnt there.
    let mut engine = InProcess::default();
    let Execution::Finished(outcome) = engine.run(&learner.runner.0[0]) else {
        panic!("it is decided");
    };
    let rounds = &outcome.findings[0].account.rounds;
    assert!(rounds[0].text.ends_with("learnt at N=3, M=2"), "{rounds:?}");
}

/// What a job is about.
fn words(job: &Job) -> String {
    let names = job.properties.join(" ");
    match &job.learn {
        Some(learn) => format!("{names} at {} from {learn}", job.values),
        None => format!("{names} at {}", job.values),
    }
}

#[test]
fn what_never_happens_is_told_in_terms_of_the_source() {
    const QUIET: &str = "\
param N = 4;
shared x: bool = false;
process P[i: 1..N] { loop { a: skip; b: skip; } }
liveness heard: (forall i in P: G (P[i] at b && x -> F P[i] at a)) && G (x -> F !x);
";
    struct Quiet;
    impl Runner for Quiet {
        fn run(&mut self, job: &Job) -> Execution {
            let finding = |property: &String| Finding {
                property: property.clone(),
                verdict: Verdict::Proved(None),
                account: Account {
                    vacuous: Some(Vacuity::NeverTriggered {
                        conjuncts: vec![0, 1, 3, 4, 99],
                        triggers: Vec::new(),
                    }),
                    ..Account::default()
                },
            };
            Execution::Finished(JobOutcome {
                findings: job.properties.iter().map(finding).collect(),
                stats: Stats::default(),
                complete: false,
            })
        }
    }
    let session = Session::new("quiet.tw", QUIET);
    let options = Options {
        only: Some(Only::Liveness),
        settings: vec!["N=4".parse().unwrap()],
        ..Options::default()
    };
    let plan = Plan::new(session.program().unwrap(), &options).unwrap();
    let checked = session.check_instance(&plan, &plan.instances[0], &mut Whole::new(Quiet));
    let Checked::Run(run) = checked else {
        panic!("it is checked");
    };
    assert_eq!(
        run.results[0].vacuous.as_ref().unwrap().to_string(),
        "this never happens: `P[i] at b && x` for i = 1,2,4; `x`"
    );
}

#[test]
fn a_small_instance_that_does_not_exist_is_an_error_and_a_limit_ends_it() {
    let session = Session::new("waiting.tw", WAITING);
    let mut options = Options {
        engine: "local-liveness".to_owned(),
        engine_options: EngineOptions::default().value("learn", "N=1"),
        ..Options::default()
    };
    let program = session.program().unwrap();
    let plan = Plan::new(program, &options).unwrap();
    let checked = session.check_instance(
        &plan,
        &Values::default(),
        &mut Whole::new(Learner(Vec::new())),
    );
    assert!(matches!(checked, Checked::Rejected(_)), "{checked:?}");
    options.engine_options = EngineOptions::default().value("learn", "N=2");
    let plan = Plan::new(program, &options).unwrap();
    let stopped = Execution::Stopped {
        by: Stop::Memory,
        stats: Stats::default(),
    };
    let checked =
        session.check_instance(&plan, &Values::default(), &mut Whole::new(Answer(stopped)));
    let Checked::Run(run) = checked else {
        panic!("it is checked");
    };
    assert_eq!(
        run.results[1].reason.as_ref().unwrap().code.as_str(),
        "memory"
    );
    // What the engine does not take is not run.
    assert_eq!(
        run.results[0].reason.as_ref().unwrap().code.as_str(),
        "unsupported"
    );
}

#[test]
fn liveness_is_decided_in_this_process() {
    let session = Session::new("waiting.tw", WAITING);
    let report = session.check(&Options::default()).unwrap();
    let results = &report.runs[0].results;
    let verdicts: Vec<VerdictKind> = results.iter().map(|result| result.verdict).collect();
    use VerdictKind::{Proved, Violated};
    assert_eq!(verdicts, [Proved, Proved, Violated]);
    assert!(results[1].rechecked && results[1].scope.phrase().starts_with("for all"));
    let seldom = &results[2];
    assert!(seldom.rechecked && seldom.trace.as_ref().unwrap().loop_from.is_some());
    // A run that does not go on for ever, or is not one, is a fault of the engine.
    let forgeries: [fn(&mut JobOutcome); 2] = [
        |outcome| {
            if outcome.findings[0].property == "seldom" {
                trace_of(outcome).loop_from = None;
            }
        },
        |outcome| {
            if outcome.findings[0].property == "seldom" {
                trace_of(outcome).steps.pop();
            }
        },
    ];
    let plan = Plan::new(session.program().unwrap(), &Options::default()).unwrap();
    for forgery in forgeries {
        let checked =
            session.check_instance(&plan, &Values::default(), &mut Whole::new(Forger(forgery)));
        let Checked::Run(run) = checked else {
            panic!("it is checked");
        };
        assert_eq!(run.exit(), Exit::Internal, "{run:?}");
    }
}
