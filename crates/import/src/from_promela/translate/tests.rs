//! Small programs, as text: what comes out, which lines it comes from, and what is refused where.

use threadwise_testgen::origins::origins;

use crate::from_promela::from_promela;
use crate::{Imported, Settings};

fn import(text: &str) -> Result<Imported, String> {
    let mut include = |name: &str| Err(format!("no {name}"));
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut include,
    };
    let outcome = from_promela("dir/model.pml", text, &mut settings);
    outcome.result.map_err(|remarks| {
        let diagnostic = &remarks[0].diagnostic;
        assert!(diagnostic.help.is_some(), "{}", diagnostic.message);
        let upto = &text[..diagnostic.span.start as usize];
        let line = 1 + upto.matches('\n').count();
        format!("{line}: {}", diagnostic.message)
    })
}

fn model(text: &str) -> String {
    import(text).unwrap_or_else(|why| panic!("{why}")).text()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    let model = model(text);
    for part in parts {
        assert!(model.contains(part), "no `{part}` in\n{model}");
    }
}

#[track_caller]
fn refused(text: &str, why: &str) {
    match import(text) {
        Ok(imported) => panic!("accepted:\n{}", imported.text()),
        Err(found) => assert!(found.starts_with(why), "{found}"),
    }
}

#[test]
fn statements_are_steps_at_their_lines() {
    let text = "byte x;\nactive [2] proctype P() {\n  do\n  :: x < 3 ->\n     x++\n  od\n}\n";
    let imported = import(text).unwrap();
    assert!(
        imported
            .text()
            .starts_with("// From the Promela program model.pml.\n")
    );
    let lines = origins(&imported.program, &imported.layout);
    assert_eq!(imported.text().lines().count(), lines.len());
    let line = |part: &str| {
        let at = imported.text().lines().position(|l| l.contains(part));
        lines[at.unwrap_or_else(|| panic!("no {part}"))]
    };
    assert_eq!(line("shared x"), Some(1));
    assert_eq!(line("ordered process P[pid: 0..1]"), Some(2));
    assert_eq!(line("await x < 3"), Some(4));
    assert_eq!(line("x := "), Some(5));
}

#[test]
fn ranges_are_narrow_and_results_wrapped() {
    has(
        "active proctype P() { int i; for (i : 0 .. 9) { skip } }",
        &["local i: 0..10 = 0;"],
    );
    has(
        "byte b = 250; active proctype P() { do :: b = b + 7 od }",
        &["b := (b + 7) % 256;"],
    );
    has(
        "short s; active [2] proctype P() { do :: s = s - 1 od }",
        &["% 65536"],
    );
    has(
        "int n; active [3] proctype P() { n++ }",
        &["shared n: 0..3 = 0;", "n := n + 1;"],
    );
}

#[test]
fn truth_values_and_numbers() {
    has(
        "bool a, b; active proctype P() { a = !b; b = (a == 1); a }",
        &["shared a: bool = false;", "a := !b;", "b := a;"],
    );
    has(
        "bit t; active proctype P() { t = 1 - t }",
        &["shared t: 0..1 = 0;", "t := "],
    );
}

#[test]
fn atomic_sequences() {
    // One step; it ends where it cannot go on.
    let text = "byte x, y; active proctype P() { atomic { x = 1; y == 0; x = 2 } }
        active proctype Q() { y = 1 }";
    let model = model(text);
    assert!(!model.contains("exclusive"), "{model}");
    assert!(model.contains("if y == 0 {"), "{model}");
    // A loop takes several steps.
    has(
        "byte x, y; active proctype P() { atomic { do :: x < 3 -> x++ :: else -> break od; y = x } }
         active proctype Q() { y = 1 }",
        &["shared exclusive:", "await exclusive == 0"],
    );
}

#[test]
fn property_names_and_keywords() {
    has(
        "bool lock; active proctype P() { lock = 1 } ltl mutex { [] !lock }",
        &["shared lock_2: bool", "invariant mutex: !lock_2;"],
    );
    has(
        "bool b; active proctype P() { b = 1 } ltl { <> b }",
        &[
            "liveness ltl_0 under progress: F b;",
            "fairness progress: weak",
        ],
    );
}

#[test]
fn conditions_are_turned_round() {
    has(
        "byte x, y; active proctype P() { if :: x != y -> x = 1 :: else fi; y = 2 }",
        &["if x == y {"],
    );
}

#[test]
fn what_is_refused() {
    refused(
        "active proctype P() {\n do\n :: run P()\n od\n}",
        "3: not supported: it cannot be shown that this `run`",
    );
    refused(
        "bool p;\nactive proctype P() { p = 1 }\nnever {\n a: if :: p -> goto b :: else -> goto a fi;\n b: if :: true -> goto a fi }",
        "4: not supported: a never claim with a cycle",
    );
    refused(
        "chan a = [1] of { byte };\nchan b = [2] of { byte };\nactive proctype P() { chan c; c = a; c = b; c!1 }",
        "2: not supported: `b` is used for the same variables as `a`",
    );
    refused(
        "int x;\nactive [2] proctype P() { do :: x = x - 1; x = x | (x + 1) od }",
        "2: not supported: an operator on bits",
    );
    refused(
        "chan c = [1] of { byte };\nactive proctype P() { c!1,2 }",
        "2: ",
    );
    refused("proctype P() { skip }", "1: no process is ever started");
}

/// A constant is taken apart into runs of bits.
#[test]
fn masks() {
    let program = |e: &str| format!("byte x; active proctype P() {{ do :: x++ :: x = {e} od }}");
    for (expression, text) in [
        ("x & 7", "x := x % 8;"),
        ("24 & x", "x := x / 8 % 4 * 8;"),
        ("x & 240", "x := x / 16 * 16;"),
        ("x & ~2", "x := x % 2 + x / 4 * 4;"),
        ("x & 0", "x := x % 1;"),
        ("x | 4", "x := x + 4 - x / 4 % 2 * 4;"),
        ("x ^ 128", "x := x + 128 - x / 128 * 128 * 2;"),
    ] {
        has(&program(expression), &[text]);
    }
    let negative =
        "short m; byte x; active proctype P() { do :: m = m - 1 :: x++ :: x = x & m od }";
    has(negative, &["(m % 256 + 256) % 256"]);
    has(
        &program("(x - 4) | 2"),
        &["x - 4 + 2 - ((x - 4) % 4 + 4) % 4 / 2 * 2"],
    );
}

/// The first step of a run is no moment of its own.
#[test]
fn the_next_step() {
    has(
        "bool p; active proctype P() { p = 1 } ltl f { [] X p }",
        &["liveness f under progress: X (!(taken("],
    );
}

#[test]
fn names_that_translations_add_do_not_clash() {
    has(
        "byte slot0, exclusive, nr_pr; byte pid_; active [2] proctype P() { byte a[2]; a[1] = slot0; exclusive = nr_pr + pid_ }",
        &["shared nr_pr: 0..", "shared nr_pr_2: 0..2 = 2;"],
    );
}

#[test]
fn a_receive_does_not_move_its_own_channel() {
    let text =
        "chan q[2] = [2] of { byte };\nbyte i;\nactive proctype P() {\n  q[0]!1;\n  q[i]?i\n}\n";
    refused(
        text,
        "5: not supported: a receive that stores into what says which channel",
    );
    has(&text.replace("q[i]?i", "q[0]?i"), &["i := q[1][0];"]);
}

#[test]
fn a_label_of_an_option_is_refused() {
    refused(
        "byte x;\nactive proctype P() {\n  do\n  :: progress: x = 1\n  od\n}\n",
        "4: a label in front of the first statement of an option",
    );
}

#[test]
fn what_may_fail_in_a_conditional_expression_is_refused() {
    let program = |a: &str| {
        format!(
            "chan q[2] = [1] of {{ byte }}; chan r; byte i; byte x;\nactive proctype P() {{ x = 1 + (i < 2 -> {a} : 0); r = q[0]; i = 2 }}"
        )
    };
    for part in ["len(q[i])", "len(r)", "1 / i"] {
        refused(&program(part), "2: not supported: a conditional expression");
    }
    has(&program("len(q[1])"), &["q_len[2]"]);
}

#[test]
fn remote_references_in_the_text_of_a_process() {
    has(
        "byte k; active proctype A() { L: k = 2 }\nactive proctype B() { A@L }",
        &["await A_at == 1;"],
    );
    refused(
        "byte k; active proctype A() { L: k = 2; A@L }",
        "1: not supported: a label of `A` in its own text",
    );
    refused(
        "byte k; active proctype A() { byte x; x = k }\nactive proctype B() { A:x == 1 }",
        "2: not supported: a variable of another process in the text",
    );
}

/// SPIN takes an inner `else` without a look at the options behind it.
#[test]
fn an_inner_else_stands_in_the_last_option() {
    let program = |options: &str| format!("byte n;\nactive proctype A() {{ if {options} fi }}");
    let inner = [
        "if :: n == 1 -> n = 2 :: else -> n = 3 fi",
        "{ else -> n = 3 }",
        "atomic { else -> n = 3; n = 4 }",
        "atomic { if :: else -> n = 3 :: n == 1 -> n = 2 fi }",
    ];
    for inner in inner {
        refused(
            &program(&format!(":: {inner} :: n == 0 -> n = 5")),
            "2: not supported: `else` inside the first statement of an option that is not the last",
        );
        model(&program(&format!(":: n == 0 -> n = 5 :: {inner}")));
    }
    model(&program(":: else -> n = 3 :: n == 0 -> n = 5"));
    for options in [
        ":: n == 0 -> atomic { else -> n = 3 }",
        ":: n == 0 -> n = 1 :: d_step { else -> n = 3 }",
        ":: n == 0 -> n = 1 :: { byte k; else -> n = 3 }",
    ] {
        refused(&program(options), "2: `else` is out of place");
    }
    let twice = ":: n == 0 -> n = 1 :: else -> n = 2 :: atomic { else -> n = 3 }";
    refused(&program(twice), "2: a second `else`");
}

#[test]
fn labels_that_options_or_blocks_begin_with_are_refused() {
    let option = "a label in front of the first statement of an option";
    let brace = "a label behind an opening brace";
    for (body, why) in [
        ("do :: accept: n = 1 od", option),
        ("do :: { L: do :: n = 1 od } od", option),
        ("do :: { accept: n = 1 }; n = 0 od", brace),
        ("do :: n = 0; { accept: n = 1 } od", brace),
        ("{ L: if :: n = 1 :: n = 0 fi }", brace),
        ("{ byte m; { L: n = 1 } }", brace),
        ("{ L: { n = 1 } unless { n == 2 } }", brace),
        ("n = 2 unless { L: n = 1 }", brace),
        ("atomic { L: n = 1; n = 0 }", brace),
        ("d_step { L: n = 1; n = 0 }", brace),
    ] {
        let text = format!("byte n;\nactive proctype A() {{ {body} }}");
        refused(&text, &format!("2: {why}"));
    }
    let called = "inline f() { accept: n = 1 }\nbyte n; active proctype A() { do :: f() od }";
    refused(called, &format!("1: {brace}"));
    for body in [
        "{ L: do :: n = 1 od }",
        "do :: L: for (n : 1 .. 2) { M: skip } od",
        "{ byte m; L: n = 1 }",
    ] {
        model(&format!("byte n; active proctype A() {{ {body} }}"));
    }
}

#[test]
fn jumps_into_and_out_of_d_step_are_refused() {
    let why = "1: a jump into or out of `d_step`";
    for body in [
        "n = 1; goto L; d_step { n = 1; L: n = 2 }",
        "L: n = 1; d_step { n = 1; goto L }",
        "d_step { n = 1; L: n = 2 }; d_step { n = 3; goto L }",
    ] {
        refused(&format!("byte n; active proctype A() {{ {body} }}"), why);
    }
    model(
        "byte n; active proctype A() { d_step { n = 1; L: n++; if :: n < 5 -> goto L :: else fi } }",
    );
}

#[test]
fn a_rendezvous_inside_d_step_is_refused() {
    let why = "1: not supported: a rendezvous inside `d_step`";
    for body in [
        "d_step { n = 1; c ? n }",
        "d_step { c ! 1; n = 1 }",
        "d_step { if :: c ? n :: n == 2 fi; n = 1 }",
        "d_step { do :: c ? n od }",
    ] {
        let text = format!(
            "byte n; chan c = [0] of {{ byte }}; active proctype A() {{ {body} }} active proctype B() {{ if :: c ! 1 :: c ? n fi }}"
        );
        refused(&text, why);
    }
}

#[test]
fn only_a_plain_variable_counts() {
    for head in [
        "for (a[1] : 1 .. 2) { skip }",
        "select (r.f : 1 .. 2)",
        "select (c : 1 .. 2)",
    ] {
        let text = format!(
            "typedef R {{ byte f }}; R r; byte a[3]; chan c; active proctype A() {{ {head} }}"
        );
        refused(&text, "1: only a plain variable can count");
    }
    for head in ["for (a : 2 .. 1) { skip }", "select (a : (2) .. 1)"] {
        let text = format!("byte a; active proctype A() {{ {head} }}");
        refused(&text, "1: this range is empty");
    }
}

#[test]
fn channels_are_no_numbers() {
    let why = "1: not supported: a channel that is used as a number, or a number as a channel";
    for body in [
        "b = c2",
        "q ! c2; q ? b",
        "b = (c2 == 2)",
        "c2 > c1",
        "a[c2] = 3",
        "h ! c1; h ? b",
        "h ! c1; h ? 2",
        "h ! 2",
        "h ? [3]",
        "run R(c1)",
        "run S(2)",
        "x = c1; assert(x + 1 == 3)",
    ] {
        let text = format!(
            "byte b, a[4]; chan q = [1] of {{ byte }}; chan h = [1] of {{ chan }}; chan c1 = [1] of {{ byte }}; chan c2 = [1] of {{ byte }}; chan x; proctype R(byte n) {{ b = n }} proctype S(chan n) {{ n ? b }} active proctype A() {{ x = c2; if :: b == 1 -> run S(c1); h ! c2; h ? x :: else fi; {body} }}"
        );
        refused(&text, why);
    }
    let fine = "chan c = [1] of { byte }; chan h = [1] of { chan }; chan x; byte b; active proctype A() { x == 0; x = c; x == c && x; h ! x; h ? [eval(c)]; h ? eval(x); printf(\"%d\", c) }";
    model(fine);
}

#[test]
fn an_unless_that_another_construct_begins_with_is_refused() {
    for (body, why) in [
        (
            "do :: { n = 1 } unless { n == 2 } od",
            "`unless` as the first statement of an option",
        ),
        (
            "do :: { { n = 1; n = 3 } unless { n == 2 } }; n = 4 od",
            "`unless` as the first statement of an option",
        ),
        (
            "n = 1 unless { { n = 3 } unless { n == 2 } }",
            "`unless` as the first statement behind `unless`",
        ),
    ] {
        let text = format!("byte n; active proctype A() {{ {body} }}");
        refused(&text, &format!("1: not supported: {why}"));
    }
    model("byte n; active proctype A() { n = 1 unless { n == 3; { n = 3 } unless { n == 2 } } }");
}
