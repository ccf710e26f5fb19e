//! Texts that are no programs, or too much of one: reading ends soon, and says where it ended.

use std::fmt::Write as _;

use super::read_with;

/// Reads a text that may be anything: it must end (`tests/from_promela/damage.rs` looks at the clock), and every message must have a place inside its file.
fn survives(text: &str) -> bool {
    let (files, result) = read_with(
        text,
        &[("D", "2")],
        &[("a.h", "#define Z 1\n"), ("b.h", "#include \"b.h\"\n")],
    );
    let shown: String = text.chars().take(300).collect();
    let messages = match &result {
        Ok((_, notes)) => notes,
        Err(errors) => {
            assert!(!errors.is_empty());
            errors
        }
    };
    for message in messages {
        let span = message.diagnostic.span;
        let text = &files[message.file].text;
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "{message:?} in {shown}"
        );
    }
    result.is_ok()
}

const PROGRAM: &str = "#define N 2\n#define max(a, b) (a > b -> a : b)\n#ifdef D\nmtype = { ack, nak }\n#endif\n#include \"a.h\"\n\
    typedef R { byte a; byte b[2] }\nbyte x = 'z'; R r[2]; chan q[N] = [N] of { mtype, byte }\n\
    inline f(v) { byte t = v; l: t++; if :: t < max(3, 4) -> goto l :: else fi }\n\
    active [N] proctype P() { byte k; f(k)\n q[k]!ack(3)\n q[0]?nak,_\n r[k].b[1] = r[0].a + k\n\
    for (k : 1 .. N) { skip }\n { k = 1 } unless { x == 1 -> skip }\n end: do :: q[0]?[ack, eval(k)] -> break :: timeout od }\n\
    init { atomic { run Q(1, q[0]) }; printf(\"%d\\n\", x) }\nproctype Q(byte m; chan c) { c!ack,m }\n\
    never { T: if :: P[0]@end -> goto T :: true fi }\nltl p { [] (x == 1 -> <> (P[0]@end && x > 2)) }\n";

#[test]
fn mutated_programs_are_survived() {
    assert!(survives(PROGRAM), "the program itself must be read");
    // Pieces that can be told apart again, with what stands between them.
    let mut pieces: Vec<String> = Vec::new();
    for c in PROGRAM.chars() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut accepted, mut rejected) = (0, 0);
    for round in 0..4_000 {
        let mut mutated = pieces.clone();
        for _ in 0..=random(3) {
            let at = random(mutated.len());
            let other = random(mutated.len());
            match round % 5 {
                0 => mutated.truncate(at.max(1)),
                1 => mutated.swap(at, other),
                2 => {
                    let piece = mutated[other].clone();
                    mutated.insert(at, piece);
                }
                3 => {
                    mutated.remove(at);
                }
                _ => {
                    let (from, to) = (at.min(other), at.max(other));
                    let copied = mutated[from..to.min(from + 30)].to_vec();
                    mutated.splice(from..from, copied);
                }
            }
        }
        if survives(&mutated.concat()) {
            accepted += 1;
        } else {
            rejected += 1;
        }
    }
    assert!(
        accepted > 100 && rejected > 1_000,
        "{accepted} accepted, {rejected} rejected"
    );
}

#[test]
fn deep_and_long_texts_are_survived() {
    let deep = 100_000;
    let init =
        |inside: &str| format!("byte x, a[2]; chan c = [1] of {{ byte }}\ninit {{ {inside} }}");
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("a[", "0", "]"),
        ("!", "x", ""),
        ("-", "x", ""),
        ("(x -> ", "1", " : 1)"),
        ("(1 + ", "1", ")"),
        ("{ ", "skip", " }"),
        ("if :: ", "skip", " fi"),
        ("do :: ", "skip", " od"),
        ("atomic { ", "skip", " }"),
        ("{ skip } unless { ", "skip", " }"),
        ("for (x : 0 .. 1) { ", "skip", " }"),
        ("l: ", "skip", ""),
        ("c?(", "x", ")"),
        ("c?x(", "x", ")"),
        ("len(", "c", ")"),
        ("eval(", "c", ")"),
        ("x = ", "1", ""),
    ] {
        let text = init(&format!(
            "{}{middle}{}",
            open.repeat(deep),
            close.repeat(deep)
        ));
        assert!(!survives(&text), "{open} accepted {deep} times");
        let unclosed = init(&open.repeat(deep));
        assert!(
            !survives(&unclosed),
            "{open} accepted {deep} times without an end"
        );
    }
    // A tree may be high without parentheses, and through indices.
    assert!(survives(&init(&format!("x = 1{}", " + 1".repeat(400)))));
    assert!(!survives(&init(&format!("x = 1{}", " + 1".repeat(deep)))));
    let tall = format!(
        "{} 0{}",
        "a[".repeat(50),
        format!("]{}", " + 1".repeat(300)).repeat(50)
    );
    assert!(!survives(&init(&format!("x = {tall}"))));
    assert!(!survives(&format!(
        "{}#endif\ninit {{ skip }}",
        "#if 1\n".repeat(deep)
    )));
    assert!(!survives(&format!(
        "#if {}1{}\n#endif\ninit {{ skip }}",
        "(".repeat(deep),
        ")".repeat(deep)
    )));
    assert!(!survives(&format!(
        "bool p; ltl {{ {}p }}\ninit {{ skip }}",
        "[] ".repeat(deep)
    )));
    assert!(!survives(&format!(
        "bool p; ltl {{ {}p }}\ninit {{ skip }}",
        "p U ".repeat(deep)
    )));
    assert!(!survives(&format!(
        "bool p; ltl {{ {}p }}\ninit {{ skip }}",
        "(p -> ".repeat(deep)
    )));
    // Long, and in order.
    let many: String = (0..50_000)
        .map(|number| format!("l{number}: x = 1; goto l{number}\n"))
        .collect();
    assert!(survives(&init(&many)));
    let many: String = (0..20_000)
        .map(|number| format!("proctype P{number}() {{ skip }}\n"))
        .collect();
    let runs: String = (0..20_000)
        .map(|number| format!("run P{number}();"))
        .collect();
    assert!(survives(&format!("{many} init {{ {runs} }}")));
    let many: String = (0..50_000)
        .map(|number| format!("byte x{number}; y{number} = 1;"))
        .collect();
    assert!(!survives(&format!("init {{ {many} }}")));
    let many: String = (0..50_000)
        .map(|number| format!("goto m{number};"))
        .collect();
    assert!(!survives(&format!("init {{ {many} }}")));
    let many: String = (0..20_000)
        .map(|number| format!("mtype:s{number} = {{ m{number} }}; mtype:s{number} v{number};"))
        .collect();
    assert!(survives(&format!("{many} init {{ skip }}")));
}

#[test]
fn expansions_that_explode_are_survived() {
    let mut doubling = "#define m0(x) x x\n".to_string();
    let mut nested = "inline f0() { skip; skip }\n".to_string();
    for level in 1..60 {
        let _ = writeln!(
            doubling,
            "#define m{level}(x) m{}(x) m{}(x)",
            level - 1,
            level - 1
        );
        let _ = writeln!(
            nested,
            "inline f{level}() {{ f{}(); f{}() }}",
            level - 1,
            level - 1
        );
    }
    assert!(!survives(&format!("{doubling}init {{ m59(skip;) }}")));
    assert!(!survives(&format!("{nested}init {{ f30() }}")));
    let calls = format!(
        "#define d(x) x x\ninit {{ {}skip;{} }}",
        "d(".repeat(40),
        ")".repeat(40)
    );
    assert!(!survives(&calls));
    // Long chains that come to little are fine.
    let mut chain = "#define c0 1\n".to_string();
    for level in 1..20_000 {
        let _ = writeln!(chain, "#define c{level} c{}", level - 1);
    }
    assert!(survives(&format!("{chain}init {{ c19999 }}")));
    // Arguments that are dropped cost time all the same.
    let long = "x ".repeat(20_000);
    let dropped = format!(
        "byte x\ninline g(a) {{ skip }}\ninline f() {{ g({long}) }}\ninit {{ {} skip }}",
        "f(); ".repeat(20_000)
    );
    assert!(!survives(&dropped));
    let dropped = format!(
        "#define g(a) skip\n#define f g({long})\ninit {{ {} skip }}",
        "f; ".repeat(20_000)
    );
    assert!(!survives(&dropped));
    assert!(!survives("#include \"b.h\"\n"));
    assert!(survives(&format!(
        "{}init {{ skip }}",
        "#include \"a.h\"\n".repeat(100)
    )));
    assert!(!survives(&format!(
        "{}init {{ skip }}",
        "#include \"a.h\"\n".repeat(100_000)
    )));
}
