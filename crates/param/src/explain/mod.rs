//! The proof, readable: what the assertions of a claim say, as an outline in the manner of Owicki and Gries.
//!
//! What is claimed of no process in particular always holds; what is claimed of one holds at its label; what is claimed of two, while both are at theirs. A claim has
//! what its proofs use, which is often more than has to be said: what follows from the rest, or from types and from
//! what numbers of processes are, is left out, and equations are put in their shortest form. Both are tested by the solver, so what is said is all of the invariant.

mod excluded;
mod fair;
mod scene;
mod shorten;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use index_vec::IndexVec;
use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Overflow, Variable};
use threadwise_evidence::family::{Excluded, FamilyClaim, Reference as Named};
use threadwise_evidence::{Expression, LabelOutline, OtherOutline, Outline, ProcessOutline};
use threadwise_lang::program::{LocationId, Program, TemplateId};
use threadwise_model::family::Family;

use self::fair::Argument;
pub(crate) use self::scene::Scene;
use self::shorten::Shortener;
use self::words::{Sign, Words, joined, process};
use crate::conditions::{View, view_variables};
use crate::scope::{
    Comparison, Counted, Form, Ghosts, Reference, Scope, Table, Translator, single,
};
use crate::sums::Summed;

/// An assertion of a view.
struct Stated {
    references: Vec<Reference>,
    facts: Vec<Linear>,
}

/// What a claim says, as an outline; nothing if it takes too long, or if it is not about the family.
pub(crate) fn outline(
    program: &Arc<Program>,
    fixed: &BTreeMap<String, i64>,
    property: &str,
    claim: &FamilyClaim,
    stop: &dyn Fn() -> bool,
) -> Option<Outline> {
    let family = &Family::new(Arc::clone(program), fixed).ok()?;
    if claim.excluded.is_some() {
        return excluded::outline(family, claim);
    }
    let liveness = family.liveness(property).ok()?;
    let mut reader = Reader::new(family, claim)?;
    let mut stated = Vec::new();
    let mut views: Vec<(Vec<Reference>, Vec<Linear>)> = Vec::new();
    for view in &claim.views {
        let references = view.references.iter().map(|named| find(family, named));
        let assertions = view.assertions.iter().map(|a| reader.renumbered(a));
        views.push((
            references.collect::<Option<_>>()?,
            assertions.collect::<Option<_>>()?,
        ));
    }
    // What is known of fewer processes need not be said of more.
    views.sort_by_key(|(references, _)| (references.len(), references.clone()));
    let mut shortener = Shortener::new(family, &mut reader.table, &reader.ghosts, stop);
    for (references, assertions) in views {
        let facts = shortener.shortest(&references, assertions, &stated)?;
        stated.push(Stated { references, facts });
    }
    let lowest = lowest_ids(family, &mut reader.table).ok()?;
    let writer = Writer {
        family,
        table: &reader.table,
        ghosts: &reader.ghosts,
        lowest: &lowest,
        letters: letters(family),
    };
    let argument = liveness
        .as_ref()
        .zip(claim.fair.as_deref())
        .map(|(liveness, fair)| Argument {
            writer: &writer,
            reader: &reader,
            liveness,
            fair,
            signs: RefCell::default(),
        });
    Some(writer.write(&stated, argument))
}

/// A situation of a few processes, all different, in words.
pub(crate) fn situation(family: &Family, situation: &Excluded) -> Option<String> {
    excluded::situation(family, situation)
}

/// A reference by what a claim calls it.
fn find(family: &Family, named: &Named) -> Option<Reference> {
    let mut templates = family.templates.iter_enumerated();
    let (template, declaration) = templates.find(|(_, t)| t.name == named.template)?;
    let mut locations = declaration.locations.iter_enumerated();
    let (location, _) = locations.find(|(_, name)| **name == named.location)?;
    Some(Reference { template, location })
}

/// The number that people see for the id 0 of each template.
fn lowest_ids(family: &Family, table: &mut Table) -> Result<IndexVec<TemplateId, Form>, Overflow> {
    let scope = Scope::default();
    let mut translator = Translator::new(family, table, &scope);
    let templates = family.templates.iter();
    templates
        .map(|template| translator.term(&template.lowest_id))
        .collect()
}

/// Names that nothing in the program has.
fn letters(family: &Family) -> Vec<String> {
    let program = family.program();
    let locals = program.templates.iter().flat_map(|t| &t.locals);
    let variables = program.shared.iter().chain(locals);
    let taken: BTreeSet<&str> = variables
        .map(|variable| variable.name.as_str())
        .chain(program.params.iter().map(|param| param.name.as_str()))
        .chain(
            program
                .enums
                .iter()
                .flat_map(|e| &e.members)
                .map(String::as_str),
        )
        .chain(program.templates.iter().map(|t| t.name.as_str()))
        .collect();
    let short = ('i'..='z').map(String::from);
    let long = (1..=taken.len() + 3).map(|number| format!("i{number}"));
    let free = short
        .chain(long)
        .filter(|name| !taken.contains(name.as_str()));
    free.take(5).collect()
}

/// The variables of a claim by their names.
struct Reader {
    table: Table,
    ghosts: Ghosts,
    /// For each variable of the claim, the one in the table.
    variables: Vec<Option<Variable>>,
}

impl Reader {
    fn new(family: &Family, claim: &FamilyClaim) -> Option<Reader> {
        let mut table = Table::default();
        let mut names: HashMap<String, Variable> = HashMap::new();
        let register = |table: &mut Table, ghosts: &Ghosts, references: Vec<Reference>| {
            let view = View { references };
            let variables = view_variables(family, table, ghosts, &view, true);
            let each = variables.iter();
            each.map(|v| (table.name(family, *v), *v))
                .collect::<Vec<_>>()
        };
        let mut all: Vec<Vec<Reference>> = vec![Vec::new()];
        for view in &claim.views {
            let references = view.references.iter().map(|named| find(family, named));
            all.push(references.collect::<Option<_>>()?);
        }
        let mut summed = Vec::new();
        let mut ghosts = Ghosts::default();
        let none = Ghosts::default();
        for predicate in &claim.counted {
            let mut templates = family.templates.iter_enumerated();
            let (template, declaration) = templates.find(|(_, t)| t.name == predicate.template)?;
            let location = declaration.entry;
            let found = register(&mut table, &none, vec![Reference { template, location }]);
            let names: HashMap<String, Variable> = found.into_iter().collect();
            let Linear::Atom(atom) = &predicate.predicate else {
                return None;
            };
            let terms = atom.terms.iter().map(|(variable, factor)| {
                let name = claim.variables.get(*variable as usize)?;
                Some((*names.get(name)?, *factor))
            });
            let terms: Vec<(Variable, i64)> = terms.collect::<Option<_>>()?;
            let predicate = Atom::at_most_zero(terms, atom.constant).ok()?;
            ghosts.counted.push(Counted {
                template,
                predicate,
            });
        }
        for listed in &claim.summed {
            let mut templates = family.templates.iter_enumerated();
            let (template, declaration) = templates.find(|(_, t)| t.name == listed.template)?;
            let location = declaration.entry;
            let found = register(&mut table, &none, vec![Reference { template, location }]);
            let names: HashMap<String, Variable> = found.into_iter().collect();
            let terms = listed.terms.iter().map(|(variable, factor)| {
                let name = claim.variables.get(*variable as usize)?;
                Some((*names.get(name)?, *factor))
            });
            let mut terms: Vec<(Variable, i64)> = terms.collect::<Option<_>>()?;
            terms.sort_unstable();
            summed.push(Summed {
                template,
                term: Form {
                    terms,
                    constant: listed.constant,
                },
                most: None,
            });
        }
        table.summed = summed;
        for listed in &claim.compared {
            let mut places = Vec::new();
            for name in [&listed.template, &listed.of] {
                let mut templates = family.templates.iter_enumerated();
                let (template, declaration) = templates.find(|(_, t)| t.name == *name)?;
                let location = declaration.entry;
                places.push(Reference { template, location });
            }
            let [template, of] = [places[0].template, places[1].template];
            let found = register(&mut table, &none, places);
            let names: HashMap<String, Variable> = found.into_iter().collect();
            let predicate = map_atoms(&listed.predicate, &mut |atom| {
                let terms = atom.terms.iter().map(|(variable, factor)| {
                    let name = claim.variables.get(*variable as usize)?;
                    Some((*names.get(name)?, *factor))
                });
                let terms: Vec<(Variable, i64)> = terms.collect::<Option<_>>()?;
                Atom::at_most_zero(terms, atom.constant).ok()
            });
            ghosts.compared.push(Comparison {
                template,
                of,
                predicate: predicate?,
                order: listed.order,
            });
        }
        for references in all {
            names.extend(register(&mut table, &ghosts, references));
        }
        // Proofs name other things, which assertions do not.
        let variables = claim.variables.iter();
        let variables = variables.map(|name| names.get(name).copied()).collect();
        Some(Reader {
            table,
            ghosts,
            variables,
        })
    }

    fn renumbered(&self, formula: &Linear) -> Option<Linear> {
        map_atoms(formula, &mut |atom| {
            let terms = atom.terms.iter().map(|(variable, factor)| {
                let variable = self.variables.get(*variable as usize)?;
                Some(((*variable)?, *factor))
            });
            let terms: Vec<(Variable, i64)> = terms.collect::<Option<_>>()?;
            Atom::at_most_zero(terms, atom.constant).ok()
        })
    }
}

/// A formula with other inequalities.
fn map_atoms(formula: &Linear, map: &mut dyn FnMut(&Atom) -> Option<Atom>) -> Option<Linear> {
    let mut each = |members: &[Linear]| -> Option<Vec<Linear>> {
        let members = members.iter();
        members.map(|member| map_atoms(member, map)).collect()
    };
    Some(match formula {
        Linear::And(members) => Linear::And(each(members)?),
        Linear::Or(members) => Linear::Or(each(members)?),
        Linear::Atom(atom) => Linear::Atom(map(atom)?),
    })
}

/// Writes an outline.
struct Writer<'a> {
    family: &'a Family,
    table: &'a Table,
    ghosts: &'a Ghosts,
    lowest: &'a IndexVec<TemplateId, Form>,
    /// Names for processes.
    letters: Vec<String>,
}

/// What is said of two processes of two templates, by their labels.
#[derive(Default)]
struct Pairs {
    /// Those that are never together.
    never: BTreeSet<(LocationId, LocationId)>,
    facts: Vec<(LocationId, LocationId, Expression)>,
}

impl Writer<'_> {
    fn write(&self, stated: &[Stated], argument: Option<Argument<'_>>) -> Outline {
        let mut outline = Outline {
            whole: true,
            ..Outline::default()
        };
        let mut signs = BTreeSet::new();
        let mut own: BTreeMap<TemplateId, Vec<(LocationId, Vec<Expression>)>> = BTreeMap::new();
        let mut pairs: BTreeMap<(TemplateId, TemplateId), Pairs> = BTreeMap::new();
        for view in stated {
            let mut words = self.words(&view.references);
            let mut facts = Vec::new();
            for fact in &view.facts {
                match words.formula(fact) {
                    Some(text) => facts.push(text),
                    None => outline.whole = false,
                }
            }
            signs.append(&mut words.signs);
            let facts = joined(facts);
            match view.references.as_slice() {
                _ if facts.is_empty() => {}
                [] => outline
                    .always
                    .extend(facts.iter().map(Expression::to_string)),
                [one] => own
                    .entry(one.template)
                    .or_default()
                    .push((one.location, facts)),
                [one, two] => {
                    let pair = pairs.entry((one.template, two.template)).or_default();
                    let places = (one.location, two.location);
                    match view.facts.iter().any(|fact| fact.truth() == Some(false)) {
                        true => {
                            pair.never.insert(places);
                        }
                        false => pair
                            .facts
                            .push((places.0, places.1, Expression::and(facts))),
                    }
                }
                _ => outline.whole = false,
            }
        }
        for (template, places) in own {
            outline.processes.push(self.labels(template, places));
        }
        for ((one, two), pairs) in pairs {
            outline.processes.push(self.pairs(one, two, pairs));
        }
        if outline.whole && outline.always.is_empty() && outline.processes.is_empty() {
            let nothing = "No invariant is needed.";
            outline.argument.push(nothing.to_owned());
        }
        if let Some(argument) = argument {
            outline.argument = argument.lines().unwrap_or_default();
            signs.append(&mut argument.signs.borrow_mut());
        }
        let meanings: Vec<&str> = signs.into_iter().map(Sign::meaning).collect();
        outline.notation = (!meanings.is_empty()).then(|| meanings.join("; "));
        outline
    }

    fn words(&self, references: &[Reference]) -> Words<'_> {
        let templates: Vec<TemplateId> = references.iter().map(|r| r.template).collect();
        let names = self.names(&templates);
        let mut letters = self.letters.iter();
        let somebody = letters.find(|letter| !names.contains(letter));
        Words {
            family: self.family,
            table: self.table,
            ghosts: self.ghosts,
            lowest: self.lowest,
            references: templates.into_iter().zip(names.iter().cloned()).collect(),
            own: references.len() == 1,
            signs: BTreeSet::new(),
            somebody: somebody.cloned().unwrap_or_default(),
        }
    }

    /// Names for processes: the one that the template has for the id, if it is free.
    fn names(&self, templates: &[TemplateId]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for template in templates {
            let declared = self.family.program().templates[*template].id_name.as_ref();
            let name = match single(self.family, *template) {
                true => self.family.templates[*template].name.clone(),
                false => declared
                    .into_iter()
                    .chain(&self.letters)
                    .find(|name| !names.contains(name))
                    .cloned()
                    .unwrap_or_default(),
            };
            names.push(name);
        }
        names
    }

    /// What stands for every process of a template.
    fn binder(&self, template: TemplateId, name: &str) -> Option<String> {
        let declaration = &self.family.templates[template];
        (!single(self.family, template)).then(|| format!("{name} in {}", declaration.name))
    }

    fn label(&self, template: TemplateId, location: LocationId) -> String {
        self.family.templates[template].locations[location].clone()
    }

    /// What holds at the labels of every process of a template.
    fn labels(
        &self,
        template: TemplateId,
        places: Vec<(LocationId, Vec<Expression>)>,
    ) -> ProcessOutline {
        let names = self.names(&[template]);
        ProcessOutline {
            process: process(self.family, template, &names[0]),
            binder: self.binder(template, &names[0]),
            among: Vec::new(),
            other: None,
            labels: LabelOutline::by_facts(places.into_iter().map(|(location, facts)| {
                LabelOutline {
                    labels: vec![self.label(template, location)],
                    holds: facts.iter().map(Expression::to_string).collect(),
                    omitted: None,
                }
            })),
        }
    }

    /// What holds of two processes: for the labels of the first, what is said of the second.
    fn pairs(&self, one: TemplateId, two: TemplateId, pairs: Pairs) -> ProcessOutline {
        let names = self.names(&[one, two]);
        let other = process(self.family, two, &names[1]);
        let at = |locations: &[LocationId]| {
            let labels: Vec<String> = locations.iter().map(|l| self.label(two, *l)).collect();
            Expression::Comparison(match labels.as_slice() {
                [label] => format!("{other} at {label}"),
                labels => format!("{other} at {{{}}}", labels.join(", ")),
            })
        };
        let mut holds: BTreeMap<LocationId, Vec<Expression>> = BTreeMap::new();
        for (locations, others) in exclusions(&pairs.never, one == two) {
            for location in locations {
                let never = Expression::Not(Box::new(at(&others)));
                holds.entry(location).or_default().push(never);
            }
        }
        let mut same: Vec<(LocationId, Vec<LocationId>, Expression)> = Vec::new();
        for (location, other, fact) in pairs.facts {
            let known = same
                .iter_mut()
                .find(|(first, _, known)| *first == location && *known == fact);
            match known {
                Some((_, others, _)) => others.push(other),
                None => same.push((location, vec![other], fact)),
            }
        }
        for (location, others, fact) in same {
            let (given, fact) = match fact {
                Expression::Implies(given, fact) => (vec![at(&others), *given], *fact),
                fact => (vec![at(&others)], fact),
            };
            let text = Expression::Implies(Box::new(Expression::and(given)), Box::new(fact));
            holds.entry(location).or_default().push(text);
        }
        ProcessOutline {
            process: process(self.family, one, &names[0]),
            binder: self.binder(one, &names[0]),
            among: Vec::new(),
            other: Some(OtherOutline {
                process: other.clone(),
                binder: self.binder(two, &names[1]),
                among: Vec::new(),
                condition: (one == two).then(|| format!("{} != {}", names[1], names[0])),
            }),
            labels: LabelOutline::by_facts(holds.into_iter().map(|(location, facts)| {
                LabelOutline {
                    labels: vec![self.label(one, location)],
                    holds: facts.iter().map(Expression::to_string).collect(),
                    omitted: None,
                }
            })),
        }
    }
}

/// Who is never together, in few words: labels with the same others are taken together. Where both processes can change places, what is said from one side is not said again from the other.
fn exclusions(
    never: &BTreeSet<(LocationId, LocationId)>,
    alike: bool,
) -> Vec<(Vec<LocationId>, Vec<LocationId>)> {
    let mut others: BTreeMap<LocationId, BTreeSet<LocationId>> = BTreeMap::new();
    for (one, two) in never {
        others.entry(*one).or_default().insert(*two);
        if alike {
            others.entry(*two).or_default().insert(*one);
        }
    }
    let mut groups: Vec<(Vec<LocationId>, Vec<LocationId>)> = Vec::new();
    for (location, others) in others {
        let others: Vec<LocationId> = others.into_iter().collect();
        match groups.iter_mut().find(|(_, known)| *known == others) {
            Some((locations, _)) => locations.push(location),
            None => groups.push((vec![location], others)),
        }
    }
    let mut open = never.clone();
    groups.retain(|(locations, others)| {
        let before = open.len();
        open.retain(|(one, two)| {
            let said = |a: &LocationId, b: &LocationId| locations.contains(a) && others.contains(b);
            !(said(one, two) || alike && said(two, one))
        });
        open.len() < before
    });
    groups
}

#[cfg(test)]
mod tests;
