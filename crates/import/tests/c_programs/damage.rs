//! Damaged programs: parts taken out, doubled, exchanged or replaced. Whatever comes of them, it is a model that our language accepts, or messages with places.

use std::panic::{AssertUnwindSafe, catch_unwind};

use threadwise_import::from_c::Integers;
use threadwise_testgen::origins::origins;

use super::{bring, programs};

/// Numbers that look arbitrary, the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A text in pieces: words, numbers, spaces and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match kind(first) {
            2 => first.len_utf8(),
            k => rest.find(|c| kind(c) != k).unwrap_or(rest.len()),
        };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

const STRANGE: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "#",
    "\"",
    "'",
    "\\",
    "/*",
    "*/",
    "//",
    "=",
    "==",
    "++",
    "->",
    ".",
    "...",
    "?",
    ":",
    "0",
    "-1",
    "99999999999999999999",
    "0x",
    "1.5",
    "'",
    "'ab'",
    "\u{fffd}",
    "\0",
    "\n",
    "if",
    "else",
    "for",
    "while",
    "goto",
    "return",
    "break",
    "continue",
    "switch",
    "case",
    "default",
    "struct",
    "union",
    "typedef",
    "int",
    "unsigned",
    "void",
    "char",
    "static",
    "_Atomic",
    "sizeof",
    "#define x x",
    "#include <x.h>",
    "#if 1",
    "#endif",
    "__attribute__((x))",
    "__VERIFIER_atomic_begin()",
    "pthread_mutex_lock",
    "main",
    "atomic",
    "thread[N]",
    "assert",
    "assume",
];

#[test]
fn damaged_programs_do_no_damage() {
    let programs = programs();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3_000 {
        let program = &programs[round % programs.len()];
        let mut parts: Vec<&str> = pieces(&program.text);
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(parts.len());
            let other = numbers.below(parts.len());
            match numbers.below(6) {
                0 => {
                    parts.remove(at);
                }
                1 => parts.insert(at, parts[other]),
                2 => parts.swap(at, other),
                3 => parts[at] = parts[other],
                4 => parts.insert(at, STRANGE[numbers.below(STRANGE.len())]),
                _ => parts.truncate(at.max(parts.len() * 3 / 4)),
            }
        }
        let text = parts.concat();
        let integers = match round % 2 {
            0 => Integers::Mathematical,
            _ => Integers::Machine,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| bring(&program.name, &text, integers)));
        let outcome = outcome.unwrap_or_else(|_| panic!("{} panics:\n{text}", program.name));
        match outcome {
            Ok(imported) => {
                accepted += 1;
                let lines = origins(&imported.program, &imported.layout);
                assert_eq!(lines.len(), imported.text().lines().count());
                let checked = threadwise_lang::check(&imported.text());
                assert!(
                    checked.program.is_some(),
                    "{}: {:?}\n{text}\n{}",
                    program.name,
                    checked.diagnostics,
                    imported.text()
                );
            }
            Err(messages) => {
                let internal = messages.contains("internal error");
                assert!(!internal, "{}: {messages}\n{text}", program.name);
                refused += 1;
            }
        }
    }
    assert!(
        accepted >= 300 && refused >= 1_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn hostile_programs_are_refused_soon() {
    let deep = |open: &str, close: &str, inner: &str| {
        format!("{}{inner}{}", open.repeat(50_000), close.repeat(50_000))
    };
    let mut doubling = String::from("#define a0 x + x\n");
    for level in 1..60 {
        doubling.push_str(&format!(
            "#define a{level} a{} + a{}\n",
            level - 1,
            level - 1
        ));
    }
    let calls: String = (1..60)
        .map(|level| {
            format!(
                "void f{level}(void) {{ f{}(); f{}(); }}\n",
                level - 1,
                level - 1
            )
        })
        .collect();
    let texts = [
        format!("int main(void) {{ int x = {}; return x; }}", deep("(", ")", "1")),
        format!("int main(void) {}", deep("{", "}", ";")),
        format!("int main(void) {{ int x; {} }}", deep("if (x) {", "}", ";")),
        format!("int main(void) {{ int x = {}1; }}", "-".repeat(100_001)),
        format!("int main(void) {{ int x = {}1; }}", "!".repeat(100_000)),
        format!("int x{};\nint main(void) {{}}", "[2]".repeat(20_000)),
        format!("int {}x;\nint main(void) {{}}", "*".repeat(100_000)),
        format!("{doubling}int main(void) {{ int x = 1; int y = a59; }}"),
        format!("int g;\nvoid f0(void) {{ g++; }}\n{calls}int main(void) {{ f59(); }}"),
        "#define x x x x\nint main(void) { x }".to_owned(),
        "int f(int n) { return f(n - 1); }\nint main(void) { return f(3); }".to_owned(),
        "int g;\nint main(void) { for (int i = 0; i < 1000000000; i++) pthread_create(&g, 0, main, 0); }".to_owned(),
        "int a[1000000000][1000000000]; int main(void) { a[5][7] = 1; }".to_owned(),
        "thread[N] P { atomic { while (1) { } } }".to_owned(),
        "/* never ends".to_owned(),
        "#include \"itself\"".to_owned(),
        "#if 1\n".repeat(5_000),
        "\"never ends".to_owned(),
        String::new(),
        "\u{0}\u{1}\u{ffff}".to_owned(),
    ];
    for text in &texts {
        for integers in [Integers::Mathematical, Integers::Machine] {
            let begun = std::time::Instant::now();
            let shown: String = text.chars().take(80).collect();
            let outcome = catch_unwind(AssertUnwindSafe(|| bring("hostile.c", text, integers)));
            let outcome = outcome.unwrap_or_else(|_| panic!("panics: {shown}"));
            if let Err(messages) = &outcome {
                assert!(!messages.contains("internal error"), "{shown}: {messages}");
            }
            if let Ok(imported) = outcome {
                let checked = threadwise_lang::check(&imported.text());
                assert!(
                    checked.program.is_some(),
                    "{shown}: {:?}",
                    checked.diagnostics
                );
            }
            let took = begun.elapsed();
            // What blows up takes for ever; a busy machine takes a while.
            assert!(took.as_secs() < 180, "{took:?}: {shown}");
        }
    }
}
