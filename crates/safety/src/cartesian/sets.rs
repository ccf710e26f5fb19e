//! Sets of local states, each stored once.
//!
//! A local state is a small number (`threads` gives them out), so a set is a row of bits. Equal sets have equal ids: that two
//! products agree in a component is a comparison of numbers.

use index_vec::{IndexVec, define_index_type};
use rustc_hash::FxHashMap;

define_index_type! { /// A local state of a process, among those of its template that were met.
pub(crate) struct LocalId = u32; }
define_index_type! { /// A set of local states.
pub(crate) struct SetId = u32; }

/// The empty set.
pub(crate) const EMPTY: SetId = SetId { _raw: 0 };

/// All sets that were met.
pub(crate) struct Sets {
    /// Without empty words at the end.
    words: IndexVec<SetId, Box<[u64]>>,
    known: FxHashMap<Box<[u64]>, SetId>,
    bytes: usize,
}

impl Sets {
    pub(crate) fn new() -> Self {
        let mut sets = Sets {
            words: IndexVec::new(),
            known: FxHashMap::default(),
            bytes: 0,
        };
        sets.intern(Vec::new());
        sets
    }

    fn intern(&mut self, mut words: Vec<u64>) -> SetId {
        while words.last() == Some(&0) {
            words.pop();
        }
        if let Some(known) = self.known.get(words.as_slice()) {
            return *known;
        }
        let words = words.into_boxed_slice();
        self.bytes += 2 * size_of_val(&*words) + 64;
        let id = self.words.push(words.clone());
        self.known.insert(words, id);
        id
    }

    /// Memory taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The set of these.
    pub(crate) fn of(&mut self, members: impl IntoIterator<Item = LocalId>) -> SetId {
        let mut words = Vec::new();
        for member in members {
            let word = member.index() / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (member.index() % 64);
        }
        self.intern(words)
    }

    pub(crate) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == EMPTY {
            return a;
        }
        if a == EMPTY {
            return b;
        }
        let (mut long, mut short) = (&self.words[a], &self.words[b]);
        if long.len() < short.len() {
            std::mem::swap(&mut long, &mut short);
        }
        let mut words = long.to_vec();
        for (word, other) in words.iter_mut().zip(short.iter()) {
            *word |= other;
        }
        self.intern(words)
    }

    /// The union of many, without the sets on the way to it.
    pub(crate) fn union_of(&mut self, sets: &[SetId]) -> SetId {
        if let [alone] = sets {
            return *alone;
        }
        let mut words = Vec::new();
        for set in sets {
            let more = &self.words[*set];
            if words.len() < more.len() {
                words.resize(more.len(), 0);
            }
            for (word, other) in words.iter_mut().zip(more.iter()) {
                *word |= other;
            }
        }
        self.intern(words)
    }

    pub(crate) fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return a;
        }
        let pairs = self.words[a].iter().zip(self.words[b].iter());
        let words = pairs.map(|(a, b)| a & b).collect();
        self.intern(words)
    }

    pub(crate) fn minus(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b {
            return EMPTY;
        }
        let mut words = self.words[a].to_vec();
        for (word, other) in words.iter_mut().zip(self.words[b].iter()) {
            *word &= !other;
        }
        self.intern(words)
    }

    pub(crate) fn are_disjoint(&self, a: SetId, b: SetId) -> bool {
        let mut pairs = self.words[a].iter().zip(self.words[b].iter());
        pairs.all(|(a, b)| a & b == 0)
    }

    pub(crate) fn contains(&self, set: SetId, member: LocalId) -> bool {
        let word = self.words[set].get(member.index() / 64);
        word.is_some_and(|word| word >> (member.index() % 64) & 1 == 1)
    }

    /// The members, in ascending order.
    pub(crate) fn members(&self, set: SetId) -> Vec<LocalId> {
        let mut members = Vec::new();
        for (place, &word) in self.words[set].iter().enumerate() {
            let mut word = word;
            while word != 0 {
                members.push(LocalId::new(place * 64 + word.trailing_zeros() as usize));
                word &= word - 1;
            }
        }
        members
    }
}
