//! A state in the model's words: where the processes in scope are, and what variables hold.
//!
//! It is what the solver found, so nothing is said but values; what is at 0 by default, such as labels where nobody is, is left out.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use threadwise_evidence::arithmetic::Variable;
use threadwise_lang::program::{IdOrder, Scalar, TemplateId};
use threadwise_model::family::Family;
use threadwise_model::state::{FREE, NONE};

use super::words::{Words, process};
use super::{letters, lowest_ids};
use crate::conditions::{Cases, Instantiation};
use crate::lia::Model;
use crate::scope::{Form, Ghosts, Reference, Table, Var, single};

/// Facts of a state at most.
const FACTS: usize = 14;

/// Who is in scope, and what may be said of them.
pub(crate) struct Scene<'a> {
    family: &'a Family,
    table: Table,
    ghosts: &'a Ghosts,
    lowest: IndexVec<TemplateId, Form>,
    who: BTreeMap<u32, Reference>,
    variables: BTreeSet<Variable>,
    /// For each reference its template and its name; nothing of those that are not there.
    names: Vec<(TemplateId, String)>,
}

impl<'a> Scene<'a> {
    /// Those of whom something is assumed, and others that are known to be there.
    pub(crate) fn new<'i>(
        cases: &'a Cases<'_>,
        assumed: impl Iterator<Item = &'i Instantiation>,
        others: &[(u32, Reference)],
    ) -> Option<Scene<'a>> {
        let family = cases.family;
        let mut who: BTreeMap<u32, Reference> = others.iter().copied().collect();
        let mut variables = BTreeSet::new();
        for one in assumed {
            let references = cases.views[one.view].references.iter();
            who.extend(one.references.iter().copied().zip(references.copied()));
            let all = cases.variables[one.view].iter();
            variables.extend(all.map(|v| *one.renaming.get(v).unwrap_or(v)));
        }
        let mut table = cases.table.clone();
        let lowest = lowest_ids(family, &mut table).ok()?;
        Some(Scene {
            names: names(family, &who),
            family,
            table,
            ghosts: &cases.ghosts,
            lowest,
            who,
            variables,
        })
    }

    /// What a process is called.
    pub(crate) fn process(&self, reference: u32) -> Option<String> {
        let (template, name) = self.names.get(reference as usize)?;
        Some(process(self.family, *template, name))
    }

    /// Where everybody is, and what variables hold.
    pub(crate) fn state(&self, model: &Model) -> Option<String> {
        let mut words = Words {
            family: self.family,
            table: &self.table,
            ghosts: self.ghosts,
            lowest: &self.lowest,
            references: self.names.clone(),
            own: false,
            signs: BTreeSet::new(),
            somebody: "k".to_owned(),
        };
        let mut facts: Vec<(u8, String)> = Vec::new();
        for (number, reference) in &self.who {
            let template = &self.family.templates[reference.template];
            let label = &template.locations[reference.location];
            facts.push((0, format!("{} at {label}", self.process(*number)?)));
        }
        for variable in &self.variables {
            facts.extend(self.fact(&mut words, model, *variable));
        }
        facts.sort_by_key(|(rank, _)| *rank);
        let more = facts.len() > FACTS;
        let mut facts: Vec<String> = facts.into_iter().map(|(_, text)| text).collect();
        facts.truncate(FACTS);
        facts.extend(more.then(|| "..".to_owned()));
        Some(facts.join(", "))
    }

    /// What is to say about a variable, and how far at the end.
    fn fact(&self, words: &mut Words, model: &Model, variable: Variable) -> Option<(u8, String)> {
        let program = self.family.program();
        let value = model.value(variable);
        let (rank, scalar) = match self.table.var(variable) {
            Var::Counter(template, location) => {
                let here = Reference {
                    template: *template,
                    location: *location,
                };
                let known = self.who.values().filter(|one| **one == here).count() as i64;
                if value <= known || single(self.family, *template) {
                    return None;
                }
                let number = words.number(*template, *location);
                return Some((3, format!("{number} == {value}")));
            }
            Var::Counted(number, template, location, false) if value > 0 => {
                let number = words.counted(*number, *template, *location, true)?;
                return Some((3, format!("{number} == {value}")));
            }
            Var::Id(reference) => {
                let template = self.who.get(reference)?.template;
                if program.templates[template].order == IdOrder::Unordered
                    || single(self.family, template)
                {
                    return None;
                }
                (4, None)
            }
            Var::Param(_) => (4, None),
            Var::Shared(var, _) => (2, Some(&program.shared[*var].scalar)),
            Var::Local(_, template, var, _) => {
                let local = &program.templates[*template].locals[*var];
                (1, Some(&local.scalar))
            }
            _ => return None,
        };
        let text = match scalar {
            Some(Scalar::Id(template) | Scalar::OptId(template)) if value != NONE => {
                let name = words.name(variable)?;
                match self.called(model, *template, value) {
                    Some(one) => format!("{name} == {one}"),
                    None => format!("{name} is another one"),
                }
            }
            Some(Scalar::Mutex) if value != FREE => {
                let name = words.name(variable)?;
                let templates = self.family.templates.len() as i64;
                let template = usize::try_from(value.rem_euclid(templates)).ok()?;
                let template = TemplateId::from_usize(template);
                match self.called(model, template, value.div_euclid(templates)) {
                    Some(one) => format!("{} holds {name}", process(self.family, template, &one)),
                    None => format!("locked({name})"),
                }
            }
            _ => words.equals(variable, value)?.to_string(),
        };
        Some((rank, text))
    }

    /// What the process of a template with an id is called, if it is in scope.
    fn called(&self, model: &Model, template: TemplateId, id: i64) -> Option<String> {
        let mut who = self.who.iter();
        let (number, _) = who.find(|(number, reference)| {
            let known = self
                .table
                .known(&Var::Id(**number))
                .map(|own| model.value(own));
            reference.template == template && (single(self.family, template) || known == Some(id))
        })?;
        Some(self.names.get(*number as usize)?.1.clone())
    }
}

/// Different names for all processes in scope: the ones that their templates have for the id, as long as they are free.
fn names(family: &Family, who: &BTreeMap<u32, Reference>) -> Vec<(TemplateId, String)> {
    let letters = letters(family);
    let first = letters.first().cloned().unwrap_or_default();
    let further = (1..=who.len()).map(|number| format!("{first}{number}"));
    let spare: Vec<String> = letters.into_iter().chain(further).collect();
    let size = who.keys().last().map_or(0, |last| *last as usize + 1);
    let mut names = vec![(TemplateId::from_usize(0), String::new()); size];
    let mut taken = BTreeSet::new();
    for (number, reference) in who {
        let declared = family.program().templates[reference.template]
            .id_name
            .as_ref();
        let mut free = declared.into_iter().chain(&spare);
        let name = match single(family, reference.template) {
            true => family.templates[reference.template].name.clone(),
            false => free
                .find(|name| !taken.contains(*name))
                .cloned()
                .unwrap_or_default(),
        };
        taken.insert(name.clone());
        names[*number as usize] = (reference.template, name);
    }
    names
}
