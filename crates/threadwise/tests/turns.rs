//! Engines that take turns: who wins depends on the work that each needs, and on nothing else.

use std::collections::BTreeMap;

use threadwise::{
    Checked, Execution, Executor, Exit, Finding, Job, JobOutcome, Options, Plan, Reason,
    ReasonCode, Run, Session, Setting, Stats, Stop, Trace, Turn, Values, VerdictKind,
};
use threadwise_evidence::{Account, Verdict};

const MODEL: &str = "
    param N = 3 where N >= 2;
    shared x: 0..3 = 0;
    process P[i: 1..N] { loop { a: x := 1; b: x := 2; } }
    invariant low: x < 3;
    invariant other: x <= 2;
    liveness often: G F (x == 1);
";

/// What an engine needs for each property, in units of work; what it has no entry for it gives up, when it has done the rest.
type Needs = BTreeMap<&'static str, Vec<(&'static str, u64)>>;

/// Engines that need so much work.
#[derive(Default)]
struct Scripted {
    needs: Needs,
    /// Engines that are in one long operation: they hear of their grant when they are through.
    long: Vec<&'static str>,
    /// The engine whose worker hits a limit when it is waited for.
    limited: Option<(&'static str, Stop)>,
    jobs: Vec<(Job, u64)>,
    begun: Vec<(String, Vec<String>)>,
    ended: Vec<usize>,
    /// How many go on at the same time, at most, with what they were granted last.
    running: Vec<usize>,
    most_running: usize,
}

impl Scripted {
    fn outcome(&self, job: &Job) -> (u64, JobOutcome) {
        let empty = Vec::new();
        let needs = self.needs.get(job.engine.as_str()).unwrap_or(&empty);
        let of = |name: &String| needs.iter().find(|(property, _)| property == name);
        let work = job.properties.iter().filter_map(of).map(|(_, work)| *work);
        let work = work.max().unwrap_or(1);
        let findings = job.properties.iter().map(|name| Finding {
            property: name.clone(),
            verdict: match of(name) {
                Some(_) => Verdict::Proved(None),
                None => Verdict::Unknown(Reason::new(ReasonCode::NoProof, "it has no proof")),
            },
            account: Account::default(),
        });
        let outcome = JobOutcome {
            findings: findings.collect(),
            stats: Stats {
                work: Some(work),
                ..Stats::default()
            },
            complete: false,
        };
        (work, outcome)
    }
}

impl Executor for Scripted {
    fn begin(&mut self, job: &Job) -> usize {
        let properties = job.properties.clone();
        self.begun.push((job.engine.clone(), properties));
        self.jobs.push((job.clone(), 0));
        self.jobs.len() - 1
    }

    fn grant(&mut self, number: usize, work: u64) {
        assert!(self.jobs[number].1 < work, "a grant that grants nothing");
        self.jobs[number].1 = work;
        self.running.push(number);
        self.most_running = self.most_running.max(self.running.len());
    }

    fn wait(&mut self, number: usize) -> Turn {
        assert!(
            self.running.contains(&number),
            "waiting for one that does not go on"
        );
        self.running.retain(|other| *other != number);
        let (job, granted) = &self.jobs[number];
        if let Some((engine, by)) = self.limited
            && job.engine == engine
        {
            let stats = Stats::default();
            return Execution::Stopped { by, stats }.into();
        }
        let (work, outcome) = self.outcome(job);
        if *granted < work && !self.long.contains(&job.engine.as_str()) {
            return Turn::Paused;
        }
        Execution::Finished(outcome).into()
    }

    fn hurry(&mut self, number: usize) -> Option<Execution> {
        let (job, _) = &self.jobs[number];
        Some(Execution::Finished(self.outcome(job).1))
    }

    fn end(&mut self, number: usize) -> Option<f64> {
        self.ended.push(number);
        self.running.retain(|other| *other != number);
        Some(0.5)
    }
}

fn run(script: &mut Scripted, threads: u16) -> Run {
    let session = Session::new("model.tw", MODEL);
    let options = Options {
        settings: vec!["N=6".parse::<Setting>().unwrap()],
        properties: vec!["low".to_owned(), "other".to_owned()],
        recheck: false,
        threads,
        ..Options::default()
    };
    let plan = Plan::new(session.program().unwrap(), &options).unwrap();
    let values = Values(vec![("N".to_owned(), 6)]);
    match session.check_instance(&plan, &values, script) {
        Checked::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

/// Which engine decided each property.
fn winners(run: &Run) -> Vec<(&str, &str)> {
    let results = run.results.iter();
    results
        .map(|result| {
            let engine = match result.verdict {
                VerdictKind::Unknown => "",
                _ => result.engine.as_str(),
            };
            (result.property.as_str(), engine)
        })
        .collect()
}

fn all(work: u64) -> Vec<(&'static str, u64)> {
    ["checks", "low", "other"].map(|name| (name, work)).to_vec()
}

#[test]
fn the_winner_does_not_depend_on_threads_or_on_where_engines_look() {
    let cases: [(Needs, [&str; 3]); 6] = [
        // The first in order, if all are done in the first round.
        (
            BTreeMap::from([
                ("counter", all(10)),
                ("explicit", all(10)),
                ("forward", all(5)),
            ]),
            ["counter"; 3],
        ),
        // A larger share is more than a place in the order.
        (
            BTreeMap::from([("explicit", all(9_000_000)), ("forward", all(9_000_000))]),
            ["forward"; 3],
        ),
        (
            BTreeMap::from([("explicit", all(2_000_000)), ("forward", all(9_000_000))]),
            ["explicit"; 3],
        ),
        // A head start that is used up is not granted again.
        (
            BTreeMap::from([("counter", all(700_000)), ("forward", all(9_000_000))]),
            ["counter"; 3],
        ),
        // Who joins late may win.
        (
            BTreeMap::from([("split", all(3_000_000)), ("forward", all(90_000_000))]),
            ["split"; 3],
        ),
        // Each property by whoever has it first.
        (
            BTreeMap::from([
                ("counter", vec![("checks", 10), ("low", 20)]),
                ("forward", all(40_000_000)),
                ("split", vec![("other", 1_000_000)]),
            ]),
            ["counter", "counter", "split"],
        ),
    ];
    for (needs, expected) in cases {
        for threads in [1, 2, 3, 8] {
            for long in [&[][..], &["forward"], &["explicit", "split"]] {
                let mut script = Scripted {
                    needs: needs.clone(),
                    long: long.to_vec(),
                    ..Scripted::default()
                };
                let run = run(&mut script, threads);
                let [checks, low, other] = expected;
                let expected = [("checks", checks), ("low", low), ("other", other)];
                assert_eq!(winners(&run), expected, "{threads} threads, {long:?}");
                assert!(script.most_running <= usize::from(threads));
                // Nobody is left behind, and what all took is counted.
                assert_eq!(script.ended.len(), script.jobs.len());
                let cpu = 0.5 * script.jobs.len() as f64;
                assert_eq!(run.results[0].stats.cpu_seconds, Some(cpu));
                // Who joins later is asked for what was open then, whoever runs beside it.
                let split = script.begun.iter().find(|(engine, _)| engine == "split");
                if let (Some((_, asked)), "split") = (split, other) {
                    let open: &[&str] = if low == "counter" {
                        &["other"]
                    } else {
                        &["checks", "low", "other"]
                    };
                    assert_eq!(asked, open);
                }
            }
        }
    }
}

#[test]
fn the_end_of_the_time_is_the_end_for_all_and_of_the_memory_for_one() {
    let needs: Needs = BTreeMap::from([
        ("explicit", vec![("low", 80_000_000)]),
        ("forward", all(40_000_000)),
    ]);
    let script = |by: Stop| Scripted {
        needs: needs.clone(),
        limited: Some(("counter", by)),
        ..Scripted::default()
    };
    // What the others have found by then is taken.
    let mut time = script(Stop::Time);
    let run = self::run(&mut time, 2);
    assert_eq!(
        winners(&run),
        [("checks", ""), ("low", "explicit"), ("other", "")]
    );
    let reason = run.results[0].reason.as_ref().unwrap();
    assert_eq!(reason.code.as_str(), "timeout");
    assert_eq!(run.results[0].scope.phrase(), "at N=6");
    assert_eq!(time.ended.len(), time.jobs.len());
    let mut memory = script(Stop::Memory);
    let run = self::run(&mut memory, 1);
    let forward = ["checks", "low", "other"].map(|name| (name, "forward"));
    assert_eq!(winners(&run), forward);
    let mut interrupted = script(Stop::Interrupted);
    let run = self::run(&mut interrupted, 1);
    assert_eq!(run.trouble, Some(Exit::Interrupted));
    assert_eq!(interrupted.ended.len(), interrupted.jobs.len());
    let traces: Vec<&Option<Trace>> = run.results.iter().map(|result| &result.trace).collect();
    assert!(traces.iter().all(|trace| trace.is_none()));
}

#[test]
fn the_plan_is_told() {
    let mut script = Scripted {
        needs: BTreeMap::from([("forward", all(10))]),
        ..Scripted::default()
    };
    let run = run(&mut script, 1);
    let plan = run.results[0].plan.as_ref().unwrap();
    assert!(plan.starts_with("counter (for all instances"), "{plan}");
    assert!(plan.contains("forward (share 6)"), "{plan}");
}

#[test]
fn a_violation_elsewhere_is_none_here() {
    let text = "
        param N = 2 where N >= 2;
        shared x: 0..9 = 0;
        process P[i: 1..N] { loop { a: atomic { await x < 2; x := x + 1; } b: atomic { await x > 0; x := x - 1; } } }
        invariant few: N > 4 || x < 2;
    ";
    let session = Session::new("few.tw", text);
    for (values, verdict) in [("N=4", VerdictKind::Violated), ("N=5", VerdictKind::Proved)] {
        for recheck in [true, false] {
            let options = Options {
                settings: vec![values.parse::<Setting>().unwrap()],
                recheck,
                ..Options::default()
            };
            let report = session.check(&options).unwrap();
            let few = &report.runs[0].results[1];
            assert_eq!(few.verdict, verdict, "{values}");
            if let Some(trace) = &few.trace {
                assert_eq!(trace.params, BTreeMap::from([("N".to_owned(), 4)]));
            }
        }
    }
}
