//! Who keeps a process from a step.
//!
//! If a process has no step, a guard of each of its paths is false. Where a guard is false because of somebody, this is a process in scope or another one, and a variable for each label says whether
//! it is one that is there: the *blocker*. If it is, all is assumed of it that is known of processes at the label. Likewise for the process that a least or a greatest
//! value belongs to. Without that, all that such a guard says is lost if nobody in scope is meant.

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow};
use threadwise_lang::program::{BoundId, TemplateId};
use threadwise_model::family::{FoldKind, Formula, Names, Term};

use crate::compared::{More, with};
use crate::conditions::Cases;
use crate::scope::{Form, Reference, Scope, Translator, Var};

/// The search for those that keep a process from a step.
pub(crate) struct Blockers<'s> {
    pub(crate) scope: &'s Scope,
    /// The number of the next one.
    pub(crate) next: &'s mut u32,
    /// Where this holds, nothing is said of them.
    pub(crate) unless: Option<Linear>,
    /// What is known of them.
    pub(crate) assumed: More,
}

/// What is said of a process, given its number.
type About<'q> = &'q dyn Fn(&mut Translator<'_>, u32) -> Result<Linear, Overflow>;

impl Blockers<'_> {
    /// A guard that is false.
    pub(crate) fn fails(
        &mut self,
        cases: &mut Cases<'_>,
        guard: &Formula,
    ) -> Result<Linear, Overflow> {
        let fails = self.says(cases, guard, false)?;
        let mut terms = Vec::new();
        extremes(guard, &mut terms);
        for term in terms {
            self.attained(cases, term)?;
        }
        Ok(fails)
    }

    fn says(
        &mut self,
        cases: &mut Cases<'_>,
        formula: &Formula,
        holds: bool,
    ) -> Result<Linear, Overflow> {
        match formula {
            Formula::Not(inner) => self.says(cases, inner, !holds),
            Formula::And(members) | Formula::Or(members) => {
                let mut each = Vec::with_capacity(members.len());
                for member in members {
                    each.push(self.says(cases, member, holds)?);
                }
                Ok(match matches!(formula, Formula::And(_)) == holds {
                    true => Linear::all(each),
                    false => Linear::any(each),
                })
            }
            Formula::ForAll(var, template, body) if !holds => {
                self.somebody(cases, formula, (*var, *template, body), false)
            }
            Formula::Exists(var, template, body) if holds => {
                self.somebody(cases, formula, (*var, *template, body), true)
            }
            _ => self.plainly(cases, formula, holds),
        }
    }

    fn plainly(
        &mut self,
        cases: &mut Cases<'_>,
        formula: &Formula,
        holds: bool,
    ) -> Result<Linear, Overflow> {
        let mut translator = Translator::new(cases.family, &mut cases.table, self.scope);
        let said = translator.assume(formula, holds)?;
        let facts = std::mem::take(&mut translator.facts);
        self.note(facts);
        Ok(said)
    }

    /// Takes facts in.
    fn note(&mut self, facts: Vec<Linear>) {
        let unless = &self.unless;
        let each = facts.into_iter().map(|fact| match unless {
            Some(unless) => Linear::any([unless.clone(), fact]),
            None => fact,
        });
        self.assumed.facts.extend(each);
    }

    fn somebody(
        &mut self,
        cases: &mut Cases<'_>,
        whole: &Formula,
        (var, template, body): (BoundId, TemplateId, &Formula),
        holds: bool,
    ) -> Result<Linear, Overflow> {
        let mut translator = Translator::new(cases.family, &mut cases.table, self.scope);
        if translator.at_labels(var, template, body, true)?.is_some() {
            return self.plainly(cases, whole, holds);
        }
        let about = |translator: &mut Translator<'_>, process: u32| {
            let names = Names::default().with(var, process);
            translator.assume(&body.resolve(&names), holds)
        };
        let mut ways = self.here(cases, template, &about)?;
        ways.extend(self.elsewhere(cases, template, &about)?);
        Ok(Linear::any(ways))
    }

    /// That a value belongs to somebody, if there is anybody.
    fn attained(&mut self, cases: &mut Cases<'_>, term: &Term) -> Result<(), Overflow> {
        let Term::Fold {
            var,
            template,
            body,
            ..
        } = term
        else {
            return Ok(());
        };
        let mut translator = Translator::new(cases.family, &mut cases.table, self.scope);
        let value = translator.term(term)?;
        let population = translator.population(*template)?;
        let facts = std::mem::take(&mut translator.facts);
        self.note(facts);
        let about = |translator: &mut Translator<'_>, process: u32| {
            let names = Names::default().with(*var, process);
            let own = translator.term(&body.resolve(&names))?;
            value.equals(&own)
        };
        let mut ways = vec![population.at_most(&Form::number(0))?];
        ways.extend(self.here(cases, *template, &about)?);
        ways.extend(self.elsewhere(cases, *template, &about)?);
        self.note(vec![Linear::any(ways)]);
        Ok(())
    }

    /// The ways for it to be a process in scope.
    fn here(
        &mut self,
        cases: &mut Cases<'_>,
        template: TemplateId,
        about: About<'_>,
    ) -> Result<Vec<Linear>, Overflow> {
        let mut translator = Translator::new(cases.family, &mut cases.table, self.scope);
        let mut ways = Vec::new();
        for process in self.scope.of_template(template) {
            ways.push(about(&mut translator, process)?);
        }
        let facts = std::mem::take(&mut translator.facts);
        self.note(facts);
        Ok(ways)
    }

    /// The ways for it to be another process.
    fn elsewhere(
        &mut self,
        cases: &mut Cases<'_>,
        template: TemplateId,
        about: About<'_>,
    ) -> Result<Vec<Linear>, Overflow> {
        let number = *self.next;
        *self.next += 1;
        let mut ways = Vec::new();
        for location in cases.family.templates[template].locations.indices() {
            let process = Reference { template, location };
            let wider = with(self.scope, number, process);
            let mut translator = Translator::new(cases.family, &mut cases.table, &wider);
            let is = translator.var(Var::Blocker(number, template, location));
            let mut known = vec![about(&mut translator, number)?];
            known.append(&mut translator.facts);
            ways.push(Form::number(1).at_most(&is)?);
            let not = is.at_most(&Form::number(0))?;
            let unless = self.unless.iter().cloned().chain([not]);
            let unless = Linear::any(unless);
            cases.beside(
                self.scope,
                (number, process),
                &unless,
                known,
                &mut self.assumed,
            )?;
        }
        Ok(ways)
    }
}

/// The terms for a least or a greatest value in a guard, but for those inside of quantifiers and of each other.
fn extremes<'g>(guard: &'g Formula, found: &mut Vec<&'g Term>) {
    match guard {
        Formula::AtMost(a, b) | Formula::Equal(a, b) => {
            extremes_of(a, found);
            extremes_of(b, found);
        }
        Formula::Not(inner) => extremes(inner, found),
        Formula::And(members) | Formula::Or(members) => {
            members.iter().for_each(|member| extremes(member, found));
        }
        _ => {}
    }
}

fn extremes_of<'g>(term: &'g Term, found: &mut Vec<&'g Term>) {
    match term {
        Term::Fold {
            kind: FoldKind::Min | FoldKind::Max,
            ..
        } if !found.contains(&term) => found.push(term),
        Term::Sum(terms) => terms.iter().for_each(|term| extremes_of(term, found)),
        Term::Scaled(_, term) => extremes_of(term, found),
        Term::If(condition, yes, no) => {
            extremes(condition, found);
            extremes_of(yes, found);
            extremes_of(no, found);
        }
        _ => {}
    }
}
