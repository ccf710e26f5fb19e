//! Liveness from the command line: verdicts, runs without end, and which engine takes what.

use crate::common::{LOCK, Place, result};
use serde_json::Value;

/// A lock whose fairness suffices for `access`, and the same property with less.
fn fair() -> String {
    let overtaken = LOCK.replace("liveness access under", "liveness overtaken under");
    format!(
        "{overtaken}\
fairness entry: strong forall i in P: if P[i] at enter && !busy then P[i] at critical;
liveness access under scheduling, entry: forall i in P: G (P[i] at enter -> F P[i] at critical);
liveness passed_over: forall i in P: G (P[i] at enter -> F P[i] at critical);
"
    )
}

#[test]
fn a_property_is_proved_with_fairness_and_violated_without() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let (report, ran) = place.json(&["fair.tw", "--set", "N=2", "--trace", "traces"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let access = result(&report, "access");
    assert_eq!(access["verdict"], "proved");
    assert_eq!(access["kind"], "liveness");
    assert_eq!(access["engine"], "liveness-monolithic");
    assert_eq!(access["rechecked"], true);
    assert_eq!(result(&report, "checks")["engine"], "explicit");
    let overtaken = result(&report, "overtaken");
    assert_eq!(overtaken["verdict"], "violated");
    assert_eq!(overtaken["rechecked"], true);
    let trace = &overtaken["trace"];
    let from = trace["loop_from"].as_u64().unwrap() as usize;
    assert!(from < trace["steps"].as_array().unwrap().len());
    let lasso = &trace["lasso"];
    assert!(lasso["violated"][0]["values"]["i"].is_u64(), "{lasso}");
    let scheduling = &lasso["fairness"][0];
    assert_eq!(scheduling["declaration"], "scheduling");
    assert_eq!(scheduling["because"], "scheduled");
    assert_eq!(scheduling["met"].as_array().unwrap().len(), 2);
    // What would rule it out is declared.
    assert_eq!(overtaken["remedies"][0]["declaration"], "entry");
    let names = |property: &str| {
        let remedies = result(&report, property)["remedies"].as_array().unwrap();
        remedies.iter().any(|r| r["declaration"] == "entry")
    };
    assert!(names("passed_over"));
    place
        .run(&["replay", "fair.tw", "traces/fair.overtaken.N=2.json"])
        .expect(0)
        .says("\n+->    2  |")
        .says("the run is fair:\n    scheduling: P[1,2] are scheduled in the loop")
        .complains("for ever, and `overtaken` is violated");
}

#[test]
fn a_run_without_end_that_was_changed_is_refused() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let args = ["--set", "N=2", "--only", "liveness"];
    let (report, _) = place.json(&[&["lock.tw"], &args[..]].concat());
    let trace = &result(&report, "access")["trace"];
    let refused = |change: &dyn Fn(&mut Value), message: &str| {
        let mut trace = trace.clone();
        change(&mut trace);
        place.file("t.json", trace.to_string());
        let ran = place.run(&["replay", "lock.tw", "t.json"]).expect(4);
        ran.complains(message);
    };
    place.file("t.json", trace.to_string());
    place.run(&["replay", "lock.tw", "t.json"]).expect(0);
    let waiting = trace["lasso"]["violated"][0]["values"]["i"].clone();
    let waiting = format!("P[{waiting}]");
    let from = trace["loop_from"].as_u64().unwrap() as usize;
    refused(
        &|trace| {
            // Who waits is not scheduled any more: the loop still closes, but is not fair.
            let steps = trace["steps"].as_array_mut().unwrap();
            let stem: Vec<Value> = steps.drain(..from).collect();
            steps.retain(|step| step["process"] != waiting.as_str());
            steps.splice(0..0, stem);
            trace["lasso"] = Value::Null;
        },
        "the run is not fair by `scheduling`",
    );
    refused(
        &|trace| trace["loop_from"] = Value::Null,
        "only in runs without end",
    );
    refused(
        &|trace| trace["loop_from"] = trace["steps"].as_array().unwrap().len().into(),
        "the loop has no step",
    );
    refused(
        &|trace| trace["lasso"]["violated"][0]["values"]["i"] = 7.into(),
        "not for the reasons that the trace gives",
    );
}

#[test]
fn engines_take_one_kind_of_properties() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, ran) = place.json(&["lock.tw", "--set", "N=2", "--engine", "split"]);
    assert_eq!(ran.status, 3);
    let access = result(&report, "access");
    assert_eq!(access["verdict"], "unknown");
    assert_eq!(access["engine"], "split");
    assert_eq!(access["reason"]["code"], "unsupported");
    assert_eq!(result(&report, "mutex")["verdict"], "proved");
    let engine = ["--engine", "liveness-monolithic"];
    let (report, ran) = place.json(&[&["lock.tw", "--set", "N=2"], &engine[..]].concat());
    assert_eq!(ran.status, 1);
    assert_eq!(result(&report, "access")["verdict"], "violated");
    for property in ["checks", "mutex", "deadlock_free"] {
        let result = result(&report, property);
        assert_eq!(result["verdict"], "unknown");
        assert_eq!(result["reason"]["code"], "unsupported");
    }
    place
        .run(&["engines"])
        .expect(0)
        .says("liveness-monolithic     Fair cycles of the whole program");
}

#[test]
fn the_text_of_a_run_without_end() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let ran = place.run(&[
        "check",
        "fair.tw",
        "--set",
        "N=2",
        "--property",
        "overtaken",
    ]);
    let ran = ran.expect(1);
    ran.says("steps for ever")
        .says("\n  +--       for ever\n")
        .says("and for ever again from")
        .says("`overtaken` does not hold for i = ")
        .says("`entry` (declared, not assumed by `overtaken`) would rule this run out\n");
}

#[test]
fn each_liveness_property_has_its_own_time() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let ran = place.run(&[
        "check",
        "fair.tw",
        "--only",
        "liveness",
        "--set",
        "N=200",
        "--timeout",
        "0.01",
    ]);
    let timeouts = ran
        .stdout
        .matches("the time limit of 0.01 s was reached")
        .count();
    assert_eq!(timeouts, 3, "{ran:?}");
    assert!(!ran.stdout.contains("--symmetry"), "{ran:?}");
}

#[test]
fn learning_needs_an_instance() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let args = [
        "check",
        "fair.tw",
        "--only",
        "liveness",
        "--engine",
        "fair-local-liveness-b",
    ];
    place
        .run(&[&args[..], &["--learn", "N=1"]].concat())
        .expect(2)
        .complains("where");
}

#[test]
fn every_engine_for_liveness_agrees_and_its_evidence_is_checked() {
    let place = Place::new();
    place.file("fair.tw", fair());
    for engine in [
        "liveness-monolithic",
        "local-liveness",
        "fair-local-liveness-a",
        "fair-local-liveness-b",
    ] {
        let common = ["fair.tw", "--set", "N=2", "--only", "liveness"];
        let directory = format!("proofs/{engine}");
        let more = ["--engine", engine, "--certificate", &directory];
        let (report, ran) = place.json(&[&common[..], &more].concat());
        assert_eq!(ran.status, 1, "{ran:?}");
        for (property, verdict) in [
            ("access", "proved"),
            ("overtaken", "violated"),
            ("passed_over", "violated"),
        ] {
            let result = result(&report, property);
            assert_eq!(result["verdict"], verdict, "{engine}, {property}");
            assert_eq!(result["rechecked"], true, "{engine}, {property}");
            assert_eq!(result["engine"], engine);
        }
        let certificate = format!("{directory}/fair.access.N=2.cert.json");
        place.run(&["certify", "fair.tw", &certificate]).expect(0);
        // It proves this property, and not the one with less fairness.
        let other = [
            "certify",
            "fair.tw",
            &certificate,
            "--property",
            "overtaken",
        ];
        place.run(&other).expect(4);
    }
}

#[test]
fn what_is_learnt_helps_at_another_instance() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let args = [
        "check",
        "fair.tw",
        "--property",
        "access",
        "--only",
        "liveness",
        "--set",
        "N=4",
    ];
    let engine = ["--engine", "fair-local-liveness-b", "--verbose"];
    let alone = place
        .run(&[&args[..], &engine, &["--no-learn"]].concat())
        .expect(0);
    assert!(!alone.stdout.contains("learnt"), "{alone:?}");
    assert!(!alone.stdout.contains(" 0 refinements"), "{alone:?}");
    // With three processes if nothing else is said.
    for asked in [&[][..], &["--learn", "N=3"]] {
        let learnt = place.run(&[&args[..], &engine, asked].concat()).expect(0);
        learnt.says("learnt at N=3").says(" 0 refinements");
    }
    // Whatever is learnt, an instance that violates the property is found out.
    let args = [
        "check",
        "fair.tw",
        "--property",
        "overtaken",
        "--only",
        "liveness",
        "--set",
        "N=3",
    ];
    place
        .run(&[&args[..], &engine, &["--learn", "N=2"]].concat())
        .expect(1);
}

/// Proofs of nothing, and one of something.
const VACUOUS: &str = "\
shared x: bool = true;
process P[i: 1..2] {
    loop {
        idle: stay;
        enter: atomic { await x; x := false; }
        leave: x := true;
    }
}
process Failing { k: atomic { assert x || !x; } }
fairness scheduling: unconditional;
fairness absurd: weak x && !x;
fairness hopeless: strong if true then x && P[1] at leave;
liveness contradicted under scheduling, absurd: G F P[1] at leave;
liveness unanswered under scheduling, hopeless: G F P[1] at leave;
liveness untriggered under scheduling: forall i in P: G (P[i] at leave && x -> F P[i] at idle);
liveness something under scheduling: forall i in P: G (P[i] at leave -> F P[i] at idle);
";

#[test]
fn a_proof_of_nothing_says_so() {
    let place = Place::new();
    place.file("vacuous.tw", VACUOUS);
    for engine in ["liveness-monolithic", "local-liveness"] {
        let (report, ran) = place.json(&["vacuous.tw", "--only", "liveness", "--engine", engine]);
        assert_eq!(ran.status, 0, "{ran:?}");
        for property in ["contradicted", "unanswered"] {
            let vacuous = &result(&report, property)["vacuous"];
            assert_eq!(vacuous["kind"], "no_fair_run", "{engine}: {property}");
        }
        assert!(
            result(&report, "something").get("vacuous").is_none(),
            "{engine}"
        );
    }
    let (report, _) = place.json(&["vacuous.tw", "--only", "liveness"]);
    let vacuous = &result(&report, "untriggered")["vacuous"];
    assert_eq!(vacuous["kind"], "never_triggered");
    assert!(
        vacuous["triggers"][0]
            .as_str()
            .unwrap()
            .contains("P[i] at leave && x")
    );
}

/// The same of proofs for all values. Where there may be nobody, what is shown of everybody says nothing about runs.
#[test]
fn a_proof_of_nothing_for_all_values_says_so() {
    let place = Place::new();
    let text = "param N = 2 where N >= LEAST;
        shared on: bool = false;
        process Lamp[i: 1..N] { loop { wait: on := true; rest: skip; } }
        process Clock { loop { tick: skip; } }
        fairness scheduling: unconditional;
        fairness never: weak false;
        liveness absurd under never: forall i in Lamp: F on;
        liveness pointless under scheduling: forall i in Lamp: G (Lamp[i] at done -> F on);
        liveness lit under scheduling: forall i in Lamp: F Lamp[i] at rest;";
    for (least, absurd) in [("1", "no_fair_run"), ("0", "")] {
        place.file("lamps.tw", text.replace("LEAST", least));
        let (report, ran) = place.json(&["lamps.tw", "--only", "liveness", "--engine", "ranking"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let kind = |property: &str| {
            let vacuous = &result(&report, property)["vacuous"];
            vacuous["kind"].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(kind("absurd"), absurd, "N >= {least}");
        assert_eq!(kind("pointless"), "never_triggered");
        assert_eq!(kind("lit"), "");
        let triggers = &result(&report, "pointless")["vacuous"]["triggers"];
        assert_eq!(triggers[0], "`Lamp[i] at done`");
    }
}

#[test]
fn a_program_that_always_fails_has_no_fair_run() {
    let place = Place::new();
    let text = "shared k: 0..3 = 0; process S { loop { up: k := k + 1; } }
        fairness scheduling: unconditional;
        liveness grows under scheduling: F (k > 5);";
    place.file("fails.tw", text);
    let (report, _) = place.json(&["fails.tw", "--only", "liveness"]);
    let grows = result(&report, "grows");
    assert_eq!(grows["verdict"], "proved");
    assert_eq!(grows["vacuous"]["kind"], "no_fair_run");
}

#[test]
fn a_proof_of_liveness_is_told_as_ranks() {
    let place = Place::new();
    place.file("fair.tw", fair());
    let common = [
        "check",
        "fair.tw",
        "--set",
        "N=3",
        "--only",
        "liveness",
        "--explain",
    ];
    let common = common.into_iter().chain(["--property", "access"]);
    let ran = |engine: &'static str| {
        let args: Vec<&str> = common.clone().chain(["--engine", engine]).collect();
        place.run(&args).expect(0)
    };
    ran("liveness-monolithic")
        .says("The proof of access:")
        .says("rank 1 (in terms of ")
        .says("`entry` would be asked for again and again, and is never answered");
    ran("fair-local-liveness-b")
        .says("The others may speak of")
        .says("part 1 of 3 of the property, as P[1] sees it, is never fair")
        .says("would not be scheduled: a step of it leads to a lower rank");
}
