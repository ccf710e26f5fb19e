//! Claims for all values of the parameters, from the command line: proofs, violations, certificates, and what is left open.

use crate::common::{BROKEN, LOCK, Place, result};

/// Each process counts itself: a proof needs to count processes.
const COUNT: &str = "\
param N = 3 where N >= 1;
param M = 2 where M >= 0;
shared x, y: int = 0;
process P[i: 1..N] { a: x := x + 1; b: skip; }
process Q[i: 1..M] { a: y := y + 1; }
invariant most: x <= N;
invariant five: x + y < 5;
";

#[test]
fn a_claim_for_all_values_is_proved_and_certified() {
    let place = Place::new();
    place.file("count.tw", COUNT);
    let args = ["count.tw", "--property", "most", "--certificate", "proofs"];
    let (report, ran) = place.json(&args);
    ran.expect(0);
    for property in ["checks", "most"] {
        let result = result(&report, property);
        assert_eq!(result["verdict"], "proved");
        assert_eq!(result["engine"], "counter");
        assert_eq!(result["rechecked"], true);
        assert_eq!(
            result["scope"],
            serde_json::json!({ "kind": "all", "parameters": ["N", "M"], "where": "N >= 1 && M >= 0" })
        );
        assert_eq!(result["reason"], serde_json::Value::Null);
    }
    place
        .run(&["check", "count.tw", "--property", "most", "--set", "M=4"])
        .expect(0)
        .says("count.tw at M=4\n")
        .says("most    proved    for all N >= 1 && M >= 0, at M=4");
    let proof = "proofs/count.most.all.cert.json";
    place
        .run(&["certify", "count.tw", proof])
        .expect(0)
        .says("the certificate proves `most` for all N >= 1 && M >= 0: ");
    place
        .run(&["certify", "count.tw", proof, "--smtlib"])
        .expect(0)
        .says("(check-sat)");
    // It is about all values: that is not what one value is.
    place
        .run(&["certify", "count.tw", proof, "--set", "N=3"])
        .expect(4)
        .complains("it is about all values of `N`, not about N=3")
        .complains("leave out --property and --set");
    place
        .run(&["certify", "count.tw", proof, "--property", "five"])
        .expect(4)
        .complains("does not prove `five`");
    // With less to count, the proof is none.
    place.file("less.tw", COUNT.replace("x <= N", "x < N"));
    place.run(&["certify", "less.tw", proof]).expect(4);
}

#[test]
fn a_violation_is_at_the_smallest_instance() {
    let place = Place::new();
    place.file("count.tw", COUNT);
    let (report, ran) = place.json(&["count.tw", "--property", "five", "--trace", "traces"]);
    ran.expect(1);
    let five = result(&report, "five");
    assert_eq!(five["verdict"], "violated");
    assert_eq!(five["rechecked"], true);
    assert_eq!(five["scope"]["kind"], "instance");
    let values = &five["scope"]["values"];
    assert_eq!(values, &five["trace"]["params"]);
    let number = |name: &str| values[name].as_i64().unwrap();
    assert_eq!(number("N") + number("M"), 5);
    let trace = format!("traces/count.five.N={},M={}.json", number("N"), number("M"));
    place.run(&["replay", "count.tw", &trace]).expect(0);
    // The value that is set is the one it is violated at.
    let (report, _) = place.json(&["count.tw", "--property", "five", "--set", "N=4"]);
    let five = result(&report, "five");
    assert_eq!(
        five["scope"]["values"],
        serde_json::json!({ "N": 4, "M": 1 })
    );
    // Whoever insists has it all the same.
    place.file("broken.tw", BROKEN);
    place
        .run(&[
            "check",
            "broken.tw",
            "--for-all",
            "N",
            "--property",
            "mutex",
        ])
        .expect(1)
        .says("mutex   violated  at N=2");
}

#[test]
fn what_is_left_open_is_looked_at_in_instances() {
    let place = Place::new();
    // Products are too much for engines for all instances.
    let inside = "(count i in P: P[i] at {critical, leave})";
    let product = format!("invariant product: {inside} * {inside} <= 1;\n");
    place.file("lock.tw", LOCK.to_owned() + &product);
    let safety = ["check", "lock.tw", "--only", "safety"];
    place
        .run(&safety)
        .expect(3)
        .says("lock.tw\n")
        .says("mutex          proved    for all N >= 2")
        .says("deadlock_free  proved    for all N >= 2")
        .says("product        unknown   holds for N=2..")
        .says("not proved for every N")
        .says("Next: `--verbose` says what was tried for every N");
    place
        .run(&[&safety[..], &["--verbose"]].concat())
        .expect(3)
        .says("not for all: `counter`");
    let (report, ran) = place.json(&["lock.tw", "--only", "safety", "--for-all", "N"]);
    ran.expect(3);
    assert_eq!(result(&report, "mutex")["verdict"], "proved");
    assert_eq!(result(&report, "deadlock_free")["verdict"], "proved");
    let product = result(&report, "product");
    assert_eq!(product["reason"]["code"], "bounded");
    let tried = product["tried"].as_array().unwrap();
    let tried = |engine: &str| {
        tried
            .iter()
            .any(|why| why.as_str().unwrap().contains(engine))
    };
    assert!(tried("`counter`") && tried("`cubes`"), "{product}");
    // By name, an engine for all instances is asked and no other.
    place
        .run(&[&safety[..], &["--engine", "counter"]].concat())
        .expect(3)
        .says("product        unknown   for all N >= 2, ");
}

#[test]
fn engines_for_all_instances_say_so() {
    let place = Place::new();
    let ran = place.run(&["engines"]).expect(0);
    for engine in ["counter", "cubes", "generalise"] {
        let mut lines = ran.stdout.lines();
        lines.find(|line| line.starts_with(engine)).unwrap();
        let line = lines.next().unwrap();
        assert!(line.ends_with("verdicts for: all instances"), "{line}");
    }
}

/// What a proof lacks stands below the verdict, and in everything that programs read.
#[test]
fn what_a_proof_lacks_is_said() {
    let place = Place::new();
    let text = "param N = 2 where N >= 1;\nshared c: int = 0;\nprocess P[i: 1..N] { add: atomic { c := c + 1; } }\ninvariant small: c <= 60;\n";
    place.file("add.tw", text);
    let args = ["add.tw", "--property", "small"];
    let gap = "after `add` of P[i], `small` may fail";
    let check = |more: &[&str]| place.run(&[&["check"], &args[..], more].concat()).expect(3);
    let shown = check(&[])
        .says(&format!("missing: {gap}\n"))
        .says("as in: P[i] at add, c == 60")
        .says("Next: if no run reaches such a state");
    // However many engines are run side by side.
    let alone = check(&["--threads", "1"]);
    assert_eq!(alone.stable(), shown.stable());
    let quiet = check(&["--quiet"]);
    assert!(!quiet.stdout.contains("missing"), "{}", quiet.stdout);
    check(&["--format", "sarif"]).says(&format!("; missing: {gap}, as in: P[i] at add"));
    let (report, _) = place.json(&args);
    let missing = &result(&report, "small")["reason"]["missing"];
    assert_eq!(missing["gap"], gap);
    for key in ["state", "help"] {
        assert!(missing[key].is_string(), "{missing}");
    }
    assert!(result(&report, "checks")["reason"].is_null());
}
