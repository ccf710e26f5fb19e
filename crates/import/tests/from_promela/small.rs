//! Small programs: SPIN and we find the same, and what is written here.
//!
//! The first are about places where a guard, not an effect, cannot be evaluated: SPIN complains as soon as it looks at the guard. A process at such a
//! guard has a step, one that fails, so it is in no end state.

use crate::from_promela::ours;
use crate::from_promela::random::{Comparison, compare};
use crate::from_promela::spin::{self, Failure};

struct Case {
    name: &'static str,
    text: &'static str,
    /// Whether a check fails, and whether there is a bad end state.
    checks: bool,
    ends: bool,
}

const fn case(name: &'static str, checks: bool, ends: bool, text: &'static str) -> Case {
    Case {
        name,
        text,
        checks,
        ends,
    }
}

const CASES: &[Case] = &[
    case(
        "index-in-guard",
        true,
        false,
        "byte a[2]; byte i;
active proctype P() { end: do :: a[i] == 1 od }
active proctype Q() { i = 2 }",
    ),
    case(
        "index-behind-and",
        false,
        false,
        "byte a[2]; byte i;
active proctype P() { end: do :: i < 2 && a[i] == 1 :: i >= 2 || a[i] == 1 -> i = 0 od }
active proctype Q() { i = 2 }",
    ),
    case(
        "index-behind-and-blocks",
        false,
        true,
        "byte a[2]; byte i;
active proctype P() { i < 2 && a[i] == 1; end: skip }
active proctype Q() { i = 2 }",
    ),
    case(
        "division-in-guard",
        true,
        false,
        "byte x = 1; byte d = 1;
active proctype P() { end: do :: x / d == 7 od }
active proctype Q() { d = 0 }",
    ),
    case(
        "conditional-in-guard",
        true,
        false,
        "byte a[2]; byte i; bool b;
active proctype P() { end: do :: (b -> a[i] == 1 : false) od }
active proctype Q() { i = 2; b = true }",
    ),
    case(
        "index-in-eval",
        true,
        false,
        "byte a[2]; byte i; chan c = [1] of { byte };
active proctype P() { end: do :: c?eval(a[i]) od }
active proctype Q() { i = 2; c!1 }",
    ),
    case(
        "index-in-eval-of-empty",
        false,
        false,
        "byte a[2]; byte i; chan c = [1] of { byte };
active proctype P() { end: do :: c?eval(a[i]) od }
active proctype Q() { i = 2 }",
    ),
    case(
        "index-in-eval-of-random",
        true,
        false,
        "byte a[2]; byte i; chan c = [2] of { byte, byte };
active proctype P() { end: do :: c??1,eval(a[i]) od }
active proctype Q() { i = 2; c!0,0; c!1,0 }",
    ),
    case(
        "index-in-eval-of-rendezvous",
        true,
        false,
        "byte a[2]; byte i; chan c = [0] of { byte };
active proctype P() { end: do :: c?eval(a[i]) od }
active proctype Q() { i = 2; end: c!1 }",
    ),
    case(
        "index-in-else",
        true,
        true,
        "byte a[2]; byte i;
active proctype P() { end: do :: a[i] == 1 :: else -> i == 3 od }
active proctype Q() { i = 2 }",
    ),
    case(
        "index-in-unless",
        true,
        false,
        "byte a[2]; byte i; bool go;
active proctype P() { end: { go } unless { a[i] == 1 } }
active proctype Q() { i = 2; go = true }",
    ),
    case(
        "index-and-timeout",
        true,
        false,
        "byte a[2]; byte i;
active proctype P() { end: a[i] == 1 }
active proctype Q() { i = 2; end: timeout -> i = 0 }",
    ),
    case(
        "channel-index",
        true,
        false,
        "chan q[2] = [1] of { byte }; byte i = 2;
active proctype P() { end: q[i]!1 }",
    ),
    case(
        "rendezvous-index-of-send",
        true,
        false,
        "chan q[2] = [0] of { byte }; byte i = 2;
active proctype P() { end: q[i]!1 }
active proctype Q() { byte x; end: q[0]?x }",
    ),
    case(
        "rendezvous-index-of-receive",
        true,
        false,
        "chan q[2] = [0] of { byte }; byte i = 2;
active proctype P() { byte x; end: q[i]?x }
active proctype Q() { end: q[0]!1 }",
    ),
    case(
        "channel-unset",
        true,
        false,
        "chan q = [1] of { byte }; chan r;
active proctype P() { end: r!1; r = q }",
    ),
    case(
        "rendezvous-unset-of-send",
        true,
        false,
        "chan q = [0] of { byte }; chan r;
active proctype P() { end: r!1; r = q }
active proctype Q() { byte x; end: q?x }",
    ),
    case(
        "rendezvous-unset-of-both",
        true,
        false,
        "chan q = [0] of { byte }; chan r; chan s;
active proctype P() { end: r!1; r = q }
active proctype Q() { byte x; end: s?x; s = q }",
    ),
    case(
        "rendezvous-set",
        false,
        false,
        "chan q = [0] of { byte }; chan r;
active proctype P() { r = q; r!1 }
active proctype Q() { byte x; q?x; assert(x == 1) }",
    ),
    case(
        "lost-channel-send",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; hub?k; k!1 }
active proctype C() { chan c = [1] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-receive",
        false,
        true,
        "chan hub = [1] of { chan };
active proctype M() { chan k; byte x; hub?k; empty(k); len(k) == 0; k?x }
active proctype C() { chan c = [1] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-full",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; byte x; hub?k; end: full(k); x = 0 }
active proctype C() { chan c = [1] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-sorted-send",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; hub?k; k!!1 }
active proctype C() { chan c = [2] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-rendezvous-receive",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; byte x; hub?k; end: k?x }
active proctype C() { chan c = [0] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-rendezvous-send",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; hub?k; end: k!1 }
active proctype C() { chan c = [0] of { byte }; byte x; hub!c; if :: c?x :: skip fi }",
    ),
    case(
        "lost-channel-of-two",
        true,
        false,
        "chan hub = [2] of { chan }; chan own = [1] of { byte };
active proctype M() { chan k; k = own; k!1; hub?k; k!1; hub?k; k!1 }
active [2] proctype C() { chan c[2] = [1] of { byte }; byte x; hub!c[_pid - 1]; if :: c[_pid - 1]?x :: _pid == 2 fi }",
    ),
    case(
        "lost-channel-and-timeout",
        true,
        false,
        "chan hub = [1] of { chan };
active proctype M() { chan k; hub?k; if :: k!1 :: timeout fi }
active proctype C() { chan c = [1] of { byte }; hub!c }",
    ),
    case(
        "lost-channel-global",
        true,
        false,
        "chan k;
proctype C() { chan c = [1] of { byte }; k = c }
init { run C(); _nr_pr == 1; k!1 }",
    ),
    case(
        "reply-channel",
        false,
        false,
        "chan hub = [1] of { chan };
active proctype S() { chan k; end: do :: hub?k -> k!1 od }
active [2] proctype C() { chan c = [1] of { byte }; byte x; hub!c; c?x }",
    ),
    case(
        "reply-channel-of-run",
        false,
        false,
        "chan hub = [1] of { chan };
proctype S() { chan k; end: do :: hub?k -> k!1 od }
proctype C() { chan c = [1] of { byte }; byte x; hub!c; c?x }
init { run S(); run C(); run C() }",
    ),
    case(
        "reply-channel-of-run-not-awaited",
        true,
        false,
        "chan hub = [1] of { chan };
proctype S() { chan k; end: do :: hub?k -> k!1 od }
proctype C() { chan c = [1] of { byte }; byte x; hub!c; if :: c?x :: skip fi }
init { run S(); run C(); run C() }",
    ),
    case(
        "reply-rendezvous-of-run",
        false,
        false,
        "chan hub = [0] of { chan };
proctype S() { chan k; end: do :: hub?k -> k!1 od }
proctype C() { chan c = [0] of { byte }; byte x; hub!c; c?x }
init { atomic { run S(); run C(); run C() } }",
    ),
    case(
        "channel-of-an-older-process",
        false,
        false,
        "proctype W(chan k) { k!1 }
active proctype C() { chan c = [1] of { byte }; byte x; run W(c); c?x }",
    ),
    case(
        "remote-label-in-text",
        false,
        true,
        "byte k; bool go;
active proctype A() { L: k = 2; go; k = 3; M: k == 4 }
active proctype B() { A@L; k == 2; assert(!A@L); go = true; A@M; assert(k == 3); k = 5 }",
    ),
    case(
        "remote-label-in-assertion",
        true,
        false,
        "byte k;
active [2] proctype A() { k++; end: crit: k--; skip }
active proctype M() { assert(!(A[0]@crit && A[1]@crit)) }",
    ),
    case(
        "remote-label-of-run",
        false,
        false,
        "byte k;
proctype A() { L: k = 1; k = 2; k == 4 }
proctype B() { !A@L; assert(k > 0 || !A[1]@L); k == 2; k = 4; do :: k = 5 - k od }
init { atomic { run A(); run B() } }",
    ),
    case(
        "remote-label-in-atomic",
        false,
        true,
        "byte k;
active proctype A() { atomic { k = 1; L: k = 2; M: k == 3; k = 0 } }
active proctype B() { do :: A@L -> assert(false) :: A@M -> k = 3 :: k == 0 -> break od }",
    ),
    case(
        "lost-channel-receive-beside-rendezvous",
        true,
        false,
        "chan hub = [0] of { chan };
active proctype M() { chan k; byte v; hub?k; end: k?v; assert(v == 3) }
active proctype C() { chan c = [1] of { byte }; c!3; hub!c }",
    ),
    case(
        "lost-channel-poll-beside-rendezvous",
        true,
        false,
        "chan hub = [0] of { chan };
active proctype M() { chan k; byte v; hub?k; end: if :: k??[2] :: k??2 fi; v = 1 }
active proctype C() { chan c = [1] of { byte }; c!3; hub!c }",
    ),
    case(
        "lost-channel-length-beside-rendezvous",
        false,
        false,
        "chan hub = [0] of { chan };
active proctype M() { chan k; hub?k; end: len(k) == 0 && empty(k) }
active proctype C() { chan c = [1] of { byte }; c!3; hub!c }",
    ),
    case(
        "index-outside-an-inner-array",
        true,
        false,
        "typedef R { chan c[2] = [1] of { byte } };
R r[2]; byte i;
active proctype P() { i = 2; r[0].c[i]!1 }",
    ),
    case(
        "channels-in-nested-arrays",
        false,
        false,
        "typedef R { chan c[2] = [1] of { byte }; byte n };
R r[3]; byte i;
active proctype P() { byte x;
	for (i : 0 .. 2) { r[i].c[1]!i; r[i].c[0]!i + 3 };
	i = 2;
	end: do :: i > 0 -> r[i].c[1]?x; assert(x == i); r[i].c[0]?eval(i + 3); i-- :: i == 0 && nempty(r[i].c[1]) -> break od;
	r[0].c[i]?3
}",
    ),
    case(
        "channel-variables-in-nested-arrays",
        false,
        false,
        "typedef R { chan c[2] };
R r[3]; byte i; chan q = [1] of { byte };
active proctype P() { byte x;
	for (i : 0 .. 2) { r[i].c[i / 2] = q };
	i--;
	if :: r[i].c[1]?7 :: empty(r[i].c[1]) -> r[i].c[1]!5 fi;
	r[i - 1].c[0]?5
}",
    ),
    case(
        "masks",
        false,
        false,
        "byte x; short m = -6; int big = 70000; byte i;
active proctype P() {
	do
	:: i < 20 ->
		x = i * 13;
		assert((x & ~4) == x - (x & 4) && (x | 20) == x + 20 - (x & 20) && (x ^ 20) == (x | 20) - (x & 20));
		assert((x & m) == (x & 250) && (m & 12) == 8 && (big & 4096) == 4096 && (big | 1) == 70001 && (big ^ 65536) == 4464);
		i++
	:: else -> break
	od
}",
    ),
];

#[test]
fn guards_that_fail() {
    let with_spin = !spin::skip();
    let mut wrong = Vec::new();
    for case in CASES {
        let name = format!("small-{}", case.name);
        let imported = match ours::imported(&name, case.text, &[]) {
            Ok(imported) => imported,
            Err(why) => {
                wrong.push(format!("{}: refused: {why}", case.name));
                continue;
            }
        };
        let decided = ours::decide(&ours::system(&name, &imported.text()), 10_000).unwrap();
        let found = [decided.verdict("checks"), decided.verdict("ends")];
        if found != [Some(case.checks), Some(case.ends)] {
            wrong.push(format!("{}: {found:?}\n{}", case.name, imported.text()));
        }
        if with_spin {
            match compare(&name, case.text, &[], &[]) {
                Comparison::Compared(sample) => {
                    let theirs = [sample.safety.checks_violated, sample.safety.ends_violated];
                    // Behind a failure SPIN goes on, and may find more.
                    if theirs[0] != case.checks || (!case.checks && theirs[1] != case.ends) {
                        wrong.push(format!("{}: SPIN finds {theirs:?}", case.name));
                    }
                    wrong.extend(sample.differences);
                }
                // A division by zero ends SPIN's verifier, and so does a channel that is no longer there.
                Comparison::Spin(Failure::Refused(why))
                    if why.contains("SIGFPE") || why.contains("bad queue") =>
                {
                    assert!(case.checks, "{}", case.name);
                }
                Comparison::Spin(failure) => wrong.push(format!("{}: {failure:?}", case.name)),
                Comparison::Refused(why) => wrong.push(format!("{}: {why}", case.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs with a property beside the checks: its name, and whether it is violated.
const WITH_PROPERTY: &[(&str, &str, bool, &str)] = &[
    (
        "progress-at-a-jump",
        "no_non_progress_cycle",
        false,
        "byte x;
active proctype P() {
again: x = 1 - x;
	x < 2;
progress: goto again
}",
    ),
    (
        "progress-at-break",
        "no_non_progress_cycle",
        true,
        "byte x;
active proctype P() {
	do
	:: x = 1 - x;
progress: break
	od;
	do :: x = 1 - x od
}",
    ),
    (
        "accept-at-a-jump",
        "no_acceptance_cycle",
        true,
        "byte x;
active proctype P() {
again: x = 1 - x;
	x < 2;
accept: goto again
}",
    ),
    (
        "accept-where-a-run-stops",
        "no_acceptance_cycle",
        true,
        "byte x;
active proctype P() { x = 1;
accept: x == 2 }",
    ),
    (
        "progress-never-reached",
        "no_non_progress_cycle",
        true,
        "byte x;
active proctype P() {
	do :: x = 1 - x od;
progress: x = 2
}",
    ),
    (
        "accept-never-reached",
        "no_acceptance_cycle",
        false,
        "byte x;
active proctype P() {
	do :: x = 1 - x od;
accept: x = 2
}",
    ),
    (
        "progress-of-nobody",
        "no_non_progress_cycle",
        true,
        "byte x;
proctype Q() {
progress: x = 2
}
active proctype P() {
	do :: x = 1 - x od
}",
    ),
    (
        "remote-label-never-reached",
        "f0",
        false,
        "byte x;
active proctype P() {
	do :: x = 1 - x od;
L0: x = 2
}
ltl f0 { [] !(P@L0) }",
    ),
    (
        "sorted-send-in-unless",
        "ends",
        true,
        "bool g;
chan c[2] = [2] of { byte, byte };
active proctype P() {
	{ c[0]!!(g + _pid), 0; c[0]!!1, 0; c[0]!!1, 0 } unless { c[1]?_, _ }
}
active proctype Q() {
	c[g]!0, 2; c[1]!1, 1; g = true
}",
    ),
    (
        "run-that-is-never-reached",
        "ends",
        true,
        "int g[3] = 1;
proctype Q(bit p; byte q) { bool x; x = q > p }
init { (g[1] <= 2 && 2 > 2); run Q(0, g[2] * g[0]) }",
    ),
    (
        "sorted-send-of-a-wide-value",
        "checks",
        false,
        "chan c = [2] of { bool, byte };
init { bool b; byte x; c!!1, 0; c!!2, 2; c?b, x; assert(b && x == 0) }",
    ),
    (
        "argument-that-nobody-reads",
        "ends",
        false,
        "byte g;
proctype Q(byte p; byte q) { g = 3 }
active proctype P() { g = 2 }
init { run Q(g, 7) }",
    ),
    (
        "accept-at-one-jump-of-two-labels",
        "no_acceptance_cycle",
        true,
        "byte n;
active proctype A() { L: n = 1 - n; accept1: goto L }
active proctype B() { end: n == 7 -> accept2: n = 0 }",
    ),
    (
        "progress-at-one-jump-of-two-labels",
        "no_non_progress_cycle",
        false,
        "byte n;
active proctype A() { L: n = 1 - n; if :: n == 0 -> progress1: goto L :: n == 1 -> skip fi; goto L }
active proctype B() { progress2: n = n }",
    ),
    (
        "message-that-cannot-be-evaluated",
        "checks",
        true,
        "byte a[2]; byte i;
chan c = [0] of { byte };
active proctype P() { do :: i < 2 -> i++ :: c!a[i] od }",
    ),
    (
        "message-that-cannot-be-evaluated-and-timeout",
        "checks",
        true,
        "byte a[2]; byte i; chan c = [0] of { byte };
active proctype P() { i = 3; if :: c!a[i] :: i == 5 -> skip fi }
active proctype Q() { byte k; if :: timeout -> i = 1 :: c?eval(k) -> skip fi }",
    ),
    (
        "message-that-can-be-evaluated",
        "checks",
        false,
        "byte a[2]; byte i; chan c = [0] of { byte };
active proctype P() { do :: i < 1 -> i++ :: c!a[i] od }
active proctype Q() { byte k; do :: c?k :: k == 1 -> c?eval(a[k]) od }",
    ),
    (
        "sorted-send-to-a-computed-channel-in-unless",
        "ends",
        false,
        "bit g[3]; chan c[2] = [2] of { bool, byte };
init { { g[1] = 2; c[g[1]]!!(2 - g[0]), len(c[g[2]]) } unless { c[0]!len(c[1]), 2 } }",
    ),
    (
        "atomic-that-begins-with-a-loop",
        "ends",
        false,
        "chan c = [1] of { bit };
active proctype P() { atomic { do :: c?1 od } }
active proctype Q() { do :: c!1 od }",
    ),
    (
        "else-in-atomic",
        "checks",
        false,
        "byte x;
active proctype P() { do :: x == 1 -> skip :: atomic { else -> x = 3; x = 2; break } od; assert(x != 3) }
active proctype Q() { x = 1; x = 0 }",
    ),
    (
        "else-of-an-inner-selection",
        "checks",
        true,
        "byte x;
active proctype P() { if :: x == 0 -> x = 7 :: if :: else -> x = 6 :: x == 1 -> x = 5 fi fi; assert(x != 6) }
active proctype Q() { x = 1; x = 0; x = 9 }",
    ),
    // Nobody meets anybody, but the index of the channel is looked at.
    (
        "index-of-an-index-of-a-rendezvous",
        "checks",
        true,
        "bool g[2]; byte i; chan c[2] = [0] of { bool };
active proctype P() { if :: c[g[i]]!true :: i == 0 fi; i = 2; end: if :: c[g[i]]!true :: i == 0 fi }",
    ),
    (
        "index-of-an-index-of-a-receive",
        "checks",
        true,
        "bool g[2]; byte i; chan c[2] = [0] of { bool };
active proctype P() { i = 2; end: c[g[i]]?true }",
    ),
    // SPIN evaluates the patterns of `??` before it compares any, those of a poll also where there is no message.
    (
        "poll-of-what-cannot-be-compared",
        "checks",
        true,
        "byte a[2]; byte i; chan c = [1] of { byte };
active proctype P() { i = 2; end: c??[eval(a[i])] }",
    ),
    (
        "random-receive-from-an-empty-channel",
        "checks",
        false,
        "byte a[2]; byte i; chan c = [1] of { byte };
active proctype P() { i = 2; end: c??eval(a[i]) }",
    ),
    (
        "random-receive-with-a-second-pattern",
        "checks",
        true,
        "byte a[2]; byte i; chan c = [1] of { byte, byte };
active proctype P() { c!1, 1; i = 2; end: c??2, eval(a[i]) }",
    ),
    (
        "receive-with-a-second-pattern",
        "checks",
        false,
        "byte a[2]; byte i; chan c = [1] of { byte, byte };
active proctype P() { c!1, 1; i = 2; end: c?2, eval(a[i]) }",
    ),
    (
        "printed-index",
        "checks",
        true,
        "byte a[2]; byte i;
active proctype P() { printf(\"%d\", a[i]); i = 2; printf(\"%d %d\", a[i], i) }",
    ),
    (
        "printed-quotient",
        "checks",
        false,
        "byte i = 2;
active proctype P() { printf(\"%d\", 4 / i); i = 1; printf(\"%d\", 3 % i) }",
    ),
    // A jump leaves an atomic sequence, also to where another one begins.
    (
        "goto-from-atomic-to-atomic",
        "checks",
        true,
        "byte x;
active proctype P() { atomic { x = 1; if :: x == 1 -> goto L :: else fi }; x = 7; L: atomic { assert(x == 1); x = 9 } }
active proctype Q() { x == 1; x = 5 }",
    ),
    (
        "goto-from-atomic-to-a-block",
        "checks",
        true,
        "byte x;
active proctype P() { atomic { x = 1; goto L }; x = 7; L: { atomic { assert(x == 1); x = 9 } } }
active proctype Q() { x == 1; x = 5 }",
    ),
    (
        "goto-into-another-atomic",
        "checks",
        false,
        "byte x;
active proctype P() { atomic { x = 1; if :: x == 1 -> goto L :: else fi; skip }; x = 7; atomic { x = 8; L: assert(x == 1); x = 9 } }
active proctype Q() { x == 1; x = 5 }",
    ),
    (
        "goto-to-the-front-of-the-same-atomic",
        "ends",
        false,
        "byte x;
active proctype P() { L: atomic { x++; if :: x < 3 -> goto L :: else -> skip fi }; x = 7 }
active proctype Q() { x = 1 }",
    ),
    (
        "break-from-atomic-to-atomic",
        "checks",
        true,
        "byte x;
active proctype P() { do :: atomic { x = 1; break } od; atomic { assert(x == 1); x = 9 } }
active proctype Q() { x == 1; x = 5 }",
    ),
    (
        "break-from-for-to-atomic",
        "checks",
        true,
        "byte x; byte i;
active proctype P() { for (i : 0 .. 2) { atomic { x = 1; break } }; atomic { assert(x == 1); x = 9 } }
active proctype Q() { x == 1; x = 5 }",
    ),
    // While a message is handed over SPIN tries nothing but receives, those of `unless` first.
    (
        "unless-does-not-see-a-handover",
        "checks",
        true,
        "byte x; chan c = [0] of { byte };
active proctype P() { byte y; { c?y } unless { x == 2 -> y = 7 }; assert(y != 9) }
active proctype Q() { x = 2; c!9 }",
    ),
    (
        "unless-receives-first",
        "checks",
        false,
        "byte x; chan c = [0] of { byte };
active proctype P() { { x = 1; c?x } unless { c?x; x = 7 }; assert(x != 9) }
active proctype Q() { c!9 }",
    ),
    (
        "unless-receives-some",
        "checks",
        true,
        "byte x; chan c = [0] of { byte };
active proctype P() { { c?x } unless { c?1; x = 7 }; assert(x != 2) }
active proctype Q() { if :: c!1 :: c!2 fi }",
    ),
    (
        "unless-receives-what-cannot-be-compared",
        "checks",
        false,
        "byte x; byte i = 5; byte a[2]; chan c = [0] of { byte };
active proctype P() { { c?eval(a[i]) } unless { c?x } }
active proctype Q() { c!1 }",
    ),
    // What a local variable begins with and keeps, as others see it.
    (
        "initial-value-wraps",
        "ends",
        false,
        "chan c = [0] of { byte, byte }; bit g;
active proctype P() { byte k = _pid - 1; c?_, eval(k); g = 1 }
active proctype Q() { c!1, 255 }",
    ),
    (
        "initial-truth-value",
        "ends",
        true,
        "chan c = [0] of { byte, bit };
active proctype P() { bool k; c?_, eval(k) }
active proctype Q() { c!1, 0; c!1, 1 }",
    ),
];

#[test]
fn properties_and_states() {
    let with_spin = !spin::skip();
    let mut wrong = Vec::new();
    for &(name, property, violated, text) in WITH_PROPERTY {
        let name = format!("small-{name}");
        let imported =
            ours::imported(&name, text, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        let decided = ours::decide(&ours::system(&name, &imported.text()), 10_000).unwrap();
        if decided.verdict(property) != Some(violated) {
            let found = decided.verdict(property);
            wrong.push(format!("{name}: {found:?}\n{}", imported.text()));
        }
        if with_spin {
            let formulas: Vec<String> = ["f0"]
                .iter()
                .filter(|f| text.contains(&format!("ltl {f}")))
                .map(|f| (*f).to_owned())
                .collect();
            match compare(&name, text, &[], &formulas) {
                Comparison::Compared(sample) => {
                    let differences = sample.differences.iter();
                    wrong.extend(differences.map(|what| format!("{name}: {what}")));
                }
                _ => wrong.push(format!("{name}: not compared")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A process that takes four steps, one of them atomic, and a pair that meets.
const STEPS: &str = "#define last (x == 3)
byte x; bool done;
active proctype Counter() { x = 1; atomic { x = 5; x = 2 }; x = 3; done = true }
";
const PAIR: &str = "chan c = [0] of { bit }; byte a; byte b;
active proctype Sender() { do :: a = 1 - a; c!0 od }
active proctype Receiver() { do :: c?0 -> b = 1 - b od }
";

/// Formulas with `X`, and whether they are violated. SPIN says so too, where it is built with that operator, as it mostly is not.
#[test]
fn the_next_step() {
    let formulas = [
        (STEPS, "X (x == 1)", false),
        (STEPS, "X X (x == 2)", false),
        (STEPS, "X X (x == 5)", true),
        (STEPS, "[] (x == 1 -> X (x == 1 || x == 2))", false),
        (STEPS, "[] (x == 1 -> X (x == 3))", true),
        (STEPS, "[] (last -> X (done && [] last))", false),
        (STEPS, "[] (last -> X !done)", true),
        (STEPS, "<> [] (X done)", false),
        (STEPS, "(X (x != 0)) U (x == 3)", false),
        (STEPS, "(X (x < 3)) W last", true),
        (STEPS, "last V (X (x != 5))", false),
        (STEPS, "(X (x == 1)) <-> (! X (x != 1))", false),
        (PAIR, "X (a == 1 && b == 0)", false),
        (PAIR, "[] (a == b -> X (a != b))", false),
        (PAIR, "[] (a != b -> X (a == b))", true),
        (
            PAIR,
            "[] ((a == 0 && b == 1) -> X !(a == 1 && b == 0))",
            false,
        ),
        (PAIR, "[] <> (a == b && X (a != b))", false),
    ];
    let mut wrong = Vec::new();
    for (at, (program, formula, violated)) in formulas.into_iter().enumerate() {
        let text = format!("{program}ltl f {{ {formula} }}\n");
        let name = format!("next-{at}");
        let imported = ours::imported(&name, &text, &[]).unwrap();
        let decided = ours::decide(&ours::system(&name, &imported.text()), 10_000).unwrap();
        if decided.verdict("f") != Some(violated) {
            wrong.push(format!("{formula}: {decided:?}\n{}", imported.text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
