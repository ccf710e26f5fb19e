//! Damaged texts: whatever is cut, swapped or repeated, the front end answers, and soon.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use threadwise_testgen::origins::origins;
use threadwise_testgen::random::Random;

use crate::common::scratch;
use crate::from_promela::corpus::{Model, each, models};
use crate::from_promela::ours;
use crate::from_promela::random::{Comparison, compare};
use crate::from_promela::spin::{self, Failure};

/// How often each model is damaged; `PROMELA_DAMAGES` asks for another number.
const DAMAGES: u64 = 40;
/// No answer takes longer, of the time of the processor. Tests run on slow machines, and beside each other.
const SOON: Duration = Duration::from_secs(20);

/// The time of the processor that this thread has taken; where the system does not say, any time that grows.
fn spent() -> Duration {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let begun = BEGUN.get_or_init(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse().ok());
    told.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// What stands between other words at random.
const WORDS: &[&str] = &[
    "atomic {",
    "}",
    "{",
    "if",
    "fi",
    "do",
    "od",
    "::",
    "->",
    ";",
    "else",
    "timeout",
    "run",
    "P(1)",
    "goto end",
    "break",
    "0",
    "1",
    "-1",
    "255",
    "99999999999999999999",
    "2147483648",
    "[",
    "]",
    "(",
    ")",
    "!",
    "?",
    "??",
    "!!",
    "<",
    ">",
    "chan",
    "byte",
    "typedef",
    "mtype",
    "unless",
    "d_step {",
    "assert(",
    "len(",
    "eval(",
    "#define",
    "#if",
    "#endif",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "\n",
    "ltl p {",
    "[]",
    "<>",
    "U",
    "never {",
    "@",
    ":",
    ".",
    ",",
    "_pid",
    "_",
    "inline f(a) {",
    "f(f(1))",
    "for (",
    "select (",
    "..",
    "\u{e9}",
    "\0",
    "x",
    "/",
    "% 0",
    "<< 40",
    "active [999999999]",
    "[1000000000]",
    "= [0] of {",
    "unsigned x : 99",
];

/// Pieces of a text, so that what is cut and moved is mostly a word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if name(first) {
            rest.find(|c| !name(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, others) = rest.split_at(length);
        words.push(word);
        rest = others;
    }
    words
}

fn damaged(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = words(text);
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        let other = random.below(words.len());
        match random.below(8) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, random.one(WORDS).unwrap()),
            2 => words[at] = random.one(WORDS).unwrap(),
            3 => words.swap(at, other),
            4 => words[at] = words[other],
            5 => words.truncate(at.max(1)),
            6 => {
                let end = (at + random.below(30)).min(words.len());
                let piece: Vec<&str> = words[at..end].to_vec();
                words.splice(other..other, piece);
            }
            _ => {
                let end = (at + random.below(30)).min(words.len());
                words.drain(at..end);
            }
        }
        if words.is_empty() {
            words.push(" ");
        }
    }
    words.concat()
}

/// What the front end says has a place inside the file it names; what it makes is a model.
fn look(name: &str, text: &str) -> bool {
    let outcome = ours::import(name, text, &[]);
    match outcome.result {
        Ok(imported) => {
            let _ = ours::system(name, &imported.text());
            let last = text.lines().count() as u32;
            let mut lines = origins(&imported.program, &imported.layout).into_iter();
            assert!(
                lines.all(|line| line.is_none_or(|line| (1..=last).contains(&line))),
                "{name}: a line that is not there"
            );
            true
        }
        Err(remarks) => {
            assert!(!remarks.is_empty(), "{name}: refused without a word");
            for remark in remarks {
                let file = &outcome.files[remark.file];
                let span = remark.diagnostic.span;
                assert!(
                    span.start <= span.end && span.end as usize <= file.text.len(),
                    "{name}: {remark:?}"
                );
                assert!(!remark.diagnostic.message.is_empty(), "{name}: {remark:?}");
            }
            false
        }
    }
}

#[test]
fn damaged_models_are_answered() {
    let models: Vec<Model> = models();
    let each_so_often = std::env::var("PROMELA_DAMAGES")
        .ok()
        .and_then(|n| n.parse().ok());
    let each_so_often: u64 = each_so_often.unwrap_or(DAMAGES);
    let (accepted, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    each(&models, |model| {
        for seed in 0..each_so_often {
            let mut random = Random::new(seed ^ model.text.len() as u64);
            let text = damaged(&model.text, &mut random);
            let begun = spent();
            let result = catch_unwind(AssertUnwindSafe(|| look(&model.name, &text)));
            let ok = result.unwrap_or_else(|_| panic!("{}, damage {seed}:\n{text}", model.name));
            let taken = spent().saturating_sub(begun);
            assert!(
                taken < SOON,
                "{}, damage {seed}: {taken:?}\n{text}",
                model.name
            );
            if ok { &accepted } else { &refused }.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (accepted, refused) = (accepted.into_inner(), refused.into_inner());
    println!("{accepted} damaged texts are accepted, {refused} refused");
    assert!(
        accepted * 50 > refused && refused > accepted,
        "{accepted} accepted, {refused} refused"
    );
}

/// A damaged model that is still a program has the verdicts and states that SPIN finds. What we take is what SPIN takes.
#[test]
fn damaged_models_agree() {
    if spin::skip() {
        return;
    }
    let models: Vec<Model> = models();
    let each_so_often = std::env::var("PROMELA_DAMAGES")
        .ok()
        .and_then(|n| n.parse().ok());
    let each_so_often: u64 = each_so_often.unwrap_or(DAMAGES / 2);
    let [compared, refused, large] = [0; 3].map(AtomicUsize::new);
    let different: Mutex<Vec<String>> = Mutex::default();
    each(&models, |model| {
        for seed in 0..each_so_often {
            let mut random = Random::new(!seed ^ model.text.len() as u64);
            let text = damaged(&model.text, &mut random);
            let lost = text.contains("ltl ") != model.text.contains("ltl ");
            if lost
                || ours::import(&model.name, &text, &model.defines)
                    .result
                    .is_err()
            {
                continue;
            }
            let name = format!("damaged-{}-{seed}", model.name);
            match compare(&name, &text, &model.defines, &[]) {
                Comparison::Compared(sample) => {
                    compared.fetch_add(1, Ordering::Relaxed);
                    if !sample.differences.is_empty() {
                        let differences = sample.differences.join("; ");
                        different
                            .lock()
                            .unwrap()
                            .push(format!("{name}: {differences}"));
                        found(&name, &differences, &text);
                    }
                }
                Comparison::Spin(Failure::TooLarge) => {
                    large.fetch_add(1, Ordering::Relaxed);
                }
                Comparison::Spin(Failure::Refused(why)) => {
                    refused.fetch_add(1, Ordering::Relaxed);
                    println!("{name}: SPIN refuses what we take: {why}");
                    found(&format!("taken-{name}"), &why, &text);
                }
                Comparison::Refused(_) => unreachable!(),
            }
            let _ = std::fs::remove_dir_all(scratch(&name));
        }
    });
    let [compared, refused, large] = [compared, refused, large].map(AtomicUsize::into_inner);
    println!("{compared} compared, {large} too large, {refused} that SPIN refuses");
    let different = different.into_inner().unwrap();
    assert!(
        different.is_empty(),
        "{} of {compared}:\n{}",
        different.len(),
        different.join("\n")
    );
    assert!(compared >= 50, "only {compared} compared");
    assert!(
        refused * 10 <= compared,
        "SPIN refuses {refused} that we take"
    );
}

/// Writes a text where it was asked for.
fn found(name: &str, why: &str, text: &str) {
    if let Some(dir) = std::env::var_os("PROMELA_FOUND") {
        std::fs::create_dir_all(&dir).unwrap();
        let path = Path::new(&dir).join(format!("{name}.pml"));
        std::fs::write(path, format!("// {}\n{text}", why.replace('\n', " "))).unwrap();
    }
}

#[test]
fn large_and_deep_texts_are_answered() {
    let many = |text: &str, times: usize| text.repeat(times);
    let inside = |text: &str| format!("byte x;\nactive proctype P() {{\n{text}\n}}\n");
    let texts = [
        inside(&format!(
            "x = {}1{}",
            many("(", 100_000),
            many(")", 100_000)
        )),
        inside(&format!("x = {}1", many("-", 100_000))),
        inside(&format!("x = {}x", many("!", 100_000))),
        inside(&format!("x = 1{}", many(" + 1", 50_000))),
        inside(&format!(
            "{}skip{}",
            many("if :: ", 50_000),
            many(" fi", 50_000)
        )),
        inside(&format!(
            "{}skip{}",
            many("atomic { ", 50_000),
            many(" }", 50_000)
        )),
        inside(&format!(
            "{}skip{}",
            many("{ ", 50_000),
            many(" } unless { skip }", 50_000)
        )),
        inside(&many("x = 1 - x;\n", 20_000)),
        inside(&format!("do {} od", many(":: x = 1 - x ", 5_000))),
        inside(&many("if :: x = 1 :: x = 0 fi;\n", 2_000)),
        inside(&format!(
            "atomic {{ {} skip }}",
            many("if :: x = 1 :: x = 0 fi;\n", 40)
        )),
        inside(&format!(
            "d_step {{ {} skip }}",
            many("if :: x > 1 -> x = 1 :: else fi;\n", 40)
        )),
        format!(
            "#define A0 x\n{}byte x;\ninit {{ A40 }}\n",
            (1..=40)
                .map(|n| format!("#define A{n} A{0} + A{0}\n", n - 1))
                .collect::<String>()
        ),
        format!(
            "byte x;\ninline f0() {{ x++ }}\n{}init {{ f40() }}\n",
            (1..=40)
                .map(|n| format!("inline f{n}() {{ f{0}(); f{0}() }}\n", n - 1))
                .collect::<String>()
        ),
        "#define A A A\nbyte A;\n".to_owned(),
        "inline f() { g() }\ninline g() { f() }\ninit { f() }\n".to_owned(),
        "#include \"itself.pml\"\ninit { skip }\n".to_owned(),
        "byte x[1000000000];\ninit { x[5] = 1 }\n".to_owned(),
        "chan c = [1000000000] of { byte };\ninit { c!1 }\n".to_owned(),
        "chan c[255] = [255] of { int, int, int };\ninit { c[3]!1,2,3 }\n".to_owned(),
        "active [1000000] proctype P() { skip }\n".to_owned(),
        "active [255] proctype P() { byte x; do :: x++ od }\n".to_owned(),
        "proctype P() { run P() }\ninit { run P() }\n".to_owned(),
        "init { do :: run P() od }\nproctype P() { skip }\n".to_owned(),
        "int x, y;\ninit { do :: x = x * y + 1; y = x << y od }\n".to_owned(),
        "typedef A { A a };\nA a;\ninit { skip }\n".to_owned(),
        format!(
            "{}T40 t;\ninit {{ skip }}\n",
            (1..=40)
                .map(|n| format!(
                    "typedef T{n} {{ {} }};\n",
                    if n == 1 {
                        "byte b".to_owned()
                    } else {
                        format!("T{0} x; T{0} y", n - 1)
                    }
                ))
                .collect::<String>()
        ),
        format!(
            "byte x;\ninit {{ skip }}\nltl p {{ {}(x == 0){} }}\n",
            many("[] (", 50_000),
            many(")", 50_000)
        ),
        format!(
            "byte x;\ninit {{ skip }}\nltl p {{ {} (x == 0) }}\n",
            many("(x == 1) U ", 30)
        ),
        many("byte x;\n", 50_000),
        many("x", 1_000_000),
        many("\u{10348}", 100_000),
        String::new(),
    ];
    for (at, text) in texts.iter().enumerate() {
        let begun = spent();
        let accepted = look(&format!("text {at}"), text);
        let taken = spent().saturating_sub(begun);
        println!(
            "text {at}: {}, {taken:?}",
            if accepted { "accepted" } else { "refused" }
        );
        assert!(taken < SOON, "text {at} took {taken:?}");
    }
}
