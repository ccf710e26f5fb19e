//! The proof, readable: what the assertions say, as an outline in the manner of Owicki and Gries.
//!
//! The assertion of a process is divided by the label that it is at, and what holds there is written as short facts about shared
//! variables and its locals, relative to what always holds of the shared variables. The part that everybody sees adds what the
//! processes exclude of each other. Each fact is tested against the assertions before it is
//! stated; where the facts together are not all of the invariant, the outline says so.

mod minimise;
mod pairs;
mod ranges;
mod seen;
pub(crate) mod terms;

use index_vec::IndexVec;
use threadwise_evidence::{LabelOutline, Omission, Outline, ProcessOutline};
use threadwise_lang::program::TemplateId;
use threadwise_model::system::{CellDomain, CellId, ProcessId, System};
use threadwise_symbolic::{Bdd, Halt, Hidden, Search, Symbolic};

use self::minimise::{Facts, Minimiser};
pub(super) use self::pairs::outline_of_pairs;
use self::terms::{Id, Literal, Naming, id, indices};
use super::Stage;
use super::assertions::Assertions;
use super::view::{Representatives, View};

/// The outline of a proof by assertions about one process each.
pub(crate) fn outline(
    search: &Search,
    stage: &Stage<Assertions>,
    representatives: &Representatives,
) -> Result<Outline, Halt> {
    let cells = search.system.cells;
    outline_at_leisure(
        &|| search.breathe_at_leisure(),
        cells,
        stage,
        representatives,
    )
}

/// The same for a system that had so many cells before it grew; `breathe` says whether to go on.
pub(crate) fn outline_at_leisure(
    breathe: &dyn Fn() -> Result<(), Halt>,
    cells: usize,
    stage: &Stage<Assertions>,
    representatives: &Representatives,
) -> Result<Outline, Halt> {
    let writer = Writer {
        breathe,
        symbolic: &stage.symbolic,
        view: &stage.view,
        representatives,
        common: &stage.assertions.common,
        own: &stage.assertions.own,
        shared: stage.symbolic.diagrams.all(),
    };
    let writer = writer.ready()?;
    let mut outline = writer.write((writer.processes()?, 0), writer.seen_alone()?)?;
    let vars = stage.symbolic.system.vars.iter();
    for witness in vars.filter(|var| var.first.index() >= cells) {
        outline.exposed.push(match witness.domain {
            CellDomain::OptId(_) => format!("{} (none if nobody is)", witness.name),
            _ => format!("{} (now or before)", witness.name),
        });
    }
    Ok(outline)
}

/// Says what an outline leaves out if the states that it tells of are more than all that were reached.
pub(crate) fn tell_relations_omitted(
    symbolic: &Symbolic,
    outline: &mut Outline,
    told: &Bdd,
    all: &Bdd,
) {
    if told == all {
        return;
    }
    outline.omitted.push(Omission {
        of: "all variables".to_owned(),
        allowed: symbolic.count(told).to_string(),
        asserted: symbolic.count(all).to_string(),
    });
    outline.whole = false;
}

/// Writes an outline.
struct Writer<'a, 's> {
    /// Says whether to go on.
    breathe: &'a dyn Fn() -> Result<(), Halt>,
    symbolic: &'a Symbolic<'s>,
    view: &'a View,
    representatives: &'a Representatives,
    /// What the proof says of what everybody sees.
    common: &'a Bdd,
    /// What it says of each process alone, and of the shared variables.
    own: &'a IndexVec<ProcessId, Bdd>,
    /// What always holds of the shared variables.
    shared: Bdd,
}

/// A label of a process.
struct Place {
    label: String,
    /// The states with the process there.
    here: Bdd,
    /// What holds there; `None` if there are none of them.
    facts: Option<Facts>,
}

impl Place {
    /// What the facts leave out.
    fn omitted(&self) -> Option<&Omission> {
        self.facts.as_ref().and_then(|facts| facts.omitted.as_ref())
    }

    /// What holds there in words.
    fn holds(&self, minimiser: &Minimiser, naming: &Naming) -> Vec<String> {
        match &self.facts {
            None => vec!["false".to_owned()],
            Some(found) => {
                let texts = found.facts.iter();
                let texts = texts.map(|fact| minimiser.formula(fact, naming).to_string());
                texts.collect()
            }
        }
    }
}

impl<'s> Writer<'_, 's> {
    /// Finds out what always holds of the shared variables.
    fn ready(self) -> Result<Self, Halt> {
        let d = &self.symbolic.diagrams;
        let mut shared = self.common.clone();
        for own in self.view.own.iter().rev() {
            shared = own.classes.forget(d, &shared)?;
        }
        // If nothing is exposed, what everybody sees is a part of everybody's own.
        for (process, own) in self.view.own.iter_enumerated().rev() {
            (self.breathe)()?;
            let seen = own.hidden.forget(d, &self.own[process])?;
            shared = d.and(&shared, &own.classes.forget(d, &seen)?)?;
        }
        Ok(Writer { shared, ..self })
    }

    /// What the processes' own assertions say of what everybody sees.
    fn seen_alone(&self) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let mut seen = self.shared.clone();
        for (process, own) in self.view.own.iter_enumerated().rev() {
            (self.breathe)()?;
            seen = d.and(&own.hidden.forget(d, &self.own[process])?, &seen)?;
        }
        Ok(seen)
    }

    /// The outline, given what holds at the labels, how many kinds of pairs were left out, and what it says of what everybody sees.
    fn write(
        &self,
        (processes, pairs_omitted): (Vec<ProcessOutline>, u64),
        known: Bdd,
    ) -> Result<Outline, Halt> {
        let (mut always, ranges_complete) = self.ranges();
        let (shared, shared_omitted) = self.always()?;
        always.extend(shared);
        let seen = self.seen(known)?;
        always.extend(seen.facts);
        let omitted: Vec<Omission> = shared_omitted.into_iter().chain(seen.omitted).collect();
        let mut labels = processes.iter().flat_map(|process| &process.labels);
        Ok(Outline {
            notation: None,
            whole: ranges_complete
                && omitted.is_empty()
                && pairs_omitted == 0
                && labels.all(|label| label.omitted.is_none()),
            exposed: self.exposed()?,
            always,
            omitted,
            processes,
            pairs_omitted,
            distance: None,
            argument: Vec::new(),
        })
    }

    fn system(&self) -> &'s System {
        self.symbolic.system
    }

    fn minimiser(&self, named: Vec<Id>, for_all: Vec<TemplateId>) -> Minimiser<'_, 's> {
        Minimiser {
            breathe: self.breathe,
            symbolic: self.symbolic,
            letters: named.len(),
            named,
            for_all,
        }
    }

    /// The states in which some cells have values that exist.
    fn valid(&self, cells: &[CellId]) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let mut valid = d.all();
        for cell in cells.iter().rev() {
            let one = self.symbolic.encoding.valid_cell(d, *cell)?;
            valid = d.and(&one, &valid)?;
        }
        Ok(valid)
    }

    /// Facts about the shared variables, and what they leave out.
    fn always(&self) -> Result<(Vec<String>, Option<Omission>), Halt> {
        let cells = &self.view.shared;
        let minimiser = self.minimiser(Vec::new(), Vec::new());
        let found = minimiser.explain(cells, &self.shared, &self.valid(cells)?)?;
        let naming = minimiser.naming();
        let texts = found.facts.iter();
        let texts = texts.map(|fact| minimiser.formula(fact, &naming).to_string());
        let omitted = found.omitted.map(|omission| Omission {
            of: "shared variables".to_owned(),
            ..omission
        });
        Ok((texts.collect(), omitted))
    }

    /// Whether one process stands for several.
    fn stands_for_all(&self, process: ProcessId) -> bool {
        let template = &self.system().templates[self.system().template_of(process)];
        let last = template.first + (template.count as usize).saturating_sub(1);
        process == template.first && process != last && self.representatives.of(last).0 == process
    }

    /// The templates of which one of these stands for all.
    fn for_all(&self, processes: &[ProcessId]) -> Vec<TemplateId> {
        let processes = processes.iter();
        processes
            .filter(|process| self.stands_for_all(self.representatives.of(**process).0))
            .map(|process| self.system().template_of(*process))
            .collect()
    }

    /// What holds at the labels of every process.
    fn processes(&self) -> Result<Vec<ProcessOutline>, Halt> {
        /// Processes of which the same is said, with what that is.
        struct Group<'a, 's> {
            members: Vec<ProcessId>,
            minimiser: Minimiser<'a, 's>,
            places: Vec<Place>,
            labels: Vec<LabelOutline>,
        }
        let system = self.system();
        let mut groups: Vec<Group> = Vec::new();
        for process in self.representatives.all() {
            let for_all = self.for_all(&[process]);
            let minimiser = self.minimiser(vec![id(system, process)], for_all);
            let places = self.own_places(&minimiser, process)?;
            let labels = labels(&minimiser, &places, &minimiser.naming());
            let template = system.template_of(process);
            let same = groups.iter_mut().find(|group| {
                system.template_of(group.members[0]) == template && group.labels == labels
            });
            match same {
                Some(group) => group.members.push(process),
                None => groups.push(Group {
                    members: vec![process],
                    minimiser,
                    places,
                    labels,
                }),
            }
        }
        let mut outlines = Vec::new();
        for group in groups {
            let first = id(system, group.members[0]);
            let template = &system.templates[first.0];
            let all = !group.minimiser.for_all.is_empty()
                || group.members.len() == template.count as usize;
            if template.single || !all && group.members.len() == 1 {
                let naming = Naming::plain(system);
                outlines.push(ProcessOutline {
                    process: naming.process(first),
                    binder: None,
                    among: Vec::new(),
                    other: None,
                    labels: labels(&group.minimiser, &group.places, &naming),
                });
                continue;
            }
            let naming = group.minimiser.naming();
            let number = |process: &ProcessId| {
                template.lowest_id + i64::from(process.raw() - template.first.raw())
            };
            outlines.push(ProcessOutline {
                process: naming.process(first),
                binder: Some(format!("{} in {}", naming.id(first), template.name)),
                among: if all {
                    Vec::new()
                } else {
                    group.members.iter().map(number).collect()
                },
                other: None,
                labels: group.labels,
            });
        }
        Ok(outlines)
    }

    /// What its own assertion says at each label of a process.
    fn own_places(&self, minimiser: &Minimiser, process: ProcessId) -> Result<Vec<Place>, Halt> {
        let cells = &self.view.own[process].cells;
        let d = &self.symbolic.diagrams;
        let within = d.and(&self.shared, &self.valid(cells)?)?;
        self.places(minimiser, process, (&self.own[process], &within), cells)
    }

    /// What holds at each label of a process in a set of states, beyond what holds in a larger one. Both speak of shared variables and of
    /// these cells.
    fn places(
        &self,
        minimiser: &Minimiser,
        process: ProcessId,
        (set, within): (&Bdd, &Bdd),
        cells: &[CellId],
    ) -> Result<Vec<Place>, Halt> {
        let d = &self.symbolic.diagrams;
        let system = self.system();
        let (template, index) = id(system, process);
        let template = &system.templates[template];
        let pc = system.cell(template.pc, index, 0);
        let mut cells: Vec<CellId> = [self.view.shared.as_slice(), cells].concat();
        cells.retain(|cell| *cell != pc);
        // What belongs to those who are named comes first, so that processes that are alike get the same text.
        let named = &minimiser.named;
        cells.sort_by_key(|cell| {
            let indices = indices(system, *cell);
            let place = named.iter().position(|id| indices.contains(id));
            place.unwrap_or(named.len())
        });
        let counter = Hidden::new(d, self.symbolic.encoding.cells[pc].vars(false))?;
        let mut places = Vec::new();
        for (location, label) in template.locations.iter_enumerated() {
            (self.breathe)()?;
            let code = self.symbolic.encoding.cells[pc].code(i64::from(location.raw()));
            let Some(code) = code else {
                // That a process that never ends is never done goes without saying.
                if location != template.done() {
                    places.push(Place {
                        label: label.clone(),
                        here: d.none(),
                        facts: None,
                    });
                }
                continue;
            };
            let here = self.symbolic.encoding.code(d, pc, code, false)?;
            let target = counter.forget_and(d, set, &here)?;
            let care = counter.forget_and(d, within, &here)?;
            let never = !d.is_empty(&care) && d.is_empty(&d.and(&target, &care)?);
            places.push(Place {
                label: label.clone(),
                here,
                facts: if never {
                    None
                } else {
                    Some(minimiser.explain(&cells, &target, &care)?)
                },
            });
        }
        Ok(places)
    }

    /// What is exposed of the processes.
    fn exposed(&self) -> Result<Vec<String>, Halt> {
        let system = self.system();
        let letters = Naming::letters(system);
        let mut exposed = Vec::new();
        for process in self.representatives.all() {
            let minimiser = self.minimiser(Vec::new(), Vec::new());
            let mut naming = Naming::plain(system);
            if self.stands_for_all(process) {
                naming = naming.with(id(system, process), &letters[1]);
            }
            for cell in &self.view.own[process].cells {
                for values in self.symbolic.layout.classes.get(cell).into_iter().flatten() {
                    let literal = Literal::In {
                        cell: *cell,
                        values: values.iter().copied().collect(),
                    };
                    exposed.push(minimiser.literal(&literal, &naming).to_string());
                }
            }
        }
        Ok(exposed)
    }
}

/// What holds where, in words.
fn labels(minimiser: &Minimiser, places: &[Place], naming: &Naming) -> Vec<LabelOutline> {
    LabelOutline::by_facts(places.iter().map(|place| LabelOutline {
        labels: vec![place.label.clone()],
        holds: place.holds(minimiser, naming),
        omitted: place.omitted().cloned(),
    }))
}
