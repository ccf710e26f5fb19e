//! Backward search with guesses: which situations never come about.
//!
//! After Conchon, Goel, Krstić, Mebsout and Zaïdi (Invariants for finite instances and beyond, FMCAD 2013). The search begins with the situations in which a property is violated, and asks for the
//! situations before each. One that is covered by a known one is done. Of every other one the search guesses that already a part of it never comes about: a part that no
//! sample has, about as few processes as possible, with as few literals as possible, each widened as far as no sample has it. If nothing is left to do, the situations are
//! closed under steps backwards, and none is an initial one.
//!
//! Of processes in a queue it is known who came first. A situation that says nothing of that is taken apart by it before a guess about more than two processes is made: small samples have few processes that are
//! none of three, and much that is about three never comes about in them alone. Of three, whom ids name and who came first is looked at before where they are.
//!
//! A guess is wrong if a situation before it has no such part, since samples have it. Then the image of what is known of the sample is *banned*: whatever contains it is no longer guessed, and
//! the search begins again. Bans are as narrow as possible, since a ban of all that was guessed would lead through everything between.
//!
//! Where two processes look as if they could be so, since a step that is forbidden by a third one seems possible, guesses about three or four of which these are two are as many as
//! there are ways to pick the others, all of them wrong, and none is needed. So where many guesses are wrong, it is also tried with guesses that are about no more processes than what
//! is to be excluded: these are few enough that all wrong ones are banned.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use threadwise_lang::program::TemplateId;

use super::cases::TooMany;
use super::columns::{Column, Frame, Mask, Situation, Who};
use super::steps::{Before, Step};
use super::table::{Table, wider};
use crate::small::Sample;

/// How often a guess may turn out to be wrong, and whether guesses are about no more processes than what is to be excluded: at first, and where that was too often.
const ATTEMPTS: [(usize, bool); 3] = [(60, false), (300, true), (1_500, false)];
/// Literals of a part that all combinations are tried of.
const LITERALS: usize = 4;

/// Why the search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Gap {
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// There are too many cases of a step.
    #[error("a step has too many cases")]
    Cases,
    /// Too many guesses were wrong.
    #[error("too many guesses were wrong")]
    Bans,
    /// From what samples show, a violation seems to be reached.
    #[error("of the few processes that are looked at, some step seems to lead to a violation")]
    Open,
}

impl From<TooMany> for Gap {
    fn from(_: TooMany) -> Gap {
        Gap::Cases
    }
}

/// The search.
pub(crate) struct Search<'a, 'f> {
    pub(crate) frame: &'a Frame<'f>,
    samples: &'a [Sample],
    stop: &'a dyn Fn() -> bool,
    tables: HashMap<Vec<TemplateId>, Rc<Table>>,
    steps: HashMap<(TemplateId, usize, Who), Rc<Step>>,
    known_before: HashMap<Situation, Rc<Vec<Before>>>,
    seen: HashMap<Situation, Option<usize>>,
    banned: Vec<Situation>,
    wrong: usize,
    /// How many processes a guess may be about, beside those that are in every scope.
    most: usize,
    /// For groups of goals that are not excluded, what is in the way.
    pub(crate) stuck: BTreeMap<usize, Gap>,
    /// And the goal.
    pub(crate) open: BTreeMap<usize, Situation>,
    /// The goal that was last found not to be excluded.
    reached: Option<Situation>,
}

/// How a round ended.
enum Round {
    /// With situations that are closed.
    Closed(Vec<Situation>),
    /// With one more ban.
    Again,
    /// A goal is not to be excluded.
    Open,
}

impl<'a, 'f> Search<'a, 'f> {
    pub(crate) fn new(
        frame: &'a Frame<'f>,
        samples: &'a [Sample],
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        Search {
            frame,
            samples,
            stop,
            tables: HashMap::new(),
            steps: HashMap::new(),
            known_before: HashMap::new(),
            seen: HashMap::new(),
            banned: Vec::new(),
            wrong: 0,
            most: usize::MAX,
            stuck: BTreeMap::new(),
            open: BTreeMap::new(),
            reached: None,
        }
    }

    /// How many guesses were wrong.
    pub(crate) fn wrong(&self) -> usize {
        self.wrong
    }

    /// For each group of goals, situations that never come about, by guess, closed under steps backwards, if these cover all of the group. Groups are tried one after
    /// the other, and those that take many guesses again at last, so none is in the way of another one.
    pub(crate) fn run(&mut self, groups: &[Vec<Situation>]) -> Vec<Option<Vec<Situation>>> {
        let mut found: Vec<Option<Vec<Situation>>> = vec![None; groups.len()];
        let mut open: Vec<usize> = (0..groups.len()).collect();
        for (bans, few) in ATTEMPTS {
            let mut left = Vec::new();
            for group in open {
                let goals: Vec<Situation> = groups[group]
                    .iter()
                    .map(|goal| goal.tidy(self.frame))
                    .collect();
                self.stuck.remove(&group);
                self.open.remove(&group);
                let outcome = match few {
                    true => self.about_few(&goals, bans),
                    false => self.one(&goals, bans),
                };
                match outcome {
                    Ok(known) => found[group] = Some(known),
                    Err(Gap::Stopped) => return found,
                    Err(gap) => {
                        if let Some(goal) = self.reached.take().filter(|_| gap == Gap::Open) {
                            self.open.insert(group, goal);
                        }
                        if few || gap == Gap::Bans {
                            left.push(group);
                        }
                        self.stuck.insert(group, gap);
                    }
                }
            }
            open = left;
        }
        found
    }

    /// The same for one group, with guesses about no more processes than the goals. Wrong ones say nothing of those about more.
    fn about_few(&mut self, goals: &[Situation], bans: usize) -> Result<Vec<Situation>, Gap> {
        let processes = goals.iter().map(|goal| goal.scope.len()).max();
        let others = processes.map_or(0, |all| all - self.frame.singles.len());
        self.most = others.max(2);
        let before = std::mem::take(&mut self.banned);
        let outcome = self.one(goals, bans);
        self.banned = before;
        self.most = usize::MAX;
        outcome
    }

    fn one(&mut self, goals: &[Situation], bans: usize) -> Result<Vec<Situation>, Gap> {
        let most = self.banned.len() + bans;
        while self.banned.len() <= most {
            match self.round(goals)? {
                Round::Closed(known) => return self.needed(&known, goals),
                Round::Again => {}
                Round::Open => return Err(Gap::Open),
            }
        }
        Err(Gap::Bans)
    }

    fn round(&mut self, goals: &[Situation]) -> Result<Round, Gap> {
        let mut known: Vec<Situation> = Vec::new();
        for goal in goals {
            if self.exclude(&mut known, goal)?.is_err() {
                self.reached = Some(goal.clone());
                return Ok(Round::Open);
            }
        }
        let mut next = 0;
        while let Some(after) = known.get(next).cloned() {
            next += 1;
            if known[next..]
                .iter()
                .any(|other| other.covers(self.frame, &after))
            {
                continue;
            }
            for before in self.before(&after)?.iter() {
                let (tidy, was) = before.at.tidied(self.frame);
                if let Err(open) = self.exclude(&mut known, &tidy)? {
                    let banned = self.image(before, &open, &was, &after);
                    self.banned.push(banned.tidy(self.frame));
                    self.wrong += 1;
                    return Ok(Round::Again);
                }
            }
        }
        Ok(Round::Closed(known))
    }

    /// Sees to it that a situation is covered, by guesses if need be. If it cannot be, gives the case that is not, with the same processes in scope.
    ///
    /// Guesses about more than two processes are made only where it is known who of those who queue came first: then two are often enough.
    fn exclude(
        &mut self,
        known: &mut Vec<Situation>,
        whole: &Situation,
    ) -> Result<Result<(), Situation>, Gap> {
        if self.covered(known, whole) {
            return Ok(Ok(()));
        }
        let others = whole.scope.len() - self.frame.singles.len();
        let undecided = whole.undecided(self.frame).filter(|_| others > 2);
        let few = if undecided.is_some() { 2 } else { others };
        if let Some(part) = self.part(whole, few)? {
            known.push(part);
            return Ok(Ok(()));
        }
        let Some(pair) = undecided else {
            return Ok(Err(whole.clone()));
        };
        for case in whole.split(self.frame, pair) {
            if let Err(open) = self.exclude(known, &case)? {
                return Ok(Err(open));
            }
        }
        Ok(Ok(()))
    }

    /// Which of situations cover one, or the cases that it is split into.
    fn covering(&self, known: &[Situation], one: &Situation) -> Vec<usize> {
        let direct = known.iter().position(|other| other.covers(self.frame, one));
        if let Some(place) = direct {
            return vec![place];
        }
        let pair = one.undecided(self.frame);
        let cases = pair.map(|pair| one.split(self.frame, pair));
        let cases = cases.unwrap_or_default();
        cases
            .iter()
            .flat_map(|case| self.covering(known, case))
            .collect()
    }

    fn covered(&self, known: &[Situation], one: &Situation) -> bool {
        known
            .iter()
            .rev()
            .any(|other| other.covers(self.frame, one))
    }

    /// The situations before one.
    pub(crate) fn before(&mut self, after: &Situation) -> Result<Rc<Vec<Before>>, Gap> {
        if let Some(known) = self.known_before.get(after) {
            return Ok(Rc::clone(known));
        }
        let mut found = Vec::new();
        for template in self.frame.family.templates.indices() {
            let mut movers: Vec<Who> = (0..after.scope.len() as Who).collect();
            movers.retain(|who| after.scope[usize::from(*who)] == template);
            if !self.frame.singles.contains(&template) {
                movers.push(after.scope.len() as Who);
            }
            for number in 0..self.frame.family.templates[template].paths.len() {
                for mover in &movers {
                    if (self.stop)() {
                        return Err(Gap::Stopped);
                    }
                    let frame = self.frame;
                    let step = self.steps.entry((template, number, *mover));
                    let step =
                        step.or_insert_with(|| Rc::new(Step::new(frame, template, number, *mover)));
                    found.extend(step.before(frame, after)?);
                }
            }
        }
        let found = Rc::new(found);
        self.known_before.insert(after.clone(), Rc::clone(&found));
        Ok(found)
    }

    fn table(&mut self, scope: &[TemplateId]) -> Rc<Table> {
        if let Some(table) = self.tables.get(scope) {
            return Rc::clone(table);
        }
        let table = Rc::new(Table::new(self.frame, self.samples, scope));
        self.tables.insert(scope.to_vec(), Rc::clone(&table));
        table
    }

    /// A sample that has a situation.
    fn sample(&mut self, situation: &Situation) -> Option<usize> {
        if let Some(found) = self.seen.get(situation) {
            return *found;
        }
        // It is work, so it is asked whether to stop; whoever goes on is told to soon.
        let _ = (self.stop)();
        let found = self.table(&situation.scope).find(situation);
        self.seen.insert(situation.clone(), found);
        found
    }

    /// Whether a situation may be guessed never to come about.
    fn may_be_guessed(&mut self, situation: &Situation) -> bool {
        let banned = |this: &Self| {
            let mut banned = this.banned.iter();
            banned.any(|banned| situation.covers(this.frame, banned))
        };
        self.sample(situation).is_none() && !banned(self) && !begins(self.frame, situation)
    }

    /// A part of a situation that may be guessed never to come about, with few processes, so many at most, and few literals.
    fn part(&mut self, whole: &Situation, most: usize) -> Result<Option<Situation>, Gap> {
        let singles = self.frame.singles.len();
        let others = whole.scope.len() - singles;
        for size in 0..=others.min(most).min(self.most) {
            for chosen in combinations(others, size) {
                if (self.stop)() {
                    return Err(Gap::Stopped);
                }
                let mut stay = vec![true; whole.scope.len()];
                for (who, stay) in stay[singles..].iter_mut().enumerate() {
                    *stay = chosen.contains(&who);
                }
                let part = whole.of(self.frame, &stay).tidy(self.frame);
                if part.scope.len() < singles + size
                    || size < others && !self.table(&part.scope).telling
                {
                    continue;
                }
                // Who came first and whom ids name says more about many processes than where a few of them are.
                let frame = self.frame;
                let mut links = part.clone();
                links
                    .masks
                    .retain(|(column, _)| frame.links(*column, &part.scope));
                let links = links.tidy(frame);
                if size > 2 && links.masks.len() < part.masks.len() && self.may_be_guessed(&links) {
                    return Ok(Some(self.smallest(&links)));
                }
                if self.may_be_guessed(&part) {
                    let part = match self.table(&part.scope).telling {
                        true => self.smallest(&part),
                        false => part,
                    };
                    return Ok(Some(part));
                }
            }
        }
        Ok(None)
    }

    /// Leaves out literals and adds values, as long as it may be guessed.
    fn smallest(&mut self, whole: &Situation) -> Situation {
        let mut found = None;
        let literals = whole.masks.len();
        'sizes: for size in 1..=LITERALS.min(literals) {
            for chosen in combinations(literals, size) {
                let mut part = whole.clone();
                part.masks = chosen.iter().map(|place| whole.masks[*place]).collect();
                let part = part.tidy(self.frame);
                if self.may_be_guessed(&part) {
                    found = Some(part);
                    break 'sizes;
                }
            }
        }
        let mut part = found.unwrap_or_else(|| self.fewer(whole));
        for (column, bit) in wider(self.frame, &part) {
            let Some(mask) = part.mask(self.frame, column) else {
                continue;
            };
            let mut more = part.clone();
            more.replace(self.frame, column, mask | bit);
            if self.may_be_guessed(&more) {
                part = more;
            }
        }
        part.tidy(self.frame)
    }

    fn fewer(&mut self, whole: &Situation) -> Situation {
        let mut part = whole.clone();
        let mut place = part.masks.len();
        while place > 0 {
            place -= 1;
            let mut less = part.clone();
            less.masks.remove(place);
            if self.may_be_guessed(&less.tidy(self.frame)) {
                part = less;
            }
        }
        part.tidy(self.frame)
    }

    /// What a step leads to from what is known of a sample, or of what is banned, that has the situation before it.
    fn image(
        &mut self,
        before: &Before,
        tidy: &Situation,
        was: &[Who],
        after: &Situation,
    ) -> Situation {
        let mut known: Option<Situation> = None;
        if let Some(row) = self.sample(tidy) {
            let table = self.table(&tidy.scope);
            let masks: Vec<(Column, Mask)> = table.row(row).collect();
            known = Some(Situation {
                scope: tidy.scope.clone(),
                masks,
            });
        } else {
            for banned in &self.banned {
                if let Some(to) = tidy.within(self.frame, banned) {
                    let mut from = vec![Who::MAX; banned.scope.len()];
                    for (who, there) in to.iter().enumerate() {
                        from[usize::from(*there)] = who as Who;
                    }
                    let stay: Vec<bool> = from.iter().map(|who| *who != Who::MAX).collect();
                    let part = banned.of(self.frame, &stay);
                    let names: Vec<Who> = from.into_iter().filter(|who| *who != Who::MAX).collect();
                    known = Some(part.renamed(self.frame, tidy.scope.clone(), &names));
                    break;
                }
            }
        }
        let mut at = before.at.clone();
        if let Some(known) = known {
            let known = known.renamed(self.frame, at.scope.clone(), was);
            for (column, mask) in known.masks {
                let both = at.mask(self.frame, column).unwrap_or(Mask::MAX) & mask;
                if both != 0 {
                    at.replace(self.frame, column, both);
                }
            }
        }
        before.step.image(self.frame, &at, after)
    }

    /// Those of situations that are closed under steps backwards which goals need.
    fn needed(&mut self, known: &[Situation], goals: &[Situation]) -> Result<Vec<Situation>, Gap> {
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut queue: Vec<usize> = Vec::new();
        for goal in goals {
            queue.extend(self.covering(known, &goal.tidy(self.frame)));
        }
        while let Some(place) = queue.pop() {
            if needed.insert(place) {
                for before in self.before(&known[place])?.iter() {
                    queue.extend(self.covering(known, &before.at.tidy(self.frame)));
                }
            }
        }
        Ok(needed
            .into_iter()
            .map(|place| known[place].clone())
            .collect())
    }
}

/// Whether a situation may be one at first, of whatever instance: samples are of small ones.
fn begins(frame: &Frame, situation: &Situation) -> bool {
    situation.masks.iter().all(|(column, mask)| {
        let begins = frame.begins(*column, situation);
        begins.is_none_or(|begins| begins & mask != 0)
    })
}

/// All ways to choose some of so many, in order.
fn combinations(of: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut chosen: Vec<usize> = (0..size).collect();
    if size > of {
        return all;
    }
    loop {
        all.push(chosen.clone());
        let Some(place) = (0..size)
            .rev()
            .find(|place| chosen[*place] < of - size + place)
        else {
            return all;
        };
        chosen[place] += 1;
        for next in place + 1..size {
            chosen[next] = chosen[next - 1] + 1;
        }
    }
}
