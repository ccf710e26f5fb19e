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
        let mut lines = vec![self.opening()];
        for deletion in deletions {
            lines.push(self.line(deletion)?);
        }
        lines.push(
            "Nothing is left that a fair run could do for ever, so there is no such run."
                .to_owned(),
        );
        Some(lines)
    }

    /// What is supposed, and refuted.
    fn opening(&self) -> String {
        let suppose = match (self.liveness.fails, self.own()) {
            (Some(_), _) => "Suppose a fair run violates the property again and again".to_owned(),
            (None, None) => "Suppose a fair run waits for ever".to_owned(),
            (None, Some((_, own))) => {
                let controls = self.fair.controls.iter();
                let labels: Vec<&str> = controls
                    .filter_map(|control| control.location.as_deref())
                    .collect();
                let labels = labels.join(", ");
                format!("Suppose {own} waits for ever in a fair run, at {labels}")
            }
        };
        format!(
            "{suppose}. What such a run does only finitely often is excluded, one thing after the other:"
        )
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
                format!("Nothing leads back from these steps, so they come to an end: {steps}.")
            }
            Deletion::Rank { terms, least } => {
                let sum = self.sum(terms)?;
                format!(
                    "{sum} never increases and is at least {least}, so in the end it is constant."
                )
            }
            Deletion::Oneself { states } => {
                let (_, own) = self.own()?;
                let states = self.states(std::slice::from_ref(states))?;
                format!(
                    "This does not last: {states}. {own} has a step, and keeps it until it is scheduled and moves."
                )
            }
            Deletion::Somebody {
                template,
                location,
                states,
                ..
            } => {
                let states = self.states(states)?;
                let who = self.another(template);
                format!(
                    "This does not last: {states}. {who} at {location} has a step and keeps it until it is scheduled, but no such step is taken any more."
                )
            }
            Deletion::Least { least, states } => {
                let states = self.states(states)?;
                let Least {
                    template, location, ..
                } = least;
                format!(
                    "This does not last: {states}. Of all {template} at {location} one comes first. It has a step, and as nobody gets ahead of it, keeps it until it is scheduled and moves."
                )
            }
            Deletion::Everybody { states } => {
                let states = self.states(states)?;
                format!(
                    "This does not last: {states}. Every process has a step, so whoever is scheduled moves, but no step is taken any more."
                )
            }
            Deletion::Promise {
                assumption,
                own,
                states,
            } => {
                if self.liveness.fails == Some(*assumption) {
                    return Some("In what is left, the property is never violated.".to_owned());
                }
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
                    "{by}{of}, this is true only finitely often: {states}. Otherwise what is promised for it would come, and in what is left that never does."
                )
            }
        })
    }

    /// A process of a template that is not the one that waits.
    fn another(&self, template: &str) -> String {
        let own = self
            .own()
            .map(|(own, _)| &self.family().templates[own].name);
        match own.is_some_and(|own| own == template) {
            true => format!("Another {template}"),
            false => format!("Some {template}"),
        }
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
        let mut said: Vec<(Expression, Vec<String>)> = Vec::new();
        for one in deleted {
            let states = self.formula(&one.states)?;
            let location = self.fair.controls.get(one.control)?.location.clone();
            match said.iter_mut().find(|(known, _)| *known == states) {
                Some((_, locations)) => locations.extend(location),
                None => said.push((states, location.into_iter().collect())),
            }
        }
        let all = self.fair.controls.len();
        let each = said.into_iter().map(|(states, locations)| {
            let whole = states.to_string() == "true";
            match self.own() {
                Some((_, own)) if all > 1 || whole => {
                    let place = match locations.as_slice() {
                        [one] => format!("{own} at {one}"),
                        several => format!("{own} at {{{}}}", several.join(", ")),
                    };
                    let place = Expression::Comparison(place);
                    let more = (!whole).then_some(states);
                    Expression::and([place].into_iter().chain(more).collect())
                }
                _ => states,
            }
        });
        let each: Vec<String> = each.map(|states| states.to_string()).collect();
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
