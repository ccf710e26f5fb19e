//! Symmetry reduction: of states that differ only in who is who, one is stored.
//!
//! For each template whose processes the program cannot tell apart, the processes are sorted by a
//! *signature*: what a state says of one process alone (its locals, its cells of arrays, which
//! shared ids are its own). Where signatures tie and ids in the state relate processes to one
//! another, all orders of the tied ones are tried, up to a bound. On a ring all rotations are tried.
//!
//! Any member of an orbit may stand for it, so it does not matter for soundness that beyond the bound two
//! members of one orbit may both be stored. For the same reason a run cannot be rebuilt from
//! the stored states by looking for successors that are stored alike. Instead the renaming of each
//! step is kept, and undone along the run: a run of the program itself comes out.

use std::collections::BTreeSet;

use threadwise_lang::program::TemplateId;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{
    CellDomain, DimKind, ProcessId, Scope, System, SystemProperty, TemplateSymmetry,
};

/// The most orders of tied processes, or rotations, that are tried.
const MOST_TRIED: usize = 720;
/// Cells that are renamed in a unit of work.
const CELLS: u64 = 4;

/// A renaming of all processes: for each template, the image of each index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Renaming(Vec<Vec<u32>>);

impl Renaming {
    /// Leaves everything as it is.
    pub fn identity(system: &System) -> Renaming {
        Renaming(
            system
                .templates
                .iter()
                .map(|t| (0..t.count).collect())
                .collect(),
        )
    }

    /// First the other, then this.
    pub fn after(&self, other: &Renaming) -> Renaming {
        let both = self.0.iter().zip(&other.0);
        Renaming(
            both.map(|(this, other)| other.iter().map(|&k| this[k as usize]).collect())
                .collect(),
        )
    }

    /// The renaming that undoes this one.
    pub fn inverse(&self) -> Renaming {
        let invert = |images: &Vec<u32>| {
            let mut inverse = vec![0; images.len()];
            for (index, &image) in images.iter().enumerate() {
                inverse[image as usize] = index as u32;
            }
            inverse
        };
        Renaming(self.0.iter().map(invert).collect())
    }

    /// The image of a process.
    pub fn process(&self, system: &System, process: ProcessId) -> ProcessId {
        let template = system.template_of(process);
        let first = system.templates[template].first.raw();
        ProcessId::from_raw(first + self.0[template.index()][(process.raw() - first) as usize])
    }

    /// The image of a state.
    pub fn state(&self, system: &System, state: &[i64]) -> Vec<i64> {
        let mut state = state.to_vec();
        for (template, images) in self.0.iter().enumerate() {
            rename(system, TemplateId::from_usize(template), images, &mut state);
        }
        state
    }
}

/// Renames the processes of one template in a state.
fn rename(system: &System, template: TemplateId, images: &[u32], state: &mut Vec<i64>) {
    if images
        .iter()
        .enumerate()
        .all(|(index, &image)| index as u32 == image)
    {
        return;
    }
    if let Some(permutation) = Permutation::of_template(template, images.to_vec()) {
        *state = permutation.apply(system, state);
    }
}

/// The symmetry of a system and some of its properties.
#[derive(Debug)]
pub(crate) struct Symmetry<'a> {
    system: &'a System,
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    template: TemplateId,
    /// The indices that may be exchanged.
    free: Vec<u32>,
    /// Only rotations are allowed; otherwise every permutation.
    rotations: bool,
    /// What the signature of each free process is made of.
    signatures: Vec<Vec<Part>>,
    /// The state can relate processes of the template to one another, which signatures do not see.
    relates: bool,
}

/// A part of a signature.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The cell's value.
    Value(u32),
    /// Whether the cell holds this value, none (negative), or another one.
    Holds(u32, i64),
}

impl<'a> Symmetry<'a> {
    /// The permutations that map the system and each of the properties onto themselves; nothing
    /// if that is only the identity.
    pub fn new(system: &'a System, properties: &[&SystemProperty]) -> Option<Symmetry<'a>> {
        let ordered: BTreeSet<_> = properties
            .iter()
            .flat_map(|p| p.ids.ordered.iter())
            .collect();
        let named: BTreeSet<_> = properties.iter().flat_map(|p| p.ids.named.iter()).collect();
        let mut groups = Vec::new();
        for (id, template) in system.templates.iter_enumerated() {
            if ordered.contains(&id) || template.dynamic {
                continue;
            }
            let free: Vec<u32> = (0..template.count)
                .filter(|&index| !named.contains(&(id, index)))
                .collect();
            let rotations = match template.symmetry {
                TemplateSymmetry::Full => false,
                TemplateSymmetry::Rotations if free.len() == template.count as usize => true,
                TemplateSymmetry::Rotations | TemplateSymmetry::Identity => continue,
            };
            if free.len() < 2 || rotations && free.len() > MOST_TRIED {
                continue;
            }
            let mut group = Group {
                template: id,
                free,
                rotations,
                signatures: Vec::new(),
                relates: false,
            };
            group.look(system);
            groups.push(group);
        }
        (!groups.is_empty()).then_some(Symmetry { system, groups })
    }

    /// Replaces a state by the one that is to be stored for it, and says how: the image of the
    /// state before under the renaming is the state after. Counts the work that it is.
    pub fn represent(&self, state: &mut Vec<i64>, work: &mut u64) -> Renaming {
        let mut renaming = Renaming::identity(self.system);
        for group in &self.groups {
            let images = group.best(self.system, state, work);
            rename(self.system, group.template, &images, state);
            renaming.0[group.template.index()] = images;
        }
        renaming
    }
}

impl Group {
    /// Finds out what the signatures are made of.
    fn look(&mut self, system: &System) {
        let count = system.templates[self.template].count;
        let mut signatures = vec![Vec::new(); count as usize];
        for (id, var) in system.vars.iter_enumerated() {
            // What a cell must hold to name the process with an index.
            let code = |index: u32| match var.domain {
                CellDomain::Id(t) | CellDomain::OptId(t) if t == self.template => {
                    Some(i64::from(index))
                }
                CellDomain::Mutex => Some(i64::from(
                    system.templates[self.template].first.raw() + index,
                )),
                _ => None,
            };
            let names = code(0).is_some();
            let (copies, local) = match var.scope {
                Scope::Shared => (1, false),
                Scope::Local(template) => {
                    (system.templates[template].count, template == self.template)
                }
            };
            let moving = var
                .dims
                .iter()
                .filter(|dim| matches!(dim.kind, DimKind::Template(t) if t == self.template));
            let moving = moving.count();
            // A cell says something of one process if the process is its owner or its one index, or
            // if it may name the process.
            if usize::from(local) + moving + usize::from(names) > 1 {
                self.relates = true;
            }
            for copy in 0..copies {
                for offset in 0..var.len {
                    let cell = system.cell(id, copy, offset).raw();
                    let mut owners: BTreeSet<u32> = indices(&var.dims, offset, self.template);
                    if local {
                        owners.insert(copy);
                    }
                    match owners.len() {
                        0 if names => {
                            for index in 0..count {
                                let value = code(index).unwrap_or(-1);
                                signatures[index as usize].push(Part::Holds(cell, value));
                            }
                        }
                        1 => {
                            let owner = owners.into_iter().next().unwrap_or(0);
                            signatures[owner as usize].push(match code(owner) {
                                Some(value) => Part::Holds(cell, value),
                                None => Part::Value(cell),
                            });
                        }
                        _ => {}
                    }
                }
            }
        }
        self.signatures = self
            .free
            .iter()
            .map(|&index| std::mem::take(&mut signatures[index as usize]))
            .collect();
    }

    /// The images that bring a state into the form that is stored.
    fn best(&self, system: &System, state: &[i64], work: &mut u64) -> Vec<u32> {
        let count = system.templates[self.template].count;
        // An image takes a look at each cell; sorting, one at each process or two, and at some cells of it.
        let image = 1 + system.cells as u64 / CELLS;
        *work += image + self.free.len() as u64;
        if self.rotations {
            let all = (0..count).map(|by| (0..count).map(|index| (index + by) % count).collect());
            *work += u64::from(count) * image;
            return self.least(system, state, all);
        }
        // Positions among the free indices, sorted by signature; ties stay in order.
        let signature = |position: usize| {
            self.signatures[position].iter().map(|part| match *part {
                Part::Value(cell) => state[cell as usize],
                Part::Holds(cell, value) => match state[cell as usize] {
                    held if held == value => 1,
                    held if held < 0 => 0,
                    _ => 2,
                },
            })
        };
        let mut order: Vec<usize> = (0..self.free.len()).collect();
        order.sort_by(|&a, &b| signature(a).cmp(signature(b)));
        let images = |order: &[usize]| {
            let mut images: Vec<u32> = (0..count).collect();
            for (place, &position) in order.iter().enumerate() {
                images[self.free[position] as usize] = self.free[place];
            }
            images
        };
        if !self.relates {
            return images(&order);
        }
        let mut ties = Vec::new();
        let mut start = 0;
        let mut orders = 1usize;
        for at in 1..=order.len() {
            if at == order.len() || !signature(order[start]).eq(signature(order[at])) {
                for size in 2..=at - start {
                    orders = orders.saturating_mul(size);
                }
                ties.push(start..at);
                start = at;
            }
        }
        if orders == 1 || orders > MOST_TRIED {
            return images(&order);
        }
        *work += orders as u64 * image;
        let mut all = vec![order];
        for tie in ties {
            all = all
                .iter()
                .flat_map(|order| arrangements(order, tie.clone()))
                .collect();
        }
        self.least(system, state, all.iter().map(|order| images(order)))
    }

    /// Of several permutations the one with the least image.
    fn least(
        &self,
        system: &System,
        state: &[i64],
        all: impl Iterator<Item = Vec<u32>>,
    ) -> Vec<u32> {
        let image = |images: Vec<u32>| {
            let mut state = state.to_vec();
            rename(system, self.template, &images, &mut state);
            (state, images)
        };
        all.map(image)
            .min()
            .map_or_else(Vec::new, |(_, images)| images)
    }
}

/// The indices of a cell that are ids of the template.
fn indices(
    dims: &[threadwise_model::system::Dim],
    offset: u32,
    template: TemplateId,
) -> BTreeSet<u32> {
    let mut rest = offset;
    let mut found = BTreeSet::new();
    for dim in dims.iter().rev() {
        let index = rest % dim.size;
        rest /= dim.size;
        if matches!(dim.kind, DimKind::Template(t) if t == template) {
            found.insert(index);
        }
    }
    found
}

/// All orders of the elements within the range.
fn arrangements(order: &[usize], range: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    if range.len() < 2 {
        return vec![order.to_vec()];
    }
    let mut all = Vec::new();
    for other in range.clone() {
        let mut order = order.to_vec();
        order.swap(range.start, other);
        all.extend(arrangements(&order, range.start + 1..range.end));
    }
    all
}
