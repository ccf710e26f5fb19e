//! Work that is divided among processes: nothing is lost, nothing is done twice, and together it is what one process finds.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{LOCK, PATIENCE, Place, without_stats};

/// Counts to N; what is claimed is false at N=4.
const COUNTER: &str = "
    param N = 2 where N >= 2;
    shared x: int = 0;
    process P[i: 1..N] { add: x := x + 1; }
    invariant few: x <= 3;
    //@ expect few: proved at N=2..3
    //@ expect few: violated at N=4
";

/// Six files, of which one cannot be read, one is excluded at all values, and one is below another directory.
fn models() -> Place {
    let place = Place::new();
    place.file("models/a.tw", LOCK);
    place.file("models/b.tw", COUNTER);
    place.file("models/c.tw", "shared x: bool = ;");
    place.file(
        "models/d.tw",
        COUNTER
            .replace("N >= 2", "N >= 9")
            .replace("N = 2", "N = 9"),
    );
    place.file(
        "models/e.pml",
        "byte N; active proctype p() { assert(N == 0) }",
    );
    place.file("models/more/f.tw", COUNTER.replace("x <= 3", "x <= 9"));
    place
}

const CHECK: [&str; 6] = ["check", "models", "--set", "N=2..5", "--timeout", "60"];

/// The arguments of one share.
fn share<'a>(all: &[&'a str], shard: &'a str) -> Vec<&'a str> {
    [all, &["--shard", shard, "--results", "found"]].concat()
}

/// Every line of a file of results.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn shares_together_are_the_whole() {
    let place = models();
    // What is no model has no parameter `N`: the whole is about files that cannot be used as well.
    let mut whole = CHECK.to_vec();
    whole.push("--json");
    let whole = place.run(&whole);
    for shard in ["1/3", "2/3", "3/3"] {
        place.run(&share(&CHECK, shard));
    }
    let merged = place.run(&["merge", "found", "--json"]);
    assert_eq!(merged.status, whole.status, "{merged:?}");
    let (whole, merged) = (whole.json(), merged.json());
    assert!(whole["runs"].as_array().unwrap().len() >= 10, "{whole}");
    assert_eq!(without_stats(merged), without_stats(whole));
    // For people, for other tools, and as a page.
    let text = place.run(&["merge", "found"]);
    let all = place.run(&CHECK);
    assert_eq!(text.stable(), all.stable());
    let sarif = [&CHECK[..], &["--format", "sarif"]].concat();
    let (sarif, merged) = (
        place.run(&sarif),
        place.run(&["merge", "found", "--format", "sarif"]),
    );
    assert_eq!(merged.stable(), sarif.stable());
    place
        .run(&["merge", "found", "--report", "page.html"])
        .expect(2);
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("\"few\"") && page.contains("add: x := x + 1;"));
}

#[test]
fn a_test_is_divided_by_files() {
    let place = models();
    fs::remove_file(place.path().join("models/c.tw")).unwrap();
    fs::remove_file(place.path().join("models/d.tw")).unwrap();
    let test = ["test", "models"];
    let whole = place.run(&test).expect(1).says("not met");
    for shard in ["2/2", "1/2"] {
        place.run(&share(&test, shard));
    }
    let merged = place.run(&["merge", "found"]).expect(1);
    assert_eq!(merged.stable(), whole.stable());
    place
        .run(&["merge", "found", "--json"])
        .expect(2)
        .complains("these are results of `test`");
}

#[test]
fn killed_shares_go_on_where_they_were() {
    let place = models();
    let mut whole = CHECK.to_vec();
    whole.push("--json");
    let whole = place.run(&whole).json();
    let file = place.path().join("found/1-of-2.jsonl");
    // The numbers are different each time, and the same in each run of the test.
    let mut random = 7_u64;
    let mut killed = 0;
    for attempt in 0..20 {
        let before = lines(&file).len();
        let mut child = place.command(&share(&CHECK, "1/2"));
        let quiet = || std::process::Stdio::null();
        let mut child = child.stdout(quiet()).stderr(quiet()).spawn().unwrap();
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // Of ten units, one or two more are waited for, or none; then a little of the next.
        let more = usize::try_from(random >> 62).unwrap() / 2;
        let pause = Duration::from_millis((random >> 40) % 40);
        let begun = Instant::now();
        while lines(&file).len() < before + more && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(pause);
        if child.try_wait().unwrap().is_none() {
            killed += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if attempt % 5 == 4 {
            // The machine went down while a line was written.
            let torn = fs::OpenOptions::new().append(true).open(&file);
            if let Ok(mut torn) = torn {
                torn.write_all(b"{\"request\":\"5").unwrap();
            }
        }
    }
    assert!(killed > 0);
    place.run(&share(&CHECK, "1/2"));
    place.run(&share(&CHECK, "2/2"));
    // Once more: nothing is done again.
    let again = place.run(&share(&CHECK, "1/2"));
    assert!(again.stderr.contains("12 of them before"), "{again:?}");
    for file in ["found/1-of-2.jsonl", "found/2-of-2.jsonl"] {
        let lines = lines(&place.path().join(file));
        let mut units: BTreeMap<u64, usize> = BTreeMap::new();
        for line in &lines {
            *units.entry(line["unit"].as_u64().unwrap()).or_default() += 1;
        }
        assert_eq!(units.len(), 12, "{file}");
        assert!(units.values().all(|times| *times == 1), "{units:?}");
    }
    let merged = place.run(&["merge", "found", "--json"]).json();
    assert_eq!(without_stats(merged), without_stats(whole));
}

#[test]
fn what_is_missing_is_said() {
    let place = models();
    place
        .run(&["merge", "found"])
        .expect(2)
        .complains("found: the directory cannot be read");
    place.run(&share(&CHECK, "2/3"));
    place
        .run(&["merge", "found"])
        .expect(2)
        .complains("16 of 24 units are missing")
        .complains("run --shard 1/3, 3/3 again");
    // Another division takes over what there is.
    let other = place.run(&share(&CHECK, "1/1"));
    assert!(other.stderr.contains("8 of them before"), "{other:?}");
    place.run(&["merge", "found"]).expect(2).says("few");
    // Other limits are another request.
    let other = [&CHECK[..4], &["--timeout", "61"]].concat();
    place.run(&share(&other, "2/3"));
    place
        .run(&["merge", "found"])
        .expect(2)
        .complains("results of different requests");
}

#[test]
fn what_has_changed_is_done_again() {
    let place = Place::new();
    let name = "m.tw";
    place.file(name, COUNTER);
    let check = ["check", name, "--set", "N=2..3"];
    place.run(&share(&check, "1/1")).expect(0);
    place.file(name, COUNTER.replace("x <= 3", "x <= 1"));
    place.run(&share(&check, "1/1")).expect(1);
    place.run(&["merge", "found"]).expect(1).says("violated");
    // And back: that is known.
    place.file(name, COUNTER);
    let back = place.run(&share(&check, "1/1")).expect(0);
    assert!(back.stderr.contains("2 of them before"), "{back:?}");
    place.run(&["merge", "found"]).expect(0);
    // An included file counts, too.
    place.file(
        "c.c",
        "#include \"limit.h\"\nint main(void) { assert(LIMIT < 5); return 0; }",
    );
    place.file("limit.h", "#include <assert.h>\n#define LIMIT 4\n");
    let check = ["check", "c.c"];
    let shared = [&check[..], &["--shard", "1/1", "--results", "other"]].concat();
    place.run(&shared).expect(0);
    place.file("limit.h", "#include <assert.h>\n#define LIMIT 5\n");
    place.run(&shared).expect(1);
}

#[test]
fn files_of_others_are_left_alone() {
    let place = models();
    let theirs = "{\"name\": \"theirs\"}\n";
    place.file("found/1-of-2.jsonl", theirs);
    place
        .run(&share(&CHECK, "1/2"))
        .expect(2)
        .complains("this is no result");
    let file = place.path().join("found/1-of-2.jsonl");
    assert_eq!(fs::read_to_string(file).unwrap(), theirs);
    for (arguments, message) in [
        (vec!["--shard", "1/2"], "--results"),
        (
            vec!["--shard", "3/2", "--results", "found"],
            "from 1 to the second",
        ),
        (
            vec!["--shard", "half", "--results", "found"],
            "expected I/K",
        ),
        (vec!["--results", "found"], "--shard"),
        (
            vec!["--shard", "1/2", "--results", "found", "--json"],
            "cannot be used with",
        ),
    ] {
        let all = [&CHECK[..], &arguments].concat();
        place.run(&all).expect(2).complains(message);
    }
}

#[test]
fn what_can_be_read_once_is_refused() {
    let place = Place::new();
    for command in ["check", "test"] {
        let args = [command, "-", "--shard", "1/1", "--results", "found"];
        place
            .run_with(&args, LOCK.as_bytes())
            .expect(2)
            .complains("-: this can be read only once");
    }
}

#[test]
fn one_process_at_a_time_writes() {
    let place = models();
    place.run(&share(&CHECK, "1/2"));
    let file = fs::File::open(place.path().join("found/1-of-2.jsonl")).unwrap();
    file.lock().unwrap();
    place
        .run(&share(&CHECK, "1/2"))
        .expect(2)
        .complains("another process writes its results here");
}
