//! Which shared variables a mutex protects: no process reads or writes them without holding it.
//!
//! A forward analysis of each template finds the mutexes that are held for certain. While a process holds the mutex of a variable, no other touches it, so steps that touch such
//! variables more than once are as good as finer ones (Lipton, Reduction, CACM 18(12), 1975) and draw no warning. Only mutexes that are no array count.

use super::flow::{Action, Graph};
use super::touches::{Touches, shared_of};
use super::*;

type Held = BTreeSet<SharedId>;

/// The protected variables of a program.
pub(super) fn protected(program: &Program) -> BTreeSet<SharedId> {
    let mut common: BTreeMap<SharedId, Held> = BTreeMap::new();
    let read = shared_of(&program.defs);
    for template in &program.templates {
        let (graph, entry) = Graph::of(template, Touches::default());
        for (node, held) in graph.nodes.iter().zip(held(&graph, entry)) {
            // Control never comes here.
            let Some(held) = held else { continue };
            for var in accessed(node.action, &read) {
                common
                    .entry(var)
                    .and_modify(|mutexes| mutexes.retain(|mutex| held.contains(mutex)))
                    .or_insert_with(|| held.clone());
            }
        }
    }
    let mut protected = common.into_iter();
    let protected = protected
        .by_ref()
        .filter(|(_, mutexes)| !mutexes.is_empty());
    protected.map(|(var, _)| var).collect()
}

/// For each node that control may reach, what is held there for certain.
fn held(graph: &Graph, entry: usize) -> Vec<Option<Held>> {
    let mut values: Vec<Option<Held>> = vec![None; graph.nodes.len()];
    values[entry] = Some(Held::new());
    let mut waiting = vec![entry];
    while let Some(node) = waiting.pop() {
        let Some(mut held) = values[node].clone() else {
            continue;
        };
        match graph.nodes[node].action {
            Action::Stmt(StmtKind::Lock(place)) => held.extend(mutex(place)),
            Action::Stmt(StmtKind::Unlock(place)) => {
                // Of an array it is not known which one is given back.
                if let VarRef::Shared(var) = place.var {
                    held.remove(&var);
                }
            }
            _ => {}
        }
        for target in graph.all_successors(node) {
            let known = &mut values[target];
            let less = match known {
                None => Some(held.clone()),
                Some(known) if known.is_subset(&held) => None,
                Some(known) => Some(known.intersection(&held).copied().collect()),
            };
            if less.is_some() {
                *known = less;
                waiting.push(target);
            }
        }
    }
    values
}

fn mutex(place: &Place) -> Option<SharedId> {
    match place.var {
        VarRef::Shared(var) if place.indices.is_empty() => Some(var),
        _ => None,
    }
}

/// The shared variables that an action reads or writes, but for what it locks or unlocks.
fn accessed(action: Action, read: &IndexVec<DefId, BTreeSet<SharedId>>) -> BTreeSet<SharedId> {
    let mut found = BTreeSet::new();
    let mut exprs = |value: &Expr| super::touches::shared_in(value, read, &mut found);
    match action {
        Action::Test(condition) => exprs(condition),
        Action::Stmt(StmtKind::Lock(_) | StmtKind::Unlock(_)) => {}
        Action::Stmt(kind) => {
            let parts = kind.parts();
            let indices = parts.places.iter().flat_map(|place| &place.indices);
            indices.chain(parts.exprs).for_each(exprs);
            let places = parts.places.into_iter();
            found.extend(places.filter_map(|place| match place.var {
                VarRef::Shared(var) => Some(var),
                VarRef::Local(_) => None,
            }));
        }
        Action::LoopHead | Action::Nothing => {}
    }
    found
}
