//! Words that are keywords only where they can be nothing else.

use threadwise_lang::diagnostics::Code;
use threadwise_lang::print::{Layout, print};
use threadwise_lang::{check, format, validate};

/// One that uses each of them as a name, in every place that one has, and as a keyword beside it.
const BOTH: &str = "
param min = 2 where min >= 1;
enum Turn { strong, weak }
shared count: 0..9 = 0;
shared lock, start, initially: bool = false;
shared unlock: array[1..2] of bool = false;
shared ring: mutex;
shared unconditional: Turn = weak;
def sum(max: int) = max + min(count, min) + (count j in P: P[j] at unlock);
ordered process P[ordered: 1..min] {
    local under, prev: 0..1 = 0;
    loop {
        lock:   lock ring;
        count:  if count < 9 { count := count + 1; }
        unlock: unlock ring;
        start:  lock := !lock;
        min:    unlock[1], under := lock, 1 - under;
        sum:    start Q(initially && lock);
        initially: initially := start;
        max:    goto lock;
    }
}
process Q[](record: bool) { next: await start && record; }
initially !initially;
invariant sum: forall under, ordered in P: P[under] at {lock, unlock} -> under == ordered || sum(1) >= 0;
invariant lock: lock || !lock;
invariant most: count <= 9 && min(count, 3) <= 3 && (max j in P: P[j].under) <= 1 && (sum j in P: P[j].prev) == 0;
fairness weak: weak forall max in P: P[max] at unlock, unconditional or strong if lock then start;
liveness under under weak: G F lock || (lock U start) || unconditional == strong;
";

#[test]
fn words_are_names_where_they_are_no_keywords() {
    let checked = check(BOTH);
    assert!(checked.program.is_some(), "{:#?}", checked.diagnostics);
    let program = checked.program.unwrap();
    assert_eq!(program.fairness.len(), 1);
    validate(&program).unwrap();
    let printed = print(&program, &Layout::default());
    let again = check(&printed);
    assert!(
        again.program.is_some(),
        "{printed}\n{:#?}",
        again.diagnostics
    );
    let formatted = format(BOTH).unwrap();
    assert_eq!(format(&formatted).unwrap(), formatted);
    assert!(check(&formatted).program.is_some(), "{formatted}");
}

#[test]
fn temporal_operators_are_names_outside_of_liveness() {
    let text = "\
param F = 1 where F >= 0;
param T = 1 where T >= F;
shared X: int = F;

process P {
    G: X := 3 * T - F - T + G(F) - F;
}

def G(R: int) = R - 1;
invariant small: X - F <= 3 * T && F == F;
";
    let checked = check(text);
    assert!(checked.program.is_some(), "{:#?}", checked.diagnostics);
    assert_eq!(format(text).unwrap(), text);
}

#[test]
fn a_word_that_is_a_keyword_everywhere_is_no_name() {
    for word in ["while", "await", "forall", "in", "mutex", "process"] {
        let text = format!("shared {word}: bool = false; process P {{ a: skip; }}");
        assert!(check(&text).program.is_none(), "{word}");
    }
    for word in threadwise_lang::built_in() {
        let text = format!("def {word}(a: int) = a; process P {{ a: skip; }}");
        assert!(check(&text).program.is_none(), "{word}");
    }
}

/// `record` and `queue` are names wherever they are no keywords, and so are the functions of queues.
#[test]
fn words_of_records_and_queues_are_names() {
    let text = "\
record record { queue, length: 0..3, send: bool }
shared queue: array[0..1] of record = record(0, 1, false);
shared full: queue[2] of record;
shared peek: array[1..2] of queue[1] of 0..3;
def empty(a: int) = a == 0 || queue[0].queue == a;
def length = 3;
macro send(to) { to := 1; }
process P {
    local own: record = record(1, 1, true);
    record:  own.queue := queue[0].length;
    queue:   send(queue[1].length);
    receive: own := receive(full);
    full:    await full(full) || empty(2) || own.send;
    peek:    own.queue := peek(peek[1]) + length;
}
invariant record: P at {queue, receive} -> P.own.queue <= length && !full(peek[2]);
";
    let checked = check(text);
    assert!(checked.program.is_some(), "{:#?}", checked.diagnostics);
    validate(&checked.program.unwrap()).unwrap();
    assert_eq!(format(text).unwrap(), text);
}

#[test]
fn a_message_is_one_touch() {
    let program = |step: &str| {
        format!(
            "record Pair {{ a, b: 0..3 }}
            shared q: queue[2] of Pair; shared n: queue[2] of 0..3; shared x: 0..3 = 0;
            process P {{
                local own: Pair = Pair(0, 0); local y: 0..3 = 0;
                one: {step}
                two: own := receive(q);
                three: send(n, y);
                four: send(q, Pair(x, own.a));
                five: if peek(n) == 2 {{ y := own.b; }}
            }}"
        )
    };
    // `four` reads `x` and sends.
    let alone = coarse(&program("send(q, own);"));
    assert_eq!(alone, 1);
    for (step, more) in [
        ("y := receive(n);", 0),
        ("receive(q);", 0),
        ("await length(q) < 2; own := peek(q);", 1),
        ("x := receive(n);", 1),
        ("send(n, y); y := x;", 1),
        ("atomic { send(n, y); y := x; }", 0),
        ("await n[1] == 2;", 0),
    ] {
        assert_eq!(coarse(&program(step)) - alone, more, "{step}");
    }
}

/// The number of warnings about coarse steps.
fn coarse(text: &str) -> usize {
    let checked = check(text);
    assert!(checked.program.is_some(), "{:#?}", checked.diagnostics);
    let found = checked.diagnostics.iter();
    found.filter(|d| d.code == Code::CoarseStep).count()
}

#[test]
fn steps_under_a_mutex_are_not_coarse() {
    let program = |first: &str, second: &str| {
        format!(
            "shared m, n: mutex; shared x, y: 0..9 = 0; def both = x + y;
            process P[i: 1..2] {{ loop {{ a: lock m; b: if both < 9 {{ x := y; }} c: unlock m; {first} }} }}
            process Q {{ loop {{ a: lock m; b: {second} c: skip; }} }}"
        )
    };
    assert_eq!(coarse(&program("", "x := x - x; unlock m;")), 0);
    // Each of these lets somebody touch `x` without the mutex, so all steps count.
    for (first, second, many) in [
        ("d: x := 0;", "unlock m;", 1),
        ("", "unlock m; d: x := 1;", 1),
        ("d: lock n; e: x := 1; f: unlock n;", "unlock m;", 1),
        (
            "d: choose { lock m; } or { skip; } e: x := 0; unlock m;",
            "unlock m;",
            2,
        ),
    ] {
        assert_eq!(coarse(&program(first, second)), many, "{first} {second}");
    }
}

#[test]
fn an_await_over_everybody_is_one_touch() {
    let program = |wait: &str| {
        format!(
            "shared f: array[P] of bool = false; shared t: bool = false;
            process P[i: 1..2] {{ a: {wait} b: f[i] := t; }}"
        )
    };
    assert_eq!(coarse(&program("await forall j in P: j == i || !f[j];")), 1);
    let twice = "await forall j in P: j == i || !f[j] || t;";
    assert_eq!(coarse(&program(twice)), 2);
    let with_a_write = "await exists j in P: f[j]; t := true;";
    assert_eq!(coarse(&program(with_a_write)), 2);
}
