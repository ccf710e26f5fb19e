//! Claims that situations of a few processes never come about.
//!
//! An excluded situation is a list of facts about some processes, all different. The claim is that in no reachable state, of no instance, there are processes of which all facts of one of the
//! situations hold. It is shown by induction over the steps of a run:
//!
//! 1. *Instance*: every value of the parameters that `where` allows has an instance, as for other claims.
//! 2. *Initial*: no processes are in an excluded situation at first.
//! 3. *Step*: if processes are in an excluded situation after a step, then some processes were in one before it. The step is that of one of these processes, or of any other one.
//! 4. *Property*: where the invariant is violated, or a check fails, some processes are in an excluded situation.
//!
//! For each, the processes in question are in a *scene* (`scene`), with the facts that are to be refuted (`refute`): the guard of the step, and what is said of the state after it, with written values in place of
//! what they are written to. A scene is about the state before the step, of an instance of any size. Facts are refuted by cases: of the values of what the scene
//! knows, of who an id is, of who exists, until a fact is false or an excluded situation is there, which it was not by induction. Cases are complete: each value of a type is in one,
//! and somebody who is asked about is one of those in the scene or comes into it. What this has no form for (integers without bounds, numbers of processes, what holds of processes
//! that are not in the scene) is known to have any value, so the facts about it are never used. There is no search for invariants here, and no code of an engine.

mod came;
mod refute;
mod ring;
mod scene;
mod value;

use std::rc::Rc;

use threadwise_evidence::family::{Excluded, Fact as Claimed, FamilyClaim, Queue};
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{
    Cell, Conjunct, Family, Names, Path, PathEnd, Population, Term, Write,
};

use super::names::{location_named, symbol, template_named};
use crate::Error;
use came::Queues;
use refute::{Fact, Refuter};
pub(crate) use scene::{Literal, Situation, Values};
use scene::{Scene, Thing};

/// How many processes an excluded situation may be about: the number of ways to find them grows fast with it.
const MAX_REFERENCES: usize = 8;

/// The conditions of a claim.
pub(crate) struct Conditions<'a> {
    pub(crate) family: &'a Family,
    pub(crate) property: &'a str,
    situations: Vec<Situation>,
    queues: Rc<Queues>,
    stop: &'a dyn Fn() -> bool,
    pub(crate) conditions: u64,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(
        family: &'a Family,
        property: &'a str,
        claimed: &[Excluded],
        arrivals: &[Queue],
        stop: &'a dyn Fn() -> bool,
    ) -> Result<Conditions<'a>, Error> {
        for template in &family.templates {
            let starts = template.paths.iter().any(|path| !path.starts.is_empty());
            if starts || matches!(template.population, Population::Grows) {
                return Err(Error::unsupported(
                    "excluded situations are for programs in which no process is started",
                ));
            }
        }
        let situations = claimed.iter().enumerate();
        let situations = situations.map(|(number, excluded)| {
            read(family, excluded).map_err(|why| {
                Error::no_proof(format!("in the excluded situation {number}, {why}"))
            })
        });
        Ok(Conditions {
            family,
            property,
            situations: situations.collect::<Result<_, _>>()?,
            queues: Rc::new(Queues::new(family, arrivals)?),
            stop,
            conditions: 0,
        })
    }

    /// Refutes facts about a scene; `about` says what fails if they are not refuted.
    fn refute(
        &mut self,
        situations: &[Situation],
        scene: Scene,
        facts: Vec<Fact>,
        about: &dyn Fn() -> String,
    ) -> Result<(), Error> {
        self.conditions += 1;
        let mut refuter = Refuter {
            family: self.family,
            situations,
            stop: self.stop,
        };
        match refuter.refute(scene, facts)? {
            true => Ok(()),
            false => Err(Error::no_proof(about())),
        }
    }

    /// That no excluded situation is there at first.
    pub(crate) fn initial(&mut self) -> Result<(), Error> {
        for (number, situation) in self.situations.clone().iter().enumerate() {
            let (mut scene, to) = Scene::of(self.family, &self.queues, situation);
            let mut facts = Vec::new();
            let mut possible = true;
            for literal in &situation.literals {
                let literal = literal.renamed(&to);
                let begins = match &literal.thing {
                    Thing::At(who) => {
                        let entry = self.family.templates[scene.templates[*who as usize]].entry;
                        Some(Term::Number(entry.index() as i64))
                    }
                    Thing::Cell(cell) => self.first(cell),
                    // Nobody has come yet.
                    Thing::Came(..) => Some(Term::Number(came::APART)),
                    _ => None,
                };
                match begins {
                    Some(value) => facts.push(Fact::Within(value, literal)),
                    // It begins with any value, or stays as it is.
                    None => possible &= scene.restrict(self.family, &literal),
                }
            }
            if possible {
                self.refute(&[], scene, facts, &|| {
                    format!("the excluded situation {number} is not shown to be none at first")
                })?;
            }
        }
        Ok(())
    }

    /// What a cell begins with, if that is not any value.
    fn first(&self, cell: &Cell) -> Option<Term> {
        let (variable, own) = match cell {
            Cell::Shared { var, .. } => (&self.family.shared[*var], None),
            Cell::Local {
                template,
                process,
                var,
                ..
            } => {
                let Term::Reference(own) = **process else {
                    return None;
                };
                (&self.family.templates[*template].locals[*var], Some(own))
            }
        };
        let names = Names {
            own,
            bound: Vec::new(),
        };
        variable
            .initial
            .as_ref()
            .map(|initial| initial.resolve(&names))
    }

    /// That no step leads to an excluded situation from states without any.
    pub(crate) fn steps(&mut self) -> Result<(), Error> {
        let situations = self.situations.clone();
        for (number, situation) in situations.iter().enumerate() {
            for (template, declared) in self.family.templates.iter_enumerated() {
                for path in &declared.paths {
                    let PathEnd::At(to) = path.end else { continue };
                    let (scene, names) = Scene::of(self.family, &self.queues, situation);
                    let mut movers: Vec<usize> = (0..scene.templates.len()).collect();
                    movers.retain(|who| scene.templates[*who] == template);
                    for mover in movers {
                        let scene = scene.clone();
                        self.step(&situations, number, (path, to), scene, &names, mover)?;
                    }
                    if !scene::is_single(self.family, template) {
                        let mut scene = scene;
                        let mover = scene.grow(self.family, template);
                        self.step(&situations, number, (path, to), scene, &names, mover)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        situations: &[Situation],
        number: usize,
        (path, to): (&Path, LocationId),
        mut scene: Scene,
        names: &[u32],
        mover: usize,
    ) -> Result<(), Error> {
        let writes: Vec<Write> = path
            .writes
            .iter()
            .map(|write| write.of(mover as u32))
            .collect();
        let mut facts = Vec::new();
        // Whether it was excluded before, unless something that it is about changes.
        let mut changes = false;
        for literal in &situations[number].literals {
            let literal = literal.renamed(names);
            let after = match &literal.thing {
                Thing::At(who) if *who as usize == mover => {
                    if !literal.values.holds(to.index() as i64) {
                        return Ok(());
                    }
                    changes |= !literal.values.holds(path.from.index() as i64);
                    continue;
                }
                Thing::Cell(cell) => after(&writes, cell),
                Thing::Came(a, b) => {
                    self.queues
                        .after((*a, *b), mover as u32, &scene.templates, (path.from, to))
                }
                _ => None,
            };
            match after {
                Some(value) => {
                    changes = true;
                    facts.push(Fact::Within(value, literal));
                }
                None => {
                    if !scene.restrict(self.family, &literal) {
                        return Ok(());
                    }
                }
            }
        }
        if !changes {
            return Ok(());
        }
        let Some(guard) = self.guard(path, &mut scene, mover) else {
            return Ok(());
        };
        facts.extend(guard);
        let templates = &self.family.templates;
        let template = &templates[scene.templates[mover]];
        let whose = match names.iter().position(|who| *who as usize == mover) {
            Some(reference) => format!("its reference ${reference}"),
            None => "another process".to_owned(),
        };
        self.refute(situations, scene, facts, &|| {
            let (from, to) = (&template.locations[path.from], &template.locations[to]);
            format!(
                "the excluded situation {number} is not shown to be none after the step of {} from `{from}` to `{to}`, by {whose}",
                template.name
            )
        })
    }

    /// What must hold for a path to be taken; `None` if it cannot be.
    fn guard(&self, path: &Path, scene: &mut Scene, mover: usize) -> Option<Vec<Fact>> {
        let names = Names {
            own: Some(mover as u32),
            bound: Vec::new(),
        };
        scene.choose(path);
        let there = Literal {
            thing: Thing::At(mover as u32),
            values: Values::Numbers(vec![path.from.index() as i64]),
        };
        let guard = path
            .guard
            .iter()
            .map(|formula| Fact::Holds(formula.resolve(&names), true));
        scene.restrict(self.family, &there).then(|| guard.collect())
    }

    /// That no check fails but in excluded situations.
    pub(crate) fn checks(&mut self) -> Result<(), Error> {
        let situations = self.situations.clone();
        for (template, declared) in self.family.templates.iter_enumerated() {
            for path in &declared.paths {
                let PathEnd::Fails(..) = path.end else {
                    continue;
                };
                let mut scene = Scene::new(self.family, &self.queues);
                let known = scene.templates.iter().position(|known| *known == template);
                let mover = match known {
                    Some(mover) => mover,
                    None => scene.grow(self.family, template),
                };
                let Some(facts) = self.guard(path, &mut scene, mover) else {
                    continue;
                };
                self.refute(&situations, scene, facts, &|| {
                    let from = &declared.locations[path.from];
                    format!(
                        "the step of {} from `{from}` is not shown not to fail a check",
                        declared.name
                    )
                })?;
            }
        }
        Ok(())
    }

    /// That an invariant holds but in excluded situations.
    pub(crate) fn invariant(&mut self, conjuncts: &[Conjunct]) -> Result<(), Error> {
        for conjunct in conjuncts {
            self.identify(
                conjunct,
                Scene::new(self.family, &self.queues),
                &mut Vec::new(),
            )?;
        }
        Ok(())
    }

    /// For all ways in which the processes that it names are the same or not.
    fn identify(
        &mut self,
        conjunct: &Conjunct,
        scene: Scene,
        names: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let Some((_, template)) = conjunct.variables.get(names.len()) else {
            let bound = conjunct.variables.iter().zip(names.iter());
            let bound = bound.map(|((var, _), who)| (*var, Term::Reference(*who)));
            let names = Names {
                own: None,
                bound: bound.collect(),
            };
            let wrong = vec![Fact::Holds(conjunct.body.resolve(&names), false)];
            let property = self.property;
            let situations = self.situations.clone();
            return self.refute(&situations, scene, wrong, &|| {
                format!("`{property}` is not shown to hold where no situation is excluded")
            });
        };
        for who in 0..scene.templates.len() {
            if scene.templates[who] == *template {
                names.push(who as u32);
                self.identify(conjunct, scene.clone(), names)?;
                names.pop();
            }
        }
        if !scene::is_single(self.family, *template) {
            let mut scene = scene;
            let who = scene.grow(self.family, *template);
            names.push(who as u32);
            self.identify(conjunct, scene, names)?;
            names.pop();
        }
        Ok(())
    }
}

/// The value of a cell after writes; `None` if none of them can be to it.
fn after(writes: &[Write], cell: &Cell) -> Option<Term> {
    let written = writes.iter().any(|write| write.to(cell).is_some());
    let before = Term::Cell(cell.clone());
    written.then(|| {
        writes
            .iter()
            .fold(before, |value, write| write.after(cell, value))
    })
}

/// Reads a situation of a claim.
fn read(family: &Family, excluded: &Excluded) -> Result<Situation, String> {
    if excluded.references.len() > MAX_REFERENCES {
        return Err(format!("there are more than {MAX_REFERENCES} references"));
    }
    let mut templates = Vec::new();
    for name in &excluded.references {
        let template = template_named(family, name);
        let template = template.ok_or_else(|| format!("the model has no template `{name}`"))?;
        if scene::is_single(family, template) && templates.contains(&template) {
            return Err(format!("there are two processes of `{name}`"));
        }
        templates.push(template);
    }
    let literals = excluded
        .facts
        .iter()
        .map(|fact| literal(family, &templates, fact));
    let literals = literals.collect::<Result<_, _>>()?;
    Ok(Situation {
        templates,
        literals,
    })
}

fn literal(family: &Family, templates: &[TemplateId], fact: &Claimed) -> Result<Literal, String> {
    let reference = |number: usize| {
        let known = number < templates.len();
        known
            .then_some(number as u32)
            .ok_or_else(|| format!("there is no reference ${number}"))
    };
    let truth = |holds: bool| Values::Numbers(vec![i64::from(holds)]);
    Ok(match fact {
        Claimed::At {
            reference: who,
            labels,
        } => {
            let who = reference(*who)?;
            let template = templates[who as usize];
            let known = labels.iter().map(|label| {
                let location = location_named(family, template, label);
                let location = location.map(|location| location.index() as i64);
                let name = &family.templates[template].name;
                location.ok_or_else(|| format!("`{name}` has no label `{label}`"))
            });
            let known = known.collect::<Result<_, _>>()?;
            Literal {
                thing: Thing::At(who),
                values: Values::Numbers(known),
            }
        }
        Claimed::Value { cell, values } => Literal {
            thing: Thing::Cell(named(family, templates, cell)?),
            values: Values::Numbers(values.clone()),
        },
        Claimed::Id {
            cell,
            none,
            references,
            other,
        } => {
            let references = references.iter().map(|who| reference(*who));
            let references: Vec<u32> = references.collect::<Result<_, _>>()?;
            Literal {
                thing: Thing::Cell(named(family, templates, cell)?),
                values: Values::Ids {
                    none: *none,
                    processes: references,
                    other: *other,
                    known: (0..templates.len() as u32).collect(),
                },
            }
        }
        Claimed::Beside {
            reference: who,
            forward,
            references,
            other,
        } => {
            let references = references.iter().map(|who| reference(*who));
            Literal {
                thing: Thing::Beside(reference(*who)?, *forward),
                values: Values::Ids {
                    none: false,
                    processes: references.collect::<Result<_, _>>()?,
                    other: *other,
                    known: (0..templates.len() as u32).collect(),
                },
            }
        }
        Claimed::Came {
            first,
            second,
            before,
            after,
            apart,
        } => {
            let (first, second) = (reference(*first)?, reference(*second)?);
            if first == second {
                return Err("nobody comes before itself".to_owned());
            }
            let each = [
                (before, came::FIRST),
                (after, came::SECOND),
                (apart, came::APART),
            ];
            let values = each.iter().filter(|(listed, _)| **listed);
            let values = values.map(|(_, value)| match first < second {
                true => *value,
                false => came::turned(*value),
            });
            Literal {
                thing: Thing::Came(first.min(second), first.max(second)),
                values: Values::Numbers(values.collect()),
            }
        }
        Claimed::Before { first, second } => {
            let (first, second) = (reference(*first)?, reference(*second)?);
            if first == second || templates[first as usize] != templates[second as usize] {
                return Err("the order is that of two processes of one template".to_owned());
            }
            Literal {
                thing: Thing::Before(first, second),
                values: truth(true),
            }
        }
        Claimed::First {
            reference: who,
            holds,
        } => Literal {
            thing: Thing::First(reference(*who)?),
            values: truth(*holds),
        },
        Claimed::Last {
            reference: who,
            holds,
        } => Literal {
            thing: Thing::Last(reference(*who)?),
            values: truth(*holds),
        },
    })
}

/// The cell with a name.
fn named(family: &Family, templates: &[TemplateId], name: &str) -> Result<Cell, String> {
    let template_of = |reference: u32| templates.get(reference as usize).copied();
    let symbol = symbol(family, &FamilyClaim::default(), name)
        .ok_or_else(|| format!("`{name}` is no variable"))?;
    symbol.fits(family, &template_of)?;
    symbol
        .cell(family, &template_of)
        .ok_or_else(|| format!("`{name}` is no cell"))
}
