//! The flat code, and the machine that runs it.
//!
//! Memory is one array of 64-bit slots: first the cells of the state being expanded, unpacked,
//! then constants, then what the code computes. So every operand is the number of a slot, and
//! there are few kinds of instruction. Guards are tests that jump. A successor is made by copying
//! the packed state and overwriting the fields that the step changes.

use threadwise_lang::program::{ArithOp, TemplateId};

use crate::layout::Field;
use threadwise_engine::{Limits, Stop};

/// The number of a slot.
pub(crate) type Slot = u32;
/// A place in the code.
pub(crate) type Address = u32;

/// An instruction. `a` and `b` are slots that are read, `dst` one that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Goes on at `to`.
    Jump { to: Address },
    /// Goes on at `to` if equal.
    JumpEq { a: Slot, b: Slot, to: Address },
    /// Goes on at `to` if different.
    JumpNe { a: Slot, b: Slot, to: Address },
    /// Goes on at `to` if less.
    JumpLt { a: Slot, b: Slot, to: Address },
    /// Goes on at `to` if less or equal.
    JumpLe { a: Slot, b: Slot, to: Address },
    /// Copies.
    Copy { dst: Slot, a: Slot },
    /// Copies the cell that is `index` after `first`; outside the memory, zero.
    CopyAt { dst: Slot, first: Slot, index: Slot },
    /// Arithmetic.
    Add { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Sub { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Mul { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Div { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Rem { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Min { dst: Slot, a: Slot, b: Slot },
    /// Arithmetic.
    Max { dst: Slot, a: Slot, b: Slot },
    /// Adds one to what is being counted.
    Count { dst: Slot },
    /// If a loop's counter is less than the last value: adds one, and goes on at `to`.
    Next { dst: Slot, b: Slot, to: Address },
    /// A check of a step fails.
    Fail { check: u32 },
    /// The step that would follow has too many choices to go through.
    TooMany,
    /// The process rests.
    Rest,
    /// Begins a successor as a copy of the state.
    Open,
    /// Overwrites a word of the successor with constants.
    Put { word: u32, bits: u32 },
    /// Overwrites a cell of the successor.
    PutSlot { a: Slot, cell: u32 },
    /// Overwrites the cell that is `index` after `first`.
    PutAt { a: Slot, first: u32, index: Slot },
    /// Starts the `nth` of the copies that are not started yet.
    Start { template: TemplateId, nth: u32 },
    /// A whole successor that differs in one word only, by constants; `mark` as in `Close`.
    Emit { word: u32, bits: u32, mark: bool },
    /// Ends a successor; `mark` if an invariant may fail in it that held before.
    Close { mark: bool },
    /// The code ends. For an invariant: it holds.
    End,
    /// For an invariant: it does not hold.
    Broken,
}

/// A word's bits to keep and to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The bits to keep.
    pub keep: u64,
    /// The bits to set.
    pub set: u64,
}

/// What the machine needs to know to start a process of a dynamic template.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dynamic {
    /// The program counter of the first copy.
    pub first_pc: u32,
    /// The distance to the next.
    pub stride: u32,
    /// How many copies there are.
    pub count: u32,
    /// The program counter of a process that is not started.
    pub not_started: i64,
    /// Where processes begin.
    pub entry: i64,
}

/// The code and its tables.
#[derive(Debug)]
pub(crate) struct Code {
    pub ops: Vec<Op>,
    pub bits: Vec<Bits>,
    pub fields: Vec<Field>,
    pub dynamic: Vec<Option<Dynamic>>,
    /// The memory as it is before the first state is unpacked.
    pub memory: Vec<i64>,
    /// The slots with the process's own index and number, for code that several processes share.
    pub own: Slot,
}

/// What expanding a state gives.
#[derive(Debug, Default)]
pub(crate) struct Successors {
    /// The packed states, one after the other.
    pub words: Vec<u64>,
    /// For each: whether an invariant may fail in it that held before.
    pub marks: Vec<bool>,
    /// Steps that only rest.
    pub rests: u64,
    /// Steps that failed a check.
    pub failures: u64,
    /// The first check that failed since this was last taken.
    pub failed: Option<u32>,
    /// What was done since the limits were last looked at.
    work: u32,
}

impl Successors {
    /// Looks at the limits, once in a while: a state may take long.
    #[inline(always)]
    pub fn look(&mut self, limits: &Limits) -> Result<(), Halt> {
        self.work += 1;
        if self.work < LOOK {
            return Ok(());
        }
        self.stop(limits)
    }

    #[cold]
    fn stop(&mut self, limits: &Limits) -> Result<(), Halt> {
        self.work = 0;
        limits
            .should_stop()
            .map_or(Ok(()), |stop| Err(Halt::Stopped(stop)))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
        self.marks.clear();
        self.rests = 0;
        self.failures = 0;
        self.failed = None;
    }
}

/// Why the code of a process stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A computation left 64 bits.
    Overflow,
    /// A step has too many choices to go through.
    TooMany,
    /// All copies of a dynamic template are started.
    Capacity(TemplateId),
    /// A value that is not one of the cell's was written to it; the checks exclude it.
    OutOfRange(u32),
    /// An invariant does not hold.
    Broken,
    /// The search is to stop.
    Stopped(Stop),
}

/// The limits are looked at once in so many states or rounds of a loop.
const LOOK: u32 = 1 << 14;

impl Code {
    /// Runs the code from an address to its end, on the state that `memory` begins with and that
    /// `state` is in packed form.
    pub fn run(
        &self,
        at: Address,
        memory: &mut [i64],
        state: &[u64],
        out: &mut Successors,
        limits: &Limits,
    ) -> Result<(), Halt> {
        let ops = &self.ops[..];
        let mut at = at as usize;
        let mut base = 0;
        loop {
            let op = &ops[at];
            at += 1;
            match *op {
                Op::Jump { to } => at = to as usize,
                Op::JumpEq { a, b, to } => {
                    if memory[a as usize] == memory[b as usize] {
                        at = to as usize;
                    }
                }
                Op::JumpNe { a, b, to } => {
                    if memory[a as usize] != memory[b as usize] {
                        at = to as usize;
                    }
                }
                Op::JumpLt { a, b, to } => {
                    if memory[a as usize] < memory[b as usize] {
                        at = to as usize;
                    }
                }
                Op::JumpLe { a, b, to } => {
                    if memory[a as usize] <= memory[b as usize] {
                        at = to as usize;
                    }
                }
                Op::Copy { dst, a } => memory[dst as usize] = memory[a as usize],
                Op::CopyAt { dst, first, index } => {
                    let place = i64::from(first).wrapping_add(memory[index as usize]);
                    let value = usize::try_from(place)
                        .ok()
                        .and_then(|place| memory.get(place).copied());
                    memory[dst as usize] = value.unwrap_or(0);
                }
                Op::Add { dst, a, b } => {
                    let sum = memory[a as usize].checked_add(memory[b as usize]);
                    memory[dst as usize] = sum.ok_or(Halt::Overflow)?;
                }
                Op::Sub { dst, a, b } => {
                    let difference = memory[a as usize].checked_sub(memory[b as usize]);
                    memory[dst as usize] = difference.ok_or(Halt::Overflow)?;
                }
                Op::Mul { dst, a, b } => {
                    let product = memory[a as usize].checked_mul(memory[b as usize]);
                    memory[dst as usize] = product.ok_or(Halt::Overflow)?;
                }
                Op::Div { dst, a, b } => {
                    let (left, right) = (memory[a as usize], memory[b as usize]);
                    let quotient = ArithOp::Div.total(left, right);
                    memory[dst as usize] = quotient.ok_or(Halt::Overflow)?;
                }
                Op::Rem { dst, a, b } => {
                    let (left, right) = (memory[a as usize], memory[b as usize]);
                    let rest = ArithOp::Rem.total(left, right);
                    memory[dst as usize] = rest.ok_or(Halt::Overflow)?;
                }
                Op::Min { dst, a, b } => {
                    memory[dst as usize] = memory[a as usize].min(memory[b as usize])
                }
                Op::Max { dst, a, b } => {
                    memory[dst as usize] = memory[a as usize].max(memory[b as usize])
                }
                // There are fewer things to count than there are 64-bit numbers.
                Op::Count { dst } => memory[dst as usize] += 1,
                Op::Next { dst, b, to } => {
                    if memory[dst as usize] < memory[b as usize] {
                        memory[dst as usize] += 1;
                        at = to as usize;
                        out.look(limits)?;
                    }
                }
                Op::Fail { check } => {
                    out.failures += 1;
                    out.failed.get_or_insert(check);
                }
                Op::TooMany => return Err(Halt::TooMany),
                Op::Rest => out.rests += 1,
                Op::Open => {
                    base = out.words.len();
                    out.words.extend_from_slice(state);
                }
                Op::Put { word, bits } => {
                    let bits = self.bits[bits as usize];
                    let word = &mut out.words[base + word as usize];
                    *word = *word & bits.keep | bits.set;
                }
                Op::PutSlot { a, cell } => {
                    self.put(cell, memory[a as usize], base, out)?;
                }
                Op::PutAt { a, first, index } => {
                    let place = i64::from(first).wrapping_add(memory[index as usize]);
                    let cell = u32::try_from(place).map_err(|_| Halt::OutOfRange(first))?;
                    self.put(cell, memory[a as usize], base, out)?;
                }
                Op::Start { template, nth } => {
                    if let Err(halt) = self.start(template, nth, memory, base, out) {
                        out.words.truncate(base);
                        return Err(halt);
                    }
                }
                Op::Emit { word, bits, mark } => {
                    base = out.words.len();
                    out.words.extend_from_slice(state);
                    let bits = self.bits[bits as usize];
                    let word = &mut out.words[base + word as usize];
                    *word = *word & bits.keep | bits.set;
                    out.marks.push(mark);
                }
                Op::Close { mark } => out.marks.push(mark),
                Op::End => return Ok(()),
                Op::Broken => return Err(Halt::Broken),
            }
        }
    }

    #[inline(always)]
    fn put(&self, cell: u32, value: i64, base: usize, out: &mut Successors) -> Result<(), Halt> {
        let bits = self
            .fields
            .get(cell as usize)
            .and_then(|field| Some((field, field.bits(value)?)));
        let Some((field, bits)) = bits else {
            out.words.truncate(base);
            return Err(Halt::OutOfRange(cell));
        };
        let word = &mut out.words[base + field.word as usize];
        *word = *word & !field.place() | bits;
        Ok(())
    }

    #[cold]
    fn start(
        &self,
        template: TemplateId,
        nth: u32,
        memory: &[i64],
        base: usize,
        out: &mut Successors,
    ) -> Result<(), Halt> {
        let dynamic = self.dynamic[template.index()].ok_or(Halt::Capacity(template))?;
        let pcs = (0..dynamic.count).map(|copy| dynamic.first_pc + copy * dynamic.stride);
        let mut free = pcs.filter(|&pc| memory[pc as usize] == dynamic.not_started);
        let pc = free.nth(nth as usize).ok_or(Halt::Capacity(template))?;
        self.put(pc, dynamic.entry, base, out)
    }
}
