//! Liveness properties of a family: that a promise is kept by whichever process one looks at.
//!
//! The form is *from some state on, some time*: `F q`, `G F q` and `G (p -> F q)`, about a process that is picked (`forall i in P`) or about nobody in particular. What the property or its
//! fairness assume is a list of pairs: if `p` holds infinitely often, so does `q`. An assumption that has no such form is left out, so what is shown without it
//! holds with it, too. Where `q` is to hold for ever (`F G q`, `G (p -> F G q)`), nothing is waited for, and a run that violates that is one in which `!q` holds infinitely often: one more
//! pair. A property of another form is [`Unsupported`].
//!
//! A property may name a process by a number, `P[1]`. It is read as a property of any process in its place, with all that is assumed of `P[1]` assumed of that one. What holds of all holds of
//! the one that is named, provided that it exists. What is lost is what the program itself knows of that number.

use std::cell::RefCell;

use threadwise_lang::program::{
    BoundId, Domain, Expr, FairnessId, FairnessTerm, Ltl, PropertyKind, Span, TemplateId,
};

use super::expr::Lowering;
use super::named;
use super::{Family, Formula, Population, Term, Unsupported};
use crate::execute::{Evaluate, Value};
use crate::system::CheckKind;

/// A liveness property.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The process that it is about: any of a template, all of whose processes are there from the beginning.
    pub reference: Option<(BoundId, TemplateId)>,
    /// The id of the process that the property names, if it names one instead of all.
    pub named: Option<Term>,
    /// What must hold in all states, or its predicates could not be evaluated.
    pub checks: Vec<Formula>,
    /// From where on it is waited.
    pub from: From,
    /// What is waited for.
    pub until: Formula,
    /// Whether every process is scheduled infinitely often.
    pub unconditional: bool,
    /// What else is assumed of runs.
    pub pairs: Vec<Pair>,
    /// The one of these that says that a run violates the property, where something is to hold for ever: it fails infinitely often.
    pub fails: Option<usize>,
}

/// From where on something is waited for.
#[derive(Clone, Debug)]
pub enum From {
    /// The first state of a run.
    Beginning,
    /// Every state in which this holds.
    Whenever(Formula),
}

/// If the first holds infinitely often, so does the second.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The fairness that says so; `None` if the property does.
    pub declared: Option<FairnessId>,
    /// The process that it is about, if it is assumed of each of a template.
    pub of: Option<(BoundId, TemplateId)>,
    /// What holds infinitely often only if the second does.
    pub cause: Formula,
    /// The second.
    pub effect: Formula,
}

impl Family {
    /// A liveness property; `None` if there is none with this name.
    pub fn liveness(&self, name: &str) -> Result<Option<Liveness>, Unsupported> {
        let mut properties = self.program().properties.iter();
        let Some(property) = properties.find(|property| property.name == name) else {
            return Ok(None);
        };
        let PropertyKind::Liveness { under, formula } = &property.kind else {
            return Ok(None);
        };
        let mut reader = Reader {
            family: self,
            span: property.span,
            bound: None,
            checks: RefCell::default(),
        };
        let mut pairs = Vec::new();
        let mut body = formula;
        loop {
            body = match body {
                Ltl::Quantified {
                    forall: true,
                    var,
                    domain: Domain::Template(template),
                    body,
                } if reader.bound.is_none() => {
                    if matches!(self.templates[*template].population, Population::Grows) {
                        return Err(reader.unsupported("a promise to processes that are started"));
                    }
                    reader.bound = Some((*var, *template));
                    body
                }
                // What is assumed of everybody, before anybody is picked.
                Ltl::Implies(assumed, body) if reader.bound.is_none() => {
                    reader.assumed(assumed, &mut pairs);
                    body
                }
                other => {
                    body = other;
                    break;
                }
            };
        }
        while let (Ltl::Implies(assumed, then), true) = (body, reader.bound.is_some()) {
            // What is assumed of the process that was picked.
            reader.assumed(assumed, &mut pairs);
            body = then;
        }
        let (from, until) = match body {
            Ltl::Globally(then) => match &**then {
                Ltl::Implies(from, then) => match &**from {
                    Ltl::State(from) => (From::Whenever(reader.predicate(from)?), &**then),
                    _ => return Err(reader.other_form()),
                },
                Ltl::Finally(_) => (From::Whenever(Formula::Constant(true)), &**then),
                _ => return Err(reader.other_form()),
            },
            Ltl::Finally(_) => (From::Beginning, body),
            _ => return Err(reader.other_form()),
        };
        let Ltl::Finally(until) = until else {
            return Err(reader.other_form());
        };
        let mut fails = None;
        let until = match &**until {
            Ltl::State(until) => reader.predicate(until)?,
            // It is waited for nothing; but a run that violates this is one in which `q` fails infinitely often.
            Ltl::Globally(stable) => match &**stable {
                Ltl::State(stable) => {
                    fails = Some(pairs.len());
                    pairs.push(Pair {
                        declared: None,
                        of: None,
                        cause: Formula::Constant(true),
                        effect: reader.predicate(stable)?.negated(),
                    });
                    Formula::Constant(false)
                }
                _ => return Err(reader.other_form()),
            },
            _ => return Err(reader.other_form()),
        };
        let mut unconditional = false;
        for id in under {
            unconditional |= self.fairness(*id, &reader, &mut pairs);
        }
        let mut liveness = Liveness {
            reference: reader.bound,
            named: None,
            checks: reader.checks.into_inner(),
            from,
            until,
            unconditional,
            pairs,
            fails,
        };
        if liveness.reference.is_none() {
            liveness.of_the_named(self);
        }
        Ok(Some(liveness))
    }

    /// Adds what a declaration assumes of every run; says whether every process is scheduled.
    fn fairness(&self, id: FairnessId, reader: &Reader<'_>, pairs: &mut Vec<Pair>) -> bool {
        // With alternatives, nothing in particular is assumed.
        let [terms] = self.program().fairness[id].alternatives.as_slice() else {
            return false;
        };
        let (mut unconditional, before) = (false, pairs.len());
        for term in terms {
            match term {
                FairnessTerm::Unconditional => unconditional = true,
                FairnessTerm::Weak(of, effect) => pairs.extend(reader.pair(of, None, effect)),
                FairnessTerm::Strong(of, cause, effect) => {
                    pairs.extend(reader.pair(of, Some(cause), effect));
                }
            }
        }
        for pair in &mut pairs[before..] {
            pair.declared = Some(id);
        }
        unconditional
    }
}

impl Liveness {
    /// If the property names a process, reads it as one about any process in its place.
    fn of_the_named(&mut self, family: &Family) {
        let from = match &self.from {
            From::Beginning => None,
            From::Whenever(from) => named::process(from),
        };
        let stable = self.fails.and_then(|fails| self.pairs.get(fails));
        let stable = stable.and_then(|pair| named::process(&pair.effect));
        let Some((template, process)) = named::process(&self.until).or(from).or(stable) else {
            return;
        };
        if matches!(family.templates[template].population, Population::Grows) {
            return;
        }
        // No other process has this name.
        let program = family.program();
        let var = BoundId::from_usize(program.bounds.len() + program.templates.len());
        let any = |formula: &mut Formula| {
            *formula = named::replaced(family, formula, (template, &process), var);
        };
        if let From::Whenever(from) = &mut self.from {
            any(from);
        }
        any(&mut self.until);
        for pair in &mut self.pairs {
            any(&mut pair.cause);
            any(&mut pair.effect);
        }
        self.reference = Some((var, template));
        self.named = Some(process);
    }
}

/// Reads predicates about the process that was picked.
struct Reader<'a> {
    family: &'a Family,
    span: Span,
    bound: Option<(BoundId, TemplateId)>,
    /// What the evaluation of predicates checks.
    checks: RefCell<Vec<Formula>>,
}

impl Reader<'_> {
    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported::new(what, self.span)
    }

    fn other_form(&self) -> Unsupported {
        self.unsupported("a liveness property that is none of `F q`, `G F q`, `G (p -> F q)`, `F G q` and `G (p -> F G q)`")
    }

    fn predicate(&self, expr: &Expr) -> Result<Formula, Unsupported> {
        self.about(self.bound.map(|(var, _)| var), expr)
    }

    /// A predicate in which a process may be named. All that its evaluation may check is that processes exist that it names by numbers.
    fn about(&self, of: Option<BoundId>, expr: &Expr) -> Result<Formula, Unsupported> {
        let mut lowering = Lowering::new(self.family, None);
        let value = match of {
            Some(var) => lowering.bound_to(var, Term::Bound(var), |it| it.value(expr)),
            None => lowering.value(expr),
        };
        let formula = value?.truth();
        let mut checks = std::mem::take(&mut lowering.frame().checks);
        checks.retain(|check| check.holds != Formula::Constant(true));
        let ids = checks.iter().all(|check| check.kind == CheckKind::Id);
        let fixed = checks.iter().all(|check| named::is_fixed(&check.holds));
        if !ids || !fixed || !lowering.singles.is_empty() {
            return Err(Unsupported::new(
                "a predicate of a liveness property that may fail, or that is about a single process",
                expr.span,
            ));
        }
        let mut all = self.checks.borrow_mut();
        for check in checks {
            if !all.contains(&check.holds) {
                all.push(check.holds);
            }
        }
        Ok(formula)
    }

    /// A fairness assumption, if it is of the form.
    fn pair(&self, of: &[(BoundId, Domain)], cause: Option<&Expr>, effect: &Expr) -> Option<Pair> {
        let of = match of {
            [] => None,
            [(var, Domain::Template(template))] => Some((*var, *template)),
            _ => return None,
        };
        let var = of.or(self.bound).map(|(var, _)| var);
        let cause = match cause {
            Some(cause) => self.about(var, cause).ok()?,
            None => Formula::Constant(true),
        };
        let effect = self.about(var, effect).ok()?;
        Some(Pair {
            declared: None,
            of,
            cause,
            effect,
        })
    }

    /// What is assumed in front of an implication: `G F b` and `G (a -> F b)`, of nobody in particular or of everybody, and several of these.
    fn assumed(&self, formula: &Ltl, pairs: &mut Vec<Pair>) {
        match formula {
            Ltl::And(parts) => parts.iter().for_each(|part| self.assumed(part, pairs)),
            Ltl::Quantified {
                forall: true,
                var,
                domain,
                body,
            } => pairs.extend(self.responds(&[(*var, domain.clone())], body)),
            other => pairs.extend(self.responds(&[], other)),
        }
    }

    /// `G (a -> F b)`: if `a` infinitely often, so is `b`.
    fn responds(&self, of: &[(BoundId, Domain)], formula: &Ltl) -> Option<Pair> {
        let Ltl::Globally(body) = formula else {
            return None;
        };
        let (cause, effect) = match &**body {
            Ltl::Finally(effect) => (None, effect),
            Ltl::Implies(cause, effect) => match (&**cause, &**effect) {
                (Ltl::State(cause), Ltl::Finally(effect)) => (Some(cause), effect),
                _ => return None,
            },
            _ => return None,
        };
        match &**effect {
            Ltl::State(effect) => self.pair(of, cause, effect),
            _ => None,
        }
    }
}
