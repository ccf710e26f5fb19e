//! A family, compared with the interpreter: a program lowered for all values of its parameters must mean, at each of them, what the
//! program does.
//!
//! Terms and formulas are evaluated, with integers that do not overflow, in states of an instance. [`compare`] visits the states
//! that the interpreter reaches, and asks in each for the outcomes of every process and the truth of every invariant;
//! [`existence`] asks which values of the parameters have an instance. Nothing that is undefined (a
//! cell that does not exist, a division by zero) may decide an evaluation.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use threadwise_lang::program::{BoundId, Expr, PropertyKind, Scalar, TemplateId, Variable};
use threadwise_model::expression::Failure;
use threadwise_model::family::{
    Cell, Conjunct, Family, FamilyVariable, FoldKind, Formula, Index, Names, Path, PathEnd,
    Population, Started, Term,
};
use threadwise_model::instance::{Dim, Instance, Shape};
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::state::{ProcessRef, State};

/// The greatest number of values of one choice that are tried.
const MAX_CHOICES: i128 = 10_000;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stuck {
    /// It depends on a value that is not chosen yet.
    Choice(u32),
    /// It is undefined, or not what it should be.
    Wrong(String),
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Stuck> {
    Err(Stuck::Wrong(what.into()))
}

impl Stuck {
    fn message(self) -> String {
        match self {
            Stuck::Choice(choice) => format!("?{choice} is nowhere restricted"),
            Stuck::Wrong(what) => what,
        }
    }
}

/// Where terms are evaluated: at parameter values, in a state if there is one.
#[derive(Clone, Copy)]
struct Place<'a> {
    family: &'a Family,
    params: &'a [i64],
    /// The cells and processes. Without them, processes are as many as there are at first.
    state: Option<(&'a Instance, &'a State)>,
    own: Option<i128>,
    bound: &'a [(BoundId, i128)],
    references: &'a [i128],
    choices: &'a [Option<i128>],
}

impl<'a> Place<'a> {
    fn new(family: &'a Family, params: &'a [i64]) -> Place<'a> {
        Place {
            family,
            params,
            state: None,
            own: None,
            bound: &[],
            references: &[],
            choices: &[],
        }
    }

    fn population(&self, template: TemplateId) -> Result<i128, Stuck> {
        match self.state {
            // Instances of the program itself know nothing of the templates that a family has for ranges.
            Some((_, state)) if !self.family.is_slot(template) => {
                Ok(i128::from(state.count(template)))
            }
            _ => self.term(&self.family.initial_population(template)),
        }
    }

    /// Calls `each` where a bound variable is each of the processes of a template.
    fn for_each(
        &self,
        var: BoundId,
        template: TemplateId,
        mut each: impl FnMut(Place) -> Result<(), Stuck>,
    ) -> Result<(), Stuck> {
        for process in 0..self.population(template)? {
            let mut bound = self.bound.to_vec();
            bound.push((var, process));
            each(Place {
                bound: &bound,
                ..*self
            })?;
        }
        Ok(())
    }

    /// The same for several variables: each combination.
    fn for_all(
        &self,
        each: &[(BoundId, TemplateId)],
        visit: &mut dyn FnMut(Place) -> Result<(), Stuck>,
    ) -> Result<(), Stuck> {
        match each.split_first() {
            None => visit(*self),
            Some(((var, template), rest)) => {
                self.for_each(*var, *template, |place| place.for_all(rest, visit))
            }
        }
    }

    fn term(&self, term: &Term) -> Result<i128, Stuck> {
        match term {
            Term::Number(number) => Ok(i128::from(*number)),
            Term::Param(param) => match self.params.get(param.index()) {
                Some(value) => Ok(i128::from(*value)),
                None => wrong("a parameter that is not there"),
            },
            Term::Population(template) => self.population(*template),
            Term::Own => self.own.map_or_else(|| wrong("the id of nobody"), Ok),
            Term::Bound(bound) => {
                let found = self.bound.iter().rev().find(|(var, _)| var == bound);
                found.map_or_else(|| wrong("bound nowhere"), |(_, value)| Ok(*value))
            }
            Term::Reference(position) => {
                let found = self.references.get(*position as usize);
                found.map_or_else(|| wrong("not in the list"), |value| Ok(*value))
            }
            Term::Choice(choice) => match self.choices.get(*choice as usize) {
                Some(Some(value)) => Ok(*value),
                Some(None) => Err(Stuck::Choice(*choice)),
                None => wrong("more choices than are said"),
            },
            Term::Cell(cell) => {
                let (template, process, position) = self.cell(cell)?;
                let Some((instance, state)) = self.state else {
                    return wrong("a variable where there is no state");
                };
                Ok(i128::from(match template {
                    None => state.shared[position],
                    Some(template) => {
                        let stride = instance.local_cells(template);
                        state.templates[template].cells[process * stride + position]
                    }
                }))
            }
            Term::Sum(terms) => terms
                .iter()
                .try_fold(0, |sum, term| Ok(sum + self.term(term)?)),
            Term::Scaled(factor, term) => Ok(i128::from(*factor) * self.term(term)?),
            Term::Product(a, b) => match self.term(a)?.checked_mul(self.term(b)?) {
                Some(product) => Ok(product),
                None => wrong("beyond 128 bits"),
            },
            Term::Quotient(a, b) | Term::Remainder(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                match (b, term) {
                    (0, _) => wrong("a division by zero"),
                    (_, Term::Quotient(..)) => Ok(a / b),
                    _ => Ok(a % b),
                }
            }
            Term::If(condition, yes, no) => match self.truth(condition)? {
                true => self.term(yes),
                false => self.term(no),
            },
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => {
                let mut result: Option<i128> = (*kind == FoldKind::Sum).then_some(0);
                self.for_each(*var, *template, |place| {
                    let item = place.term(body)?;
                    result = Some(match (kind, result) {
                        (_, None) => item,
                        (FoldKind::Sum, Some(so_far)) => so_far + item,
                        (FoldKind::Min, Some(so_far)) => so_far.min(item),
                        (FoldKind::Max, Some(so_far)) => so_far.max(item),
                    });
                    Ok(())
                })?;
                result.map_or_else(|| wrong("the least or greatest of nothing"), Ok)
            }
        }
    }

    fn truth(&self, formula: &Formula) -> Result<bool, Stuck> {
        match formula {
            Formula::Constant(truth) => Ok(*truth),
            Formula::AtMost(a, b) => Ok(self.term(a)? <= self.term(b)?),
            Formula::Equal(a, b) => Ok(self.term(a)? == self.term(b)?),
            Formula::At {
                template,
                process,
                locations,
            } => {
                let process = self.process(*template, process)?;
                let Some((_, state)) = self.state else {
                    return wrong("a label where there is no state");
                };
                Ok(locations.contains(&state.templates[*template].locations[process]))
            }
            Formula::Not(inner) => Ok(!self.truth(inner)?),
            Formula::And(members) => {
                for member in members {
                    if !self.truth(member)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Formula::Or(members) => {
                for member in members {
                    if self.truth(member)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let forall = matches!(formula, Formula::ForAll(..));
                let mut result = forall;
                self.for_each(*var, *template, |place| {
                    if result == forall {
                        result = place.truth(body)?;
                    }
                    Ok(())
                })?;
                Ok(result)
            }
        }
    }

    /// The truth of a formula, which must be the same when names are resolved.
    fn truth_resolved(&self, formula: &Formula) -> Result<bool, Stuck> {
        let truth = self.truth(formula)?;
        let mut references = Vec::new();
        let mut names = Names::default();
        if let Some(own) = self.own {
            names.own = Some(0);
            references.push(own);
        }
        for (var, process) in self.bound {
            names = names.with(*var, references.len() as u32);
            references.push(*process);
        }
        let resolved = Place {
            own: None,
            bound: &[],
            references: &references,
            ..*self
        }
        .truth(&formula.resolve(&names))?;
        if resolved != truth {
            return wrong(format!("resolved, {formula} is {resolved}"));
        }
        Ok(truth)
    }

    fn process(&self, template: TemplateId, process: &Term) -> Result<usize, Stuck> {
        let process = self.term(process)?;
        match (0..self.population(template)?).contains(&process) {
            true => Ok(process as usize),
            false => wrong(format!("{process} is no process")),
        }
    }

    /// Whether a value that is written to a cell is what the cell has anyway, by its conditions: then there need not be such a cell.
    fn keeps(&self, value: &Term, cell: &Cell) -> Result<bool, Stuck> {
        match value {
            Term::If(written, yes, _) => Ok(!self.truth(written)? || self.keeps(yes, cell)?),
            Term::Cell(same) => Ok(same == cell),
            _ => Ok(false),
        }
    }

    /// The template and the process of a local cell, and the position.
    fn cell(&self, cell: &Cell) -> Result<(Option<TemplateId>, usize, usize), Stuck> {
        let Some((instance, _)) = self.state else {
            return wrong("a variable where there is no state");
        };
        match cell {
            Cell::Shared { var, indices } => {
                Ok((None, 0, self.position(instance.shared(*var), indices)?))
            }
            Cell::Local {
                template,
                process,
                var,
                indices,
            } => {
                let process = self.process(*template, process)?;
                let position = self.position(instance.local(*template, *var), indices)?;
                Ok((Some(*template), process, position))
            }
        }
    }

    fn position(&self, shape: &Shape, indices: &[Index]) -> Result<usize, Stuck> {
        if shape.dims.len() != indices.len() {
            return wrong("not one index for each dimension");
        }
        let mut offset = 0;
        for (dim, index) in shape.dims.iter().zip(indices) {
            let value = match index {
                Index::Position(position) => i128::from(*position),
                // Processes are numbered from 0 on, and so are their entries; indices of ranges from their least.
                Index::Process(term) => self.term(term)? + i128::from(dim.lowest),
            };
            let Some(step) = i64::try_from(value).ok().and_then(|v| Dim::offset(*dim, v)) else {
                return wrong(format!("there is no entry {value}"));
            };
            offset = offset * dim.size as usize + step;
        }
        Ok(shape.first + offset)
    }
}

/// A state with mutexes as a family has them.
fn translate(family: &Family, instance: &Instance, state: &State) -> State {
    let program = family.program();
    let templates = program.templates.len() as i64;
    let mut state = state.clone();
    let recode = |cells: &mut [i64]| {
        for cell in cells {
            if let Some(holder) = ProcessRef::from_mutex_code(*cell) {
                *cell = i64::from(holder.index) * templates + i64::from(holder.template.raw());
            }
        }
    };
    let is_mutex = |variable: &Variable| matches!(variable.scalar, Scalar::Mutex);
    for (id, variable) in program.shared.iter_enumerated() {
        let shape = instance.shared(id);
        if is_mutex(variable) {
            recode(&mut state.shared[shape.first..shape.first + shape.len]);
        }
    }
    for (id, template) in instance.program().templates.iter_enumerated() {
        let stride = instance.local_cells(id);
        let processes = &mut state.templates[id];
        for process in 0..processes.locations.len() {
            for (local, variable) in template.locals.iter_enumerated() {
                if is_mutex(variable) {
                    let shape = instance.local(id, local);
                    let first = process * stride + shape.first;
                    recode(&mut processes.cells[first..first + shape.len]);
                }
            }
        }
    }
    state
}

/// What a family was found to say of an instance.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// States visited.
    pub states: usize,
    /// Steps compared.
    pub moves: usize,
    /// Failing checks compared.
    pub failures: usize,
    /// Processes in states, and invariants, where the interpreter reached a limit.
    pub limits: usize,
    /// Invariants compared, in states.
    pub judgements: usize,
    /// How many of them were false.
    pub violations: usize,
    /// Processes in states where quantifiers over processes with several checks name another one than the interpreter.
    pub other_checks: usize,
}

impl Findings {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: &Findings) {
        self.states += other.states;
        self.moves += other.moves;
        self.failures += other.failures;
        self.limits += other.limits;
        self.judgements += other.judgements;
        self.violations += other.violations;
        self.other_checks += other.other_checks;
    }
}

/// Compares a family with the interpreter of one of its instances, in at most `most` states.
pub fn compare(family: &Family, instance: &Instance, most: usize) -> Result<Findings, String> {
    let params: Vec<i64> = instance.params().map(|(_, value)| value).collect();
    let mut comparison = Comparison {
        family,
        instance,
        interpreter: Interpreter::new(instance),
        params: &params,
        findings: Findings::default(),
        invariants: Vec::new(),
    };
    comparison.invariants()?;
    comparison.run(most)?;
    Ok(comparison.findings)
}

struct Comparison<'a> {
    family: &'a Family,
    instance: &'a Instance,
    interpreter: Interpreter<'a>,
    params: &'a [i64],
    findings: Findings,
    invariants: Vec<(&'a Expr, Vec<Conjunct>)>,
}

impl<'a> Comparison<'a> {
    /// Lowers the invariants. Those that have no form for all numbers of processes are left out.
    fn invariants(&mut self) -> Result<(), String> {
        for property in &self.instance.program().properties {
            let lowered = self.family.invariant(&property.name);
            let PropertyKind::Invariant(expr) = &property.kind else {
                if !matches!(lowered, Ok(None)) {
                    return Err(format!("{} is no invariant", property.name));
                }
                continue;
            };
            match lowered {
                Ok(Some(conjuncts)) => self.invariants.push((expr, conjuncts)),
                Ok(None) => return Err(format!("no invariant {}", property.name)),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn place<'s>(&'s self, state: &'s State) -> Place<'s> {
        Place {
            state: Some((self.instance, state)),
            ..Place::new(self.family, self.params)
        }
    }

    /// Compares what `initially` excludes.
    fn constrained(&self) -> Result<(), String> {
        let mut open = self.instance.program().clone();
        open.initially.clear();
        let values = self.instance.params();
        let values = values.map(|(name, value)| (name.to_owned(), value));
        let open = Instance::new(Arc::new(open), &values.collect());
        let open = open.map_err(|_| "no instance without `initially`")?;
        let Ok(states) = Interpreter::new(&open).initial_states() else {
            return Ok(());
        };
        for state in states.take(2_000) {
            let translated = translate(self.family, self.instance, &state);
            let place = self.place(&translated);
            let predicates = self.family.initially.iter();
            let mut holds = true;
            for predicate in predicates {
                let truth = place.truth(predicate);
                holds &= truth.map_err(|stuck| format!("`initially`: {stuck:?}"))?;
            }
            if holds != self.interpreter.is_initial(&state) {
                return Err(format!("{state:?} is initial: {}", !holds));
            }
        }
        Ok(())
    }

    fn run(&mut self, most: usize) -> Result<(), String> {
        self.constrained()?;
        let Ok(initial) = self.interpreter.initial_states() else {
            // An `int` that begins with any value.
            self.findings.limits += 1;
            return Ok(());
        };
        let mut seen = HashSet::new();
        let mut queue = VecDeque::new();
        for (position, state) in initial.clone().take(most).enumerate() {
            let choices = self.initial(&state)?;
            if position == 0 && Some(choices) != initial.combinations() {
                return Err(format!("{choices} initial states"));
            }
            seen.insert(state.clone());
            queue.push_back(state);
        }
        while let Some(state) = queue.pop_front() {
            if self.findings.states >= most {
                break;
            }
            self.findings.states += 1;
            for next in self.state(&state)? {
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        Ok(())
    }

    /// Checks that a state is initial in the family, too; gives how many are if it is.
    fn initial(&self, state: &State) -> Result<u128, String> {
        let mut total = 1;
        let translated = translate(self.family, self.instance, state);
        let cells =
            |shape: &Shape, first: usize| first + shape.first..first + shape.first + shape.len;
        for (id, variable) in self.family.shared.iter_enumerated() {
            let values = &translated.shared[cells(self.instance.shared(id), 0)];
            let place = self.place(&translated);
            total *= begins(place, variable, values)?;
        }
        let templates = self.family.templates.iter_enumerated();
        for (id, template) in templates.filter(|(id, _)| !self.family.is_slot(*id)) {
            let count = self.place(state).term(&self.family.initial_population(id));
            if count != Ok(i128::from(state.count(id))) {
                return Err(format!("{count:?} processes of {}", template.name));
            }
            for process in 0..state.count(id) {
                if state.templates[id].locations[process as usize] != template.entry {
                    return Err(format!("{} begins elsewhere", template.name));
                }
                for (local, variable) in template.locals.iter_enumerated() {
                    let first = process as usize * self.instance.local_cells(id);
                    let range = cells(self.instance.local(id, local), first);
                    let place = Place {
                        own: Some(i128::from(process)),
                        ..self.place(&translated)
                    };
                    total *= begins(place, variable, &translated.templates[id].cells[range])?;
                }
            }
        }
        Ok(total)
    }

    /// Compares in a state; gives those that follow.
    fn state(&mut self, state: &State) -> Result<Vec<State>, String> {
        let translated = translate(self.family, self.instance, state);
        let mut following = Vec::new();
        for process in state.processes() {
            let Ok(outcomes) = self.interpreter.outcomes(state, process) else {
                self.findings.limits += 1;
                continue;
            };
            let mut moves = BTreeSet::new();
            let mut failures = BTreeSet::new();
            for outcome in outcomes {
                match outcome {
                    Outcome::Move { state, .. } => {
                        moves.insert(translate(self.family, self.instance, &state));
                        following.push(state);
                    }
                    Outcome::Fail { failure, .. } => {
                        failures.insert(failure);
                    }
                    Outcome::Rest { .. } => {}
                }
            }
            let (lowered_moves, lowered_failures) = self
                .outcomes(&translated, process)
                .map_err(|stuck| format!("{process:?} in {state:?}: {}", stuck.message()))?;
            if moves != lowered_moves {
                return Err(format!(
                    "{process:?} in {translated:?}\ninterpreted {moves:?}\nlowered {lowered_moves:?}"
                ));
            }
            if failures != lowered_failures {
                // The interpreter takes the processes of a quantifier one after the other, a family the checks.
                if failures.is_empty() || failures.len() != lowered_failures.len() {
                    return Err(format!(
                        "{process:?} in {translated:?}\ninterpreted {failures:?}\nlowered {lowered_failures:?}"
                    ));
                }
                self.findings.other_checks += 1;
            }
            self.findings.moves += moves.len();
            self.findings.failures += failures.len();
        }
        let mut judged = Vec::new();
        for (expr, conjuncts) in &self.invariants {
            let Ok(judgement) = self.interpreter.judge(state, expr) else {
                judged.push(None);
                continue;
            };
            let holds = self
                .holds(&translated, conjuncts)
                .map_err(|stuck| format!("an invariant in {state:?}: {}", stuck.message()))?;
            if holds != judgement.holds() {
                return Err(format!(
                    "{translated:?}: {judgement:?}, and lowered {holds}"
                ));
            }
            judged.push(Some(holds));
        }
        for holds in judged {
            self.findings.judgements += usize::from(holds.is_some());
            self.findings.violations += usize::from(holds == Some(false));
            self.findings.limits += usize::from(holds.is_none());
        }
        Ok(following)
    }

    /// Whether an invariant holds: all its conjuncts, of all processes.
    fn holds(&self, state: &State, conjuncts: &[Conjunct]) -> Result<bool, Stuck> {
        // Checks come before what depends on them.
        for conjunct in conjuncts {
            let mut ways = vec![Vec::new()];
            for (var, template) in &conjunct.variables {
                let count = self.place(state).population(*template)?;
                let further = ways.iter().flat_map(|way: &Vec<(BoundId, i128)>| {
                    (0..count).map(|process| {
                        let mut way = way.clone();
                        way.push((*var, process));
                        way
                    })
                });
                ways = further.collect();
            }
            for bound in ways {
                let place = Place {
                    bound: &bound,
                    ..self.place(state)
                };
                if !place.truth_resolved(&conjunct.body)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The states that a process leads to, and the checks that fail.
    fn outcomes(
        &self,
        state: &State,
        process: ProcessRef,
    ) -> Result<(BTreeSet<State>, BTreeSet<Failure>), Stuck> {
        let mut moves = BTreeSet::new();
        let mut failures = BTreeSet::new();
        let paths = &self.family.templates[process.template].paths;
        for path in paths.iter().filter(|p| p.from == state.location(process)) {
            for choices in self.choices(state, process, path)? {
                let place = Place {
                    own: Some(i128::from(process.index)),
                    choices: &choices,
                    ..self.place(state)
                };
                match path.end {
                    PathEnd::Fails(kind, span) => {
                        failures.insert(Failure { kind, span });
                    }
                    PathEnd::At(location) => {
                        let mut after = self.written(place, path)?;
                        after.templates[process.template].locations[process.index as usize] =
                            location;
                        moves.extend(self.started(after, &path.starts, place)?);
                    }
                }
            }
        }
        Ok((moves, failures))
    }

    /// The choices with which the guard of a path holds.
    fn choices(
        &self,
        state: &State,
        process: ProcessRef,
        path: &Path,
    ) -> Result<Vec<Vec<Option<i128>>>, Stuck> {
        let mut found = Vec::new();
        let mut open = vec![(0, vec![None; path.choices as usize])];
        while let Some((mut position, choices)) = open.pop() {
            let place = Place {
                own: Some(i128::from(process.index)),
                choices: &choices,
                ..self.place(state)
            };
            let choice = loop {
                match path.guard.get(position).map(|f| place.truth_resolved(f)) {
                    None => {
                        found.push(choices.clone());
                        break None;
                    }
                    Some(Ok(true)) => position += 1,
                    Some(Ok(false)) => break None,
                    Some(Err(Stuck::Choice(choice))) => break Some(choice),
                    Some(Err(stuck)) => return Err(stuck),
                }
            };
            if let Some(choice) = choice {
                for value in range(place, path, choice)? {
                    let mut choices = choices.clone();
                    choices[choice as usize] = Some(value);
                    open.push((position, choices));
                }
            }
        }
        Ok(found)
    }

    /// The state after the writes of a path.
    fn written(&self, place: Place, path: &Path) -> Result<State, Stuck> {
        let Some((instance, state)) = place.state else {
            return wrong("no state");
        };
        let mut after = state.clone();
        for write in &path.writes {
            let mut written = BTreeSet::new();
            place.for_all(&write.each, &mut |place| {
                let (template, process, position) = match place.cell(&write.cell) {
                    Ok(cell) => cell,
                    Err(_) if place.keeps(&write.value, &write.cell)? => return Ok(()),
                    Err(stuck) => return Err(stuck),
                };
                let Ok(value) = i64::try_from(place.term(&write.value)?) else {
                    return wrong("written beyond 64 bits");
                };
                if !written.insert((template, process, position)) {
                    return wrong("a cell is written for two processes");
                }
                match template {
                    None => after.shared[position] = value,
                    Some(template) => {
                        let stride = instance.local_cells(template);
                        after.templates[template].cells[process * stride + position] = value;
                    }
                }
                Ok(())
            })?;
        }
        Ok(after)
    }

    /// The states with more processes.
    fn started(
        &self,
        state: State,
        starts: &[Started],
        before: Place,
    ) -> Result<Vec<State>, Stuck> {
        let mut states = vec![state];
        for start in starts {
            let started = &start.template;
            let template = &self.family.templates[*started];
            for state in &mut states {
                state.templates[*started].locations.push(template.entry);
            }
            for (local, variable) in template.locals.iter_enumerated() {
                let given = start.given.iter().find(|(given, _)| *given == local);
                if let Some((_, term)) = given {
                    let Ok(value) = i64::try_from(before.term(term)?) else {
                        return wrong("given beyond 64 bits");
                    };
                    for state in &mut states {
                        state.templates[*started].cells.push(value);
                    }
                    continue;
                }
                for _ in 0..self.instance.local(*started, local).len {
                    let mut further = Vec::new();
                    for state in states {
                        let place = Place {
                            own: Some(i128::from(state.count(*started)) - 1),
                            ..self.place(&state)
                        };
                        let (least, greatest) = bounds(place, variable)?;
                        for value in least..=greatest {
                            let mut next = state.clone();
                            next.templates[*started].cells.push(value as i64);
                            further.push(next);
                        }
                    }
                    states = further;
                }
            }
        }
        Ok(states)
    }
}

/// The values of a choice: what the guard says by itself.
fn range(place: Place, path: &Path, choice: u32) -> Result<std::ops::RangeInclusive<i128>, Stuck> {
    let (mut least, mut greatest) = (None, None);
    for formula in &path.guard {
        match formula {
            Formula::AtMost(Term::Choice(at), term) if *at == choice && greatest.is_none() => {
                greatest = Some(place.term(term)?);
            }
            Formula::AtMost(term, Term::Choice(at)) if *at == choice && least.is_none() => {
                least = Some(place.term(term)?);
            }
            _ => {}
        }
    }
    match (least, greatest) {
        (Some(least), Some(greatest)) if greatest - least < MAX_CHOICES => Ok(least..=greatest),
        _ => Err(Stuck::Choice(choice)),
    }
}

/// The least and the greatest value that a cell of a variable begins with.
fn bounds(place: Place, variable: &FamilyVariable) -> Result<(i128, i128), Stuck> {
    match (&variable.initial, &variable.least, &variable.greatest) {
        (Some(initial), ..) => place.term(initial).map(|value| (value, value)),
        (None, Some(least), Some(greatest)) => Ok((place.term(least)?, place.term(greatest)?)),
        _ => wrong("any of infinitely many values"),
    }
}

/// Checks what the cells of a variable begin with; gives in how many ways they can.
fn begins(place: Place, variable: &FamilyVariable, cells: &[i64]) -> Result<u128, String> {
    if cells.is_empty() {
        return Ok(1);
    }
    let (least, greatest) = bounds(place, variable).map_err(Stuck::message)?;
    if let Some(cell) = cells
        .iter()
        .find(|cell| !(least..=greatest).contains(&i128::from(**cell)))
    {
        return Err(format!("{} begins with {cell}", variable.name));
    }
    Ok(((greatest - least + 1) as u128).pow(cells.len() as u32))
}

/// What is to be said of parameter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    /// They are allowed, and there is an instance.
    Exists,
    /// An assumption excludes them.
    Excluded,
    /// They are not excluded, and there is no instance.
    Missing,
    /// An assumption cannot be evaluated: there is no instance.
    Undefined,
}

/// What a family says of parameter values, which are in the order of the parameters.
pub fn existence(family: &Family, values: &[i64]) -> Result<Existence, String> {
    let place = Place::new(family, values);
    let constraints: BTreeSet<_> = family
        .program()
        .params
        .iter()
        .filter_map(|param| Some(param.constraint.as_ref()?.span))
        .collect();
    let mut missing = false;
    let mut undefined = Vec::new();
    for requirement in &family.requirements {
        let truths: Vec<Result<bool, Stuck>> = match requirement.of {
            None => vec![place.truth(&requirement.formula)],
            Some(template) => {
                if matches!(family.templates[template].population, Population::Grows) {
                    return Err("a requirement of processes that are not there".to_owned());
                }
                match place.population(template) {
                    Err(stuck) => vec![Err(stuck)],
                    Ok(processes) => (0..processes)
                        .map(|own| {
                            let own = Some(own);
                            Place { own, ..place }.truth(&requirement.formula)
                        })
                        .collect(),
                }
            }
        };
        for truth in truths {
            match truth {
                Ok(true) => {}
                Ok(false) if constraints.contains(&requirement.span) => {
                    return Ok(Existence::Undefined);
                }
                Ok(false) => missing = true,
                Err(stuck) => undefined.push(stuck.message()),
            }
        }
    }
    for assumption in &family.assumptions {
        if !place.truth(assumption).map_err(Stuck::message)? {
            return Ok(Existence::Excluded);
        }
    }
    if missing {
        return Ok(Existence::Missing);
    }
    if let Some(undefined) = undefined.pop() {
        return Err(undefined);
    }
    Ok(Existence::Exists)
}
