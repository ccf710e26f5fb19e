//! The names of variables, and what they stand for.
//!
//! A name means the same in all conditions but for `$0` and the like, which is whoever the condition has as its first reference. So names have
//! numbers, those of the claim first, and formulas of all conditions are over the same numbers.

use std::collections::HashMap;
use std::fmt::Write;

use threadwise_evidence::arithmetic::{Atom, Formula, Variable};
use threadwise_evidence::family::FamilyClaim;
use threadwise_lang::program::{LocationId, ParamId, SharedId, TemplateId};
use threadwise_model::family::{Cell, Dimension, Family, Index, Term};

use super::among::Comparison;
use super::sums::Summed;
use crate::Error;

/// The numbers of names.
#[derive(Debug)]
pub struct Table {
    names: Vec<String>,
    numbers: HashMap<String, Variable>,
    /// What the claim's names stand for, where that has a meaning after a step as well as before it.
    symbols: Vec<Option<Symbol>>,
    /// The terms that are summed over processes.
    pub(crate) summed: Vec<Summed>,
    /// How processes are compared with references.
    pub(crate) compared: Vec<Comparison>,
}

/// What a name of a claim stands for, given references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A parameter.
    Param(ParamId),
    /// The id of a reference.
    Id(u32),
    /// A cell of a shared variable.
    Shared(SharedId, Vec<Place>),
    /// A cell of a reference's variable. Which one it is depends on its template.
    Local(u32, String, Vec<Place>),
    /// How many processes are at a label.
    Count(TemplateId, LocationId),
    /// Of how many of them a counted predicate holds.
    Counted(TemplateId, LocationId, usize),
    /// The sum of a term over them.
    Sum(TemplateId, LocationId, usize),
    /// Of how many of them, a reference left out, a comparison with the reference holds.
    Compared(Compared),
}

/// A number of processes that compare with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Compared {
    /// The template of those that are counted.
    pub(crate) template: TemplateId,
    /// Where they are.
    pub(crate) location: LocationId,
    /// The comparison, by its position in the claim.
    pub(crate) comparison: usize,
    /// The template of the reference.
    pub(crate) of: TemplateId,
    /// The reference.
    pub(crate) reference: u32,
}

/// An index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Position(i64),
    Reference(u32),
}

impl Table {
    /// The names of a claim.
    pub(crate) fn new(family: &Family, claim: &FamilyClaim) -> Result<Table, Error> {
        let mut table = Table {
            names: Vec::new(),
            numbers: HashMap::new(),
            symbols: Vec::new(),
            summed: Vec::new(),
            compared: Vec::new(),
        };
        for name in &claim.variables {
            if table.numbers.contains_key(name) {
                let message = format!("the variable `{name}` is listed twice");
                return Err(Error::no_proof(message));
            }
            table.number(name.clone());
            table.symbols.push(symbol(family, claim, name));
        }
        Ok(table)
    }

    /// The number of a name.
    pub(crate) fn number(&mut self, name: String) -> Variable {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        // Four billion names do not fit into memory.
        let number = self.names.len() as Variable;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// A name.
    pub fn name(&self, variable: Variable) -> &str {
        let name = self.names.get(variable as usize);
        name.map_or("?", String::as_str)
    }

    /// All names.
    #[cfg(test)]
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// What a variable of the claim stands for in an assertion.
    pub(crate) fn symbol(&self, variable: Variable) -> Result<&Symbol, Error> {
        let Some(symbol) = self.symbols.get(variable as usize) else {
            let message = format!("there is no variable with the number {variable}");
            return Err(Error::no_proof(message));
        };
        symbol.as_ref().ok_or_else(|| {
            let name = self.name(variable);
            Error::no_proof(format!(
                "`{name}` is nothing that an assertion can be about"
            ))
        })
    }

    /// A formula, for people.
    pub(crate) fn formula(&self, formula: &Formula) -> String {
        let (members, word) = match formula {
            Formula::Atom(atom) => return self.text(atom),
            Formula::And(members) if members.is_empty() => return "true".to_owned(),
            Formula::Or(members) if members.is_empty() => return "false".to_owned(),
            Formula::And(members) => (members, " && "),
            Formula::Or(members) => (members, " || "),
        };
        let members = members.iter().map(|member| match member {
            Formula::Atom(_) => self.formula(member),
            _ => format!("({})", self.formula(member)),
        });
        let members: Vec<String> = members.collect();
        members.join(word)
    }

    /// An inequality, for people.
    pub(crate) fn text(&self, atom: &Atom) -> String {
        let mut text = String::new();
        for (variable, coefficient) in &atom.terms {
            let sign = match (text.is_empty(), *coefficient < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            if coefficient.unsigned_abs() != 1 {
                // Writing to a text cannot fail.
                let _ = write!(text, "{} ", coefficient.unsigned_abs());
            }
            text.push_str(self.name(*variable));
        }
        if text.is_empty() {
            text.push('0');
        }
        let _ = write!(text, " <= {}", -i128::from(atom.constant));
        text
    }
}

/// What a name of a claim stands for.
pub(crate) fn symbol(family: &Family, claim: &FamilyClaim, name: &str) -> Option<Symbol> {
    if let Some(rest) = name.strip_prefix('+') {
        let (template, rest) = rest.split_once('.')?;
        let template = template_named(family, template)?;
        let (location, rest) = rest.split_once('[')?;
        let location = location_named(family, template, location)?;
        let number = usize::try_from(decimal(rest.strip_suffix(']')?)?).ok()?;
        let fits = claim.summed.get(number)?.template == family.templates[template].name;
        return fits.then_some(Symbol::Sum(template, location, number));
    }
    if let Some(rest) = name.strip_prefix('#') {
        let (template, rest) = rest.split_once('.')?;
        let template = template_named(family, template)?;
        let Some((location, rest)) = rest.split_once('[') else {
            return Some(Symbol::Count(
                template,
                location_named(family, template, rest)?,
            ));
        };
        let location = location_named(family, template, location)?;
        let rest = rest.strip_suffix(']')?;
        if let Some((number, reference)) = rest.split_once(':') {
            let comparison = usize::try_from(decimal(number)?).ok()?;
            let listed = claim.compared.get(comparison)?;
            let reference = decimal(reference.strip_prefix('$')?)?;
            let compared = Compared {
                template,
                location,
                comparison,
                of: template_named(family, &listed.of)?,
                reference: u32::try_from(reference).ok()?,
            };
            let fits = listed.template == family.templates[template].name;
            return fits.then_some(Symbol::Compared(compared));
        }
        let number = usize::try_from(decimal(rest)?).ok()?;
        let counted = claim.counted.get(number)?;
        let fits = counted.template == family.templates[template].name;
        return fits.then_some(Symbol::Counted(template, location, number));
    }
    let (base, places) = places(name)?;
    if let Some(rest) = base.strip_prefix('$') {
        let (reference, local) = match rest.split_once('.') {
            Some((reference, local)) => (reference, Some(local)),
            None => (rest, None),
        };
        let reference = u32::try_from(decimal(reference)?).ok()?;
        return match local {
            Some(local) => Some(Symbol::Local(reference, local.to_owned(), places)),
            None => places.is_empty().then_some(Symbol::Id(reference)),
        };
    }
    let params = &family.program().params;
    if let Some((id, _)) = params.iter_enumerated().find(|(_, p)| p.name == base) {
        let free = family.fixed[id].is_none() && places.is_empty();
        return free.then_some(Symbol::Param(id));
    }
    let mut shared = family.shared.iter_enumerated();
    let (id, _) = shared.find(|(_, variable)| variable.name == base)?;
    Some(Symbol::Shared(id, places))
}

/// The template with a name.
pub(crate) fn template_named(family: &Family, name: &str) -> Option<TemplateId> {
    let mut templates = family.templates.iter_enumerated();
    let (id, _) = templates.find(|(_, template)| template.name == name)?;
    Some(id)
}

/// The label with a name.
pub(crate) fn location_named(
    family: &Family,
    template: TemplateId,
    name: &str,
) -> Option<LocationId> {
    let mut locations = family.templates[template].locations.iter_enumerated();
    let (id, _) = locations.find(|(_, location)| *location == name)?;
    Some(id)
}

/// A number as it is printed, and no other way.
fn decimal(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// `a[2][$0]` as `a` and its indices.
fn places(name: &str) -> Option<(&str, Vec<Place>)> {
    let Some(open) = name.find('[') else {
        return Some((name, Vec::new()));
    };
    let (base, indices) = name.split_at(open);
    let indices = indices.strip_prefix('[')?.strip_suffix(']')?;
    let each = indices
        .split("][")
        .map(|index| match index.strip_prefix('$') {
            Some(reference) => {
                let reference = u32::try_from(decimal(reference)?).ok()?;
                Some(Place::Reference(reference))
            }
            None => Some(Place::Position(decimal(index)?)),
        });
    Some((base, each.collect::<Option<_>>()?))
}

impl Symbol {
    /// The same of other references: `to(i)` instead of `$i`.
    pub(crate) fn renamed(&self, to: &dyn Fn(u32) -> u32) -> Symbol {
        let each = |places: &[Place]| {
            let each = places.iter().map(|place| match place {
                Place::Position(position) => Place::Position(*position),
                Place::Reference(reference) => Place::Reference(to(*reference)),
            });
            each.collect()
        };
        match self {
            Symbol::Param(_) | Symbol::Count(..) | Symbol::Counted(..) | Symbol::Sum(..) => {
                self.clone()
            }
            Symbol::Compared(compared) => Symbol::Compared(Compared {
                reference: to(compared.reference),
                ..*compared
            }),
            Symbol::Id(reference) => Symbol::Id(to(*reference)),
            Symbol::Shared(var, places) => Symbol::Shared(*var, each(places)),
            Symbol::Local(owner, name, places) => {
                Symbol::Local(to(*owner), name.clone(), each(places))
            }
        }
    }

    /// Its name.
    pub(crate) fn name(&self, family: &Family) -> String {
        match self {
            Symbol::Param(param) => family.program().params[*param].name.clone(),
            Symbol::Id(reference) => id_name(*reference),
            Symbol::Shared(var, places) => with_places(family.shared[*var].name.clone(), places),
            Symbol::Local(owner, name, places) => with_places(format!("${owner}.{name}"), places),
            Symbol::Count(template, location) => count_name(family, *template, *location),
            Symbol::Counted(template, location, number) => {
                counted_name(family, *template, *location, *number)
            }
            Symbol::Sum(template, location, number) => {
                sum_name(family, *template, *location, *number)
            }
            Symbol::Compared(compared) => compared.name(family),
        }
    }

    /// Whether it makes sense if these are the templates of the references: if not, what does not.
    pub(crate) fn fits(
        &self,
        family: &Family,
        template_of: &dyn Fn(u32) -> Option<TemplateId>,
    ) -> Result<(), String> {
        let known = |reference: u32| {
            template_of(reference).ok_or_else(|| format!("there is no reference ${reference}"))
        };
        let (dims, places) = match self {
            Symbol::Param(_) | Symbol::Count(..) | Symbol::Counted(..) | Symbol::Sum(..) => {
                return Ok(());
            }
            Symbol::Id(reference) => return known(*reference).map(drop),
            Symbol::Compared(compared) => {
                return match known(compared.reference)? == compared.of {
                    true => Ok(()),
                    false => Err("the comparison is with processes of another template".to_owned()),
                };
            }
            Symbol::Shared(var, places) => (&family.shared[*var].dims, places),
            Symbol::Local(owner, name, places) => {
                let template = &family.templates[known(*owner)?];
                let mut locals = template.locals.iter();
                let local = locals.find(|local| local.name == *name);
                let local =
                    local.ok_or_else(|| format!("`{}` has no variable `{name}`", template.name))?;
                (&local.dims, places)
            }
        };
        if dims.len() != places.len() {
            return Err(format!("it has {} dimensions", dims.len()));
        }
        for (dim, place) in dims.iter().zip(places) {
            let fits = match (dim, place) {
                (Dimension::Positions { lowest, size }, Place::Position(position)) => {
                    let from_lowest = i128::from(*position) - i128::from(*lowest);
                    (0..i128::from(*size)).contains(&from_lowest)
                }
                (Dimension::Processes(template), Place::Reference(reference)) => {
                    known(*reference)? == *template
                }
                _ => false,
            };
            if !fits {
                return Err("an index does not fit its dimension".to_owned());
            }
        }
        Ok(())
    }

    /// The cell that it is, if it is one that [fits](Symbol::fits).
    pub(crate) fn cell(
        &self,
        family: &Family,
        template_of: &dyn Fn(u32) -> Option<TemplateId>,
    ) -> Option<Cell> {
        let indices = |places: &[Place]| {
            let each = places.iter().map(|place| match place {
                Place::Position(position) => Index::Position(*position),
                Place::Reference(reference) => Index::Process(Term::Reference(*reference)),
            });
            each.collect()
        };
        match self {
            Symbol::Shared(var, places) => Some(Cell::Shared {
                var: *var,
                indices: indices(places),
            }),
            Symbol::Local(owner, name, places) => {
                let template = template_of(*owner)?;
                let mut locals = family.templates[template].locals.iter_enumerated();
                let (var, _) = locals.find(|(_, local)| local.name == *name)?;
                Some(Cell::Local {
                    template,
                    process: Box::new(Term::Reference(*owner)),
                    var,
                    indices: indices(places),
                })
            }
            _ => None,
        }
    }
}

impl Compared {
    /// The name of the number.
    pub(crate) fn name(&self, family: &Family) -> String {
        let count = count_name(family, self.template, self.location);
        format!("{count}[{}:${}]", self.comparison, self.reference)
    }
}

/// Whether a comparison of a process with a reference holds, as 1 or 0.
pub(crate) fn comparison_name(process: u32, comparison: usize, reference: u32) -> String {
    format!("${process}:{comparison}:${reference}")
}

/// Whether it is a process at a label that keeps another one from a step, as 1 or 0.
pub(crate) fn blocker_name(
    family: &Family,
    process: u32,
    template: TemplateId,
    location: LocationId,
) -> String {
    let template = &family.templates[template];
    format!(
        "${process}@{}.{}",
        template.name, template.locations[location]
    )
}

fn with_places(mut name: String, places: &[Place]) -> String {
    for place in places {
        // Writing to a text cannot fail.
        let _ = match place {
            Place::Position(position) => write!(name, "[{position}]"),
            Place::Reference(reference) => write!(name, "[${reference}]"),
        };
    }
    name
}

/// The id of a reference.
pub(crate) fn id_name(reference: u32) -> String {
    format!("${reference}")
}

/// How many processes are at a label.
pub(crate) fn count_name(family: &Family, template: TemplateId, location: LocationId) -> String {
    let template = &family.templates[template];
    format!("#{}.{}", template.name, template.locations[location])
}

/// Of how many processes at a label a counted predicate holds.
pub(crate) fn counted_name(
    family: &Family,
    template: TemplateId,
    location: LocationId,
    number: usize,
) -> String {
    let mut name = count_name(family, template, location);
    // Writing to a text cannot fail.
    let _ = write!(name, "[{number}]");
    name
}

/// The sum of a term over the processes at a label.
pub(crate) fn sum_name(
    family: &Family,
    template: TemplateId,
    location: LocationId,
    number: usize,
) -> String {
    let template = &family.templates[template];
    format!(
        "+{}.{}[{number}]",
        template.name, template.locations[location]
    )
}

/// Whether a counted predicate holds of a reference, as 1 or 0.
pub(crate) fn indicator_name(reference: u32, number: usize) -> String {
    format!("${reference}:{number}")
}

/// A cell, if references are all that it is indexed by.
pub(crate) fn cell_name(family: &Family, cell: &Cell) -> Option<String> {
    let (mut name, indices) = match cell {
        Cell::Shared { var, indices } => (family.shared[*var].name.clone(), indices),
        Cell::Local {
            template,
            process,
            var,
            indices,
        } => {
            let Term::Reference(owner) = **process else {
                return None;
            };
            let local = &family.templates[*template].locals[*var].name;
            (format!("${owner}.{local}"), indices)
        }
    };
    for index in indices {
        // Writing to a text cannot fail.
        let _ = match index {
            Index::Position(position) => write!(name, "[{position}]"),
            Index::Process(Term::Reference(reference)) => write!(name, "[${reference}]"),
            Index::Process(_) => return None,
        };
    }
    Some(name)
}
