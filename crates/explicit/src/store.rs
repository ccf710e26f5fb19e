//! The states seen so far, each once.
//!
//! Packed states stand in an append-only array, in the order in which they were found; their
//! number is their name. A table of 32-bit entries with linear probing finds them: an entry is a
//! state's number, and the bits which that number does not need hold a piece of its hash, so that
//! nearly every comparison with a wrong state is spared. The array grows by pieces and never
//! moves. The table is rebuilt from the array, after the old one is given back: so the moment of
//! growth costs no memory beyond what follows it.
//!
//! `W` is the number of words of a state, as a constant for the common small ones; 0 stands for
//! any number.

const EMPTY: u32 = u32::MAX;
/// The least size of the table.
const LEAST: usize = 1 << 10;
/// About how many bytes a piece of the array has.
const PIECE: usize = 1 << 18;

/// The greatest number of states.
pub(crate) const MOST_STATES: u32 = i32::MAX as u32 - 1;

/// A set of packed states.
pub(crate) struct Store<const W: usize> {
    words: usize,
    pieces: Vec<Vec<u64>>,
    /// A piece has two to this power of states.
    piece_shift: u32,
    count: u32,
    table: Vec<u32>,
    /// The bits of an entry that are the state's number.
    number_bits: u32,
    /// When the count reaches this, the table must grow.
    full: u32,
}

/// Why a state could not be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The memory is used up.
    Memory,
    /// There are no more numbers.
    Numbers,
}

/// The hash of a state.
#[inline(always)]
pub(crate) fn hash(state: &[u64]) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xd6e8_feb8_6659_fd93;
    let mut hash = 0;
    for &word in state {
        hash = (hash ^ word).wrapping_mul(A);
        hash ^= hash >> 32;
    }
    hash = hash.wrapping_mul(B);
    hash ^ (hash >> 29)
}

impl<const W: usize> Store<W> {
    /// An empty set of states of so many words (`W`, unless that is 0).
    pub fn new(words: usize) -> Self {
        debug_assert!(W == 0 || W == words);
        let states = (PIECE / 8 / words).max(1);
        let mut store = Store {
            words,
            pieces: Vec::new(),
            piece_shift: states.ilog2(),
            count: 0,
            table: Vec::new(),
            number_bits: 0,
            full: 0,
        };
        store.set_table(LEAST);
        store
    }

    #[inline(always)]
    fn words(&self) -> usize {
        if W == 0 { self.words } else { W }
    }

    /// How many states there are.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.count
    }

    /// The state with this number.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &[u64] {
        let words = self.words();
        let at = (number & ((1 << self.piece_shift) - 1)) as usize * words;
        &self.pieces[(number >> self.piece_shift) as usize][at..at + words]
    }

    /// Bytes taken from the allocator.
    pub fn bytes(&self) -> u64 {
        let pieces: usize = match self.pieces.split_last() {
            None => 0,
            Some((last, full)) => {
                full.first().map_or(0, Vec::capacity) * full.len() + last.capacity()
            }
        };
        (pieces * 8 + self.pieces.capacity() * size_of::<Vec<u64>>() + self.table.capacity() * 4)
            as u64
    }

    /// Where the search for a state begins.
    #[inline(always)]
    pub fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.table.len() as u64) >> 32) as usize
    }

    /// The table's entry at this place: bringing it near is what a caller wants of it.
    #[inline(always)]
    pub fn entry(&self, place: usize) -> u32 {
        self.table[place]
    }

    /// Whether this entry is the given state.
    #[inline(always)]
    pub fn entry_is(&self, entry: u32, hash: u64, state: &[u64]) -> bool {
        entry != EMPTY
            && (entry ^ self.tag(hash)) >> self.number_bits == 0
            && self.get(entry & ((1 << self.number_bits) - 1)) == state
    }

    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        (hash as u32) << self.number_bits
    }

    /// Adds a state, unless it is here already: whether it is new.
    #[inline]
    pub fn insert(&mut self, state: &[u64], hash: u64, memory: u64) -> Result<bool, Full> {
        if self.count >= self.full {
            self.grow(memory)?;
        }
        let mut place = self.home(hash);
        loop {
            let entry = self.table[place];
            if entry == EMPTY {
                break;
            }
            if self.entry_is(entry, hash, state) {
                return Ok(false);
            }
            place += 1;
            if place == self.table.len() {
                place = 0;
            }
        }
        let piece = (self.count >> self.piece_shift) as usize;
        if piece == self.pieces.len() {
            self.add_piece(memory)?;
        }
        self.table[place] = self.count | self.tag(hash);
        let words = self.words();
        self.pieces[piece].extend_from_slice(&state[..words]);
        self.count += 1;
        Ok(true)
    }

    #[cold]
    fn add_piece(&mut self, memory: u64) -> Result<(), Full> {
        let size = self.words() << self.piece_shift;
        if self.bytes() + size as u64 * 8 > memory {
            return Err(Full::Memory);
        }
        self.pieces.push(Vec::with_capacity(size));
        Ok(())
    }

    #[cold]
    fn grow(&mut self, memory: u64) -> Result<(), Full> {
        if self.count >= MOST_STATES {
            return Err(Full::Numbers);
        }
        let old = self.table.len();
        // What the array may still take must not be eaten by the table: the larger table is
        // worth having only if there is room for the states that it makes room for.
        let array = self.bytes() - self.table.capacity() as u64 * 4;
        let room = memory.saturating_sub(array);
        let each = 4 + self.words() as u64 * 8;
        let most = (room + u64::from(self.count) * self.words() as u64 * 8) / each;
        let factor = if old < 1 << 20 { 4 } else { 2 };
        let wanted = (old * factor).min(usize::try_from(most.min(room / 4)).unwrap_or(usize::MAX));
        if wanted <= old + old / 16 {
            return Err(Full::Memory);
        }
        self.set_table(wanted);
        Ok(())
    }

    fn set_table(&mut self, size: usize) {
        self.table = Vec::new();
        self.table = vec![EMPTY; size];
        // Four fifths full, linear probing still looks at one cache line most of the time.
        let full = (size as u64 * 4 / 5).min(u64::from(MOST_STATES));
        self.full = full as u32;
        self.number_bits = 64 - (full + 1).leading_zeros();
        for number in 0..self.count {
            let hash = hash(self.get(number));
            let mut place = self.home(hash);
            while self.table[place] != EMPTY {
                place += 1;
                if place == self.table.len() {
                    place = 0;
                }
            }
            self.table[place] = number | self.tag(hash);
        }
    }
}
