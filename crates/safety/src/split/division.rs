//! Ways to divide an invariant into assertions.
//!
//! The loop that refines until a property is decided does not care how many processes an assertion speaks of. It asks for the
//! assertions that go with what is exposed, whether they exclude what must not be, and what they say together.

use threadwise_evidence::Outline;
use threadwise_model::system::ProcessId;
use threadwise_symbolic::{Bdd, Diagrams, Halt, Layout, Search, Symbolic};

use super::Stage;
use super::view::View;

/// Something that at most one of many may be.
pub(crate) struct Body<'a> {
    /// Where it holds.
    pub(crate) holds: &'a Bdd,
    /// Whose own cells that depends on; no two bodies share a process.
    pub(crate) processes: Vec<ProcessId>,
}

/// What came of computing assertions.
pub(crate) enum Fixpoint<D> {
    /// These.
    Reached(D),
    /// They grow large, and there is a better layout to begin anew in.
    Rearrange(Layout),
}

/// An inductive invariant as assertions, whose conjunction it is.
pub(crate) trait Division: Sized {
    /// For whom assertions are computed, and how the others get theirs.
    type Representatives;

    /// One of all processes that are alike.
    fn processes(representatives: &Self::Representatives) -> Vec<ProcessId>;

    /// The strongest assertions for a view. They may contain states that are not reachable, never miss one.
    fn strongest(
        search: &mut Search,
        view: &View,
        representatives: &Self::Representatives,
    ) -> Result<Fixpoint<Self>, Halt>;

    /// Stronger assertions for a view, where a method has some; none if they take too much. They, too, never miss a state. Where
    /// they begin with the reachable states, and these take fewer nodes than there are before, `reachable` says how many.
    fn sharp(
        _search: &mut Search,
        _view: &View,
        _representatives: &Self::Representatives,
        _reachable: &mut Option<usize>,
    ) -> Result<Option<Fixpoint<Self>>, Halt> {
        Ok(None)
    }

    /// Whether these are the strongest that the method has.
    fn is_sharp(&self) -> bool {
        true
    }

    /// All assertions, in rows: those of a row are best conjoined first, and then the rows one after the other.
    fn rows(&self) -> Vec<Vec<&Bdd>>;

    /// All assertions together, over all variables.
    fn conjunction(&self, d: &Diagrams) -> Result<Bdd, Halt> {
        let mut all = d.all();
        for row in self.rows() {
            all = d.and(&all, &together(d, row)?)?;
        }
        Ok(all)
    }

    /// The same if it has no more than so many nodes on the way, or little more.
    fn conjunction_within(&self, d: &Diagrams, most: usize) -> Result<Option<Bdd>, Halt> {
        let mut all = d.all();
        // To count the nodes of a diagram takes as long as to make them, so that they are counted only after many were made.
        let mut before = d.nodes();
        for row in self.rows() {
            all = d.and(&all, &together(d, row)?)?;
            let now = d.nodes();
            if now > before + most / 2 {
                if d.size(&all) > most {
                    return Ok(None);
                }
                before = now;
            }
            before = before.min(now);
        }
        Ok(Some(all).filter(|all| d.size(all) <= most))
    }

    /// The states of a set that the assertions about these processes allow. More than all assertions together, unless what
    /// is said of others does not matter.
    fn among(&self, d: &Diagrams, set: &Bdd, processes: &[ProcessId]) -> Result<Bdd, Halt>;

    /// Where the assertions allow two of the bodies at once.
    fn two_of(&self, d: &Diagrams, view: &View, bodies: &[Body]) -> Result<Bdd, Halt>;

    /// The assertions in readable form.
    fn outline(
        search: &Search,
        stage: &Stage<Self>,
        representatives: &Self::Representatives,
    ) -> Result<Outline, Halt>;
}

/// The conjunction of a row.
fn together(d: &Diagrams, row: Vec<&Bdd>) -> Result<Bdd, Halt> {
    let mut all = d.all();
    for part in row {
        all = d.and(&all, part)?;
    }
    Ok(all)
}

/// Assertions that can be computed stage by stage: the first is what holds initially, and each adds one step of everybody to the one
/// before.
pub(crate) trait Staged: Division + PartialEq {
    /// What holds initially.
    fn first(symbolic: &Symbolic, view: &View) -> Result<Self, Halt>;

    /// The same in the stronger form of `sharper`, if there is one.
    fn first_sharp(
        &self,
        search: &Search,
        view: &View,
        representatives: &Self::Representatives,
    ) -> Result<Option<Self>, Halt>;

    /// The stage after this one.
    fn next(
        &self,
        search: &Search,
        view: &View,
        representatives: &Self::Representatives,
    ) -> Result<Self, Halt>;
}
