//! What everybody sees, as facts about who is where.
//!
//! What is common to all assertions speaks of shared variables and of classes: which of the exposed facts hold of whom. A few patterns
//! say most of it: at most one process is at certain labels; somebody is there exactly if a variable has some value; a variable says how many are there; two
//! processes are not at certain labels together, or only if something holds. Candidates come from one process, or one
//! pair, that stands for all; each is tested on the common part for all before it is stated, and only if it says something new.

mod sums;

use threadwise_evidence::{Expression, Omission};
use threadwise_lang::program::TemplateId;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellId, ProcessId, TemplateSymmetry};
use threadwise_symbolic::{Bdd, Halt, Hidden, Symbolic};

use super::Writer;
use super::minimise::{Fact, Minimiser, omission};
use super::terms::{Id, Literal, Naming, all_values, id};

/// Combinations of classes of a process that are looked at.
const MOST_VIEWS: usize = 32;
/// Processes of a template of which all pairs are looked at.
const MOST_PAIRED: u32 = 16;
/// Facts that are looked for.
const MOST_FACTS: usize = 12;
/// With more cells, what these leave open is not looked at.
const MOST_CELLS: usize = 64;

/// What was found.
pub(super) struct Seen {
    pub(super) facts: Vec<String>,
    /// What they leave out, together with the rest of the outline.
    pub(super) omitted: Option<Omission>,
}

/// What is seen of one process: for each exposed cell, its class.
type Sight = Vec<Literal>;

/// If the first process shows one of some sights and the second one of others, facts hold, in these words.
type Condition = (Vec<Sight>, Vec<Sight>, Vec<Fact>, Expression);

/// The search for facts.
struct Finder<'w, 'a, 's> {
    writer: &'w Writer<'a, 's>,
    /// The common part, as far as the others allow.
    inside: Bdd,
    /// What was said so far, here and in the rest of the outline.
    known: Bdd,
    facts: Vec<String>,
}

impl Writer<'_, '_> {
    /// Facts about what everybody sees, beyond what the rest of the outline says of it.
    pub(super) fn seen(&self, known: Bdd) -> Result<Seen, Halt> {
        let d = &self.symbolic.diagrams;
        let mut finder = Finder {
            writer: self,
            inside: d.and(self.common, &known)?,
            known,
            facts: Vec::new(),
        };
        finder.find()?;
        finder.rest()?;
        let classes = self.view.own.iter().map(|own| own.classes.vars().len());
        let shared = self.symbolic.encoding.vars_of(&self.view.shared, false);
        Ok(Seen {
            omitted: omission(
                self.symbolic,
                (&finder.known, &finder.inside),
                shared.len() + classes.sum::<usize>(),
                "shared variables and what the others may speak of",
            ),
            facts: finder.facts,
        })
    }

    /// The combinations of classes that a process can show.
    fn sights(&self, process: ProcessId) -> Result<Vec<Sight>, Halt> {
        let mut sights: Vec<Sight> = vec![Vec::new()];
        for cell in self.exposed_cells(process) {
            let code = &self.symbolic.encoding.cells[cell];
            let hidden = code.hidden_vars(false).count();
            let mut classes: Vec<(usize, Vec<i64>)> = Vec::new();
            for (value, code) in code.codes() {
                let class = code >> hidden;
                match classes.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, values)) => values.push(*value),
                    None => classes.push((class, vec![*value])),
                }
            }
            sights = sights
                .iter()
                .flat_map(|sight| {
                    classes.iter().map(|(_, values)| {
                        let mut sight = sight.clone();
                        sight.push(Literal::In {
                            cell,
                            values: values.iter().copied().collect(),
                        });
                        sight
                    })
                })
                .collect();
            if sights.len() > MOST_VIEWS {
                return Ok(Vec::new());
            }
        }
        if sights.iter().all(Vec::is_empty) {
            sights.clear();
        }
        Ok(sights)
    }

    fn exposed_cells(&self, process: ProcessId) -> Vec<CellId> {
        let cells = self.view.own[process].cells.iter().copied();
        cells
            .filter(|cell| {
                let mut vars = self.symbolic.encoding.cells[*cell].class_vars(false);
                vars.next().is_some()
            })
            .collect()
    }
}

impl<'s> Finder<'_, '_, 's> {
    fn complete(&self) -> bool {
        self.known == self.inside
    }

    fn find(&mut self) -> Result<(), Halt> {
        let system = self.writer.system();
        for template in system.templates.indices() {
            if !self.complete() && system.templates[template].count > 1 {
                self.alone(template)?;
            }
        }
        if !self.complete() {
            self.sums()?;
        }
        let representatives = self.writer.representatives.all();
        for (place, &first) in representatives.iter().enumerate() {
            let mut partners: Vec<ProcessId> = representatives[place + 1..].to_vec();
            if self.writer.stands_for_all(first) {
                let template = &system.templates[system.template_of(first)];
                partners.push(first + 1);
                if template.symmetry != TemplateSymmetry::Full && template.count > 2 {
                    partners.push(first + (template.count as usize - 1));
                }
            }
            for second in partners {
                if self.complete() || self.facts.len() >= MOST_FACTS {
                    return Ok(());
                }
                self.pair(first, second)?;
            }
        }
        Ok(())
    }

    /// States what is left as clauses, if few say all of it.
    fn rest(&mut self) -> Result<(), Halt> {
        if self.complete() {
            return Ok(());
        }
        let d = &self.writer.symbolic.diagrams;
        let view = self.writer.view;
        let exposed: Vec<CellId> = view
            .own
            .indices()
            .flat_map(|process| self.writer.exposed_cells(process))
            .collect();
        let cells = [view.shared.as_slice(), &exposed].concat();
        if cells.len() > MOST_CELLS {
            return Ok(());
        }
        // Values are hidden but for their classes; which of the codes in a class have a meaning does not matter.
        let valid = self.writer.valid(&exposed)?;
        let (target, care) = (d.and(&self.inside, &valid)?, d.and(&self.known, &valid)?);
        let minimiser = self.writer.minimiser(Vec::new(), Vec::new());
        let found = minimiser.explain(&cells, &target, &care)?;
        if !found.is_complete() {
            return Ok(());
        }
        let naming = minimiser.naming();
        for fact in &found.facts {
            let wrong = view.hidden.forget(d, &d.minus(&valid, &fact.states)?)?;
            self.add(&d.not(&wrong)?, &minimiser.formula(fact, &naming))?;
        }
        Ok(())
    }

    /// States a fact, if it holds and is news.
    fn add(&mut self, states: &Bdd, formula: &Expression) -> Result<bool, Halt> {
        let d = &self.writer.symbolic.diagrams;
        let holds = d.is_empty(&d.minus(&self.inside, states)?);
        let news = !d.is_empty(&d.minus(&self.known, states)?);
        if holds && news {
            self.known = d.and(&self.known, states)?;
            self.facts.push(formula.to_string());
        }
        Ok(holds && news)
    }

    /// Where a process shows one of these.
    fn shows(&self, sights: &[Sight]) -> Result<Bdd, Halt> {
        let d = &self.writer.symbolic.diagrams;
        let minimiser = self.writer.minimiser(Vec::new(), Vec::new());
        let mut states = d.none();
        for sight in sights {
            states = d.or(&states, &minimiser.all_of(sight)?)?;
        }
        // The bits of a class alone: the others may have values that stand for nothing.
        Ok(self.writer.view.hidden.forget(d, &states)?)
    }

    /// What is seen of all processes forgotten.
    fn shared_of(&self, set: &Bdd) -> Result<Bdd, Halt> {
        let mut set = set.clone();
        for own in self.writer.view.own.iter().rev() {
            set = own.classes.forget(&self.writer.symbolic.diagrams, &set)?;
        }
        Ok(set)
    }

    /// In words, that a process shows one of these. If all that the words are used for are alike, what it never shows does not matter.
    fn words(
        &self,
        process: ProcessId,
        sights: &[Sight],
        naming: &Naming,
        alike: bool,
    ) -> Result<Expression, Halt> {
        let d = &self.writer.symbolic.diagrams;
        let system = self.writer.system();
        let minimiser = self.writer.minimiser(vec![id(system, process)], Vec::new());
        let cells = self.writer.exposed_cells(process);
        let valid = self.writer.valid(&cells)?;
        let own = if alike {
            &self.writer.own[process]
        } else {
            &valid
        };
        let shared = self
            .writer
            .symbolic
            .encoding
            .vars_of(&self.writer.view.shared, false);
        let care = Hidden::new(d, shared)?.forget(d, own)?;
        let other: Vec<CellId> = self.writer.view.own[process]
            .cells
            .iter()
            .copied()
            .filter(|cell| !cells.contains(cell))
            .collect();
        let other = self.writer.symbolic.encoding.vars_of(&other, false);
        let care = Hidden::new(d, other)?.forget(d, &care)?;
        let found = minimiser.explain(&cells, &self.shows(sights)?, &care)?;
        if found.is_complete() {
            return Ok(conjunction(&minimiser, &found.facts, naming));
        }
        let sights = sights.iter().map(|sight| {
            let literals = sight.iter().map(|l| minimiser.literal(l, naming));
            Expression::and(literals.collect())
        });
        Ok(Expression::or(sights.collect()))
    }

    /// The sights of which at most one process of a template has one at a time; and what that means for the shared variables.
    fn alone(&mut self, template: TemplateId) -> Result<(), Halt> {
        let system = self.writer.system();
        let shape = &system.templates[template];
        let first = shape.first;
        let symmetric = self.writer.stands_for_all(first);
        let all = self.shown_by_all(template)?;
        let sights = match all.first() {
            Some(sights) => sights.len(),
            None => return Ok(()),
        };
        let pairs: Vec<(usize, usize)> = match shape.symmetry {
            TemplateSymmetry::Full if symmetric => vec![(0, 1)],
            _ => (0..all.len())
                .flat_map(|p| (p + 1..all.len()).map(move |q| (p, q)))
                .filter(|(p, _)| !symmetric || *p == 0)
                .collect(),
        };
        let mut chosen: Vec<usize> = Vec::new();
        for sight in 0..sights {
            (self.writer.breathe)()?;
            let mut apart = true;
            for (p, q) in &pairs {
                for other in chosen.iter().copied().chain([sight]) {
                    apart = apart
                        && self.exclude(&all[*p][sight..=sight], &all[*q][other..=other])?
                        && self.exclude(&all[*p][other..=other], &all[*q][sight..=sight])?;
                }
            }
            if apart {
                chosen.push(sight);
            }
        }
        let mut candidates = vec![chosen.clone()];
        candidates.extend((0..sights).map(|sight| vec![sight]));
        for (place, candidate) in candidates.into_iter().enumerate() {
            if candidate.is_empty() || self.complete() {
                continue;
            }
            let shown: Vec<Vec<Sight>> = all
                .iter()
                .map(|own| candidate.iter().map(|sight| own[*sight].clone()).collect())
                .collect();
            self.counted(template, &shown, place == 0)?;
        }
        Ok(())
    }

    /// What each process of a template shows, in the order of the first one's sights; nothing if they do not show the same.
    fn shown_by_all(&self, template: TemplateId) -> Result<Vec<Vec<Sight>>, Halt> {
        let system = self.writer.system();
        let shape = &system.templates[template];
        let sights = self.writer.sights(shape.first)?;
        let symmetric = self.writer.stands_for_all(shape.first);
        let own = [(template, 0)];
        let apart = |sight: &Sight| nobody_else(sight, self.writer.symbolic, &own);
        if sights.is_empty() || !symmetric && shape.count > MOST_PAIRED || !sights.iter().all(apart)
        {
            return Ok(Vec::new());
        }
        let mut all: Vec<Vec<Sight>> = Vec::new();
        for index in 0..shape.count {
            let mut images: Vec<u32> = (0..shape.count).collect();
            images.swap(0, index as usize);
            let Some(swap) = Permutation::of_template(template, images) else {
                return Ok(Vec::new());
            };
            let moved = |sight: &Sight| sight.iter().map(|l| l.moved(system, &swap)).collect();
            let own: Vec<Sight> = sights.iter().map(moved).collect();
            if !symmetric && own != self.writer.sights(shape.first + index as usize)? {
                return Ok(Vec::new());
            }
            all.push(own);
        }
        Ok(all)
    }

    /// At most one process shows one of these (if so), and what holds if nobody does.
    fn counted(
        &mut self,
        template: TemplateId,
        shown: &[Vec<Sight>],
        exclusive: bool,
    ) -> Result<(), Halt> {
        let d = &self.writer.symbolic.diagrams;
        let system = self.writer.system();
        let shape = &system.templates[template];
        let (mut nobody, mut at_most_one) = (d.all(), d.all());
        for sights in shown.iter().rev() {
            let here = self.shows(sights)?;
            at_most_one = d.ite(&here, &nobody, &at_most_one)?;
            nobody = d.minus(&nobody, &here)?;
        }
        let letter = &Naming::letters(system)[0];
        let naming = Naming::plain(system).with((template, 0), letter);
        let alike = self.writer.stands_for_all(shape.first);
        let words = self.words(shape.first, &shown[0], &naming, alike)?;
        let over = format!("{letter} in {}", shape.name);
        if exclusive {
            let text = format!("(count {over}: {words}) <= 1");
            self.add(&at_most_one, &Expression::Comparison(text))?;
        }
        let without = self.shared_of(&d.and(&self.inside, &nobody)?)?;
        if d.is_empty(&without) {
            return Ok(());
        }
        let minimiser = self.writer.minimiser(Vec::new(), Vec::new());
        let cells = &self.writer.view.shared;
        let found = minimiser.explain(cells, &without, &self.writer.shared)?;
        if found.facts.is_empty() {
            return Ok(());
        }
        let mut then = d.all();
        for fact in &found.facts {
            then = d.and(&then, &fact.states)?;
        }
        let somebody = Expression::Quantified(format!("exists {over}"), Box::new(words));
        let implied = d.or(&d.not(&nobody)?, &then)?;
        let converse = d.or(&d.not(&then)?, &nobody)?;
        let naming = minimiser.naming();
        if d.is_empty(&d.minus(&self.inside, &converse)?) {
            let not = match found.facts.as_slice() {
                [fact] => self.negated(&minimiser, fact, &naming),
                _ => None,
            };
            let both = d.and(&implied, &converse)?;
            let formula = match not {
                Some(not) => Expression::Iff(Box::new(somebody), Box::new(not)),
                None => Expression::Iff(
                    Box::new(Expression::Not(Box::new(somebody))),
                    Box::new(conjunction(&minimiser, &found.facts, &naming)),
                ),
            };
            self.add(&both, &formula)?;
        } else {
            let formula = Expression::Implies(
                Box::new(Expression::Not(Box::new(somebody))),
                Box::new(conjunction(&minimiser, &found.facts, &naming)),
            );
            self.add(&implied, &formula)?;
        }
        Ok(())
    }

    /// The negation of a fact that is a literal about the values of a cell.
    fn negated(&self, minimiser: &Minimiser, fact: &Fact, naming: &Naming) -> Option<Expression> {
        let Literal::In { cell, values } = fact.single()? else {
            return None;
        };
        let all = all_values(self.writer.symbolic, *cell);
        let literal = Literal::In {
            cell: *cell,
            values: &all - values,
        };
        Some(minimiser.literal(&literal, naming))
    }

    /// Whether two sights of different processes exclude each other.
    fn exclude(&self, one: &[Sight], other: &[Sight]) -> Result<bool, Halt> {
        let d = &self.writer.symbolic.diagrams;
        let both = d.and(&self.shows(one)?, &self.shows(other)?)?;
        Ok(d.is_empty(&d.and(&self.inside, &both)?))
    }

    /// What two processes exclude of each other, and what holds if they show what they do not exclude.
    fn pair(&mut self, first: ProcessId, second: ProcessId) -> Result<(), Halt> {
        let d = &self.writer.symbolic.diagrams;
        let system = self.writer.system();
        let named: Vec<Id> = vec![id(system, first), id(system, second)];
        let for_all = self.writer.for_all(&[first, second]);
        let minimiser = self.writer.minimiser(named.clone(), for_all.clone());
        let naming = self.pair_naming(first, second);
        let (ours, theirs) = (self.writer.sights(first)?, self.writer.sights(second)?);
        let symbolic = self.writer.symbolic;
        let ring = |template: &TemplateId| system.templates[*template].ring;
        if !for_all.is_empty()
            && !ours
                .iter()
                .chain(&theirs)
                .all(|s| nobody_else(s, symbolic, &named))
            || named[0].0 != named[1].0 && for_all.iter().any(ring)
        {
            return Ok(());
        }
        // Sights of the first with those of the second that they exclude.
        let mut excluded: Vec<(Vec<Sight>, Vec<Sight>)> = Vec::new();
        let mut conditional = Vec::new();
        for mine in ours {
            let mut apart = Vec::new();
            for other in &theirs {
                (self.writer.breathe)()?;
                let both = d.and(
                    &self.shows(std::slice::from_ref(&mine))?,
                    &self.shows(std::slice::from_ref(other))?,
                )?;
                let now = d.and(&self.known, &both)?;
                if d.is_empty(&now) {
                    continue;
                }
                let then = d.and(&self.inside, &both)?;
                if d.is_empty(&then) {
                    apart.push(other.clone());
                } else if then != now {
                    conditional.push((mine.clone(), other.clone(), both));
                }
            }
            match excluded.iter_mut().find(|(_, known)| *known == apart) {
                _ if apart.is_empty() => {}
                Some((sights, _)) => sights.push(mine),
                None => excluded.push((vec![mine], apart)),
            }
        }
        for (mine, others) in excluded {
            let both = d.and(&self.shows(&mine)?, &self.shows(&others)?)?;
            let words = Expression::And(vec![
                self.words(first, &mine, &naming, true)?,
                self.words(second, &others, &naming, true)?,
            ]);
            self.of_pairs(
                first,
                second,
                &d.not(&both)?,
                Expression::Not(Box::new(words)),
            )?;
        }
        let cells = &self.writer.view.shared;
        // Conditions under which the same holds, together.
        let mut together: Vec<Condition> = Vec::new();
        for (mine, other, both) in conditional {
            let then = self.shared_of(&d.and(&self.inside, &both)?)?;
            let now = self.shared_of(&d.and(&self.known, &both)?)?;
            let found = minimiser.explain(cells, &then, &now)?;
            if found.facts.is_empty() {
                continue;
            }
            let then = conjunction(&minimiser, &found.facts, &naming);
            let same = together
                .iter_mut()
                .find(|(when, _, _, known)| when.as_slice() == [mine.clone()] && *known == then);
            match same {
                Some((_, others, ..)) => others.push(other),
                None => together.push((vec![mine], vec![other], found.facts, then)),
            }
        }
        let mut merged: Vec<Condition> = Vec::new();
        for (mine, others, facts, then) in together {
            let same = merged
                .iter_mut()
                .find(|(_, known, _, formula)| *known == others && *formula == then);
            match same {
                Some((sights, ..)) => sights.extend(mine),
                None => merged.push((mine, others, facts, then)),
            }
        }
        for (mine, others, facts, then) in merged {
            if self.complete() || self.facts.len() >= MOST_FACTS {
                return Ok(());
            }
            let both = d.and(&self.shows(&mine)?, &self.shows(&others)?)?;
            let mut states = d.all();
            for fact in &facts {
                states = d.and(&states, &fact.states)?;
            }
            let states = d.or(&d.not(&both)?, &states)?;
            let when = Expression::And(vec![
                self.words(first, &mine, &naming, true)?,
                self.words(second, &others, &naming, true)?,
            ]);
            let formula = Expression::Implies(Box::new(when), Box::new(then));
            self.of_pairs(first, second, &states, formula)?;
        }
        Ok(())
    }

    /// Names for a pair: letters for those who stand for others, numbers for all else.
    fn pair_naming(&self, first: ProcessId, second: ProcessId) -> Naming<'s> {
        let system = self.writer.system();
        let letters = Naming::letters(system);
        let mut naming = Naming::plain(system);
        let neighbours = system.template_of(first) == system.template_of(second)
            && system.templates[system.template_of(first)].ring;
        for (process, letter) in [first, second].into_iter().zip(&letters) {
            // A neighbour is called by the other's name.
            let called = neighbours && process == second;
            if !called && self.writer.for_all(&[process]).len() == 1 {
                naming = naming.with(id(system, process), letter);
            }
        }
        naming
    }

    /// States a fact about two processes, for all pairs that are alike.
    fn of_pairs(
        &mut self,
        first: ProcessId,
        second: ProcessId,
        states: &Bdd,
        formula: Expression,
    ) -> Result<(), Halt> {
        let d = &self.writer.symbolic.diagrams;
        let system = self.writer.system();
        let naming = self.pair_naming(first, second);
        let (one, two) = (id(system, first), id(system, second));
        let all = |process: ProcessId| {
            let stands = self.writer.representatives.of(process).0;
            self.writer.stands_for_all(stands)
        };
        let count = |id: Id| system.templates[id.0].count;
        let mut permutations: Vec<Vec<Permutation>> = Vec::new();
        let mut formula = formula;
        if one.0 == two.0 && all(first) {
            let near = system.templates[one.0].symmetry == TemplateSymmetry::Rotations;
            let mut images: Vec<Vec<u32>> = Vec::new();
            for p in 0..count(one) {
                if near {
                    images.push((0..count(one)).map(|k| (k + p) % count(one)).collect());
                    continue;
                }
                for q in (0..count(one)).filter(|q| *q != p) {
                    let mut pair: Vec<u32> = (0..count(one)).collect();
                    pair.swap(one.1 as usize, p as usize);
                    if let Some(place) = pair.iter().position(|image| *image == q) {
                        pair.swap(two.1 as usize, place);
                    }
                    images.push(pair);
                }
            }
            let images = images.into_iter();
            permutations.push(
                images
                    .filter_map(|images| Permutation::of_template(one.0, images))
                    .collect(),
            );
            let (i, j) = (naming.id(one), naming.id(two));
            let name = &system.templates[one.0].name;
            if near {
                let head = format!("forall {i} in {name}");
                formula = Expression::Quantified(head, Box::new(formula));
            } else {
                let apart = Expression::Comparison(format!("{i} != {j}"));
                let formula_apart = match formula {
                    Expression::Implies(when, then) => {
                        Expression::Implies(Box::new(Expression::And(vec![apart, *when])), then)
                    }
                    other => Expression::Implies(Box::new(apart), Box::new(other)),
                };
                let head = format!("forall {i}, {j} in {name}");
                formula = Expression::Quantified(head, Box::new(formula_apart));
            }
        } else {
            for (process, id) in [(second, two), (first, one)] {
                if all(process) {
                    let swaps = (0..count(id)).filter_map(|to| {
                        let mut images: Vec<u32> = (0..count(id)).collect();
                        images.swap(id.1 as usize, to as usize);
                        Permutation::of_template(id.0, images)
                    });
                    permutations.push(swaps.collect());
                    let name = &system.templates[id.0].name;
                    let head = format!("forall {} in {name}", naming.id(id));
                    formula = Expression::Quantified(head, Box::new(formula));
                }
            }
        }
        let instances: usize = permutations.iter().map(Vec::len).product();
        if instances > (MOST_PAIRED * MOST_PAIRED) as usize {
            return Ok(());
        }
        let mut all = states.clone();
        for permutations in permutations {
            let one = all;
            all = d.all();
            for permutation in permutations {
                (self.writer.breathe)()?;
                let moved = self.writer.symbolic.permute(&one, &permutation)?;
                all = d.and(&all, &moved)?;
            }
        }
        self.add(&all, &formula)?;
        Ok(())
    }
}

/// Whether what is shown speaks of nobody but these.
fn nobody_else(sight: &Sight, symbolic: &Symbolic, named: &[Id]) -> bool {
    let mut literals = sight.iter();
    literals.all(|literal| {
        literal
            .ids(symbolic, named)
            .is_some_and(|ids| ids.is_empty())
    })
}

/// All of these facts.
fn conjunction(minimiser: &Minimiser, facts: &[Fact], naming: &Naming) -> Expression {
    let facts = facts.iter();
    Expression::and(facts.map(|fact| minimiser.formula(fact, naming)).collect())
}
