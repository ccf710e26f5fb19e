//! What follows from the order of processes, and from who is beside whom on a ring.
//!
//! The order is total: who comes before somebody who comes before another one comes before that one, too, and nobody comes before the first or after the last.
//!
//! On a ring, everybody is beside one process, and nobody is beside two on the same side. Who goes on from one to the next comes round to where it began only after it has met everybody: so if fewer are known to
//! stand in a row than there are in scope, or than there must be, the one after the last of them is not the first of them. The one after the last by order is the first.

use threadwise_lang::program::TemplateId;

use super::cases::bits;
use super::columns::{APART, Column, Frame, Mask, OTHER, Situation, Who, this};

impl Situation {
    /// Draws conclusions. `false` if they contradict each other.
    pub(crate) fn close(&mut self, frame: &Frame) -> bool {
        let mut before = 0;
        loop {
            if !self.close_order(frame) || !self.close_rings(frame) || !self.close_arrivals(frame) {
                return false;
            }
            let now = self.told();
            if now == before {
                return true;
            }
            before = now;
        }
    }

    /// A number that changes whenever something more is said.
    fn told(&self) -> u32 {
        let values = self.masks.iter().map(|(_, mask)| mask.count_ones());
        values.sum::<u32>() + 1000 * self.masks.len() as u32
    }

    fn is_about_order(&self) -> bool {
        self.masks.iter().any(|(column, _)| {
            matches!(
                column,
                Column::Order(..) | Column::First(_) | Column::Last(_)
            )
        })
    }

    fn close_order(&mut self, frame: &Frame) -> bool {
        if !self.is_about_order() {
            return true;
        }
        let pairs = self.pairs();
        let mut before = 0;
        loop {
            for (a, b) in &pairs {
                let (a, b) = (*a, *b);
                let first = self.is(frame, Column::First(a)) == Some(true);
                let last = self.is(frame, Column::Last(b)) == Some(true);
                if (first || last) && !self.less(frame, a, b) {
                    return false;
                }
                if first && !self.say(frame, Column::First(b), false)
                    || last && !self.say(frame, Column::Last(a), false)
                {
                    return false;
                }
                if self.is_less(frame, a, b) {
                    if !self.say(frame, Column::First(b), false)
                        || !self.say(frame, Column::Last(a), false)
                    {
                        return false;
                    }
                    for (other, c) in &pairs {
                        if *other == b
                            && *c != a
                            && self.is_less(frame, b, *c)
                            && !self.less(frame, a, *c)
                        {
                            return false;
                        }
                    }
                }
            }
            let now = self.told();
            if now == before {
                return true;
            }
            before = now;
        }
    }

    /// Different processes of the same template.
    fn pairs(&self) -> Vec<(Who, Who)> {
        let count = self.scope.len() as Who;
        let all = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        let alike = |(a, b): &(Who, Who)| {
            a != b && self.scope[usize::from(*a)] == self.scope[usize::from(*b)]
        };
        all.filter(alike).collect()
    }

    /// Whether something that is true or false is true, if that is known.
    fn is(&self, frame: &Frame, column: Column) -> Option<bool> {
        match self.mask(frame, column)? {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        }
    }

    fn say(&mut self, frame: &Frame, column: Column, truth: bool) -> bool {
        self.restrict(frame, column, if truth { 2 } else { 1 })
    }

    fn is_less(&self, frame: &Frame, a: Who, b: Who) -> bool {
        match a < b {
            true => self.mask(frame, Column::Order(a, b)) == Some(1),
            false => self.mask(frame, Column::Order(b, a)) == Some(2),
        }
    }

    fn less(&mut self, frame: &Frame, a: Who, b: Who) -> bool {
        match a < b {
            true => self.restrict(frame, Column::Order(a, b), 1),
            false => self.restrict(frame, Column::Order(b, a), 2),
        }
    }

    /// Who came first is known of those who are there only. Who came before somebody who came before another one came before that one, too.
    fn close_arrivals(&mut self, frame: &Frame) -> bool {
        let said = |(column, _): &(Column, Mask)| matches!(column, Column::Came(..));
        if !self.masks.iter().any(said) {
            return true;
        }
        let mut queue: Vec<Who> = (0..self.scope.len() as Who).collect();
        queue.retain(|who| frame.inside(self.scope[usize::from(*who)]) != 0);
        for a in &queue {
            for b in queue.iter().filter(|b| a < *b) {
                if !self.close_pair(frame, *a, *b) {
                    return false;
                }
            }
        }
        for a in &queue {
            for b in &queue {
                for c in &queue {
                    if a != b
                        && b != c
                        && self.came_before(frame, *a, *b)
                        && self.came_before(frame, *b, *c)
                        && (a == c || !self.say_came_before(frame, *a, *c))
                    {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn close_pair(&mut self, frame: &Frame, a: Who, b: Who) -> bool {
        let there = [a, b].map(|who| {
            let inside = frame.inside(self.scope[usize::from(who)]);
            let at = self.mask(frame, Column::At(who)).unwrap_or(0);
            (at & inside != 0, at & !inside != 0)
        });
        let possible = match there {
            [(true, false), (true, false)] => !APART,
            [(false, _), _] | [_, (false, _)] => APART,
            _ => Mask::MAX,
        };
        if !self.restrict(frame, Column::Came(a, b), possible) {
            return false;
        }
        let came = self.mask(frame, Column::Came(a, b)).unwrap_or(0);
        let mut at = |who: Who, inside: bool| {
            let labels = frame.inside(self.scope[usize::from(who)]);
            let labels = if inside { labels } else { !labels };
            self.restrict(frame, Column::At(who), labels)
        };
        match there {
            _ if came & APART == 0 => at(a, true) && at(b, true),
            [(true, false), _] if came == APART => at(b, false),
            [_, (true, false)] if came == APART => at(a, false),
            _ => true,
        }
    }

    fn came_before(&self, frame: &Frame, a: Who, b: Who) -> bool {
        match a < b {
            true => self.mask(frame, Column::Came(a, b)) == Some(1),
            false => self.mask(frame, Column::Came(b, a)) == Some(2),
        }
    }

    fn say_came_before(&mut self, frame: &Frame, a: Who, b: Who) -> bool {
        match a < b {
            true => self.restrict(frame, Column::Came(a, b), 1),
            false => self.restrict(frame, Column::Came(b, a), 2),
        }
    }

    /// Two processes of which it is open who came first: both are there, or else both may be.
    pub(super) fn undecided(&self, frame: &Frame) -> Option<(Who, Who)> {
        frame.arrivals.as_ref()?;
        let there = |who: Who| {
            let inside = frame.inside(self.scope[usize::from(who)]);
            let at = self.mask(frame, Column::At(who)).unwrap_or(Mask::MAX);
            (at & inside != 0, at & !inside != 0)
        };
        let mut queue: Vec<Who> = (0..self.scope.len() as Who).collect();
        queue.retain(|who| there(*who).0);
        let pairs = queue
            .iter()
            .flat_map(|a| queue.iter().map(move |b| (*a, *b)));
        let open = |(a, b): &(Who, Who)| {
            let came = self.mask(frame, Column::Came(*a, *b));
            a < b && came.is_some_and(|came| came & 3 == 3)
        };
        let surely = |(a, b): &(Who, Who)| there(*a).1 || there(*b).1;
        pairs.filter(open).min_by_key(surely)
    }

    /// The cases in which the one came first, the other one did, or not both are there.
    pub(super) fn split(&self, frame: &Frame, (a, b): (Who, Who)) -> Vec<Situation> {
        let each = [1, 2, APART].into_iter().filter_map(|first| {
            let mut case = self.clone();
            let possible = case.restrict(frame, Column::Came(a, b), first);
            (possible && case.close(frame)).then_some(case)
        });
        each.collect()
    }

    fn close_rings(&mut self, frame: &Frame) -> bool {
        let said = |(column, _): &(Column, Mask)| matches!(column, Column::Beside(..));
        if !self.masks.iter().any(said) {
            return true;
        }
        let mut rings: Vec<TemplateId> = self.scope.clone();
        rings.retain(|template| frame.is_ring(*template));
        rings.sort_unstable();
        rings.dedup();
        rings.into_iter().all(|ring| {
            let ways = frame.ways_round.clone();
            ways.iter()
                .all(|forward| self.close_ring(frame, ring, *forward))
                && (ways.len() < 2 || self.close_both_ways(frame, ring))
                && (!self.is_about_order() || self.close_ends(frame, ring))
        })
    }

    fn on(&self, ring: TemplateId) -> Vec<Who> {
        let all = 0..self.scope.len() as Who;
        all.filter(|who| self.scope[usize::from(*who)] == ring)
            .collect()
    }

    /// The process of the scope that is beside one, if that is known.
    fn beside(&self, frame: &Frame, who: Who, forward: bool) -> Option<Who> {
        let mask = self.mask(frame, Column::Beside(who, forward))?;
        let known = mask.count_ones() == 1 && mask != OTHER;
        known.then(|| mask.trailing_zeros() as Who - 1)
    }

    /// Says that it is not this one.
    fn not_beside(&mut self, frame: &Frame, a: Who, b: Who, forward: bool) -> bool {
        self.restrict(frame, Column::Beside(a, forward), !this(b))
    }

    fn close_ring(&mut self, frame: &Frame, ring: TemplateId, forward: bool) -> bool {
        let whos = self.on(ring);
        let all = whos.len().max(frame.least(ring));
        for who in &whos {
            let Some(next) = self.beside(frame, *who, forward) else {
                continue;
            };
            for other in &whos {
                if other != who && !self.not_beside(frame, *other, next, forward) {
                    return false;
                }
            }
        }
        // Those who stand in a row.
        for head in &whos {
            let (mut tail, mut length) = (*head, 1);
            while length <= whos.len()
                && let Some(next) = self.beside(frame, tail, forward)
                && next != *head
            {
                tail = next;
                length += 1;
            }
            if length < all && !self.not_beside(frame, tail, *head, forward) {
                return false;
            }
        }
        true
    }

    /// Who is next to whom is before whom.
    fn close_both_ways(&mut self, frame: &Frame, ring: TemplateId) -> bool {
        let whos = self.on(ring);
        for a in &whos {
            for forward in [true, false] {
                if let Some(b) = self.beside(frame, *a, forward)
                    && !self.restrict(frame, Column::Beside(b, !forward), this(*a))
                {
                    return false;
                }
                let mask = self.mask(frame, Column::Beside(*a, forward)).unwrap_or(0);
                for b in &whos {
                    if mask & this(*b) == 0 && !self.not_beside(frame, *b, *a, !forward) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// What is known of neighbours by order, and the other way round.
    fn close_ends(&mut self, frame: &Frame, ring: TemplateId) -> bool {
        let whos = self.on(ring);
        for forward in frame.ways_round.clone() {
            for who in &whos {
                let mask = self.mask(frame, Column::Beside(*who, forward)).unwrap_or(0);
                for bit in bits(mask & !OTHER) {
                    let other = bit.trailing_zeros() as Who - 1;
                    let (a, b) = if forward {
                        (*who, other)
                    } else {
                        (other, *who)
                    };
                    let possible = match bit == mask {
                        true => self.follows(frame, &whos, a, b),
                        false => {
                            self.may_follow(frame, &whos, a, b)
                                || self.not_beside(frame, *who, other, forward)
                        }
                    };
                    if !possible {
                        return false;
                    }
                }
                if !self.ends_meet(frame, &whos, *who, forward) {
                    return false;
                }
            }
        }
        true
    }

    /// The one after the last is the first.
    fn ends_meet(&mut self, frame: &Frame, whos: &[Who], who: Who, forward: bool) -> bool {
        let end = |who: Who, last: bool| match last {
            true => Column::Last(who),
            false => Column::First(who),
        };
        let first = whos
            .iter()
            .find(|other| self.is(frame, end(**other, !forward)) == Some(true));
        match (self.is(frame, end(who, forward)), first) {
            (Some(true), Some(other)) => {
                self.restrict(frame, Column::Beside(who, forward), this(*other))
            }
            _ => true,
        }
    }

    /// Draws conclusions from b being the one after a.
    fn follows(&mut self, frame: &Frame, whos: &[Who], a: Who, b: Who) -> bool {
        if a == b {
            return self.say(frame, Column::Last(a), true)
                && self.say(frame, Column::First(b), true);
        }
        let wraps = match (
            self.is(frame, Column::Last(a)),
            self.is(frame, Column::First(b)),
        ) {
            (None, None) if self.is_less(frame, a, b) => false,
            (None, None) if self.is_less(frame, b, a) => true,
            (None, None) => return true,
            (Some(wraps), _) | (None, Some(wraps)) => wraps,
        };
        if !self.say(frame, Column::Last(a), wraps) || !self.say(frame, Column::First(b), wraps) {
            return false;
        }
        if wraps {
            return self.less(frame, b, a);
        }
        // Nobody is between them.
        self.less(frame, a, b)
            && whos.iter().all(|other| {
                let other = *other;
                other == a
                    || other == b
                    || (!self.is_less(frame, a, other) || self.less(frame, b, other))
                        && (!self.is_less(frame, other, b) || self.less(frame, other, a))
            })
    }

    /// Whether b may be the one after a, by their order.
    fn may_follow(&self, frame: &Frame, whos: &[Who], a: Who, b: Who) -> bool {
        let (last, first) = (
            self.is(frame, Column::Last(a)),
            self.is(frame, Column::First(b)),
        );
        if a == b {
            return last != Some(false) && first != Some(false);
        }
        let wraps = last != Some(false) && first != Some(false) && !self.is_less(frame, a, b);
        let between = |other: &Who| {
            *other != a
                && *other != b
                && self.is_less(frame, a, *other)
                && self.is_less(frame, *other, b)
        };
        let goes_on = last != Some(true)
            && first != Some(true)
            && !self.is_less(frame, b, a)
            && !whos.iter().any(between);
        wraps || goes_on
    }
}
