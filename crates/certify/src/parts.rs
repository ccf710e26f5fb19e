//! The parts of a claim, and which of them to rely on.
//!
//! A claim is the conjunction of its parts, so that each condition may rely on any of them. All of them together can be too
//! large to build, and few of them matter: those about the processes that the condition is about. So a question is asked with few parts
//! first, and only if they do not exclude an answer with more, in the end with all. Which part is about whom is read off the cells
//! that it tests. A bad choice costs time, nothing else.

use std::collections::{BTreeSet, HashMap};

use index_vec::IndexVec;
use threadwise_evidence::dag::Dag;
use threadwise_model::layout::owners;
use threadwise_model::system::{CellId, ProcessId, System};

/// Parts about more processes than this are about the program as a whole.
pub(crate) const FEW_PROCESSES: usize = 2;

/// One decision graph of a claim.
pub(crate) struct Part<'a> {
    pub(crate) dag: &'a Dag,
    /// The cell of the system that each cell of the graph is.
    pub(crate) cells: Vec<usize>,
    /// Those that some node tests, in ascending order.
    pub(crate) tested: Vec<usize>,
    /// The processes whose cells are among them.
    processes: Processes,
}

/// Processes, in ascending order.
pub(crate) type Processes = Vec<ProcessId>;

/// The parts of a claim.
pub(crate) struct Parts<'a> {
    list: Vec<Part<'a>>,
    /// The parts that test each cell.
    testing: Vec<Vec<usize>>,
    /// The parts about few processes, by these.
    narrow: HashMap<Processes, Vec<usize>>,
    /// All other parts.
    wide: Vec<usize>,
    /// All parts about a process.
    about: IndexVec<ProcessId, Vec<usize>>,
}

impl<'a> Parts<'a> {
    /// The parts that these decision graphs are, with the cells of the system that theirs are.
    pub(crate) fn new(system: &System, dags: &'a [Dag], cells: Vec<Vec<usize>>) -> Parts<'a> {
        let owners = owners(system);
        let mut parts = Parts {
            list: Vec::with_capacity(dags.len()),
            testing: vec![Vec::new(); system.cells],
            narrow: HashMap::new(),
            wide: Vec::new(),
            about: (0..system.processes()).map(|_| Vec::new()).collect(),
        };
        for (at, (dag, cells)) in dags.iter().zip(cells).enumerate() {
            let tested: BTreeSet<usize> = dag.nodes().map(|node| cells[node.cell]).collect();
            let processes: BTreeSet<ProcessId> = tested
                .iter()
                .filter_map(|cell| owners[CellId::from_usize(*cell)])
                .collect();
            for cell in &tested {
                parts.testing[*cell].push(at);
            }
            for process in &processes {
                parts.about[*process].push(at);
            }
            let part = Part {
                dag,
                cells,
                tested: tested.into_iter().collect(),
                processes: processes.into_iter().collect(),
            };
            if part.processes.len() <= FEW_PROCESSES {
                let alike = parts.narrow.entry(part.processes.clone());
                alike.or_default().push(at);
            } else {
                parts.wide.push(at);
            }
            parts.list.push(part);
        }
        parts
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[Part<'a>] {
        &self.list
    }

    /// Whether there is one at most, so that there is nothing to choose from.
    pub(crate) fn is_whole(&self) -> bool {
        self.list.len() <= 1
    }

    /// Those about the program as a whole: about many processes or none.
    pub(crate) fn general(&self) -> Vec<usize> {
        self.choice(&[], &BTreeSet::new(), 1)
    }

    /// The parts that test one of these cells.
    pub(crate) fn testing(&self, cells: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        cells
            .flat_map(|cell| &self.testing[cell])
            .copied()
            .collect()
    }

    /// The processes that it is about whether a step of one of them preserves a part.
    pub(crate) fn concerned(&self, part: usize, mover: ProcessId) -> Processes {
        let of_part = &self.list[part].processes;
        let mut processes = vec![mover];
        if of_part.len() <= FEW_PROCESSES {
            processes.extend(of_part);
            processes.sort_unstable();
            processes.dedup();
        }
        processes
    }

    /// What to rely on for a question about some processes, beside a part that must be relied on: more and more, and all parts in the end.
    pub(crate) fn rounds(
        &self,
        about: &[ProcessId],
        beside: Option<usize>,
    ) -> impl Iterator<Item = Vec<usize>> {
        let beside: BTreeSet<usize> = beside.into_iter().collect();
        let all = self.list.len();
        let mut before = None;
        (0..=ALL).filter_map(move |round| {
            // There is no more than all.
            if before == Some(all) {
                return None;
            }
            let choice = self.choice(about, &beside, round);
            let more = choice.len() > before.unwrap_or(0) || choice.len() == all;
            before = Some(choice.len());
            more.then_some(choice)
        })
    }

    fn choice(&self, about: &[ProcessId], beside: &BTreeSet<usize>, round: usize) -> Vec<usize> {
        if round >= ALL || self.is_whole() {
            return (0..self.list.len()).collect();
        }
        let mut choice = beside.clone();
        // Those about no other processes.
        let mut within = |processes: &[ProcessId]| {
            choice.extend(self.narrow.get(processes).into_iter().flatten());
        };
        within(&[]);
        for (at, one) in about.iter().enumerate() {
            within(&[*one]);
            for other in &about[at + 1..] {
                within(&[*one, *other]);
            }
        }
        if round >= 1 {
            choice.extend(&self.wide);
        }
        if round >= 2 {
            choice.extend(about.iter().flat_map(|process| &self.about[*process]));
        }
        choice.into_iter().collect()
    }
}

/// The round in which all parts are relied on. Before it: those about none but the processes in question; those about many,
/// too; all about one of the processes.
const ALL: usize = 3;
