//! What the checker assumes is true of real states and steps.
//!
//! Whoever proves something under hypotheses that no state meets has proved nothing. So for states and steps of instances, as the interpreter gives them, this asks for
//! the condition that is about them, gives every variable that names something in the state its value, and asks a solver whether the rest of
//! the hypotheses can hold: it must, and with the values of the state after the step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use index_vec::IndexVec;
use threadwise_evidence::arithmetic::{Atom, Formula};
use threadwise_evidence::family::{
    Comparison, Condition, CountedPredicate, FamilyClaim, Reference, SummedTerm, ViewClaim,
};
use threadwise_lang::diagnostics::Code;
use threadwise_lang::program::{Param, ParamId, Program, PropertyKind, Span, TemplateId};
use threadwise_model::family::{Dimension, Family, FamilyTemplate, FamilyVariable, PathEnd};
use threadwise_model::instance::{Instance, Shape, Values};
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::state::{ProcessRef, State};
use threadwise_param::lia::{Answer, Limits, Solver};
use threadwise_testgen::generate::generate_for_everybody;
use threadwise_testgen::random::Random;
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{
    generated_programs, library, library_for_all, parametric, random_programs,
};

use crate::Error;
use crate::family::Claimed;
use crate::family::conditions::{Judge, Lister};
use crate::family::names::Table;
use crate::family::sums::Summed;

/// A number that no program here has: formulas with it are those of the claim, which is to be no hypothesis.
const MARK: i64 = 1 << 50;
/// How many states of an instance are visited.
const STATES: usize = 8;
/// How many steps from each of them.
const STEPS: usize = 3;

/// What names of variables stand for in a state.
type Meaning = BTreeMap<String, i64>;

/// A judge that looks for conditions whose hypotheses a state meets.
struct Witness<'a> {
    given: Vec<Vec<Formula>>,
    /// What the state says.
    state: Vec<Formula>,
    wanted: &'a dyn Fn(&Condition) -> bool,
    asked: usize,
    met: bool,
}

impl Judge for Witness<'_> {
    fn push(&mut self, _: &Table, formulas: &[Formula]) -> Result<(), Error> {
        self.given.push(formulas.to_vec());
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Error> {
        self.given.pop();
        Ok(())
    }

    fn judge(
        &mut self,
        _: &Table,
        condition: &Condition,
        _: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error> {
        if self.met || !(self.wanted)(condition) {
            return Ok(());
        }
        self.asked += 1;
        let goal = self.given.len() - 1;
        let formulas = self.given.iter().enumerate().flat_map(|(level, formulas)| {
            let hypotheses = formulas.iter();
            hypotheses.filter(move |formula| level == goal || !is_marked(formula))
        });
        let mut solver = Solver::new(Limits::default());
        solver.push(&self.state);
        self.met = !matches!(solver.solve(formulas, &|| false), Answer::Unsat(_));
        Ok(())
    }
}

fn is_marked(formula: &Formula) -> bool {
    match formula {
        Formula::Atom(atom) => atom.constant.abs() >= MARK,
        Formula::And(members) | Formula::Or(members) => members.iter().any(is_marked),
    }
}

/// That names mean what they mean.
fn equations(meaning: &Meaning, number: &mut dyn FnMut(&str) -> u32) -> Vec<Formula> {
    let mut equations = Vec::new();
    for (name, value) in meaning {
        let variable = number(name);
        for sign in [1, -1] {
            let atom = Atom::at_most_zero([(variable, sign)], -sign * value);
            equations.push(Formula::Atom(atom.unwrap()));
        }
    }
    equations
}

/// Lists conditions of a claim, for names that all are among its variables and mean something.
fn listed<'w>(
    family: &Family,
    claim: &FamilyClaim,
    meaning: &Meaning,
    wanted: &'w dyn Fn(&Condition) -> bool,
    list: &dyn Fn(&mut Lister<'_, Witness<'w>>) -> Result<(), Error>,
) -> Result<Witness<'w>, String> {
    let mut table = Table::new(family, claim).map_err(|error| error.to_string())?;
    table.summed = Summed::of_claim(family, claim, &table).map_err(|error| error.to_string())?;
    let state = equations(meaning, &mut |name| table.number(name.to_owned()));
    let claimed = Claimed::new(family, claim, &table);
    let mut lister = Lister {
        family,
        claim: &claimed.map_err(|error| error.to_string())?,
        property: "",
        table,
        judge: Witness {
            given: Vec::new(),
            state,
            wanted,
            asked: 0,
            met: false,
        },
        stop: &|| false,
        conditions: 0,
        orders: BTreeSet::new(),
    };
    list(&mut lister).map_err(|error| error.to_string())?;
    Ok(lister.judge)
}

/// An instance that states are taken from.
struct Setting<'a> {
    program: Arc<Program>,
    family: &'a Family,
    instance: &'a Instance,
    counted: Vec<CountedPredicate>,
    summed: Vec<SummedTerm>,
    compared: Vec<Comparison>,
    /// The names that the counted predicates, the summed terms and the comparisons use.
    names: Vec<String>,
}

impl Setting<'_> {
    /// The value of a cell, with mutexes as families have them.
    fn value(&self, values: Values, value: i64) -> i64 {
        let holder = ProcessRef::from_mutex_code(value);
        match (values, holder) {
            (Values::Mutex, Some(holder)) if value >= 0 => {
                let templates = self.family.templates.len() as i64;
                templates * i64::from(holder.index) + i64::from(holder.template.raw())
            }
            _ => value,
        }
    }

    /// The cells of a variable that processes name.
    fn cells(
        &self,
        base: &str,
        variable: &FamilyVariable,
        shape: &Shape,
        cells: &[i64],
        processes: &[Option<ProcessRef>],
        meaning: &mut Meaning,
    ) {
        for offset in 0..shape.len {
            let mut rest = offset;
            let mut indices = Vec::new();
            for (dim, size) in variable.dims.iter().zip(&shape.dims).rev() {
                let index = (rest % size.size as usize) as u32;
                rest /= size.size as usize;
                indices.push(match dim {
                    Dimension::Positions { lowest, .. } => {
                        Some(format!("[{}]", lowest + i64::from(index)))
                    }
                    Dimension::Processes(template) => {
                        let process = ProcessRef {
                            template: *template,
                            index,
                        };
                        let reference = processes.iter().position(|p| *p == Some(process));
                        reference.map(|reference| format!("[${reference}]"))
                    }
                });
            }
            let indices: Option<String> = indices.into_iter().rev().collect();
            if let Some(indices) = indices {
                let value = self.value(shape.values, cells[shape.first + offset]);
                meaning.insert(format!("{base}{indices}"), value);
            }
        }
    }

    /// What names mean if these are the references. A reference that does not exist yet has no names.
    fn meaning(&self, state: &State, processes: &[Option<ProcessRef>]) -> Meaning {
        let mut meaning = Meaning::new();
        for (name, value) in self.instance.params() {
            meaning.insert(name.to_owned(), value);
        }
        for (var, variable) in self.family.shared.iter_enumerated() {
            let shape = self.instance.shared(var);
            let (name, cells) = (&variable.name, &state.shared);
            self.cells(name, variable, shape, cells, processes, &mut meaning);
        }
        for (number, process) in processes.iter().enumerate() {
            let Some(process) = process else { continue };
            meaning.insert(format!("${number}"), i64::from(process.index));
            let length = self.instance.local_cells(process.template);
            let cells = &state.templates[process.template].cells;
            let cells = &cells[process.index as usize * length..];
            let locals = &self.family.templates[process.template].locals;
            for (var, variable) in locals.iter_enumerated() {
                let shape = self.instance.local(process.template, var);
                let name = format!("${number}.{}", variable.name);
                self.cells(&name, variable, shape, cells, processes, &mut meaning);
            }
        }
        for process in state.processes() {
            for (id, template) in self.family.templates.iter_enumerated() {
                for (location, label) in template.locations.iter_enumerated() {
                    let here = id == process.template && state.location(process) == location;
                    let name = format!("#{}.{label}", template.name);
                    *meaning.entry(name).or_default() += i64::from(here);
                }
            }
        }
        meaning
    }

    /// The same with the numbers of processes that counted predicates hold of, and with sums.
    fn full_meaning(&self, state: &State, processes: &[Option<ProcessRef>]) -> Meaning {
        let mut meaning = self.meaning(state, processes);
        for (number, counted) in self.counted.iter().enumerate() {
            let of = self.family.templates.iter_enumerated();
            let mut of = of.filter(|(_, template)| template.name == counted.template);
            let Some((id, template)) = of.next() else {
                continue;
            };
            for label in &template.locations {
                let name = format!("#{}.{label}[{number}]", template.name);
                meaning.insert(name, 0);
            }
            for process in state.processes().filter(|p| p.template == id) {
                let own = self.meaning(state, &[Some(process)]);
                if self.holds(&counted.predicate, &own) {
                    let label = &template.locations[state.location(process)];
                    let name = format!("#{}.{label}[{number}]", template.name);
                    *meaning.entry(name).or_default() += 1;
                }
            }
        }
        for (number, summed) in self.summed.iter().enumerate() {
            let of = self.family.templates.iter_enumerated();
            let mut of = of.filter(|(_, template)| template.name == summed.template);
            let Some((id, template)) = of.next() else {
                continue;
            };
            for label in &template.locations {
                meaning.insert(format!("+{}.{label}[{number}]", template.name), 0);
            }
            for process in state.processes().filter(|p| p.template == id) {
                let own = self.meaning(state, &[Some(process)]);
                let terms = summed.terms.iter();
                let terms = terms.map(|(v, factor)| factor * own[&self.names[*v as usize]]);
                let label = &template.locations[state.location(process)];
                let name = format!("+{}.{label}[{number}]", template.name);
                *meaning.entry(name).or_default() += terms.sum::<i64>() + summed.constant;
            }
        }
        for (number, compared) in self.compared.iter().enumerate() {
            self.compared_meaning(state, processes, (number, compared), &mut meaning);
        }
        meaning
    }

    /// The numbers of processes that compare with references.
    fn compared_meaning(
        &self,
        state: &State,
        processes: &[Option<ProcessRef>],
        (number, compared): (usize, &Comparison),
        meaning: &mut Meaning,
    ) {
        for (reference, of) in processes.iter().enumerate() {
            let Some(of) = of else { continue };
            if self.family.templates[of.template].name != compared.of {
                continue;
            }
            for (id, template) in self.family.templates.iter_enumerated() {
                if template.name != compared.template {
                    continue;
                }
                for (location, label) in template.locations.iter_enumerated() {
                    let others = state.processes();
                    let others = others.filter(|p| p.template == id && p != of);
                    let here = others.filter(|process| state.location(*process) == location);
                    let held = here.filter(|process| {
                        let both = self.meaning(state, &[Some(*process), Some(*of)]);
                        self.holds(&compared.predicate, &both)
                    });
                    let name = format!("#{}.{label}[{number}:${reference}]", template.name);
                    meaning.insert(name, held.count() as i64);
                }
            }
        }
    }

    fn holds(&self, formula: &Formula, meaning: &Meaning) -> bool {
        match formula {
            Formula::Atom(atom) => {
                let terms = atom.terms.iter();
                let terms = terms.map(|(v, factor)| factor * meaning[&self.names[*v as usize]]);
                terms.sum::<i64>() + atom.constant <= 0
            }
            Formula::And(members) => members.iter().all(|m| self.holds(m, meaning)),
            Formula::Or(members) => members.iter().any(|m| self.holds(m, meaning)),
        }
    }

    fn reference(&self, state: &State, process: ProcessRef) -> Reference {
        let template = &self.family.templates[process.template];
        Reference {
            template: template.name.clone(),
            location: template.locations[state.location(process)].clone(),
        }
    }

    /// Whether the hypotheses of a condition that is wanted are met by what names mean, with the values of an assertion that is said to be wrong.
    fn is_met<'w>(
        &self,
        list: &dyn Fn(&mut Lister<'_, Witness<'w>>) -> Result<(), Error>,
        references: Vec<Reference>,
        before: &Meaning,
        after: Option<&Meaning>,
        wanted: &'w dyn Fn(&Condition) -> bool,
    ) -> Result<bool, String> {
        let mut variables = self.names.clone();
        let mut number = |name: &str| {
            let known = variables.iter().position(|known| known == name);
            let position = known.unwrap_or_else(|| {
                variables.push(name.to_owned());
                variables.len() - 1
            });
            position as u32
        };
        for name in before.keys() {
            number(name);
        }
        let mut views = Vec::new();
        if let Some(after) = after {
            let mark = Atom::at_most_zero([(0, -1)], MARK).unwrap();
            let wrong = Formula::And(equations(after, &mut number))
                .negation()
                .unwrap();
            views.push(ViewClaim {
                references,
                assertions: vec![Formula::Or(vec![Formula::Atom(mark), wrong])],
            });
        }
        let claim = FamilyClaim {
            variables,
            counted: self.counted.clone(),
            summed: self.summed.clone(),
            compared: self.compared.clone(),
            views,
            ..FamilyClaim::default()
        };
        let witness = listed(self.family, &claim, before, wanted, list)?;
        if witness.asked == 0 {
            return Err("there is no such condition".to_owned());
        }
        Ok(witness.met)
    }

    /// Compares what can be done in a state.
    fn state(&self, state: &State, first: bool, random: &mut Random) -> Result<Vec<State>, String> {
        let interpreter = Interpreter::new(self.instance);
        let everybody: Vec<ProcessRef> = state.processes().collect();
        let some = |of: &[ProcessRef], random: &mut Random| {
            let mut some = Vec::new();
            for _ in 0..random.below(3) {
                let process = random.one(of).copied();
                some.extend(process.filter(|process| !some.contains(process)));
            }
            some
        };
        if first {
            let references: Vec<ProcessRef> = some(&everybody, random);
            let numbered: Vec<_> = references.iter().copied().map(Some).collect();
            let meaning = self.full_meaning(state, &numbered);
            let names = references
                .iter()
                .map(|p| self.reference(state, *p))
                .collect();
            let wanted = |condition: &Condition| matches!(condition, Condition::Initial { .. });
            if !self.is_met(
                &|lister| lister.initial(),
                names,
                &meaning,
                Some(&meaning),
                &wanted,
            )? {
                return Err(format!("{references:?} at first: {meaning:?}"));
            }
        }
        let mut after = Vec::new();
        let Ok(mut successors) = interpreter.successors(state) else {
            return Ok(after);
        };
        if interpreter.is_deadlock(state) == Ok(true) {
            let meaning = self.full_meaning(state, &[]);
            let list = |lister: &mut Lister<'_, _>| lister.deadlock();
            let wanted = |condition: &Condition| *condition == Condition::Deadlock;
            if !self.is_met(&list, Vec::new(), &meaning, None, &wanted)? {
                return Err(format!("a deadlock: {meaning:?}"));
            }
        }
        while successors.len() > STEPS {
            successors.swap_remove(random.below(successors.len()));
        }
        for (mover, outcome) in successors {
            let template = &self.family.templates[mover.template];
            let from = state.location(mover);
            match outcome {
                Outcome::Rest { .. } => {}
                Outcome::Fail { .. } => {
                    let meaning = self.full_meaning(state, &[Some(mover)]);
                    let wanted = |condition: &Condition| match condition {
                        Condition::Check { template: of, path } => {
                            *of == template.name && template.paths[*path].from == from
                        }
                        _ => false,
                    };
                    if !self.is_met(
                        &|lister| lister.checks(),
                        Vec::new(),
                        &meaning,
                        None,
                        &wanted,
                    )? {
                        return Err(format!("{mover:?} fails: {meaning:?}"));
                    }
                }
                Outcome::Move {
                    state: next, to, ..
                } => {
                    let then: Vec<ProcessRef> = next.processes().collect();
                    let references = some(&then, random);
                    let exists = |process: &ProcessRef| everybody.contains(process);
                    let mut before: Vec<_> =
                        references.iter().map(|p| exists(p).then_some(*p)).collect();
                    let started = (0..references.len()).filter(|i| before[*i].is_none());
                    let started: Vec<usize> = started.collect();
                    let position = references.iter().position(|process| *process == mover);
                    if position.is_none() {
                        before.push(Some(mover));
                    }
                    let numbered: Vec<_> = references.iter().copied().map(Some).collect();
                    let was = self.full_meaning(state, &before);
                    let is = self.full_meaning(&next, &numbered);
                    let names = references
                        .iter()
                        .map(|p| self.reference(&next, *p))
                        .collect();
                    let wanted = |condition: &Condition| match condition {
                        Condition::Step {
                            mover,
                            template: of,
                            path,
                            started: new,
                            ..
                        } => {
                            let path = template.paths.get(*path);
                            let taken = path.is_some_and(|path| {
                                path.from == from && path.end == PathEnd::At(to)
                            });
                            (mover, new) == (&position, &started) && *of == template.name && taken
                        }
                        _ => false,
                    };
                    if !self.is_met(&|lister| lister.steps(), names, &was, Some(&is), &wanted)? {
                        return Err(format!(
                            "{mover:?} from {from:?} to {to:?}, references {references:?}:\n{was:?}\n{is:?}"
                        ));
                    }
                    after.push(next);
                }
            }
        }
        self.invariants(state)?;
        Ok(after)
    }

    /// That invariants which are violated are so for some processes.
    fn invariants(&self, state: &State) -> Result<(), String> {
        let interpreter = Interpreter::new(self.instance);
        for property in &self.program.properties {
            let PropertyKind::Invariant(expr) = &property.kind else {
                continue;
            };
            let (Ok(Some(conjuncts)), Ok(judgement)) = (
                self.family.invariant(&property.name),
                interpreter.judge(state, expr),
            ) else {
                continue;
            };
            if judgement.holds() {
                continue;
            }
            let mut met = false;
            for (number, conjunct) in conjuncts.iter().enumerate() {
                let mut ways: Vec<Vec<ProcessRef>> = vec![Vec::new()];
                for (_, template) in &conjunct.variables {
                    let of = state.processes().filter(|p| p.template == *template);
                    let of: Vec<ProcessRef> = of.collect();
                    let further = ways.iter().flat_map(|way| {
                        of.iter()
                            .map(|process| [way.clone(), vec![*process]].concat())
                    });
                    ways = further.collect();
                }
                for way in ways {
                    let mut references: Vec<ProcessRef> = Vec::new();
                    let mut names = Vec::new();
                    for process in way {
                        let known = references.iter().position(|known| *known == process);
                        names.push(known.unwrap_or(references.len()));
                        if known.is_none() {
                            references.push(process);
                        }
                    }
                    let numbered: Vec<_> = references.iter().copied().map(Some).collect();
                    let meaning = self.full_meaning(state, &numbered);
                    let references = references.iter().map(|p| self.reference(state, *p));
                    let wanted = Condition::Property {
                        conjunct: number,
                        references: references.collect(),
                        names,
                    };
                    let wanted = |condition: &Condition| *condition == wanted;
                    met = met
                        || self.is_met(
                            &|lister| lister.invariant(&conjuncts),
                            Vec::new(),
                            &meaning,
                            None,
                            &wanted,
                        )?;
                }
            }
            if !met {
                return Err(format!("{} is violated in {state:?}", property.name));
            }
        }
        Ok(())
    }
}

/// Some predicate about processes of a template.
fn predicate(
    family: &Family,
    template: TemplateId,
    names: &mut Vec<String>,
    random: &mut Random,
) -> Formula {
    let mut candidates = vec!["$0".to_owned()];
    for variable in &family.templates[template].locals {
        if variable.dims.is_empty() {
            candidates.push(format!("$0.{}", variable.name));
        }
    }
    for variable in &family.shared {
        match variable.dims.as_slice() {
            [] => candidates.push(variable.name.clone()),
            [Dimension::Processes(of)] if *of == template => {
                candidates.push(format!("{}[$0]", variable.name));
            }
            _ => {}
        }
    }
    let mut atom = |random: &mut Random| {
        let mut terms = Vec::new();
        for _ in 0..1 + random.below(3) {
            let name = random.one(&candidates).cloned().unwrap_or_default();
            let known = names.iter().position(|known| *known == name);
            let position = known.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            terms.push((position as u32, if random.percent(50) { 1 } else { -1 }));
        }
        Formula::Atom(Atom::at_most_zero(terms, random.between(-2, 2)).unwrap())
    };
    match random.below(4) {
        0 => Formula::Or(vec![atom(random), atom(random)]),
        1 => Formula::And(vec![atom(random), atom(random)]),
        _ => atom(random),
    }
}

/// A term to sum: local variables and parameters.
fn term(
    params: &IndexVec<ParamId, Param>,
    template: &FamilyTemplate,
    names: &mut Vec<String>,
    random: &mut Random,
) -> SummedTerm {
    let locals = template.locals.iter();
    let locals = locals.filter(|variable| variable.dims.is_empty());
    let locals = locals.map(|variable| format!("$0.{}", variable.name));
    let candidates: Vec<String> = locals
        .chain(params.iter().map(|param| param.name.clone()))
        .collect();
    let mut terms: Vec<(u32, i64)> = Vec::new();
    for _ in 0..random.below(4) {
        let Some(name) = random.one(&candidates).cloned() else {
            continue;
        };
        let known = names.iter().position(|known| *known == name);
        let position = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        terms.push((position as u32, if random.percent(50) { 1 } else { -2 }));
    }
    SummedTerm {
        template: template.name.clone(),
        terms,
        constant: random.between(-2, 2),
    }
}

/// Some comparisons of processes of a template: one that is an order, and another one of any kind.
fn compared(
    family: &Family,
    template: TemplateId,
    names: &mut Vec<String>,
    random: &mut Random,
) -> Vec<Comparison> {
    let mut own = vec![["$0", "$1"].map(str::to_owned)];
    for variable in &family.templates[template].locals {
        if variable.dims.is_empty() {
            own.push([0, 1].map(|i| format!("${i}.{}", variable.name)));
        }
    }
    let mut shared = Vec::new();
    for variable in &family.shared {
        match variable.dims.as_slice() {
            [] => shared.push(variable.name.clone()),
            [Dimension::Processes(of)] if *of == template => {
                own.push([0, 1].map(|i| format!("{}[${i}]", variable.name)));
            }
            _ => {}
        }
    }
    let mut number = |name: String| {
        let known = names.iter().position(|known| *known == name);
        let position = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        position as u32
    };
    let Some(pair) = random.one(&own).cloned() else {
        return Vec::new();
    };
    let [one, reference] = pair.map(&mut number);
    let mut terms = vec![(one, 1), (reference, -1)];
    let mut order = Formula::Atom(Atom::at_most_zero(terms.clone(), 1).unwrap());
    if let Some(name) = random.one(&shared).filter(|_| random.percent(30)).cloned() {
        order = sooner([one, reference, number(name)]);
    }
    if let Some(name) = random.one(&shared).filter(|_| random.percent(50)).cloned() {
        terms.push((number(name), if random.percent(50) { 1 } else { -1 }));
    }
    let other = Atom::at_most_zero(terms, random.between(-1, 1)).unwrap();
    let name = family.templates[template].name.clone();
    let each = [(order, true), (Formula::Atom(other), false)];
    let each = each.map(|(predicate, order)| Comparison {
        template: name.clone(),
        of: name.clone(),
        predicate,
        order,
    });
    each.into()
}

/// Comparisons of processes of one template with those of another one, as with entries of arrays: who is at least as far as the other, and who is there and is the one that the other names.
fn compared_across(
    family: &Family,
    names: &mut Vec<String>,
    random: &mut Random,
) -> Vec<Comparison> {
    let templates: Vec<TemplateId> = family.templates.indices().collect();
    let (Some(one), Some(other)) = (random.one(&templates), random.one(&templates)) else {
        return Vec::new();
    };
    let (template, of) = (&family.templates[*one], &family.templates[*other]);
    if one == other {
        return Vec::new();
    }
    let mut own = vec!["$0".to_owned()];
    for variable in &template.locals {
        if variable.dims.is_empty() {
            own.push(format!("$0.{}", variable.name));
        }
    }
    let mut named = vec!["$1".to_owned()];
    for variable in &family.shared {
        match variable.dims.as_slice() {
            [Dimension::Processes(by)] if by == one => own.push(format!("{}[$0]", variable.name)),
            [Dimension::Processes(by)] if by == other => {
                named.push(format!("{}[$1]", variable.name));
            }
            _ => {}
        }
    }
    let mut number = |name: Option<String>| {
        let name = name.unwrap_or_default();
        let known = names.iter().position(|known| *known == name);
        let position = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        position as u32
    };
    let far = number(random.one(&own).cloned());
    let (entry, id) = (number(Some("$1".to_owned())), number(Some("$0".to_owned())));
    let names_it = number(random.one(&named).cloned());
    let by = random.between(-1, 1);
    let at_most =
        |a: u32, b: u32, by: i64| Formula::Atom(Atom::at_most_zero([(a, 1), (b, -1)], by).unwrap());
    let there = [at_most(entry, far, by), at_most(far, entry, -by)];
    let last = [at_most(names_it, id, 0), at_most(id, names_it, 0)];
    let below = at_most(far, entry, random.between(-1, 1));
    let all = [
        at_most(entry, far, by),
        Formula::all(there.into_iter().chain(last)),
        below,
    ];
    let all = all
        .into_iter()
        .filter(|predicate| predicate.truth().is_none());
    let each = all.map(|predicate| Comparison {
        template: template.name.clone(),
        of: of.name.clone(),
        predicate,
        order: false,
    });
    each.collect()
}

/// That a value comes before another one, going round from a first one.
fn sooner([one, other, first]: [u32; 3]) -> Formula {
    let less =
        |a: u32, b: u32| Formula::Atom(Atom::at_most_zero(vec![(a, 1), (b, -1)], 1).unwrap());
    let behind = |a: u32| less(a, first).negation().unwrap();
    Formula::any([
        Formula::all([behind(one), less(other, first)]),
        Formula::all([behind(one), less(one, other), behind(other)]),
        Formula::all([less(one, first), less(one, other), less(other, first)]),
    ])
}

/// That values of parameters which `where` allows and which have no instance are noticed. Gives how many there are.
fn missing(program: &Arc<Program>) -> Result<usize, String> {
    let Ok(family) = Family::new(Arc::clone(program), &BTreeMap::new()) else {
        return Ok(0);
    };
    let mut missing = 0;
    for value in 0..25 {
        let mut rest = value;
        let values = program.params.iter().map(|param| {
            let value = rest % 5 - 1;
            rest /= 5;
            (param.name.clone(), value)
        });
        let values: Meaning = values.collect();
        let Err(errors) = Instance::new(Arc::clone(program), &values) else {
            continue;
        };
        let mut codes = errors.iter().map(|error| error.code);
        if codes.any(|code| matches!(code, Code::WhereViolated | Code::TooLarge)) {
            continue;
        }
        let claim = FamilyClaim {
            variables: values.keys().cloned().collect(),
            ..FamilyClaim::default()
        };
        let witness = listed(&family, &claim, &values, &|_| true, &|lister| {
            lister.instance()
        })?;
        if !witness.met {
            return Err(format!("{values:?} have no instance: {errors:?}"));
        }
        missing += 1;
    }
    Ok(missing)
}

/// Visits states of an instance. Gives how many.
fn visit(instance: &Instance, seed: u64) -> Result<usize, String> {
    let program = Arc::new(instance.program().clone());
    let Ok(family) = Family::new(Arc::clone(&program), &BTreeMap::new()) else {
        return Ok(0);
    };
    // Where ranges are templates, their processes are in the states, too.
    let program = family.shared_program();
    let values = instance.params();
    let values = values.map(|(name, value)| (name.to_owned(), value));
    let instance = &Instance::new(Arc::clone(&program), &values.collect())
        .map_err(|errors| format!("no instance: {errors:?}"))?;
    let mut random = Random::new(seed);
    let mut setting = Setting {
        program,
        family: &family,
        instance,
        counted: Vec::new(),
        summed: Vec::new(),
        compared: Vec::new(),
        // The number of processes at a label: something that exists in any case.
        names: Vec::new(),
    };
    let first = &family.templates[TemplateId::from_raw(0)];
    let anything = format!("#{}.{}", first.name, first.locations[first.entry]);
    setting.names.push(anything);
    for (id, template) in family.templates.iter_enumerated() {
        setting
            .compared
            .extend(compared(&family, id, &mut setting.names, &mut random));
        let predicate = predicate(&family, id, &mut setting.names, &mut random);
        setting.counted.push(CountedPredicate {
            template: template.name.clone(),
            predicate,
        });
        let summed = term(
            &family.program().params,
            template,
            &mut setting.names,
            &mut random,
        );
        setting.summed.push(summed);
    }
    let across = compared_across(&family, &mut setting.names, &mut random);
    setting.compared.extend(across);
    let Ok(initial) = Interpreter::new(instance).initial_states() else {
        return Ok(0);
    };
    let mut seen: Vec<State> = initial.take(2).collect();
    let initial = seen.len();
    let mut next = 0;
    while next < seen.len().min(STATES) {
        let state = seen[next].clone();
        let error = |error| {
            let Setting {
                counted,
                summed,
                compared,
                ..
            } = &setting;
            format!("{counted:?} {summed:?} {compared:?}: {error}")
        };
        for after in setting
            .state(&state, next < initial, &mut random)
            .map_err(error)?
        {
            if !seen.contains(&after) {
                seen.push(after);
            }
        }
        next += 1;
    }
    Ok(next)
}

#[test]
fn random_programs_meet_the_hypotheses() {
    let count = programs(30);
    let visited = random_programs(count, |seed, _, instance| {
        missing(&Arc::new(instance.program().clone()))?;
        visit(instance, seed)
    });
    assert!(3 * visited.iter().sum::<usize>() as u64 > 10 * count);
}

#[test]
fn programs_about_any_number_of_processes_meet_the_hypotheses() {
    let count = programs(15);
    let visited = generated_programs(parametric::generate, count, |seed, _, instance| {
        visit(instance, seed)
    });
    assert!(3 * visited.iter().sum::<usize>() as u64 > 10 * count);
}

#[test]
fn loops_for_everybody_meet_the_hypotheses() {
    let count = programs(30);
    let visited = generated_programs(generate_for_everybody, count, |seed, _, instance| {
        visit(instance, seed)
    });
    assert!(3 * visited.iter().sum::<usize>() as u64 > 10 * count);
}

#[test]
fn levels_and_buffers_meet_the_hypotheses() {
    let count = programs(24);
    for generate in [parametric::generate_levels, parametric::generate_buffers] {
        let visited =
            generated_programs(generate, count, |seed, _, instance| visit(instance, seed));
        assert!(3 * visited.iter().sum::<usize>() as u64 > 10 * count);
    }
}

/// Guards say something of everybody who compares with entries, and some begin with what is not the same for all.
const COMPARED_WITH_ENTRIES: &str = "
    param N = 3 where N >= 1;
    shared h, g: array[P] of 0..N = 0; shared k: array[P] of 0..N = any;
    shared s: array[1..N] of P? = none;
    process P[i: 1..N] {
        local v: 0..N = 1;
        loop {
            l: atomic { await forall j in P: j != i -> h[j] < h[i] || h[j] == 0; h[i], s[1] := 1, i; }
            m: atomic { await !(exists j in P: h[j] > g[i] + 1); g[i], k[i] := v, v; }
            n: atomic { await h[i] >= 1 && (s[h[i]] != i || (forall j in P: k[j] <= v)); v := h[i]; }
            o: atomic { await v >= 1; s[v] := none; h[i] := 0; }
        }
    }
    ";

#[test]
fn who_compares_with_entries_meets_the_hypotheses() {
    let instance = threadwise_testgen::instance(COMPARED_WITH_ENTRIES, &[]).unwrap();
    let visited = (0..8).map(|seed| visit(&instance, seed).unwrap());
    assert!(visited.sum::<usize>() > 20);
}

#[test]
fn library_models_meet_the_hypotheses() {
    for (name, text) in library().into_iter().chain(library_for_all()) {
        let program = threadwise_lang::check(&text).program.unwrap();
        let instance = Instance::new(Arc::new(program), &BTreeMap::new()).unwrap();
        visit(&instance, 7).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Programs that each single out one thing.
const SINGLED_OUT: &[&str] = &[
    // What short-circuiting skips: the greatest of nobody, and an entry of an array without entries.
    "
    param N = 0 where N >= 0;
    shared a: array[P] of 1..N = 1;
    process P[i: 1..N] { l: skip; }
    process Q {
        local k: P? = none;
        m: atomic { await k == none || a[k] > 0; }
        n: if N == 0 || (max j in P: a[j]) > 0 { n2: skip; }
    }
    ",
    // A step writes the entries of others.
    "
    param N = 3;
    shared a, b: array[P] of 0..2 = 0;
    process P[i: 1..N] {
        loop {
            l: choose j in P { a[j] := 1; }
            m: choose j in P { b[i], a[j] := 1, 0; }
        }
    }
    ",
    // A step writes the entries of everybody, or of those of whom something holds.
    "
    param N = 3;
    shared a, b: array[P] of 0..2 = 0;
    process P[i: 1..N] {
        local own: array[P] of 0..1 = 0;
        loop {
            l: choose j in P { a[j] := 1; }
            m: for j in P { a[j] := 2 - a[j]; if own[j] == 0 { b[j] := a[j]; own[j] := 1; } }
            n: atomic { for j in P { if j != i { b[j] := 1; } else { own[j] := 0; } } a[i] := 0; }
        }
    }
    ",
    // Many are started at once, and their variables begin with anything.
    "
    param N = 2;
    shared x: int = 0;
    process Q {
        loop { l: atomic { start C; x := x + 1; start C; start D; } }
    }
    process C[] { local v: 0..1 = any; local w: int = 2; a: v := 1; b: w := x; }
    process D[] { a: skip; }
    ",
    // The greatest and the least of somebody out of scope.
    "
    param N = 3;
    shared y: array[P] of int = 0;
    process P[i: 1..N] {
        loop {
            l: atomic { y[i] := (max j in P: y[j]) + 1; }
            m: atomic { y[i] := (min j in P: y[j]) - 1; }
        }
    }
    ",
    // What processes have of their own is changed in several ways on the way from one label to another, and begins with different numbers.
    "
    param N = 3; param M = 2 where M >= 0;
    ordered process P[i: 1..N] {
        local v: 0..9 = i; local w: 0..2 = 2;
        loop { l: choose { v := v / 2; w := M; } or { v := (v + 3) % 10; goto m; } m: atomic { v, w := w, 0; } }
    }
    process C[] { local v: 0..3 = 1; a: v := 2; b: v := 0; }
    process Q { loop { s: atomic { start C; start C; } } }
    ",
    // Remainders and quotients, of negative numbers too.
    "
    param N = 3 where N >= 1;
    shared x, y, z: int = 0;
    process Q {
        loop { l: atomic { x := x - 2; y := x % 3 + x / 2 + (20 + x) % N; z := (x - 9) % N; } }
    }
    process P[i: 1..N] {
        loop { l: atomic { if (x + 7) % (N + 1) > x / 3 { y := y * x; } else { x := x + 5; } } }
    }
    ",
];

#[test]
fn what_is_singled_out_meets_the_hypotheses() {
    for text in SINGLED_OUT {
        let instance = threadwise_testgen::instance(text, &[]).unwrap();
        let mut visited = 0;
        for seed in 0..20 {
            visited += visit(&instance, seed).unwrap_or_else(|error| panic!("{text}{error}"));
        }
        assert!(visited > 20, "{text}");
    }
}

#[test]
fn values_without_an_instance_are_noticed() {
    let texts = [
        "param N = 2; shared y: 1..N = 1; process P { a: skip; }",
        "param N = 2; ordered process P[i: 1..2] { local v: 0..N = i; a: skip; }",
        "param N = 2; process P { a: start C; } process C[] { local v: 0..N = 1; a: skip; }",
        "param N = 2; shared p: P = 1; ordered process P[i: 1..N] { a: skip; }",
        "param N = 2; shared x: int = 0; process P { a: choose k in 0..8 / N { x := k; } }",
    ];
    for text in texts {
        let checked = threadwise_lang::check(text);
        let program = checked.program;
        let program = Arc::new(program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics)));
        assert!(missing(&program).unwrap() > 0, "{text}");
    }
}
