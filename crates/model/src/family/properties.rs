//! Invariants of a family: conjuncts, each about all processes of some templates.

use threadwise_lang::program::{BoundId, Expr, PropertyKind, TemplateId};

use super::expr::Lowering;
use super::terms::Names;
use super::{Family, Formula, Term, Unsupported};
use crate::execute::Evaluate;

/// A part of an invariant: it is to hold of all processes of these templates.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// The processes, which need not be different, and their templates.
    pub variables: Vec<(BoundId, TemplateId)>,
    /// What must hold. What its evaluation checks must, too.
    pub body: Formula,
}

impl Family {
    /// The name, in conjuncts, of the process of a template that has a single one.
    pub fn single(&self, template: TemplateId) -> BoundId {
        BoundId::from_usize(self.program().bounds.len() + template.index())
    }

    /// The conjuncts of an invariant; `None` if there is no invariant with this name.
    pub fn invariant(&self, name: &str) -> Result<Option<Vec<Conjunct>>, Unsupported> {
        let program = self.program();
        let found = program.properties.iter().find(|p| p.name == name);
        let Some(PropertyKind::Invariant(expr)) = found.map(|property| &property.kind) else {
            return Ok(None);
        };
        self.conjuncts(expr).map(Some)
    }

    /// The conjuncts of a predicate about all processes.
    pub(super) fn conjuncts(&self, expr: &Expr) -> Result<Vec<Conjunct>, Unsupported> {
        let program = self.program();
        let mut lowering = Lowering::new(self, None);
        let formula = lowering.truth(expr)?;
        let checks = std::mem::take(&mut lowering.frame().checks);
        let checks = checks.into_iter().map(|check| check.holds);
        let mut split = Split {
            conjuncts: Vec::new(),
            variables: Vec::new(),
            fresh: program.bounds.len() + program.templates.len(),
        };
        let mut conditions = MAX_CONDITIONS;
        for formula in checks.chain([formula]) {
            let formula = formula.without_counts(self, &mut split.fresh);
            split.split(formula.normal(true, &mut conditions));
        }
        let mut conjuncts = split.conjuncts;
        for conjunct in &mut conjuncts {
            let mentioned = lowering.singles.iter().copied();
            let mentioned = mentioned.filter(|template| {
                // The text of a term tells whether a name is in it.
                let name = Term::Bound(self.single(*template)).to_string();
                let text = conjunct.body.to_string();
                let mut words = text.split(|c: char| !c.is_alphanumeric());
                words.any(|word| word == name)
            });
            let mentioned: Vec<_> = mentioned.map(|t| (self.single(t), t)).collect();
            conjunct.variables.extend(mentioned);
        }
        Ok(conjuncts)
    }
}

/// How many conjuncts an invariant is taken apart into, at most, for quantifiers below disjunctions.
const MAX_CONJUNCTS: usize = 1_000;
/// How many processes a conjunct is about, at most, for the same reason.
const MAX_VARIABLES: usize = 4;
/// How many comparisons are taken apart at conditions with quantifiers, each of which is there twice then.
const MAX_CONDITIONS: usize = 64;

/// An invariant that is being taken apart.
struct Split {
    conjuncts: Vec<Conjunct>,
    variables: Vec<(BoundId, TemplateId)>,
    /// The next name that no process has.
    fresh: usize,
}

impl Split {
    /// Takes a formula in negation normal form apart at conjunctions and universal quantifiers, also below disjunctions.
    fn split(&mut self, formula: Formula) {
        match formula {
            Formula::And(members) => {
                for member in members {
                    self.split(member);
                }
            }
            Formula::ForAll(var, template, body) => {
                // A definition that is used twice has its quantifiers twice.
                let known = self.variables.iter().any(|(known, _)| *known == var);
                let (var, body) = match known {
                    true => {
                        let new = BoundId::from_usize(self.fresh);
                        self.fresh += 1;
                        (new, body.resolve(&Names::renaming(var, new)))
                    }
                    false => (var, *body),
                };
                self.variables.push((var, template));
                self.split(body);
                self.variables.pop();
            }
            Formula::Or(mut members) => {
                let found = members.iter().position(|member| member.has_for_all());
                match found {
                    Some(position)
                        if self.conjuncts.len() < MAX_CONJUNCTS
                            && self.variables.len() < MAX_VARIABLES =>
                    {
                        let member = members.remove(position);
                        self.beside(member, &members);
                    }
                    _ => self.push(Formula::Or(members)),
                }
            }
            Formula::Constant(true) => {}
            body => self.push(body),
        }
    }

    /// The same for a formula in a disjunction with others.
    fn beside(&mut self, formula: Formula, others: &[Formula]) {
        let with = |formula| Formula::any(others.iter().cloned().chain([formula]));
        match formula {
            Formula::And(members) => {
                for member in members {
                    self.split(with(member));
                }
            }
            Formula::ForAll(var, template, body) => {
                // The others may have a process of that name.
                let new = BoundId::from_usize(self.fresh);
                self.fresh += 1;
                let body = body.resolve(&Names::renaming(var, new));
                self.split(Formula::quantified(true, new, template, with(body)));
            }
            other => self.split(with(other)),
        }
    }

    fn push(&mut self, body: Formula) {
        self.conjuncts.push(Conjunct {
            variables: self.variables.clone(),
            body,
        });
    }
}

impl Formula {
    /// Whether a formula in negation normal form is about all processes of a template. What is below `exists` stays there.
    fn has_for_all(&self) -> bool {
        match self {
            Formula::ForAll(..) => true,
            Formula::And(members) | Formula::Or(members) => members.iter().any(Self::has_for_all),
            _ => false,
        }
    }

    /// Whether a quantifier is in it.
    fn is_quantified(&self) -> bool {
        match self {
            Formula::ForAll(..) | Formula::Exists(..) => true,
            Formula::Constant(_) | Formula::At { .. } => false,
            Formula::AtMost(a, b) | Formula::Equal(a, b) => {
                [a, b].iter().any(|term| term.quantified().is_some())
            }
            Formula::Not(inner) => inner.is_quantified(),
            Formula::And(members) | Formula::Or(members) => members.iter().any(Self::is_quantified),
        }
    }

    /// The formula, or its negation, in negation normal form: so that `not` is in front of comparisons and labels alone, and conditions with quantifiers are no longer inside of
    /// comparisons. Only so many of these are taken apart.
    fn normal(self, holds: bool, conditions: &mut usize) -> Formula {
        match self {
            Formula::Not(inner) => inner.normal(!holds, conditions),
            Formula::And(ref members) | Formula::Or(ref members) => {
                let each = members.iter().cloned();
                let each: Vec<Formula> = each.map(|m| m.normal(holds, conditions)).collect();
                match matches!(self, Formula::And(_)) == holds {
                    true => Formula::all(each),
                    false => Formula::any(each),
                }
            }
            Formula::ForAll(var, template, body) => {
                Formula::quantified(holds, var, template, body.normal(holds, conditions))
            }
            Formula::Exists(var, template, body) => {
                Formula::quantified(!holds, var, template, body.normal(holds, conditions))
            }
            Formula::AtMost(ref a, ref b) | Formula::Equal(ref a, ref b) => {
                let condition = a.quantified().or_else(|| b.quantified());
                let Some(condition) = condition.filter(|_| *conditions > 0).cloned() else {
                    return if holds { self } else { self.negated() };
                };
                *conditions -= 1;
                let mut known = |truth| {
                    let (a, b) = (a.knowing(&condition, truth), b.knowing(&condition, truth));
                    let compared = match self {
                        Formula::AtMost(..) => Formula::at_most(a, b),
                        _ => Formula::equal(a, b),
                    };
                    compared.normal(holds, conditions)
                };
                let (yes, no) = (known(true), known(false));
                let (is, is_not) = (condition.clone(), condition);
                Formula::all([
                    Formula::any([is.normal(false, conditions), yes]),
                    Formula::any([is_not.normal(true, conditions), no]),
                ])
            }
            other if holds => other,
            other => other.negated(),
        }
    }
}

impl Term {
    /// A condition with quantifiers that the value depends on.
    fn quantified(&self) -> Option<&Formula> {
        match self {
            Term::If(condition, _, _) if condition.is_quantified() => Some(condition),
            Term::If(_, yes, no) => yes.quantified().or_else(|| no.quantified()),
            Term::Sum(terms) => terms.iter().find_map(Term::quantified),
            Term::Scaled(_, term) => term.quantified(),
            _ => None,
        }
    }

    /// The value where such a condition holds, or does not.
    fn knowing(&self, condition: &Formula, truth: bool) -> Term {
        let same = |term: &Term| term.knowing(condition, truth);
        match self {
            Term::If(known, yes, no) if **known == *condition => match truth {
                true => same(yes),
                false => same(no),
            },
            Term::If(other, yes, no) => Term::either((**other).clone(), same(yes), same(no)),
            Term::Sum(terms) => Term::sum(terms.iter().map(same).collect()),
            Term::Scaled(factor, term) => Term::scaled(*factor, same(term)),
            other => other.clone(),
        }
    }
}
