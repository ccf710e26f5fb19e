//! How a state is packed: every cell has a field of as many bits as its values need, in 64-bit
//! words, and no field straddles two words. Fields are placed in the order of the cells, each in
//! the first word with room (looking back over a few words only, so that a system of a million
//! cells is laid out in linear time).

use threadwise_lang::program::LocationId;
use threadwise_model::system::{CellDomain, Scope, System, SystemTemplate};

/// Where a cell stands in the packed state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The word.
    pub word: u32,
    /// The lowest bit in it.
    pub shift: u32,
    /// The field's bits, before shifting.
    pub mask: u64,
    /// The least value, which is stored as zero.
    pub base: i64,
    /// The greatest value less the least; `u64::MAX` is no bound.
    pub span: u64,
}

impl Field {
    /// The cell's value in a packed state.
    #[inline(always)]
    pub fn get(&self, words: &[u64]) -> i64 {
        ((words[self.word as usize] >> self.shift) & self.mask).wrapping_add(self.base as u64)
            as i64
    }

    /// The bits of a value, in place, or nothing if the value is not one of the cell's.
    #[inline(always)]
    pub fn bits(&self, value: i64) -> Option<u64> {
        let raw = (value as u64).wrapping_sub(self.base as u64);
        (raw <= self.span).then_some(raw << self.shift)
    }

    /// The field's bits, in place.
    #[inline(always)]
    pub fn place(&self) -> u64 {
        self.mask << self.shift
    }
}

/// The fields of all cells.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// One for each cell.
    pub fields: Vec<Field>,
    /// The words of a state; at least one.
    pub words: usize,
    /// The type of some cell has no values: then there is no initial state.
    pub empty: bool,
}

/// How many words back a field may go to fill a gap.
const LOOK_BACK: usize = 4;

impl Layout {
    /// Lays out the states of a system.
    pub fn new(system: &System) -> Layout {
        let mut kinds = vec![(0i64, 0u64); system.cells];
        let mut empty_state = false;
        for var in &system.vars {
            let (base, span, empty) = match (var.domain, system.values(var.domain)) {
                (CellDomain::Location(t), _) => (0, last_location(&system.templates[t]), false),
                (_, None) => (0, u64::MAX, false),
                (_, Some((lo, hi))) => (lo, (hi as u64).wrapping_sub(lo as u64), lo > hi),
            };
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(t) => system.templates[t].count as usize,
            };
            for copy in 0..copies {
                let first = var.first.index() + copy * var.stride as usize;
                kinds[first..first + var.len as usize].fill((base, if empty { 0 } else { span }));
                empty_state |= empty && var.len > 0;
            }
        }
        let mut used: Vec<u32> = vec![0];
        let mut fields = Vec::with_capacity(kinds.len());
        for (base, span) in kinds {
            let width = 64 - span.leading_zeros();
            let window = used.len().saturating_sub(LOOK_BACK);
            let word = match (window..used.len()).find(|&w| used[w] + width <= 64) {
                Some(word) => word,
                None => {
                    used.push(0);
                    used.len() - 1
                }
            };
            let shift = used[word];
            used[word] += width;
            let mask = if width == 64 {
                u64::MAX
            } else {
                (1 << width) - 1
            };
            // A field of no bits has a zero mask; its shift must still be one that can be shifted by.
            fields.push(Field {
                word: word as u32,
                shift: shift.min(63),
                mask,
                base,
                span,
            });
        }
        Layout {
            fields,
            words: used.len(),
            empty: empty_state,
        }
    }

    /// Unpacks a state into the first cells of `into`.
    #[inline]
    pub fn unpack(&self, words: &[u64], into: &mut [i64]) {
        for (field, slot) in self.fields.iter().zip(into) {
            *slot = field.get(words);
        }
    }

    /// Packs a state whose cells all hold values of theirs.
    pub fn pack_into(&self, cells: &[i64], words: &mut [u64]) {
        words.fill(0);
        for (field, &value) in self.fields.iter().zip(cells) {
            words[field.word as usize] |= field.bits(value).unwrap_or(0);
        }
    }

    /// Packs a state; nothing if some value is not one of its cell's.
    pub fn pack(&self, cells: &[i64]) -> Option<Vec<u64>> {
        let mut words = vec![0; self.words];
        for (field, &value) in self.fields.iter().zip(cells) {
            words[field.word as usize] |= field.bits(value)?;
        }
        Some(words)
    }
}

/// The greatest value of a template's program counter. A template that cannot end never has the
/// last one, `done`, which often saves a bit for each process.
fn last_location(template: &SystemTemplate) -> u64 {
    let done = template.locations.len() as u64 - 1;
    if template.dynamic {
        return done + 1;
    }
    let ends = template
        .steps
        .iter()
        .flatten()
        .any(|step| step.to.index() as u64 == done);
    let entry = LocationId::index(template.entry) as u64;
    if ends || entry == done || done == 0 {
        done
    } else {
        done - 1
    }
}
