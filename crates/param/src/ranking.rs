//! Liveness for every value of the parameters, by deletion.
//!
//! A counter program with one process that waits, the *reference*, is a program over integers with finitely many transitions, so that nobody waits for ever is that it
//! terminates, fairly. A fair run that waits has an end in which only some states (the *region*, a formula for each label of the reference) and some transitions (the *live* ones) occur. Whatever occurs finitely
//! often only is deleted, until nothing is left, as in Streett emptiness, with formulas in the place of sets of states:
//!
//! 1. transitions that are impossible in the region, and those of the reference that are on no cycle;
//! 2. *compassion*: the cause of an assumption, if its effect is nowhere in the region;
//! 3. *justice*: states that every live transition keeps and in which a process at a label has a step, while no such step is taken there. Processes at a label are told apart by
//!    counted predicates, and states by what guards ask of shared variables;
//! 4. *ranks*: transitions that lower a sum which none raises and which is bounded: it stays as it is in the end. Counters, shared variables, their sums and differences, and sums of three
//!    counters are tried;
//! 5. *the least one*: of those at a label one comes first in an order of guards, and can go on (`least`);
//! 6. states in which no transition is taken and whoever is scheduled moves.
//!
//! What supports this is an invariant that [`crate::infer`] finds: equations, then bounds as well. Nothing is taken for true that the checker is not given a proof of. What is lost: regions are not split, and other processes are
//! told apart by labels and by counted predicates alone. After Farzan, Kincaid and Podelski (LICS 2016) and Pnueli, Xu and Zuck (CAV 2002), with deletion as in the finite engines.

mod least;
mod left;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};
use threadwise_evidence::family::{
    Condition, Control, Deleted, Deletion, DeletionPart, FairClaim, Holding, Transition,
};
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Family, Formula, From, Liveness, Names, PathEnd, Population, Term};

use self::least::Followed;
use crate::compared::More;
use crate::conditions::{Cases, Goal, Instantiation, Origin, TooMuch, form_after, instantiations};
use crate::infer::{Inference, variables};
use crate::questions::{Halt, Place, Spot};
use crate::scope::{Form, Reference, Scope, Translator, Var};
use crate::sums;

/// Deletions at most.
const DELETIONS: usize = 200;

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mover {
    Own,
    Other(TemplateId),
}

/// A path that is taken while the reference is at a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    control: usize,
    mover: Mover,
    path: usize,
}

/// Processes in scope, what holds of them, and what is assumed.
struct Context {
    number: usize,
    facts: Vec<Linear>,
    assumed: Vec<Instantiation>,
}

/// What is said of a process that may have no step.
struct Standing {
    context: Context,
    /// That it has none.
    closed: Vec<Linear>,
    /// That it has one, as far as that can be said of the state and the reference: a guess.
    open: Option<Linear>,
}

/// An assumption, at a place of the reference.
struct Assumed {
    assumption: usize,
    own: bool,
    /// The states in which the cause holds, if that can be said.
    cause: Option<Linear>,
    no_cause: Vec<Linear>,
    effect: Vec<Linear>,
}

/// The reference at a label.
struct Site {
    location: Option<LocationId>,
    standing: Standing,
    /// It waits.
    waits: Vec<Linear>,
    /// The same, if it can be said.
    pending: Linear,
    /// Of each counted predicate and its negation, that it holds of somebody else, and that it holds of the reference if that is of the template.
    holding: BTreeMap<(TemplateId, usize, bool), (Linear, Option<Linear>)>,
    /// It begins to.
    begins: Vec<Linear>,
    others: BTreeMap<(TemplateId, LocationId), Standing>,
    assumed: Vec<Assumed>,
}

/// What has to be known of a program before its invariants are asked for.
pub(crate) struct Prepared<'l> {
    liveness: &'l Liveness,
    sites: Vec<Site>,
    nobody: Context,
    /// What would hold if a predicate of the property could not be evaluated.
    undefined: Vec<Vec<Linear>>,
    followed: Vec<Followed>,
}

impl<'l> Prepared<'l> {
    pub(crate) fn new(
        cases: &mut Cases<'_>,
        liveness: &'l Liveness,
    ) -> Result<Prepared<'l>, TooMuch> {
        let family = cases.family;
        let places: Vec<Option<Reference>> = match liveness.reference {
            None => vec![None],
            Some((_, template)) => {
                let labels = family.templates[template].locations.indices();
                let each = labels.map(|location| Some(Reference { template, location }));
                each.collect()
            }
        };
        let mut sites = Vec::new();
        for place in places {
            sites.push(Site::new(cases, liveness, place)?);
        }
        let mut undefined = Vec::new();
        for check in &liveness.checks {
            undefined.push(said(cases, &[], check, false)?);
        }
        let followed = Followed::all(cases, liveness, &sites)?;
        Ok(Prepared {
            liveness,
            sites,
            nobody: context(cases, &[], More::default())?,
            undefined,
            followed,
        })
    }
}

/// A context in which something more may be assumed.
fn context(
    cases: &mut Cases<'_>,
    references: &[Reference],
    mut more: More,
) -> Result<Context, TooMuch> {
    let scope = Scope::of(references);
    let by_references = cases.by_references();
    let mut translator = Translator::new(cases.family, &mut cases.table, &scope);
    let mut facts = translator.background(&cases.ghosts)?;
    facts.append(&mut translator.facts);
    facts.append(&mut more.facts);
    let mut assumed = instantiations(
        &scope,
        &cases.views,
        &by_references,
        &cases.variables,
        &mut cases.table,
    );
    assumed.append(&mut more.instantiations);
    cases.goals += 1;
    Ok(Context {
        number: cases.goals,
        facts,
        assumed,
    })
}

/// A formula or its negation, and what is known of the terms in it.
fn said(
    cases: &mut Cases<'_>,
    references: &[Reference],
    formula: &Formula,
    holds: bool,
) -> Result<Vec<Linear>, TooMuch> {
    let scope = Scope::of(references);
    let mut translator = Translator::new(cases.family, &mut cases.table, &scope);
    let mut said = vec![translator.assume(formula, holds)?];
    said.append(&mut translator.facts);
    Ok(said)
}

/// What was said, if it is about these variables alone.
fn about(said: &[Linear], of: &[Variable]) -> Option<Linear> {
    let all = Linear::all(said.iter().cloned());
    let mut named = variables(&all).into_iter();
    named.all(|variable| of.contains(&variable)).then_some(all)
}

impl Site {
    fn new(
        cases: &mut Cases<'_>,
        liveness: &Liveness,
        place: Option<Reference>,
    ) -> Result<Site, TooMuch> {
        let family = cases.family;
        let references: Vec<Reference> = place.into_iter().collect();
        let view = cases.by_references().get(&references).copied();
        let known = view.map_or(Vec::new(), |view| cases.variables[view].clone());
        let names = match liveness.reference {
            Some((var, _)) => Names::default().with(var, 0),
            None => Names::default(),
        };
        let until = liveness.until.resolve(&names);
        let waits = said(cases, &references, &until, false)?;
        let begins = match &liveness.from {
            From::Beginning => {
                let at_entry = place
                    .is_none_or(|place| place.location == family.templates[place.template].entry);
                vec![Linear::constant(at_entry)]
            }
            From::Whenever(from) => said(cases, &references, &from.resolve(&names), true)?,
        };
        let standing = match place {
            Some(place) => standing_of(cases, &references, place, &known)?,
            None => Standing {
                context: context(cases, &references, More::default())?,
                closed: Vec::new(),
                open: None,
            },
        };
        let mut others = BTreeMap::new();
        for (template, declared) in family.templates.iter_enumerated() {
            if !has_others(family, liveness, template) {
                continue;
            }
            for location in declared.locations.indices() {
                let other = Reference { template, location };
                let both: Vec<Reference> = place.into_iter().chain([other]).collect();
                let standing = standing_of(cases, &both, other, &known)?;
                others.insert((template, location), standing);
            }
        }
        let mut assumed = Vec::new();
        for (assumption, pair) in liveness.pairs.iter().enumerate() {
            let mut add = |own: bool, cause: Formula, effect: Formula| -> Result<(), TooMuch> {
                let holds = said(cases, &references, &cause, true)?;
                assumed.push(Assumed {
                    assumption,
                    own,
                    cause: about(&holds, &known),
                    no_cause: said(cases, &references, &cause, false)?,
                    effect: said(cases, &references, &effect, true)?,
                });
                Ok(())
            };
            match pair.of {
                None => add(
                    false,
                    pair.cause.resolve(&names),
                    pair.effect.resolve(&names),
                )?,
                Some((var, template)) => {
                    if place.is_some_and(|place| place.template == template) {
                        let names = names.with(var, 0);
                        add(
                            true,
                            pair.cause.resolve(&names),
                            pair.effect.resolve(&names),
                        )?;
                    }
                    if !matches!(family.templates[template].population, Population::Grows) {
                        let somebody = |of: &Formula| {
                            let of = Formula::quantified(false, var, template, of.clone());
                            of.resolve(&names)
                        };
                        add(false, somebody(&pair.cause), somebody(&pair.effect))?;
                    }
                }
            }
        }
        let mut holding = BTreeMap::new();
        for (number, counted) in cases.ghosts.counted.clone().iter().enumerate() {
            let own_alone = counted.predicate.terms.iter().all(|(variable, _)| {
                matches!(cases.table.var(*variable), Var::Local(..) | Var::Param(_))
            });
            if !own_alone {
                continue;
            }
            let scope = Scope::of(&references);
            let mut translator = Translator::new(family, &mut cases.table, &scope);
            let is = translator.renamed(&counted.predicate, references.len() as u32)?;
            let own = match place.filter(|place| place.template == counted.template) {
                Some(_) => Some(translator.renamed(&counted.predicate, 0)?),
                None => None,
            };
            let not = own.as_ref().map(Linear::negation).transpose()?;
            holding.insert((counted.template, number, false), (is.negation()?, not));
            holding.insert((counted.template, number, true), (is, own));
        }
        Ok(Site {
            holding,
            location: place.map(|place| place.location),
            standing,
            pending: about(&waits, &known).unwrap_or(Linear::constant(true)),
            waits,
            begins,
            others,
            assumed,
        })
    }
}

/// What is said of the last of some references.
fn standing_of(
    cases: &mut Cases<'_>,
    references: &[Reference],
    who: Reference,
    known: &[Variable],
) -> Result<Standing, TooMuch> {
    let family = cases.family;
    let names = Names {
        own: Some(references.len() as u32 - 1),
        ..Names::default()
    };
    let scope = Scope::of(references);
    let (mut next, mut more) = (references.len() as u32, More::default());
    let own = references.len() as u32 - 1;
    let closed = cases.closed(&scope, own, None, &mut next, &mut more)?;
    let mut ways = Vec::new();
    let here = family.templates[who.template].paths.iter();
    // Nothing is known of values that a path could choose.
    for path in here.filter(|path| path.from == who.location && path.choices == 0) {
        let mut guards = Vec::new();
        for guard in &path.guard {
            // What else the guard asks, as that a value is of its type, may be known to hold.
            let guard = said(cases, references, &guard.resolve(&names), true)?;
            guards.extend(about(&guard, known));
        }
        ways.push(Linear::all(guards));
    }
    let open = Linear::any(ways);
    let open = open.truth().is_none().then_some(open);
    Ok(Standing {
        context: context(cases, references, more)?,
        closed,
        open,
    })
}

/// Whether a template can have processes beside the reference.
fn has_others(family: &Family, liveness: &Liveness, template: TemplateId) -> bool {
    let single = matches!(
        &family.templates[template].population,
        Population::Between(Term::Number(lo), Term::Number(hi)) if lo == hi
    );
    !(single && liveness.reference.is_some_and(|(_, of)| of == template))
}

/// What something that is to be shown is about.
#[derive(Clone, Copy)]
enum About {
    /// All states.
    Nobody,
    /// A transition.
    Case(usize),
    /// States with the reference at a site.
    Site(usize),
    /// And with somebody else at a label.
    Other(usize, (TemplateId, LocationId)),
    /// A transition beside somebody who is followed.
    Beside(usize, Edge),
}

/// Something that was shown: this contradicts what holds there.
struct Shown {
    condition: Condition,
    about: About,
    formulas: Vec<Linear>,
}

/// The search for deletions.
pub(crate) struct Search<'p, 'i, 'a, 's> {
    prepared: &'p Prepared<'p>,
    inference: &'i mut Inference<'a, 's>,
    cases: &'s Cases<'a>,
    /// The sites that are controls.
    controls: Vec<usize>,
    deleted: Vec<Vec<Linear>>,
    /// How often the region of each changed.
    versions: Vec<usize>,
    live: BTreeMap<Edge, usize>,
    /// At which versions of the regions before and after it a transition was possible.
    possible: BTreeMap<Edge, (usize, usize, usize)>,
    /// Sums that stay as they are.
    settled: Vec<Form>,
    /// What guards ask of shared variables, and its negation.
    tests: Vec<Linear>,
    deletions: Vec<Deletion>,
    shown: Vec<Shown>,
}

impl<'p, 'i, 'a, 's> Search<'p, 'i, 'a, 's> {
    pub(crate) fn new(
        prepared: &'p Prepared<'p>,
        inference: &'i mut Inference<'a, 's>,
        tests: &[Linear],
    ) -> Search<'p, 'i, 'a, 's> {
        Search {
            prepared,
            cases: inference.cases,
            inference,
            controls: Vec::new(),
            deleted: Vec::new(),
            versions: Vec::new(),
            live: BTreeMap::new(),
            possible: BTreeMap::new(),
            settled: Vec::new(),
            tests: tests.to_vec(),
            deletions: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Looks for deletions after which nothing is left.
    pub(crate) fn run(&mut self) -> Result<bool, Halt> {
        if !self.is_defined()? {
            return Ok(false);
        }
        self.begin()?;
        while self.deletions.len() < DELETIONS {
            if self.is_empty()? {
                return Ok(true);
            }
            self.impossible()?;
            if self.is_empty()? {
                return Ok(true);
            }
            let found = self.promise()?
                || self.oneself()?
                || self.somebody()?
                || self.least()?
                || self.leave()
                || self.rank()?
                || self.everybody()?;
            if !found {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// What was deleted, in words.
    pub(crate) fn rounds(&self) -> Vec<String> {
        let each = self.deletions.iter().map(|deletion| match deletion {
            Deletion::Impossible { transitions } => {
                format!("{} transitions lead nowhere", transitions.len())
            }
            Deletion::Leave { .. } => "who waits does not come back".to_owned(),
            Deletion::Rank { .. } => "a sum gets smaller, and is bounded".to_owned(),
            Deletion::Oneself { .. } => "who waits has a step, and is scheduled".to_owned(),
            Deletion::Somebody { location, .. } => {
                format!("nobody stays at `{location}` for ever")
            }
            Deletion::Least { least, .. } => {
                format!(
                    "the least one does not stay at `{}` for ever",
                    least.location
                )
            }
            Deletion::Everybody { .. } => "whoever is scheduled moves".to_owned(),
            Deletion::Promise { assumption, .. } => {
                format!("assumption {assumption} excludes its cause")
            }
        });
        each.collect()
    }

    /// What was found, as goals for a certificate.
    pub(crate) fn found(self) -> (Vec<Goal>, FairClaim) {
        let family = self.cases.family;
        let controls = self.controls.iter().map(|site| {
            let site = &self.prepared.sites[*site];
            let reference = self.prepared.liveness.reference;
            let label = reference
                .zip(site.location)
                .map(|((_, template), location)| {
                    family.templates[template].locations[location].clone()
                });
            Control {
                location: label,
                pending: site.pending.clone(),
            }
        });
        let claim = FairClaim {
            controls: controls.collect(),
            deletions: self.deletions.clone(),
        };
        let goals = self.shown.iter().map(|shown| {
            let (facts, assumed) = match shown.about {
                About::Case(case) => {
                    let case = &self.cases.cases[case];
                    (&case.facts, &case.assumed)
                }
                About::Beside(followed, edge) => {
                    let case = self.beside(followed, edge);
                    (&case.facts, &case.assumed)
                }
                about => {
                    let context = self.context(about);
                    (&context.facts, &context.assumed)
                }
            };
            Goal {
                number: 0,
                condition: shown.condition.clone(),
                facts: facts.iter().chain(&shown.formulas).cloned().collect(),
                violation: Vec::new(),
                assumed: assumed.clone(),
            }
        });
        let mut goals: Vec<Goal> = goals.collect();
        goals.extend(self.orders());
        (goals, claim)
    }

    fn context(&self, about: About) -> &'p Context {
        let prepared = self.prepared;
        match about {
            About::Other(site, other) => &prepared.sites[site].others[&other].context,
            About::Site(site) | About::Case(site) | About::Beside(site, _) => {
                &prepared.sites[site].standing.context
            }
            About::Nobody => &prepared.nobody,
        }
    }

    /// Whether formulas contradict what holds there.
    fn refuted(&mut self, about: About, formulas: &[Linear]) -> Result<bool, Halt> {
        if formulas
            .iter()
            .any(|formula| formula.truth() == Some(false))
        {
            return Ok(true);
        }
        let cases = self.cases;
        let spot = match about {
            About::Case(number) => Spot {
                place: Place::Case(number),
                facts: &cases.cases[number].facts,
                assumed: &cases.cases[number].assumed,
            },
            About::Beside(followed, edge) => {
                let case = self.beside(followed, edge);
                Spot {
                    place: Place::Goal(case.number),
                    facts: &case.facts,
                    assumed: &case.assumed,
                }
            }
            about => {
                let context = self.context(about);
                Spot {
                    place: Place::Goal(context.number),
                    facts: &context.facts,
                    assumed: &context.assumed,
                }
            }
        };
        self.inference.contradicts(spot, formulas)
    }

    /// Notes what is shown, if it is.
    fn show(
        &mut self,
        condition: Condition,
        about: About,
        formulas: Vec<Linear>,
    ) -> Result<Option<Shown>, Halt> {
        Ok(self.refuted(about, &formulas)?.then_some(Shown {
            condition,
            about,
            formulas,
        }))
    }

    fn part(
        &self,
        part: DeletionPart,
        control: usize,
        other: Option<TemplateId>,
        at: Option<usize>,
    ) -> Condition {
        let family = self.cases.family;
        Condition::Deletion {
            deletion: self.deletions.len(),
            part,
            control,
            other: other.map(|template| family.templates[template].name.clone()),
            at,
        }
    }

    fn part_of(&self, part: DeletionPart, edge: Edge) -> Condition {
        let other = match edge.mover {
            Mover::Own => None,
            Mover::Other(template) => Some(template),
        };
        self.part(part, edge.control, other, Some(edge.path))
    }

    fn transition(&self, edge: Edge) -> Transition {
        let family = self.cases.family;
        Transition {
            control: edge.control,
            other: match edge.mover {
                Mover::Own => None,
                Mover::Other(template) => Some(family.templates[template].name.clone()),
            },
            path: edge.path,
        }
    }

    /// The control after a transition.
    fn target(&self, edge: Edge) -> Option<usize> {
        let (_, template) = match (edge.mover, self.prepared.liveness.reference) {
            (Mover::Other(_), _) => return Some(edge.control),
            (Mover::Own, reference) => reference?,
        };
        match self.cases.family.templates[template].paths[edge.path].end {
            PathEnd::At(to) => self.control_at(to),
            PathEnd::Fails(..) => None,
        }
    }

    fn control_at(&self, location: LocationId) -> Option<usize> {
        let sites = &self.prepared.sites;
        let mut controls = self.controls.iter();
        controls.position(|site| sites[*site].location == Some(location))
    }

    fn site(&self, control: usize) -> &'p Site {
        &self.prepared.sites[self.controls[control]]
    }

    /// The region at a control.
    fn region(&self, control: usize) -> Result<Vec<Linear>, Overflow> {
        let mut region = vec![self.site(control).pending.clone()];
        for deleted in &self.deleted[control] {
            region.push(deleted.negation()?);
        }
        Ok(region)
    }

    /// The region before and after a transition.
    fn around(&self, edge: Edge) -> Result<Vec<Linear>, Overflow> {
        self.around_in(edge, &self.cases.cases[self.live[&edge]].after)
    }

    /// The same, with what variables are after it.
    fn around_in(
        &self,
        edge: Edge,
        after: &HashMap<Variable, Form>,
    ) -> Result<Vec<Linear>, Overflow> {
        let mut around = self.region(edge.control)?;
        if let Some(target) = self.target(edge) {
            for region in self.region(target)? {
                around.push(Cases::after(&region, after)?);
            }
        }
        for sum in &self.settled {
            around.push(sum.at_most(&form_after(&sum.terms, 0, after)?)?);
        }
        Ok(around)
    }

    fn delete(&mut self, states: Vec<(usize, Linear)>) -> Vec<Deleted> {
        let each = states.into_iter().map(|(control, states)| {
            self.deleted[control].push(states.clone());
            self.versions[control] += 1;
            Deleted { control, states }
        });
        each.collect()
    }

    /// Whether the predicates of the property can be evaluated in all states.
    fn is_defined(&mut self) -> Result<bool, Halt> {
        let prepared = self.prepared;
        for (check, fails) in prepared.undefined.iter().enumerate() {
            let condition = Condition::Defined { check };
            match self.show(condition, About::Nobody, fails.clone())? {
                Some(one) => self.shown.push(one),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Finds where it is waited, and the transitions there.
    fn begin(&mut self) -> Result<(), Halt> {
        let (prepared, family) = (self.prepared, self.cases.family);
        let reference = prepared.liveness.reference;
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = Vec::new();
        for (number, site) in prepared.sites.iter().enumerate() {
            let waits = site.waits.iter().chain(&site.begins).cloned();
            if !self.refuted(About::Site(number), &waits.collect::<Vec<_>>())? {
                chosen.insert(number);
                open.push(number);
            }
        }
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        while let (Some(site), Some((_, template))) = (open.pop(), reference) {
            for path in &family.templates[template].paths {
                let PathEnd::At(to) = path.end else { continue };
                if Some(path.from) != prepared.sites[site].location {
                    continue;
                }
                reached.insert(to.index());
                if chosen.contains(&to.index()) {
                    continue;
                }
                let waits = &prepared.sites[to.index()].waits;
                if !self.refuted(About::Site(to.index()), waits)? {
                    chosen.insert(to.index());
                    open.push(to.index());
                }
            }
        }
        if reference.is_none() {
            chosen.insert(0);
        }
        self.controls = chosen.iter().copied().collect();
        self.deleted = vec![Vec::new(); self.controls.len()];
        self.versions = vec![0; self.controls.len()];
        for (number, site) in prepared.sites.iter().enumerate() {
            if chosen.contains(&number) {
                continue;
            }
            let mut formulas = site.waits.clone();
            if !reached.contains(&number) {
                formulas.extend(site.begins.iter().cloned());
            }
            let Some((location, (_, template))) = site.location.zip(reference) else {
                continue;
            };
            let condition = Condition::Elsewhere {
                location: family.templates[template].locations[location].clone(),
            };
            let shown = self.show(condition, About::Site(number), formulas)?;
            self.shown.extend(shown);
        }
        for control in 0..self.controls.len() {
            let site = self.site(control);
            let mut formulas = site.waits.clone();
            formulas.push(site.pending.negation()?);
            let about = About::Site(self.controls[control]);
            let shown = self.show(Condition::Pending { control }, about, formulas)?;
            self.shown.extend(shown);
        }
        self.edges();
        Ok(())
    }

    /// The transitions between controls.
    fn edges(&mut self) {
        let liveness = self.prepared.liveness;
        let family = self.cases.family;
        for (number, case) in self.cases.cases.iter().enumerate() {
            let Origin::Step {
                mover,
                template,
                path,
                started,
            } = &case.origin
            else {
                continue;
            };
            let references = &self.cases.views[case.view].references;
            let place = match (references.as_slice(), liveness.reference) {
                ([], None) => Some(0),
                ([one], Some((_, template))) if one.template == template => {
                    self.control_at(one.location)
                }
                _ => None,
            };
            let Some(after) = place.filter(|_| started.is_empty()) else {
                continue;
            };
            let edge = match mover {
                None if has_others(family, liveness, *template) => Some(Edge {
                    control: after,
                    mover: Mover::Other(*template),
                    path: *path,
                }),
                Some(_) => {
                    let from = family.templates[*template].paths[*path].from;
                    self.control_at(from).map(|control| Edge {
                        control,
                        mover: Mover::Own,
                        path: *path,
                    })
                }
                None => None,
            };
            if let Some(edge) = edge {
                self.live.insert(edge, number);
            }
        }
    }

    fn edges_now(&self) -> Vec<(Edge, usize)> {
        self.live
            .iter()
            .map(|(edge, case)| (*edge, *case))
            .collect()
    }

    fn impossible(&mut self) -> Result<(), Halt> {
        let mut gone = Vec::new();
        let mut shown = Vec::new();
        for (edge, case) in self.edges_now() {
            let target = self.target(edge).unwrap_or(edge.control);
            let versions = (
                self.versions[edge.control],
                self.versions[target],
                self.settled.len(),
            );
            if self.possible.get(&edge) == Some(&versions) {
                continue;
            }
            let around = self.around(edge)?;
            match self.show(
                self.part_of(DeletionPart::Transition, edge),
                About::Case(case),
                around,
            )? {
                Some(one) => {
                    shown.push(one);
                    gone.push(edge);
                }
                None => {
                    self.possible.insert(edge, versions);
                }
            }
        }
        if !gone.is_empty() {
            let transitions = gone.iter().map(|edge| self.transition(*edge)).collect();
            self.shown.append(&mut shown);
            self.deletions.push(Deletion::Impossible { transitions });
            self.live.retain(|edge, _| !gone.contains(edge));
        }
        Ok(())
    }

    /// Whether nothing is left.
    fn is_empty(&mut self) -> Result<bool, Halt> {
        let mut shown = Vec::new();
        for control in 0..self.controls.len() {
            let condition = self.part(DeletionPart::Empty, control, None, None);
            let region = self.region(control)?;
            match self.show(condition, About::Site(self.controls[control]), region)? {
                Some(one) => shown.push(one),
                None => return Ok(false),
            }
        }
        self.shown.append(&mut shown);
        Ok(true)
    }

    fn promise(&mut self) -> Result<bool, Halt> {
        let each = self.controls.first().map(|_| self.site(0).assumed.len());
        for number in 0..each.unwrap_or(0) {
            if self.promised(number)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes the cause of an assumption.
    fn promised(&mut self, number: usize) -> Result<bool, Halt> {
        let (mut shown, mut states) = (Vec::new(), Vec::new());
        for control in 0..self.controls.len() {
            let assumed = &self.site(control).assumed[number];
            let about = About::Site(self.controls[control]);
            let mut region = self.region(control)?;
            let before = region.len();
            region.extend(assumed.effect.iter().cloned());
            let condition = self.part(DeletionPart::Effect, control, None, None);
            match self.show(condition, about, region.clone())? {
                Some(one) => shown.push(one),
                None => return Ok(false),
            }
            region.truncate(before);
            let Some(cause) = &assumed.cause else {
                continue;
            };
            region.push(cause.clone());
            if self.refuted(about, &region)? {
                continue;
            }
            region.extend(assumed.no_cause.iter().cloned());
            let condition = self.part(DeletionPart::Cause, control, None, None);
            if let Some(one) = self.show(condition, about, region)? {
                shown.push(one);
                states.push((control, cause.clone()));
            }
        }
        let Some(assumed) = self.controls.first().map(|_| &self.site(0).assumed[number]) else {
            return Ok(false);
        };
        if states.is_empty() {
            return Ok(false);
        }
        self.shown.append(&mut shown);
        let states = self.delete(states);
        self.deletions.push(Deletion::Promise {
            assumption: assumed.assumption,
            own: assumed.own,
            states,
        });
        Ok(true)
    }

    /// Whether a process at a label moves if it is scheduled and has a step.
    fn moves(&self, template: TemplateId, location: LocationId) -> bool {
        let rests = &self.cases.family.templates[template].rests;
        self.prepared.liveness.unconditional && !rests.contains(&location)
    }

    fn oneself(&mut self) -> Result<bool, Halt> {
        let Some((_, template)) = self.prepared.liveness.reference else {
            return Ok(false);
        };
        for control in 0..self.controls.len() {
            let site = self.site(control);
            let Some(location) = site.location else {
                continue;
            };
            if !self.moves(template, location) {
                continue;
            }
            let whole = Linear::constant(true);
            let open = site.standing.open.clone();
            for states in self.candidates(&whole, open.as_ref()) {
                if self.stays(control, states)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// States to try: all of these, those in which a guard holds, and those in which one of the tests of guards does.
    fn candidates(&self, of: &Linear, open: Option<&Linear>) -> Vec<Linear> {
        let with = |more: &Linear| Linear::all([of.clone(), more.clone()]);
        let open = open.map(with);
        let tests = self.tests.iter().map(with);
        [of.clone()].into_iter().chain(open).chain(tests).collect()
    }

    /// Deletes states in which the reference does not stay.
    fn stays(&mut self, control: usize, states: Linear) -> Result<bool, Halt> {
        let about = About::Site(self.controls[control]);
        let mut region = self.region(control)?;
        region.push(states.clone());
        if self.refuted(about, &region)? {
            return Ok(false);
        }
        region.extend(self.site(control).standing.closed.iter().cloned());
        let condition = self.part(DeletionPart::Enabled, control, None, None);
        let Some(enabled) = self.show(condition, about, region)? else {
            return Ok(false);
        };
        let own = self.edges_now().into_iter();
        let own = own.filter(|(edge, _)| edge.control == control && edge.mover == Mover::Own);
        let Some(mut gone) = self.gone(own.collect(), &states, None)? else {
            return Ok(false);
        };
        let states = BTreeMap::from([(control, states)]);
        let Ok(mut shown) = self.persists(&states)? else {
            return Ok(false);
        };
        self.shown.append(&mut gone);
        self.shown.push(enabled);
        self.shown.append(&mut shown);
        let deleted = self.delete(states.into_iter().collect());
        for states in deleted {
            self.deletions.push(Deletion::Oneself { states });
        }
        Ok(true)
    }

    /// That transitions are not taken in some states, by a process of which something holds.
    fn gone(
        &mut self,
        edges: Vec<(Edge, usize)>,
        states: &Linear,
        holding: Option<&Linear>,
    ) -> Result<Option<Vec<Shown>>, Halt> {
        let mut shown = Vec::new();
        for (edge, case) in edges {
            let mut formulas = self.around(edge)?;
            formulas.push(states.clone());
            formulas.extend(holding.cloned());
            let condition = self.part_of(DeletionPart::Gone, edge);
            match self.show(condition, About::Case(case), formulas)? {
                Some(one) => shown.push(one),
                None => return Ok(None),
            }
        }
        Ok(Some(shown))
    }

    /// That every live transition from these states leads to these states; or from where one does not.
    fn persists(
        &mut self,
        states: &BTreeMap<usize, Linear>,
    ) -> Result<Result<Vec<Shown>, usize>, Halt> {
        let mut shown = Vec::new();
        for (edge, case) in self.edges_now() {
            let Some(before) = states.get(&edge.control) else {
                continue;
            };
            let mut formulas = self.around(edge)?;
            formulas.push(before.clone());
            let after = self.target(edge).and_then(|target| states.get(&target));
            if let Some(states) = after {
                let holds = Cases::after(states, &self.cases.cases[case].after)?;
                formulas.push(holds.negation()?);
            }
            match self.show(
                self.part_of(DeletionPart::Transition, edge),
                About::Case(case),
                formulas,
            )? {
                Some(one) => shown.push(one),
                None => return Ok(Err(edge.control)),
            }
        }
        Ok(Ok(shown))
    }

    fn somebody(&mut self) -> Result<bool, Halt> {
        let family = self.cases.family;
        for (template, declared) in family.templates.iter_enumerated() {
            let mut which = vec![None];
            let counted = self.cases.ghosts.counted.iter().enumerate();
            let counted = counted.filter(|(_, counted)| counted.template == template);
            for (predicate, _) in counted {
                which.extend([true, false].map(|holds| Some(Holding { predicate, holds })));
            }
            for location in declared.locations.indices() {
                if !self.moves(template, location) {
                    continue;
                }
                for holding in &which {
                    if self.go_on((template, location), *holding)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Deletes states in which somebody else at a label does not stay.
    fn go_on(
        &mut self,
        other: (TemplateId, LocationId),
        holding: Option<Holding>,
    ) -> Result<bool, Halt> {
        let (template, location) = other;
        let Some(count) = self.count(other, holding)? else {
            return Ok(false);
        };
        let (mut states, mut shown) = (BTreeMap::new(), BTreeMap::new());
        for control in 0..self.controls.len() {
            let site = self.site(control);
            let Some(standing) = site.others.get(&other) else {
                return Ok(false);
            };
            let holds = match holding {
                None => None,
                Some(Holding { predicate, holds }) => {
                    match site.holding.get(&(template, predicate, holds)) {
                        Some(holds) => Some(holds),
                        None => return Ok(false),
                    }
                }
            };
            let here = self.prepared.liveness.reference.map(|(_, of)| of) == Some(template)
                && site.location == Some(location);
            let absent = match holds {
                // The reference is one of those that are counted, or it is not.
                Some((_, Some(own))) if here => {
                    let alone = count.at_most(&Form::number(1))?;
                    let none = count.at_most(&Form::number(0))?;
                    let not = own.negation()?;
                    Linear::any([Linear::all([own.clone(), alone]), Linear::all([not, none])])
                }
                _ => count.at_most(&Form::number(i64::from(here)))?,
            };
            let holds = holds.map(|(holds, _)| holds);
            let present = absent.negation()?;
            for candidate in self.candidates(&present, standing.open.as_ref()) {
                let found = self.is_open(control, other, (&candidate, holds), &absent)?;
                if let Some(found) = found {
                    states.insert(control, candidate);
                    shown.insert(control, found);
                    break;
                }
            }
        }
        loop {
            if states.is_empty() {
                return Ok(false);
            }
            match self.persists(&states)? {
                Ok(mut kept) => {
                    let each = states.keys().flat_map(|control| shown.remove(control));
                    let mut each: Vec<Shown> = each.flatten().collect();
                    self.shown.append(&mut each);
                    self.shown.append(&mut kept);
                    break;
                }
                Err(control) => drop(states.remove(&control)),
            }
        }
        let states = self.delete(states.into_iter().collect());
        let family = self.cases.family;
        self.deletions.push(Deletion::Somebody {
            template: family.templates[template].name.clone(),
            location: family.templates[template].locations[location].clone(),
            holding,
            states,
        });
        Ok(true)
    }

    /// How many processes at a label are meant.
    fn count(
        &self,
        (template, location): (TemplateId, LocationId),
        holding: Option<Holding>,
    ) -> Result<Option<Form>, Overflow> {
        let all = self.number(&Var::Counter(template, location));
        let some = holding.map(|holding| {
            let predicate = holding.predicate as u32;
            self.number(&Var::Counted(predicate, template, location, false))
        });
        Ok(match (all, some, holding.map(|holding| holding.holds)) {
            (Some(all), None, _) => Some(Form::variable(all)),
            (_, Some(Some(some)), Some(true)) => Some(Form::variable(some)),
            (Some(all), Some(Some(some)), _) => {
                Some(Form::variable(all).plus(-1, &Form::variable(some))?)
            }
            _ => None,
        })
    }

    /// A variable that views have.
    fn number(&self, var: &Var) -> Option<Variable> {
        let mut known = self.cases.variables.iter().flatten();
        known.find(|v| self.cases.table.var(**v) == var).copied()
    }

    /// That in these states somebody else at a label of whom something holds is there, has a step, and does not take it.
    fn is_open(
        &mut self,
        control: usize,
        other: (TemplateId, LocationId),
        (states, holds): (&Linear, Option<&Linear>),
        absent: &Linear,
    ) -> Result<Option<Vec<Shown>>, Halt> {
        let site = self.controls[control];
        let mut region = self.region(control)?;
        region.push(states.clone());
        if self.refuted(About::Site(site), &region)? {
            return Ok(None);
        }
        let family = self.cases.family;
        let leaving = self.edges_now().into_iter().filter(|(edge, _)| {
            let from = |path: usize| family.templates[other.0].paths[path].from;
            edge.control == control
                && edge.mover == Mover::Other(other.0)
                && from(edge.path) == other.1
        });
        let Some(mut shown) = self.gone(leaving.collect(), states, holds)? else {
            return Ok(None);
        };
        let at = Some(other.1.index());
        let mut enabled = region.clone();
        enabled.extend(holds.cloned());
        enabled.extend(self.site(control).others[&other].closed.iter().cloned());
        let condition = self.part(DeletionPart::Enabled, control, Some(other.0), at);
        match self.show(condition, About::Other(site, other), enabled)? {
            Some(one) => shown.push(one),
            None => return Ok(None),
        }
        region.push(absent.clone());
        let condition = self.part(DeletionPart::Present, control, Some(other.0), at);
        match self.show(condition, About::Site(site), region)? {
            Some(one) => shown.push(one),
            None => return Ok(None),
        }
        Ok(Some(shown))
    }

    /// Drops transitions of the reference that are on no cycle.
    fn leave(&mut self) -> bool {
        let leads_back = |edge: &Edge| {
            let mut reached: BTreeSet<usize> = self.target(*edge).into_iter().collect();
            let mut open: Vec<usize> = reached.iter().copied().collect();
            while let Some(control) = open.pop() {
                let from = self.live.keys().filter(|edge| edge.control == control);
                let next = from.filter_map(|edge| self.target(*edge));
                open.extend(next.filter(|next| reached.insert(*next)));
            }
            reached.contains(&edge.control)
        };
        let own = self.live.keys().filter(|edge| edge.mover == Mover::Own);
        let gone: Vec<Edge> = own.filter(|edge| !leads_back(edge)).copied().collect();
        if gone.is_empty() {
            return false;
        }
        let transitions = gone.iter().map(|edge| self.transition(*edge)).collect();
        self.deletions.push(Deletion::Leave { transitions });
        self.live.retain(|edge, _| !gone.contains(edge));
        true
    }

    fn rank(&mut self) -> Result<bool, Halt> {
        for form in self.sums() {
            if self.falls(&form)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sums to try, the simplest first.
    fn sums(&self) -> Vec<Form> {
        let (mut counters, mut others) = (Vec::new(), Vec::new());
        let views = self.cases.views.iter().zip(&self.cases.variables);
        let shared = views.filter(|(view, _)| view.references.is_empty());
        for variable in shared.flat_map(|(_, variables)| variables) {
            match self.cases.table.var(*variable) {
                Var::Counter(..) | Var::Counted(..) => counters.push(*variable),
                Var::Shared(..) | Var::Param(_) => others.push(*variable),
                _ => {}
            }
        }
        let sum = |terms: &[(Variable, i64)]| {
            let mut terms = terms.to_vec();
            terms.sort_unstable();
            Form { terms, constant: 0 }
        };
        let mut sums = sums::ranks(self.cases.family, &self.cases.table, &|v| self.number(v));
        sums.extend(self.compared().map(|v| sum(&[(v, 1)])));
        sums.extend(counters.iter().map(|v| sum(&[(*v, 1)])));
        sums.extend(
            others
                .iter()
                .flat_map(|v| [sum(&[(*v, 1)]), sum(&[(*v, -1)])]),
        );
        let all: Vec<Variable> = counters.iter().chain(&others).copied().collect();
        for (place, a) in all.iter().enumerate() {
            for b in &all[place + 1..] {
                sums.extend([(1, 1), (1, -1), (-1, 1)].map(|(x, y)| sum(&[(*a, x), (*b, y)])));
            }
        }
        for (place, a) in counters.iter().enumerate() {
            for (next, b) in counters.iter().enumerate().skip(place + 1) {
                let rest = counters[next + 1..].iter();
                sums.extend(rest.map(|c| sum(&[(*a, 1), (*b, 1), (*c, 1)])));
            }
        }
        sums
    }

    /// Settles a sum that some transition lowers, if none raises it and it is bounded.
    fn falls(&mut self, form: &Form) -> Result<bool, Halt> {
        if self.settled.contains(form) {
            return Ok(false);
        }
        let live = self.edges_now();
        let mut may_fall = false;
        for (_, case) in &live {
            let after = form_after(&form.terms, 0, &self.cases.cases[*case].after)?;
            let change = after.plus(-1, form)?;
            match change.terms.is_empty() {
                true if change.constant > 0 => return Ok(false),
                true => may_fall |= change.constant < 0,
                false => may_fall = true,
            }
        }
        if !may_fall {
            return Ok(false);
        }
        let (mut shown, mut falls) = (Vec::new(), false);
        for (edge, case) in live {
            let after = form_after(&form.terms, 0, &self.cases.cases[case].after)?;
            let around = self.around(edge)?;
            let raised = around.iter().cloned().chain([form.less(&after)?]);
            let condition = self.part_of(DeletionPart::Transition, edge);
            match self.show(condition, About::Case(case), raised.collect())? {
                Some(one) => shown.push(one),
                None => return Ok(false),
            }
            if !falls {
                let lowered = around.into_iter().chain([after.less(form)?]);
                let lowered: Vec<Linear> = lowered.collect();
                falls = !self.refuted(About::Case(case), &lowered)?;
            }
        }
        if !falls {
            return Ok(false);
        }
        for control in 0..self.controls.len() {
            let mut region = self.region(control)?;
            region.push(form.less(&Form::number(0))?);
            let condition = self.part(DeletionPart::Bounded, control, None, None);
            match self.show(condition, About::Site(self.controls[control]), region)? {
                Some(one) => shown.push(one),
                None => return Ok(false),
            }
        }
        self.shown.append(&mut shown);
        self.deletions.push(Deletion::Rank {
            terms: form.terms.clone(),
            least: 0,
        });
        self.settled.push(form.clone());
        Ok(true)
    }

    fn everybody(&mut self) -> Result<bool, Halt> {
        let (mut states, mut shown) = (Vec::new(), Vec::new());
        for control in 0..self.controls.len() {
            let region = self.region(control)?;
            if self.refuted(About::Site(self.controls[control]), &region)? {
                continue;
            }
            let whole = Linear::constant(true);
            let edges = self.edges_now().into_iter();
            let edges = edges.filter(|(edge, _)| edge.control == control);
            let Some(mut gone) = self.gone(edges.collect(), &whole, None)? else {
                continue;
            };
            if let Some(mut each) = self.all_move(control)? {
                shown.append(&mut gone);
                shown.append(&mut each);
                states.push((control, whole));
            }
        }
        if states.is_empty() {
            return Ok(false);
        }
        self.shown.append(&mut shown);
        let states = self.delete(states);
        self.deletions.push(Deletion::Everybody { states });
        Ok(true)
    }

    /// That whoever is scheduled at a control moves.
    fn all_move(&mut self, control: usize) -> Result<Option<Vec<Shown>>, Halt> {
        let family = self.cases.family;
        let site = self.site(control);
        let region = self.region(control)?;
        let mut shown = Vec::new();
        let mut formulas = region.clone();
        let part = match self.prepared.liveness.reference.zip(site.location) {
            Some(((_, template), location)) => {
                if !family.templates[template].rests.contains(&location) {
                    formulas.extend(site.standing.closed.iter().cloned());
                }
                DeletionPart::Enabled
            }
            None => {
                let mut all = Form::default();
                for (template, declared) in family.templates.iter_enumerated() {
                    for location in declared.locations.indices() {
                        if let Some(number) = self.number(&Var::Counter(template, location)) {
                            all = all.plus(1, &Form::variable(number))?;
                        }
                    }
                }
                formulas.push(all.at_most(&Form::number(0))?);
                DeletionPart::Present
            }
        };
        let condition = self.part(part, control, None, None);
        match self.show(condition, About::Site(self.controls[control]), formulas)? {
            Some(one) => shown.push(one),
            None => return Ok(None),
        }
        for (other, standing) in &site.others {
            let mut formulas = region.clone();
            if !family.templates[other.0].rests.contains(&other.1) {
                formulas.extend(standing.closed.iter().cloned());
            }
            let at = Some(other.1.index());
            let condition = self.part(DeletionPart::Enabled, control, Some(other.0), at);
            let about = About::Other(self.controls[control], *other);
            match self.show(condition, about, formulas)? {
                Some(one) => shown.push(one),
                None => return Ok(None),
            }
        }
        Ok(Some(shown))
    }
}
