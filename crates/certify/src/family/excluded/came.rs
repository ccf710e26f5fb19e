//! The order in which processes came to where a claim says.
//!
//! A claim may name labels of templates. Whoever is at one of them has come there at some step: the last one that led there from a label that is not one of them. So there is an order of all who are there, of whatever templates, and it is a history
//! variable: steps change it, and it has no say in whether they are possible. The checker makes it up itself, by the labels alone:
//!
//! - at first nobody is there;
//! - a step from elsewhere to one of the labels makes its process the latest;
//! - a step from one of them to elsewhere takes its process out;
//! - no other step changes it.

use std::collections::BTreeMap;

use threadwise_evidence::family::Queue;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Family, Formula, Term};

use super::super::names::{location_named, template_named};
use super::scene::{Scene, Thing, Value};
use crate::Error;

/// The first of two processes came first.
pub(super) const FIRST: i64 = 0;
/// The second one did.
pub(super) const SECOND: i64 = 1;
/// Not both are there.
pub(super) const APART: i64 = 2;

/// The same of the second and the first.
pub(super) fn turned(value: i64) -> i64 {
    match value {
        FIRST => SECOND,
        SECOND => FIRST,
        other => other,
    }
}

/// The labels of templates at which processes are in the order.
#[derive(Debug)]
pub(crate) struct Queues {
    labels: BTreeMap<TemplateId, Vec<LocationId>>,
}

impl Queues {
    pub(super) fn new(family: &Family, claimed: &[Queue]) -> Result<Queues, Error> {
        let mut labels: BTreeMap<TemplateId, Vec<LocationId>> = BTreeMap::new();
        for Queue {
            template: name,
            labels: names,
        } in claimed
        {
            let template = template_named(family, name)
                .ok_or_else(|| Error::no_proof(format!("the model has no template `{name}`")))?;
            for label in names {
                let location = location_named(family, template, label)
                    .ok_or_else(|| Error::no_proof(format!("`{name}` has no label `{label}`")))?;
                if location == family.templates[template].entry {
                    return Err(Error::no_proof(format!(
                        "processes of `{name}` begin at `{label}`, so nobody of them came first"
                    )));
                }
                labels.entry(template).or_default().push(location);
            }
        }
        Ok(Queues { labels })
    }

    fn has(&self, template: TemplateId, label: LocationId) -> bool {
        let labels = self.labels.get(&template);
        labels.is_some_and(|labels| labels.contains(&label))
    }

    /// Which of two processes came first, after a step; `None` if the step does not change that.
    pub(super) fn after(
        &self,
        (a, b): (u32, u32),
        mover: u32,
        templates: &[TemplateId],
        (from, to): (LocationId, LocationId),
    ) -> Option<Term> {
        if mover != a && mover != b {
            return None;
        }
        let template = templates[mover as usize];
        match (self.has(template, from), self.has(template, to)) {
            (false, true) => {
                // The other one does not move. If it is there, it came first.
                let (other, first) = if mover == a { (b, SECOND) } else { (a, FIRST) };
                let of = templates[other as usize];
                let there = Formula::At {
                    template: of,
                    process: Term::Reference(other),
                    locations: self.labels.get(&of).cloned().unwrap_or_default(),
                };
                Some(Term::either(
                    there,
                    Term::Number(first),
                    Term::Number(APART),
                ))
            }
            (true, false) => Some(Term::Number(APART)),
            _ => None,
        }
    }
}

impl Scene {
    /// Takes away what contradicts where processes are, and what others say of who came first. `false` if nothing is left.
    pub(super) fn close_arrivals(&mut self, family: &Family) -> bool {
        let pairs: Vec<(u32, u32)> = self
            .things()
            .filter_map(|thing| match thing {
                Thing::Came(a, b) => Some((*a, *b)),
                _ => None,
            })
            .collect();
        pairs.iter().all(|(a, b)| self.close_pair(family, *a, *b)) && self.close_row(family, &pairs)
    }

    /// Whether a process is at one of the labels, if that is known.
    fn there(&self, family: &Family, who: u32) -> Option<bool> {
        let template = self.templates[who as usize];
        let values = self.values(family, &Thing::At(who))?;
        let mut there = values.iter().map(|value| {
            self.queues
                .has(template, LocationId::new(value.more as usize))
        });
        let first = there.next()?;
        there.all(|other| other == first).then_some(first)
    }

    /// Says whether a process is at one of the labels.
    fn be(&mut self, family: &Family, who: u32, there: bool) -> bool {
        let template = self.templates[who as usize];
        let Some(mut values) = self.values(family, &Thing::At(who)) else {
            return true;
        };
        let queues = std::rc::Rc::clone(&self.queues);
        let has = |value: &Value| queues.has(template, LocationId::new(value.more as usize));
        values.retain(|value| has(value) == there);
        let possible = !values.is_empty();
        self.set(&Thing::At(who), values);
        possible
    }

    fn close_pair(&mut self, family: &Family, a: u32, b: u32) -> bool {
        let thing = Thing::Came(a, b);
        let Some(mut values) = self.values(family, &thing) else {
            return true;
        };
        let there = [self.there(family, a), self.there(family, b)];
        if there == [Some(true), Some(true)] {
            values.retain(|value| value.more != APART);
        } else if there.contains(&Some(false)) {
            values.retain(|value| value.more == APART);
        }
        let (apart, both): (Vec<Value>, Vec<Value>) =
            values.iter().partition(|value| value.more == APART);
        let known = !values.is_empty();
        self.set(&thing, values);
        known
            && match there {
                _ if apart.is_empty() => self.be(family, a, true) && self.be(family, b, true),
                [Some(true), _] if both.is_empty() => self.be(family, b, false),
                [_, Some(true)] if both.is_empty() => self.be(family, a, false),
                _ => true,
            }
    }

    /// Whether a process is known to have come before another one.
    fn came_before(&self, a: u32, b: u32) -> bool {
        let (thing, value) = match a < b {
            true => (Thing::Came(a, b), FIRST),
            false => (Thing::Came(b, a), SECOND),
        };
        self.known_of(&thing) == Some(value)
    }

    /// Who came before somebody who came before another one came before that one, too.
    fn close_row(&mut self, family: &Family, pairs: &[(u32, u32)]) -> bool {
        let both_ways = pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
        let known: Vec<(u32, u32)> = both_ways
            .filter(|(a, b)| self.came_before(*a, *b))
            .collect();
        for (a, b) in &known {
            for (_, c) in known.iter().filter(|(other, _)| other == b) {
                let (thing, value) = match a < c {
                    true => (Thing::Came(*a, *c), FIRST),
                    false => (Thing::Came(*c, *a), SECOND),
                };
                if a == c {
                    return false;
                }
                let mut values = self.values(family, &thing).unwrap_or_default();
                values.retain(|other| other.more == value);
                if values.is_empty() {
                    return false;
                }
                self.set(&thing, values);
            }
        }
        true
    }
}
