//! Claims about sums over processes made by hand.

use threadwise_evidence::family::SummedTerm;

use super::Draft;

impl Draft {
    /// Sums multiples of variables, and a number.
    fn summed(mut self, template: &str, terms: &[(&str, i64)], constant: i64) -> Draft {
        let terms = terms.iter().map(|(name, by)| (self.variable(name), *by));
        let terms = terms.collect();
        self.claim.summed.push(SummedTerm {
            template: template.to_owned(),
            terms,
            constant,
        });
        self
    }
}

fn program(begin: &str, step: &str) -> String {
    format!(
        "param N = 2 where N >= 1; shared c: int = 0;
         ordered process T[i: 1..N] {{ local k: {begin}; loop {{ a: atomic {{ {step} }} }} }}
         invariant so_far: c == (sum i in T: T[i].k);
         invariant with_ones: c + N == (sum i in T: T[i].k + 1);"
    )
}

const INCREMENT: &str = "await k < 3; c, k := c + 1, k + 1;";
const SO_FAR: &str = "c - +T.a[0] - +T.done[0] == 0";

fn draft(text: &str, property: &str) -> Draft {
    let draft = Draft::new(text, property).summed("T", &[("$0.k", 1)], 0);
    draft.view("", &[SO_FAR])
}

#[test]
fn sums_change_as_steps_say() {
    let text = program("0..3 = 0", INCREMENT);
    draft(&text, "so_far").accepted();
    draft(&text, "with_ones").accepted();
    // The sum of another term says nothing.
    let other = Draft::new(&text, "so_far").summed("T", &[("$0.k", 2)], 0);
    other.view("", &[SO_FAR]).prove().expect_err("a multiple");
    // The counter grows by more, or less often.
    for step in [
        "await k < 3; c, k := c + 2, k + 1;",
        "await k < 3; k := k + 1;",
        "c := c + 1; if k < 3 { k := k + 1; }",
    ] {
        let text = program("0..3 = 0", step);
        draft(&text, "so_far").prove().expect_err(step);
    }
}

#[test]
fn sums_begin_with_what_all_begin_with() {
    for begin in ["0..3 = 1", "0..N = i", "0..3 = any", "int = 1 - N"] {
        let text = program(begin, INCREMENT);
        let error = draft(&text, "so_far").prove();
        error.expect_err(begin);
    }
    let text = "param N = 2; shared c: int = 0;
        process Q { loop { s: atomic { start T; c := c + 1; } } }
        process T[] { local k: 0..3 = 2; a: skip; }
        invariant so_far: c == (sum i in T: T[i].k);";
    draft(text, "so_far")
        .prove()
        .expect_err("each begins with 2");
    draft(&text.replace("= 2; a", "= 1; a"), "so_far").accepted();
    draft(&text.replace("= 2; a", "= any; a"), "so_far")
        .prove()
        .expect_err("each begins with anything");
}

#[test]
fn the_sum_over_nobody_is_0() {
    let text = "param N = 2 where N >= 1; shared c: int = 0;
        process T[i: 1..N] { local k: 0..3 = 0; a: k := 3; b: k := 2; }
        invariant small: c <= 0;";
    let draft = |assertion: &str| {
        let draft = Draft::new(text, "small").summed("T", &[("$0.k", 1)], 0);
        draft.view("", &["c <= 0", assertion])
    };
    draft("+T.b[0] - 3 #T.b == 0").accepted();
    draft("+T.done[0] - 2 #T.done == 0").accepted();
    draft("+T.b[0] - 3 #T.b <= 0").accepted();
    draft("+T.b[0] - 2 #T.b <= 0")
        .prove()
        .expect_err("all have 3");
    draft("+T.b[0] == 0").prove().expect_err("somebody has 3");
    draft("+T.a[0] - 1 >= 0")
        .prove()
        .expect_err("nobody has anything");
}

#[test]
fn what_others_may_change_is_not_summed() {
    let text = program("0..3 = 0", INCREMENT);
    for name in ["c", "$0", "#T.a", "$1.k", "$0.other"] {
        let other = Draft::new(&text, "so_far").summed("T", &[(name, 1)], 0);
        other.prove().expect_err(name);
    }
    let other = Draft::new(&text, "so_far").summed("Other", &[("$0.k", 1)], 0);
    other.prove().expect_err("no such template");
    // A predicate that is counted is not about sums.
    let counted = draft(&text, "so_far").counted("T", "+T.a[0] <= 2");
    counted.prove().expect_err("it is a sum over processes");
}
