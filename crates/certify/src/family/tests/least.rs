//! Proofs by the process that is least of those at a label: accepted as they are, and refused if a rule is broken.

use threadwise_evidence::family::{Comparison, Deleted, Deletion, Least};

use super::Draft;
use super::fair::impossible;

/// Everybody waits for those before it.
const FIRST: &str = "
    param N = 2 where N >= 1;
    shared gone: array[P] of bool = false;
    ordered process P[i: 1..N] {
        wait: atomic { await forall j in P: j < i -> gone[j]; gone[i] := true; }
        over: skip;
    }
    deadlock_free;
    fairness scheduling: unconditional;
    liveness passes under scheduling: forall i in P: G (P[i] at wait -> F P[i] at over);
    liveness alone: forall i in P: G (P[i] at wait -> F P[i] at over);
";

/// The newest of two that wait could go on. The other one goes back, and comes anew.
const NEWEST: &str = "
    param N = 2 where N >= 2;
    shared waiting: int = 0;
    shared x: bool = false;
    shared y: array[P] of 0..1 = 0;
    process P[i: 1..N] {
        loop {
            come: atomic { await waiting <= 1; waiting := waiting + 1; for j in P { y[j] := 1; } y[i] := 0; }
            wait: atomic { choose { await y[i] == 0; x := true; } or { await y[i] == 1; } waiting := waiting - 1; }
        }
    }
    fairness scheduling: unconditional;
    liveness one under scheduling: F x;
";

impl Draft {
    fn compared(mut self, predicate: &str) -> Draft {
        let predicate = self.formula(predicate);
        self.claim.compared.push(Comparison {
            template: "P".to_owned(),
            of: "P".to_owned(),
            predicate,
            order: true,
        });
        self
    }

    fn least(&mut self, states: &str) -> Deletion {
        Deletion::Least {
            least: Least {
                template: "P".to_owned(),
                location: "wait".to_owned(),
                comparison: 0,
            },
            states: vec![self.at_control(states)],
        }
    }

    fn at_control(&mut self, states: &str) -> Deleted {
        Deleted {
            control: 0,
            states: self.formula(states),
        }
    }
}

fn first(property: &str, order: &str) -> Draft {
    Draft::new(FIRST, property)
        .compared(order)
        .view("P.wait", &["gone[$0] <= 0"])
        .view("P.over", &["gone[$0] >= 1"])
        .view("P.done", &["gone[$0] >= 1"])
}

const BEFORE: &str = "$0 - $1 <= -1";

/// Fewer and fewer are before whoever waits, and the first of them goes on; without these deletions.
fn passes(left_out: &[usize], states: &str) -> Draft {
    let mut draft = first("passes", BEFORE);
    let all = vec![
        draft.rank(&[("#P.wait[0:$0]", 1)], 0),
        impossible(&[0]),
        draft.least(states),
        Deletion::Oneself {
            states: draft.at_control("0 <= 0"),
        },
    ];
    let kept = all.into_iter().enumerate();
    let kept = kept.filter(|(place, _)| !left_out.contains(place));
    let kept = kept.map(|(_, deletion)| deletion).collect();
    draft.fair(Some("wait"), "0 <= 0", kept)
}

const SOMEBODY: &str = "#P.wait[0:$0] >= 1";

#[test]
fn the_least_one_has_a_step() {
    let deadlock = first("deadlock_free", BEFORE).accepted();
    let live = passes(&[], SOMEBODY).accepted();
    for (property, good) in [("deadlock_free", deadlock), ("passes", live)] {
        let draft = first(property, BEFORE);
        let mut damaged = good.clone();
        let proofs = super::claim(&mut damaged).proofs.len();
        assert!(proofs > 0);
        for number in 0..proofs {
            let mut damaged = good.clone();
            super::claim(&mut damaged).proofs.remove(number);
            draft.check(&damaged).unwrap_err();
        }
    }
}

#[test]
fn who_is_least_is_so_in_an_order() {
    // Everybody is at most itself; and between neighbours it is not transitive.
    for (order, part) in [
        ("$0 - $1 <= 0", "\"transitive\":false"),
        ("$0 - $1 == -1", "\"transitive\":true"),
    ] {
        first("deadlock_free", order).refused(part);
    }
    let mut draft = passes(&[], SOMEBODY);
    draft.claim.compared[0].order = false;
    draft.refused("is no order");
    let mut draft = first("deadlock_free", BEFORE);
    draft.claim.compared[0].order = false;
    draft.refused("deadlock");
}

#[test]
fn the_least_one_is_somebody_else_who_must_move() {
    // Whoever waits may be the least itself.
    passes(&[], "0 <= 0").refused("\"part\":\"present\"");
    // The least one takes its step.
    passes(&[0, 1], SOMEBODY).refused("\"part\":\"gone\"");
    let mut draft = passes(&[], SOMEBODY);
    draft.property = "alone".to_owned();
    draft.refused("need not be scheduled");
    // What is known of those at other labels is needed for it.
    let mut draft = passes(&[], SOMEBODY);
    draft.claim.views.remove(2);
    draft.refused("\"part\":\"enabled\"");
}

#[test]
fn nobody_comes_who_is_less() {
    let mut draft = Draft::new(NEWEST, "one")
        .compared("y[$0] - y[$1] <= -1")
        .view("", &["waiting - #P.wait == 0", "#P.done == 0"])
        .view("P.wait", &["x >= 1 || #P.wait[0:$0] - y[$0] == 0"]);
    let all = vec![
        draft.least("#P.wait >= 1"),
        draft.somebody("come", "#P.come >= 1"),
    ];
    let draft = draft.fair(None, "x <= 0", all);
    draft.refused("\"part\":\"least\"");
    // All else is proved.
    let failed = draft.failures();
    let least = |failed: &String| failed.contains("\"part\":\"least\"");
    assert!(failed.iter().all(least), "{failed:?}");
}

#[test]
fn comparisons_are_about_two_processes() {
    for (predicate, part) in [
        ("#P.wait <= 0", "number of processes"),
        ("#P.wait[0:$0] <= 0", "number of processes"),
        ("$2 <= 0", "no reference $2"),
    ] {
        first("deadlock_free", predicate).refused(part);
    }
    let mut draft = first("deadlock_free", BEFORE);
    draft.claim.compared[0].of = "Q".to_owned();
    draft.refused("no template");
    let mut draft = first("deadlock_free", BEFORE);
    let one = draft.claim.compared[0].clone();
    draft.claim.compared = vec![one; 65];
    draft.refused("more than 64");
}
