//! Binary decision diagrams with complement edges (OxiDD), with the care that the library needs.
//!
//! The library has a fixed capacity and collects garbage in the background when it is nearly full,
//! racing the program: an operation can then fail although there is room. So garbage is collected
//! here early and in the foreground, and a failure is believed only if it repeats after a
//! collection. What remains is a plain error value, and the manager stays usable.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use oxidd::bcdd::{BCDDFunction, BCDDManagerRef};
use oxidd::util::AllocResult;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel,
    Manager, ManagerRef, Node, Subst, VarNo,
};
use oxidd_core::util::SatCountCache;
use oxidd_core::util::num::Natural;
use threadwise_engine::{Stop, Work};

/// A set of states, or a relation: a Boolean function.
pub type Bdd = BCDDFunction;

/// A simultaneous renaming of variables, made once and used often.
pub type Renaming = Subst<Bdd>;

/// There is no room for another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision diagrams need more than {capacity} nodes")]
pub struct OutOfNodes {
    /// How many there can be.
    pub capacity: usize,
}

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GaveUp {
    /// There was no room for it.
    #[error(transparent)]
    OutOfNodes(#[from] OutOfNodes),
    /// Somebody wants all of this to stop.
    #[error("the computation was told to stop")]
    Stopped(Stop),
}

/// Says whether to stop.
pub type AskStop<'l> = &'l (dyn Fn() -> Option<Stop> + Sync);

/// What diagrams may use.
#[derive(Clone, Copy)]
pub struct Room<'l> {
    /// How many nodes there can be.
    pub capacity: usize,
    /// Asked between operations, however many of them there are between two questions of the caller's own: a step of a program with
    /// wide variables takes millions.
    pub stop: Option<AskStop<'l>>,
    /// Where it is counted how much was done, before each of these questions: building the steps of a large program may take longer than all that comes after it.
    pub work: Option<&'l Work>,
}

impl From<usize> for Room<'_> {
    fn from(capacity: usize) -> Self {
        Room {
            capacity,
            stop: None,
            work: None,
        }
    }
}

/// How often a failed operation is tried again after collecting garbage.
const RETRIES: u32 = 5;
/// Every so many operations the fill is looked at.
const LOOK_EVERY: u32 = 16;
/// An operation that makes so many nodes is long enough to ask after it whether to stop.
const LONG: usize = 1000;
/// Units of work of an operation, and of each node that it makes.
const OPERATION: u64 = 10;
const NODE: u64 = 4;

/// A manager of diagrams, and the operations on them.
pub struct Diagrams<'l> {
    manager: BCDDManagerRef,
    capacity: usize,
    stop: Option<AskStop<'l>>,
    counter: Option<&'l Work>,
    /// Whether the last operation was a long one.
    long: Cell<bool>,
    /// Nodes at which garbage is collected.
    threshold: usize,
    operations: Cell<u32>,
    peak: Cell<usize>,
    /// Nodes after the last operation.
    last: Cell<usize>,
    /// What was done since somebody asked.
    work: Cell<u64>,
}

impl<'l> Diagrams<'l> {
    /// A manager for a number of variables, with some room.
    pub fn new(variables: u32, room: impl Into<Room<'l>>) -> Self {
        let Room {
            capacity,
            stop,
            work: counter,
        } = room.into();
        let capacity = capacity.clamp(1 << 12, (1 << 31) - 1);
        // The cache is written once at the start, which must not cost more than a small problem;
        // a larger one than this never paid.
        let cache = (capacity / 4)
            .min((variables as usize) << 14)
            .clamp(1 << 16, 1 << 21);
        let manager = oxidd::bcdd::new_manager(capacity, cache, 1);
        manager.with_manager_exclusive(|manager| manager.add_vars(variables));
        Diagrams {
            manager,
            capacity,
            stop,
            counter,
            long: Cell::new(false),
            threshold: capacity / 10 * 7,
            operations: Cell::new(0),
            peak: Cell::new(0),
            last: Cell::new(0),
            work: Cell::new(0),
        }
    }

    /// What they may use.
    pub fn room(&self) -> Room<'l> {
        Room {
            capacity: self.capacity,
            stop: self.stop,
            work: self.counter,
        }
    }

    /// Asks whether to stop. Operations do so themselves; this is for loops of other work.
    pub fn breathe(&self) -> Result<(), GaveUp> {
        if let Some(counter) = self.counter {
            counter.add(self.work.take());
        }
        match self.stop.and_then(|stop| stop()) {
            Some(stop) => Err(GaveUp::Stopped(stop)),
            None => Ok(()),
        }
    }

    /// The number of nodes of a diagram.
    pub fn size(&self, a: &Bdd) -> usize {
        a.node_count()
    }

    /// The variables that a diagram looks at.
    pub fn support(&self, a: &Bdd) -> BTreeSet<VarNo> {
        let mut walk = Support {
            diagrams: self,
            seen: HashSet::new(),
            vars: BTreeSet::new(),
        };
        walk.visit(a);
        walk.vars
    }

    /// Bytes that a manager with this many nodes takes when it is full, caches included.
    pub fn bytes(capacity: usize) -> usize {
        capacity * 40
    }

    /// The greatest number of nodes seen, garbage included.
    pub fn peak_nodes(&self) -> usize {
        self.nodes();
        self.peak.get()
    }

    /// How many nodes there are now, about.
    pub fn nodes(&self) -> usize {
        let nodes = self
            .manager
            .with_manager_shared(|manager| manager.approx_num_inner_nodes());
        self.peak.set(self.peak.get().max(nodes));
        nodes
    }

    /// Counts an operation by the nodes that it made.
    fn note_work(&self) {
        let nodes = self.nodes();
        let made = nodes.saturating_sub(self.last.replace(nodes));
        self.long.set(made >= LONG);
        self.work
            .set(self.work.get() + OPERATION + NODE * made as u64);
    }

    /// What was done since the last call, in units of about a tenth of a microsecond.
    pub fn take_work(&self) -> u64 {
        self.work.take()
    }

    fn collect(&self) {
        self.manager.with_manager_shared(|manager| manager.gc());
    }

    /// Runs an operation with room made beforehand, and again if it failed for want of room.
    fn run(&self, operation: impl Fn() -> AllocResult<Bdd>) -> Result<Bdd, GaveUp> {
        self.operations.set(self.operations.get().wrapping_add(1));
        let look = self.operations.get().is_multiple_of(LOOK_EVERY);
        if look || self.long.get() {
            self.breathe()?;
        }
        if look && self.nodes() > self.threshold {
            self.collect();
        }
        if let Ok(result) = operation() {
            self.note_work();
            return Ok(result);
        }
        for _ in 0..RETRIES {
            self.breathe()?;
            self.nodes();
            self.collect();
            if let Ok(result) = operation() {
                return Ok(result);
            }
            // The library's own collector may be at work at this moment.
            std::thread::sleep(Duration::from_millis(1));
        }
        let capacity = self.capacity;
        Err(OutOfNodes { capacity }.into())
    }

    /// The empty set.
    pub fn none(&self) -> Bdd {
        self.manager.with_manager_shared(|manager| Bdd::f(manager))
    }

    /// The set of everything.
    pub fn all(&self) -> Bdd {
        self.manager.with_manager_shared(|manager| Bdd::t(manager))
    }

    /// Everything or nothing.
    pub fn constant(&self, value: bool) -> Bdd {
        if value { self.all() } else { self.none() }
    }

    /// A variable, or its negation.
    pub fn literal(&self, var: VarNo, positive: bool) -> Result<Bdd, GaveUp> {
        self.run(|| {
            self.manager.with_manager_shared(|manager| {
                if positive {
                    Bdd::var(manager, var)
                } else {
                    Bdd::not_var(manager, var)
                }
            })
        })
    }

    /// The complement.
    pub fn not(&self, a: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| a.not())
    }

    /// The intersection.
    pub fn and(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| a.and(b))
    }

    /// The union.
    pub fn or(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| a.or(b))
    }

    /// The union of several.
    pub fn union(&self, sets: &[Bdd]) -> Result<Bdd, GaveUp> {
        let mut union = self.none();
        for set in sets {
            union = self.or(&union, set)?;
        }
        Ok(union)
    }

    /// What is in the first and not in the second.
    pub fn minus(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| b.imp_strict(a))
    }

    /// If, then, else.
    pub fn ite(&self, condition: &Bdd, then: &Bdd, otherwise: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| condition.ite(then, otherwise))
    }

    /// The set with the variables of a cube forgotten.
    pub fn exists(&self, a: &Bdd, vars: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| a.exists(vars))
    }

    /// The intersection with the variables of a cube forgotten, in one pass.
    pub fn and_exists(&self, a: &Bdd, b: &Bdd, vars: &Bdd) -> Result<Bdd, GaveUp> {
        self.run(|| a.apply_exists(BooleanOperator::And, b, vars))
    }

    /// The set with variables renamed.
    pub fn rename(&self, a: &Bdd, renaming: &Renaming) -> Result<Bdd, GaveUp> {
        self.run(|| a.substitute(renaming))
    }

    /// A renaming of variables to variables.
    pub fn renaming(&self, from: &[VarNo], to: &[VarNo]) -> Result<Renaming, GaveUp> {
        let targets = to
            .iter()
            .map(|var| self.literal(*var, true))
            .collect::<Result<Vec<Bdd>, GaveUp>>()?;
        Ok(Subst::new(from.to_vec(), targets))
    }

    /// The conjunction of variables, to forget them with.
    pub fn cube(&self, vars: &[VarNo]) -> Result<Bdd, GaveUp> {
        let mut cube = self.all();
        let mut vars = vars.to_vec();
        // From the last level up, so that each step adds one node on top.
        vars.sort_unstable_by_key(|var| {
            std::cmp::Reverse(
                self.manager
                    .with_manager_shared(|manager| manager.var_to_level(*var)),
            )
        });
        for var in vars {
            cube = self.and(&self.literal(var, true)?, &cube)?;
        }
        Ok(cube)
    }

    /// Whether a set is empty.
    pub fn is_empty(&self, a: &Bdd) -> bool {
        !a.satisfiable()
    }

    /// The number of members over so many of the variables, on which alone the set depends.
    pub fn count(&self, a: &Bdd, variables: u32) -> Natural {
        let all = self
            .manager
            .with_manager_shared(|manager| manager.num_levels());
        let mut cache: SatCountCache<Natural, std::hash::RandomState> = SatCountCache::default();
        let total: Natural = a.sat_count(all, &mut cache);
        total >> (all - variables)
    }

    /// A member, as the values of the variables that matter.
    pub fn member(&self, a: &Bdd) -> Option<Vec<Option<bool>>> {
        let cube = a.pick_cube(|_, _, _| false)?;
        Some(
            cube.into_iter()
                .map(|value| match value {
                    oxidd::util::OptBool::None => None,
                    oxidd::util::OptBool::False => Some(false),
                    oxidd::util::OptBool::True => Some(true),
                })
                .collect(),
        )
    }

    /// Whether a valuation of all variables is a member.
    pub fn contains(&self, a: &Bdd, values: impl Fn(VarNo) -> bool, variables: u32) -> bool {
        a.eval((0..variables).map(|var| (var, values(var))))
    }

    /// The variable that a diagram looks at first, and what is left if it is false and if it is
    /// true; `None` for a constant.
    pub fn top(&self, a: &Bdd) -> Option<(VarNo, Bdd, Bdd)> {
        let (yes, no) = a.cofactors()?;
        let var = a.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(node) => Some(manager.level_to_var(node.level())),
            Node::Terminal(_) => None,
        })?;
        Some((var, no, yes))
    }
}

struct Support<'a> {
    diagrams: &'a Diagrams<'a>,
    seen: HashSet<Bdd>,
    vars: BTreeSet<VarNo>,
}

impl Support<'_> {
    fn visit(&mut self, a: &Bdd) {
        let Some((var, no, yes)) = self.diagrams.top(a) else {
            return;
        };
        if self.seen.insert(a.clone()) {
            self.vars.insert(var);
            self.visit(&no);
            self.visit(&yes);
        }
    }
}
