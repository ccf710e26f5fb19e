//! The words of an outline: literals about cells, each with its set of states and its text.
//!
//! Both come from one value, so that what is printed is what was tested. Texts are expressions of the language, but for the holder of a
//! mutex, which the language cannot name. Ids are written relative to a process: `i` for itself, `j` for another one.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::Expression;
use threadwise_lang::program::TemplateId;
use threadwise_model::layout::locate;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellDomain, CellId, DimKind, ProcessId, Scope, System};
use threadwise_model::witness::Watched;
use threadwise_symbolic::{Bdd, Error, Symbolic};

/// A process by template and index.
pub(crate) type Id = (TemplateId, u32);

/// A statement about one cell or two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Literal {
    /// The cell has one of these values.
    In { cell: CellId, values: BTreeSet<i64> },
    /// Two cells compare like this.
    Compare { left: CellId, op: Op, right: CellId },
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Eq,
    Lt,
    Gt,
    Ne,
    Le,
    Ge,
}

impl Op {
    /// All of them, stronger ones first.
    pub(crate) const ALL: [Op; 6] = [Op::Eq, Op::Lt, Op::Gt, Op::Ne, Op::Le, Op::Ge];

    pub(crate) fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Op::Eq => left == right,
            Op::Lt => left < right,
            Op::Gt => left > right,
            Op::Ne => left != right,
            Op::Le => left <= right,
            Op::Ge => left >= right,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Op::Eq => "==",
            Op::Lt => "<",
            Op::Gt => ">",
            Op::Ne => "!=",
            Op::Le => "<=",
            Op::Ge => ">=",
        }
    }
}

impl Literal {
    /// The states in which it holds.
    pub(crate) fn states(&self, symbolic: &Symbolic) -> Result<Bdd, Error> {
        let d = &symbolic.diagrams;
        match self {
            Literal::In { cell, values } => among(symbolic, *cell, |value| values.contains(&value)),
            Literal::Compare { left, op, right } => {
                let mut states = d.none();
                for (value, code) in symbolic.encoding.cells[*left].codes() {
                    let here = symbolic.encoding.code(d, *left, *code, false)?;
                    let there = among(symbolic, *right, |other| op.holds(*value, other))?;
                    states = d.or(&states, &d.and(&here, &there)?)?;
                }
                Ok(states)
            }
        }
    }

    /// The same about other processes.
    pub(crate) fn moved(&self, system: &System, by: &Permutation) -> Literal {
        let cells = by.cells(system);
        match self {
            Literal::In { cell, values } => {
                let (to, domain) = cells[*cell];
                Literal::In {
                    cell: to,
                    values: values
                        .iter()
                        .map(|value| by.value(system, domain, *value))
                        .collect(),
                }
            }
            Literal::Compare { left, op, right } => Literal::Compare {
                left: cells[*left].0,
                op: *op,
                right: cells[*right].0,
            },
        }
    }

    /// The ids that it sets apart from all others but those that are named; `None` if it is not one that a text could name.
    pub(crate) fn ids(&self, symbolic: &Symbolic, named: &[Id]) -> Option<BTreeSet<Id>> {
        let system = symbolic.system;
        let mut ids = BTreeSet::new();
        match self {
            Literal::In { cell, values } => {
                ids.extend(indices(system, *cell));
                let domain = domain(system, *cell);
                let all: Vec<i64> = all_values(symbolic, *cell).into_iter().collect();
                let others = |inside: bool| -> Vec<Id> {
                    all.iter()
                        .filter(|value| values.contains(value) == inside)
                        .filter_map(|value| id_of(system, domain, *value))
                        .filter(|id| !named.contains(id))
                        .collect()
                };
                let (inside, outside) = (others(true), others(false));
                match (inside.as_slice(), outside.as_slice()) {
                    ([], _) | (_, []) => {}
                    ([one], _) | (_, [one]) => {
                        ids.insert(*one);
                    }
                    _ => return None,
                }
            }
            Literal::Compare { left, right, .. } => {
                ids.extend(indices(system, *left));
                ids.extend(indices(system, *right));
            }
        }
        ids.retain(|id| !named.contains(id) && !system.templates[id.0].single);
        Some(ids)
    }
}

fn among(symbolic: &Symbolic, cell: CellId, of: impl Fn(i64) -> bool) -> Result<Bdd, Error> {
    let d = &symbolic.diagrams;
    let mut states = d.none();
    for (value, code) in symbolic.encoding.cells[cell].codes() {
        if of(*value) {
            let here = symbolic.encoding.code(d, cell, *code, false)?;
            states = d.or(&states, &here)?;
        }
    }
    Ok(states)
}

/// The values that a cell can have.
pub(crate) fn all_values(symbolic: &Symbolic, cell: CellId) -> BTreeSet<i64> {
    let codes = symbolic.encoding.cells[cell].codes();
    codes.iter().map(|(value, _)| *value).collect()
}

/// The domain of a cell.
pub(crate) fn domain(system: &System, cell: CellId) -> CellDomain {
    locate(system, cell).map_or(CellDomain::Int, |(var, ..)| system.vars[var].domain)
}

/// The process that a value names.
fn id_of(system: &System, domain: CellDomain, value: i64) -> Option<Id> {
    let index = u32::try_from(value).ok()?;
    match domain {
        CellDomain::Id(template) | CellDomain::OptId(template) => Some((template, index)),
        CellDomain::Mutex => Some(id(system, ProcessId::from_raw(index))),
        _ => None,
    }
}

/// A process by template and index.
pub(crate) fn id(system: &System, process: ProcessId) -> Id {
    (system.template_of(process), system.index_of(process))
}

/// The processes that index a cell, or whose it is.
pub(crate) fn indices(system: &System, cell: CellId) -> Vec<Id> {
    let Some((var, copy, offset)) = locate(system, cell) else {
        return Vec::new();
    };
    let mut ids = Vec::new();
    if let Scope::Local(template) = system.vars[var].scope {
        ids.push((template, copy));
    }
    let mut rest = offset;
    for dim in system.vars[var].dims.iter().rev() {
        if let DimKind::Template(template) = dim.kind {
            ids.push((template, rest % dim.size));
        }
        rest /= dim.size;
    }
    ids
}

/// How processes are called.
#[derive(Clone)]
pub(crate) struct Naming<'a> {
    system: &'a System,
    names: BTreeMap<Id, String>,
}

impl<'a> Naming<'a> {
    /// Everybody by number.
    pub(crate) fn plain(system: &'a System) -> Self {
        Naming {
            system,
            names: BTreeMap::new(),
        }
    }

    /// Names for processes that a text speaks of as any, which nothing else in the program has.
    pub(crate) fn letters(system: &System) -> Vec<String> {
        let taken: BTreeSet<&str> = system
            .vars
            .iter()
            .map(|var| var.name.as_str())
            .chain(system.params.iter().map(|(name, _)| name.as_str()))
            .chain(system.enums.iter().flatten().map(String::as_str))
            .chain(system.templates.iter().map(|t| t.name.as_str()))
            .collect();
        let free = |name: &String| !taken.contains(name.as_str());
        let short = ('i'..='z').map(String::from);
        let long = (1..=taken.len() + 3).map(|number| format!("i{number}"));
        short.chain(long).filter(free).take(5).collect()
    }

    /// The same, and this process has a name.
    pub(crate) fn with(mut self, id: Id, name: &str) -> Self {
        let template = &self.system.templates[id.0];
        if template.single {
            return self;
        }
        if template.ring && template.count > 1 {
            let near = [("next", 1), ("prev", template.count - 1)];
            for (word, distance) in near {
                let there = (id.1 + distance) % template.count;
                self.names
                    .entry((id.0, there))
                    .or_insert_with(|| format!("{word}({name})"));
            }
        }
        self.called(id, name)
    }

    /// The same, and this process has a name, but its neighbours are not called by it.
    pub(crate) fn called(mut self, id: Id, name: &str) -> Self {
        self.names.insert(id, name.to_owned());
        self
    }

    /// The same with names for these alone: a number for who has none yet.
    pub(crate) fn only(&self, named: &[Id]) -> Self {
        Naming {
            system: self.system,
            names: named.iter().map(|id| (*id, self.id(*id))).collect(),
        }
    }

    /// What an id is called.
    pub(crate) fn id(&self, id: Id) -> String {
        let template = &self.system.templates[id.0];
        match self.names.get(&id) {
            Some(name) => name.clone(),
            None if template.single => template.name.clone(),
            None => (template.lowest_id + i64::from(id.1)).to_string(),
        }
    }

    /// What a process is called.
    pub(crate) fn process(&self, id: Id) -> String {
        let template = &self.system.templates[id.0];
        if template.single {
            template.name.clone()
        } else {
            format!("{}[{}]", template.name, self.id(id))
        }
    }

    /// What a cell is called; a program counter like its process.
    pub(crate) fn cell(&self, cell: CellId) -> String {
        let Some((id, copy, offset)) = locate(self.system, cell) else {
            return format!("cell {}", cell.index());
        };
        let var = &self.system.vars[id];
        let mut name = String::new();
        if let Scope::Local(template) = var.scope {
            name.push_str(&self.process((template, copy)));
            if matches!(var.domain, CellDomain::Location(_)) {
                return name;
            }
            name.push('.');
        }
        name.push_str(&var.name);
        let mut rest = offset;
        let mut indices = Vec::new();
        for dim in var.dims.iter().rev() {
            let index = rest % dim.size;
            rest /= dim.size;
            indices.push(match dim.kind {
                DimKind::Range(lo) => (lo + i64::from(index)).to_string(),
                DimKind::Template(template) => self.id((template, index)),
                DimKind::Enum(number) => self.member(number, i64::from(index)),
            });
        }
        for index in indices.iter().rev() {
            name.push_str(&format!("[{index}]"));
        }
        name
    }

    fn member(&self, number: u32, value: i64) -> String {
        let members = self.system.enums.get(number as usize);
        let member = members.and_then(|members| members.get(usize::try_from(value).ok()?));
        member.map_or_else(|| value.to_string(), Clone::clone)
    }

    fn value(&self, domain: CellDomain, value: i64) -> String {
        match domain {
            CellDomain::Bool => (value != 0).to_string(),
            CellDomain::Enum(number, _) => self.member(number, value),
            CellDomain::Location(template) => {
                let locations = &self.system.templates[template].locations;
                let location = usize::try_from(value).ok();
                let location = location.and_then(|location| locations.get(location));
                location.map_or_else(|| value.to_string(), Clone::clone)
            }
            CellDomain::Mutex => match id_of(self.system, domain, value) {
                Some(id) => self.process(id),
                None => "free".to_owned(),
            },
            CellDomain::Id(_) | CellDomain::OptId(_) => match id_of(self.system, domain, value) {
                Some(id) => self.id(id),
                None => "none".to_owned(),
            },
            CellDomain::Range(..) | CellDomain::Int => value.to_string(),
        }
    }

    /// Somebody of whom something holds: `P at critical`, `P with old = true`.
    pub(crate) fn somebody(&self, watched: Watched) -> String {
        let var = &self.system.vars[watched.var];
        let value = self.value(var.domain, watched.value);
        let template = match var.scope {
            Scope::Local(template) => self.system.templates[template].name.as_str(),
            Scope::Shared => "",
        };
        match var.domain {
            CellDomain::Location(_) => format!("{template} at {value}"),
            _ => format!("{template} with {} = {value}", var.name),
        }
    }

    /// That a cell has a value.
    pub(crate) fn equation(&self, cell: CellId, value: i64) -> String {
        // Among its neighbours, so that no shorter way to say it comes up.
        let all = value.saturating_sub(2)..=value.saturating_add(2);
        self.among(cell, &BTreeSet::from([value]), &all.collect())
            .to_string()
    }

    /// A literal as an expression. `all` are the values that a cell can have.
    pub(crate) fn literal(&self, literal: &Literal, all: &BTreeSet<i64>) -> Expression {
        match literal {
            Literal::Compare { left, op, right } => Expression::Comparison(format!(
                "{} {} {}",
                self.cell(*left),
                op.as_str(),
                self.cell(*right)
            )),
            Literal::In { cell, values } => self.among(*cell, values, all),
        }
    }

    fn among(&self, cell: CellId, values: &BTreeSet<i64>, all: &BTreeSet<i64>) -> Expression {
        let name = self.cell(cell);
        let domain = domain(self.system, cell);
        let without: BTreeSet<i64> = all.difference(values).copied().collect();
        match domain {
            _ if without.is_empty() => Expression::and(Vec::new()),
            _ if values.is_empty() => Expression::or(Vec::new()),
            CellDomain::Bool if values.contains(&1) => Expression::Atom(name),
            CellDomain::Bool => Expression::Not(Box::new(Expression::Atom(name))),
            CellDomain::Location(_) => {
                let at = |values: &BTreeSet<i64>| {
                    let labels: Vec<String> = values
                        .iter()
                        .map(|value| self.value(domain, *value))
                        .collect();
                    Expression::Comparison(match labels.as_slice() {
                        [label] => format!("{name} at {label}"),
                        labels => format!("{name} at {{{}}}", labels.join(", ")),
                    })
                };
                if without.len() < values.len() {
                    Expression::Not(Box::new(at(&without)))
                } else {
                    at(values)
                }
            }
            _ => self.compared(&name, domain, values, &without, all),
        }
    }

    /// A set of values by comparisons: with those in it, with those that are not, or as a range.
    fn compared(
        &self,
        name: &str,
        domain: CellDomain,
        values: &BTreeSet<i64>,
        without: &BTreeSet<i64>,
        all: &BTreeSet<i64>,
    ) -> Expression {
        let compared = |op: &str, value: i64| match domain {
            CellDomain::Mutex => {
                let (atom, positive) = match value {
                    -1 => (Expression::Atom(format!("locked({name})")), op == "!="),
                    _ => {
                        let holder = self.value(domain, value);
                        let holds = format!("{holder} holds {name}");
                        (Expression::Comparison(holds), op == "==")
                    }
                };
                if positive {
                    atom
                } else {
                    Expression::Not(Box::new(atom))
                }
            }
            _ => Expression::Comparison(format!("{name} {op} {}", self.value(domain, value))),
        };
        let equal = Expression::or(values.iter().map(|value| compared("==", *value)).collect());
        let unequal = Expression::and(without.iter().map(|value| compared("!=", *value)).collect());
        // Somebody without a name stands for all without one: then no number may be written.
        let nameless = |values: &BTreeSet<i64>| {
            let mut ids = values.iter().filter_map(|v| id_of(self.system, domain, *v));
            ids.any(|id| !self.names.contains_key(&id) && self.names.keys().any(|n| n.0 == id.0))
        };
        let mut ways = match (nameless(values), nameless(without)) {
            (true, false) => vec![unequal],
            (false, true) => vec![equal],
            _ => vec![equal, unequal],
        };
        if matches!(domain, CellDomain::Range(..) | CellDomain::Int)
            && let (Some(lo), Some(hi)) = (values.first(), values.last())
            && without.range(*lo..=*hi).next().is_none()
        {
            let mut bounds = Vec::new();
            if all.first() != Some(lo) {
                bounds.push(compared(">=", *lo));
            }
            if all.last() != Some(hi) {
                bounds.push(compared("<=", *hi));
            }
            ways.push(Expression::and(bounds));
        }
        let shortest = ways.into_iter().min_by_key(Expression::length);
        shortest.unwrap_or_else(|| Expression::and(Vec::new()))
    }
}
