//! Why nobody waits for ever, readable: the deletions of a claim one after the other, in the model's words.

use std::cell::RefCell;
use std::collections::BTreeSet;

use threadwise_evidence::Expression;
use threadwise_evidence::arithmetic::{Formula as Linear, Variable};
use threadwise_evidence::family::{Deleted, Deletion, FairClaim, Least, Transition};
use threadwise_lang::program::TemplateId;
use threadwise_model::family::{Family, Liveness, PathEnd, Term};

use super::words::{Sign, add_to};
use super::{Reader, Writer};
use crate::scope::{Reference, Var};

/// What the deletions of a claim say.
pub(super) struct Argument<'a> {
    pub(super) writer: &'a Writer<'a>,
    pub(super) reader: &'a Reader,
    pub(super) liveness: &'a Liveness,
    pub(super) fair: &'a FairClaim,
    /// What was used that has to be explained.
    pub(super) signs: RefCell<BTreeSet<Sign>>,
}

impl Argument<'_> {
    /// One line for each deletion; nothing if one cannot be said.
    pub(super) fn lines(&self) -> Option<Vec<String>> {
        let deletions = self.fair.deletions.iter();
        let mut lines: Vec<String> = deletions
            .map(|deletion| self.line(deletion))
            .collect::<Option<_>>()?;
        lines.push("So no fair run waits for ever: nothing is left that it could do.".to_owned());
        Some(lines)
    }

    fn family(&self) -> &Family {
        self.writer.family
    }

    /// The process that waits.
    fn own(&self) -> Option<(TemplateId, String)> {
        let (_, template) = self.liveness.reference?;
        let names = self.writer.names(&[template]);
        let lowest = &self.family().templates[template].lowest_id;
        let name = match (&self.liveness.named, lowest) {
            (Some(Term::Number(id)), Term::Number(lowest)) => id.checked_add(*lowest)?.to_string(),
            _ => names[0].clone(),
        };
        let name = super::words::process(self.family(), template, &name);
        Some((template, name))
    }

    fn line(&self, deletion: &Deletion) -> Option<String> {
        Some(match deletion {
            Deletion::Impossible { transitions } => {
                format!(
                    "These steps are no longer taken: {}.",
                    self.steps(transitions.iter())?
                )
            }
            Deletion::Leave { transitions } => {
                let steps = self.steps(transitions.iter())?;
                format!("These steps lead to where nothing leads back from: {steps}.")
            }
            Deletion::Rank { terms, least } => {
                let sum = self.sum(terms)?;
                format!("{sum} never grows, and is at least {least}: in the end it stays as it is.")
            }
            Deletion::Oneself { states } => {
                let (_, own) = self.own()?;
                let states = self.states(std::slice::from_ref(states))?;
                format!("{own} has a step and will be scheduled, so this does not last: {states}.")
            }
            Deletion::Somebody {
                template,
                location,
                states,
                ..
            } => {
                let states = self.states(states)?;
                let who = match self.own() {
                    Some(_) => "Whoever else",
                    None => "Whoever",
                };
                format!(
                    "{who} of {template} is at {location} has a step and will be scheduled, so this does not last: {states}."
                )
            }
            Deletion::Least { least, states } => {
                let states = self.states(states)?;
                let Least {
                    template, location, ..
                } = least;
                format!(
                    "Of those of {template} at {location} the first one has a step, and will be scheduled; nobody comes before it meanwhile, so this does not last: {states}."
                )
            }
            Deletion::Everybody { states } => {
                let states = self.states(states)?;
                format!("Whoever is scheduled has a step, so this does not last: {states}.")
            }
            Deletion::Promise {
                assumption,
                own,
                states,
            } => {
                let declared = self.liveness.pairs.get(*assumption)?.declared;
                let program = self.family().program();
                let by = match declared {
                    Some(id) => format!("By the fairness `{}`", program.fairness[id].name),
                    None => "By what the property assumes".to_owned(),
                };
                let of = match self.own().filter(|_| *own) {
                    Some((_, own)) => format!(" of {own}"),
                    None => String::new(),
                };
                let states = self.states(states)?;
                format!(
                    "{by}{of}, this does not come again and again, as what would have to follow never does: {states}."
                )
            }
        })
    }

    /// Steps: `P from leave to idle`.
    fn steps<'t>(&self, transitions: impl Iterator<Item = &'t Transition>) -> Option<String> {
        let mut said: Vec<String> = Vec::new();
        for transition in transitions {
            let (template, who) = match &transition.other {
                None => self.own()?,
                Some(name) => {
                    let mut templates = self.family().templates.iter_enumerated();
                    let (id, _) = templates.find(|(_, template)| template.name == *name)?;
                    let other = self.own().is_some_and(|(own, _)| own == id);
                    (
                        id,
                        if other {
                            format!("another {name}")
                        } else {
                            name.clone()
                        },
                    )
                }
            };
            let declared = &self.family().templates[template];
            let path = declared.paths.get(transition.path)?;
            let PathEnd::At(to) = path.end else {
                return None;
            };
            let (from, to) = (&declared.locations[path.from], &declared.locations[to]);
            let step = format!("{who} from {from} to {to}");
            if !said.contains(&step) {
                said.push(step);
            }
        }
        Some(said.join(", "))
    }

    /// States at labels of the process that waits.
    fn states(&self, deleted: &[Deleted]) -> Option<String> {
        let mut said: Vec<(String, Vec<String>)> = Vec::new();
        for one in deleted {
            let text = self.formula(&one.states)?.to_string();
            let location = self.fair.controls.get(one.control)?.location.clone();
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, locations)) => locations.extend(location),
                None => said.push((text, location.into_iter().collect())),
            }
        }
        let all = self.fair.controls.len();
        let each = said.into_iter().map(|(text, locations)| match self.own() {
            Some((_, own)) if all > 1 || text == "true" => match locations.as_slice() {
                [one] => format!("{own} at {one} && {text}"),
                several => format!("{own} at {{{}}} && {text}", several.join(", ")),
            },
            _ => text,
        });
        let each: Vec<String> = each.map(|text| text.replace(" && true", "")).collect();
        Some(each.join(", or "))
    }

    /// The process that waits, at some label.
    fn references(&self) -> Vec<Reference> {
        let own = self.liveness.reference.map(|(_, template)| Reference {
            template,
            location: self.family().templates[template].entry,
        });
        own.into_iter().collect()
    }

    fn formula(&self, formula: &Linear) -> Option<Expression> {
        let formula = self.reader.renumbered(formula)?;
        let mut words = self.writer.words(&self.references());
        let said = words.formula(&formula);
        self.signs.borrow_mut().append(&mut words.signs);
        said
    }

    /// A sum.
    fn sum(&self, terms: &[(Variable, i64)]) -> Option<String> {
        let mut words = self.writer.words(&self.references());
        let mut sum = String::new();
        let mut summed: BTreeSet<u32> = BTreeSet::new();
        for (variable, factor) in terms {
            let variable = self.reader.variables.get(*variable as usize).copied()??;
            let text = match self.reader.table.var(variable) {
                Var::Counter(template, location) => words.number(*template, *location),
                Var::Counted(number, template, location, _) => {
                    words.counted(*number, *template, *location, true)?
                }
                Var::Sum(number, template, location, _) => {
                    let locations = self.family().templates[*template].locations.indices();
                    let mut everywhere = locations.map(|location| {
                        let sum = Var::Sum(*number, *template, location, false);
                        terms.iter().any(|(other, by)| {
                            let known = self.reader.variables.get(*other as usize);
                            let known = known.copied().flatten();
                            let var = known.map(|known| self.reader.table.var(known));
                            by == factor && var == Some(&sum)
                        })
                    });
                    match everywhere.all(|everywhere| everywhere) {
                        true if !summed.insert(*number) => continue,
                        true => words.summed(*number, *template, None)?,
                        false => words.summed(*number, *template, Some(*location))?,
                    }
                }
                Var::Compared(at, _) => words.compared(*at)?,
                _ => words.name(variable)?,
            };
            add_to(&mut sum, *factor, &text);
        }
        self.signs.borrow_mut().append(&mut words.signs);
        Some(sum)
    }
}
