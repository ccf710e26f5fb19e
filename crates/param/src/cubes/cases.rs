//! The situations in which facts hold, by cases.
//!
//! A fact about one column says which values it has. Otherwise one column is split: into the values for which the fact holds, and classes of the others that are alike. A fact that
//! somebody exists is somebody in scope, or somebody who comes into scope; what holds of all holds of those in scope. What remains unknown is left out. So the situations cover
//! all states in which the facts hold, and some more.

use threadwise_lang::program::{BoundId, TemplateId};
use threadwise_model::family::{Formula, Names, Term};

use super::columns::{Column, Domain, Frame, MOST, Mask, OTHER, Situation, this};
use super::evaluate::{Look, as_mask};

/// Situations that facts are split into at most.
const CASES: usize = 4_000;

/// Something that holds.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// A formula holds, or does not.
    Formula(Formula, bool),
    /// A term has one of these values.
    Among(Term, Domain, Mask),
}

/// What is known of all processes of a template.
#[derive(Clone, Debug)]
struct Universal {
    var: BoundId,
    template: TemplateId,
    body: Formula,
    holds: bool,
}

/// Too many cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

/// A case.
#[derive(Clone)]
struct Open {
    at: Situation,
    facts: Vec<Fact>,
    all: Vec<Universal>,
    some: Vec<Universal>,
}

/// What cases are distinguished for.
pub(crate) struct Cases<'a, 'f> {
    pub(crate) frame: &'a Frame<'f>,
    pub(crate) choices: &'a [Option<Domain>],
    found: Vec<Situation>,
    steps: usize,
}

/// The situations in which facts hold.
pub(crate) fn cases(
    frame: &Frame,
    choices: &[Option<Domain>],
    at: Situation,
    facts: Vec<Fact>,
) -> Result<Vec<Situation>, TooMany> {
    let mut cases = Cases {
        frame,
        choices,
        found: Vec::new(),
        steps: 0,
    };
    let mut open = Open {
        at,
        facts: Vec::new(),
        all: Vec::new(),
        some: Vec::new(),
    };
    for fact in facts {
        open.assume(fact);
    }
    cases.go(open)?;
    Ok(cases.found)
}

impl Open {
    /// Takes a fact apart.
    fn assume(&mut self, fact: Fact) {
        let Fact::Formula(formula, holds) = fact else {
            self.facts.push(fact);
            return;
        };
        match formula {
            Formula::Not(inner) => self.assume(Fact::Formula(*inner, !holds)),
            Formula::And(members) if holds => {
                members
                    .into_iter()
                    .for_each(|member| self.assume(Fact::Formula(member, true)));
            }
            Formula::Or(members) if !holds => {
                members
                    .into_iter()
                    .for_each(|member| self.assume(Fact::Formula(member, false)));
            }
            Formula::ForAll(var, template, body) if holds => self.every(var, template, *body, true),
            Formula::Exists(var, template, body) if !holds => {
                self.every(var, template, *body, false)
            }
            Formula::ForAll(var, template, body) => {
                self.some.push(Universal {
                    var,
                    template,
                    body: *body,
                    holds: false,
                });
            }
            Formula::Exists(var, template, body) => {
                self.some.push(Universal {
                    var,
                    template,
                    body: *body,
                    holds: true,
                });
            }
            formula => self.facts.push(Fact::Formula(formula, holds)),
        }
    }

    fn every(&mut self, var: BoundId, template: TemplateId, body: Formula, holds: bool) {
        let universal = Universal {
            var,
            template,
            body,
            holds,
        };
        for who in 0..self.at.scope.len() {
            if self.at.scope[who] == template {
                self.assume(universal.of(who));
            }
        }
        self.all.push(universal);
    }

    /// Brings a process into scope.
    fn grow(&mut self, cases: &Cases, template: TemplateId) -> usize {
        let who = self.at.grow(cases.frame, cases.choices, template);
        for fact in &mut self.facts {
            if let Fact::Among(_, Domain::Processes(of, _), mask) = fact
                && *mask & OTHER != 0
                && of.is_none_or(|of| of == template)
            {
                *mask |= this(who);
            }
        }
        for universal in self.all.clone() {
            if universal.template == template {
                self.assume(universal.of(usize::from(who)));
            }
        }
        usize::from(who)
    }
}

impl Universal {
    fn of(&self, who: usize) -> Fact {
        let names = Names::default().with(self.var, who as u32);
        Fact::Formula(self.body.resolve(&names), self.holds)
    }
}

/// What is known of a fact.
struct Known {
    holds: Option<bool>,
    touched: Vec<Column>,
    beyond: Option<Column>,
}

impl Cases<'_, '_> {
    fn look(&self, at: &Situation, fact: &Fact) -> Known {
        let mut look = Look::new(self.frame, at, self.choices);
        let holds = match fact {
            Fact::Formula(formula, holds) => look.truth(formula).map(|truth| truth == *holds),
            Fact::Among(term, domain, mask) => {
                let holder = matches!(domain, Domain::Processes(None, _));
                let values = look.values(term, holder);
                let values = values.and_then(|values| as_mask(*domain, &values, &at.scope));
                values.and_then(|values| match (values & mask, values & !mask) {
                    (_, 0) if values != 0 => Some(true),
                    (0, _) => Some(false),
                    _ => None,
                })
            }
        };
        Known {
            holds,
            touched: look.touched,
            beyond: look.beyond,
        }
    }

    fn go(&mut self, mut open: Open) -> Result<(), TooMany> {
        self.steps += 1;
        if self.steps > CASES {
            return Err(TooMany);
        }
        let (next, beyond) = loop {
            if !open.at.close(self.frame) {
                return Ok(());
            }
            let mut next: Option<(usize, Vec<Column>)> = None;
            let mut beyond = None;
            let mut narrowed = false;
            let mut place = 0;
            while place < open.facts.len() {
                let known = self.look(&open.at, &open.facts[place]);
                match known.holds {
                    Some(false) => return Ok(()),
                    Some(true) => {
                        open.facts.swap_remove(place);
                        continue;
                    }
                    None => {}
                }
                beyond = beyond.or(known.beyond);
                if let [column] = known.touched.as_slice()
                    && let Some(mask) = self.possible(&open.at, &open.facts[place], *column)
                    && Some(mask) != open.at.mask(self.frame, *column)
                {
                    if mask == 0 {
                        return Ok(());
                    }
                    open.at.replace(self.frame, *column, mask);
                    narrowed = true;
                    continue;
                }
                let fewer = |(_, other): &(usize, Vec<Column>)| known.touched.len() < other.len();
                if !known.touched.is_empty() && next.as_ref().is_none_or(fewer) {
                    next = Some((place, known.touched));
                }
                place += 1;
            }
            if !narrowed {
                break (next, beyond);
            }
        };
        if let Some((place, touched)) = next {
            return self.split(open, place, &touched);
        }
        if let Some(column) = beyond
            && open.at.scope.len() < MOST
            && let Some(Domain::Processes(Some(template), _)) =
                open.at.domain(self.frame, self.choices, column)
        {
            let who = open.grow(self, template);
            open.at.replace(self.frame, column, this(who as u8));
            return self.go(open);
        }
        if let Some(some) = open.some.pop() {
            return self.exists(open, &some);
        }
        // What is left of a disjunction with quantifiers is one of its members.
        let disjunction = open.facts.iter().position(|fact| {
            matches!(
                fact,
                Fact::Formula(Formula::Or(_), true) | Fact::Formula(Formula::And(_), false)
            )
        });
        if let Some(place) = disjunction
            && let Fact::Formula(Formula::Or(members) | Formula::And(members), holds) =
                open.facts.swap_remove(place)
        {
            for member in members {
                let mut open = open.clone();
                open.assume(Fact::Formula(member, holds));
                self.go(open)?;
            }
            return Ok(());
        }
        if !self.found.contains(&open.at) {
            self.found.push(open.at);
        }
        Ok(())
    }

    /// The values of a column for which a fact may hold.
    fn possible(&self, at: &Situation, fact: &Fact, column: Column) -> Option<Mask> {
        let mask = at.mask(self.frame, column)?;
        let mut possible = 0;
        let mut at = at.clone();
        for bit in bits(mask) {
            at.replace(self.frame, column, bit);
            if self.look(&at, fact).holds != Some(false) {
                possible |= bit;
            }
        }
        Some(possible)
    }

    fn split(&mut self, open: Open, place: usize, touched: &[Column]) -> Result<(), TooMany> {
        let fact = &open.facts[place];
        // An id that something is asked of comes first.
        let column = touched.iter().copied().min_by_key(|column| {
            let mask = open.at.mask(self.frame, *column).unwrap_or(Mask::MAX);
            mask.count_ones()
        });
        let Some(column) = column else { return Ok(()) };
        let mask = open.at.mask(self.frame, column).unwrap_or(0);
        let mut at = open.at.clone();
        let mut classes: Vec<(Option<bool>, Vec<Column>, Mask)> = Vec::new();
        for bit in bits(mask) {
            at.replace(self.frame, column, bit);
            let known = self.look(&at, fact);
            if known.holds == Some(false) {
                continue;
            }
            let alike = classes.iter_mut().find(|(holds, touched, _)| {
                *holds == known.holds && (known.holds.is_some() || *touched == known.touched)
            });
            match alike {
                Some((.., class)) => *class |= bit,
                None => classes.push((known.holds, known.touched, bit)),
            }
        }
        for (holds, _, class) in classes {
            at.replace(self.frame, column, class);
            let known = self.look(&at, fact);
            let apart = holds.is_none() && known.touched.contains(&column);
            let parts: Vec<Mask> = if apart {
                bits(class).collect()
            } else {
                vec![class]
            };
            for part in parts {
                let mut open = open.clone();
                open.at.replace(self.frame, column, part);
                if holds == Some(true) {
                    // Of the values one by one, which the formula need not show of all of them.
                    open.facts.swap_remove(place);
                }
                self.go(open)?;
            }
        }
        Ok(())
    }

    fn exists(&mut self, open: Open, some: &Universal) -> Result<(), TooMany> {
        for who in 0..open.at.scope.len() {
            if open.at.scope[who] == some.template {
                let mut open = open.clone();
                open.assume(some.of(who));
                self.go(open)?;
            }
        }
        if self.frame.singles.contains(&some.template) {
            return Ok(());
        }
        let mut open = open;
        if open.at.scope.len() < MOST {
            let who = open.grow(self, some.template);
            open.assume(some.of(who));
        }
        self.go(open)
    }
}

/// The values in a mask, one by one.
pub(crate) fn bits(mask: Mask) -> impl Iterator<Item = Mask> {
    (0..64)
        .map(|bit| 1 << bit)
        .filter(move |bit| mask & bit != 0)
}
