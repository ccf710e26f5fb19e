//! Sums over all processes at a label: of a term over parameters and local variables of each.
//!
//! Whoever moves takes its value from one label to another, so how a sum changes is known exactly. With sums there are equations such as "what all have added so far is the value
//! of the counter", and ranks such as "how many rounds all together have left". Summed is how far a local integer is from the ends of its range, or the integer itself if it has no bounds. What
//! a single process has is related to a sum by types alone, and by the sum over nobody, which is 0.

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{BoundId, LocationId, Scalar, TemplateId};
use threadwise_model::family::{Cell, Family, FamilyVariable, Index, Names, Path, Term};

use crate::conditions::Cases;
use crate::scope::{Form, Scope, Table, Translator, Var};

/// Terms that are summed at most: there is a variable for each at every label.
const MOST: usize = 4;
/// A process that is in no scope.
const NOBODY: u32 = u32::MAX;

/// A term about one process, summed at every label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summed {
    pub(crate) template: TemplateId,
    /// Over parameters and local variables of reference 0.
    pub(crate) term: Form,
    /// What it is at most, if that is a number.
    pub(crate) most: Option<i64>,
}

/// The terms that are worth it: of local integers that steps change.
pub(crate) fn terms(cases: &mut Cases) -> Result<Vec<Summed>, Overflow> {
    let family = cases.family;
    let mut found = Vec::new();
    for (template, declared) in family.program().templates.iter_enumerated() {
        for (local, variable) in declared.locals.iter_enumerated() {
            let integer = matches!(variable.scalar, Scalar::Int | Scalar::Range(..));
            let paths = family.templates[template].paths.iter();
            let mut writes = paths.flat_map(|path| &path.writes);
            let written = writes.any(|write| {
                let to = |of: &Cell| matches!(of, Cell::Local { var, .. } if *var == local);
                to(&write.cell) && write.value.to_string().contains(&write.cell.to_string())
            });
            if !integer || !written || !variable.dims.is_empty() {
                continue;
            }
            let number = cases
                .table
                .number(Var::Local(0, template, local, Vec::new()));
            let value = Form::variable(number);
            let FamilyVariable {
                least, greatest, ..
            } = &family.templates[template].locals[local];
            let nobody = Scope::default();
            let mut translator = Translator::new(family, &mut cases.table, &nobody);
            let least = least.as_ref().map(|least| translator.term(least));
            let greatest = greatest.as_ref().map(|greatest| translator.term(greatest));
            let mut add = |term: Form, most| {
                found.push(Summed {
                    template,
                    term,
                    most,
                });
            };
            match (least.transpose()?, greatest.transpose()?) {
                (None, None) => add(value, None),
                (Some(least), None) => add(value.plus(-1, &least)?, None),
                (None, Some(greatest)) => add(greatest.plus(-1, &value)?, None),
                (Some(least), Some(greatest)) => {
                    let size = greatest.plus(-1, &least)?;
                    // If the size is a number, the one says what the other does.
                    let number = size.terms.is_empty();
                    add(value.plus(-1, &least)?, number.then_some(size.constant));
                    if !number {
                        add(greatest.plus(-1, &value)?, None);
                    }
                }
            }
        }
    }
    found.retain(|summed| {
        let mut terms = summed.term.terms.iter();
        terms.all(|(variable, _)| {
            matches!(cases.table.var(*variable), Var::Param(_) | Var::Local(..))
        })
    });
    found.truncate(MOST);
    Ok(found)
}

impl Summed {
    /// The value of a process.
    fn of_process(&self, table: &mut Table, process: u32) -> Result<Form, Overflow> {
        self.with(&mut |variable| Ok(Form::variable(table.renamed(variable, &[process]))))
    }

    /// The term with something in the place of each variable.
    fn with(
        &self,
        of: &mut dyn FnMut(Variable) -> Result<Form, Overflow>,
    ) -> Result<Form, Overflow> {
        let mut sum = Form::number(self.term.constant);
        for (variable, factor) in &self.term.terms {
            sum = sum.plus(*factor, &of(*variable)?)?;
        }
        Ok(sum)
    }

    /// The term with something in the place of each local variable, if it is a number then.
    fn number(
        &self,
        translator: &mut Translator,
        of: &dyn Fn(&FamilyVariable, i64) -> Option<Term>,
    ) -> Result<Option<i64>, Overflow> {
        let family = translator.family;
        let mut sum = Form::number(self.term.constant);
        for (variable, factor) in &self.term.terms {
            let value = match translator.table.var(*variable).clone() {
                Var::Local(_, template, local, _) => {
                    let declared = &family.templates[template].locals[local];
                    match of(declared, *factor) {
                        Some(value) => translator.term(&value)?,
                        None => return Ok(None),
                    }
                }
                _ => Form::variable(*variable),
            };
            sum = sum.plus(*factor, &value)?;
        }
        Ok(sum.terms.is_empty().then_some(sum.constant))
    }

    /// What every process begins with, if that is a number.
    fn initial(&self, translator: &mut Translator) -> Result<Option<i64>, Overflow> {
        let somebody = Names {
            own: Some(0),
            ..Names::default()
        };
        self.number(translator, &|declared, _| {
            let initial = declared.initial.as_ref();
            let same = initial.filter(|initial| initial.resolve(&somebody) == **initial);
            same.cloned()
        })
    }
}

/// What holds of sums in every state.
pub(crate) fn facts(translator: &mut Translator, facts: &mut Vec<Linear>) -> Result<(), Overflow> {
    let (family, zero) = (translator.family, Form::number(0));
    for (number, summed) in translator.table.summed.clone().iter().enumerate() {
        let least = summed.number(translator, &|declared, factor| match factor > 0 {
            true => declared.least.clone(),
            false => declared.greatest.clone(),
        })?;
        let greatest = summed.number(translator, &|declared, factor| match factor > 0 {
            true => declared.greatest.clone(),
            false => declared.least.clone(),
        })?;
        for location in family.templates[summed.template].locations.indices() {
            let sum = Var::Sum(number as u32, summed.template, location, false);
            // Of those that are not in scope.
            let mut rest = translator.var(sum);
            let mut others = translator.var(Var::Counter(summed.template, location));
            for (process, reference) in translator.scope.iter() {
                if (reference.template, reference.location) == (summed.template, location) {
                    rest = rest.plus(-1, &summed.of_process(translator.table, process)?)?;
                    others = others.add(-1)?;
                }
            }
            facts.push(Linear::any([
                Form::number(1).at_most(&others)?,
                rest.equals(&zero)?,
            ]));
            if let Some(least) = least {
                facts.push(zero.plus(least, &others)?.at_most(&rest)?);
            }
            if let Some(greatest) = greatest {
                facts.push(rest.at_most(&zero.plus(greatest, &others)?)?);
            }
        }
    }
    Ok(())
}

/// What the sums at the first labels are at first.
pub(crate) fn at_first(
    translator: &mut Translator,
    facts: &mut Vec<Linear>,
) -> Result<(), Overflow> {
    for (number, summed) in translator.table.summed.clone().iter().enumerate() {
        if let Some(each) = summed.initial(translator)? {
            let entry = translator.family.templates[summed.template].entry;
            let sum = translator.var(Var::Sum(number as u32, summed.template, entry, false));
            let count = translator.var(Var::Counter(summed.template, entry));
            facts.push(sum.equals(&Form::default().plus(each, &count)?)?);
        }
    }
    Ok(())
}

/// The sums after a step of a process to a label, given what variables are after it.
pub(crate) fn after(
    translator: &mut Translator,
    path: &Path,
    (own, template, to): (u32, TemplateId, LocationId),
    after: &mut std::collections::HashMap<Variable, Form>,
) -> Result<(), Overflow> {
    let family = translator.family;
    for (number, summed) in translator.table.summed.clone().iter().enumerate() {
        let mut change = |translator: &mut Translator, location, by: &Form| {
            let sum = Var::Sum(number as u32, summed.template, location, false);
            let sum = translator.table.number(sum);
            let before = match after.get(&sum) {
                Some(before) => before.clone(),
                None => Form::variable(sum),
            };
            after.insert(sum, before.plus(1, by)?);
            Ok::<_, Overflow>(())
        };
        if summed.template == template {
            let before = summed.of_process(translator.table, own)?;
            change(translator, path.from, &Form::default().plus(-1, &before)?)?;
        }
        let entry = family.templates[summed.template].entry;
        let started = path.starts_of(summed.template) as i64;
        if started > 0
            && let Some(each) = summed.initial(translator)?
        {
            let each = each.checked_mul(started).ok_or(Overflow)?;
            change(translator, entry, &Form::number(each))?;
        }
        if summed.template == template {
            let later = summed.with(&mut |variable| {
                let variable = translator.table.renamed(variable, &[own]);
                let value = after.get(&variable).cloned();
                Ok(value.unwrap_or(Form::variable(variable)))
            })?;
            let sum = Var::Sum(number as u32, summed.template, to, false);
            let sum = translator.table.number(sum);
            let before = after.get(&sum).cloned().unwrap_or(Form::variable(sum));
            after.insert(sum, before.plus(1, &later)?);
        }
        if started > 0 && summed.initial(translator)?.is_none() {
            let sum = Var::Sum(number as u32, summed.template, entry, false);
            let sum = translator.table.number(sum);
            let unknown = Var::Sum(number as u32, summed.template, entry, true);
            after.insert(sum, translator.var(unknown));
        }
    }
    Ok(())
}

/// The sum of a term over all processes of a template, if the term is summed.
pub(crate) fn total(
    translator: &mut Translator,
    (var, template): (BoundId, TemplateId),
    body: &Term,
) -> Result<Option<Form>, Overflow> {
    let family = translator.family;
    for (number, summed) in translator.table.summed.clone().iter().enumerate() {
        if summed.template != template {
            continue;
        }
        if !is_own(var, body) {
            return Ok(None);
        }
        let body = translator.term(&body.resolve(&Names::default().with(var, NOBODY)))?;
        let rest = body.plus(-1, &summed.of_process(translator.table, NOBODY)?)?;
        if !rest.terms.is_empty() {
            continue;
        }
        let population = translator.population(template)?;
        let mut sum = Form::default().plus(rest.constant, &population)?;
        for location in family.templates[template].locations.indices() {
            let here = translator.var(Var::Sum(number as u32, template, location, false));
            sum = sum.plus(1, &here)?;
        }
        return Ok(Some(sum));
    }
    Ok(None)
}

/// Whether a term is over parameters and local variables of a process that has a name.
fn is_own(var: BoundId, term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Param(_) => true,
        Term::Cell(Cell::Local {
            process, indices, ..
        }) => {
            let fixed = indices.iter().all(|i| matches!(i, Index::Position(_)));
            fixed && **process == Term::Bound(var)
        }
        Term::Scaled(_, term) => is_own(var, term),
        Term::Sum(terms) => terms.iter().all(|term| is_own(var, term)),
        _ => false,
    }
}

/// Ranks that sums suggest: what all processes together have, and what they lack.
pub(crate) fn ranks(
    family: &Family,
    table: &Table,
    number: &dyn Fn(&Var) -> Option<Variable>,
) -> Vec<Form> {
    let rank = |position: usize, summed: &Summed, most: Option<i64>| {
        let mut terms: Vec<(Variable, i64)> = Vec::new();
        for location in family.templates[summed.template].locations.indices() {
            let sum = Var::Sum(position as u32, summed.template, location, false);
            terms.push((number(&sum)?, if most.is_some() { -1 } else { 1 }));
            if let Some(most) = most.filter(|most| *most != 0) {
                terms.push((number(&Var::Counter(summed.template, location))?, most));
            }
        }
        terms.sort_unstable();
        Some(Form { terms, constant: 0 })
    };
    let mut ranks = Vec::new();
    for (position, summed) in table.summed.iter().enumerate() {
        ranks.extend(rank(position, summed, None));
        if summed.most.is_some() {
            ranks.extend(rank(position, summed, summed.most));
        }
    }
    ranks
}
