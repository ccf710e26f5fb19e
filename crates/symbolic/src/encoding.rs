//! Cells as bits, and the order of the bits.
//!
//! A cell with n values takes the bits of the numbers 0 to n - 1; only values that can occur count:
//! the interval analysis bounds variables, and locations that no step leads to are left out. Each
//! bit has a twin right behind it for the state after a step. The order: shared scalars
//! first, then each process with its own cells and the array cells that are indexed by it, so that
//! what is tested together stands together.

use index_vec::IndexVec;
use oxidd::VarNo;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::intervals::Bounds;
use threadwise_model::system::{CellId, DimKind, Scope, System, VarId};

use crate::Error;
use crate::diagrams::{Bdd, Diagrams, OutOfNodes};

/// A variable with more values than this is not encoded.
pub const MAX_VALUES: usize = 1 << 16;

/// How the values of a cell are coded.
#[derive(Clone, Debug)]
pub struct CellCode {
    /// The values in the order of their codes, ascending.
    pub values: std::rc::Rc<[i64]>,
    /// The variable of the first (most significant) bit; bit `b` is `first + 2b`, its twin one
    /// further.
    first: VarNo,
    bits: u32,
}

impl CellCode {
    /// The code of a value.
    pub fn code(&self, value: i64) -> Option<usize> {
        self.values.binary_search(&value).ok()
    }

    /// The variable of its first bit, or where it would be.
    pub fn first_var(&self) -> VarNo {
        self.first
    }

    /// The variables of its bits, the most significant first; those of the state after a step if
    /// `after`.
    pub fn vars(&self, after: bool) -> impl Iterator<Item = VarNo> + Clone + use<> {
        let first = self.first + VarNo::from(after);
        (0..self.bits).map(move |bit| first + 2 * bit)
    }
}

/// All cells of a system as bits, then the choices of steps.
#[derive(Debug)]
pub struct Encoding {
    /// For each cell.
    pub cells: IndexVec<CellId, CellCode>,
    /// For each choice of a step: its bits. The values are those of the step, counted from 0.
    choices: Vec<(VarNo, u32)>,
    /// How many variables there are.
    pub variables: u32,
    /// How many of them belong to the state before a step.
    pub state_bits: u32,
}

impl Encoding {
    /// Lays out the variables of a system.
    pub fn new(system: &System, bounds: &Bounds) -> Result<Self, Error> {
        let mut values: IndexVec<VarId, std::rc::Rc<[i64]>> = IndexVec::new();
        for (id, var) in system.vars.iter_enumerated() {
            values.push(values_of(system, bounds, id, var.name.as_str())?);
        }
        let mut order = order(system);
        let mut codes: IndexVec<CellId, Option<CellCode>> =
            index_vec::index_vec![None; system.cells];
        let mut next: VarNo = 0;
        for (var, cell) in order.drain(..) {
            let values = values[var].clone();
            let bits = bits_for(values.len());
            codes[cell] = Some(CellCode {
                values,
                first: next,
                bits,
            });
            next += 2 * bits;
        }
        let state_bits = next / 2;
        let mut choices: Vec<(VarNo, u32)> = Vec::new();
        for step in system
            .templates
            .iter()
            .flat_map(|t| t.steps.iter().flatten())
        {
            for (position, (lo, hi)) in step.choices.iter().enumerate() {
                let count =
                    usize::try_from(i128::from(*hi) - i128::from(*lo) + 1).unwrap_or(usize::MAX);
                if count > MAX_VALUES {
                    return Err(Error::TooManyValues {
                        what: "a choice".to_owned(),
                    });
                }
                let bits = bits_for(count);
                match choices.get_mut(position) {
                    Some((_, known)) => *known = (*known).max(bits),
                    None => choices.push((0, bits)),
                }
            }
        }
        for (first, bits) in &mut choices {
            *first = next;
            next += *bits;
        }
        let cells = codes
            .into_iter()
            .collect::<Option<Vec<CellCode>>>()
            .ok_or(Error::Internal("a cell without a variable"))?;
        Ok(Encoding {
            cells: IndexVec::from_vec(cells),
            choices,
            variables: next,
            state_bits,
        })
    }

    /// The set in which a cell has a code, before or after a step.
    pub fn code(
        &self,
        diagrams: &Diagrams,
        cell: CellId,
        code: usize,
        after: bool,
    ) -> Result<Bdd, OutOfNodes> {
        let vars = self.cells[cell].vars(after);
        number(diagrams, vars, code)
    }

    /// The set in which a choice has a code.
    pub fn choice(&self, diagrams: &Diagrams, choice: u32, code: usize) -> Result<Bdd, OutOfNodes> {
        let (first, bits) = self.choices[choice as usize];
        number(diagrams, first..first + bits, code)
    }

    /// The variables of the choices.
    pub fn choice_vars(&self) -> Vec<VarNo> {
        self.choices
            .iter()
            .flat_map(|(first, bits)| *first..*first + *bits)
            .collect()
    }

    /// The variables of some cells, before or after a step.
    pub fn vars_of(&self, cells: &[CellId], after: bool) -> Vec<VarNo> {
        cells
            .iter()
            .flat_map(|cell| self.cells[*cell].vars(after))
            .collect()
    }

    /// The set of states whose codes all stand for values.
    pub fn valid(&self, diagrams: &Diagrams) -> Result<Bdd, OutOfNodes> {
        let mut valid = diagrams.all();
        let mut cells: Vec<CellId> = self.cells.indices().collect();
        // From the last variable up, so that each step adds on top.
        cells.sort_by_key(|cell| std::cmp::Reverse(self.cells[*cell].first));
        for cell in cells {
            let one = self.valid_cell(diagrams, cell)?;
            valid = diagrams.and(&one, &valid)?;
        }
        Ok(valid)
    }

    /// The set in which a cell's code stands for a value.
    pub fn valid_cell(&self, diagrams: &Diagrams, cell: CellId) -> Result<Bdd, OutOfNodes> {
        let code = &self.cells[cell];
        if code.values.len().is_power_of_two() {
            return Ok(diagrams.all());
        }
        below(diagrams, code.vars(false), code.values.len())
    }

    /// The state that a valuation of the variables stands for; open bits count as 0.
    pub fn decode(&self, member: &[Option<bool>]) -> Option<Vec<i64>> {
        self.cells
            .iter()
            .map(|cell| {
                let code = cell.vars(false).fold(0, |code, var| {
                    2 * code
                        + usize::from(member.get(var as usize).copied().flatten() == Some(true))
                });
                cell.values.get(code).copied()
            })
            .collect()
    }

    /// The valuation of the variables that a state stands for; the twins are 0. `None` if the
    /// state has a value that is not encoded.
    pub fn encode(&self, state: &[i64]) -> Option<Vec<bool>> {
        let mut bits = vec![false; self.variables as usize];
        for (cell, value) in self.cells.iter().zip(state) {
            let code = cell.code(*value)?;
            for (place, var) in cell.vars(false).enumerate() {
                let shift = cell.bits as usize - 1 - place;
                bits[var as usize] = code >> shift & 1 == 1;
            }
        }
        Some(bits)
    }
}

/// The set in which bits, the most significant first, make up a number.
fn number(
    diagrams: &Diagrams,
    vars: impl Iterator<Item = VarNo>,
    number: usize,
) -> Result<Bdd, OutOfNodes> {
    let vars: Vec<VarNo> = vars.collect();
    let mut set = diagrams.all();
    for (shift, var) in vars.iter().rev().enumerate() {
        let literal = diagrams.literal(*var, number >> shift & 1 == 1)?;
        set = diagrams.and(&literal, &set)?;
    }
    Ok(set)
}

/// The set in which the number made up by bits is below a limit.
fn below(
    diagrams: &Diagrams,
    vars: impl Iterator<Item = VarNo>,
    limit: usize,
) -> Result<Bdd, OutOfNodes> {
    let vars: Vec<VarNo> = vars.collect();
    let mut set = diagrams.none();
    for (shift, var) in vars.iter().rev().enumerate() {
        let bit = diagrams.literal(*var, true)?;
        set = if limit >> shift & 1 == 1 {
            let low = diagrams.not(&bit)?;
            diagrams.or(&low, &set)?
        } else {
            diagrams.minus(&set, &bit)?
        };
    }
    Ok(set)
}

fn bits_for(values: usize) -> u32 {
    match values {
        0 | 1 => 0,
        n => (n - 1).ilog2() + 1,
    }
}

/// The values that the cells of a variable can have.
fn values_of(
    system: &System,
    bounds: &Bounds,
    id: VarId,
    name: &str,
) -> Result<std::rc::Rc<[i64]>, Error> {
    if let Some(template) = system.templates.iter().find(|template| template.pc == id) {
        let mut reached = std::collections::BTreeSet::new();
        let mut waiting: Vec<LocationId> = vec![template.entry];
        while let Some(location) = waiting.pop() {
            if reached.insert(i64::from(location.raw())) {
                waiting.extend(template.steps[location].iter().map(|step| step.to));
            }
        }
        if template.dynamic {
            reached.insert(template.unstarted());
        }
        return Ok(reached.into_iter().collect());
    }
    let interval = bounds.vars[id];
    let (lo, hi) = match system.values(system.vars[id].domain) {
        Some((lo, hi)) => (lo.max(interval.lo), hi.min(interval.hi)),
        None => (interval.lo, interval.hi),
    };
    let count = i128::from(hi) - i128::from(lo) + 1;
    if count > MAX_VALUES as i128 {
        return Err(Error::TooManyValues {
            what: format!("`{name}`"),
        });
    }
    // A variable without cells may have an empty interval.
    Ok((lo..=hi.max(lo)).collect())
}

/// All cells, in the order in which they become variables.
fn order(system: &System) -> Vec<(VarId, CellId)> {
    /// Shared scalars and arrays without ids first, then process by process.
    type Key = (u32, u32, usize);
    let mut keyed: Vec<(Key, VarId, CellId)> = Vec::new();
    let owner =
        |template: TemplateId, index: u32| system.templates[template].first.raw() + index + 1;
    for (id, var) in system.vars.iter_enumerated() {
        match var.scope {
            Scope::Shared => {
                for offset in 0..var.len {
                    let process = array_owner(var.dims.as_slice(), offset)
                        .map_or(0, |(template, index)| owner(template, index));
                    let cell = system.cell(id, 0, offset);
                    // Behind the process's own cells.
                    keyed.push(((process, 1, cell.index()), id, cell));
                }
            }
            Scope::Local(template) => {
                for index in 0..system.templates[template].count {
                    for offset in 0..var.len {
                        let cell = system.cell(id, index, offset);
                        keyed.push(((owner(template, index), 0, cell.index()), id, cell));
                    }
                }
            }
        }
    }
    keyed.sort_unstable_by_key(|(key, _, _)| *key);
    keyed
        .into_iter()
        .map(|(_, var, cell)| (var, cell))
        .collect()
}

/// The process that an array cell belongs to: by the first dimension whose indices are ids.
fn array_owner(dims: &[threadwise_model::system::Dim], offset: u32) -> Option<(TemplateId, u32)> {
    let mut stride: u32 = dims.iter().map(|dim| dim.size).product();
    for dim in dims {
        stride /= dim.size.max(1);
        if let DimKind::Template(template) = dim.kind {
            return Some((template, offset / stride.max(1) % dim.size.max(1)));
        }
    }
    None
}
