//! The reachable states as a certificate: they contain the initial states, no step leads out of them, and every
//! property that was proved holds in all of them.
//!
//! A decision graph is built from states in ascending order. Cells are tested in the order in which they are packed,
//! word by word and from the lowest bits up, which is nearly that of the program; what decides
//! between two states is then the field of the lowest bit in which they differ, so none is unpacked before its turn.

use std::cmp::Ordering;

use threadwise_evidence::certificate::{cell_names, cell_values};
use threadwise_evidence::dag::{Builder, Dag};

use crate::layout::Layout;
use crate::search::Search;

/// The most states that are made into a certificate.
const MOST_STATES: u32 = 1_000_000;
/// The most nodes: beyond that, checking the certificate would take far longer than the search.
const MOST_NODES: usize = 4_000;

/// The states of a complete search as a decision graph; nothing if there are too many, or if they do not
/// make a certificate.
pub(crate) fn reachable<const W: usize>(search: &Search<W>) -> Option<Dag> {
    let system = search.system;
    let states = search.store.len();
    if states > MOST_STATES || system.templates.iter().any(|template| template.dynamic) {
        return None;
    }
    let names = cell_names(system);
    let values = cell_values(system);
    let mut order: Vec<usize> = (0..system.cells).collect();
    order.sort_by_key(|cell| {
        let field = &search.layout.fields[*cell];
        (field.word, field.shift)
    });
    let mut cells = Vec::with_capacity(order.len());
    for cell in &order {
        cells.push((names[*cell].clone(), values[*cell]?.1));
    }
    let mut numbers: Vec<u32> = (0..states).collect();
    let masks = masks(search.layout);
    numbers.sort_unstable_by(|a, b| {
        let (a, b) = (search.store.get(*a), search.store.get(*b));
        let differs = a.iter().zip(b).position(|(a, b)| a != b);
        differs.map_or(Ordering::Equal, |word| {
            let bit = (a[word] ^ b[word]).trailing_zeros() as usize;
            let mask = masks[word][bit];
            (a[word] & mask).cmp(&(b[word] & mask))
        })
    });
    let mut set = Builder::new(cells).states();
    let mut positions = vec![0; order.len()];
    for (done, number) in numbers.into_iter().enumerate() {
        let words = search.store.get(number);
        for (position, cell) in positions.iter_mut().zip(&order) {
            let (least, _) = values[*cell]?;
            let value = search.layout.fields[*cell].get(words);
            *position = u64::try_from(i128::from(value) - i128::from(least)).ok()?;
        }
        // An error would be a fault of the order above: there is no certificate then, and the result says so.
        set.push(&positions).ok()?;
        let stop = done % 4096 == 0 && search.limits.should_stop().is_some();
        if stop || set.nodes() > MOST_NODES {
            return None;
        }
    }
    set.finish().ok()
}

/// For each bit of each word the bits of its field.
fn masks(layout: &Layout) -> Vec<[u64; 64]> {
    let mut masks = vec![[u64::MAX; 64]; layout.words];
    for field in &layout.fields {
        let bits = field.mask << field.shift;
        for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
            masks[field.word as usize][bit] = bits;
        }
    }
    masks
}
