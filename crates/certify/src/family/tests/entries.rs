//! Entries of arrays whose size is a parameter, named by their index.

use super::Draft;

/// Whoever takes an entry marks it, if it is not marked.
const PLACES: &str = "
    param N = 2 where N >= 1;
    param C = 3 where C >= 1;
    shared used: array[1..C] of bool = false;
    process P[i: 1..N] {
        local mine: 1..C = 1;
        loop {
            pick: havoc mine;
            take: atomic { await !used[mine]; used[mine] := true; }
            hold: used[mine] := false;
        }
    }
    invariant apart: forall i, j in P:
        i != j -> !(P[i] at hold && P[j] at hold && P[i].mine == P[j].mine);";

/// The claim: what is held is marked, and two hold different entries.
fn places(text: &str) -> Draft {
    let claim = Draft::new(text, "apart");
    claim
        .view(
            "P.hold index-of-used.there",
            &["$0.mine <= $1 || $0.mine >= $1 + 2 || used[$1] >= 1"],
        )
        .view(
            "P.hold P.hold",
            &["$0.mine + 1 <= $1.mine || $1.mine + 1 <= $0.mine"],
        )
}

#[test]
fn an_entry_is_named_by_its_index() {
    places(PLACES).accepted();
}

#[test]
fn a_claim_about_entries_needs_each_of_its_parts() {
    // It is marked a step later.
    let late = PLACES.replace(
        "await !used[mine]; used[mine] := true; }",
        "await !used[mine]; } mark: used[mine] := true;",
    );
    assert!(places(&late).prove().is_err());
    // The mark is another one's.
    let other = PLACES.replace("used[mine] := true", "used[1] := true");
    assert!(places(&other).prove().is_err());
    // Somebody else takes the mark away.
    let away = PLACES.replace("hold: used[mine] := false", "hold: used[1] := false");
    assert!(places(&away).prove().is_err());
    let mut claim = places(PLACES);
    claim.claim.views.remove(0);
    assert!(claim.prove().is_err());
}

/// Programs that are wrong, each with a claim that would be proved if one more entry were there in any case, or were always another one.
#[test]
fn an_entry_that_is_named_may_not_be_there_or_be_known() {
    let program = |step: &str, property: &str| {
        format!(
            "param N = 2 where N >= 1; param C = 2 where C >= -30; param K = 0 where K <= 0;
             shared a: array[1..C] of bool = false; shared x: int = K; shared y: int = 0;
             process P[i: 1..N] {{ go: atomic {{ {step} }} }}
             invariant far: {property};"
        )
    };
    // The invariant is the claim.
    let proved = |step: &str, property: &str| {
        let claim = Draft::new(&program(step, property), "far");
        claim.view("", &[property]).prove().is_ok()
    };
    // There is no entry 1 where the array is empty.
    let some = "y <= 0 || C >= 1";
    assert!(!proved("await C <= -20 || a[1]; y := 1;", some));
    assert!(proved("await C >= 1 && a[1]; y := 1;", some));
    // There is none before the first.
    let inside = "y <= 0 || x >= 1";
    assert!(!proved("await x < -30 || a[x]; y := 1;", inside));
    assert!(proved("await x >= 1 && a[x]; y := 1;", inside));
    // Two entries that are named are different ones.
    assert!(!proved(
        "await C >= 50 && !a[1] && !a[50]; y := 1;",
        "y <= 0"
    ));
    // An entry that is named is one of the view.
    let none = program("await C >= 50; a[50] := true;", "forall k in 1..C: !a[k]");
    let claim = Draft::new(&none, "far").view("index-of-a.there", &["a[$0] <= 0"]);
    assert!(claim.prove().is_err());
    let none = none.replace("a[50] := true", "a[50] := false");
    let claim = Draft::new(&none, "far").view("index-of-a.there", &["a[$0] <= 0"]);
    assert!(claim.prove().is_ok());
}
