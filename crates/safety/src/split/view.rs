//! What of a program is seen by whom.
//!
//! The cells of a process (where it is, its locals) are its own. The others see of them no more than the class that
//! their value is in, and without classes nothing; the rest is hidden. Everything else is shared, but for cells that only one process
//! needs, or nobody, where these are told apart.

use index_vec::IndexVec;
use threadwise_lang::program::TemplateId;
use threadwise_model::influence::Globals;
use threadwise_model::layout::owners;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellId, ProcessId, System, TemplateSymmetry};
use threadwise_symbolic::{Bdd, Diagrams, Error, Hidden, Symbolic};

/// The cells of one process.
pub struct Own {
    /// In the order of their variables.
    pub cells: Vec<CellId>,
    /// What the others do not see.
    pub hidden: Hidden,
    /// What they see.
    pub classes: Hidden,
}

/// Whose cells are whose, in a layout.
pub struct View {
    /// The shared cells.
    pub shared: Vec<CellId>,
    /// The cells of each process.
    pub own: IndexVec<ProcessId, Own>,
    /// Everything hidden of all processes.
    pub hidden: Hidden,
    /// What no assertion speaks of.
    pub unneeded: Hidden,
    /// Where the codes of that stand for values.
    pub valid: Bdd,
    /// Which shared cells are not.
    pub globals: Globals,
}

impl View {
    /// Whose cells are whose; some shared ones are known to be needed by few.
    pub fn new(symbolic: &Symbolic, globals: &Globals) -> Result<Self, Error> {
        let d = &symbolic.diagrams;
        let owners = owners_of(symbolic.system, globals);
        let mut shared = Vec::new();
        let mut unneeded = Vec::new();
        let mut cells: IndexVec<ProcessId, Vec<CellId>> = (0..symbolic.system.processes())
            .map(|_| Vec::new())
            .collect();
        for cell in symbolic.encoding.order() {
            match owners[cell] {
                Some(process) => cells[process].push(cell),
                None if globals.unneeded.contains(&cell) => unneeded.push(cell),
                None => shared.push(cell),
            }
        }
        let codes = &symbolic.encoding.cells;
        let mut own = IndexVec::new();
        for cells in cells {
            own.push(Own {
                hidden: Hidden::new(
                    d,
                    cells
                        .iter()
                        .flat_map(|cell| codes[*cell].hidden_vars(false)),
                )?,
                classes: Hidden::new(
                    d,
                    cells.iter().flat_map(|cell| codes[*cell].class_vars(false)),
                )?,
                cells,
            });
        }
        let hidden = Hidden::new(
            d,
            own.iter()
                .flat_map(|own: &Own| own.hidden.vars().iter().copied()),
        )?;
        let vars = unneeded.iter().flat_map(|cell| codes[*cell].vars(false));
        Ok(View {
            shared,
            own,
            hidden,
            unneeded: Hidden::new(d, vars)?,
            valid: symbolic.encoding.valid_cells(d, &unneeded)?,
            globals: globals.clone(),
        })
    }

    /// The initial states, as far as they are needed.
    pub fn initial(&self, symbolic: &Symbolic) -> Result<Bdd, Error> {
        self.unneeded.forget(&symbolic.diagrams, &symbolic.initial)
    }

    /// Whose each variable is.
    pub fn whose(&self, symbolic: &Symbolic) -> Vec<Option<ProcessId>> {
        let owners = owners_of(symbolic.system, &self.globals);
        let cells = symbolic.encoding.cells_of_vars();
        cells
            .into_iter()
            .map(|cell: Option<CellId>| cell.and_then(|cell| owners[cell]))
            .collect()
    }

    /// Whether anything is seen of anybody.
    pub fn exposes(&self) -> bool {
        self.own.iter().any(|own| !own.classes.is_empty())
    }

    /// What is seen of those who are not inside.
    pub fn classes_outside(
        &self,
        d: &Diagrams,
        inside: impl Fn(ProcessId) -> bool,
    ) -> Result<Hidden, Error> {
        self.outside(d, inside, |own| &own.classes)
    }

    /// What is hidden of them.
    pub fn hidden_outside(
        &self,
        d: &Diagrams,
        inside: impl Fn(ProcessId) -> bool,
    ) -> Result<Hidden, Error> {
        self.outside(d, inside, |own| &own.hidden)
    }

    fn outside(
        &self,
        d: &Diagrams,
        inside: impl Fn(ProcessId) -> bool,
        what: impl Fn(&Own) -> &Hidden,
    ) -> Result<Hidden, Error> {
        let outside = self.own.iter_enumerated();
        let outside = outside.filter(|(process, _)| !inside(*process));
        Hidden::new(
            d,
            outside.flat_map(|(_, own)| what(own).vars().iter().copied()),
        )
    }
}

/// The process that each cell belongs to; `None` for shared cells.
fn owners_of(system: &System, globals: &Globals) -> IndexVec<CellId, Option<ProcessId>> {
    let mut owners = owners(system);
    for (cell, process) in &globals.own {
        owners[*cell] = Some(*process);
    }
    owners
}

/// For whom assertions are computed, and how the others get theirs.
pub struct Representatives {
    /// For each process the one whose assertion stands for its own, and the permutation that takes
    /// that one to it; `None` if it is its own.
    of: IndexVec<ProcessId, (ProcessId, Option<Permutation>)>,
}

/// Where a process gets its assertion from.
pub struct Source {
    /// Who.
    pub process: ProcessId,
    /// Whose image under which symmetry it is; `None` if it is computed.
    pub image: Option<(ProcessId, Permutation)>,
}

impl Representatives {
    /// Everybody for themselves, or one for all that are alike.
    pub fn new(system: &System, symmetry: bool) -> Self {
        if symmetry {
            Representatives::by_symmetry(system)
        } else {
            Representatives::everybody(system)
        }
    }

    /// One process for all that are in the same group, which any permutation of its members leaves as it is. Everybody is in one
    /// group, and the members of a group are of one template.
    pub fn of_groups(system: &System, groups: &[Vec<ProcessId>]) -> Self {
        let mut representatives = Representatives::everybody(system);
        for group in groups {
            let Some((first, others)) = group.split_first() else {
                continue;
            };
            let template = system.template_of(*first);
            for process in others {
                let mut images: Vec<u32> = (0..system.templates[template].count).collect();
                images.swap(
                    system.index_of(*first) as usize,
                    system.index_of(*process) as usize,
                );
                let permutation = Permutation::of_template(template, images);
                if permutation.is_some() {
                    representatives.of[*process] = (*first, permutation);
                }
            }
        }
        representatives
    }

    /// Everybody for themselves.
    fn everybody(system: &System) -> Self {
        Representatives {
            of: (0..system.processes())
                .map(|process| (ProcessId::from_raw(process), None))
                .collect(),
        }
    }

    /// One process for all that the types cannot tell from it.
    fn by_symmetry(system: &System) -> Self {
        let mut of = IndexVec::new();
        for (id, template) in system.templates.iter_enumerated() {
            for index in 0..template.count {
                let permutation = match index {
                    0 => None,
                    index => moving(template.symmetry, id, template.count, index),
                };
                let process = template.first + index as usize;
                of.push(match permutation {
                    Some(permutation) => (template.first, Some(permutation)),
                    None => (process, None),
                });
            }
        }
        Representatives { of }
    }

    /// Those for whom assertions are computed.
    pub fn all(&self) -> Vec<ProcessId> {
        self.of
            .iter_enumerated()
            .filter(|(_, (_, permutation))| permutation.is_none())
            .map(|(process, _)| process)
            .collect()
    }

    /// Who stands for a process, and how to get to it from there.
    pub fn of(&self, process: ProcessId) -> (ProcessId, Option<&Permutation>) {
        let (representative, permutation) = &self.of[process];
        (*representative, permutation.as_ref())
    }

    /// Where each process gets its assertion from, nobody before those whom it depends on. Where any two may be swapped, images
    /// go from neighbour to neighbour in the order of the variables: little of a diagram is between those.
    pub fn sources(&self, symbolic: &Symbolic) -> Vec<Source> {
        let system = symbolic.system;
        let mut sources = Vec::new();
        for (id, template) in system.templates.iter_enumerated() {
            let process = |index: u32| template.first + index as usize;
            let swap = |from: u32, to: u32| {
                let mut images: Vec<u32> = (0..template.count).collect();
                images.swap(from as usize, to as usize);
                Permutation::of_template(id, images)
            };
            let mut order: Vec<u32> = (0..template.count).collect();
            order.sort_by_key(|index| {
                let pc = system.cell(template.pc, *index, 0);
                (symbolic.encoding.cells[pc].vars(false).next(), *index)
            });
            // Away from the first process, to the end and to the beginning.
            let first = order.iter().position(|index| *index == 0).unwrap_or(0);
            let after = (first..order.len()).map(|place| (place, place.checked_sub(1)));
            let before = (0..first).rev().map(|place| (place, Some(place + 1)));
            for (place, neighbour) in after.chain(before) {
                let index = order[place];
                let image = match (&self.of[process(index)], neighbour) {
                    ((_, None), _) => None,
                    ((representative, Some(_)), Some(neighbour))
                        if template.symmetry == TemplateSymmetry::Full
                            && self.of[process(order[neighbour])].0 == *representative =>
                    {
                        let from = order[neighbour];
                        swap(from, index).map(|permutation| (process(from), permutation))
                    }
                    ((from, Some(permutation)), _) => Some((*from, permutation.clone())),
                };
                sources.push(Source {
                    process: process(index),
                    image,
                });
            }
        }
        sources
    }
}

/// A symmetry that takes the first process of a template to another one.
fn moving(
    symmetry: TemplateSymmetry,
    template: TemplateId,
    count: u32,
    index: u32,
) -> Option<Permutation> {
    let images = match symmetry {
        TemplateSymmetry::Identity => return None,
        TemplateSymmetry::Full => {
            let mut images: Vec<u32> = (0..count).collect();
            images.swap(0, index as usize);
            images
        }
        TemplateSymmetry::Rotations => (0..count).map(|k| (k + index) % count).collect(),
    };
    Permutation::of_template(template, images)
}
