//! Cells as bits, and the order of the bits.
//!
//! A cell with n values takes the bits of the numbers 0 to n - 1; only values that can occur count:
//! the interval analysis bounds variables, and locations that no step leads to are left out. Each
//! bit has a twin right behind it for the state after a step.
//!
//! If the values of a cell are divided into classes, the first bits of its code number the class and the
//! others the value within it. Forgetting the latter is what "only the class is known" means, so
//! a method that exposes facts about a cell needs no variables beside those of the cell.

use std::rc::Rc;

use index_vec::IndexVec;
use oxidd::VarNo;
use threadwise_lang::program::LocationId;
use threadwise_model::intervals::Bounds;
use threadwise_model::system::{CellId, System, VarId};

use crate::diagrams::{Bdd, Diagrams, GaveUp};
use crate::layout::{self, Layout};
use crate::{Error, SeenValues};

/// A variable with more values than this is not encoded.
pub const MAX_VALUES: usize = 1 << 16;

/// The values of a cell and their codes.
#[derive(Debug, PartialEq, Eq)]
struct Alphabet {
    /// The values, ascending, each with its code.
    codes: Vec<(i64, usize)>,
    /// The value of each code; some codes may stand for none.
    values: Vec<Option<i64>>,
    bits: u32,
    /// How many of the bits, the first ones, number the class.
    class_bits: u32,
}

impl Alphabet {
    /// Codes for ascending values. Values that no class lists make up one of their own.
    fn new(all: &[i64], classes: &[Vec<i64>]) -> Self {
        let listed: std::collections::BTreeSet<i64> = classes.iter().flatten().copied().collect();
        let rest: Vec<i64> = all
            .iter()
            .copied()
            .filter(|value| !listed.contains(value))
            .collect();
        let parts: Vec<Vec<i64>> = std::iter::once(rest)
            .chain(classes.iter().map(|class| {
                let mut class = class.clone();
                class.retain(|value| all.binary_search(value).is_ok());
                class.sort_unstable();
                class
            }))
            .filter(|class| !class.is_empty())
            .collect();
        let rest_bits = bits_for(parts.iter().map(Vec::len).max().unwrap_or(0));
        let class_bits = bits_for(parts.len());
        let mut values = vec![None; 1 << (rest_bits + class_bits)];
        let mut codes = Vec::with_capacity(all.len());
        for (class, part) in parts.iter().enumerate() {
            for (place, value) in part.iter().enumerate() {
                let code = class << rest_bits | place;
                values[code] = Some(*value);
                codes.push((*value, code));
            }
        }
        codes.sort_unstable();
        Alphabet {
            codes,
            values,
            bits: rest_bits + class_bits,
            class_bits,
        }
    }
}

/// How the values of a cell are coded.
#[derive(Clone, Debug)]
pub struct CellCode {
    alphabet: Rc<Alphabet>,
    /// The variable of the first (most significant) bit; bit `b` is `first + 2b`, its twin one
    /// further.
    first: VarNo,
}

impl CellCode {
    /// The code of a value.
    pub fn code(&self, value: i64) -> Option<usize> {
        let codes = &self.alphabet.codes;
        let place = codes.binary_search_by_key(&value, |(value, _)| *value);
        place.ok().map(|place| codes[place].1)
    }

    /// The values, ascending, each with its code.
    pub fn codes(&self) -> &[(i64, usize)] {
        &self.alphabet.codes
    }

    /// The class of the value with a code.
    pub fn class(&self, code: usize) -> usize {
        code >> (self.alphabet.bits - self.alphabet.class_bits)
    }

    /// The value that some variables make up, given by variable; open ones count as 0.
    pub fn value(&self, values: &[Option<bool>]) -> Option<i64> {
        let code = number_of(self.vars(false), values);
        self.alphabet.values.get(code).copied().flatten()
    }

    /// The class that some variables make up, given by variable; open ones count as 0.
    pub fn class_among(&self, values: &[Option<bool>]) -> usize {
        number_of(self.class_vars(false), values)
    }

    /// The variables of its bits, the most significant first; those of the state after a step if
    /// `after`.
    pub fn vars(&self, after: bool) -> impl Iterator<Item = VarNo> + Clone + use<> {
        let first = self.first + VarNo::from(after);
        (0..self.alphabet.bits).map(move |bit| first + 2 * bit)
    }

    /// Those of its variables that number the class of its value.
    pub fn class_vars(&self, after: bool) -> impl Iterator<Item = VarNo> + Clone + use<> {
        self.vars(after).take(self.alphabet.class_bits as usize)
    }

    /// Those of its variables that number the value within its class.
    pub fn hidden_vars(&self, after: bool) -> impl Iterator<Item = VarNo> + Clone + use<> {
        self.vars(after).skip(self.alphabet.class_bits as usize)
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
    /// The variables of a system in a layout. Where values are known to be seen, they alone have codes.
    pub fn new(
        system: &System,
        bounds: &Bounds,
        seen: Option<&SeenValues>,
        layout: &Layout,
    ) -> Result<Self, Error> {
        let of_cell = |cell: CellId| seen.and_then(|seen| seen.get(cell)?.as_deref());
        let owners = layout::owners(system);
        let mut values: IndexVec<VarId, Vec<i64>> =
            index_vec::index_vec![Vec::new(); system.vars.len()];
        let mut plain: IndexVec<VarId, Option<Rc<Alphabet>>> =
            index_vec::index_vec![None; system.vars.len()];
        let mut codes: IndexVec<CellId, Option<CellCode>> =
            index_vec::index_vec![None; system.cells];
        let mut next: VarNo = 0;
        for cell in &layout.order {
            let (var, _) = owners[*cell].ok_or(Error::Internal("a cell of no variable"))?;
            let alphabet = match (of_cell(*cell), layout.classes.get(cell)) {
                (Some(seen), classes) => {
                    Rc::new(Alphabet::new(seen, classes.map_or(&[], |classes| classes)))
                }
                (None, classes) => {
                    // What all cells of a variable have in common is made for the first of them.
                    let plain = match &plain[var] {
                        Some(plain) => plain.clone(),
                        None => {
                            let name = system.vars[var].name.as_str();
                            values[var] = values_of(system, bounds, var, name)?;
                            let made = Rc::new(Alphabet::new(&values[var], &[]));
                            plain[var] = Some(made.clone());
                            made
                        }
                    };
                    match classes {
                        Some(classes) => Rc::new(Alphabet::new(&values[var], classes)),
                        None => plain,
                    }
                }
            };
            let bits = alphabet.bits;
            codes[*cell] = Some(CellCode {
                alphabet,
                first: next,
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
    ) -> Result<Bdd, GaveUp> {
        let vars = self.cells[cell].vars(after);
        number(diagrams, vars, code)
    }

    /// The set in which a choice has a code.
    pub fn choice(&self, diagrams: &Diagrams, choice: u32, code: usize) -> Result<Bdd, GaveUp> {
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
    pub fn valid(&self, diagrams: &Diagrams) -> Result<Bdd, GaveUp> {
        self.valid_cells(diagrams, &self.order())
    }

    /// The set in which the codes of some cells, given in the order of their variables, stand for values.
    pub fn valid_cells(&self, diagrams: &Diagrams, cells: &[CellId]) -> Result<Bdd, GaveUp> {
        let mut valid = diagrams.all();
        // From the last variable up, so that each step adds on top.
        for &cell in cells.iter().rev() {
            let one = self.valid_cell(diagrams, cell)?;
            valid = diagrams.and(&one, &valid)?;
        }
        Ok(valid)
    }

    /// The set in which a cell's code stands for a value.
    pub fn valid_cell(&self, diagrams: &Diagrams, cell: CellId) -> Result<Bdd, GaveUp> {
        let code = &self.cells[cell];
        let known: Vec<bool> = code.alphabet.values.iter().map(Option::is_some).collect();
        let vars: Vec<VarNo> = code.vars(false).collect();
        codes_among(diagrams, &vars, &known)
    }

    /// The cell of each variable of the state before a step.
    pub fn cells_of_vars(&self) -> Vec<Option<CellId>> {
        let mut cells = vec![None; self.variables as usize];
        for (cell, code) in self.cells.iter_enumerated() {
            for var in code.vars(false) {
                cells[var as usize] = Some(cell);
            }
        }
        cells
    }

    /// The cells in the order of their variables.
    pub fn order(&self) -> Vec<CellId> {
        let mut cells: Vec<CellId> = self.cells.indices().collect();
        // Cells without bits share their place with another; their number decides.
        cells.sort_by_key(|cell| (self.cells[*cell].first, *cell));
        cells
    }

    /// The state that a valuation of the variables stands for; open bits count as 0.
    pub fn decode(&self, member: &[Option<bool>]) -> Option<Vec<i64>> {
        self.cells.iter().map(|cell| cell.value(member)).collect()
    }

    /// The valuation of the variables that a state stands for; the twins are 0. `None` if the
    /// state has a value that is not encoded.
    pub fn encode(&self, state: &[i64]) -> Option<Vec<bool>> {
        let mut bits = vec![false; self.variables as usize];
        for (cell, value) in self.cells.iter().zip(state) {
            let code = cell.code(*value)?;
            for (place, var) in cell.vars(false).enumerate() {
                let shift = cell.alphabet.bits as usize - 1 - place;
                bits[var as usize] = code >> shift & 1 == 1;
            }
        }
        Some(bits)
    }
}

/// The number that bits, the most significant first, make up; open ones count as 0.
fn number_of(vars: impl Iterator<Item = VarNo>, values: &[Option<bool>]) -> usize {
    vars.fold(0, |number, var| {
        2 * number + usize::from(values.get(var as usize).copied().flatten() == Some(true))
    })
}

/// The set in which bits, the most significant first, make up a number.
fn number(
    diagrams: &Diagrams,
    vars: impl Iterator<Item = VarNo>,
    number: usize,
) -> Result<Bdd, GaveUp> {
    let vars: Vec<VarNo> = vars.collect();
    let mut set = diagrams.all();
    for (shift, var) in vars.iter().rev().enumerate() {
        let literal = diagrams.literal(*var, number >> shift & 1 == 1)?;
        set = diagrams.and(&literal, &set)?;
    }
    Ok(set)
}

/// The set in which the number made up by bits is one of those marked.
fn codes_among(diagrams: &Diagrams, vars: &[VarNo], marked: &[bool]) -> Result<Bdd, GaveUp> {
    if marked.iter().all(|mark| *mark == marked[0]) {
        return Ok(diagrams.constant(marked[0]));
    }
    let (no, yes) = marked.split_at(marked.len() / 2);
    let no = codes_among(diagrams, &vars[1..], no)?;
    let yes = codes_among(diagrams, &vars[1..], yes)?;
    diagrams.ite(&diagrams.literal(vars[0], true)?, &yes, &no)
}

fn bits_for(values: usize) -> u32 {
    match values {
        0 | 1 => 0,
        n => (n - 1).ilog2() + 1,
    }
}

/// The values that the cells of a variable can have.
fn values_of(system: &System, bounds: &Bounds, id: VarId, name: &str) -> Result<Vec<i64>, Error> {
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
