//! Refuting facts about a scene, by cases.
//!
//! Values for which a fact is false are taken away. Then one thing is split into its values, somebody who is asked about comes into the scene, somebody who exists is one of those in it or comes into it, or one
//! member of a disjunction holds; and last, what is known agrees with all facts of an excluded situation but for some thing, which is split by that. Each case is refuted by a fact that is false, by a thing without values, by
//! an order that contradicts itself, or by an excluded situation. Facts of which nothing more can be known are left out.

use threadwise_lang::program::{BoundId, Scalar, TemplateId};
use threadwise_model::family::{Cell, Family, Formula, Names, Term};

use super::scene::{Literal, Scene, Situation, Thing, Value, is_single};
use super::value::{Asked, Reading, of_each};
use crate::Error;

/// Processes that a scene may have.
const MAX_PROCESSES: usize = 12;

/// Something that holds.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// A formula holds, or does not.
    Holds(Formula, bool),
    /// A term has a value that a literal allows for its thing.
    Within(Term, Literal),
}

/// Something about a process: whether it holds of all, or of one.
#[derive(Clone, Debug)]
struct Quantified {
    var: BoundId,
    template: TemplateId,
    body: Formula,
    holds: bool,
}

impl Quantified {
    fn of(&self, who: usize) -> Fact {
        let names = Names::default().with(self.var, who as u32);
        Fact::Holds(self.body.resolve(&names), self.holds)
    }
}

/// A case.
#[derive(Clone)]
struct Case {
    scene: Scene,
    facts: Vec<Fact>,
    all: Vec<Quantified>,
    some: Vec<Quantified>,
}

impl Case {
    /// Takes a fact apart.
    fn assume(&mut self, fact: Fact) {
        let Fact::Holds(formula, holds) = fact else {
            self.facts.push(fact);
            return;
        };
        match (formula, holds) {
            (Formula::Not(inner), _) => self.assume(Fact::Holds(*inner, !holds)),
            (Formula::And(members), true) | (Formula::Or(members), false) => {
                members
                    .into_iter()
                    .for_each(|member| self.assume(Fact::Holds(member, holds)));
            }
            (Formula::ForAll(var, template, body), true)
            | (Formula::Exists(var, template, body), false) => {
                for formula in of_each(&self.scene, var, template, &body) {
                    self.assume(Fact::Holds(formula, holds));
                }
                self.all.push(Quantified {
                    var,
                    template,
                    body: *body,
                    holds,
                });
            }
            (Formula::ForAll(var, template, body), false)
            | (Formula::Exists(var, template, body), true) => {
                self.some.push(Quantified {
                    var,
                    template,
                    body: *body,
                    holds,
                });
            }
            (formula, _) => self.facts.push(Fact::Holds(formula, holds)),
        }
    }

    /// Brings one more process into the scene; what holds of all holds of it.
    fn grow(&mut self, family: &Family, template: TemplateId) -> usize {
        let who = self.scene.grow(family, template);
        for quantified in self.all.clone() {
            if quantified.template == template {
                self.assume(quantified.of(who));
            }
        }
        who
    }
}

pub(crate) struct Refuter<'a> {
    pub(crate) family: &'a Family,
    pub(crate) situations: &'a [Situation],
    pub(crate) stop: &'a dyn Fn() -> bool,
}

impl Refuter<'_> {
    /// Whether facts about a scene are refuted.
    pub(crate) fn refute(&mut self, scene: Scene, facts: Vec<Fact>) -> Result<bool, Error> {
        let mut case = Case {
            scene,
            facts: Vec::new(),
            all: Vec::new(),
            some: Vec::new(),
        };
        for fact in facts {
            case.assume(fact);
        }
        self.case(case)
    }

    fn read(&self, scene: &Scene, fact: &Fact) -> (Option<bool>, Asked) {
        let mut reading = Reading {
            family: self.family,
            scene,
            asked: Asked::default(),
        };
        let known = match fact {
            Fact::Holds(formula, holds) => reading.formula(formula).map(|truth| truth == *holds),
            Fact::Within(term, literal) => {
                let values = reading.term(term, self.is_mutex(&literal.thing));
                let holds = values.map(|values| {
                    let holds: Vec<Option<bool>> = values
                        .iter()
                        .map(|value| literal.values.has(*value))
                        .collect();
                    holds
                });
                holds.and_then(|holds| {
                    match (holds.contains(&Some(true)), holds.contains(&Some(false))) {
                        _ if holds.contains(&None) => None,
                        (true, false) => Some(true),
                        (false, true) => Some(false),
                        _ => None,
                    }
                })
            }
        };
        (known, reading.asked)
    }

    fn is_mutex(&self, thing: &Thing) -> bool {
        let program = self.family.program();
        match thing {
            Thing::Cell(Cell::Shared { var, .. }) => program.shared[*var].scalar == Scalar::Mutex,
            Thing::Cell(Cell::Local { template, var, .. }) => {
                program.templates[*template].locals[*var].scalar == Scalar::Mutex
            }
            _ => false,
        }
    }

    fn case(&mut self, mut case: Case) -> Result<bool, Error> {
        if (self.stop)() {
            return Err(Error::Cancelled);
        }
        let (split, absent) = loop {
            if !case.scene.close(self.family) {
                return Ok(true);
            }
            let mut split: Option<Vec<Thing>> = None;
            let (mut absent, mut narrowed) = (None, false);
            let mut left = Vec::with_capacity(case.facts.len());
            for fact in std::mem::take(&mut case.facts) {
                let (known, asked) = self.read(&case.scene, &fact);
                match known {
                    Some(true) => continue,
                    Some(false) => return Ok(true),
                    None => absent = absent.or(asked.absent),
                }
                if let [thing] = asked.open.as_slice() {
                    let (values, all) = self.possible(&case.scene, &fact, thing);
                    if values.is_empty() {
                        return Ok(true);
                    }
                    narrowed |= case
                        .scene
                        .values(self.family, thing)
                        .is_none_or(|known| known.len() > values.len());
                    case.scene.set(thing, values);
                    if all {
                        // It holds for each value that is left.
                        continue;
                    }
                }
                let fewer = |other: &Vec<Thing>| asked.open.len() < other.len();
                if !asked.open.is_empty() && split.as_ref().is_none_or(fewer) {
                    split = Some(asked.open);
                }
                left.push(fact);
            }
            case.facts = left;
            if !narrowed {
                break (split, absent);
            }
        };
        let open = match self.excluded(&case.scene) {
            Near::Is => return Ok(true),
            Near::Open(open) => open,
        };
        if let Some(things) = split {
            return self.split(case, &things);
        }
        if let Some(thing) = absent
            && let Some(
                [
                    Value {
                        base: super::scene::Base::Other(Some(template)),
                        ..
                    },
                ],
            ) = case.scene.values(self.family, &thing).as_deref()
            && case.scene.templates.len() < MAX_PROCESSES
        {
            let who = case.grow(self.family, *template);
            case.scene.set(&thing, vec![Value::id(who as u32)]);
            return self.case(case);
        }
        if let Some(quantified) = case.some.pop() {
            return self.somebody(case, &quantified);
        }
        let disjunction = |fact: &Fact| {
            matches!(
                fact,
                Fact::Holds(Formula::Or(_), true) | Fact::Holds(Formula::And(_), false)
            )
        };
        if let Some(place) = case.facts.iter().position(disjunction)
            && let Fact::Holds(Formula::Or(members) | Formula::And(members), holds) =
                case.facts.remove(place)
        {
            for member in members {
                let mut case = case.clone();
                case.assume(Fact::Holds(member, holds));
                if !self.case(case)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        match open {
            Some(literal) => self.by(case, &literal),
            None => Ok(false),
        }
    }

    /// The values of a thing for which a fact is not false, and whether it is true for all of them.
    fn possible(&self, scene: &Scene, fact: &Fact, thing: &Thing) -> (Vec<Value>, bool) {
        let mut scene = scene.clone();
        let mut all = true;
        let mut values = scene.values(self.family, thing).unwrap_or_default();
        values.retain(|value| {
            scene.set(thing, vec![*value]);
            match self.read(&scene, fact).0 {
                Some(holds) => holds,
                None => {
                    all = false;
                    true
                }
            }
        });
        (values, all)
    }

    /// Refutes a case value by value of one of these things.
    fn split(&mut self, case: Case, things: &[Thing]) -> Result<bool, Error> {
        let values = |thing: &Thing| case.scene.values(self.family, thing).unwrap_or_default();
        let Some(thing) = things.iter().min_by_key(|thing| values(thing).len()) else {
            return Ok(false);
        };
        for value in values(thing) {
            let mut case = case.clone();
            case.scene.set(thing, vec![value]);
            if !self.case(case)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refutes a case in which something holds of somebody.
    fn somebody(&mut self, case: Case, quantified: &Quantified) -> Result<bool, Error> {
        for who in 0..case.scene.templates.len() {
            if case.scene.templates[who] == quantified.template {
                let mut case = case.clone();
                case.assume(quantified.of(who));
                if !self.case(case)? {
                    return Ok(false);
                }
            }
        }
        if is_single(self.family, quantified.template) {
            return Ok(true);
        }
        let mut case = case;
        if case.scene.templates.len() < MAX_PROCESSES {
            let who = case.grow(self.family, quantified.template);
            case.assume(quantified.of(who));
        }
        self.case(case)
    }

    /// Refutes a case in which a literal holds, and in which it does not.
    fn by(&mut self, case: Case, literal: &Literal) -> Result<bool, Error> {
        let thing = match &literal.thing {
            Thing::Before(a, b) if a > b => Thing::Before(*b, *a),
            other => other.clone(),
        };
        let turned = thing != literal.thing;
        let values = case.scene.values(self.family, &thing).unwrap_or_default();
        let (inside, outside): (Vec<Value>, Vec<Value>) = values.into_iter().partition(|value| {
            let value = if turned {
                Value::number(1 - value.more)
            } else {
                *value
            };
            literal.values.has(value) == Some(true)
        });
        for values in [inside, outside] {
            let mut case = case.clone();
            case.scene.set(&thing, values);
            if !self.case(case)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an excluded situation is in a scene, or which literal of one is open, of as few as possible.
    fn excluded(&self, scene: &Scene) -> Near {
        let mut best: Option<(usize, Literal)> = None;
        for situation in self.situations {
            let mut to = Vec::new();
            if self.find(scene, situation, &mut to, &mut best) {
                return Near::Is;
            }
        }
        Near::Open(best.map(|(_, literal)| literal))
    }

    /// Looks for the processes of a situation in a scene.
    fn find(
        &self,
        scene: &Scene,
        situation: &Situation,
        to: &mut Vec<u32>,
        best: &mut Option<(usize, Literal)>,
    ) -> bool {
        let Some(template) = situation.templates.get(to.len()) else {
            let mut open: Option<Literal> = None;
            let mut count = 0;
            for literal in &situation.literals {
                let literal = literal.renamed(to);
                match scene.knows(self.family, &literal) {
                    Some(true) => {}
                    Some(false) => return false,
                    None => {
                        count += 1;
                        // A thing whose values are not listed never is as it says.
                        if !self.can_split(scene, &literal) {
                            return false;
                        }
                        open = Some(literal);
                    }
                }
            }
            let Some(open) = open else { return true };
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                *best = Some((count, open));
            }
            return false;
        };
        let next = to.len() as u32;
        for who in 0..scene.templates.len() as u32 {
            if scene.templates[who as usize] != *template || to.contains(&who) {
                continue;
            }
            // Where it is rules most of them out.
            let elsewhere = situation.literals.iter().any(|literal| {
                literal.thing == Thing::At(next)
                    && scene.knows(
                        self.family,
                        &Literal {
                            thing: Thing::At(who),
                            values: literal.values.clone(),
                        },
                    ) == Some(false)
            });
            if elsewhere {
                continue;
            }
            to.push(who);
            if self.find(scene, situation, to, best) {
                return true;
            }
            to.pop();
        }
        false
    }

    /// Whether there are values for which a literal is known to hold, and others for which it is known not to, and no more.
    fn can_split(&self, scene: &Scene, literal: &Literal) -> bool {
        if let Thing::Before(..) = literal.thing {
            return true;
        }
        let values = scene
            .values(self.family, &literal.thing)
            .unwrap_or_default();
        !values.is_empty()
            && values
                .iter()
                .all(|value| literal.values.has(*value).is_some())
    }
}

/// How near a scene is to an excluded situation.
enum Near {
    /// It has one.
    Is,
    /// A literal of one is open; or there is none that fits.
    Open(Option<Literal>),
}
