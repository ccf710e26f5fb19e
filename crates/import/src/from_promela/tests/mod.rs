//! Small programs, read as SPIN reads them.

mod constructs;
mod hostile;
mod met;
mod shown;
#[path = "../../../tests/tables/promela.rs"]
mod table;

use shown::{expr, exprs, formula, statements};

use super::parser::parse;
use super::syntax::{Initial, Promela, Type};
use crate::front::source::Sources;
use crate::{Files, Remark, Settings};

type Outcome = Result<(Promela, Vec<Remark>), Vec<Remark>>;

fn read_with(text: &str, defines: &[(&str, &str)], files: &[(&str, &str)]) -> (Files, Outcome) {
    let mut include = |name: &str| match files.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok((*text).to_string()),
        None => Err("no such file".to_string()),
    };
    let defines = defines
        .iter()
        .map(|(name, value)| ((*name).to_string(), (*value).to_string()))
        .collect();
    let mut sources = Sources::new("test.pml", text);
    let mut settings = Settings {
        defines,
        include: &mut include,
    };
    let result = parse(&mut sources, &mut settings);
    (sources.files(), result)
}

fn read(text: &str) -> Promela {
    match read_with(text, &[], &[]).1 {
        Ok((program, _)) => program,
        Err(errors) => panic!("{text}\n{errors:#?}"),
    }
}

/// The first message about a program that must be refused, with the text of its place.
fn refused(text: &str) -> (String, String) {
    let (files, result) = read_with(text, &[], &[]);
    let Err(errors) = result else {
        panic!("accepted: {text}")
    };
    let first = &errors[0];
    let span = first.diagnostic.span;
    assert!(first.diagnostic.help.is_some(), "no help: {first:?}");
    let place = files[first.file].text[span.start as usize..span.end as usize].to_string();
    (first.diagnostic.message.clone(), place)
}

#[track_caller]
fn refuses(text: &str, message: &str, place: &str) {
    let (said, at) = refused(text);
    assert!(
        said.contains(message),
        "{text}\nsaid: {said}\nwanted: {message}"
    );
    assert_eq!(at, place, "{text}\nsaid: {said}");
}

/// The statements of `init`, where `a`, `b`, `x` are variables of the program, `c` a channel, `f[3]` an array.
#[track_caller]
fn body(text: &str, wanted: &str) {
    let program = read(&format!(
        "byte a, b, x, f[3]; chan c = [2] of {{ byte, byte }}\ninit {{ {text} }}"
    ));
    assert_eq!(statements(&program.proctypes[0].body), wanted, "{text}");
}

#[test]
fn operators_bind_as_in_spin() {
    body("x = a + b * 2", "x = (a + (b * 2))");
    body("x = a - b - 1", "x = ((a - b) - 1)");
    body("a & 1 == 1", "(a & (1 == 1))");
    body("a | b ^ x & a", "(a | (b ^ (x & a)))");
    body("!a == b", "(!a == b)");
    body("a < b == b < a", "((a < b) == (b < a))");
    body("a || b && x", "(a || (b && x))");
    body("a << 1 + 2", "(a << (1 + 2))");
    body("x = -a % ~b", "x = (-a % ~b)");
    body("x = (a > b -> a : b + 1)", "x = ((a > b) -> a : (b + 1))");
    body("assert a == 1 && b == 0", "assert ((a == 1) && (b == 0))");
    body("x = 'a' + '\\n'", "x = (97 + 10)");
    body("true && skip && !false", "((1 && 1) && !0)");
}

#[test]
fn messages_in_all_their_spellings() {
    body("c!1,2", "c!1, 2");
    body("c!1(2)", "c!1, 2");
    body("c!!a, b + 1", "c!!a, (b + 1)");
    body("c?a,_", "c?a, _");
    body("c?a(b)", "c?a, b");
    body("c?(a,b)", "c?a, b");
    body("c??3,eval(x + 1)", "c??=3, =(x + 1)");
    body("c?<-1,f[2]>", "c?<=-1, f[2]>");
    body("c??<a,b>", "c??<a, b>");
    body("c?[a,1] && len(c) > 1", "(c?[a, =1] && (len(c) > 1))");
    body(
        "c??[_,_] || full(c) || nempty(c)",
        "((c??[_, _] || full(c)) || nempty(c))",
    );
}

#[test]
fn statements_of_every_kind() {
    body(
        "do :: a > 0 -> a-- :: else -> break od",
        "do :: (a > 0); a += -1 :: else; break od",
    );
    body(
        "if :: a :: b; x = 1 fi; x++",
        "if :: a :: b; x = 1 fi; x += 1",
    );
    body("l: goto l", "l: goto l");
    body("l: m: skip; goto m; n:", "l: m: 1; goto m; n: 1");
    body(
        "atomic { a = 1; d_step { b = 1 } }",
        "atomic { a = 1; d_step { b = 1 } }",
    );
    body(
        "{ a = 1 } unless { b == 2; x = 1 }",
        "({ a = 1 } unless { (b == 2); x = 1 })",
    );
    body(
        "for (a : 1 .. x + 1) { skip }",
        "a = 1; do :: else; break :: (a <= (x + 1)); 1; a += 1 od",
    );
    body(
        "for (a in f) { f[a] = 1 }",
        "a = 0; do :: else; break :: (a <= 2); f[a] = 1; a += 1 od",
    );
    body("printf(\"%d; }\\n\", a); printm(a)", "print; print");
    body(
        "timeout -> x = _pid + _nr_pr",
        "timeout; x = (_pid + _nr_pr)",
    );
    body("a -> b; -> x", "a; b; x");
    body("a --> b", "a; b");
}

#[test]
fn a_short_select_is_an_if() {
    body("select (a : 1 .. 2)", "if :: a = 1 :: a = 2 fi");
    body(
        "select (a : 0 .. 40)",
        "a = 0; do :: break :: (a < 40); a += 1 od",
    );
    body(
        "L: select (a : 0 .. x)",
        "a = 0; L: do :: break :: (a < x); a += 1 od",
    );
    // SPIN writes it out in the lexer, which does not do so inside an inline.
    let program = read("byte a\ninline s() { select (a : 1 .. 2) }\ninit { s() }");
    assert_eq!(
        statements(&program.proctypes[0].body),
        "{ a = 1; do :: break :: (a < 2); a += 1 od }"
    );
}

#[test]
fn the_end_of_a_line_is_a_semicolon() {
    body("a = 1\nb = 2\n", "a = 1; b = 2");
    // By the token before, whatever follows.
    body("x = a\n- b", "x = a; -b");
    body("x = (a\n- b)", "x = (a - b)");
    body("x = a +\nb", "x = (a + b)");
    body(
        "if\n:: a\n   x = 1\n:: else\nfi\nx = 2",
        "if :: a; x = 1 :: else fi; x = 2",
    );
    body("a == 1\n-> b = 2", "(a == 1); b = 2");
    body("{ a = 1 }\nunless\n{ b }", "({ a = 1 } unless { b })");
    body("{ a = 1 } b = 2", "{ a = 1 }; b = 2");
    body(
        "for (a : 0 .. 1)\n{ skip }",
        "a = 0; do :: else; break :: (a <= 1); 1; a += 1 od",
    );
}

#[test]
fn late_declarations_are_steps() {
    body("byte y = 1; y = 2", "var y'0; y'0 = 2");
    body(
        "a = 1; byte y, z = 3; y = 2",
        "a = 1; var y'0, z'0; y'0 = 0; z'0 = 3; y'0 = 2",
    );
    body(
        "do :: byte y = 1; y++ od",
        "do :: var y'0; y'0 = 1; y'0 += 1 od",
    );
    body(
        "{ byte y; y = 1 }; { byte y; y = 2 }",
        "{ var y'1; y'1 = 0; y'1 = 1 }; { var y'2; y'2 = 0; y'2 = 2 }",
    );
    body(
        "skip; byte y[2]; y[1] = 1",
        "1; var y'0; y'0[0] = 0; y'0[1] = 1",
    );
    refuses(
        "init { skip; chan c = [1] of { byte }; c!1 }",
        "after the first statement",
        "c = [1] of { byte }",
    );
    refuses(
        "init { skip; byte y[2] = { 1, 2 }; y[0] = 1 }",
        "after the first statement",
        "y[2] = { 1, 2 }",
    );
}

#[test]
fn declarations_of_every_kind() {
    let program = read(
        "mtype = { ack, nak }\nmtype:fruit = { apple }\nmtype = { late }\n\
         typedef In { byte v[2] }\ntypedef Out { In in_[3]; mtype m; unsigned u : 5 }\n\
         hidden int h = -3\nOut o[2]\nbit b1; bool b2; pid p; short s = 1 + 2\n\
         mtype:fruit fruit = apple\nchan c[2] = [3] of { mtype, byte, In, chan }\nchan d;\nint list[2] = { 4, -5 }\n\
         show byte shown; local byte loc\n\
         active [2] proctype P(byte a, e; chan k) { o[1].in_[a].v[e] = o[0].u }",
    );
    let members: Vec<usize> = program
        .mtypes
        .iter()
        .map(|mtype| mtype.members.len())
        .collect();
    assert_eq!(members, [2, 1, 1]);
    let kinds: Vec<&Type> = program.globals.iter().map(|global| &global.kind).collect();
    let fruit = Type::Mtype(Some("fruit".to_string()));
    let record = Type::Record("Out".to_string());
    let wanted = [
        &Type::Int,
        &record,
        &Type::Bit,
        &Type::Bool,
        &Type::Pid,
        &Type::Short,
        &fruit,
        &Type::Chan,
        &Type::Chan,
        &Type::Int,
        &Type::Byte,
        &Type::Byte,
    ];
    assert_eq!(kinds, wanted);
    assert!(program.globals[0].hidden && !program.globals[1].hidden);
    assert_eq!(program.records[1].fields[2].kind, Type::Unsigned(5));
    let Some(Initial::Channel { capacity, fields }) = &program.globals[7].initial else {
        panic!("no channel")
    };
    assert_eq!((expr(capacity), fields.len()), ("3".to_string(), 4));
    assert!(
        matches!(&program.globals[9].initial, Some(Initial::List(values)) if exprs(values) == "4, -5")
    );
    let process = &program.proctypes[0];
    assert_eq!(process.active.as_ref().map(expr), Some("2".to_string()));
    let parameters: Vec<&str> = process
        .parameters
        .iter()
        .map(|parameter| &*parameter.name.text)
        .collect();
    assert_eq!(parameters, ["a", "e", "k"]);
    assert_eq!(statements(&process.body), "o[1].in_[a'0].v[e'0] = o[0].u");
}

#[test]
fn a_variable_stands_for_its_initial_value_where_a_constant_belongs() {
    let program = read("byte n = 3\nbyte f[n]\nactive [n] proctype P() { f[0] = 1 }");
    assert_eq!(
        program.globals[1].length.as_ref().map(expr),
        Some("3".to_string())
    );
    assert_eq!(
        program.proctypes[0].active.as_ref().map(expr),
        Some("3".to_string())
    );
    refuses(
        "byte n\nbyte f[n]\ninit { skip }",
        "must be a constant",
        "n",
    );
}

#[test]
fn macros_as_in_c() {
    let program = read(
        "#define N 3\n#define twice(x) (x + x)\n#define both(x, y) x; y\n#define SELF SELF\n#define EMPTY\n\
         byte a, SELF\ninit { both(a = twice(N), a++); EMPTY a = SELF \\\n + twice(1)\nEMPTY a = N }",
    );
    assert_eq!(
        statements(&program.proctypes[0].body),
        "a = (3 + 3); a += 1; a = (SELF + (1 + 1)); a = 3"
    );
    // A macro is off inside its own expansion, and so are two that lead to each other.
    let program = read("byte p, x\n#define p q\n#define q p + 1\ninit { x = p }");
    assert_eq!(statements(&program.proctypes[0].body), "x = (p + 1)");
    // Without its parentheses a macro with parameters is a name; with those that follow its expansion it is a call.
    let program = read("byte f, x\n#define f(x) x + 1\n#define g f\ninit { x = f; x = g(2) }");
    assert_eq!(statements(&program.proctypes[0].body), "x = f; x = (2 + 1)");
    // The arguments are expanded first, also by the macro itself.
    let program = read("byte x\n#define f(x) (x * 2)\ninit { x = f(f(1)) }");
    assert_eq!(statements(&program.proctypes[0].body), "x = ((1 * 2) * 2)");
}

#[test]
fn macros_join_names_and_make_texts() {
    let program = read(
        "byte x1\n#define name(n) x ## n\n#define set(v, e) printf(#v); v = e\ninit { set(name(1), 2) }",
    );
    assert_eq!(statements(&program.proctypes[0].body), "print; x1 = 2");
}

#[test]
fn macros_are_refused_with_their_place() {
    refuses("#define s(x) x\ninit { s(1 ", "not closed", "s");
    refuses(
        "#include <stdio.h>\ninit { skip }",
        "`<stdio.h>` is not known",
        "<stdio.h>",
    );
    refuses("init { skip \0 }", "`\\0` has no meaning here", "\0");
}

#[test]
fn conditionals_choose() {
    let choose = |define: &[(&str, &str)], text: &str| match read_with(text, define, &[]).1 {
        Ok((program, _)) => statements(&program.proctypes[0].body),
        Err(errors) => panic!("{errors:#?}"),
    };
    let text = "byte x\ninit {\n#if defined(A) && A > 2\nx = 1\n#elif defined B\nx = 2\n#else\nx = 3\n#endif\n}";
    assert_eq!(choose(&[], text), "x = 3");
    assert_eq!(choose(&[("B", "1")], text), "x = 2");
    assert_eq!(choose(&[("A", "3"), ("B", "1")], text), "x = 1");
    assert_eq!(choose(&[("A", "2")], text), "x = 3");
    let nested = "byte x\ninit {\n#ifdef A\n#ifndef B\nx = 1\n#else\nx = 2\n#endif\n#endif\n#if 0\ndon't \"\n#endif\nx = 9 }";
    assert_eq!(choose(&[], nested), "x = 9");
    assert_eq!(choose(&[("A", "1")], nested), "x = 1; x = 9");
    assert_eq!(choose(&[("A", "1"), ("B", "1")], nested), "x = 2; x = 9");
    let arithmetic = "#if (1 + 2 * 3 == 7) && !(4 % 3 != 1 || UNKNOWN) && (0 && 1 / 0 ? 0 : 1)\ninit { 1 }\n#else\ninit { 2 }\n#endif";
    assert_eq!(choose(&[], arithmetic), "1");
    let undone = "#define A 1\n#undef A\n#ifdef A\ninit { 1 }\n#else\ninit { 2 }\n#endif";
    assert_eq!(choose(&[], undone), "2");
}

#[test]
fn files_are_included_once_asked_for() {
    let files = [
        ("a.h", "#include \"b.h\"\nbyte y = TWO\n"),
        ("b.h", "#define TWO 2\n"),
        ("loop.h", "#include \"loop.h\"\n"),
    ];
    let (read, result) = read_with("byte x\n#include \"a.h\"\ninit { y = z }", &[], &files);
    let names: Vec<&str> = read.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["test.pml", "a.h", "b.h"]);
    let Err(errors) = result else {
        panic!("z is not declared")
    };
    assert_eq!((errors.len(), errors[0].file), (1, 0));
    let (_, result) = read_with("#include \"a.h\"\ninit { y = 1 }", &[], &files);
    let Ok((program, _)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(program.globals[0].at.file, 1);
    let (_, result) = read_with("#include \"loop.h\"\ninit { skip }", &[], &files);
    assert!(
        result.is_err_and(|errors| errors[0].diagnostic.message.contains("include each other"))
    );
}

#[test]
fn inlines_are_copied() {
    let program = read(
        "byte x; chan c = [1] of { byte }\n\
         inline set(v, e) { byte t = e; v = t }\n\
         inline send(e) { set(x, e); c!e }\n\
         inline sum(e) { return e + 1 }\n\
         init { byte t0\n set(t0, x + 1)\n send(3)\n x = sum(t0 * 2)\n skip }",
    );
    let wanted = "var t0'0; { var t'1; t'1 = (x + 1); t0'0 = t'1 }; \
                  { { var t'3; t'3 = 3; x = t'3 }; c!3 }; { x = ((t0'0 * 2) + 1) }; 1";
    assert_eq!(statements(&program.proctypes[0].body), wanted);
    // An argument is text: the precedence is that of the body, as with macros.
    let program = read("byte x\ninline f(a) { x = a * 2 }\ninit { f(1 + 1) }");
    assert_eq!(
        statements(&program.proctypes[0].body),
        "{ x = (1 + (1 * 2)) }"
    );
}

#[test]
fn labels_of_inlines_belong_to_the_call() {
    let program = read(
        "inline f() { skip; l: skip; if :: goto l :: goto out fi }\n\
         init { f(); f(); out: l_2: skip; goto l_2 }",
    );
    let wanted = "{ 1; l: 1; if :: goto l :: goto out fi }; { 1; l_2: 1; if :: goto l_2 :: goto out fi }; \
                  out: l_2__3: 1; goto l_2__3";
    assert_eq!(statements(&program.proctypes[0].body), wanted);
}

#[test]
fn inlines_are_refused_with_their_place() {
    refuses(
        "inline f() { f() }\ninit { f() }",
        "leads back to itself",
        "f",
    );
    refuses(
        "inline f(a) { skip }\ninit { f() }",
        "takes 1 arguments, not 0",
        "f",
    );
    refuses(
        "inline f() { skip }\ninline f() { skip }\ninit { f() }",
        "a second inline",
        "f",
    );
    refuses(
        "byte x\ninline f() { return 1 }\ninit { f() }",
        "nothing takes this result",
        "return",
    );
    refuses(
        "byte x\ninline f() { return 1 }\ninit { x = 1 + f() }",
        "inside an expression",
        "f",
    );
    refuses(
        "byte x\ninline f() { return 1 }\ninit { (x) = f() }",
        "inside an expression",
        "f",
    );
}

#[test]
fn names_are_looked_up_as_in_spin() {
    refuses("init { x = 1 }\nbyte x", "`x` is not declared", "x");
    refuses(
        "byte count\ninit { cuont = 1 }",
        "`cuont` is not declared",
        "cuont",
    );
    refuses("byte x\ninit { byte x; x = 1 }", "declared already", "x");
    refuses(
        "init { byte x; x = 1; { byte x; x = 1 } }",
        "declared already",
        "x",
    );
    refuses(
        "proctype P(byte x) { byte x; x = 1 }\ninit { run P(1) }",
        "declared already",
        "x",
    );
    refuses(
        "init { { byte x; x = 1 }; x = 2 }",
        "in a block that has ended",
        "x",
    );
    refuses(
        "mtype = { a }\nbyte a\ninit { skip }",
        "member of an mtype",
        "a",
    );
    refuses(
        "mtype:s = { a }\nmtype:t x\ninit { skip }",
        "no `mtype:t`",
        "t",
    );
    refuses("byte f[2]\ninit { f = 1 }", "is an array", "f");
    refuses("byte x\ninit { x[0] = 1 }", "is no array", "x");
    refuses(
        "typedef R { byte a }\nR r\ninit { r.b = 1 }",
        "no field `b`",
        "b",
    );
    refuses("byte x\ninit { x.a = 1 }", "no record", "a");
    refuses("byte x\ninit { x!1 }", "no channel", "x");
    refuses("init { goto l }", "no label `l`", "l");
    refuses("init { l: skip; l: skip }", "a second label", "l");
    refuses("init { run P() }", "no proctype `P`", "P");
    refuses(
        "proctype P(byte a) { skip }\ninit { run P() }",
        "takes 1 arguments, not 0",
        "P",
    );
    refuses("byte x = 1\ninit { x: skip }", "cannot be a label", "x");
    refuses("init { _pid = 1 }", "was not expected", "=");
    // All of them are named, not only the first.
    let (_, result) = read_with("init { x = 1; y = 2; goto z }", &[], &[]);
    assert_eq!(result.err().map(|errors| errors.len()), Some(3));
}

#[test]
fn what_is_not_supported_is_refused_with_its_place() {
    refuses(
        "c_decl { int x; }\ninit { skip }",
        "C inside Promela",
        "c_decl",
    );
    refuses("init { c_code { x = 1; } }", "C inside Promela", "c_code");
    refuses("init { c_expr { x } }", "C inside Promela", "c_expr");
    refuses(
        "c_state \"int x\" \"Global\"\ninit { skip }",
        "C inside Promela",
        "c_state",
    );
    refuses(
        "active proctype P() provided (1) { skip }",
        "`provided`",
        "provided",
    );
    refuses(
        "active proctype P() priority 3 { skip }",
        "priorities",
        "priority",
    );
    refuses(
        "proctype P() { skip }\ninit { run P() priority 2 }",
        "priorities",
        "priority",
    );
    refuses(
        "active D_proctype P() { skip }",
        "`D_proctype`",
        "D_proctype",
    );
    refuses(
        "trace { skip }\ninit { skip }",
        "`trace` assertions",
        "trace",
    );
    refuses("byte c\ninit { STDIN?c }", "`STDIN`", "STDIN");
    refuses("chan STDIN\ninit { skip }", "`STDIN`", "STDIN");
    refuses("byte x\ninit { _ = x }", "stores nothing", "_");
    refuses("byte x\ninit { x = _ }", "`_` has no value", "_");
}

#[test]
fn malformed_programs_are_refused_with_their_place() {
    refuses("", "no process", "");
    refuses("init { }", "no statement", "{");
    refuses(
        "proctype P() { skip }\ninit { !run P() }",
        "`run` inside",
        "run P()",
    );
    refuses(
        "proctype P() { skip }\ninit { run P() && 1 }",
        "`run` inside",
        "run P()",
    );
    refuses("byte x[1 - 1]\ninit { skip }", "at least 1", "1 - 1");
    refuses("byte x[-2]\ninit { skip }", "at least 1", "-2");
    refuses("byte x[1 / 0]\ninit { skip }", "divides by zero", "1 / 0");
    refuses(
        "chan c = [0 - 1] of { byte }\ninit { skip }",
        "at least 0",
        "0 - 1",
    );
    refuses("init { skip", "never closed", "{");
    refuses("init { if fi }", "no options", "if");
    refuses("init { if :: skip }", "was not expected", "}");
    refuses("init { break }", "outside a loop", "break");
    refuses("init { else -> skip }", "`else` is out of place", "else");
    refuses("init { if :: else :: else fi }", "a second `else`", "else");
    refuses("init { 99999999999 }", "does not fit", "99999999999");
    refuses("init { 'ab' == 1 }", "not one character", "'ab'");
    refuses("init { printf(\"abc) }", "not closed", "\"abc) }");
    refuses("init { skip } /* ", "no end", "/*");
    refuses("init { $ }", "no meaning", "$");
    refuses("byte if\ninit { skip }", "word of the language", "if");
    refuses("unsigned x\ninit { skip }", "width", "x");
    refuses("byte x = [2] of { byte }\ninit { skip }", "no channel", "x");
    refuses(
        "typedef R { byte a; R b }\ninit { skip }",
        "contains itself",
        "b",
    );
    refuses("init { skip }\ninit { skip }", "a second `init`", "init");
    refuses(
        "init { l: byte x; x = 1 }",
        "in front of a declaration",
        "l",
    );
}

/// The formula, where `p`, `q`, `r` are variables.
#[track_caller]
fn ltl(text: &str, wanted: &str) {
    let program = read(&format!(
        "bool p, q, r; ltl f {{ {text} }}\nactive [2] proctype P() {{ byte k; l: k = 1 }}"
    ));
    assert_eq!(formula(&program.formulas[0].formula), wanted, "{text}");
}

#[test]
fn formulas_bind_as_in_spin() {
    ltl("[] p && q", "([]<p> && <q>)");
    ltl("[] (p && q)", "[]<(p && q)>");
    ltl("[] (p -> q)", "[]<(!p || q)>");
    ltl("[] (p <-> q)", "[]<(!p == !q)>");
    ltl("[] (p -> <> q)", "[](<p> -> <><q>)");
    ltl("p && q U r", "(<p> && (<q> U <r>))");
    ltl("p U q U r", "((<p> U <q>) U <r>)");
    ltl("<> p -> [] q -> r", "((<><p> -> []<q>) -> <r>)");
    ltl("!p == q U r", "(<(!p == q)> U <r>)");
    ltl("! [] ! p", "![]<!p>");
    ltl("p W q || X r V p", "((<p> W <q>) || (X<r> V <p>))");
    ltl(
        "always (p implies eventually q) equivalent (p weakuntil q)",
        "([](<p> -> <><q>) <-> (<p> W <q>))",
    );
    ltl(
        "(p until q) && (p release next r) || (p stronguntil q)",
        "(((<p> U <q>) && (<p> V X<r>)) || (<p> U <q>))",
    );
    ltl("[] p /\\ <> q \\/ r", "(([]<p> && <><q>) || <r>)");
    ltl(
        "[] (P[0]@l -> P[1]:k == 1)",
        "[]<(!P[0]@l || (P[1]:k'0 == 1))>",
    );
    refuses(
        "byte a, b; ltl { [] a == b }\ninit { skip }",
        "no value to compare",
        "==",
    );
    refuses(
        "ltl f { [] P@m }\nactive proctype P() { l: skip }",
        "no label `m`",
        "m",
    );
    refuses(
        "ltl f { [] (P:m == 1) }\nactive proctype P() { byte k; k = 1 }",
        "no variable `m`",
        "m",
    );
    refuses(
        "ltl f { true }\nltl f { true }\ninit { skip }",
        "a second formula",
        "f",
    );
}

#[test]
fn claims_and_remote_references() {
    let program = read(
        "byte x\nactive proctype P() { byte k[2]; l: k[1] = 1; x = 1 }\n\
         never { T: if :: P@l -> goto T :: P[0]:k[1] == 2 && np_ fi }",
    );
    assert_eq!(
        statements(&program.claims[0].body),
        "T: if :: P@l; goto T :: ((P[0]:k'0[1] == 2) && np_) fi"
    );
    let (_, result) = read_with(
        "chan c = [1] of { byte }\ninit { xr c; xs c; c!1 }",
        &[],
        &[],
    );
    let Ok((program, notes)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(
        (statements(&program.proctypes[0].body), notes.len()),
        ("c!1".to_string(), 2)
    );
}

#[test]
fn words_in_a_list_of_names() {
    refuses(
        "byte mutex = 1, empty = 2;\nactive proctype P() { skip }",
        "`empty` is a word of the language",
        "empty",
    );
    let program = read("proctype P(byte a, bit b; chan c, d) { skip }");
    assert_eq!(program.proctypes[0].parameters.len(), 4);
}

/// What is said about a program that must be refused, and what to do.
#[track_caller]
fn helps(text: &str, wanted: &str) {
    let Err(errors) = read_with(text, &[], &[]).1 else {
        panic!("accepted: {text}")
    };
    let help = errors[0].diagnostic.help.clone().unwrap_or_default();
    assert!(help.contains(wanted), "{text}\nhelp: {help}");
}

#[test]
fn habits_of_other_languages() {
    helps(
        "byte x; active proctype P() { while (x < 3) { x++ } }",
        "od`",
    );
    helps(
        "byte x; active proctype P() { if (x == 1) { x = 2 } }",
        ":: else",
    );
    helps("byte x; active proctype P() { assert(x = 1) }", "`==`");
    helps(
        "byte n; active proctype P() { n++ } ltl g { [] (P:n < 3) }",
        "alone",
    );
    helps(
        "active proctype P() { skip } ltl g { [] (P[0]:_pid < 3) }",
        "the number in",
    );
}
