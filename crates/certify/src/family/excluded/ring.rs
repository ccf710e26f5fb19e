//! Rings: who is next to a process, and who is before it.
//!
//! The next process has the next id, and the one after the last is the first. Three things are known of that, whatever the number of processes is. Everybody is the next one of one process. Whoever goes on from one process to
//! the next has met all of them when it comes back, so it does not come back after fewer than are in the scene, or than there are in any instance. And between a process and the next one there is no other.

use threadwise_lang::program::TemplateId;
use threadwise_model::family::{Family, Formula, Population, Term};

use super::scene::{Scene, Thing, Value};

/// What a term is, if it is the id of a neighbour: on which ring, whether the next one, and whose.
pub(super) fn neighbour(term: &Term) -> Option<(TemplateId, bool, &Term)> {
    let Term::If(at_the_end, wrapped, beside) = term else {
        return None;
    };
    let Formula::Equal(id, end) = &**at_the_end else {
        return None;
    };
    let last = |term: &Term| match term {
        Term::Sum(parts) => match parts[..] {
            [Term::Population(of), Term::Number(-1)] => Some(of),
            _ => None,
        },
        _ => None,
    };
    let first = Term::Number(0);
    let further = |by: i64| Term::sum(vec![id.clone(), Term::Number(by)]);
    // The last one's next one is the first, or the first one's previous one is the last.
    if let Some(of) = last(end) {
        return (**wrapped == first && **beside == further(1)).then_some((of, true, id));
    }
    let of = last(wrapped)?;
    (*end == first && **beside == further(-1)).then_some((of, false, id))
}

/// So many processes of a template are there in every instance.
fn least(family: &Family, template: TemplateId) -> i64 {
    let Population::Between(Term::Number(from), to) = &family.templates[template].population else {
        return 0;
    };
    let last = match to {
        Term::Number(to) => *to,
        _ => least_of(family, to),
    };
    last.saturating_sub(*from).saturating_add(1).max(0)
}

/// A number that a term is not less than, by what `where` says.
fn least_of(family: &Family, term: &Term) -> i64 {
    let mut least = i64::MIN;
    let mut assumptions: Vec<&Formula> = family.assumptions.iter().collect();
    while let Some(assumption) = assumptions.pop() {
        match assumption {
            Formula::And(members) => assumptions.extend(members),
            Formula::AtMost(Term::Number(number), other) if other == term => {
                least = least.max(*number);
            }
            _ => {}
        }
    }
    least
}

impl Scene {
    /// Takes away who is not beside whom, and draws conclusions about the order. `false` if nobody is left.
    pub(super) fn close_rings(&mut self, family: &Family) -> bool {
        let mut rings: Vec<TemplateId> = Vec::new();
        for thing in self.things() {
            if let Thing::Beside(who, _) = thing
                && !rings.contains(&self.templates[*who as usize])
            {
                rings.push(self.templates[*who as usize]);
            }
        }
        rings.into_iter().all(|ring| self.close_ring(family, ring))
    }

    fn close_ring(&mut self, family: &Family, ring: TemplateId) -> bool {
        let whos = 0..self.templates.len() as u32;
        let whos: Vec<u32> = whos
            .filter(|who| self.templates[*who as usize] == ring)
            .collect();
        for who in &whos {
            for forward in [true, false] {
                let thing = Thing::Beside(*who, forward);
                let Some(values) = self.values(family, &thing) else {
                    continue;
                };
                let mut left = values.clone();
                left.retain(|value| {
                    whos.iter().all(|other| {
                        *value != Value::id(*other)
                            || self.may_be(family, &whos, (*who, *other), forward)
                    })
                });
                // The one at this end is beside the one at the other end.
                let (end, other_end) = match forward {
                    true => (Thing::Last(*who), Thing::First as fn(u32) -> Thing),
                    false => (Thing::First(*who), Thing::Last as fn(u32) -> Thing),
                };
                let at_other_end = |other: &&u32| self.truth(&other_end(**other)) == Some(true);
                if self.truth(&end) == Some(true)
                    && let Some(other) = whos.iter().find(at_other_end)
                {
                    left.retain(|value| *value == Value::id(*other));
                }
                // Who says that this is its neighbour is its neighbour.
                let other_way = whos
                    .iter()
                    .find(|other| self.beside(family, **other, !forward) == Some(*who));
                if let Some(other) = other_way {
                    left.retain(|value| *value == Value::id(*other));
                }
                if left.is_empty() {
                    return false;
                }
                if left.len() < values.len() {
                    self.set(&thing, left);
                }
                if let Some(other) = self.beside(family, *who, forward) {
                    let (a, b) = if forward {
                        (*who, other)
                    } else {
                        (other, *who)
                    };
                    if !self.is_next(family, &whos, a, b) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The process of the scene that is beside one, if it is known.
    fn beside(&self, family: &Family, who: u32, forward: bool) -> Option<u32> {
        let values = self.values(family, &Thing::Beside(who, forward))?;
        let is = |other: &u32| values == [Value::id(*other)];
        (0..self.templates.len() as u32).find(is)
    }

    /// Whether the second of two processes may be beside the first one.
    fn may_be(&self, family: &Family, whos: &[u32], (a, b): (u32, u32), forward: bool) -> bool {
        let back = self.values(family, &Thing::Beside(b, !forward));
        let known = back.is_none_or(|values| values.contains(&Value::id(a)));
        let another = |other: &u32| *other != a && self.beside(family, *other, forward) == Some(b);
        if !known || whos.iter().any(another) {
            return false;
        }
        // From b to a, and then to b again.
        let all = least(family, self.templates[a as usize]).max(whos.len() as i64);
        let (mut at, mut met) = (b, 1);
        while at != a && met < all {
            match self.beside(family, at, forward) {
                Some(further) => at = further,
                None => break,
            }
            met += 1;
        }
        if at == a && met < all {
            return false;
        }
        let (a, b) = if forward { (a, b) } else { (b, a) };
        self.goes_on(family, whos, a, b) || self.wraps(family, a, b)
    }

    /// Whether b may be the next one of a, which is not the last.
    fn goes_on(&self, family: &Family, whos: &[u32], a: u32, b: u32) -> bool {
        let between = |other: &u32| {
            ![a, b].contains(other)
                && self.before(family, a, *other) == Some(true)
                && self.before(family, *other, b) == Some(true)
        };
        a != b
            && self.truth(&Thing::Last(a)) != Some(true)
            && self.truth(&Thing::First(b)) != Some(true)
            && self.before(family, a, b) != Some(false)
            && !whos.iter().any(between)
    }

    /// Whether a may be the last and b the first.
    fn wraps(&self, family: &Family, a: u32, b: u32) -> bool {
        self.truth(&Thing::Last(a)) != Some(false)
            && self.truth(&Thing::First(b)) != Some(false)
            && (a == b || self.before(family, a, b) != Some(true))
    }

    /// Draws conclusions from b being the next one of a. `false` if it cannot be.
    fn is_next(&mut self, family: &Family, whos: &[u32], a: u32, b: u32) -> bool {
        let wraps = match (self.goes_on(family, whos, a, b), self.wraps(family, a, b)) {
            (true, true) => return true,
            (false, false) => return false,
            (_, wraps) => wraps,
        };
        for thing in [Thing::Last(a), Thing::First(b)] {
            self.set(&thing, vec![Value::number(i64::from(wraps))]);
        }
        if a == b {
            return true;
        }
        if !self.order(family, a, b, !wraps) {
            return false;
        }
        if wraps {
            return true;
        }
        whos.iter()
            .filter(|other| ![a, b].contains(*other))
            .all(|other| {
                let after_a = self.before(family, a, *other);
                let before_b = self.before(family, *other, b);
                (after_a != Some(true) || self.order(family, b, *other, true))
                    && (before_b != Some(true) || self.order(family, *other, a, true))
            })
    }
}
