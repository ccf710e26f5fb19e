use threadwise_evidence::CheckName;
use threadwise_lang::program::Note;

use super::hash::{sha256, uuid};
use super::program::Program;
use super::yaml::{self, Node};
use super::{NoWitness, witness};
use crate::{Options, PropertyResult, Session};

/// A program in two forms: each line of the model has the number of the line of the C text that it comes from behind it.
struct Example {
    text: &'static str,
    model: String,
    lines: Vec<Option<u32>>,
}

impl Example {
    fn new(text: &'static str, model: &str) -> Example {
        let mut lines = Vec::new();
        let mut plain = String::new();
        for line in model.lines() {
            let (code, number) = match line.rsplit_once("// ") {
                Some((code, number)) => (code.trim_end(), number.parse().ok()),
                None => (line, None),
            };
            plain.push_str(code);
            plain.push('\n');
            lines.push(number);
        }
        Example {
            text,
            model: plain,
            lines,
        }
    }

    fn session(&self) -> Session {
        let notes = (1..).zip(self.model.lines()).filter_map(|(line, text)| {
            let (_, words) = text.split_once("// fails: ")?;
            Some((line, Note::Fails(words.to_owned())))
        });
        let notes: Vec<(usize, Note)> = notes.collect();
        crate::foreign::tests::made(self.text, &self.model, &self.lines, &notes)
    }

    fn result(&self) -> PropertyResult {
        let options = Options {
            explain: true,
            ..Options::default()
        };
        let report = self.session().check(&options);
        let report = report.expect("the options are right");
        let run = report.runs.into_iter().next().expect("one run");
        let mut results = run.results.into_iter();
        let found = results.find(|result| result.property == "checks");
        found.unwrap_or_else(|| panic!("no result: {:?}", run.diagnostics))
    }

    fn witness(&self) -> Result<String, NoWitness> {
        witness(
            &self.session(),
            &self.result(),
            "ILP32",
            "2026-01-02T03:04:05Z",
        )
    }
}

/// An increment that can be lost.
fn lost_update() -> Example {
    Example::new(
        r#"extern void abort(void);
void reach_error(void) { abort(); } // "reach_error
int x = 0;

void *inc(void *arg) {
    x = x + 1;
    return 0;
}

int main(void) {
    pthread_t a, b;
    int n = __VERIFIER_nondet_int();
    pthread_create(&a, 0, inc, 0);
    pthread_create(&b, 0, inc, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (x != 2) {
        reach_error();
    }
    return 0;
}
"#,
        "shared x: 0..2 = 0;
shared ended: 0..2 = 0;

process main {
    local n: 0..3 = 0;
    l12: havoc n; // 12
    l12a: await n == 3; // 12
    l13: start inc; // 13
    l14: start inc; // 14
    l15: await ended == 2; // 15
    l17: if x != 2 { // 17
        l18: assert false; // 18
    }
}

process inc[] {
    local t: 0..2 = 0;
    l6: t := x; // 6
    l6a: x := t + 1; // 6
    end: atomic { ended := ended + 1; } // 7
}
",
    )
}

/// A counter under a lock, with any number of threads.
fn locked_counter() -> Example {
    Example::new(
        "extern void abort(void);
static volatile int users = 0, other;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *user(void *arg) {
    pthread_mutex_lock(&m);
    users++;
    assert(users > 0);
    users--;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, user, 0);
    }
}
",
        "shared users: int = 0;
shared m: mutex;

process main {
    loop {
        l17: start user; // 17
    }
}

process user[] {
    local t: int = 0;
    l6: lock m; // 6
    l7: t := users; // 7
    l7a: users := t + 1; // 7
    l8: assert users > 0; // 8
    l9: t := users; // 9
    l9a: users := t - 1; // 9
    l10: unlock m; // 10
}
",
    )
}

#[test]
fn a_violation_is_a_sequence_of_lines_with_threads() {
    let text = lost_update().witness().expect("it is violated");
    let entries = read(&text);
    let [entry] = members(&entries) else {
        panic!("one entry: {text}");
    };
    has_form(entry);
    assert_eq!(string(entry, "entry_type"), "violation_sequence");
    let mut seen = Vec::new();
    let segments = members(field(entry, "content"));
    for segment in segments {
        let [waypoint] = members(field(segment, "segment")) else {
            panic!("one waypoint a segment: {text}");
        };
        let waypoint = field(waypoint, "waypoint");
        assert_eq!(string(waypoint, "action"), "follow");
        let location = field(waypoint, "location");
        let kind = string(waypoint, "type").to_owned();
        seen.push((
            kind,
            number(location, "line"),
            number(waypoint, "thread_id"),
        ));
        let function = string(location, "function");
        match number(location, "line") {
            6 | 7 => assert_eq!(function, "inc"),
            _ => assert_eq!(function, "main"),
        }
    }
    let lines = |thread: u32| -> Vec<u32> {
        let of_thread = seen.iter().filter(|(_, _, t)| *t == thread);
        of_thread.map(|(_, line, _)| *line).collect()
    };
    // What main does, with the value that it takes and the violation.
    assert_eq!(lines(0), [12, 12, 13, 14, 15, 17, 18], "{text}");
    // Two threads, each with one waypoint for a statement of two steps.
    assert_eq!((lines(1), lines(2)), (vec![6, 7], vec![6, 7]), "{text}");
    assert_eq!(seen.last(), Some(&("target".to_owned(), 18, 0)), "{text}");
    assert_eq!(seen.iter().filter(|(kind, ..)| kind == "target").count(), 1);
    assert!(text.contains("value: \"\\\\result == 3\""), "{text}");
    assert!(text.contains("column: 35"), "{text}");
    assert!(text.contains("LTL(G ! call(reach_error()))"), "{text}");
}

/// Inputs are told wherever in a step they are taken, also in the one that fails, and only if they are taken.
#[test]
fn inputs_are_told_where_they_are_taken() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = 0; if (x == 9) y = __VERIFIER_nondet_int();
    int z = __VERIFIER_nondet_int();
    if (x == 3 && y == 0 && z == 2) reach_error();
}
";
    let model = "process main {
    local x: 0..9 = 0;
    local y: 0..9 = 0;
    local input: 0..9 = 0;
    local input_2: 5..6 = 5;
    local input_3: 2..4 = 2;
    a: skip; // 3
    havoc input; // 4
    x := input; // 4
    if x == 9 { // 5
        havoc input_2; // 5
        y := input_2; // 5
    } // 5
    b: havoc input_3; // 6
    if x == 3 && y == 0 && input_3 == 2 { // 7
        assert false; // 7
    } // 7
}
";
    let text = Example::new(text, model).witness().expect("it is violated");
    let entries = read(&text);
    let mut seen = Vec::new();
    for segment in members(field(&members(&entries)[0], "content")) {
        let waypoint = field(&members(field(segment, "segment"))[0], "waypoint");
        let line = number(field(waypoint, "location"), "line");
        let value = match string(waypoint, "type") {
            "function_return" => string(field(waypoint, "constraint"), "value"),
            kind => kind,
        };
        seen.push((line, value));
    }
    let wanted = [
        (3, "assumption"),
        (4, "assumption"),
        (4, "\\result == 3"),
        (5, "assumption"),
        (6, "assumption"),
        // It has this value from the beginning, and is given it again.
        (6, "\\result == 2"),
        (7, "target"),
    ];
    assert_eq!(seen, wanted, "{text}");
}

/// An input behind something else on its line is told, if it is taken.
#[test]
fn inputs_in_the_middle_of_a_line_are_told() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int y = 0; if (y == 0) y = __VERIFIER_nondet_int();
    int z = 0; if (y == 9) z = __VERIFIER_nondet_int();
    if (y == 3) reach_error();
}
";
    let model = "process main {
    local y: 0..9 = 0;
    local input: 1..9 = 1;
    local input_2: 5..6 = 5;
    a: skip; // 4
    if y == 0 { // 4
        havoc input; // 4
        y := input; // 4
    } // 4
    if y == 9 { // 5
        havoc input_2; // 5
    } // 5
    b: assert y != 3; // 6
}
";
    let text = Example::new(text, model).witness().expect("it is violated");
    let told: Vec<&str> = text.matches("result == 3").collect();
    assert_eq!(told.len(), 1, "{text}");
    assert_eq!(text.matches("function_return").count(), 1, "{text}");
}

#[test]
fn threads_are_numbered_as_they_are_created() {
    // The thread that is created second goes first.
    let example = Example::new(
        "int x;
void *one(void *a) {
    x = 1;
}
void *two(void *a) {
    x = x + 2;
}
int main(void) {
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    pthread_join(u, 0);
    pthread_join(t, 0);
    assert(x != 1);
}
",
        "shared x: 0..3 = 0;
shared ended: array[1..2] of bool = false;
shared one_started, two_started: bool = false;
process main {
    l9: one_started := true; // 9
    l10: two_started := true; // 10
    l11: await ended[2]; // 11
    l12: await ended[1]; // 12
    l13: assert x != 1; // 13
}
process one {
    l3: await one_started; // 3
    l3a: x := 1; // 3
    end: ended[1] := true; // 3
}
process two {
    local t: 0..3 = 0;
    l6: await two_started; // 6
    l6a: t := x; // 6
    l6b: x := t + 2; // 6
    end: ended[2] := true; // 6
}
",
    );
    let text = example.witness().expect("it is violated");
    let entries = read(&text);
    let mut seen = Vec::new();
    for segment in members(field(&members(&entries)[0], "content")) {
        let waypoint = field(&members(field(segment, "segment"))[0], "waypoint");
        let line = number(field(waypoint, "location"), "line");
        seen.push((line, number(waypoint, "thread_id")));
    }
    // What threads do to be created and joined is no waypoint.
    let of_threads: Vec<_> = seen.iter().filter(|(_, thread)| *thread > 0).collect();
    assert_eq!(of_threads, [&(6, 2), &(3, 1)], "{text}");
    assert_eq!(seen.last(), Some(&(13, 0)), "{text}");
}

#[test]
fn a_proof_is_what_holds_at_lines() {
    let text = locked_counter().witness().expect("it is proved");
    let entries = read(&text);
    let [ghosts, invariants] = members(&entries) else {
        panic!("two entries: {text}");
    };
    has_form(ghosts);
    has_form(invariants);
    assert_eq!(string(ghosts, "entry_type"), "ghost_instrumentation");
    let updates = members(field(field(ghosts, "content"), "ghost_updates"));
    let updates: Vec<(u32, &str)> = updates
        .iter()
        .map(|update| {
            let line = number(field(update, "location"), "line");
            let [assignment] = members(field(update, "updates")) else {
                panic!("one assignment: {text}");
            };
            assert_eq!(string(assignment, "variable"), "m_locked");
            (line, string(assignment, "value"))
        })
        .collect();
    assert_eq!(updates, [(6, "1"), (10, "0")]);
    assert_eq!(string(invariants, "entry_type"), "invariant_set");
    let invariants = members(field(invariants, "content")).iter();
    let invariants: Vec<(u32, &str)> = invariants
        .map(|invariant| {
            let invariant = field(invariant, "invariant");
            assert_eq!(string(invariant, "type"), "location_invariant");
            let line = number(field(invariant, "location"), "line");
            (line, string(invariant, "value"))
        })
        .collect();
    // Whoever is inside holds the lock; and the assertion follows from what is said at its line.
    let at = |line: u32| {
        invariants
            .iter()
            .find(|(at, _)| *at == line)
            .map(|(_, text)| *text)
    };
    for line in 7..=10 {
        assert!(
            at(line).is_some_and(|fact| fact.contains("m_locked")),
            "{text}"
        );
    }
    assert!(
        at(8).is_some_and(|fact| fact.contains("users > 0")
            || fact.contains("users >= 1")
            || fact.contains("users == 1")),
        "{text}"
    );
    // Local variables and numbers of threads have no place in C.
    assert!(
        invariants.iter().all(|(_, fact)| !fact.contains('#')),
        "{text}"
    );
    assert!(
        invariants.iter().all(|(_, fact)| fact
            .split(|c: char| !c.is_alphanumeric())
            .all(|word| word != "t")),
        "{text}"
    );
}

#[test]
fn some_results_have_no_witness() {
    let example = lost_update();
    let mut result = example.result();
    result.property = "mutex".to_owned();
    let time = "2026-01-02T03:04:05Z";
    let of = |result: &PropertyResult| witness(&example.session(), result, "LP64", time);
    assert_eq!(of(&result), Err(NoWitness::Property));

    let template = Session::new("a.tw", "shared x: bool = true;");
    let found = witness(&template, &example.result(), "LP64", time);
    assert_eq!(found, Err(NoWitness::Main));

    let elsewhere = Example {
        lines: Vec::new(),
        ..lost_update()
    };
    assert_eq!(elsewhere.witness(), Err(NoWitness::Place));

    let mut unknown = example.result();
    unknown.verdict = crate::VerdictKind::Unknown;
    assert_eq!(of(&unknown), Err(NoWitness::Unknown));

    let division = Example::new(
        "int x = 0;\nint main(void) {\n    return 1 / x;\n}\n",
        "shared x: 0..1 = 0;
process main {
    local r: int = 0;
    l3: r := 1 / x; // 3
}
",
    );
    assert_eq!(
        division.witness(),
        Err(NoWitness::Check(CheckName::Division))
    );
}

#[test]
fn a_value_that_leaves_its_type_is_an_overflow() {
    let example = Example::new(
        "int x = 2147483647;\nint main(void) {\n    x = x + 1;\n}\n",
        "shared x: int = 2147483647;
process main {
    local t: int = 0;
    l3: t := x; // 3
    l3a: assert t + 1 <= 2147483647; x := t + 1; // fails: signed overflow: the value is none of `int` // 3
}
",
    );
    let text = example.witness().expect("it is violated");
    assert!(text.contains("LTL(G ! overflow)"), "{text}");
}

#[test]
fn facts_are_said_in_c_only_where_c_can_say_them() {
    let program = Program::new(
        "a.c",
        "int x, a[3]; unsigned u = 1; static _Bool b; struct s { int in; } s; sem_t q; int *p; \
            unsigned long w; int f(int x); pthread_mutex_t m; pthread_mutex_t n;
            void g(void) { pthread_mutex_lock(&m);\n pthread_mutex_unlock(&m);\n h(&n); } int main(void) {}",
    );
    let said = |fact: &str| {
        let mut ghost = |mutex: &str| {
            program.locking(mutex)?;
            Some(format!("{mutex}_locked"))
        };
        super::facts::in_c(fact, &program, &mut ghost)
    };
    for (fact, expected) in [
        ("x == 1", "x == 1"),
        ("!b", "!b"),
        ("b -> x > 0", "!b || (x > 0)"),
        ("b <-> x == 2", "!b == !(x == 2)"),
        ("x == 1 && (b || x >= -1)", "(x == 1) && (b || (x >= -1))"),
        ("a[2] < 3 -> b -> x == 0", "!(a[2] < 3) || (!b || (x == 0))"),
        // An unsigned number is not compared with a signed one, and sums do not overflow.
        ("u >= -1", "(long long)u >= -1"),
        ("x + a[0] <= 3", "((long long)x + (long long)a[0]) <= 3"),
        ("2 * x == u", "(2 * (long long)x) == (long long)u"),
        ("!locked(m)", "!m_locked"),
    ] {
        assert_eq!(said(fact).as_deref(), Some(expected), "{fact}");
    }
    for fact in [
        "y == 1",
        "s == 1",
        "q == 0",
        "p == 0",
        "w == 0",
        "f == 0",
        "in == 0",
        "main == 1",
        "P at l",
        "P[i] at {a, b}",
        "x == #l4 + #l5",
        "P.x == 1",
        "locked(n)",
        "locked(x)",
        "forall j in P: x == 1",
        "x == 1 &&",
        "(x == 1",
        "x == 1)",
        "x == 4294967296",
        "",
        "x x",
        "x / 0 == 1",
        "min(x, 1) == 1",
        "T[i] holds m",
        "x[1][i] == 0",
    ] {
        assert_eq!(said(fact), None, "{fact}");
    }
    let deep = format!("{}x == 1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(said(&deep), None);
    assert_eq!(said(&"!".repeat(5000)), None);
}

#[test]
fn locals_of_the_same_line_twice_are_not_a_place() {
    // The second statement that comes from line 4 begins without a label, so whoever is about to execute it may be at `l3`.
    let example = Example::new(
        "int x;\nint main(void) {\n    x = 1;\n    x = 2;\n    assert(x == 2);\n}\n",
        "shared x: 0..2 = 0;
process main {
    l3: x := 1; // 3
    skip; // 4
    l4: x := 2; // 4
    l5: assert x == 2; // 5
}
",
    );
    let text = example.witness().expect("it is proved");
    assert!(!text.contains("line: 4\n"), "{text}");
    assert!(text.contains("line: 5\n"), "{text}");
}

#[test]
fn steps_that_were_joined_have_no_places() {
    // Inside the joined step x and y differ, and another thread may be at line 8 then.
    let example = Example::new(
        "int x, y;\nvoid *f(void *a) {\n lock;\n x++;\n y++;\n}\nint main(void) {\n    g();\n    assert(1);\n}\n",
        "shared x, y: 0..1 = 0;
shared m: mutex;
process f {
    l3: atomic { // 3
        lock m; // 3
        x := x + 1; // 4
        y := y + 1; // 5
        unlock m; // 5
    }
}
process main {
    l8: skip; // 8
    l9: assert true; // 9
}
",
    );
    let text = example.witness().expect("it is proved");
    assert!(text.contains("content: []"), "{text}");
}

#[test]
fn functions_that_are_there_twice_have_no_places() {
    let text = "int x;\nvoid f(void);\nvoid f(void) { x = 1; }\nvoid g(void) { x = 2; }\nvoid h(void) { g(); }
        void *t(void *a) { h(); }\nint main(void) { f(); f(); pthread_create(&p, 0, t, 0); }";
    let mut program = Program::new("a.c", text);
    let template = |name: &str| super::program::Template {
        name: name.to_owned(),
        single: true,
        labels: Vec::new(),
    };
    program.templates = vec![template("main"), template("t")];
    let once = ["main", "f", "g", "h", "t", "x", "i"].map(|name| program.is_once(name));
    assert_eq!(once, [true, false, true, true, true, false, false]);
    // Two kinds of threads that execute one function.
    program.templates.push(template("t_2"));
    assert!(!program.is_once("t") && !program.is_once("g"));
}

#[test]
fn hashes_are_those_of_the_standard() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(sha256(b""), empty);
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc"), abc);
    let long = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    assert_eq!(sha256(&[b'a'; 1_000_000]), long);
    assert_eq!(uuid(b"abc"), "ba7816bf-8f01-8fea-8141-40de5dae2223");
}

#[test]
fn what_is_written_is_what_is_read() {
    let strange = "a: \"b\" \\ # - [x] {y}\n\t\u{7}\u{85}\u{2028}ü 'z'";
    let node = Node::List(vec![
        Node::map([
            ("text", Node::text(strange)),
            ("number", Node::Number(7)),
            ("empty", Node::List(vec![])),
            (
                "map",
                Node::map([("inner", Node::List(vec![Node::text("1"), Node::text("no")]))]),
            ),
        ]),
        Node::Map(vec![("Not: plain".to_owned(), Node::text(""))]),
        Node::text("x"),
    ]);
    let Node::List(entries) = &node else { return };
    assert_eq!(read(&yaml::text(entries)), node);
}

/// What the published schema asks of every entry.
fn has_form(entry: &Node) {
    let metadata = field(entry, "metadata");
    assert!(["2.1", "2.2"].contains(&string(metadata, "format_version")));
    let id = string(metadata, "uuid");
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
    assert_eq!(string(metadata, "creation_time"), "2026-01-02T03:04:05Z");
    let producer = field(metadata, "producer");
    assert_eq!(string(producer, "name"), "threadwise");
    assert!(!string(producer, "version").is_empty());
    let task = field(metadata, "task");
    let [Node::Text(file)] = members(field(task, "input_files")) else {
        panic!("one file");
    };
    let hash = string(field(task, "input_file_hashes"), file);
    assert_eq!(hash.len(), 64);
    assert!(string(task, "specification").starts_with("CHECK( init(main()), LTL("));
    assert_eq!(string(task, "data_model"), "ILP32");
    assert_eq!(string(task, "language"), "C");
}

fn field<'n>(node: &'n Node, name: &str) -> &'n Node {
    let Node::Map(entries) = node else {
        panic!("no map: {node:?}");
    };
    let found = entries.iter().find(|(key, _)| key == name);
    &found.unwrap_or_else(|| panic!("no `{name}`: {node:?}")).1
}

fn string<'n>(node: &'n Node, name: &str) -> &'n str {
    match field(node, name) {
        Node::Text(text) => text,
        other => panic!("no string: {other:?}"),
    }
}

fn number(node: &Node, name: &str) -> u32 {
    match field(node, name) {
        Node::Number(number) => *number,
        other => panic!("no number: {other:?}"),
    }
}

fn members(node: &Node) -> &[Node] {
    match node {
        Node::List(members) => members,
        other => panic!("no list: {other:?}"),
    }
}

/// Reads the forms of YAML that are written, by their indentation.
fn read(text: &str) -> Node {
    let lines: Vec<&str> = text.lines().collect();
    let (node, rest) = read_block(&lines, 0);
    assert!(rest.is_empty(), "left over: {rest:?}");
    node
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn read_block<'l>(lines: &'l [&'l str], depth: usize) -> (Node, &'l [&'l str]) {
    let mut rest = lines;
    if rest[0].trim_start().starts_with("- ") {
        let mut members = Vec::new();
        while rest
            .first()
            .is_some_and(|line| indent(line) == depth && line.trim_start().starts_with("- "))
        {
            let own = rest[1..]
                .iter()
                .take_while(|line| indent(line) > depth)
                .count()
                + 1;
            let first = format!("{}  {}", " ".repeat(depth), &rest[0][depth + 2..]);
            let mut block = vec![first.as_str()];
            block.extend(&rest[1..own]);
            members.push(read_member(&block, depth + 2));
            rest = &rest[own..];
        }
        return (Node::List(members), rest);
    }
    let mut entries = Vec::new();
    while rest.first().is_some_and(|line| indent(line) == depth) {
        let line = rest[0].trim_start();
        let (key, after) = match line.strip_prefix('"') {
            Some(_) => {
                let end = line[1..].find('"').expect("a closing quote") + 2;
                (unquoted(&line[..end]), &line[end + 1..])
            }
            None => {
                let (key, after) = line.split_once(':').expect("a key");
                (key.to_owned(), after)
            }
        };
        rest = &rest[1..];
        let value = match after.trim() {
            "" => {
                let (value, left) = read_block(rest, depth + 2);
                rest = left;
                value
            }
            scalar => read_scalar(scalar),
        };
        entries.push((key, value));
    }
    (Node::Map(entries), rest)
}

fn read_member(block: &[&str], depth: usize) -> Node {
    let first = block[0].trim_start();
    let is_map = match first.starts_with('"') {
        true => first.contains("\": "),
        false => first.contains(':'),
    };
    match is_map {
        true => {
            let (node, rest) = read_block(block, depth);
            assert!(rest.is_empty(), "left over: {rest:?}");
            node
        }
        false => read_scalar(first),
    }
}

fn read_scalar(text: &str) -> Node {
    match text {
        "[]" => Node::List(vec![]),
        "{}" => Node::Map(vec![]),
        text if text.starts_with('"') => Node::Text(unquoted(text)),
        number => Node::Number(number.parse().expect("a number")),
    }
}

fn unquoted(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let mut characters = inner.expect("quotes").chars();
    let mut result = String::new();
    while let Some(c) = characters.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        result.push(match characters.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('U') => {
                let digits: String = characters.by_ref().take(8).collect();
                let number = u32::from_str_radix(&digits, 16).expect("digits");
                char::from_u32(number).expect("a character")
            }
            Some(c) => c,
            None => panic!("ends in a backslash"),
        });
    }
    result
}
