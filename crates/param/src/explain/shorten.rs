//! The same with less: facts that say all that assertions say, without what goes without saying.

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Variable};
use threadwise_lang::program::TemplateId;
use threadwise_model::family::{Family, PathEnd, Population};

use super::words::opposite;
use super::{Stated, map_atoms};
use crate::lia::{Answer, Limits, Solver};
use crate::scope::{Form, Ghosts, Reference, Scope, Table, Translator, Var, single};

/// Leaves out what follows from the rest.
pub(super) struct Shortener<'a, 's> {
    family: &'a Family,
    table: &'s mut Table,
    ghosts: &'s Ghosts,
    stop: &'s dyn Fn() -> bool,
}

impl<'a, 's> Shortener<'a, 's> {
    pub(super) fn new(
        family: &'a Family,
        table: &'s mut Table,
        ghosts: &'s Ghosts,
        stop: &'s dyn Fn() -> bool,
    ) -> Self {
        Shortener {
            family,
            table,
            ghosts,
            stop,
        }
    }

    /// The facts to state of a view, given what is stated of fewer processes; nothing if it takes too long.
    pub(super) fn shortest(
        &mut self,
        references: &[Reference],
        assertions: Vec<Linear>,
        stated: &[Stated],
    ) -> Option<Vec<Linear>> {
        let scope = Scope::of(references);
        let mut translator = Translator::new(self.family, self.table, &scope);
        let mut known = translator.background(self.ghosts).ok()?;
        known.append(&mut translator.facts);
        for template in self.family.templates.indices() {
            known.extend(self.endless(template));
        }
        for view in stated {
            for number in fits(&view.references, references) {
                for fact in &view.facts {
                    let renamed = map_atoms(fact, &mut |atom| {
                        let terms = atom.terms.iter().map(|(variable, factor)| {
                            (self.table.renamed(*variable, &[number]), *factor)
                        });
                        Atom::at_most_zero(terms.collect::<Vec<_>>(), atom.constant).ok()
                    });
                    known.push(renamed?);
                }
            }
        }
        let mut solver = Solver::new(Limits::default());
        solver.push(&known);
        let mut facts = together(assertions);
        facts.sort_by_cached_key(|fact| (cost(fact), fact.clone()));
        // The longest goes first, if it can.
        for place in (0..facts.len()).rev() {
            if (self.stop)() {
                return None;
            }
            let mut question: Vec<Linear> = facts.clone();
            question[place] = facts[place].negation().ok()?;
            if matches!(solver.solve(&question, self.stop), Answer::Unsat(_)) {
                facts.remove(place);
            }
        }
        for fact in &mut facts {
            if let Some(atom) = equation(fact)
                && let Some(shorter) = self.without_parameters(atom, &mut solver)
            {
                *fact = shorter;
            }
        }
        Some(self.nobody(facts))
    }

    /// An equation that says the same with the numbers of processes in place of the parameters that these depend on, if it is shorter.
    fn without_parameters(&mut self, atom: &Atom, solver: &mut Solver) -> Option<Linear> {
        let mut best = Form {
            terms: atom.terms.clone(),
            constant: atom.constant,
        };
        for template in self.family.templates.indices() {
            for (param, by) in self.population(template)?.1.terms {
                let (sum, size) = self.population(template)?;
                let factor = best.terms.iter().find(|(v, _)| *v == param);
                let Some((_, factor)) = factor else { continue };
                if factor % by != 0 {
                    continue;
                }
                let factor = factor / by;
                let other = best.plus(factor, &sum).ok()?.plus(-factor, &size).ok()?;
                if self.length(&other) < self.length(&best) {
                    best = other;
                }
            }
        }
        let zero = Form::default();
        let (before, after) = (
            Form {
                terms: atom.terms.clone(),
                constant: atom.constant,
            }
            .equals(&zero)
            .ok()?,
            best.equals(&zero).ok()?,
        );
        for (given, claimed) in [(&before, &after), (&after, &before)] {
            let question = [given.clone(), claimed.negation().ok()?];
            if !matches!(solver.solve(&question, self.stop), Answer::Unsat(_)) {
                return None;
            }
        }
        Some(after)
    }

    /// That nobody is `done`, if no step leads there: it goes without saying.
    fn endless(&mut self, template: TemplateId) -> Option<Linear> {
        let declaration = &self.family.templates[template];
        let done = self.family.program().templates[template].done();
        let mut ends = declaration.paths.iter().map(|path| path.end);
        let never = declaration.entry != done && ends.all(|end| end != PathEnd::At(done));
        let counter = self.table.number(Var::Counter(template, done));
        let nobody = Form::variable(counter).at_most(&Form::default());
        nobody.ok().filter(|_| never)
    }

    /// All processes of a template by their labels, and how many that are over parameters.
    fn population(&mut self, template: TemplateId) -> Option<(Form, Form)> {
        let endless = self.endless(template);
        let scope = Scope::default();
        let mut translator = Translator::new(self.family, self.table, &scope);
        let mut sum = translator.population(template).ok()?;
        if let Some(Linear::Atom(nobody)) = endless {
            sum.terms.retain(|term| !nobody.terms.contains(term));
        }
        let size = match &self.family.templates[template].population {
            Population::Between(lo, hi) => {
                let (lo, hi) = (translator.term(lo).ok()?, translator.term(hi).ok()?);
                hi.plus(-1, &lo).ok()?.add(1).ok()?
            }
            Population::Grows => sum.clone(),
        };
        Some((sum, size))
    }

    /// How long a sum is to read: a parameter counts three times.
    fn length(&self, form: &Form) -> (usize, u64) {
        let params = form.terms.iter();
        let params = params.filter(|(v, _)| matches!(self.table.var(*v), Var::Param(_)));
        let factors = form.terms.iter().map(|(_, factor)| factor.unsigned_abs());
        (form.terms.len() + 2 * params.count(), factors.sum())
    }

    /// Says in one fact at which labels nobody is.
    fn nobody(&self, facts: Vec<Linear>) -> Vec<Linear> {
        let empty = |fact: &Linear| -> Option<Variable> {
            let atom = match fact {
                Linear::Atom(atom) => atom,
                other => equation(other)?,
            };
            let [(variable, factor)] = atom.terms.as_slice() else {
                return None;
            };
            let zero = atom.constant == 0 && (*factor > 0 || equation(fact).is_some());
            match self.table.var(*variable) {
                Var::Counter(template, _) if zero && !single(self.family, *template) => {
                    Some(*variable)
                }
                _ => None,
            }
        };
        let labels: Vec<Variable> = facts.iter().filter_map(&empty).collect();
        if labels.len() < 2 {
            return facts;
        }
        let all = Atom::at_most_zero(labels.into_iter().map(|label| (label, 1)), 0);
        let Ok(all) = all else { return facts };
        let rest = facts.into_iter().filter(|fact| empty(fact).is_none());
        [Linear::Atom(all)].into_iter().chain(rest).collect()
    }
}

/// Where a view on at most one process fits among others: as which of them.
fn fits(view: &[Reference], references: &[Reference]) -> Vec<u32> {
    match view {
        [] => vec![0],
        [one] if references.len() > 1 => {
            let places = references.iter().enumerate();
            places
                .filter(|(_, reference)| *reference == one)
                .map(|(place, _)| place as u32)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Facts one by one, but both sides of an equation together.
fn together(assertions: Vec<Linear>) -> Vec<Linear> {
    let mut parts: Vec<Linear> = Vec::new();
    for assertion in assertions {
        let members = match assertion {
            Linear::And(members) => members,
            other => vec![other],
        };
        for member in members {
            if !parts.contains(&member) {
                parts.push(member);
            }
        }
    }
    let mut facts: Vec<Linear> = Vec::new();
    while let Some(part) = parts.pop() {
        let other = parts.iter().position(|other| {
            matches!((&part, other), (Linear::Atom(one), Linear::Atom(other))
                if opposite(one, other) && one.constant.checked_add(other.constant) == Some(0))
        });
        facts.push(match other {
            Some(place) => Linear::And(vec![parts.remove(place), part]),
            None => part,
        });
    }
    facts
}

/// One side of an equation.
fn equation(fact: &Linear) -> Option<&Atom> {
    match fact {
        Linear::And(sides) => match sides.as_slice() {
            [Linear::Atom(one), Linear::Atom(other)]
                if opposite(one, other) && one.constant.checked_add(other.constant) == Some(0) =>
            {
                Some(one)
            }
            _ => None,
        },
        _ => None,
    }
}

/// How much there is to read: clauses come last.
fn cost(fact: &Linear) -> (bool, usize) {
    match fact {
        Linear::Atom(atom) => (false, atom.terms.len()),
        _ => match equation(fact) {
            Some(atom) => (false, atom.terms.len()),
            None => (true, terms(fact)),
        },
    }
}

fn terms(formula: &Linear) -> usize {
    match formula {
        Linear::Atom(atom) => atom.terms.len(),
        Linear::And(members) | Linear::Or(members) => members.iter().map(terms).sum(),
    }
}
