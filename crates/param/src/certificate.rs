//! Writing a proof down: the assertions that the property needs, no others, and a proof for each condition.
//!
//! What was inferred is far more than is needed. Beginning with the property, whatever a proof uses is kept, and what the proofs of that use, until nothing
//! is added. A proof uses what the solver says it rests on, less what turns out not to be needed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Proof, Variable};
use threadwise_evidence::family::{
    Comparison, ConditionProof, CountedPredicate, Deletion, FairClaim, FamilyClaim, SummedTerm,
    ViewClaim,
};

use threadwise_lang::program::TemplateId;

use crate::conditions::{Cases, Goal, Instantiation, shown};
use crate::infer::{Inference, unaffected};
use crate::questions::Halt;

/// An assertion: its view, and its position among those of the view.
type Place = (usize, usize);

/// What is to be refuted: facts, assertions, and more that cannot be left out.
struct Question<'q> {
    facts: &'q [Linear],
    hypotheses: &'q [(Place, Linear)],
    more: &'q [Linear],
}

/// A proof that some formulas are contradictory, and which assertions it uses.
struct Used {
    proof: Proof,
    assertions: BTreeSet<Place>,
}

/// Something that turned out not to follow after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Halt(#[from] Halt),
    #[error("an assertion that was found does not follow from the others")]
    NotInductive,
    #[error("not every allowed value of the parameters has an instance")]
    NoInstance,
}

impl From<threadwise_evidence::arithmetic::Overflow> for Failure {
    fn from(overflow: threadwise_evidence::arithmetic::Overflow) -> Failure {
        Failure::Halt(Halt::Overflow(overflow))
    }
}

/// The claim that these goals follow from what was inferred.
pub(crate) fn claim(
    inference: &mut Inference,
    requirements: &[(threadwise_evidence::family::Condition, Vec<Linear>)],
    goals: &[Goal],
    fair: Option<FairClaim>,
) -> Result<FamilyClaim, Failure> {
    let mut writer = Writer::new(inference)?;
    let mut proofs = Vec::new();
    for (condition, facts) in requirements {
        match writer.refute(facts, &[], &[])? {
            Some(used) => proofs.push((condition.clone(), used.proof)),
            None => return Err(Failure::NoInstance),
        }
    }
    for goal in goals {
        let used = writer.refute(&goal.facts, &goal.assumed, &[])?;
        let used = used.ok_or(Failure::NotInductive)?;
        writer.need(&used.assertions);
        proofs.push((goal.condition.clone(), used.proof));
    }
    let steps = writer.close()?;
    Ok(writer.write(proofs, steps, fair))
}

struct Writer<'i, 'a, 's> {
    inference: &'i mut Inference<'a, 's>,
    cases: &'s Cases<'a>,
    formulas: Vec<Vec<Linear>>,
    needed: BTreeSet<Place>,
    queue: VecDeque<Place>,
}

impl<'i, 'a, 's> Writer<'i, 'a, 's> {
    fn new(inference: &'i mut Inference<'a, 's>) -> Result<Writer<'i, 'a, 's>, Failure> {
        let cases = inference.cases;
        let mut formulas = Vec::with_capacity(cases.views.len());
        for view in 0..cases.views.len() {
            formulas.push(inference.formulas(view)?);
        }
        Ok(Writer {
            inference,
            cases,
            formulas,
            needed: BTreeSet::new(),
            queue: VecDeque::new(),
        })
    }

    fn need(&mut self, assertions: &BTreeSet<Place>) {
        for place in assertions {
            if self.needed.insert(*place) {
                self.queue.push_back(*place);
            }
        }
    }

    /// Proves every assertion that is needed, in every case.
    fn close(&mut self) -> Result<Vec<(usize, Place, Proof)>, Failure> {
        let mut by_view: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, case) in self.cases.cases.iter().enumerate() {
            by_view.entry(case.view).or_default().push(number);
        }
        let mut steps = Vec::new();
        while let Some(place) = self.queue.pop_front() {
            let formula = self.formulas[place.0][place.1].clone();
            for number in by_view.get(&place.0).into_iter().flatten() {
                let case = &self.cases.cases[*number];
                if formula.truth() != Some(false)
                    && refutes_its_negation(&formula)
                    && unaffected(case, &formula)
                {
                    continue;
                }
                let after = Cases::after(&formula, &case.after)?;
                let negated = after.negation()?;
                let used = self.refute(&case.facts, &case.assumed, &[negated])?;
                let used = used.ok_or(Failure::NotInductive)?;
                self.need(&used.assertions);
                steps.push((*number, place, used.proof));
            }
        }
        Ok(steps)
    }

    /// A proof that formulas contradict each other, with few assertions.
    fn refute(
        &mut self,
        facts: &[Linear],
        assumed: &[Instantiation],
        more: &[Linear],
    ) -> Result<Option<Used>, Failure> {
        let mut hypotheses: Vec<(Place, Linear)> = Vec::new();
        for instantiation in assumed {
            for (position, formula) in self.formulas[instantiation.view].iter().enumerate() {
                let renamed = instantiation.says(formula);
                if renamed.truth() == Some(false) {
                    // What cannot be reached needs no other reason.
                    return Ok(Some(Used {
                        proof: Proof::Obvious,
                        assertions: BTreeSet::from([(instantiation.view, position)]),
                    }));
                }
                hypotheses.push(((instantiation.view, position), renamed));
            }
        }
        // What is needed anyway costs nothing.
        let (needed, new): (Vec<usize>, Vec<usize>) = (0..hypotheses.len())
            .partition(|position| self.needed.contains(&hypotheses[*position].0));
        let question = Question {
            facts,
            hypotheses: &hypotheses,
            more,
        };
        let used = match self.ask(&question, &needed)? {
            Some(found) => found,
            None => match self.ask(&question, &[&needed[..], &new].concat())? {
                Some(found) => self.fewer(&question, &needed, found)?,
                None => return Ok(None),
            },
        };
        Ok(Some(Used {
            proof: used.0,
            assertions: used.1.iter().map(|place| hypotheses[*place].0).collect(),
        }))
    }

    /// Leaves out hypotheses that are not needed elsewhere, as long as the rest suffices.
    fn fewer(
        &mut self,
        question: &Question,
        needed: &[usize],
        mut found: (Proof, Vec<usize>),
    ) -> Result<(Proof, Vec<usize>), Failure> {
        let new = |place: &usize| !needed.contains(place);
        let candidates: Vec<usize> = found.1.iter().copied().filter(new).collect();
        for left_out in candidates.into_iter().rev() {
            if !found.1.contains(&left_out) {
                continue;
            }
            let rest = found.1.iter().copied();
            let rest = rest.filter(|place| new(place) && *place != left_out);
            let rest: Vec<usize> = needed.iter().copied().chain(rest).collect();
            if let Some(fewer) = self.ask(question, &rest)? {
                found = fewer;
            }
        }
        Ok(found)
    }

    /// A proof that some hypotheses suffice, and those that it is from.
    fn ask(
        &mut self,
        question: &Question,
        chosen: &[usize],
    ) -> Result<Option<(Proof, Vec<usize>)>, Failure> {
        let hypotheses = chosen.iter().map(|place| &question.hypotheses[*place].1);
        let formulas = question.facts.iter().chain(hypotheses).chain(question.more);
        let Some((proof, core)) = self.inference.questions.refute(formulas)? else {
            return Ok(None);
        };
        let core = core.iter().filter_map(|number| {
            let position = (*number as usize).checked_sub(question.facts.len())?;
            chosen.get(position).copied()
        });
        Ok(Some((proof, core.collect())))
    }

    /// The claim, with variables and views numbered anew.
    fn write(
        &self,
        proofs: Vec<(threadwise_evidence::family::Condition, Proof)>,
        steps: Vec<(usize, Place, Proof)>,
        fair: Option<FairClaim>,
    ) -> FamilyClaim {
        let family = self.cases.family;
        let mut views = Vec::new();
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut positions: BTreeMap<Place, usize> = BTreeMap::new();
        for place in &self.needed {
            let view = *numbers.entry(place.0).or_insert_with(|| {
                let references = self.cases.views[place.0].references.iter();
                views.push(ViewClaim {
                    references: references.map(|r| shown(family, *r)).collect(),
                    assertions: Vec::new(),
                });
                views.len() - 1
            });
            positions.insert(*place, views[view].assertions.len());
            let formula = self.formulas[place.0][place.1].clone();
            views[view].assertions.push(formula);
        }
        let mut all: Vec<ConditionProof> = Vec::new();
        let mut push = |condition, proof| {
            if proof != Proof::Obvious {
                all.push(ConditionProof { condition, proof });
            }
        };
        for (condition, proof) in proofs {
            push(condition, proof);
        }
        for (case, place, proof) in steps {
            let case = &self.cases.cases[case];
            let view = numbers[&place.0];
            push(self.cases.condition(case, view, positions[&place]), proof);
        }
        let counted = self
            .cases
            .ghosts
            .counted
            .iter()
            .map(|counted| CountedPredicate {
                template: family.templates[counted.template].name.clone(),
                predicate: Linear::Atom(counted.predicate.clone()),
            });
        let name = |template: TemplateId| family.templates[template].name.clone();
        let compared = self.cases.ghosts.compared.iter();
        let compared = compared.map(|comparison| Comparison {
            template: name(comparison.template),
            of: name(comparison.of),
            predicate: comparison.predicate.clone(),
            order: comparison.order,
        });
        let summed = self.cases.table.summed.iter().map(|summed| SummedTerm {
            template: family.templates[summed.template].name.clone(),
            terms: summed.term.terms.clone(),
            constant: summed.term.constant,
        });
        let mut claim = FamilyClaim {
            variables: Vec::new(),
            counted: counted.collect(),
            summed: summed.collect(),
            compared: compared.collect(),
            views,
            arrivals: None,
            excluded: None,
            proofs: all,
            fair: fair.map(Box::new),
        };
        number_variables(&mut claim, self.cases);
        claim
    }
}

/// Gives numbers to the variables that a claim uses, in the order that they have, and lists their names.
///
/// A name may stand for several variables: `$0.v` is the variable `v` of whatever template the first process in scope is of. An atom is about one scope, so it never mentions
/// two of them.
fn number_variables(claim: &mut FamilyClaim, cases: &Cases) {
    let mut used: BTreeSet<Variable> = BTreeSet::new();
    visit_claim(claim, &mut |atom| {
        used.extend(atom.terms.iter().map(|(variable, _)| *variable));
    });
    let mut named: BTreeMap<String, Variable> = BTreeMap::new();
    let mut numbers: BTreeMap<Variable, Variable> = BTreeMap::new();
    for variable in used {
        let name = cases.table.name(cases.family, variable);
        let number = *named.entry(name.clone()).or_insert_with(|| {
            claim.variables.push(name);
            (claim.variables.len() - 1) as Variable
        });
        numbers.insert(variable, number);
    }
    visit_claim(claim, &mut |atom| {
        for (variable, _) in &mut atom.terms {
            // All of them were collected before.
            *variable = numbers.get(variable).copied().unwrap_or_default();
        }
        atom.terms.sort_unstable_by_key(|(variable, _)| *variable);
    });
}

fn visit_claim(claim: &mut FamilyClaim, visit: &mut dyn FnMut(&mut Atom)) {
    for counted in &mut claim.counted {
        visit_formula(&mut counted.predicate, visit);
    }
    for summed in &mut claim.summed {
        visit_terms(&mut summed.terms, visit);
    }
    for compared in &mut claim.compared {
        visit_formula(&mut compared.predicate, visit);
    }
    for view in &mut claim.views {
        for assertion in &mut view.assertions {
            visit_formula(assertion, visit);
        }
    }
    for proof in &mut claim.proofs {
        visit_proof(&mut proof.proof, visit);
    }
    let Some(fair) = &mut claim.fair else {
        return;
    };
    for control in &mut fair.controls {
        visit_formula(&mut control.pending, visit);
    }
    for deletion in &mut fair.deletions {
        match deletion {
            Deletion::Impossible { .. } | Deletion::Leave { .. } => {}
            Deletion::Rank { terms, .. } => visit_terms(terms, visit),
            Deletion::Oneself { states } => visit_formula(&mut states.states, visit),
            Deletion::Somebody { states, .. }
            | Deletion::Least { states, .. }
            | Deletion::Everybody { states }
            | Deletion::Promise { states, .. } => {
                let states = states.iter_mut();
                states.for_each(|deleted| visit_formula(&mut deleted.states, visit));
            }
        }
    }
}

fn visit_terms(terms: &mut Vec<(Variable, i64)>, visit: &mut dyn FnMut(&mut Atom)) {
    let mut atom = Atom {
        terms: std::mem::take(terms),
        constant: 0,
    };
    visit(&mut atom);
    *terms = atom.terms;
}

fn visit_formula(formula: &mut Linear, visit: &mut dyn FnMut(&mut Atom)) {
    match formula {
        Linear::Atom(atom) => visit(atom),
        Linear::And(members) | Linear::Or(members) => {
            members.iter_mut().for_each(|m| visit_formula(m, visit));
        }
    }
}

fn visit_proof(proof: &mut Proof, visit: &mut dyn FnMut(&mut Atom)) {
    match proof {
        Proof::Obvious => {}
        Proof::Sum(atoms) => atoms.iter_mut().for_each(|(atom, _)| visit(atom)),
        Proof::Split { on, holds, fails } => {
            visit(on);
            visit_proof(holds, visit);
            visit_proof(fails, visit);
        }
    }
}

/// Whether a formula and its negation contradict each other by propagation alone, so that a step that leaves it as it was needs no proof.
fn refutes_its_negation(formula: &Linear) -> bool {
    match formula {
        Linear::Atom(_) => true,
        Linear::And(members) | Linear::Or(members) => {
            members.iter().all(|m| matches!(m, Linear::Atom(_)))
        }
    }
}
