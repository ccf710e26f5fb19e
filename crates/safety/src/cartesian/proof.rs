//! The states that a search ended with, as evidence.

use rustc_hash::FxHashMap;
use threadwise_engine::Answer;
use threadwise_evidence::certificate::{builder, cell_values};
use threadwise_evidence::dag::{Builder, Child, Dag};
use threadwise_evidence::{Account, Certificate};
use threadwise_model::system::{CellId, SystemProperty};
use threadwise_symbolic::Halt;

use super::Cartesian;
use super::abstraction::Abstraction;
use super::graph::{NONE, Node};
use super::outline::outline;
use super::sets::LocalId;

/// The answer for a search that ended without errors.
pub(super) fn proved(
    abstraction: &mut Abstraction,
    how: &Cartesian,
    property: &SystemProperty,
    account: &mut Account,
) -> Result<Answer, Halt> {
    if how.explain {
        // The proof stands without it.
        account.outline = outline(abstraction).ok().flatten();
    }
    if !how.certificates {
        return Ok(Answer::Proved(None));
    }
    let system = abstraction.threads.system;
    let graph = graph(abstraction);
    Ok(Answer::Proved(graph.map(|graph| {
        Certificate::inductive(system, &property.name, graph)
    })))
}

/// All states as a decision graph over cells, the shared ones first; `None` if some cell cannot be part of a certificate.
fn graph(abstraction: &Abstraction) -> Option<Dag> {
    let system = abstraction.threads.system;
    let mut writer = Writer {
        abstraction,
        builder: builder(system)?,
        values: cell_values(system).into_iter().collect::<Option<_>>()?,
        known: FxHashMap::default(),
    };
    let mut rows = Vec::new();
    for (shared, part) in abstraction.parts.iter_enumerated() {
        if part.reached.states != NONE {
            let below = writer.node(part.reached.states)?;
            rows.push((abstraction.threads.shared(shared), below));
        }
    }
    rows.sort_unstable();
    let root = writer.rows(&abstraction.threads.shared_cells, &rows)?;
    Some(writer.builder.finish(root))
}

struct Writer<'a, 'b, 's> {
    abstraction: &'b Abstraction<'a, 's>,
    builder: Builder,
    /// The least value of each cell, and how many there are.
    values: Vec<(i64, u64)>,
    known: FxHashMap<Node, Child>,
}

impl Writer<'_, '_, '_> {
    /// What is below a node of the graph over threads.
    fn node(&mut self, node: Node) -> Option<Child> {
        if let Some(known) = self.known.get(&node) {
            return Some(*known);
        }
        let abstraction = self.abstraction;
        let (level, edges) = abstraction.graphs.node(node);
        let child = if level == abstraction.threads.len() {
            if node == NONE {
                Child::FALSE
            } else {
                Child::TRUE
            }
        } else {
            let mut rows = Vec::new();
            for &(set, below) in edges.iter() {
                let below = self.node(below)?;
                let locals: Vec<LocalId> = abstraction.graphs.sets.members(set);
                rows.extend(
                    locals
                        .into_iter()
                        .map(|local| (abstraction.threads.local(level, local), below)),
                );
            }
            rows.sort_unstable();
            self.rows(&abstraction.threads.own_cells[level], &rows)?
        };
        self.known.insert(node, child);
        Some(child)
    }

    /// The graph that tests cells for one of these rows of values, in ascending order, and goes on below.
    fn rows(&mut self, cells: &[CellId], rows: &[(&[i64], Child)]) -> Option<Child> {
        let Some((cell, rest)) = cells.split_first() else {
            return rows.first().map(|(_, below)| *below);
        };
        let (least, size) = self.values[cell.index()];
        let mut children = Vec::new();
        let mut next = 0;
        for same in rows.chunk_by(|(a, _), (b, _)| a.first() == b.first()) {
            let value = *same.first()?.0.first()?;
            let position = u64::try_from(i128::from(value) - i128::from(least)).ok()?;
            let shorter: Vec<(&[i64], Child)> = same
                .iter()
                .map(|(row, below)| (&row[1..], *below))
                .collect();
            let child = self.rows(rest, &shorter)?;
            children.push(run(position.checked_sub(next)?, Child::FALSE));
            children.push(run(1, child));
            next = position + 1;
        }
        children.push(run(size.checked_sub(next)?, Child::FALSE));
        self.builder.node(cell.index(), children).ok()
    }
}

fn run(count: u64, child: Child) -> threadwise_evidence::dag::Run {
    threadwise_evidence::dag::Run { count, child }
}
