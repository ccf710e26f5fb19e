//! What the front end makes of small programs. Verdicts are tested with the programs in tests/c.

mod constructs;

use threadwise_testgen::origins::origins;

use super::{DataModel, Integers, Reading, from_c};
use crate::{Imported, Settings};

fn outcome(text: &str, integers: Integers) -> Result<Imported, (u32, String)> {
    let mut include = |name: &str| match name {
        "own.h" => Ok("#define LIMIT 3\nint from_header;\n".to_owned()),
        "broken.h" => Ok("int broken = ;\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let mut settings = Settings {
        defines: vec![("GIVEN".to_owned(), "7".to_owned())],
        include: &mut include,
    };
    let reading = Reading {
        integers,
        data_model: DataModel::Lp64,
    };
    let outcome = from_c("test.c", text, reading, &mut settings);
    let files = outcome.files;
    outcome.result.map_err(|remarks| {
        let remark = &remarks[0];
        let before = &files[remark.file].text[..remark.diagnostic.span.start as usize];
        let line = before.matches('\n').count() as u32 + 1;
        assert!(
            !remark.diagnostic.message.contains("internal"),
            "{}",
            remark.diagnostic.message
        );
        assert!(remark.diagnostic.help.is_some());
        (line, remark.diagnostic.message.clone())
    })
}

fn import(text: &str) -> Imported {
    match outcome(text, Integers::Mathematical) {
        Ok(imported) => imported,
        Err((line, message)) => panic!("line {line}: {message}"),
    }
}

/// The text of the model without its first comment.
fn model(text: &str) -> String {
    let text = import(text).text();
    text.split_once("\n\n")
        .map_or(String::new(), |(_, rest)| rest.to_owned())
}

fn refused(text: &str) -> (u32, String) {
    match outcome(text, Integers::Mathematical) {
        Ok(imported) => panic!("it is accepted:\n{}", imported.text()),
        Err(refusal) => refusal,
    }
}

#[test]
fn each_access_is_a_step() {
    let text = model("int x, y, z; int main(void) { x = 1; y = 2; z = 3; x = y + z; }");
    assert!(text.contains("value := y;"), "{text}");
    assert!(
        text.contains("value_2 := value + z;") || text.contains(":= value + z;"),
        "{text}"
    );
    let steps = text
        .lines()
        .filter(|line| line.contains(": ") && line.contains(":="))
        .count();
    assert_eq!(steps, 6, "{text}");
}

#[test]
fn what_is_atomic_is_one_step() {
    for statement in [
        "a++;",
        "a += 1;",
        "atomic_fetch_add(&a, 1);",
        "__sync_fetch_and_add(&p, 1);",
    ] {
        let program = format!(
            "#include <stdatomic.h>\n_Atomic int a; int p;\nint main(void) {{\n {statement}\n}}"
        );
        let text = model(&program);
        let atomic = text
            .lines()
            .filter(|line| line.contains("atomic {"))
            .count();
        assert_eq!(atomic, 1, "{statement}\n{text}");
        assert!(!text.contains("l4_2"), "{statement}\n{text}");
    }
    let text = model("int p;\nint main(void) {\n p++;\n}");
    assert!(text.contains("l3_2"), "two steps\n{text}");
}

#[test]
fn short_circuits_read_only_what_is_needed() {
    let text = model(
        "#include <pthread.h>\nint x, y; void *t(void *a) { if (x && y) { x = 0; } return 0; }\nint main(void) { pthread_t h; pthread_create(&h, 0, t, 0); x = y = 1; }",
    );
    assert!(text.contains("holds := x != 0;"), "{text}");
    assert!(text.contains("if holds {"), "{text}");
    // As long as there is one thread, nobody can tell.
    let text = model("int x, y; int main(void) { x = y = 1; if (x && y) { x = 0; } }");
    assert!(text.contains("if x != 0 && y != 0 {"), "{text}");
}

#[test]
fn threads_are_counted() {
    let text = model(
        "#include <pthread.h>\nint x; void *f(void *a) { x = 1; return 0; }\nint main(void) { pthread_t t[3];\n for (int k = 0; k < 3; k++) pthread_create(&t[k], 0, f, 0);\n for (int k = 0; k < 3; k++) pthread_join(t[k], 0); }",
    );
    assert!(text.contains("ordered process f[i: 1..3]"), "{text}");
    assert!(text.contains("await ended["), "{text}");
    let text = model(
        "#include <pthread.h>\nint x; void *f(void *a) { x = 1; return 0; }\nint main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }",
    );
    assert!(
        text.contains("process f[]") && text.contains("start f;"),
        "{text}"
    );
}

#[test]
fn waiting_for_one_of_any_number_is_refused() {
    let (line, message) = refused(
        "#include <pthread.h>\nvoid *f(void *a) { return 0; }\nint main(void) { pthread_t t;\n while (1) pthread_create(&t, 0, f, 0);\n pthread_join(t, 0); }",
    );
    assert_eq!(
        (line, message.as_str()),
        (5, "waiting for one of any number of threads")
    );
}

#[test]
fn steps_under_a_mutex_are_joined_only_for_any_number() {
    let program = |main: &str| {
        model(&format!(
            "#include <pthread.h>\nint x; pthread_mutex_t m;\nvoid *f(void *a) {{ pthread_mutex_lock(&m); x++; x--; pthread_mutex_unlock(&m); return 0; }}\nint main(void) {{ pthread_t t; {main} }}"
        ))
    };
    let any = program("while (1) pthread_create(&t, 0, f, 0);");
    assert_eq!(any.matches("l3").count(), 1, "{any}");
    let once = program("pthread_create(&t, 0, f, 0);");
    assert!(once.matches("l3_").count() >= 4, "{once}");
    // Somebody asks whether the mutex is held.
    let asked = program(
        "while (1) { pthread_create(&t, 0, f, 0); if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m); }",
    );
    assert!(asked.matches("l3_").count() >= 4, "{asked}");
    // A use without the mutex: x is not protected.
    let race =
        program("pthread_create(&t, 0, f, 0); while (1) { pthread_create(&t, 0, f, 0); x = 5; }");
    assert!(race.matches("l3_").count() >= 4, "{race}");
}

#[test]
fn ranges_are_found() {
    let text = model("int x; int main(void) { for (int k = 0; k < 4; k++) { x = x + 2; } }");
    assert!(text.contains("shared x: 0..8 = 0;"), "{text}");
    assert!(text.contains("local k: 0..4 = 0;"), "{text}");
    let text = model("int x; int main(void) { while (1) { x = x + 1; } }");
    assert!(text.contains("shared x: 0..2147483647 = 0;"), "{text}");
}

#[test]
fn only_inputs_that_matter_are_tried() {
    let text = model(
        "int x; int main(void) { int k = __VERIFIER_nondet_int(); __VERIFIER_assume(1 <= k && k < 6); x = k; }",
    );
    assert!(text.contains("local input: 1..5 = 1;"), "{text}");
    let text =
        model("int x; int main(void) { int k = __VERIFIER_nondet_int(); if (k > 3) { x = 1; } }");
    assert!(text.contains("local input: 2..4 = 2;"), "{text}");
    // It is used otherwise, so all of them matter.
    let text = model(
        "int x; int main(void) { int k = __VERIFIER_nondet_int(); if (k > 3) { x = k / 2; } }",
    );
    assert!(text.contains("input: -2147483648..2147483647"), "{text}");
}

#[test]
fn integers_are_checked_or_wrap() {
    let program = "int x; int main(void) { x = __VERIFIER_nondet_int(); int y = x; if (y + 1 > 0) { x = 0; } }";
    let checked = import(program).text();
    assert!(
        checked.contains("assert -2147483648 <= y + 1 && y + 1 <= 2147483647;"),
        "{checked}"
    );
    let machine = outcome(program, Integers::Machine).map(|imported| imported.text());
    let machine = machine.unwrap_or_default();
    assert!(
        !machine.contains("assert") && machine.contains("% 4294967296"),
        "{machine}"
    );
    let text = model("unsigned char c = 200; int main(void) { while (1) { c += 100; } }");
    assert!(text.contains("% 256"), "{text}");
}

#[test]
fn the_operand_that_is_not_chosen_gives_its_type() {
    let text = model("long x; int main(void) { x = 1 ? -2 : 0u; }");
    assert!(text.contains("x := 4294967294;"), "{text}");
    let text = model("long x; int y; int main(void) { y = 1; x = y ? -2 : 0u; }");
    assert!(
        text.contains("4294967294") || text.contains("% 4294967296"),
        "{text}"
    );
}

#[test]
fn constants_that_do_not_fit_fail_a_check() {
    let text = model("int x, y = 2147483647; int main(void) { x = y + 1; }");
    assert!(text.contains("assert false;"), "{text}");
}

#[test]
fn atomic_parts_are_steps_or_stretches() {
    let text = model(
        "int x, y; int main(void) { x = 3; y = 3; __VERIFIER_atomic_begin(); x = y; y = x + 1; __VERIFIER_atomic_end(); }",
    );
    assert_eq!(text.matches("atomic {").count(), 1, "{text}");
    assert!(!text.contains("locked("), "{text}");
    let text = model(
        "int x, y; int main(void) { x = 3; y = 3; __VERIFIER_atomic_begin(); while (x < y + 5) { x++; } __VERIFIER_atomic_end(); }",
    );
    assert!(
        text.contains("lock atomic_part;") && text.contains("await !locked(atomic_part);"),
        "{text}"
    );
    let (line, _) = refused(
        "int x;\nint main(void) { x = 1;\n __VERIFIER_atomic_begin();\n while (x) { return 0; }\n __VERIFIER_atomic_end(); }",
    );
    assert_eq!(line, 4);
}

#[test]
fn lines_lead_back() {
    let program =
        "#include <assert.h>\nint x;\n\nint main(void) {\n    x = 1;\n    assert(x == 1);\n}\n";
    let imported = import(program);
    let lines = origins(&imported.program, &imported.layout);
    for (text, line) in imported.text().lines().zip(lines) {
        if text.contains("x := 1") {
            assert_eq!(line, Some(5));
        }
        if text.contains("assert x == 1") {
            assert_eq!(line, Some(6));
        }
    }
    assert!(
        imported.text().contains("assert x == 1"),
        "{}",
        imported.text()
    );
}

#[test]
fn files_are_included() {
    let text = model("#include \"own.h\"\nint main(void) { from_header = LIMIT + GIVEN; }");
    assert!(text.contains("from_header := 10;"), "{text}");
    let (line, message) = refused("int x;\n#include \"missing.h\"\nint main(void) {}");
    assert_eq!(line, 2);
    assert!(message.contains("there is no such file"), "{message}");
    // The place is in the file that is included.
    let (line, _) = refused("\n\n\n#include \"broken.h\"\nint main(void) {}");
    assert_eq!(line, 1);
}

#[test]
fn macros_are_expanded() {
    let program = "#define TWICE(a) ((a) + (a))\n#define NAME(a, b) a ## b\n#if defined(GIVEN) && GIVEN > 5\nint NAME(x, 1);\n#else\n#error no\n#endif\nint main(void) { x1 = TWICE(3); }";
    assert!(model(program).contains("x1 := 6;"));
    let (line, message) = refused("#ifndef GIVEN\n#else\n#error here\n#endif\nint main(void) {}");
    assert_eq!(
        (line, message.as_str()),
        (3, "the program says `#error here`")
    );
}

#[test]
fn what_is_not_supported_has_its_place() {
    let cases = [
        ("int *p;\nint main(void) {\n *p = 1; }", 3),
        (
            "#include <stdlib.h>\nint main(void) {\n int *p = malloc(4); }",
            3,
        ),
        ("double d;\nint main(void) {\n d = 1.0; }", 3),
        ("union u { int a; } v;\nint main(void) {\n v.a = 1; }", 3),
        (
            "int f(int n) {\n return f(n - 1); }\nint main(void) { return f(3); }",
            2,
        ),
        ("void g(void);\nint main(void) {\n g(); }", 3),
        ("int x; int main(void) {\n x = 1 << x; }", 2),
        ("int main(void) {\n goto nowhere; }", 2),
        ("int main(void) {\n int x = ; }", 2),
        ("int main(void) {\n @ }", 2),
        ("#include <nothing.h>\nint main(void) {}", 1),
        ("int x; int main(void) {\n __asm__ (\"nop\"); }", 2),
        (
            "unsigned long x; int main(void) { while (1) {\n x--; } }",
            2,
        ),
        (
            "#include <pthread.h>\nint main(void) { pthread_t t = pthread_self();\n }",
            2,
        ),
    ];
    for (program, line) in cases {
        let (found, message) = refused(program);
        assert_eq!(found, line, "{program}: {message}");
    }
}

#[test]
fn templates_have_parameters() {
    let program = "int waiting = 0, arbitrary;\nthread[N] p {\n    int own = 0;\n    waiting++;\n    own = waiting + arbitrary;\n    assume(waiting == N);\n    assert(waiting == N && own < 7);\n}\nthread other { while (*) { waiting = waiting; } }\n";
    let text = model(program);
    assert!(text.contains("param N = 2 where N >= 1;"), "{text}");
    assert!(text.contains("shared arbitrary: int = any;"), "{text}");
    assert!(text.contains("process p[i: 1..N] {"), "{text}");
    assert!(text.contains("process other {"), "{text}");
    assert!(
        text.contains("own := waiting + arbitrary;"),
        "one step\n{text}"
    );
}

#[test]
fn integers_of_templates_have_no_bounds() {
    // With 256 threads c would be 0 again.
    let wraps = "unsigned char c = 0; thread[N] p { atomic { c++; }\n assert(c != 0); }";
    for declared in [
        "unsigned c",
        "unsigned char c",
        "char c",
        "short c",
        "unsigned long c",
    ] {
        refused(&wraps.replace("unsigned char c", declared));
    }
    for declared in ["int c", "long c"] {
        let text = model(&wraps.replace("unsigned char c", declared));
        assert!(text.contains("shared c: int = 0;"), "{text}");
    }
    let (line, message) = refused("int c = 0; thread[N] p {\n c = (unsigned char)(c + 1); }");
    assert_eq!(line, 2, "{message}");
    model("_Bool b = 0; thread[N] p { b = b + 1; }");
}

#[test]
fn hostile_programs_are_refused_in_time() {
    let nested = |open: &str, close: &str, times: usize| {
        format!(
            "int x; int main(void) {{ x = {}x{}; }}",
            open.repeat(times),
            close.repeat(times)
        )
    };
    let mut doubling = String::from("#define A0 x x\n");
    for level in 1..40 {
        doubling.push_str(&format!("#define A{level} A{0} A{0}\n", level - 1));
    }
    doubling.push_str("int main(void) { A39; }");
    let mut calls = String::from("int x; void f40(void) { x = 1; }\n");
    for level in (0..40).rev() {
        calls.push_str(&format!(
            "void f{level}(void) {{ f{0}(); f{0}(); }}\n",
            level + 1
        ));
    }
    calls.push_str("int main(void) { f0(); }");
    let programs = [
        nested("(", ")", 100_000),
        nested("- ", "", 100_000),
        nested("x ? ", " : 1", 100_000),
        nested("f(", ")", 5_000),
        "{".repeat(100_000),
        "#if ".repeat(10_000),
        "#if 1\n".repeat(10_000),
        format!("#if {}1\n#endif", "(".repeat(100_000)),
        doubling,
        calls,
        String::from("#define F(a) a\nint main(void) { ")
            + &"F(".repeat(100_000)
            + "x"
            + &")".repeat(100_000)
            + "}",
        String::from("\u{0}\u{1}\u{fffd}"),
        String::from("#define F(a) a a\nint main(void) { ")
            + &"F(".repeat(90)
            + "x"
            + &")".repeat(90)
            + "}",
    ];
    for program in programs {
        let begin: String = program.chars().take(60).collect();
        assert!(
            outcome(&program, Integers::Mathematical).is_err(),
            "{begin}"
        );
    }
}

/// The line of the program that a line of the model comes from.
fn line_of(program: &str, wanted: &str) -> Option<u32> {
    let imported = import(program);
    let found = imported
        .text()
        .lines()
        .position(|line| line.contains(wanted));
    let position = found.unwrap_or_else(|| panic!("no `{wanted}` in\n{}", imported.text()));
    origins(&imported.program, &imported.layout)[position]
}

#[test]
fn checks_say_what_they_stand_for() {
    let cases = [
        (
            "int x; int main(void) { while (1) { x = x + 1; } }",
            "// fails: signed overflow: the value is none of `int`",
        ),
        (
            "int x, y; int main(void) { while (1) { x++; y++; if (x + y > 3) { x = 0; } } }",
            "// fails: signed overflow: the value is none of `int`",
        ),
        (
            "#include <pthread.h>\npthread_rwlock_t l; int main(void) { pthread_rwlock_unlock(&l); }",
            "// fails: the read-write lock is released by a thread that does not hold it",
        ),
        (
            "#include <pthread.h>\npthread_mutex_t m; int main(void) { pthread_mutex_lock(&m); pthread_mutex_destroy(&m); }",
            "assert !locked(m); // fails: the mutex is destroyed while somebody holds it",
        ),
        (
            "extern void reach_error(void); int main(void) { reach_error(); }",
            "assert false; // fails: the error is reached",
        ),
    ];
    for (program, wanted) in cases {
        let text = model(program);
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    // An assertion of the program says it itself.
    let text = model("#include <assert.h>\nint x; int main(void) { assert(x == 0); }");
    assert!(!text.contains("// fails"), "{text}");
}

#[test]
fn a_thread_begins_where_it_does_something() {
    let program = "#include <pthread.h>\npthread_mutex_t m;\nint x;\nvoid *t(void *arg) {\n    pthread_mutex_lock(&m);\n    x = 1;\n    pthread_mutex_unlock(&m);\n    return 0;\n}\nint main(void) {\n    pthread_t h;\n    pthread_create(&h, 0, t, 0);\n}\n";
    assert_eq!(line_of(program, "await t_started"), Some(5));
    assert_eq!(line_of(program, "lock m;"), Some(5));
}

#[test]
fn what_is_not_written_begins_with_any_value() {
    let begins = |declared: &str, code: &str| {
        let text = model(&format!(
            "extern int f(void); int g; int main(void) {{ {declared} {code} }}"
        ));
        text.contains("havoc")
    };
    let cases = [
        ("int a[2];", "a[0] = 1; a[1] = 2; g = a[0] + a[1];", false),
        ("int a[2];", "a[0] = 1; g = a[0] + a[1];", true),
        (
            "int a[4];",
            "for (int i = 0; i < 4; i++) { a[i] = i; } g = a[3];",
            false,
        ),
        (
            "int a[4];",
            "for (int i = 0; i < 3; i++) { a[i] = i; } g = a[3];",
            true,
        ),
        (
            "int a[2];",
            "if (g) { a[0] = 1; } else { a[0] = 2; } g = a[0];",
            false,
        ),
        ("int a[2];", "if (g) { a[0] = 1; } g = a[0];", true),
        ("int a[2];", "while (g) { a[0] = 1; } g = a[0];", true),
        ("struct { int x, y; } s;", "s.x = 1; g = s.x;", false),
        ("struct { int x, y; } s;", "s.x = 1; g = s.y;", true),
        ("static int a[2];", "g = a[0];", false),
        ("int a[2] = {1};", "g = a[1];", false),
    ];
    for (declared, code, any) in cases {
        assert_eq!(begins(declared, code), any, "{declared} {code}");
    }
}

#[test]
fn what_has_to_be_initialised_is() {
    let program = |declared: &str, first: &str| {
        format!(
            "#include <pthread.h>\n#include <semaphore.h>\nint main(void) {{\n    {declared}\n    {first}\n}}"
        )
    };
    for (declared, first) in [
        ("pthread_mutex_t m;", "pthread_mutex_lock(&m);"),
        ("sem_t s;", "sem_post(&s);"),
        ("pthread_barrier_t b;", "pthread_barrier_wait(&b);"),
        (
            "struct { pthread_mutex_t m; } s;",
            "pthread_mutex_lock(&s.m);",
        ),
    ] {
        let (line, message) = refused(&program(declared, first));
        assert_eq!(line, 4, "{message}");
        assert!(message.contains("nothing initialises it"), "{message}");
    }
    for (declared, first) in [
        (
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "pthread_mutex_lock(&m);",
        ),
        (
            "pthread_mutex_t m;",
            "pthread_mutex_init(&m, 0); pthread_mutex_lock(&m);",
        ),
        ("static pthread_mutex_t m;", "pthread_mutex_lock(&m);"),
        ("sem_t s;", "sem_init(&s, 0, 1); sem_wait(&s);"),
    ] {
        import(&program(declared, first));
    }
}

#[test]
fn inputs_have_as_few_values_as_are_enough() {
    let range = |code: &str| {
        let text = model(&format!(
            "extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void); extern void assume_abort_if_not(int);\nint x, y, g, h[8]; int main(void) {{ {code} }}"
        ));
        let inputs = text.lines().filter(|line| line.contains("local input"));
        let ranges = inputs.map(|line| {
            let (_, ty) = line.split_once(": ").unwrap();
            ty.split_once(" = ").unwrap().0.to_owned()
        });
        ranges.collect::<Vec<_>>().join(" ")
    };
    let nondet = "__VERIFIER_nondet_int()";
    for (code, wanted) in [
        // Two that are compared with one another, and with 0 that they are at first.
        (
            format!("x = {nondet}; y = {nondet}; g = x < y;"),
            "-2..2 -2..2",
        ),
        (format!("x = {nondet}; y = x; g = x == y;"), "-1..1"),
        // Remainders.
        ("h[__VERIFIER_nondet_uint() % 4] = 1;".to_owned(), "0..3"),
        (format!("h[({nondet} & 3)] = 1;"), "-3..3"),
        // What an assumption says about a shared variable that nobody else knows yet.
        (
            format!("x = {nondet}; assume_abort_if_not(x > 0 && x < 5); g = x * 2;"),
            "1..4",
        ),
        // What guards leave, and one value beyond.
        (
            format!("int a = {nondet}; if (a >= 0 && a <= 9) {{ g = a * 2; }}"),
            "-1..10",
        ),
        (
            format!("int a = {nondet}; if (a >= 0) {{ g = a / 2; }}"),
            "-2147483648..2147483647",
        ),
        (
            format!("x = {nondet}; y = x + 0 * x; g = x == y;"),
            "-2147483648..2147483647",
        ),
    ] {
        assert_eq!(range(&code), wanted, "{code}");
    }
}

#[test]
fn names_with_a_dollar_stay_different() {
    let text = model("int a$b, a__b, c$d; int main(void) { a$b = 1; a__b = 2; c$d = 3; }");
    assert_eq!(text.matches("shared ").count(), 3, "{text}");
    assert!(
        text.contains("shared a__S") && text.contains("shared a__b"),
        "{text}"
    );
}

#[test]
fn pointers_outside_of_functions_are_set_once() {
    let text = model(
        "#include <stdlib.h>\nint *p; int a; int *q = &a; int main(void) { p = malloc(2 * sizeof(int)); p[0] = 1; p[1] = 2; *q = p[1]; }",
    );
    assert!(text.contains("memory[1] := 2;"), "{text}");
    let set = |code: &str| {
        format!(
            "#include <stdlib.h>\nint *p; int a, c; int main(void) {{\n {code}\n if (p) {{ a = 1; }} }}"
        )
    };
    // It may not be set, or have another value.
    for code in [
        "if (c) { p = &a; }",
        "p = &a; p = &c;",
        "if (c) goto out; p = &a; out: ;",
        "while (c) { p = &a; }",
    ] {
        refused(&set(code));
    }
    import(&set("p = &a;"));
}

#[test]
fn jumps_over_declarations_are_refused_where_they_matter() {
    let over = |body: &str| {
        let program = format!(
            "void assert(int); int c; int f(int a) {{\n{body}\n return 0; }} int main(void) {{ c = f(c); }}"
        );
        match outcome(&program, Integers::Mathematical) {
            Ok(_) => None,
            Err((line, message)) => {
                assert!(
                    message.starts_with("a jump over the declaration"),
                    "{message}"
                );
                Some(line)
            }
        }
    };
    for body in [
        "goto in; int y; in: c = y;",
        "goto in; int y = 1; in: if (c) { c = y; }",
        "goto in; { int y; in: c = y; }",
        "{ int y = 2; again: c = y; } if (c) goto again;",
        "goto in; int y; while (c) { c = y; in: c = 1; }",
        "goto in; int y; back: c = y; in: if (c) goto back;",
        "switch (a) { case 0: ; int y = 1; case 1: c = y; }",
    ] {
        assert_eq!(over(body), Some(2), "{body}");
    }
    for body in [
        "int y; goto in; in: c = 1;",
        "if (c) goto out; int y = 1; c = y; out: c = 2;",
        "goto out; { int y = 1; c = y; } out: c = 2;",
        "goto in; static int y; in: c = y;",
        "again: ; int y = 1; c = y; if (c) goto again;",
        "switch (a) { case 0: { int y = 1; c = y; } case 1: c = 2; }",
        "for (int i = 0; i < 2; i++) { int y = i; if (c) continue; c = y; }",
    ] {
        assert_eq!(over(body), None, "{body}");
    }
}

#[test]
fn macros_are_those_of_the_platform() {
    for (condition, expected) in [
        ("defined(__linux__) && defined(__x86_64__)", true),
        (
            "__SIZEOF_LONG__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__",
            true,
        ),
        (
            "defined(__cplusplus) || defined(_WIN32) || defined(__clang__)",
            false,
        ),
        (
            "defined(assert) && defined(PTHREAD_MUTEX_INITIALIZER) && EOF < 0",
            true,
        ),
    ] {
        let headers = "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\n";
        let program = format!(
            "{headers}int x;\nint main(void) {{\n#if {condition}\nx = 1;\n#else\nx = 2;\n#endif\n}}"
        );
        let text = model(&program);
        assert_eq!(text.contains("x := 1;"), expected, "{condition}: {text}");
        assert_eq!(text.contains("x := 2;"), !expected, "{condition}: {text}");
    }
}

#[test]
fn assertions_can_be_switched_off() {
    let program = "#include <assert.h>\nint x;\nint main(void) { assert(x == 1); x = 2; }";
    assert!(model(program).contains("assert"));
    let off = model(&format!("#define NDEBUG\n{program}"));
    assert!(!off.contains("assert") && off.contains("x := 2;"), "{off}");
}

#[test]
fn atomic_operations_wrap_around() {
    let head =
        "#include <stdatomic.h>\n#include <limits.h>\natomic_int v = INT_MAX; int w = INT_MAX;\n";
    let text = model(&format!(
        "{head}int main(void) {{ atomic_fetch_add(&v, 1); }}"
    ));
    assert!(
        !text.contains("overflow") && text.contains("-2147483648"),
        "{text}"
    );
    let text = model(&format!("{head}int main(void) {{ w = w + 1; }}"));
    assert!(text.contains("overflow"), "{text}");
}

#[test]
fn a_division_by_zero_is_a_check() {
    let text = model("int z; int g = 3; int main(void) { g = g / 0; }");
    assert!(text.contains("/ 0"), "{text}");
    let text = model("int z; int g = 3; int main(void) { if (z) { g = g % z; } }");
    assert!(text.contains("process main"), "{text}");
}

#[test]
fn what_a_function_that_prints_gives_is_not_known() {
    let text = model("#include <stdio.h>\nint x; int main(void) { x = printf(\"a\"); }");
    assert!(text.contains("value := 1;"), "{text}");
    assert!(text.contains("value := -1;"), "{text}");
    let text = model("#include <time.h>\nlong x; int main(void) { x = time(0); }");
    assert!(text.contains("havoc input;"), "{text}");
    // It may be later than 32 bits can say.
    assert!(!text.contains("2147483647"), "{text}");
    let text = model("#include <stdio.h>\nint x; int main(void) { printf(\"a\"); x = 1; }");
    assert!(!text.contains("havoc"), "{text}");
    // What an argument does is done.
    let text = model("int x; int f(void) { return ++x; } int main(void) { printf(\"%d\", f()); }");
    assert!(text.contains("x := value + 1;"), "{text}");
    let (_, message) = refused("int main(void) { char b[4]; snprintf(b, 4, \"a\"); return b[0]; }");
    assert!(message.contains("snprintf"), "{message}");
}

#[test]
fn what_any_number_of_threads_add_to_wraps_around_if_it_can_be_large() {
    let program = |body: &str| {
        let create = "pthread_t t; while (1) pthread_create(&t, 0, thr, 0);";
        model(&format!(
            "#include <pthread.h>\nunsigned c; void *thr(void *a) {{ {body} return 0; }} int main(void) {{ {create} }}"
        ))
    };
    let text = program("c++;");
    assert!(text.contains("shared c: int = 0;"), "{text}");
    let text = program("if (c == 0) c--; else c++;");
    assert!(text.contains("shared c: 0..4294967295 = 0;"), "{text}");
    assert!(text.contains("(value + 1) % 4294967296;"), "{text}");
    assert!(
        text.contains("(value - 1 + 4294967296) % 4294967296;"),
        "{text}"
    );
}

#[test]
fn an_input_that_is_tested_in_another_type_has_few_values() {
    let program = |input: &str, ty: &str, test: &str| {
        let declared = format!("extern void abort(void); {ty} n;");
        model(&format!(
            "{declared} int main(void) {{ n = __VERIFIER_nondet_{input}(); if (!({test})) {{ abort(); }} n = n + 1; }}"
        ))
    };
    let text = program("uint", "int", "n >= 2 && n < 5");
    assert!(text.contains("input: 2..4 "), "{text}");
    let text = program("int", "unsigned", "n < 5");
    assert!(text.contains("input: 0..4 "), "{text}");
    // Large values of one type are negative ones of the other.
    let text = program("uint", "int", "n >= -2 && n < 5");
    assert!(text.contains("input: 0..4294967295 "), "{text}");
    let text = program("int", "unsigned", "n > 4294967290");
    assert!(text.contains("input: -2147483648..2147483647 "), "{text}");
}

#[test]
fn jumps_lead_into_what_a_constant_leaves_out() {
    let text =
        model("int x; int main(void) { if (x) goto inside; if (0) { inside: x = 2; } x = 3; }");
    assert!(
        text.contains("x := 2;") && text.contains("x := 3;"),
        "{text}"
    );
    let text = model("int x; int main(void) { if (0) { unused: x = 2; } x = 3; }");
    assert!(!text.contains("x := 2;"), "{text}");
}

#[test]
fn a_jump_back_repeats_what_it_goes_over() {
    let create = "pthread_create(&t, 0, thr, 0);";
    let program = |before: &str, after: &str| {
        format!(
            "#include <pthread.h>\nint x; void *thr(void *a) {{ x = 1; return 0; }} int main(void) {{ pthread_t t; {before} if (x) goto again; {after} pthread_join(t, 0); }}"
        )
    };
    let text = model(&program("again: x = 2;", create));
    assert!(text.contains("await ended"), "{text}");
    let (_, message) = refused(&program(&format!("again: {create}"), ""));
    assert!(message.contains("any number of threads"), "{message}");
    let nested = format!("int i; for (i = 0; i < 2; i++) {{ again: x = 2; {create} }}");
    let (_, message) = refused(&program(&nested, ""));
    assert!(message.contains("any number of threads"), "{message}");
    let switched = format!("switch (x) {{ case 1: again: {create} break; case 2: goto again; }}");
    let (_, message) = refused(&program(&switched, ""));
    assert!(message.contains("any number of threads"), "{message}");
}

#[test]
fn atomic_parts_may_be_left_by_branches_that_end_them() {
    let program = |branch: &str| {
        format!(
            "int x, y; int f(void) {{ __VERIFIER_atomic_begin(); if (x) {{ {branch} }} x = 1; __VERIFIER_atomic_end(); return 0; }} int main(void) {{ y = f(); }}"
        )
    };
    let text = model(&program("__VERIFIER_atomic_end(); return 1;"));
    assert!(!text.contains("atomic_part"), "{text}");
    let text = model(&program("y = 2; __VERIFIER_atomic_end(); y = 3; return 1;"));
    assert!(text.contains("y := 3;"), "{text}");
    let (_, message) = refused(&program("return 1;"));
    assert!(message.contains("jump out of an atomic part"), "{message}");
    let (_, message) = refused(&program("__VERIFIER_atomic_end(); y = 1;"));
    assert!(message.contains("atomic part"), "{message}");
}

#[test]
fn loops_whose_variable_wraps_around_have_no_known_number_of_rounds() {
    let threads = |head: &str| {
        format!(
            "#include <pthread.h>\nint x; void *thr(void *a) {{ return 0; }} int main(void) {{ pthread_t t; {head} {{ x++; pthread_create(&t, 0, thr, 0); }} }}"
        )
    };
    for head in [
        "for (unsigned i = 3; i >= 0; i--)",
        "for (unsigned char i = 250; i <= 255; i++)",
        "for (signed char i = 120; i < 130; i++)",
        "for (unsigned i = 0; i < -1; i++)",
        "for (int i = -1; i > 5u; i--)",
        "int k; int *p = &k; for (k = 0; k < 3; k++) if (x) *p = 0; else",
    ] {
        let text = model(&threads(head));
        assert!(text.contains("start thr;"), "{head}: {text}");
    }
    for head in [
        "for (unsigned i = 3; i > 0; i--)",
        "for (unsigned char i = 250; i < 253; i++)",
        "for (int i = -1; i < 2; i++)",
        "for (unsigned i = 0; i < 3; i++)",
    ] {
        let text = model(&threads(head));
        assert!(!text.contains("start thr;"), "{head}: {text}");
    }
}

#[test]
fn a_semaphore_can_be_asked_for_its_value() {
    let text = model(
        "#include <semaphore.h>\nsem_t s; int v; int main(void) { sem_init(&s, 0, 2); sem_getvalue(&s, &v); }",
    );
    assert!(text.contains(":= s"), "{text}");
}

#[test]
fn handles_in_an_array_bound_the_number_of_threads() {
    let program = |body: &str| {
        format!(
            "#include <pthread.h>\nint x; void *thr(void *a) {{ x = 1; return 0; }} int main(void) {{ pthread_t t[3]; int i, n = __VERIFIER_nondet_int(); for (i = 0; i < n; i++) {{ {body} }} for (i = 0; i < n; i++) {{ pthread_join(t[i], 0); }} }}"
        )
    };
    for body in [
        "pthread_create(&t[i], 0, thr, 0);",
        "pthread_create(t + i, 0, thr, 0);",
        "int e; if (0 != (e = pthread_create(&t[i], 0, thr, 0))) break;",
    ] {
        let text = model(&program(body));
        assert!(!text.contains("start thr"), "{body}: {text}");
    }
    for body in [
        "pthread_create(&t[0], 0, thr, 0);",
        "if (x) pthread_create(&t[i], 0, thr, 0);",
        "if (x) continue; pthread_create(&t[i], 0, thr, 0);",
        "pthread_t t[9]; pthread_create(&t[i], 0, thr, 0);",
        "pthread_create(&t[i], 0, thr, 0); i--;",
    ] {
        let (_, message) = refused(&program(body));
        assert!(
            message.contains("any number of threads"),
            "{body}: {message}"
        );
    }
}

#[test]
fn choices_between_bits_do_not_branch_in_a_step() {
    let program = |body: &str| {
        model(&format!(
            "_Bool a, b, c; int x, y; void fails(int e) {{ if (!e) {{ reach_error(); abort(); }} }} int main(void) {{ __VERIFIER_atomic_begin(); {body} __VERIFIER_atomic_end(); }}"
        ))
    };
    let text = program("a = b && !c || a ? (_Bool)0 : c; x = a ? x : b ? x : x; b = a;");
    assert!(!text.contains("if ") && text.contains("min("), "{text}");
    // A step that has done something may fail, and need not wait then.
    let text = program("x = 1; fails(y != 2); y = 1;");
    assert!(!text.contains("atomic_part"), "{text}");
    let text = program("x = a ? y : x;");
    assert!(text.contains("if "), "{text}");
}

#[test]
fn a_variable_called_like_the_number_of_a_process_has_another_name() {
    let create = "pthread_t t[2]; for (int k = 0; k < 2; k++) pthread_create(&t[k], 0, thr, 0);";
    let text = model(&format!(
        "#include <pthread.h>\nint i; void *thr(void *a) {{ i = i + 1; return 0; }} int main(void) {{ {create} }}"
    ));
    assert!(
        text.contains("thr[i: 1..2]") && text.contains("shared i_2: "),
        "{text}"
    );
    let text =
        model("int main(void) { int i = __VERIFIER_nondet_bool(); i = i + 1; while (i) { i--; } }");
    assert!(text.contains("local i: "), "{text}");
}

#[test]
fn formats_that_write_are_refused() {
    for call in [
        "printf(\"%d%n\\n\", 12345, &x)",
        "printf(\"%*hhn\", 1, &x)",
        "printf(\"%\" \"n\", &x)",
        "printf(\"\\x25n\", &x)",
        "printf(\"\\45n\", &x)",
        "fprintf(stderr, \"%1$ln\", &x)",
    ] {
        let (line, message) = refused(&format!("int main(void) {{ int x = 3;\n {call}; }}"));
        assert_eq!(
            (line, message.contains("%n")),
            (2, true),
            "{call}: {message}"
        );
    }
    let (line, message) = refused("char t[3]; int main(void) {\n printf(t); }");
    assert_eq!((line, message.contains("format")), (2, true), "{message}");
    import("int main(void) { printf(\"%%n\\0%n\"); printf(\"\\45\\x25n\\n\"); }");
}

#[test]
fn results_that_are_not_known_are_refused_where_they_are_used() {
    for used in [
        "int x = 1; int main(void) {\n int n = printf(\"%d\", x); }",
        "int main(void) {\n if (write(1, \"a\", 1) < 1) return 1; }",
        "pthread_cond_t c; pthread_mutex_t m; int main(void) { struct timespec t;\n int r = pthread_cond_timedwait(&c, &m, &t); }",
        "int main(void) { pthread_attr_t a;\n return pthread_attr_setstacksize(&a, 1); }",
    ] {
        let (line, message) = refused(used);
        assert_eq!(
            (line, message.contains("not known")),
            (2, true),
            "{message}"
        );
    }
    import(
        "int x = 1; int main(void) { (void)printf(\"%d\", x); x ? printf(\"%d\", x) : puts(\"a\"); printf(\"%d\", x), x++; }",
    );
    let (line, message) = refused("#include <errno.h>\nint main(void) {\n return errno; }");
    assert_eq!((line, message.contains("errno")), (3, true), "{message}");
}

#[test]
fn names_of_other_verifiers_are_refused() {
    for text in [
        "int g; int main(void) {\n__CPROVER_ASYNC_1: g = 1; }",
        "int main(void) {\n int __CPROVER_x = 1; }",
        "\nvoid __CPROVER_assume(_Bool); int main(void) { }",
        "int main(void) {\n __ESBMC_atomic_begin(); }",
    ] {
        let (line, message) = refused(text);
        assert_eq!(
            (line, message.contains("another verifier")),
            (2, true),
            "{message}"
        );
    }
}

#[test]
fn attributes_that_change_something_are_refused() {
    import(
        "static int f(int x) __attribute__((unused, __format__(printf, 1, 2), aligned(8))); int main(void) { }",
    );
    for attribute in [
        "constructor",
        "alias(\"g\")",
        "mode(QI)",
        "cleanup(f)",
        "unused, __vector_size__(8)",
    ] {
        let (line, message) = refused(&format!(
            "int x\n __attribute__(({attribute})); int main(void) {{ }}"
        ));
        assert_eq!(
            (line, message.contains("attribute")),
            (2, true),
            "{message}"
        );
    }
}

#[test]
fn handles_that_are_not_followed_are_refused() {
    let threads = "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_attr_t a;";
    for (rest, cause) in [
        (
            "pthread_attr_init(&a); while (1) { pthread_create(&t, 0, f, 0); if (rand())\n pthread_detach(t); } }",
            "detached twice",
        ),
        (
            "pthread_attr_init(&a);\n pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED); pthread_create(&t, &a, f, 0); pthread_join(t, 0); }",
            "detached threads",
        ),
        (
            "pthread_mutexattr_t k;\n pthread_mutexattr_settype(&k, PTHREAD_MUTEX_RECURSIVE); }",
            "plain",
        ),
    ] {
        let (line, message) = refused(&format!("{threads} {rest}"));
        assert_eq!((line, message.contains(cause)), (2, true), "{message}");
    }
    let (line, message) = refused(
        "pthread_t t, u; void *f(void *a) {\n pthread_join(u, 0); return 0; } void *g(void *a) {\n pthread_join(t, 0); return 0; } int main(void) { pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); }",
    );
    assert_eq!(
        (line, message.contains("one another")),
        (2, true),
        "{message}"
    );
}

/// Handles that are used once need no variable that says so; others do.
#[test]
fn handles_that_are_used_once_are_known_from_the_text() {
    let threads =
        "pthread_t t, h[3]; void *f(void *a) { return 0; } int main(void) { int i; pthread_t u;";
    for (rest, tracked) in [
        ("pthread_create(&t, 0, f, 0); pthread_join(t, 0); }", false),
        (
            "for (i = 0; i < 3; i++) pthread_create(&h[i], 0, f, 0); for (i = 0; i < 3; i++) pthread_join(h[i], 0); }",
            false,
        ),
        (
            "for (i = 0; i < 3; i++) { pthread_create(&u, 0, f, 0); pthread_detach(u); } }",
            false,
        ),
        (
            "pthread_create(&h[0], 0, f, 0); pthread_create(&h[1], 0, f, 0); pthread_join(h[1], 0); pthread_detach(h[0]); }",
            false,
        ),
        (
            "pthread_create(&t, 0, f, 0); u = t; pthread_join(u, 0); }",
            true,
        ),
        (
            "pthread_create(&t, 0, f, 0); if (rand()) pthread_join(t, 0); else pthread_detach(t); }",
            true,
        ),
        (
            "for (i = 0; i < 3; i++) pthread_create(&h[i], 0, f, 0); for (i = 0; i < 3; i++) pthread_join(h[0], 0); }",
            true,
        ),
        (
            "pthread_create(&h[0], 0, f, 0); for (i = 0; i < 1; i++) pthread_join(h[i], 0); pthread_join(h[0], 0); }",
            true,
        ),
    ] {
        let text = model(&format!("{threads} {rest}"));
        assert_eq!(text.contains("gone"), tracked, "{rest}\n{text}");
    }
}

#[test]
fn types_of_one_name_are_one_type() {
    for text in [
        "typedef char T; void f(void) {\n typedef int T; } int main(void) { f(); T x = 300; }",
        "struct s { int a; }; int main(void) {\n struct s { char b; } x; }",
        "enum e { A }; int main(void) {\n enum e { B = -1 } x; }",
    ] {
        let (line, message) = refused(text);
        assert_eq!(
            (line, message.contains("same name")),
            (2, true),
            "{message}"
        );
    }
    import(
        "void f(void) { typedef int T; struct s { int a; }; enum e { A }; struct s x; x.a = A; } int main(void) { f(); f(); }",
    );
}

#[test]
fn what_depends_on_the_order_of_evaluation_is_refused() {
    let program = |statement: &str| {
        format!(
            "int g = 1, n; int f(void) {{ g = 5; return 1; }} int inc(int a) {{ return a + 1; }} int next(void) {{ return ++n; }} int s(int a, int b) {{ return a - b; }} int main(void) {{ int l = 1;\n {statement} }}"
        )
    };
    for wrong in [
        "l = g + f();",
        "l = g > f();",
        "g += f();",
        "l = l + l++;",
        "l = s(next(), next());",
        "l = s(g, f());",
        "l = s(f(), g);",
        "l = s(l, l++);",
    ] {
        let (line, message) = refused(&program(wrong));
        assert_eq!(
            (line, message.contains("leaves open")),
            (2, true),
            "{wrong}: {message}"
        );
    }
    for right in [
        "l = f() + g;",
        "l = next() - next();",
        "l = s(inc(1), inc(2)) + inc(3);",
        "l = g && f();",
        "l = (f(), g);",
        "l = s(n, g) + s(g, n);",
        "l = l++ + g;",
    ] {
        import(&program(right));
    }
}

#[test]
fn what_depends_on_the_order_of_synchronisation_is_refused() {
    let program = |statement: &str| {
        format!(
            "_Atomic int x = 2, z; int y; pthread_t a; sem_t s; void *t(void *p) {{ x = 7; return 0; }} int make(void) {{ return pthread_create(&a, 0, t, 0); }} int two(int p, int q) {{ return p - q; }} int main(void) {{ sem_init(&s, 0, 0); int l = 0;\n {statement} }}"
        )
    };
    for wrong in [
        "pthread_create(&a, 0, t, 0); l = two(pthread_join(a, 0), x);",
        "l = two(x, pthread_create(&a, 0, t, 0));",
        "l = y + pthread_create(&a, 0, t, 0);",
        "l = y + make();",
        "l = y | sem_post(&s);",
        "l = two(x, z);",
        "l = two(y, atomic_fetch_add(&x, 1));",
    ] {
        let (line, message) = refused(&program(wrong));
        assert_eq!(
            (line, message.contains("leaves open")),
            (2, true),
            "{wrong}: {message}"
        );
    }
    for right in [
        "l = x + z;",
        "l = x + atomic_fetch_add(&z, 1);",
        "l = two(x, 1) + two(l, rand());",
        "l = two(y, l);",
        "l = sem_post(&s) + y;",
        "l = l + make();",
    ] {
        import(&program(right));
    }
}

#[test]
fn gcc_clears_one_byte() {
    let (line, _) = refused("int x; int main(void) {\n __atomic_clear(&x, 5); }");
    assert_eq!(line, 2);
    let (line, _) = refused("int x; int main(void) {\n return __atomic_test_and_set(&x, 5); }");
    assert_eq!(line, 2);
}

#[test]
fn mutexes_of_other_kinds_are_refused() {
    import(
        "pthread_mutex_t m = { { 0, 0, 0, 0, 0, { 0 } } }; int main(void) { pthread_mutex_lock(&m); }",
    );
    let (line, _) = refused(
        "\npthread_mutex_t m = { { 0, 0, 0, 1, 0, { 0 } } }; int main(void) { pthread_mutex_lock(&m); }",
    );
    assert_eq!(line, 2);
}

#[test]
fn a_file_that_is_not_there_may_be_a_header() {
    let text = "#include \"pthread.h\"\nint main(void) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; return PTHREAD_BARRIER_SERIAL_THREAD; }";
    import(text);
    let (line, message) = refused("\n#include \"nowhere.h\"\nint main(void) { }");
    assert_eq!(
        (line, message.contains("nowhere.h")),
        (2, true),
        "{message}"
    );
}

#[test]
fn included_files_are_looked_for_beside_the_file_that_includes_them() {
    let mut asked = Vec::new();
    let mut include = |name: &str| {
        asked.push(name.to_owned());
        match name {
            "sub/a.h" => Ok("#include \"b.h\"\n#include \"c.h\"\n#include \"d/e.h\"\n".to_owned()),
            "sub/b.h" => Ok("#define B 1\n".to_owned()),
            "c.h" => Ok("#define C 2\n".to_owned()),
            "sub/d/e.h" => Ok("#include \"../f.h\"\n".to_owned()),
            "sub/d/../f.h" => Ok("int f = B + C;\n".to_owned()),
            _ => Err("there is no such file".to_owned()),
        }
    };
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut include,
    };
    let reading = Reading {
        integers: Integers::Mathematical,
        data_model: DataModel::Lp64,
    };
    let text = "#include \"sub/a.h\"\nint main(void) { f++; assert(f == 4); }\n";
    let outcome = from_c("folder/test.c", text, reading, &mut settings);
    assert!(outcome.result.unwrap().text().contains("f: 3.."));
    let order = [
        "sub/a.h",
        "sub/b.h",
        "sub/c.h",
        "c.h",
        "sub/d/e.h",
        "sub/d/../f.h",
    ];
    assert_eq!(asked, order);
}
