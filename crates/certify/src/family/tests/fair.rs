//! Proofs of liveness made by hand: accepted as they are, and refused if a rule is broken.

use threadwise_evidence::arithmetic::Formula;
use threadwise_evidence::family::{Control, Deleted, Deletion, FairClaim, Holding, Transition};

use super::{Draft, claim};

const SEMAPHORE: &str = "
    param N = 2 where N >= 2;
    shared x: bool = true;
    process P[i: 1..N] {
        loop {
            idle:     stay;
            request:  atomic { await x; x := false; }
            critical: skip;
            leave:    x := true;
        }
    }
    fairness scheduling: unconditional;
    fairness entry: strong forall i in P: if P[i] at request && x then P[i] at critical;
    fairness leaving: strong forall i in P: if P[i] at critical then P[i] at leave;
    liveness access under scheduling, entry: forall i in P: G (P[i] at request -> F P[i] at critical);
    liveness overtaken under scheduling, leaving: forall i in P: G (P[i] at request -> F P[i] at critical);
    liveness unscheduled under entry: forall i in P: G (P[i] at request -> F P[i] at critical);
    liveness in_use under scheduling: G F !x;
    liveness free under scheduling: G F x;
";

/// The transition of another process from the label with this number; here each has one.
fn other(path: usize) -> Transition {
    Transition {
        control: 0,
        other: Some("P".to_owned()),
        path,
    }
}

impl Draft {
    fn states(&mut self, states: &str) -> Deleted {
        Deleted {
            control: 0,
            states: self.formula(states),
        }
    }

    pub(super) fn somebody(&mut self, location: &str, states: &str) -> Deletion {
        Deletion::Somebody {
            template: "P".to_owned(),
            location: location.to_owned(),
            holding: None,
            states: vec![self.states(states)],
        }
    }

    fn promise(&mut self, assumption: usize, own: bool, states: &str) -> Deletion {
        Deletion::Promise {
            assumption,
            own,
            states: vec![self.states(states)],
        }
    }

    pub(super) fn rank(&mut self, terms: &[(&str, i64)], least: i64) -> Deletion {
        let terms = terms.iter().map(|(name, by)| (self.variable(name), *by));
        Deletion::Rank {
            terms: terms.collect(),
            least,
        }
    }

    /// With one control, at which this holds.
    pub(super) fn fair(
        mut self,
        location: Option<&str>,
        pending: &str,
        deletions: Vec<Deletion>,
    ) -> Draft {
        let control = Control {
            location: location.map(str::to_owned),
            pending: self.formula(pending),
        };
        self.claim.fair = Some(Box::new(FairClaim {
            controls: vec![control],
            deletions,
        }));
        self
    }

    #[track_caller]
    pub(super) fn refused(&self, part: &str) {
        let error = self.prove().expect_err("a proof of something wrong");
        assert!(error.contains(part), "{error}");
        self.check(&self.certificate()).unwrap_err();
    }
}

pub(super) fn impossible(paths: &[usize]) -> Deletion {
    Deletion::Impossible {
        transitions: paths.iter().map(|path| other(*path)).collect(),
    }
}

fn semaphore(property: &str) -> Draft {
    Draft::new(SEMAPHORE, property).view("", &["x + #P.critical + #P.leave == 1"])
}

/// The deletions that prove that nobody waits for ever, after what was done about `x`.
fn rest(draft: &mut Draft) -> Vec<Deletion> {
    vec![
        impossible(&[1, 3]),
        draft.somebody("leave", "#P.leave >= 1"),
        impossible(&[2]),
        draft.somebody("critical", "#P.critical >= 1"),
    ]
}

fn access() -> Draft {
    let mut draft = semaphore("access");
    let mut deletions = vec![draft.promise(0, true, "x >= 1")];
    deletions.extend(rest(&mut draft));
    draft.fair(Some("request"), "0 <= 0", deletions)
}

/// That the semaphore is given back: somebody is inside while it is not, and leaves.
fn free() -> Draft {
    let mut draft = semaphore("free");
    let deletions = vec![
        impossible(&[1, 3]),
        draft.somebody("leave", "#P.leave >= 1"),
        impossible(&[2]),
        draft.somebody("critical", "#P.critical >= 1"),
    ];
    draft.fair(None, "x <= 0", deletions)
}

const DOWN: &str = "
    param N = 2 where N >= 1;
    shared n: int = 9;
    process P[i: 1..N] { loop { a: n := n - 1; } }
    liveness below: F (n < 0);
    liveness above: F (n > 9);
";

fn below() -> Draft {
    let mut draft = Draft::new(DOWN, "below").view("", &["#P.done == 0"]);
    let deletions = vec![
        draft.rank(&[("n", 1)], 0),
        Deletion::Everybody {
            states: vec![draft.states("0 <= 0")],
        },
    ];
    draft.fair(None, "n >= 0", deletions)
}

fn deletions(draft: &mut Draft) -> &mut Vec<Deletion> {
    &mut draft.claim.fair.as_mut().unwrap().deletions
}

#[test]
fn proofs_of_liveness_are_accepted() {
    for draft in [access(), free(), below()] {
        draft.accepted();
    }
}

#[test]
fn no_deletion_can_be_left_out_or_come_too_early() {
    for mut draft in [access(), free(), below()] {
        // That transitions are impossible need not be said.
        deletions(&mut draft).retain(|deletion| !matches!(deletion, Deletion::Impossible { .. }));
        draft.accepted();
        let count = draft.clone().claim.fair.unwrap().deletions.len();
        for left_out in 0..count {
            let mut fewer = draft.clone();
            deletions(&mut fewer).remove(left_out);
            fewer.prove().expect_err("a deletion too few");
        }
        for place in 1..count {
            let mut swapped = draft.clone();
            deletions(&mut swapped).swap(place - 1, place);
            swapped.prove().expect_err("deletions in another order");
        }
    }
}

#[test]
fn damaged_proofs_of_liveness_are_refused() {
    let mut refusals = 0;
    for draft in [access(), free(), below()] {
        let good = draft.accepted();
        let mut good = good;
        for number in 0..claim(&mut good).proofs.len() {
            let mut damaged = good.clone();
            claim(&mut damaged).proofs.remove(number);
            draft.check(&damaged).unwrap_err();
            refusals += 1;
        }
        let mut damaged = good.clone();
        claim(&mut damaged).fair = None;
        draft.check(&damaged).unwrap_err();
        for name in ["overtaken", "unscheduled", "in_use", "above"] {
            let mut renamed = good.clone();
            renamed.property = name.to_owned();
            let other = Draft {
                property: name.to_owned(),
                ..draft.clone()
            };
            other.check(&renamed).unwrap_err();
        }
    }
    assert!(refusals >= 9, "{refusals}");
}

#[test]
fn states_are_deleted_only_if_they_persist() {
    // Without strong fairness a process may look only while somebody else is inside.
    let mut draft = semaphore("overtaken");
    let states = draft.states("x >= 1");
    let mut all = vec![Deletion::Oneself { states }];
    all.extend(rest(&mut draft));
    draft
        .fair(Some("request"), "0 <= 0", all)
        .refused("deletion 0");
    // Others may take what they wait for, too.
    let mut draft = semaphore("in_use");
    let all = vec![draft.somebody("request", "#P.request >= 1")];
    draft.fair(None, "x >= 1", all).refused("nothing is left");
}

#[test]
fn states_are_deleted_only_if_somebody_must_move() {
    // At `idle` everybody may rest.
    let mut draft = semaphore("in_use");
    let all = vec![
        impossible(&[1]),
        draft.somebody("request", "#P.request >= 1"),
        impossible(&[0]),
        draft.somebody("idle", "#P.idle >= 1"),
    ];
    draft.fair(None, "x >= 1", all).refused("may rest");
    let mut draft = semaphore("in_use");
    let states = vec![draft.states("0 <= 0")];
    let all = vec![
        impossible(&[1, 2, 3]),
        draft.rank(&[("#P.idle", 1)], 0),
        Deletion::Everybody { states },
    ];
    draft.fair(None, "x >= 1", all).refused("deletion 2");
    // Nobody is at the label, or who is there waits.
    let mut draft = free();
    deletions(&mut draft)[1] = draft.clone().somebody("leave", "0 <= 0");
    draft.refused("deletion 1");
    let mut draft = free();
    let waiting = draft.somebody("request", "#P.request >= 1");
    deletions(&mut draft).insert(1, waiting);
    draft.refused("deletion 1");
    // The scheduler may forget somebody.
    let mut draft = semaphore("unscheduled");
    let mut all = vec![draft.promise(0, true, "x >= 1")];
    all.extend(rest(&mut draft));
    let draft = draft.fair(Some("request"), "0 <= 0", all);
    draft.refused("need not be scheduled");
    // There are transitions from there.
    let mut draft = below();
    deletions(&mut draft).remove(0);
    draft.refused("deletion 0");
}

#[test]
fn promises_are_about_what_is_not_in_the_region() {
    // Others go on from `critical` to `leave`.
    let mut draft = semaphore("overtaken");
    let mut all = vec![draft.promise(0, false, "#P.critical >= 1")];
    all.extend(rest(&mut draft));
    let draft = draft.fair(Some("request"), "0 <= 0", all);
    draft.refused("deletion 0");
    // More than the cause is deleted, or what another assumption is about.
    let mut draft = access();
    deletions(&mut draft)[0] = draft.clone().promise(0, true, "0 <= 0");
    draft.refused("deletion 0");
    let mut draft = access();
    deletions(&mut draft)[0] = draft.clone().promise(0, false, "x >= 1");
    draft.refused("deletion 0");
    let mut draft = access();
    deletions(&mut draft)[0] = draft.clone().promise(1, true, "x >= 1");
    draft.refused("no such assumption");
}

#[test]
fn ranks_fall_and_are_bounded() {
    let above = |by: i64, least: i64| {
        let mut draft = Draft::new(DOWN, "above").view("", &["#P.done == 0"]);
        let states = vec![draft.states("0 <= 0")];
        let all = vec![
            draft.rank(&[("n", by)], least),
            Deletion::Everybody { states },
        ];
        draft.fair(None, "n <= 9", all)
    };
    above(1, 0).refused("deletion 0");
    above(-1, -9).refused("deletion 0");
    // Somebody raises what others lower.
    let mut draft = semaphore("free");
    let all = vec![draft.rank(&[("#P.critical", 1)], 0)];
    draft.fair(None, "x <= 0", all).refused("nothing is left");
    let mut draft = semaphore("in_use");
    let all = vec![draft.rank(&[("#P.critical", 1)], 0)];
    draft.fair(None, "0 <= 0", all).refused("deletion 0");
}

#[test]
fn a_process_that_is_named_exists() {
    let text = |least: i64| {
        format!(
            "param N = 2 where N >= {least}; process P[i: 1..N] {{ a: skip; }}
             fairness scheduling: unconditional;
             liveness second under scheduling: F P[2] at done;"
        )
    };
    let draft = |text: &str| {
        let mut draft = Draft::new(text, "second");
        let states = draft.states("0 <= 0");
        let all = vec![Deletion::Oneself { states }];
        draft.fair(Some("a"), "0 <= 0", all)
    };
    draft(&text(2)).accepted();
    draft(&text(1)).refused("can be evaluated");
}

#[test]
fn all_places_to_wait_at_are_looked_at() {
    // Who waits is somewhere else.
    let draft = Draft {
        claim: access().claim,
        ..semaphore("access")
    };
    let mut elsewhere = draft.clone();
    let fair = elsewhere.claim.fair.as_mut().unwrap();
    fair.controls[0].location = Some("leave".to_owned());
    elsewhere.prove().expect_err("waiting is not at `leave`");
    // Not everything that is waited in is looked at.
    let mut fewer = free();
    let pending = fewer.formula("x + #P.idle <= 0");
    fewer.claim.fair.as_mut().unwrap().controls[0].pending = pending;
    fewer.refused("deletion 0");
    let mut without = free();
    without.claim.fair.as_mut().unwrap().controls.clear();
    without.refused("one control");
}

/// One label after another, round and round, which nobody has to leave if what it waits for never comes.
const ROUNDS: &str = "
    param N = 2 where N >= 1;
    shared x: bool = false;
    shared n: int = 0;
    shared up: array[P] of bool = true;
    process P[i: 1..N] { loop { a: up[i] := false; b: up[i] := true; } }
    process Q { loop { q: atomic { await exists j in P: up[j]; x := true; } } }
    process R[i: 1..N] { loop { r: skip; } }
    process S[i: 1..N] { loop { s: stay; n := n - 1; } }
    process W[i: 1..N] { loop { v: skip; w: await x; } }
    process Z[i: 1..N] { z: await x; y: await x; }
    fairness scheduling: unconditional;
    fairness looks: weak forall j in R: x;
    liveness up under scheduling: forall i in P: F x;
    liveness round under scheduling: F x;
    liveness again under scheduling: forall i in R: F x;
    liveness down: F (n < 0);
    liveness waits under scheduling: forall i in W: F x;
    liveness begins under scheduling: forall i in Z: F x;
    liveness looked_at under looks: forall i in P: F x;
";

fn own(path: usize) -> Transition {
    Transition {
        control: 0,
        other: None,
        path,
    }
}

#[test]
fn who_stays_does_not_move() {
    // Whoever is at `r` goes round.
    let mut draft = Draft::new(ROUNDS, "round").view("", &["#R.r >= 1"]);
    let somebody = Deletion::Somebody {
        template: "R".to_owned(),
        location: "r".to_owned(),
        holding: None,
        states: vec![draft.states("0 <= 0")],
    };
    let draft = draft.fair(None, "x <= 0", vec![somebody]);
    draft.refused("deletion 0");
    let mut draft = Draft::new(ROUNDS, "again");
    let states = draft.states("0 <= 0");
    let draft = draft.fair(Some("r"), "x <= 0", vec![Deletion::Oneself { states }]);
    draft.refused("deletion 0");
    // What is said of who stays is for others to change.
    let mut draft = free().counted("P", "x <= 0");
    let predicate = 0;
    let Deletion::Somebody { holding, .. } = &mut deletions(&mut draft)[1] else {
        unreachable!()
    };
    *holding = Some(Holding {
        predicate,
        holds: true,
    });
    draft.refused("others may change");
}

/// Nobody goes on, and processes at one label differ.
const APART: &str = "
    param N = 2 where N >= 1;
    shared x: bool = false;
    process P[i: 1..N] {
        local own: bool = false;
        a: choose { own := true; } or { skip; }
        w: await x;
    }
    fairness scheduling: unconditional;
    liveness through under scheduling: forall i in P: G (P[i] at w -> F P[i] at done);
";

#[test]
fn who_waits_is_somebody_else_if_the_predicate_does_not_hold_of_it() {
    // If it does, nobody else need be there. If not, somebody is, and has no step.
    for (own, part) in [("$0.own >= 1", "present"), ("$0.own <= 0", "enabled")] {
        let draft = Draft::new(APART, "through").view("", &["x <= 0"]);
        let mut draft = draft.counted("P", "$0.own >= 1");
        let mut somebody = draft.somebody("w", own);
        let count = draft.formula("#P.w[0] >= 1");
        if let Deletion::Somebody {
            holding, states, ..
        } = &mut somebody
        {
            *holding = Some(Holding {
                predicate: 0,
                holds: true,
            });
            states[0].states = Formula::all([states[0].states.clone(), count]);
        }
        let all = vec![impossible(&[2]), somebody];
        let draft = draft.fair(Some("w"), "0 <= 0", all);
        draft.refused(&format!("\"part\":\"{part}\""));
    }
}

#[test]
fn transitions_are_deleted_only_if_they_are_not_taken_for_ever() {
    let again = |first: Deletion| {
        let mut draft = Draft::new(ROUNDS, "again");
        let states = draft.states("0 <= 0");
        let all = vec![first, Deletion::Oneself { states }];
        draft.fair(Some("r"), "x <= 0", all)
    };
    let transitions = || vec![own(0)];
    let leave = Deletion::Leave {
        transitions: transitions(),
    };
    again(leave).refused("leads back");
    let impossible = Deletion::Impossible {
        transitions: transitions(),
    };
    again(impossible).refused("deletion 0");
    // What keeps a sum as it is may be taken for ever.
    let mut draft = Draft::new(ROUNDS, "again");
    let rank = draft.rank(&[("#Q.q", 1)], 0);
    let impossible = Deletion::Impossible {
        transitions: transitions(),
    };
    let states = draft.states("0 <= 0");
    let all = vec![rank, impossible, Deletion::Oneself { states }];
    draft.fair(Some("r"), "x <= 0", all).refused("deletion 1");
}

#[test]
fn who_may_rest_may_be_the_one_that_is_scheduled() {
    let only = |process: &str| {
        let lines = ROUNDS.lines();
        let lines = lines.filter(|line| !line.contains("process ") || line.contains(process));
        let lines = lines.filter(|line| !line.contains(" in ") || line.contains("process "));
        lines
            .filter(|line| !line.contains("array"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let down = |text: &str| {
        let mut draft = Draft::new(text, "down").view("", &["#S.done == 0"]);
        let rank = draft.rank(&[("n", 1)], 0);
        let states = vec![draft.states("0 <= 0")];
        draft.fair(None, "n >= 0", vec![rank, Deletion::Everybody { states }])
    };
    let text = only("process S");
    down(&text).refused("deletion 1");
    down(&text.replace("stay; ", "")).accepted();
}

#[test]
fn states_persist_at_the_label_where_a_transition_leads() {
    let draft = Draft::new(ROUNDS, "up").view("P.a", &["up[$0] >= 1"]);
    let mut draft = draft.view("", &["#Q.q >= 1"]);
    let pending = draft.formula("x <= 0");
    let controls = ["a", "b"].map(|label| Control {
        location: Some(label.to_owned()),
        pending: pending.clone(),
    });
    let somebody = Deletion::Somebody {
        template: "Q".to_owned(),
        location: "q".to_owned(),
        holding: None,
        states: vec![draft.states("x <= 0")],
    };
    let mut at_b = draft.states("x <= 0");
    at_b.control = 1;
    draft.claim.fair = Some(Box::new(FairClaim {
        controls: controls.to_vec(),
        deletions: vec![somebody, Deletion::Oneself { states: at_b }],
    }));
    draft.refused("deletion 0");
}

#[test]
fn where_waiting_begins_and_where_it_goes_on_is_looked_at() {
    // Who waits goes on from `v` to `w`.
    let mut draft = Draft::new(ROUNDS, "waits");
    let states = draft.states("x <= 0");
    let all = vec![Deletion::Oneself { states }];
    draft.fair(Some("v"), "x <= 0", all).refused("");
    // It begins at `z`.
    let draft = Draft::new(ROUNDS, "begins").view("", &["x <= 0"]);
    let draft = draft.view("Z.y", &["1 <= 0"]).view("Z.done", &["1 <= 0"]);
    let text = ROUNDS.replace("x := true", "x := x");
    let draft = Draft {
        program: Draft::new(&text, "begins").program,
        ..draft
    };
    draft.fair(Some("y"), "x <= 0", Vec::new()).refused("");
}

#[test]
fn assumptions_about_processes_of_another_template_are_not_about_the_one_that_waits() {
    let mut draft = Draft::new(ROUNDS, "looked_at");
    let promise = draft.promise(0, true, "x <= 0");
    let draft = draft.fair(Some("a"), "x <= 0", vec![promise]);
    draft.refused("not about that");
}
