//! Claims made by hand, with proofs by the solver of the engines: accepted as they are, and refused if anything about them is wrong.

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
use super::{Subject, check_family};
use crate::Error;

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
            proofs: Vec::new(),
            names: Vec::new(),
            failed: None,
        };
        let (prover, _) = subject.list(prover, &|| false).map_err(|e| e.to_string())?;
        if let Some(failed) = prover.failed {
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
    proofs: Vec<ConditionProof>,
    names: Vec<String>,
    failed: Option<String>,
}

impl Judge for Prover {
    fn push(&mut self, _: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.solver.push(formulas);
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Error> {
        self.solver.pop();
        Ok(())
    }

    fn judge(
        &mut self,
        table: &Table,
        condition: &Condition,
        about: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error> {
        match self.solver.solve(&[], &|| false) {
            Answer::Unsat(Proof::Obvious) => {}
            Answer::Unsat(proof) => {
                self.names = table.names().to_vec();
                self.proofs.push(ConditionProof {
                    condition: condition.clone(),
                    proof,
                });
            }
            other => {
                let (what, _) = about(table);
                self.failed.get_or_insert(format!("{what}: {other:?}"));
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

#[test]
fn claims_with_proofs_are_accepted() {
    counting().accepted();
    semaphore().accepted();
    bakery().accepted();
    parent().accepted();
}

#[test]
fn counted_predicates_follow_the_shared_variables() {
    maximum().accepted();
}
