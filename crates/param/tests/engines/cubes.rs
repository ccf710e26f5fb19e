//! Backward search with guesses: programs that it proves.

use std::path::Path;

use threadwise_param::engine::Way;
use threadwise_testgen::{library, variants_for_all};

use crate::engines::common::{BUDGET, Verdict, decide, program, properties};
use crate::engines::library::compare;

/// What is proved, of the models of the library and the programs of `tests/any`.
const PROVED: &[(&str, &str)] = &[
    ("dining", "neighbours"),
    ("german", "coherence"),
    ("mcs_lock", "checks"),
    ("mcs_lock", "mutex"),
    ("right_apart", "apart"),
    ("right_berkeley", "alone"),
    ("right_berkeley", "one_owner"),
    ("right_big_reader", "exclusion"),
    ("right_burns", "mutex"),
    ("right_clh_once", "mutex"),
    ("right_dijkstra", "mutex"),
    ("right_directory", "coherence"),
    ("right_dragon", "alone"),
    ("right_dragon", "one_owner"),
    ("right_fast_mutex", "mutex"),
    ("right_firefly", "alone"),
    ("right_german_list", "coherence"),
    ("right_hazard_pointers", "checks"),
    ("right_illinois", "alone"),
    ("right_knuth", "mutex"),
    ("right_lock_server", "mutex"),
    ("right_mesi", "alone"),
    ("right_moesi", "one_owner"),
    ("right_order_guard", "mutex"),
    ("right_ordered_resources", "apart"),
    ("right_ordered_resources", "owned"),
    ("right_rcu", "checks"),
    ("right_ring", "another"),
    ("right_ring", "back"),
    ("right_ring", "between"),
    ("right_ring", "fourth"),
    ("right_ring", "higher"),
    ("right_ring", "not_back"),
    ("right_ring", "one_before"),
    ("right_ring", "round"),
    ("right_synapse", "alone"),
    ("right_two_phase_commit", "atomicity"),
    ("right_write_once", "alone"),
];

/// Protocols from the literature, right and wrong.
fn protocols() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/any/protocols");
    let entries = std::fs::read_dir(folder).expect("a folder of protocols");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<(String, String)> = paths
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("a text"))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn protocols_are_proved() {
    let mut found = 0;
    let all = library().into_iter().chain(variants_for_all());
    for (name, text) in all.chain(protocols()) {
        // A name can be that of two programs, with other properties.
        let known = properties(&program(&text).expect("a program"));
        let wanted = PROVED.iter().filter(|(wanted, property)| {
            *wanted == name && known.contains(&(*property).to_owned())
        });
        let wanted: Vec<&str> = wanted.map(|(_, property)| *property).collect();
        if wanted.is_empty() {
            continue;
        }
        let verdicts = decide(Way::Cubes, &text, BUDGET / 2).expect(&name);
        compare(&name, &text, &verdicts);
        for property in wanted {
            let verdict = verdicts.get(property);
            let verdict = verdict.unwrap_or_else(|| panic!("{name} has no {property}"));
            assert!(
                matches!(verdict, Verdict::Proved(..)),
                "{name}: {property}: {verdict:?}"
            );
            found += 1;
        }
    }
    assert_eq!(found, PROVED.len());
}

/// What it says of right and wrong programs is never otherwise than they say of themselves.
#[test]
fn variants_are_decided_as_they_say() {
    let (mut proved, mut violated) = (0, 0);
    let wrong = protocols()
        .into_iter()
        .filter(|(name, _)| name.starts_with("wrong_"));
    for (name, text) in variants_for_all().into_iter().chain(wrong) {
        let verdicts = decide(Way::Cubes, &text, BUDGET / 20);
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &verdicts);
        let all = properties(&program(&text).expect("a program"));
        proved += usize::from(
            all.iter()
                .all(|p| matches!(verdicts[p], Verdict::Proved(..))),
        );
        violated += usize::from(
            all.iter()
                .any(|p| matches!(verdicts[p], Verdict::Violated(_))),
        );
    }
    assert!(
        proved >= 4 && violated >= 30,
        "{proved} proved, {violated} violated"
    );
}
