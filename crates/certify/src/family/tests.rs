//! Claims made by hand, with proofs by the solver of the engines: accepted as they are, and refused if anything about them is wrong.

mod among;
mod entries;
mod fair;
mod least;
mod real;
mod sums;

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_evidence::arithmetic::{Atom, Formula, Proof};
use threadwise_evidence::family::{
    Condition, ConditionProof, CountedPredicate, FamilyClaim, Reference, ViewClaim,
};
use threadwise_evidence::{Certificate, Claim};
use threadwise_lang::program::{Program, Span};
use threadwise_param::lia::{Answer, Limits, Solver};

use super::conditions::Judge;
use super::names::Table;
use super::proof::Known;
use super::{Subject, check_family};
use crate::Error;
use crate::rejection::Fault;

/// A claim being made.
#[derive(Clone)]
struct Draft {
    program: Arc<Program>,
    property: String,
    params: BTreeMap<String, i64>,
    claim: FamilyClaim,
}

impl Draft {
    fn new(text: &str, property: &str) -> Draft {
        let checked = threadwise_lang::check(text);
        let program = checked.program;
        let program = program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        Draft {
            program: Arc::new(program),
            property: property.to_owned(),
            params: BTreeMap::new(),
            claim: FamilyClaim::default(),
        }
    }

    fn variable(&mut self, name: &str) -> u32 {
        let variables = &mut self.claim.variables;
        let known = variables.iter().position(|known| known == name);
        let position = known.unwrap_or_else(|| {
            variables.push(name.to_owned());
            variables.len() - 1
        });
        position as u32
    }

    /// `a + 2 b - 1 <= c`, `==` or `>=`: words that are separated by spaces. Of several with `||` between them, one.
    fn formula(&mut self, text: &str) -> Formula {
        Formula::any(text.split(" || ").map(|part| self.comparison(part)))
    }

    fn comparison(&mut self, text: &str) -> Formula {
        let (mut terms, mut constant) = (Vec::new(), 0);
        let (mut sign, mut factor, mut side) = (1, None, 1);
        let mut relation = "";
        for word in text.split(' ').chain(["+"]) {
            match word {
                "+" | "-" | "<=" | "==" | ">=" => {
                    constant += side * sign * factor.take().unwrap_or(0);
                    sign = if word == "-" { -1 } else { 1 };
                    if !matches!(word, "+" | "-") {
                        (relation, side) = (word, -1);
                    }
                }
                _ => match word.parse::<i64>() {
                    Ok(number) => factor = Some(number),
                    Err(_) => {
                        let factor = factor.take().unwrap_or(1);
                        terms.push((self.variable(word), side * sign * factor));
                    }
                },
            }
        }
        let less = Atom::at_most_zero(terms.clone(), constant).unwrap();
        let negated = terms.iter().map(|(variable, factor)| (*variable, -factor));
        let more = Atom::at_most_zero(negated, -constant).unwrap();
        match relation {
            "<=" => Formula::Atom(less),
            ">=" => Formula::Atom(more),
            _ => Formula::And(vec![Formula::Atom(less), Formula::Atom(more)]),
        }
    }

    /// Adds a view: `P.a P.b` for its references.
    fn view(mut self, references: &str, assertions: &[&str]) -> Draft {
        let references = references.split_whitespace().map(|reference| {
            let (template, location) = reference.split_once('.').unwrap();
            Reference {
                template: template.to_owned(),
                location: location.to_owned(),
            }
        });
        let references = references.collect();
        let assertions = assertions.iter().map(|text| self.formula(text)).collect();
        self.claim.views.push(ViewClaim {
            references,
            assertions,
        });
        self
    }

    fn counted(mut self, template: &str, predicate: &str) -> Draft {
        let predicate = self.formula(predicate);
        self.claim.counted.push(CountedPredicate {
            template: template.to_owned(),
            predicate,
        });
        self
    }

    fn certificate(&self) -> Certificate {
        Certificate::family(&self.property, self.params.clone(), self.claim.clone())
    }

    /// The certificate with all proofs, or what the first condition that has none says.
    fn prove(&self) -> Result<Certificate, String> {
        let mut certificate = self.certificate();
        let empty = certificate.clone();
        let subject = Subject::new(&self.program, &empty, &self.property).unwrap();
        let prover = Prover {
            solver: Solver::new(Limits::default()),
            known: Known::default(),
            proofs: Vec::new(),
            names: Vec::new(),
            failed: Vec::new(),
        };
        let (prover, _) = subject.list(prover, &|| false).map_err(|e| e.to_string())?;
        if let Some(failed) = prover.failed.into_iter().next() {
            return Err(failed);
        }
        let Claim::Family(claim) = &mut certificate.claim else {
            unreachable!()
        };
        claim.proofs = prover.proofs;
        // The names that proofs use beyond those of the assertions.
        let more = prover.names.into_iter().skip(claim.variables.len());
        claim.variables.extend(more.collect::<Vec<_>>());
        Ok(certificate)
    }

    /// What the conditions that have no proof say.
    fn failures(&self) -> Vec<String> {
        let certificate = self.certificate();
        let subject = Subject::new(&self.program, &certificate, &self.property).unwrap();
        let prover = Prover {
            solver: Solver::new(Limits::default()),
            known: Known::default(),
            proofs: Vec::new(),
            names: Vec::new(),
            failed: Vec::new(),
        };
        let (prover, _) = subject.list(prover, &|| false).unwrap();
        prover.failed
    }

    fn check(&self, certificate: &Certificate) -> Result<(), Error> {
        check_family(&self.program, certificate, &self.property, &|| false).map(drop)
    }

    /// Proves it, and has the proof checked, also after it has been written and read.
    fn accepted(&self) -> Certificate {
        let certificate = self.prove().unwrap_or_else(|failed| panic!("{failed}"));
        self.check(&certificate).unwrap_or_else(|e| panic!("{e}"));
        let read = Certificate::from_json(&certificate.to_json()).unwrap();
        assert_eq!(read, certificate);
        certificate
    }
}

/// A judge that finds proofs.
struct Prover {
    solver: Solver,
    /// What needs no proof.
    known: Known,
    proofs: Vec<ConditionProof>,
    names: Vec<String>,
    failed: Vec<String>,
}

impl Judge for Prover {
    fn push(&mut self, _: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.solver.push(formulas);
        self.known.push();
        self.known.assume(formulas);
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Error> {
        self.solver.pop();
        self.known.pop();
        Ok(())
    }

    fn judge(
        &mut self,
        table: &Table,
        condition: &Condition,
        about: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error> {
        if self.known.check(&Proof::Obvious).is_ok() {
            return Ok(());
        }
        match self.solver.solve(&[], &|| false) {
            Answer::Unsat(proof) => {
                self.names = table.names().to_vec();
                self.proofs.push(ConditionProof {
                    condition: condition.clone(),
                    proof,
                });
            }
            other => {
                let (what, _) = about(table);
                self.failed.push(format!("{what}: {condition}: {other:?}"));
            }
        }
        Ok(())
    }
}

fn counting() -> Draft {
    let text = "
        param N = 2 where N >= 1;
        shared x: int = 0;
        process P[i: 1..N] { a: fetch_add(x, 1); b: skip; }
        invariant small: x <= N;
        invariant smaller: x < N;
    ";
    Draft::new(text, "small").view("", &["x == #P.b + #P.done"])
}

const SEMAPHORE: &str = "
    param N = 2 where N >= 0;
    shared x: 0..1 = 1;
    process P[i: 1..N] {
        loop {
            idle:     stay;
            acquire:  atomic { await x == 1; x := 0; }
            critical: skip;
            leave:    x := 1;
        }
    }
    def inside(i: P) = P[i] at {critical, leave};
    invariant mutex: forall i, j in P: i != j -> !(inside(i) && inside(j));
    invariant one: (count i in P: inside(i)) <= 1;
    invariant free: x == 1 <-> (forall i in P: !inside(i));
    deadlock_free;
";

fn semaphore() -> Draft {
    Draft::new(SEMAPHORE, "mutex").view("", &["x + #P.critical + #P.leave == 1"])
}

const BAKERY: &str = include_str!("../../../../models/any/bakery.tw");

fn bakery() -> Draft {
    Draft::new(BAKERY, "mutex")
        .view("P.idle", &["y[$0] == 0"])
        .view("P.draw", &["y[$0] == 0"])
        .view("P.wait", &["y[$0] >= 1"])
        .view("P.critical", &["y[$0] >= 1"])
        .view("P.leave", &["y[$0] >= 1"])
        .view("P.critical P.wait", &["y[$0] + 1 <= y[$1]"])
        .view("P.leave P.wait", &["y[$0] + 1 <= y[$1]"])
        .view("P.critical P.critical", &["0 >= 1"])
        .view("P.critical P.leave", &["0 >= 1"])
        .view("P.leave P.leave", &["0 >= 1"])
}

const PARENT: &str = include_str!("../../../../models/any/parent_child.tw");

fn parent() -> Draft {
    let all = "started == #Child.begin + #Child.work + #Child.report + #Child.done";
    Draft::new(PARENT, "checks")
        .view("", &[all, "active == #Child.work", "ended == #Child.done"])
        .view("Parent.check", &["ended == started"])
}

const MAXIMUM: &str = include_str!("../../../../models/any/maximum.tw");

fn maximum() -> Draft {
    // If `arb` is greater than `highest`, somebody with `val >= arb` is at l1, once all have announced something.
    Draft::new(MAXIMUM, "checks")
        .counted("P", "arb <= $0.val")
        .view(
            "",
            &[
                "waiting == #P.l3 + #P.l4 + #P.done",
                "arb <= highest || #P.l0 >= 1 || #P.l1[0] >= 1",
            ],
        )
        .view("P.l4", &["waiting == N", "arb <= highest"])
}

/// What starts processes, and claims something about each.
const CHILDREN: &str = "
    param N = 2;
    shared x: int = 0;
    process Parent { loop { l: atomic { x := x + 1; start Child; start Child; } } }
    process Child[] { local v: 3..5 = any; local w: int = 7; a: w := v; b: skip; }
    invariant between: forall c in Child: 3 <= Child[c].w && Child[c].w <= 7;
    invariant twice: (count c in Child: true) == 2 * x;
";

fn children() -> Draft {
    let between = ["$0.w >= 3", "$0.w <= 7"];
    let mut draft = Draft::new(CHILDREN, "between");
    for label in ["a", "b", "done"] {
        draft = draft.view(&format!("Child.{label}"), &between);
    }
    draft
}

/// A mutex, and an array that is indexed by processes.
const LOCKED: &str = "
    param N = 2 where N >= 0;
    shared m: mutex;
    shared last: P? = none;
    shared busy: array[P] of bool = false;
    process Other { loop { o: skip; } }
    process P[i: 1..N] {
        loop {
            free: lock m;
            set:  busy[i], last := true, i;
            use:  assert busy[last] && last == i;
            out:  busy[i] := false;
            back: unlock m;
        }
    }
    invariant alone: forall i, j in P: busy[i] && busy[j] -> i == j;
";

fn locked(property: &str) -> Draft {
    // `P` is the second of two templates.
    let holds = "m == 2 $0 + 1";
    Draft::new(LOCKED, property)
        .view("P.free", &["busy[$0] == 0"])
        .view("P.set", &[holds, "busy[$0] == 0"])
        .view("P.use", &[holds, "busy[$0] == 1", "last == $0"])
        .view("P.out", &[holds, "busy[$0] == 1"])
        .view("P.back", &[holds, "busy[$0] == 0"])
        .view("P.done", &["busy[$0] == 0"])
}

/// Who waits for its flag was counted as one whose flag is set, or will be set.
const FLAGS: &str = "
    param N = 2 where N >= 0;
    shared open: bool = false;
    process P[i: 1..N] {
        local early: bool = any;
        come: skip;
        if early { wait: await open; }
        else { set: open := true; }
    }
    process Q { last: open := true; }
    deadlock_free;
";

/// Nobody is stuck at `wait`, since `last` opens; what is counted does not matter, but there are witnesses of both sorts.
fn flags() -> Draft {
    Draft::new(FLAGS, "deadlock_free")
        .counted("P", "$0.early <= 0")
        .view("", &["open + #Q.last >= 1"])
}

fn everything() -> Vec<Draft> {
    let mut checked = semaphore();
    checked.property = "checks".to_owned();
    let mut one = semaphore();
    one.property = "one".to_owned();
    let mut free = semaphore();
    free.property = "free".to_owned();
    let mut moving = semaphore();
    moving.property = "deadlock_free".to_owned();
    let mut fixed = counting();
    fixed.params.insert("N".to_owned(), 5);
    fixed = Draft {
        claim: FamilyClaim::default(),
        ..fixed
    };
    let fixed = fixed.view("", &["x == #P.b + #P.done"]);
    let mut twice = children();
    twice.property = "twice".to_owned();
    let twice = twice.view("", &["#Child.a + #Child.b + #Child.done == 2 x"]);
    vec![
        counting(),
        semaphore(),
        checked,
        one,
        free,
        moving,
        flags(),
        fixed,
        bakery(),
        parent(),
        children(),
        twice,
        maximum(),
        locked("alone"),
        locked("checks"),
    ]
}

#[test]
fn claims_with_proofs_are_accepted() {
    for draft in everything() {
        draft.accepted();
    }
}

/// The claim of a certificate.
fn claim(certificate: &mut Certificate) -> &mut FamilyClaim {
    match &mut certificate.claim {
        Claim::Family(claim) => claim,
        other => panic!("{other:?}"),
    }
}

/// The sums of a proof.
fn sums(proof: &mut Proof) -> Vec<&mut Vec<(Atom, String)>> {
    match proof {
        Proof::Obvious => Vec::new(),
        Proof::Sum(summands) => vec![summands],
        Proof::Split { holds, fails, .. } => {
            let mut all = sums(holds);
            all.extend(sums(fails));
            all
        }
    }
}

#[test]
fn damaged_proofs_are_refused() {
    for draft in everything() {
        let good = draft.accepted();
        let proofs = match &good.claim {
            Claim::Family(claim) => claim.proofs.len(),
            _ => 0,
        };
        let refused = |damage: &dyn Fn(&mut FamilyClaim)| {
            let mut damaged = good.clone();
            damage(claim(&mut damaged));
            if damaged == good {
                return None;
            }
            match draft.check(&damaged) {
                Ok(()) => panic!("{}: accepted {damaged:?}", draft.property),
                Err(error) => Some(error),
            }
        };
        let fault = |error: Option<Error>| match error {
            Some(Error::Unproved(unproved)) => unproved.fault,
            other => panic!("{other:?}"),
        };
        for number in 0..proofs {
            let missing = refused(&|claim| drop(claim.proofs.remove(number)));
            assert_eq!(fault(missing), Fault::Missing);
            refused(&|claim| claim.proofs.push(claim.proofs[number].clone()));
            refused(&|claim| {
                let other = &mut claim.proofs[number].condition;
                *other = Condition::Instance { requirement: 99 };
            });
            let obvious = refused(&|claim| claim.proofs[number].proof = Proof::Obvious);
            assert_eq!(fault(obvious), Fault::NotObvious);
            for factor in ["-1", "0", "x", "1.5", ""] {
                refused(&|claim| {
                    for sum in sums(&mut claim.proofs[number].proof) {
                        sum[0].1 = factor.to_owned();
                    }
                });
            }
            refused(&|claim| {
                for sum in sums(&mut claim.proofs[number].proof) {
                    sum[0].1.push('0');
                }
            });
            refused(&|claim| {
                for sum in sums(&mut claim.proofs[number].proof) {
                    sum.pop();
                }
            });
            refused(&|claim| {
                for sum in sums(&mut claim.proofs[number].proof) {
                    sum[0].0.terms = vec![(9_999, 1)];
                }
            });
        }
    }
}

/// Whether somebody can prove a claim, or a part of it that is all that somebody else checks.
#[track_caller]
fn has_no_proof(draft: &Draft, part: &str) {
    let failed = draft.prove().expect_err("a proof of something wrong");
    assert!(failed.contains(part), "{failed}");
    // Nor is it accepted with proofs of something else.
    for other in everything() {
        let mut borrowed = draft.certificate();
        claim(&mut borrowed).proofs = claim(&mut other.prove().unwrap()).proofs.clone();
        draft.check(&borrowed).unwrap_err();
        claim(&mut borrowed).proofs.clear();
        draft.check(&borrowed).unwrap_err();
    }
}

#[test]
fn wrong_assertions_have_no_proof() {
    let empty = |draft: &Draft| Draft {
        claim: FamilyClaim::default(),
        ..draft.clone()
    };
    let semaphore = empty(&semaphore());
    // Too weak, too strong, wrong at first, about another label, nothing at all.
    let weak = semaphore.clone().view("", &["x + #P.critical <= 1"]);
    has_no_proof(&weak, "holds after the step of P from");
    let weak = semaphore
        .clone()
        .view("", &["x + #P.critical + #P.leave >= 1"]);
    has_no_proof(
        &weak,
        "`mutex` is not violated with $0 of P at critical, $1 of P at",
    );
    let strong = semaphore.clone().view("", &["x + #P.critical == 1"]);
    has_no_proof(&strong, "from `critical` to `leave`");
    let first = semaphore
        .clone()
        .view("", &["x + #P.critical + #P.leave == 0"]);
    has_no_proof(&first, "holds at first");
    let other = semaphore
        .clone()
        .view("", &["x + #P.critical + #P.done == 1"]);
    has_no_proof(&other, "holds after");
    has_no_proof(&semaphore, "is not violated");

    let bakery = bakery();
    for view in 0..bakery.claim.views.len() {
        let mut without = bakery.clone();
        without.claim.views.remove(view);
        without.prove().expect_err("a view too few");
        // Where the assertion is about another label.
        let mut moved = bakery.clone();
        moved.claim.views[view].references[0].location = "done".to_owned();
        moved.prove().expect_err("a view somewhere else");
    }
    let mut smaller = counting();
    smaller.property = "smaller".to_owned();
    has_no_proof(&smaller, "`smaller` is not violated");
}

#[test]
fn wrong_programs_have_no_proof() {
    let changed = |draft: &Draft, text: &str, from: &str, to: &str| {
        assert!(text.contains(from));
        let other = Draft::new(&text.replace(from, to), &draft.property);
        Draft {
            program: other.program,
            ..draft.clone()
        }
    };
    let good = semaphore();
    let no_test = changed(&good, SEMAPHORE, "await x == 1; x := 0;", "x := 0;");
    has_no_proof(&no_test, "from `acquire` to `critical`");
    let two = changed(&good, SEMAPHORE, "shared x: 0..1 = 1", "shared x: 0..2 = 2");
    has_no_proof(&two, "holds at first");
    let early = changed(&good, SEMAPHORE, "critical: skip;", "critical: x := 1;");
    has_no_proof(&early, "from `critical` to `leave`");

    let bakery = bakery();
    let not_all = changed(
        &bakery,
        BAKERY,
        "j != i -> y[j] == 0 || y[i] < y[j]",
        "j == i -> y[j] >= 0",
    );
    has_no_proof(&not_all, "from `wait` to `critical`");
    let old = changed(&bakery, BAKERY, "y[i] := highest + 1", "y[i] := 1");
    has_no_proof(&old, "from `draw` to `wait`");

    // A child too few is counted, or the last one is not waited for.
    let parent = parent();
    let more = changed(
        &parent,
        PARENT,
        "start Child; }",
        "start Child; start Child; }",
    );
    has_no_proof(&more, "from `more` to `more`");
    let impatient = changed(
        &parent,
        PARENT,
        "await ended == started",
        "await ended + 1 >= started",
    );
    has_no_proof(&impatient, "from `join` to `check`");
    let children = children();
    let low = changed(&children, CHILDREN, "w: int = 7", "w: int = 2");
    has_no_proof(&low, "holds after the step of Parent");

    let maximum = maximum();
    let lower = changed(&maximum, MAXIMUM, "highest < val", "highest > val");
    has_no_proof(&lower, "from `l1` to `l2`");

    let locked = locked("alone");
    let open = changed(&locked, LOCKED, "free: lock m;", "free: skip;");
    has_no_proof(&open, "from `free` to `set`");

    // The smallest instance matters: there is one with N = -1, and nobody in it.
    let counting = counting();
    let text = "
        param N = 2 where N >= -1;
        shared x: int = 0;
        process P[i: 1..N] { a: fetch_add(x, 1); b: skip; }
        invariant small: x <= N;
    ";
    let fewer = changed(&counting, text, "b: skip", "b: skip");
    has_no_proof(&fewer, "`small` is not violated");
    // And some values have no instance.
    let text = text.replace("shared x: int", "shared y: 1..N = 1; shared x: int");
    let none = changed(&counting, &text, "N >= -1", "N >= 0");
    has_no_proof(&none, "has an instance");
}

#[test]
fn types_without_values_of_processes_that_do_not_exist_prove_nothing() {
    let text = "
        param N = 0 where N <= 0;
        shared a: array[P] of 3..1 = any;
        shared last: P? = none;
        shared x: 0..1 = 0;
        process P[i: 1..N] { local v: 3..1 = any; p: last := i; }
        process Q { q: x := 1; }
        invariant entry: x == 0 || (last != none && a[last] == 3);
        invariant local: x == 0 || (last != none && P[last].v == 3);
    ";
    has_no_proof(&Draft::new(text, "entry"), "`entry` is not violated");
    has_no_proof(&Draft::new(text, "local"), "`local` is not violated");
}

#[test]
fn counted_predicates_are_not_kept_by_steps_that_write_entries_of_others() {
    let text = "
        param N = 2 where N >= 0;
        shared a: array[P] of 0..1 = 0;
        process P[i: 1..N] { l: choose j in P { a[j] := 1; } m: skip; }
        invariant zero: forall i in P: P[i] at l -> a[i] == 0;
    ";
    let draft = Draft::new(text, "zero").counted("P", "a[$0] <= 0");
    let draft = draft
        .view("", &["#P.l[0] == #P.l"])
        .view("P.l", &["a[$0] == 0"]);
    has_no_proof(&draft, "holds after the step of P");
    let text = text.replace("choose j in P { a[j] := 1; }", "a[i] := 1;");
    let draft = Draft {
        program: Draft::new(&text, "zero").program,
        ..draft
    };
    draft.accepted();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |change: &dyn Fn(&mut FamilyClaim), part: &str| {
        let draft = bakery();
        let mut certificate = draft.prove().unwrap();
        change(claim(&mut certificate));
        let error = draft.check(&certificate).unwrap_err();
        assert!(matches!(error, Error::NoProof(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let renamed = |name: &'static str| {
        move |claim: &mut FamilyClaim| {
            let mut variables = claim.variables.iter_mut();
            *variables.find(|known| *known == "y[$0]").unwrap() = name.to_owned();
        }
    };
    let nothing = "nothing that an assertion can be about";
    for name in [
        "z[$0]",
        "y.$0",
        "?0",
        "{(max b9 t0 s0[b9])}",
        "$0:0",
        "#P.nowhere",
        "#Q.wait",
        "#P.wait[0]",
        "#P",
        "$x",
        "y[$00]",
        "",
        "y[",
        "M",
    ] {
        refused(&renamed(name), nothing);
    }
    refused(
        &renamed("y[$7]"),
        "is not for view 0: there is no reference $7",
    );
    refused(&renamed("y[0]"), "does not fit its dimension");
    refused(&renamed("y"), "it has 1 dimensions");
    refused(&renamed("$0.v"), "`P` has no variable `v`");
    refused(
        &|claim| claim.variables.push("y[$0]".to_owned()),
        "listed twice",
    );
    refused(
        &|claim| claim.variables.truncate(1),
        "no variable with the number",
    );
    refused(
        &|claim| claim.views.push(claim.views[0].clone()),
        "has the references of another one",
    );
    refused(
        &|claim| claim.views[0].references[0].template = "Q".to_owned(),
        "no template `Q`",
    );
    refused(
        &|claim| claim.views[0].references[0].location = "q".to_owned(),
        "no label `q`",
    );
    let counting_of = |template: &'static str, name: &'static str| {
        move |claim: &mut FamilyClaim| {
            let mut names = claim.variables.iter();
            let variable = names.position(|known| known == name).unwrap() as u32;
            claim.counted.push(CountedPredicate {
                template: template.to_owned(),
                predicate: Formula::Atom(Atom::at_most_zero([(variable, 1)], 0).unwrap()),
            });
        }
    };
    refused(&counting_of("Q", "y[$0]"), "no template `Q`");
    refused(&counting_of("P", "#P.wait"), "it is a number of processes");
    refused(&counting_of("P", "y[$1]"), "there is no reference $1");
}

#[test]
fn views_of_many_processes_are_refused() {
    let references = ["P.wait"; 9].join(" ");
    let draft = bakery().view(&references, &["y[$0] >= 1"]);
    let error = draft.check(&draft.certificate()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
}

#[test]
fn refusals_name_the_place() {
    let draft = semaphore();
    let mut certificate = draft.prove().unwrap();
    let leaves = |proof: &ConditionProof| {
        let Condition::Step { mover, path, .. } = &proof.condition else {
            return false;
        };
        // The steps are in the order of labels.
        (*mover, *path) == (None, 3)
    };
    claim(&mut certificate)
        .proofs
        .retain(|proof| !leaves(proof));
    let error = draft.check(&certificate).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is not proved that the assertion \
        `x + #P.critical + #P.leave <= 1 && -x - #P.critical - #P.leave <= -1` holds after \
        the step of P from `leave` to `idle`, by another process: \
        it does not hold obviously, and there is no proof of it"
    );
    let span = error.span().unwrap();
    let place = &SEMAPHORE[span.start as usize..span.end as usize];
    assert!(place.starts_with("x := 1"), "{place}");
}

#[test]
fn deadlocks_are_states_in_which_nobody_has_a_step() {
    let stuck = |steps: &str| {
        let text = format!(
            "param N = 2 where N >= 0; shared x: int = 0; process P[i: 1..N] {{ {steps} }} deadlock_free;"
        );
        Draft::new(&text, "deadlock_free")
    };
    // Who has ended need not move, and a check that fails is a step. What is chosen can be chosen.
    for steps in [
        "a: skip;",
        "loop { a: stay; }",
        "a: assert x == 1;",
        "a: if x > 0 { x := 1; } else { x := 2; }",
        "a: choose { await x == 7; } or { x := 1; }",
    ] {
        stuck(steps).accepted();
    }
    // Resting is none, and one path that is open is needed.
    let wrong = "while somebody has not ended, somebody has a step";
    for steps in [
        "a: await x == 1;",
        "loop { a: atomic { stay; await x == 1; } }",
        "a: skip; b: await x == 1;",
        "a: choose { await x == 7; } or { await x == 1; }",
        "a: choose j in P { await x == 1; }",
    ] {
        has_no_proof(&stuck(steps), wrong);
    }
    let moving = |draft: Draft| Draft {
        property: "deadlock_free".to_owned(),
        ..draft
    };
    has_no_proof(&moving(Draft::new(SEMAPHORE, "")), wrong);
    let weak = Draft::new(SEMAPHORE, "").view("", &["x + #P.critical + #P.leave <= 1"]);
    has_no_proof(&moving(weak), wrong);
    has_no_proof(&Draft::new(FLAGS, "deadlock_free"), wrong);
}
