//! Random damage to real models: the front end and the formatter survive all of it.
//!
//! The seed is fixed, so a failure repeats. `THREADWISE_FUZZ_SECONDS=60` goes on for that long
//! with a fresh seed, which it prints; `fuzz/` holds the same checks as coverage-guided targets.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::invariants;

/// SplitMix64: small, fast, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Texts to start from: the library, and the models that provoke each diagnostic.
fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    for folder in [
        "models",
        "models/any",
        "crates/threadwise/tests/diagnostics",
    ] {
        let mut paths: Vec<_> = fs::read_dir(root.join(folder))
            .expect("a folder of models")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|end| end == "tw"))
            .collect();
        paths.sort();
        texts.extend(
            paths
                .iter()
                .map(|path| fs::read_to_string(path).expect("readable")),
        );
    }
    assert!(texts.len() > 50, "only {} seeds", texts.len());
    texts
}

/// Pieces that the language is made of, to insert anywhere.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ":",
    ":=",
    "..",
    ",",
    "->",
    "<->",
    "&&",
    "||",
    "!",
    "-",
    "?",
    ".",
    "=",
    "forall i in P: ",
    "process Q[] { ",
    "loop { ",
    "l: ",
    "goto l; ",
    "stay; ",
    "await ",
    "9223372036854775807",
    "atomic {",
    "choose {",
    " or {",
    "for k in 1..3 { ",
    "P[i] at ",
    "// comment\n",
    "/* c */",
    "/*",
    "漢",
    "\t",
    "min(1, 2)",
    "max j in P: ",
    "def d = d;",
    "macro m() { m(); }",
    "none",
    "any",
    "G ",
    " U ",
    "0",
    "-1",
    "\r\n",
];

fn damage(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let mut at = random.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let mut end = (at + random.below(20)).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        match random.below(4) {
            0 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            1 => text.replace_range(at..end, ""),
            2 => text.replace_range(at..end, PIECES[random.below(PIECES.len())]),
            _ => {
                let copy = text[at..end].to_owned();
                text.insert_str(at, &copy);
            }
        }
    }
    text
}

#[test]
fn damaged_models_are_survived() {
    let seeds = seeds();
    let seconds = std::env::var("THREADWISE_FUZZ_SECONDS").ok();
    let budget = seconds.map(|s| Duration::from_secs(s.parse().expect("seconds as a number")));
    let begin = Instant::now();
    let mut random = Random(1);
    let (mut rounds, mut accepted, mut formatted) = (0, 0, 0);
    while rounds < 5_000 || budget.is_some_and(|budget| begin.elapsed() < budget) {
        if rounds == 5_000 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            random = Random(now.map_or(2, |now| now.as_nanos() as u64));
            println!("seed after 5,000 rounds: {}", random.0);
        }
        let text = damage(&seeds[random.below(seeds.len())], &mut random);
        invariants::front_end(&text);
        invariants::formatter(&text);
        rounds += 1;
        accepted += usize::from(threadwise_lang::check(&text).program.is_some());
        formatted += usize::from(threadwise_lang::format(&text).is_ok());
    }
    println!("{rounds} damaged texts: {accepted} accepted, {formatted} formatted");
    // Damage that is always fatal, or never, would test little.
    assert!(accepted * 50 > rounds, "{accepted} of {rounds} accepted");
    assert!(
        accepted * 10 < rounds * 9,
        "{accepted} of {rounds} accepted"
    );
    assert!(formatted > accepted);
}

#[test]
fn pieces_in_any_order_are_survived() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let text: String = (0..random.below(60))
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        invariants::front_end(&text);
        invariants::formatter(&text);
    }
}
