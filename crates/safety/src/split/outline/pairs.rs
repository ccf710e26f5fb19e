//! Pairs of processes: what holds of two together, beyond what holds of each alone.
//!
//! The assertion of a pair is written from the side of one of the two: at each label of `P[i]`, what holds of `P[j]`, within what is said of
//! each of them. Pairs that are alike are spoken of once. Where `i` and `j` can change places, each fact about the two is there in two
//! forms, seen from either side; the longer goes if it follows from the others.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use threadwise_evidence::{LabelOutline, OtherOutline, Outline, ProcessOutline, length};
use threadwise_lang::program::TemplateId;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{ProcessId, TemplateSymmetry};
use threadwise_symbolic::{Bdd, Halt, Hidden, Search};

use super::minimise::Minimiser;
use super::terms::{Naming, id};
use super::{Place, Writer, labels};
use crate::split::Stage;
use crate::split::pairs::{Pair, Pairs};
use crate::split::pairwise::PairAssertions;

/// Kinds of pairs that are written down.
const MOST_KINDS: usize = 100;

/// The outline of a proof by assertions about two processes each.
pub(crate) fn outline_of_pairs(
    search: &Search,
    stage: &Stage<PairAssertions>,
    pairs: &Pairs,
) -> Result<Outline, Halt> {
    let d = &stage.symbolic.diagrams;
    let own = alone(search, stage, pairs)?;
    let writer = Writer {
        breathe: &|| search.breathe_at_leisure(),
        symbolic: &stage.symbolic,
        view: &stage.view,
        representatives: &pairs.processes,
        common: &stage.assertions.common,
        own: &own,
        shared: d.all(),
    };
    let writer = writer.ready()?;
    let mut known = writer.seen_alone()?;
    if stage.view.exposes() {
        for (pair, part) in stage.assertions.pairs.iter().rev() {
            search.breathe_at_leisure()?;
            let mut seen = part.clone();
            for process in pair.processes() {
                seen = stage.view.own[process].hidden.forget(d, &seen)?;
            }
            known = d.and(&known, &seen)?;
        }
    }
    writer.write(writer.pairs(stage, pairs)?, known)
}

/// What the pairs of each process say of it alone.
fn alone(
    search: &Search,
    stage: &Stage<PairAssertions>,
    pairs: &Pairs,
) -> Result<IndexVec<ProcessId, Bdd>, Halt> {
    let symbolic = &stage.symbolic;
    let d = &symbolic.diagrams;
    let mut all: IndexVec<ProcessId, Hidden> = IndexVec::new();
    for own in &stage.view.own {
        let vars = symbolic.encoding.vars_of(&own.cells, false);
        all.push(Hidden::new(d, vars)?);
    }
    let mut alone: IndexVec<ProcessId, Bdd> = IndexVec::new();
    for process in stage.view.own.indices() {
        search.breathe_at_leisure()?;
        // Who stands for others comes before them.
        if let (representative, Some(permutation)) = pairs.processes.of(process) {
            alone.push(symbolic.permute(&alone[representative], permutation)?);
            continue;
        }
        let mut said = d.all();
        for (pair, part) in stage.assertions.pairs.iter().rev() {
            if !pair.contains(process) {
                continue;
            }
            let mut part = part.clone();
            for other in pair.processes().filter(|other| *other != process) {
                part = all[other].forget(d, &part)?;
            }
            said = d.and(&part, &said)?;
        }
        alone.push(said);
    }
    Ok(alone)
}

/// What is said of a kind of pairs.
struct Kind<'w, 's> {
    first: ProcessId,
    second: ProcessId,
    minimiser: Minimiser<'w, 's>,
    /// At the labels of the first.
    places: Vec<Place>,
    stands_for: StandsFor,
}

/// For which pairs one stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StandsFor {
    /// All of two different processes of a template, in either order.
    AllOfOne,
    /// All with the same distance on a ring.
    Near,
    /// What either process stands for, with what the other does.
    Each,
}

impl<'s> Writer<'_, 's> {
    /// What holds at the labels of all processes and pairs, and how many kinds of pairs were left out.
    fn pairs(
        &self,
        stage: &Stage<PairAssertions>,
        pairs: &Pairs,
    ) -> Result<(Vec<ProcessOutline>, u64), Halt> {
        let two = |pair: &&Pair| pair.processes().count() == 2;
        let wanted = pairs.wanted.iter().filter(two).count();
        let omitted = wanted.saturating_sub(MOST_KINDS) as u64;
        let mut kinds = Vec::new();
        for pair in pairs.wanted.iter().filter(two).take(MOST_KINDS) {
            let part = &stage.assertions.pairs[pair];
            let mut processes = pair.processes();
            if let (Some(lower), Some(upper)) = (processes.next(), processes.next()) {
                kinds.push(self.kind(part, lower, upper)?);
            }
        }
        if let [kind] = kinds.as_slice()
            && kind.stands_for == StandsFor::AllOfOne
            && self.representatives.all().len() == 1
            && !kind.labels(&kind.minimiser.naming()).is_empty()
        {
            return Ok((vec![self.in_one(kind)?], omitted));
        }
        let mut sections = self.processes()?;
        let mut groups: Vec<Vec<&Kind>> = Vec::new();
        for kind in &kinds {
            let same = groups.iter_mut().find(|group| self.alike(group[0], kind));
            match same {
                Some(group) => group.push(kind),
                None => groups.push(vec![kind]),
            }
        }
        for group in groups {
            sections.extend(self.sections(&group));
        }
        sections.retain(|section| section.other.is_none() || !section.labels.is_empty());
        Ok((sections, omitted))
    }

    /// What is said of the pairs like one, from the side that takes fewer words.
    fn kind(&self, part: &Bdd, lower: ProcessId, upper: ProcessId) -> Result<Kind<'_, 's>, Halt> {
        let one = self.seen_from(part, lower, upper)?;
        let system = self.system();
        if system.template_of(lower) == system.template_of(upper) {
            return Ok(one);
        }
        let other = self.seen_from(part, upper, lower)?;
        let effort = |kind: &Kind| {
            let naming = kind.minimiser.naming();
            let labels = kind.labels(&naming);
            let open = labels
                .iter()
                .filter(|label| label.omitted.is_some())
                .count();
            let words = labels.iter().flat_map(|label| &label.holds);
            let length: usize = words.map(|text| length(text)).sum();
            (open, length)
        };
        Ok(if effort(&other) < effort(&one) {
            other
        } else {
            one
        })
    }

    fn seen_from(
        &self,
        part: &Bdd,
        first: ProcessId,
        second: ProcessId,
    ) -> Result<Kind<'_, 's>, Halt> {
        let d = &self.symbolic.diagrams;
        let system = self.system();
        let (one, two) = (id(system, first), id(system, second));
        let minimiser = self.minimiser(vec![one, two], self.for_all(&[first, second]));
        let within = d.and(&self.own[first], &self.own[second])?;
        let within = d.and(&within, &self.shared)?;
        let cells = [
            self.view.own[first].cells.as_slice(),
            &self.view.own[second].cells,
        ]
        .concat();
        let mut places = self.places(&minimiser, first, (part, &within), &cells)?;
        let stands_for = if one.0 != two.0 || minimiser.for_all.is_empty() {
            StandsFor::Each
        } else if system.templates[one.0].symmetry == TemplateSymmetry::Rotations {
            StandsFor::Near
        } else {
            self.without_mirrored(&minimiser, &mut places, &within)?;
            StandsFor::AllOfOne
        };
        Ok(Kind {
            first,
            second,
            minimiser,
            places,
            stands_for,
        })
    }

    /// Leaves out what follows from the rest, seen from either side, long facts first. Facts at several labels are one.
    fn without_mirrored(
        &self,
        minimiser: &Minimiser,
        places: &mut [Place],
        within: &Bdd,
    ) -> Result<(), Halt> {
        let d = &self.symbolic.diagrams;
        let (template, one) = minimiser.named[0];
        let mut images: Vec<u32> = (0..self.system().templates[template].count).collect();
        images.swap(one as usize, minimiser.named[1].1 as usize);
        let Some(swap) = Permutation::of_template(template, images) else {
            return Ok(());
        };
        let naming = minimiser.naming();
        // What is said, where that holds, and where it holds seen from either side.
        let mut said: Vec<(String, Bdd, Bdd)> = Vec::new();
        for place in places.iter() {
            for fact in place.facts.iter().flat_map(|facts| &facts.facts) {
                let states = d.or(&d.not(&place.here)?, &fact.states)?;
                let mirrored = self.symbolic.permute(&states, &swap)?;
                let both = d.and(&states, &mirrored)?;
                let text = minimiser.formula(fact, &naming).to_string();
                match said.iter_mut().find(|(known, ..)| *known == text) {
                    Some((_, all, all_both)) => {
                        *all = d.and(all, &states)?;
                        *all_both = d.and(all_both, &both)?;
                    }
                    None => said.push((text, states, both)),
                }
            }
        }
        let mut order: Vec<usize> = (0..said.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse((length(&said[*place].0), *place)));
        let mut dropped: BTreeSet<usize> = BTreeSet::new();
        for place in order {
            (self.breathe)()?;
            let mut rest = within.clone();
            for (other, (_, _, both)) in said.iter().enumerate() {
                if other != place && !dropped.contains(&other) {
                    rest = d.and(&rest, both)?;
                }
            }
            if d.is_empty(&d.minus(&rest, &said[place].1)?) {
                dropped.insert(place);
            }
        }
        let dropped: Vec<&String> = dropped.iter().map(|place| &said[*place].0).collect();
        for place in places.iter_mut() {
            if let Some(facts) = &mut place.facts {
                facts.facts.retain(|fact| {
                    let text = minimiser.formula(fact, &naming).to_string();
                    !dropped.contains(&&text)
                });
            }
        }
        Ok(())
    }

    /// Processes and pairs in one, if all are alike.
    fn in_one(&self, kind: &Kind) -> Result<ProcessOutline, Halt> {
        let one = kind.minimiser.named[0];
        let mut minimiser = self.minimiser(vec![one], self.for_all(&[kind.first]));
        // The letter of the other process is no longer free.
        minimiser.letters = kind.minimiser.letters;
        let own = self.own_places(&minimiser, kind.first)?;
        let naming = kind.minimiser.naming();
        let own_naming = minimiser.naming();
        let labels = LabelOutline::by_facts(own.iter().zip(&kind.places).map(|(own, both)| {
            let mut holds = own.holds(&minimiser, &own_naming);
            if own.facts.is_some() {
                holds.extend(both.holds(&kind.minimiser, &naming));
            }
            LabelOutline {
                labels: vec![own.label.clone()],
                holds,
                omitted: own.omitted().or(both.omitted()).cloned(),
            }
        }));
        Ok(ProcessOutline {
            labels,
            ..self.section(kind, [Some(Vec::new()), Some(Vec::new())])
        })
    }

    /// Whether the same is said of two kinds of pairs that each stand for one pair.
    fn alike(&self, one: &Kind, other: &Kind) -> bool {
        let system = self.system();
        let templates = |kind: &Kind| {
            let of = |process| system.template_of(process);
            (of(kind.first), of(kind.second))
        };
        let labels = |kind: &Kind| kind.labels(&kind.minimiser.naming());
        one.minimiser.for_all.is_empty()
            && templates(one) == templates(other)
            && labels(one) == labels(other)
    }

    /// Kinds of pairs of which the same is said, in words.
    fn sections(&self, group: &[&Kind]) -> Vec<ProcessOutline> {
        let system = self.system();
        let kind = group[0];
        let (one, two) = (kind.minimiser.named[0], kind.minimiser.named[1]);
        let every = |template: TemplateId| {
            let all = kind.minimiser.for_all.contains(&template);
            all.then(Vec::new)
        };
        if kind.stands_for != StandsFor::Each || !kind.minimiser.for_all.is_empty() {
            return vec![self.section(kind, [every(one.0), every(two.0)])];
        }
        let count = system.templates[one.0].count;
        if one.0 == two.0 && count > 2 && group.len() == (count * (count - 1) / 2) as usize {
            return vec![self.section(kind, [Some(Vec::new()), Some(Vec::new())])];
        }
        // For each process that is the first, those that are the second; and together who has the same.
        let mut seconds: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for kind in group {
            let with = seconds.entry(system.index_of(kind.first)).or_default();
            with.insert(system.index_of(kind.second));
        }
        let mut products: Vec<(BTreeSet<u32>, BTreeSet<u32>)> = Vec::new();
        for (first, with) in seconds {
            match products.iter_mut().find(|(_, known)| *known == with) {
                Some((firsts, _)) => {
                    firsts.insert(first);
                }
                None => products.push((BTreeSet::from([first]), with)),
            }
        }
        let side = |template: TemplateId, members: &BTreeSet<u32>| {
            let template = &system.templates[template];
            let number = |index: &u32| template.lowest_id + i64::from(*index);
            match members.len() {
                1 => None,
                all if all == template.count as usize => Some(Vec::new()),
                _ => Some(members.iter().map(number).collect()),
            }
        };
        let mut sections = Vec::new();
        for (firsts, with) in products {
            let member = group.iter().find(|kind| {
                firsts.contains(&system.index_of(kind.first))
                    && with.contains(&system.index_of(kind.second))
            });
            if let Some(member) = member {
                sections.push(self.section(member, [side(one.0, &firsts), side(two.0, &with)]));
            }
        }
        sections
    }

    /// What is said of pairs, of which each side is one process, or those with these numbers, or all if there are none.
    fn section(&self, kind: &Kind, sides: [Option<Vec<i64>>; 2]) -> ProcessOutline {
        let system = self.system();
        let letters = Naming::letters(system);
        let (one, two) = (kind.minimiser.named[0], kind.minimiser.named[1]);
        let mut naming = Naming::plain(system);
        let mut binders = [None, None];
        let everybody = sides == [Some(Vec::new()), Some(Vec::new())];
        for (((id, side), letter), binder) in [one, two]
            .into_iter()
            .zip(&sides)
            .zip(&letters)
            .zip(&mut binders)
        {
            let template = &system.templates[id.0];
            if side.is_none() || template.single {
                continue;
            }
            if kind.stands_for == StandsFor::Near && id == two {
                let distance = (two.1 + template.count - one.1) % template.count;
                let near =
                    (0..distance).fold(letters[0].clone(), |near, _| format!("next({near})"));
                naming = naming.called(two, &near);
                continue;
            }
            naming = naming.with(id, letter);
            *binder = Some(format!("{letter} in {}", template.name));
        }
        let condition = match kind.stands_for {
            StandsFor::AllOfOne => Some(format!("{} != {}", letters[1], letters[0])),
            StandsFor::Each if one.0 == two.0 && everybody => {
                Some(format!("{} < {}", letters[0], letters[1]))
            }
            _ => None,
        };
        let [binder, other_binder] = binders;
        let [among, other_among] = sides.map(Option::unwrap_or_default);
        ProcessOutline {
            process: naming.process(one),
            binder,
            among,
            other: Some(OtherOutline {
                process: naming.process(two),
                binder: other_binder,
                among: other_among,
                condition,
            }),
            labels: kind.labels(&naming),
        }
    }
}

impl Kind<'_, '_> {
    /// What holds where, in words; without labels at which nothing is added.
    fn labels(&self, naming: &Naming) -> Vec<LabelOutline> {
        let mut labels = labels(&self.minimiser, &self.places, naming);
        labels.retain(|label| !label.holds.is_empty() || label.omitted.is_some());
        labels
    }
}
