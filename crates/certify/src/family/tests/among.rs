//! Numbers of processes that compare with entries of arrays: who has come at least so far.

use threadwise_evidence::family::Comparison;

use super::Draft;

impl Draft {
    /// One more comparison of processes with entries of `s`.
    fn beyond(mut self, predicate: &str) -> Draft {
        let predicate = self.comparison(predicate);
        self.claim.compared.push(Comparison {
            template: "P".to_owned(),
            of: "index-of-s".to_owned(),
            predicate,
            order: false,
        });
        self
    }
}

/// A process that sees nobody else as far as itself goes on, and nobody comes any more.
fn highest(first: &str, guard: &str) -> String {
    format!(
        "param N = 2 where N >= 1;
         shared y: array[P] of 0..N = {first}; shared closed: bool = false;
         shared s: array[1..N] of P? = none;
         process P[i: 1..N] {{
             come: atomic {{ await !closed; y[i], s[1] := 1, i; }}
             wait: atomic {{ await y[i] == 1 && !closed && ({guard}); closed := true; }}
             end: atomic {{ await s[y[i]] != none; skip; }}
         }}
         invariant one: forall i, j in P: i != j -> !(P[i] at end && P[j] at {{wait, end}});"
    )
}

const NOBODY: &str = "forall j in P: j != i -> y[j] < y[i]";

/// Who has come to an entry: where it is closed, one alone.
fn alone(text: &str) -> Draft {
    Draft::new(text, "one")
        .beyond("y[$0] - $1 >= 1")
        .view("P.come", &["y[$0] <= 0"])
        .view("P.wait", &["y[$0] <= 1", "y[$0] >= 1"])
        .view("P.end", &["y[$0] <= 1", "y[$0] >= 1", "closed >= 1"])
        .view(
            "index-of-s.there",
            &[
                "#P.come[0:$0] <= 0",
                "closed <= 0 || $0 >= 1 || #P.wait[0:$0] + #P.end[0:$0] <= 1",
            ],
        )
}

#[test]
fn what_is_said_of_everybody_is_said_of_those_who_are_counted() {
    alone(&highest("0", NOBODY)).accepted();
    let again = "!(exists j in P: j != i && y[j] >= y[i])";
    alone(&highest("0", again)).accepted();
    for guard in [
        // Others may be as far.
        "forall j in P: j != i -> y[j] <= y[i]",
        // It is said of nobody.
        "forall j in P: j != i -> y[j] < y[i] || y[j] == 1",
        "forall j in P: j != i -> y[j] < y[j] + 1",
        "exists j in P: y[j] < y[i]",
        "!(forall j in P: j != i -> y[j] >= y[i])",
    ] {
        assert!(alone(&highest("0", guard)).prove().is_err(), "{guard}");
    }
}

#[test]
fn nobody_is_counted_at_first_who_does_not_compare_then() {
    for first in ["1", "any", "N"] {
        let text = highest(first, NOBODY);
        let claim = Draft::new(&text, "one").beyond("y[$0] - $1 >= 1");
        let none = claim.view("index-of-s.there", &["#P.come[0:$0] <= 0"]);
        assert!(none.prove().is_err(), "{first}");
    }
    let text = highest("0", NOBODY);
    let claim = |predicate: &str| {
        let claim = Draft::new(&text, "checks").beyond(predicate);
        claim.view("index-of-s.there", &["#P.come[0:$0] <= 0 || closed >= 2"])
    };
    // All begin at the first entry, and are not far from it.
    assert!(claim("y[$0] - $1 <= 0").prove().is_err());
    assert!(claim("y[$0] - $1 >= 0").prove().is_err());
}

/// The numbers of those at different entries: nobody moves.
fn still(predicates: &[&str], assertion: &str) -> bool {
    let text = "param N = 2 where N >= 1;
         shared y: array[P] of 0..N = 0; shared s: array[1..N] of P? = none;
         shared seen: int = 0;
         process P[i: 1..N] { loop { l: stay; m: await seen == 0; } }
         invariant one: seen <= 0;";
    let mut claim = Draft::new(text, "one").view("", &["seen <= 0"]);
    for predicate in predicates {
        claim = claim.beyond(predicate);
    }
    claim
        .view("index-of-s.there index-of-s.there", &[assertion])
        .prove()
        .is_ok()
}

#[test]
fn how_many_compare_with_one_entry_bounds_how_many_compare_with_another() {
    let far = "y[$0] - $1 >= 1";
    let here = "y[$0] - $1 == 1";
    // Fewer have come further.
    assert!(still(&[far], "$0 >= $1 || #P.m[0:$1] - #P.m[0:$0] <= 0"));
    assert!(!still(&[far], "$0 >= $1 || #P.m[0:$0] - #P.m[0:$1] <= 0"));
    assert!(!still(&[far], "#P.m[0:$1] - #P.m[0:$0] <= 0"));
    // Who is here is not further up.
    let both = "#P.m[1:$0] + #P.m[0:$1] - #P.m[0:$0] <= 0";
    assert!(still(&[far, here], &format!("$0 >= $1 || {both}")));
    assert!(!still(&[far, here], both));
    assert!(!still(&[far, far], &format!("$0 >= $1 || {both}")));
    // Two who are at different entries are two.
    let apart = "#P.m[1:$0] + #P.m[1:$1] - #P.m[0:$0] <= 0";
    assert!(still(&[far, here], &format!("$0 >= $1 || {apart}")));
    assert!(!still(&[far, far], &format!("$0 >= $1 || {apart}")));
}
