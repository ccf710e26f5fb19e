//! A few processes picked from any number: what is known of them whatever the program does, and what formulas of the source say about them.
//!
//! A [`Scope`] is a list of different processes, the references, each at a label. The state is seen through variables: parameters, shared cells, the references' ids
//! and cells, and the numbers of all processes at labels. [`Translator`] turns terms and formulas of a [`Family`] into linear ones over these variables. What is
//! not linear, and what belongs to processes that are not in scope, becomes a variable of its own with facts about it. Formulas are always
//! translated as things that are assumed, so they may only become weaker: quantifiers are taken for the references alone.

use std::collections::{BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{LocalId, LocationId, ParamId, SharedId, TemplateId};
use threadwise_model::family::{
    Cell, Dimension, Family, FamilyVariable, FoldKind, Formula, Index, Names, Population, Term,
};

use crate::sums::{self, Summed};

/// A variable of a scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Var {
    /// A parameter that has no value.
    Param(ParamId),
    /// A cell of a shared variable.
    Shared(SharedId, Vec<Place>),
    /// How many processes are at a label.
    Counter(TemplateId, LocationId),
    /// Of how many of them a counted predicate holds: before a step, or after it.
    Counted(u32, TemplateId, LocationId, bool),
    /// The sum of a term over them; or what it is after a step, where that is not known.
    Sum(u32, TemplateId, LocationId, bool),
    /// The id of a reference.
    Id(u32),
    /// A cell of a local variable of a reference.
    Local(u32, TemplateId, LocalId, Vec<Place>),
    /// Whether a counted predicate holds of a reference: before a step, or after it.
    Indicator(u32, u32, bool),
    /// A value that a step chooses.
    Choice(u32),
    /// What is not linear, by its text.
    Opaque(String),
    /// How many processes compare with a reference: before a step, or after it.
    Compared(ComparedAt, bool),
    /// Whether a comparison of a process with a reference holds: before a step, or after it.
    Comparison(u32, u32, u32, bool),
    /// Whether it is a process at a label that keeps another one from a step.
    Blocker(u32, TemplateId, LocationId),
}

/// The number of processes at a label, a reference left out, of which a comparison with the reference holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ComparedAt {
    /// The comparison, by its position.
    pub(crate) comparison: u32,
    /// The template of the processes that are counted.
    pub(crate) template: TemplateId,
    /// Where they are.
    pub(crate) location: LocationId,
    /// The reference.
    pub(crate) reference: u32,
}

/// An index of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// A number.
    Position(i64),
    /// A reference.
    Reference(u32),
}

/// The variables that formulas name by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    vars: Vec<Var>,
    numbers: HashMap<Var, Variable>,
    /// The terms that are summed over processes.
    pub(crate) summed: Vec<Summed>,
    /// How processes are compared with references.
    pub(crate) compared: Vec<Comparison>,
}

impl Table {
    /// The number of a variable.
    pub(crate) fn number(&mut self, var: Var) -> Variable {
        if let Some(number) = self.numbers.get(&var) {
            return *number;
        }
        let number = self.vars.len() as Variable;
        self.vars.push(var.clone());
        self.numbers.insert(var, number);
        number
    }

    /// The number of a variable, if it has one.
    pub(crate) fn known(&self, var: &Var) -> Option<Variable> {
        self.numbers.get(var).copied()
    }

    /// How many variables there are: the first number that none of them has.
    pub(crate) fn count(&self) -> Variable {
        self.vars.len() as Variable
    }

    /// The variable with a number.
    pub(crate) fn var(&self, number: Variable) -> &Var {
        &self.vars[number as usize]
    }

    /// The variable with references replaced: `references[i]` in the place of `i`.
    pub(crate) fn renamed(&mut self, number: Variable, references: &[u32]) -> Variable {
        let to = |reference: u32| {
            let found = references.get(reference as usize);
            found.copied().unwrap_or(reference)
        };
        let places = |places: &[Place]| {
            let each = places.iter().map(|place| match place {
                Place::Position(position) => Place::Position(*position),
                Place::Reference(reference) => Place::Reference(to(*reference)),
            });
            each.collect()
        };
        let renamed = match self.var(number) {
            Var::Shared(var, indices) => Var::Shared(*var, places(indices)),
            Var::Id(reference) => Var::Id(to(*reference)),
            Var::Local(reference, template, var, indices) => {
                Var::Local(to(*reference), *template, *var, places(indices))
            }
            Var::Indicator(reference, predicate, after) => {
                Var::Indicator(to(*reference), *predicate, *after)
            }
            Var::Compared(at, after) => {
                let reference = to(at.reference);
                Var::Compared(ComparedAt { reference, ..*at }, *after)
            }
            Var::Comparison(process, comparison, reference, after) => {
                Var::Comparison(to(*process), *comparison, to(*reference), *after)
            }
            Var::Param(_)
            | Var::Counter(..)
            | Var::Counted(..)
            | Var::Sum(..)
            | Var::Choice(_)
            | Var::Blocker(..)
            | Var::Opaque(_) => return number,
        };
        self.number(renamed)
    }

    /// How a certificate names a variable.
    pub(crate) fn name(&self, family: &Family, number: Variable) -> String {
        let places = |places: &[Place]| -> String {
            let each = places.iter().map(|place| match place {
                Place::Position(position) => format!("[{position}]"),
                Place::Reference(reference) => format!("[${reference}]"),
            });
            each.collect()
        };
        let after = |after: bool| if after { "'" } else { "" };
        match self.var(number) {
            Var::Param(param) => family.program().params[*param].name.clone(),
            Var::Shared(var, indices) => {
                format!("{}{}", family.shared[*var].name, places(indices))
            }
            Var::Counter(template, location) => {
                let template = &family.templates[*template];
                format!("#{}.{}", template.name, template.locations[*location])
            }
            Var::Counted(predicate, template, location, primed) => {
                let template = &family.templates[*template];
                let label = &template.locations[*location];
                format!("#{}.{label}[{predicate}]{}", template.name, after(*primed))
            }
            Var::Sum(term, template, location, primed) => {
                let template = &family.templates[*template];
                let label = &template.locations[*location];
                format!("+{}.{label}[{term}]{}", template.name, after(*primed))
            }
            Var::Id(reference) => format!("${reference}"),
            Var::Local(reference, template, var, indices) => {
                let name = &family.templates[*template].locals[*var].name;
                format!("${reference}.{name}{}", places(indices))
            }
            Var::Indicator(reference, predicate, primed) => {
                format!("${reference}:{predicate}{}", after(*primed))
            }
            Var::Choice(choice) => format!("?{choice}"),
            Var::Opaque(text) => format!("{{{text}}}"),
            Var::Compared(at, primed) => {
                let template = &family.templates[at.template];
                let label = &template.locations[at.location];
                format!(
                    "#{}.{label}[{}:${}]{}",
                    template.name,
                    at.comparison,
                    at.reference,
                    after(*primed)
                )
            }
            Var::Comparison(process, comparison, reference, primed) => {
                format!("${process}:{comparison}:${reference}{}", after(*primed))
            }
            Var::Blocker(process, template, location) => {
                let template = &family.templates[*template];
                format!(
                    "${process}@{}.{}",
                    template.name, template.locations[*location]
                )
            }
        }
    }
}

/// A linear form: a sum of variables with coefficients, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) terms: Vec<(Variable, i64)>,
    pub(crate) constant: i64,
}

impl Form {
    pub(crate) fn number(constant: i64) -> Form {
        Form {
            terms: Vec::new(),
            constant,
        }
    }

    pub(crate) fn variable(variable: Variable) -> Form {
        Form {
            terms: vec![(variable, 1)],
            constant: 0,
        }
    }

    /// This and a multiple of another one.
    pub(crate) fn plus(&self, factor: i64, other: &Form) -> Result<Form, Overflow> {
        let mut terms = self.terms.clone();
        for (variable, coefficient) in &other.terms {
            let more = coefficient.checked_mul(factor).ok_or(Overflow)?;
            match terms.binary_search_by_key(variable, |(variable, _)| *variable) {
                Ok(place) => {
                    let sum = terms[place].1.checked_add(more).ok_or(Overflow)?;
                    match sum {
                        0 => {
                            terms.remove(place);
                        }
                        sum => terms[place].1 = sum,
                    }
                }
                Err(place) if more != 0 => terms.insert(place, (*variable, more)),
                Err(_) => {}
            }
        }
        let more = other.constant.checked_mul(factor).ok_or(Overflow)?;
        Ok(Form {
            terms,
            constant: self.constant.checked_add(more).ok_or(Overflow)?,
        })
    }

    pub(crate) fn add(&self, constant: i64) -> Result<Form, Overflow> {
        Ok(Form {
            terms: self.terms.clone(),
            constant: self.constant.checked_add(constant).ok_or(Overflow)?,
        })
    }

    /// It is at most 0.
    pub(crate) fn at_most_zero(&self) -> Result<Linear, Overflow> {
        let atom = Atom::at_most_zero(self.terms.iter().copied(), self.constant)?;
        Ok(match atom.constant_truth() {
            Some(truth) => Linear::constant(truth),
            None => Linear::Atom(atom),
        })
    }

    /// This one is at most another one.
    pub(crate) fn at_most(&self, other: &Form) -> Result<Linear, Overflow> {
        self.plus(-1, other)?.at_most_zero()
    }

    /// This one is less than another one.
    pub(crate) fn less(&self, other: &Form) -> Result<Linear, Overflow> {
        self.plus(-1, other)?.add(1)?.at_most_zero()
    }

    /// Both are the same.
    pub(crate) fn equals(&self, other: &Form) -> Result<Linear, Overflow> {
        Ok(Linear::all([self.at_most(other)?, other.at_most(self)?]))
    }

    /// They are different.
    pub(crate) fn differs(&self, other: &Form) -> Result<Linear, Overflow> {
        Ok(Linear::any([self.less(other)?, other.less(self)?]))
    }
}

/// A process that is in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reference {
    pub(crate) template: TemplateId,
    pub(crate) location: LocationId,
}

/// The processes that are in scope, by number. Some numbers are of processes that do not exist yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub(crate) references: Vec<Option<Reference>>,
}

impl Scope {
    pub(crate) fn of(references: &[Reference]) -> Scope {
        Scope {
            references: references.iter().copied().map(Some).collect(),
        }
    }

    /// The references with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Reference)> + '_ {
        let each = self.references.iter().enumerate();
        each.filter_map(|(number, reference)| reference.map(|r| (number as u32, r)))
    }

    /// The references of a template.
    pub(crate) fn of_template(&self, template: TemplateId) -> Vec<u32> {
        let each = self.iter();
        each.filter(|(_, reference)| reference.template == template)
            .map(|(number, _)| number)
            .collect()
    }
}

/// A predicate about one process, counted at every label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) template: TemplateId,
    /// An inequality over parameters, shared variables, and cells of reference 0.
    pub(crate) predicate: Atom,
}

/// A comparison of a process with another one, the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The template of the processes that are counted.
    pub(crate) template: TemplateId,
    /// The template of the reference.
    pub(crate) of: TemplateId,
    /// A formula over parameters, shared variables, and cells of the process, reference 0, and of the reference, 1.
    pub(crate) predicate: Linear,
    /// Whether it is an order: of finitely many processes one is least in it.
    pub(crate) order: bool,
}

/// What is counted beside who is at which label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ghosts {
    pub(crate) counted: Vec<Counted>,
    pub(crate) compared: Vec<Comparison>,
}

/// Translates terms and formulas for a scope, and collects facts about what it had to name.
pub(crate) struct Translator<'a> {
    pub(crate) family: &'a Family,
    pub(crate) table: &'a mut Table,
    pub(crate) scope: &'a Scope,
    /// Facts about terms that are not linear.
    pub(crate) facts: Vec<Linear>,
    named: BTreeSet<String>,
    /// The numbers of processes are those at first, over parameters.
    pub(crate) at_first: bool,
}

impl<'a> Translator<'a> {
    pub(crate) fn new(
        family: &'a Family,
        table: &'a mut Table,
        scope: &'a Scope,
    ) -> Translator<'a> {
        Translator {
            family,
            table,
            scope,
            facts: Vec::new(),
            named: BTreeSet::new(),
            at_first: false,
        }
    }

    /// The number of a variable.
    pub(crate) fn var(&mut self, var: Var) -> Form {
        Form::variable(self.table.number(var))
    }

    /// How many processes of a template there are.
    pub(crate) fn population(&mut self, template: TemplateId) -> Result<Form, Overflow> {
        if self.at_first {
            let term = self.family.initial_population(template);
            return self.term(&term);
        }
        let locations = self.family.templates[template].locations.indices();
        let mut sum = Form::default();
        for location in locations {
            let counter = self.var(Var::Counter(template, location));
            sum = sum.plus(1, &counter)?;
        }
        Ok(sum)
    }

    /// A resolved term as a linear form.
    pub(crate) fn term(&mut self, term: &Term) -> Result<Form, Overflow> {
        match term {
            Term::Number(number) => Ok(Form::number(*number)),
            Term::Param(param) => match self.family.fixed[*param] {
                Some(value) => Ok(Form::number(value)),
                None => Ok(self.var(Var::Param(*param))),
            },
            Term::Population(template) => self.population(*template),
            Term::Reference(reference) => Ok(self.var(Var::Id(*reference))),
            Term::Choice(choice) => Ok(self.var(Var::Choice(*choice))),
            Term::Sum(terms) => {
                let mut sum = Form::default();
                for term in terms {
                    sum = sum.plus(1, &self.term(term)?)?;
                }
                Ok(sum)
            }
            Term::Scaled(factor, term) => Form::default().plus(*factor, &self.term(term)?),
            Term::Cell(cell) => match plain(cell) {
                Some(var) => Ok(self.var(var)),
                None => self.opaque(term),
            },
            Term::Fold {
                kind: FoldKind::Sum,
                var,
                template,
                body,
            } => match self.counted_at(*var, *template, body)? {
                Some(sum) => Ok(sum),
                None => match sums::total(self, (*var, *template), body)? {
                    Some(sum) if !self.at_first => Ok(sum),
                    _ => self.opaque(term),
                },
            },
            Term::Own
            | Term::Bound(_)
            | Term::Product(..)
            | Term::Quotient(..)
            | Term::Remainder(..)
            | Term::If(..)
            | Term::Fold { .. } => self.opaque(term),
        }
    }

    /// The number of processes of which something holds that depends on where they are alone: a sum of counters.
    fn counted_at(
        &mut self,
        var: threadwise_lang::program::BoundId,
        template: TemplateId,
        body: &Term,
    ) -> Result<Option<Form>, Overflow> {
        let Term::If(condition, yes, no) = body else {
            return Ok(None);
        };
        if (&**yes, &**no) != (&Term::Number(1), &Term::Number(0)) {
            return Ok(None);
        }
        self.at_labels(var, template, condition, true)
    }

    /// The number of processes of which a formula holds, or does not, if that depends on where they are alone.
    pub(crate) fn at_labels(
        &mut self,
        var: threadwise_lang::program::BoundId,
        template: TemplateId,
        formula: &Formula,
        holds: bool,
    ) -> Result<Option<Form>, Overflow> {
        let mut sum = Form::default();
        for location in self.family.templates[template].locations.indices() {
            match holds_at(formula, var, template, location) {
                Some(truth) if truth == holds => {
                    let counter = self.var(Var::Counter(template, location));
                    sum = sum.plus(1, &counter)?;
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    /// A variable for a term that is not linear, with facts about it.
    fn opaque(&mut self, term: &Term) -> Result<Form, Overflow> {
        let text = term.to_string();
        let value = self.var(Var::Opaque(text.clone()));
        if !self.named.insert(text) {
            return Ok(value);
        }
        match term {
            Term::Cell(cell) => self.cell_facts(cell, &value)?,
            Term::If(condition, yes, no) => {
                let yes = self.term(yes)?;
                let no = self.term(no)?;
                let holds = self.assume(condition, true)?;
                let fails = self.assume(condition, false)?;
                let fact = Linear::any([
                    Linear::all([holds, value.equals(&yes)?]),
                    Linear::all([fails, value.equals(&no)?]),
                ]);
                self.facts.push(fact);
            }
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => self.fold_facts(*kind, *var, *template, body, &value)?,
            Term::Quotient(a, b) => {
                if let Term::Number(divisor) = **b
                    && divisor > 0
                {
                    let dividend = self.term(a)?;
                    let zero = Form::number(0);
                    let times = Form::default().plus(divisor, &value)?;
                    let fact = Linear::any([
                        Linear::all([
                            zero.at_most(&dividend)?,
                            times.at_most(&dividend)?,
                            dividend.at_most(&times.add(divisor - 1)?)?,
                        ]),
                        Linear::all([
                            dividend.less(&zero)?,
                            times.add(1 - divisor)?.at_most(&dividend)?,
                            dividend.at_most(&times)?,
                        ]),
                    ]);
                    self.facts.push(fact);
                }
            }
            Term::Remainder(a, b) if matches!(**b, Term::Number(1..)) => {
                let quotient = self.term(&Term::Quotient(a.clone(), b.clone()))?;
                let (dividend, divisor) = (self.term(a)?, self.term(b)?);
                let rest = dividend.plus(-divisor.constant, &quotient)?;
                self.facts.push(value.equals(&rest)?);
            }
            Term::Remainder(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                let zero = Form::number(0);
                let twice = Form::default().plus(2, &b)?;
                let negative = b.at_most(&zero)?;
                let below = a.less(&zero)?;
                let facts = [
                    vec![below.clone(), b.at_most(&a)?, value.equals(&a)?],
                    vec![
                        a.less(&b)?,
                        twice.at_most(&a)?,
                        value.equals(&a.plus(-1, &b)?)?,
                    ],
                    vec![value.less(&b)?],
                    vec![Form::number(1).plus(-1, &b)?.at_most(&value)?],
                    vec![below, zero.at_most(&value)?],
                    vec![zero.less(&a)?, value.at_most(&zero)?],
                ];
                for fact in facts {
                    let fact = fact.into_iter().chain([negative.clone()]);
                    self.facts.push(Linear::any(fact));
                }
            }
            _ => {}
        }
        Ok(value)
    }

    /// A cell of a process that may be one of the references: if it is, the value is that of the reference's cell.
    fn cell_facts(&mut self, cell: &Cell, value: &Form) -> Result<(), Overflow> {
        let variable = self.declaration(cell);
        let (dims, bounds) = (variable.dims.clone(), self.type_bounds(cell)?);
        let mut inside = Vec::new();
        for (bound, least) in &bounds {
            inside.push(match least {
                true => bound.at_most(value)?,
                false => value.at_most(bound)?,
            });
        }
        let inside = Linear::all(inside);
        self.facts.push(match bounds.as_slice() {
            // Where there are no such cells the type may have no values.
            [(least, _), (greatest, _)] => Linear::any([greatest.less(least)?, inside]),
            _ => inside,
        });
        // Every way to take references for the processes that are named by other terms.
        let mut ways: Vec<(Vec<Linear>, Cell)> = vec![(Vec::new(), cell.clone())];
        if let Cell::Local {
            template, process, ..
        } = cell
            && !matches!(**process, Term::Reference(_))
        {
            let owner = self.term(process)?;
            let mut further = Vec::new();
            for reference in self.scope.of_template(*template) {
                let id = self.var(Var::Id(reference));
                let mut picked = cell.clone();
                if let Cell::Local { process, .. } = &mut picked {
                    **process = Term::Reference(reference);
                }
                further.push((vec![owner.differs(&id)?], picked));
            }
            ways = further;
        }
        for (position, dim) in dims.iter().enumerate() {
            let Dimension::Processes(template) = dim else {
                continue;
            };
            let mut further = Vec::new();
            for (apart, picked) in ways {
                let index = match index_of(&picked, position) {
                    Some(Index::Process(term)) => term.clone(),
                    _ => continue,
                };
                if matches!(index, Term::Reference(_)) {
                    further.push((apart, picked));
                    continue;
                }
                let term = self.term(&index)?;
                for reference in self.scope.of_template(*template) {
                    let id = self.var(Var::Id(reference));
                    let mut apart = apart.clone();
                    apart.push(term.differs(&id)?);
                    let mut picked = picked.clone();
                    set_index(&mut picked, position, Term::Reference(reference));
                    further.push((apart, picked));
                }
            }
            ways = further;
        }
        for (apart, picked) in ways {
            if let Some(var) = plain(&picked) {
                let known = self.var(var);
                let same = value.equals(&known)?;
                self.facts
                    .push(Linear::any(apart.into_iter().chain([same])));
            }
        }
        Ok(())
    }

    fn fold_facts(
        &mut self,
        kind: FoldKind,
        var: threadwise_lang::program::BoundId,
        template: TemplateId,
        body: &Term,
        value: &Form,
    ) -> Result<(), Overflow> {
        let references = self.scope.of_template(template);
        let population = self.population(template)?;
        let mut items = Vec::new();
        for reference in &references {
            let names = Names::default().with(var, *reference);
            items.push(self.term(&body.resolve(&names))?);
        }
        if kind == FoldKind::Sum {
            let count = matches!(body, Term::If(_, yes, no)
                if (&**yes, &**no) == (&Term::Number(1), &Term::Number(0)));
            if count {
                let mut here = Form::default();
                for item in &items {
                    here = here.plus(1, item)?;
                }
                // The others are none or all.
                let others = population.add(-(references.len() as i64))?;
                self.facts.push(here.at_most(value)?);
                self.facts.push(value.at_most(&here.plus(1, &others)?)?);
            }
            return Ok(());
        }
        let mut one_of = Vec::new();
        for item in &items {
            one_of.push(value.equals(item)?);
            let fact = match kind {
                FoldKind::Max => item.at_most(value)?,
                _ => value.at_most(item)?,
            };
            self.facts.push(fact);
        }
        // Of nobody it may be anything: it can stand where short-circuiting skips it.
        if !references.is_empty() {
            let more = Form::number(references.len() as i64 + 1).at_most(&population)?;
            self.facts
                .push(Linear::any(one_of.into_iter().chain([more])));
        }
        Ok(())
    }

    fn declaration(&self, cell: &Cell) -> &'a FamilyVariable {
        match cell {
            Cell::Shared { var, .. } => &self.family.shared[*var],
            Cell::Local { template, var, .. } => &self.family.templates[*template].locals[*var],
        }
    }

    /// The bounds of a cell's type, each with whether it is the lower one.
    fn type_bounds(&mut self, cell: &Cell) -> Result<Vec<(Form, bool)>, Overflow> {
        let variable = self.declaration(cell);
        let mut bounds = Vec::new();
        if let Some(least) = &variable.least {
            bounds.push((self.term(least)?, true));
        }
        if let Some(greatest) = &variable.greatest {
            bounds.push((self.term(greatest)?, false));
        }
        Ok(bounds)
    }

    /// A resolved formula, or its negation, as something that is assumed. It may become weaker.
    pub(crate) fn assume(&mut self, formula: &Formula, holds: bool) -> Result<Linear, Overflow> {
        Ok(match formula {
            Formula::Constant(truth) => Linear::constant(*truth == holds),
            Formula::AtMost(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                match holds {
                    true => a.at_most(&b)?,
                    false => b.less(&a)?,
                }
            }
            Formula::Equal(a, b) => {
                if let (Term::Reference(a), Term::Reference(b)) = (a, b)
                    && a != b
                    && self.of_one_template(*a, *b)
                {
                    return Ok(Linear::constant(!holds));
                }
                let (a, b) = (self.term(a)?, self.term(b)?);
                match holds {
                    true => a.equals(&b)?,
                    false => a.differs(&b)?,
                }
            }
            Formula::At {
                template,
                process,
                locations,
            } => self.at(formula, *template, process, locations, holds)?,
            Formula::Not(inner) => self.assume(inner, !holds)?,
            Formula::And(members) | Formula::Or(members) => {
                let mut each = Vec::with_capacity(members.len());
                for member in members {
                    each.push(self.assume(member, holds)?);
                }
                match matches!(formula, Formula::And(_)) == holds {
                    true => Linear::all(each),
                    false => Linear::any(each),
                }
            }
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let references = self.scope.of_template(*template);
                let mut each = Vec::with_capacity(references.len());
                for reference in &references {
                    let names = Names::default().with(*var, *reference);
                    each.push(self.assume(&body.resolve(&names), holds)?);
                }
                let all = matches!(formula, Formula::ForAll(..)) == holds;
                // If it is only about where they are, their numbers say it all.
                let (zero, one) = (Form::number(0), Form::number(1));
                let numbers = match all {
                    true => self.at_labels(*var, *template, body, !holds)?,
                    false => self.at_labels(*var, *template, body, holds)?,
                };
                let numbers = match numbers {
                    Some(others) if all => Some(others.at_most(&zero)?),
                    Some(those) => Some(one.at_most(&those)?),
                    None => None,
                };
                if all {
                    let others = self.nobody(*var, *template, body, holds)?;
                    let all = each.into_iter().chain(numbers).chain(others);
                    return Ok(Linear::all(all));
                }
                // It may be somebody else.
                let population = self.population(*template)?;
                let more = Form::number(references.len() as i64 + 1);
                let somebody = Linear::any(each.into_iter().chain([more.at_most(&population)?]));
                Linear::all([somebody].into_iter().chain(numbers))
            }
        })
    }

    fn of_one_template(&self, a: u32, b: u32) -> bool {
        let template = |number: u32| {
            let reference = self.scope.references.get(number as usize)?;
            reference.map(|reference| reference.template)
        };
        template(a).is_some() && template(a) == template(b)
    }

    fn at(
        &mut self,
        formula: &Formula,
        template: TemplateId,
        process: &Term,
        locations: &[LocationId],
        holds: bool,
    ) -> Result<Linear, Overflow> {
        if let Term::Reference(number) = process
            && let Some(Some(reference)) = self.scope.references.get(*number as usize)
        {
            return Ok(Linear::constant(
                locations.contains(&reference.location) == holds,
            ));
        }
        if single(self.family, template) {
            let mut sum = Form::default();
            for location in locations {
                let counter = self.var(Var::Counter(template, *location));
                sum = sum.plus(1, &counter)?;
            }
            return match holds {
                true => Form::number(1).at_most(&sum),
                false => sum.at_most(&Form::number(0)),
            };
        }
        let text = formula.to_string();
        let value = self.var(Var::Opaque(text.clone()));
        if self.named.insert(text) {
            let process = self.term(process)?;
            self.facts.push(Form::number(0).at_most(&value)?);
            self.facts.push(value.at_most(&Form::number(1))?);
            for (number, reference) in self.scope.iter() {
                if reference.template == template {
                    let id = self.var(Var::Id(number));
                    let truth = i64::from(locations.contains(&reference.location));
                    let known = value.equals(&Form::number(truth))?;
                    self.facts.push(Linear::any([process.differs(&id)?, known]));
                }
            }
        }
        match holds {
            true => Form::number(1).at_most(&value),
            false => value.at_most(&Form::number(0)),
        }
    }

    /// What holds of the scope in every state: `where`, numbers of processes, ids, types.
    pub(crate) fn background(&mut self, ghosts: &Ghosts) -> Result<Vec<Linear>, Overflow> {
        let family = self.family;
        let mut facts = Vec::new();
        for assumption in &family.assumptions {
            facts.push(self.assume(assumption, true)?);
        }
        for (id, template) in family.templates.iter_enumerated() {
            for location in template.locations.indices() {
                let here = self.scope.iter();
                let here = here.filter(|(_, reference)| {
                    (reference.template, reference.location) == (id, location)
                });
                let least = here.count() as i64;
                let counter = self.var(Var::Counter(id, location));
                facts.push(Form::number(least).at_most(&counter)?);
            }
            if let Population::Between(lo, hi) = &template.population {
                let population = self.population(id)?;
                let (lo, hi) = (self.term(lo)?, self.term(hi)?);
                let size = hi.plus(-1, &lo)?.add(1)?;
                let zero = Form::number(0);
                facts.push(Linear::any([
                    Linear::all([zero.at_most(&size)?, population.equals(&size)?]),
                    Linear::all([size.less(&zero)?, population.equals(&zero)?]),
                ]));
            }
        }
        let references: Vec<(u32, Reference)> = self.scope.iter().collect();
        for (place, (number, reference)) in references.iter().enumerate() {
            let id = self.var(Var::Id(*number));
            let population = self.population(reference.template)?;
            facts.push(Form::number(0).at_most(&id)?);
            facts.push(id.less(&population)?);
            for (other, another) in &references[..place] {
                if another.template == reference.template {
                    let other = self.var(Var::Id(*other));
                    facts.push(other.differs(&id)?);
                }
            }
        }
        for cell in self.cells() {
            let Some(var) = plain(&cell) else { continue };
            let value = self.var(var);
            for (bound, least) in self.type_bounds(&cell)? {
                facts.push(match least {
                    true => bound.at_most(&value)?,
                    false => value.at_most(&bound)?,
                });
            }
        }
        for (number, predicate) in ghosts.counted.iter().enumerate() {
            self.counted_facts(number as u32, predicate, &mut facts)?;
        }
        sums::facts(self, &mut facts)?;
        self.compared_facts(ghosts, &mut facts)?;
        Ok(facts)
    }

    fn counted_facts(
        &mut self,
        number: u32,
        counted: &Counted,
        facts: &mut Vec<Linear>,
    ) -> Result<(), Overflow> {
        for reference in self.scope.of_template(counted.template) {
            let holds = self.renamed(&counted.predicate, reference)?;
            let indicator = self.var(Var::Indicator(reference, number, false));
            facts.push(indicates(&indicator, &holds)?);
        }
        let template = counted.template;
        for location in self.family.templates[template].locations.indices() {
            let all = self.var(Var::Counter(template, location));
            let some = self.var(Var::Counted(number, template, location, false));
            let here: Vec<u32> = self
                .scope
                .iter()
                .filter(|(_, r)| (r.template, r.location) == (template, location))
                .map(|(number, _)| number)
                .collect();
            let mut held = Form::default();
            for reference in &here {
                let indicator = self.var(Var::Indicator(*reference, number, false));
                held = held.plus(1, &indicator)?;
            }
            facts.push(held.at_most(&some)?);
            let rest = all.plus(-1, &some)?;
            let lacking = Form::number(here.len() as i64).plus(-1, &held)?;
            facts.push(lacking.at_most(&rest)?);
        }
        Ok(())
    }

    /// A predicate about reference 0, of another one.
    pub(crate) fn renamed(&mut self, predicate: &Atom, reference: u32) -> Result<Linear, Overflow> {
        let terms = predicate.terms.iter();
        let terms: Vec<(Variable, i64)> = terms
            .map(|(variable, factor)| (self.table.renamed(*variable, &[reference]), *factor))
            .collect();
        Ok(Linear::Atom(Atom::at_most_zero(terms, predicate.constant)?))
    }

    /// All cells that the scope shows: shared ones, and those of the references.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (var, variable) in self.family.shared.iter_enumerated() {
            for indices in self.all_indices(&variable.dims) {
                cells.push(Cell::Shared { var, indices });
            }
        }
        for (number, reference) in self.scope.iter() {
            let template = &self.family.templates[reference.template];
            for (var, variable) in template.locals.iter_enumerated() {
                for indices in self.all_indices(&variable.dims) {
                    cells.push(Cell::Local {
                        template: reference.template,
                        process: Box::new(Term::Reference(number)),
                        var,
                        indices,
                    });
                }
            }
        }
        cells
    }

    fn all_indices(&self, dims: &[Dimension]) -> Vec<Vec<Index>> {
        let mut all: Vec<Vec<Index>> = vec![Vec::new()];
        for dim in dims {
            let choices: Vec<Index> = match dim {
                Dimension::Positions { lowest, size } => (*lowest..*lowest + i64::from(*size))
                    .map(Index::Position)
                    .collect(),
                Dimension::Processes(template) => {
                    let references = self.scope.of_template(*template).into_iter();
                    references
                        .map(|number| Index::Process(Term::Reference(number)))
                        .collect()
                }
            };
            all = all
                .iter()
                .flat_map(|indices| {
                    choices.iter().map(|choice| {
                        let mut indices = indices.clone();
                        indices.push(choice.clone());
                        indices
                    })
                })
                .collect();
        }
        all
    }
}

/// A variable is 1 if a formula holds, otherwise 0.
pub(crate) fn indicates(indicator: &Form, holds: &Linear) -> Result<Linear, Overflow> {
    Ok(Linear::any([
        Linear::all([holds.clone(), indicator.equals(&Form::number(1))?]),
        Linear::all([holds.negation()?, indicator.equals(&Form::number(0))?]),
    ]))
}

/// Whether a template has a single process.
pub(crate) fn single(family: &Family, template: TemplateId) -> bool {
    matches!(
        &family.templates[template].population,
        Population::Between(Term::Number(0), Term::Number(0))
    )
}

/// The variable of a cell, if all processes in it are references.
pub(crate) fn plain(cell: &Cell) -> Option<Var> {
    let places = |indices: &[Index]| -> Option<Vec<Place>> {
        let each = indices.iter().map(|index| match index {
            Index::Position(position) => Some(Place::Position(*position)),
            Index::Process(Term::Reference(number)) => Some(Place::Reference(*number)),
            Index::Process(_) => None,
        });
        each.collect()
    };
    match cell {
        Cell::Shared { var, indices } => Some(Var::Shared(*var, places(indices)?)),
        Cell::Local {
            template,
            process,
            var,
            indices,
        } => match **process {
            Term::Reference(number) => Some(Var::Local(number, *template, *var, places(indices)?)),
            _ => None,
        },
    }
}

fn index_of(cell: &Cell, position: usize) -> Option<&Index> {
    match cell {
        Cell::Shared { indices, .. } | Cell::Local { indices, .. } => indices.get(position),
    }
}

fn set_index(cell: &mut Cell, position: usize, term: Term) {
    let (Cell::Shared { indices, .. } | Cell::Local { indices, .. }) = cell;
    if let Some(index) = indices.get_mut(position) {
        *index = Index::Process(term);
    }
}

/// Whether a condition holds of a process at a label, if that depends on nothing else.
fn holds_at(
    condition: &Formula,
    var: threadwise_lang::program::BoundId,
    of: TemplateId,
    location: LocationId,
) -> Option<bool> {
    match condition {
        Formula::Constant(truth) => Some(*truth),
        Formula::At {
            template,
            process,
            locations,
        } if *template == of && *process == Term::Bound(var) => Some(locations.contains(&location)),
        Formula::Not(inner) => Some(!holds_at(inner, var, of, location)?),
        Formula::And(members) => {
            let each = members.iter().map(|m| holds_at(m, var, of, location));
            let each: Option<Vec<bool>> = each.collect();
            Some(each?.into_iter().all(|truth| truth))
        }
        Formula::Or(members) => {
            let each = members.iter().map(|m| holds_at(m, var, of, location));
            let each: Option<Vec<bool>> = each.collect();
            Some(each?.into_iter().any(|truth| truth))
        }
        _ => None,
    }
}
