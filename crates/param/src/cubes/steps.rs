//! Steps backwards: the situations from which a step leads to a situation.
//!
//! The step is that of a process of the situation, or of one more. What the situation says of a column that the step writes is said of the value that is written; the rest, and the
//! guard, are facts about the state before.

use std::rc::Rc;

use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Cell, Conjunct, Formula, Names, PathEnd, Term, Write};

use super::cases::{Fact, TooMany, cases};
use super::columns::{APART, Column, Domain, Frame, Mask, NOBODY, Situation, Who};
use super::evaluate::{Look, as_mask};

/// A path of a process, with names for the processes that it is about.
#[derive(Debug)]
pub(crate) struct Step {
    template: TemplateId,
    from: LocationId,
    end: PathEnd,
    pub(crate) mover: Who,
    guard: Vec<Formula>,
    writes: Vec<Write>,
    choices: Vec<Option<Domain>>,
}

/// What a step does to who of two processes came first.
enum Coming {
    /// It changes nothing.
    Stays,
    /// One of them comes. If the other one, this, is there, the column has this value.
    Comes(Who, Mask),
    /// One of them leaves.
    Goes,
}

/// A situation before a step.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) step: Rc<Step>,
    /// With what the step chooses, and with processes in the order in which they came into scope.
    pub(crate) at: Situation,
}

impl Step {
    pub(crate) fn new(frame: &Frame, template: TemplateId, number: usize, mover: Who) -> Step {
        let path = &frame.family.templates[template].paths[number];
        let names = Names {
            own: Some(u32::from(mover)),
            bound: Vec::new(),
        };
        let choices = (0..path.choices).map(|choice| choice_domain(&path.guard, choice));
        let choices: Vec<Option<Domain>> = choices.collect();
        Step {
            template,
            from: path.from,
            end: path.end,
            mover,
            guard: path
                .guard
                .iter()
                .filter(|formula| !is_bound(formula, &choices))
                .map(|formula| formula.resolve(&names))
                .collect(),
            writes: path
                .writes
                .iter()
                .map(|write| write.of(u32::from(mover)))
                .collect(),
            choices,
        }
    }

    /// Where the mover is after the step; `None` if a check fails.
    fn to(&self) -> Option<LocationId> {
        match self.end {
            PathEnd::At(to) => Some(to),
            PathEnd::Fails(..) => None,
        }
    }

    fn begin(&self, frame: &Frame, mut at: Situation) -> Option<(Situation, Vec<Fact>)> {
        for (choice, domain) in self.choices.iter().enumerate() {
            if let Some(domain) = domain {
                let mask = frame.all(*domain, &at.scope);
                at.replace(frame, Column::Choice(choice as u8), mask);
            }
        }
        let from = 1 << self.from.index();
        let facts = self
            .guard
            .iter()
            .map(|formula| Fact::Formula(formula.clone(), true));
        at.restrict(frame, Column::At(self.mover), from)
            .then(|| (at, facts.collect()))
    }

    /// What the step does to who of two processes came first.
    fn coming(&self, frame: &Frame, column: Column, scope: &[TemplateId]) -> Coming {
        let (Column::Came(a, b), Some(to)) = (column, self.to()) else {
            return Coming::Stays;
        };
        if a != self.mover && b != self.mover {
            return Coming::Stays;
        }
        let inside = frame.inside(scope[usize::from(self.mover)]);
        let there = |label: LocationId| inside & (1 << label.index()) != 0;
        match (there(self.from), there(to)) {
            (false, true) if a == self.mover => Coming::Comes(b, 2),
            (false, true) => Coming::Comes(a, 1),
            (true, false) => Coming::Goes,
            _ => Coming::Stays,
        }
    }

    /// The value of a cell after the step; `None` if it stays as it is.
    fn after(&self, cell: &Cell) -> Option<Term> {
        let mut value: Option<Term> = None;
        for write in &self.writes {
            if let Some((written, new)) = write.to(cell) {
                let before = value.unwrap_or_else(|| Term::Cell(cell.clone()));
                value = Some(Term::either(written, new, before));
            }
        }
        value
    }

    /// The situations from which the step fails a check.
    pub(crate) fn failing(
        &self,
        frame: &Frame,
        scope: Vec<TemplateId>,
    ) -> Result<Vec<Situation>, TooMany> {
        let empty = Situation {
            scope,
            masks: Vec::new(),
        };
        match self.begin(frame, empty) {
            Some((at, facts)) => cases(frame, &self.choices, at, facts),
            None => Ok(Vec::new()),
        }
    }

    /// The situations from which the step leads to one. The processes of that are the first in scope.
    pub(crate) fn before(
        self: &Rc<Self>,
        frame: &Frame,
        after: &Situation,
    ) -> Result<Vec<Before>, TooMany> {
        let Some(to) = self.to() else {
            return Ok(Vec::new());
        };
        let mut before = Situation::empty(frame);
        before.scope = after.scope.clone();
        let mut literals = after.clone();
        if usize::from(self.mover) == before.scope.len() {
            before.scope.push(self.template);
            literals.grow(frame, &[], self.template);
        }
        let mut facts = Vec::new();
        let mut touched = usize::from(self.mover) < after.scope.len()
            && after.mask(frame, Column::At(self.mover))
                != frame_all(frame, after, Column::At(self.mover));
        for (column, mask) in &literals.masks {
            if *column == Column::At(self.mover) {
                if mask & (1 << to.index()) == 0 {
                    return Ok(Vec::new());
                }
                continue;
            }
            match self.coming(frame, *column, &before.scope) {
                Coming::Stays => {}
                Coming::Comes(other, first) => {
                    touched = true;
                    let there = frame.inside(before.scope[usize::from(other)]);
                    let possible = match (mask & first != 0, mask & APART != 0) {
                        (true, true) => continue,
                        (true, false) => there,
                        (false, true) => !there,
                        (false, false) => 0,
                    };
                    if !before.restrict(frame, Column::At(other), possible) {
                        return Ok(Vec::new());
                    }
                    continue;
                }
                Coming::Goes => {
                    touched = true;
                    if mask & APART == 0 {
                        return Ok(Vec::new());
                    }
                    continue;
                }
            }
            let cell = frame.cell(*column, &before.scope);
            match cell.and_then(|cell| self.after(&cell)) {
                Some(value) => {
                    touched = true;
                    if let Some(domain) = frame.domain(*column, &before.scope) {
                        facts.push(Fact::Among(value, domain, *mask));
                    }
                }
                None => {
                    before.restrict(frame, *column, *mask);
                }
            }
        }
        if !touched {
            // It was so before the step.
            return Ok(Vec::new());
        }
        let Some((at, guard)) = self.begin(frame, before) else {
            return Ok(Vec::new());
        };
        facts.extend(guard);
        let found = cases(frame, &self.choices, at, facts)?;
        Ok(found
            .into_iter()
            .map(|at| Before {
                step: Rc::clone(self),
                at,
            })
            .collect())
    }

    /// The part of a situation after the step that states in a situation before it lead to, as far as that is known.
    pub(crate) fn image(&self, frame: &Frame, before: &Situation, after: &Situation) -> Situation {
        let mut image = after.clone();
        // Those who came into scope are somebody else there.
        let to: Vec<Who> = (0..before.scope.len())
            .map(|who| {
                if who < after.scope.len() {
                    who as Who
                } else {
                    Who::MAX
                }
            })
            .collect();
        let told = Situation {
            scope: before.scope.clone(),
            masks: Vec::new(),
        };
        for (column, mask) in &after.masks {
            let came = match self.coming(frame, *column, &after.scope) {
                Coming::Stays => None,
                Coming::Comes(other, first) => {
                    let there = frame.inside(after.scope[usize::from(other)]);
                    let at = before.mask(frame, Column::At(other)).unwrap_or(0);
                    let first = if at & there != 0 { first } else { 0 };
                    Some(first | if at & !there != 0 { APART } else { 0 })
                }
                Coming::Goes => Some(APART),
            };
            if let Some(came) = came {
                if came & mask != 0 {
                    image.replace(frame, *column, came & mask);
                }
                continue;
            }
            let known = match frame
                .cell(*column, &after.scope)
                .and_then(|cell| self.after(&cell))
            {
                _ if *column == Column::At(self.mover) => self.to().map(|to| 1 << to.index()),
                Some(value) => {
                    let mut look = Look::new(frame, before, &self.choices);
                    let domain = frame.domain(*column, &after.scope);
                    let holder = matches!(domain, Some(Domain::Processes(None, _)));
                    let values = look.values(&value, holder);
                    domain
                        .zip(values)
                        .and_then(|(domain, values)| as_mask(domain, &values, &before.scope))
                }
                None => before.mask(frame, *column),
            };
            if let Some(known) = known {
                let known = told.outside(frame, *column, known, &to);
                if known & mask != 0 {
                    image.replace(frame, *column, known & mask);
                }
            }
        }
        image
    }
}

fn frame_all(frame: &Frame, at: &Situation, column: Column) -> Option<Mask> {
    Some(frame.all(frame.domain(column, &at.scope)?, &at.scope))
}

/// Whether a part of a guard says which values can be chosen, and the domain of these says it, too.
fn is_bound(formula: &Formula, choices: &[Option<Domain>]) -> bool {
    let known = |choice: &u32| choices[*choice as usize].is_some();
    match formula {
        Formula::AtMost(Term::Number(_), Term::Choice(choice)) => known(choice),
        Formula::AtMost(Term::Choice(choice), Term::Sum(terms)) => {
            known(choice) && matches!(terms.as_slice(), [Term::Population(_), Term::Number(-1)])
        }
        _ => false,
    }
}

/// The values that a step can choose, by what its guard says of them.
fn choice_domain(guard: &[Formula], choice: u32) -> Option<Domain> {
    let chosen = Term::Choice(choice);
    let least = guard.iter().find_map(|formula| match formula {
        Formula::AtMost(Term::Number(least), term) if *term == chosen => Some(*least),
        _ => None,
    })?;
    guard.iter().find_map(|formula| match formula {
        Formula::AtMost(term, greatest) if *term == chosen => match greatest {
            Term::Number(greatest) => {
                let values = i128::from(*greatest) - i128::from(least) + 1;
                (1..=60)
                    .contains(&values)
                    .then_some(Domain::Numbers(least, values as u32))
            }
            Term::Sum(terms) => match terms.as_slice() {
                [Term::Population(template), Term::Number(-1)] if least == 0 || least == -1 => {
                    Some(Domain::Processes(Some(*template), least == -1))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The situations in which a part of an invariant is violated.
pub(crate) fn violations(frame: &Frame, conjunct: &Conjunct) -> Result<Vec<Situation>, TooMany> {
    let mut found = Vec::new();
    let mut names = Vec::new();
    identify(
        frame,
        conjunct,
        frame.singles.clone(),
        &mut names,
        &mut found,
    )?;
    Ok(found)
}

/// For all ways in which processes that an invariant names are the same or not.
fn identify(
    frame: &Frame,
    conjunct: &Conjunct,
    scope: Vec<TemplateId>,
    names: &mut Vec<usize>,
    found: &mut Vec<Situation>,
) -> Result<(), TooMany> {
    let Some((_, template)) = conjunct.variables.get(names.len()) else {
        let bound = conjunct.variables.iter().zip(names.iter());
        let names = Names {
            own: None,
            bound: bound
                .map(|((var, _), who)| (*var, Term::Reference(*who as u32)))
                .collect(),
        };
        let wrong = Fact::Formula(conjunct.body.resolve(&names), false);
        let empty = Situation {
            scope,
            masks: Vec::new(),
        };
        found.extend(cases(frame, &[], empty, vec![wrong])?);
        return Ok(());
    };
    for who in 0..=scope.len() {
        let mut scope = scope.clone();
        match scope.get(who) {
            Some(known) if known != template => continue,
            Some(_) => {}
            None if frame.singles.contains(template) => continue,
            None => scope.push(*template),
        }
        names.push(who);
        identify(frame, conjunct, scope, names, found)?;
        names.pop();
    }
    Ok(())
}

impl Situation {
    /// The values of a column, if processes without another name are somebody else.
    fn outside(&self, frame: &Frame, column: Column, mask: Mask, to: &[Who]) -> Mask {
        match frame.domain(column, &self.scope) {
            Some(Domain::Processes(..)) => super::columns::moved(mask, to) | mask & NOBODY,
            _ => mask,
        }
    }
}
