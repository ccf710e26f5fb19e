//! The checker knows no engine: what it is built from, directly and indirectly, is a short list.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

#[test]
fn the_checker_uses_no_engine_and_no_decision_diagrams() {
    // What other platforms would need has not been fetched here.
    let about = Command::new("rustc").arg("-vV").output().expect("rustc");
    let about = String::from_utf8_lossy(&about.stdout).into_owned();
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", host.expect("a host")])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .expect("cargo");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let metadata: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names: BTreeMap<String, String> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    let uses: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let used = list(&node["deps"]).into_iter().filter(|dependency| {
                // A kind that is null is an ordinary dependency: neither for tests nor for building.
                list(&dependency["dep_kinds"])
                    .iter()
                    .any(|kind| kind["kind"].is_null())
            });
            (
                text(&node["id"]),
                used.map(|dependency| text(&dependency["pkg"])).collect(),
            )
        })
        .collect();
    let checker = names.iter().find(|(_, name)| *name == "threadwise-certify");
    let mut open = vec![checker.expect("the checker").0.clone()];
    let mut seen = BTreeSet::new();
    while let Some(package) = open.pop() {
        if seen.insert(package.clone()) {
            open.extend(uses[&package].iter().cloned());
        }
    }
    let used: BTreeSet<&str> = seen.iter().map(|package| names[package].as_str()).collect();
    let ours: Vec<&str> = used
        .iter()
        .copied()
        .filter(|name| name.starts_with("threadwise"))
        .collect();
    assert_eq!(
        ours,
        [
            "threadwise-certify",
            "threadwise-evidence",
            "threadwise-lang",
            "threadwise-model"
        ]
    );
    assert!(used.contains("batsat"));
    for name in &used {
        for word in ["oxidd", "cudd", "biodivine", "bdd", "sylvan"] {
            assert!(!name.contains(word), "the checker uses {name}");
        }
    }
}
