//! The argument of a proof, for people: the layers as ranks.
//!
//! A state's rank is the number of the layer that deletes it. No step leads to a greater rank, and a run that stays at one for ever is
//! not fair, since it lacks what the layer names. So there is no fair run: the local proof rule of Cohen, Namjoshi and Sa'ar ("A dash of
//! fairness for compositional reasoning", CAV 2010, Section 6).

use std::collections::BTreeSet;

use threadwise_evidence::Duty;
use threadwise_evidence::certificate::cell_names;
use threadwise_model::layout::process_id;
use threadwise_model::layout::process_name;
use threadwise_model::system::{Expr, ProcessId};
use threadwise_model::temporal::{Fairness, FairnessKind, Liveness};
use threadwise_symbolic::{Bdd, Symbolic};

use crate::fair::{Deleted, Hull};
use crate::product::Extended;

/// So many names are listed.
const FEW: usize = 6;

/// A proof that a hull is empty, to be told.
pub(crate) struct Story<'a, 's> {
    pub(crate) symbolic: &'a Symbolic<'s>,
    pub(crate) extended: &'a Extended,
    pub(crate) liveness: &'a Liveness,
    pub(crate) terms: &'a [Fairness<Expr>],
    pub(crate) hull: &'a Hull,
    /// Whose abstract process it is, if it is one.
    pub(crate) process: Option<ProcessId>,
    /// Who moves for ever again in the runs that it is about.
    pub(crate) mover: Option<ProcessId>,
}

impl Story<'_, '_> {
    /// The argument in lines; `number` of `conjuncts` is the conjunct.
    pub(crate) fn lines(&self, number: usize, conjuncts: usize) -> Vec<String> {
        let name = |process: ProcessId| process_name(&self.extended.system, process);
        let mut head = match conjuncts {
            1 => "A run against the property".to_owned(),
            _ => format!(
                "A run against part {} of {conjuncts} of the property",
                number + 1
            ),
        };
        if let Some(mover) = self.mover {
            head.push_str(&format!(" in which {} moves for ever again", name(mover)));
        }
        if let Some(process) = self.process {
            head.push_str(&format!(", as {} sees it,", name(process)));
        }
        head.push_str(" is never fair. Its rank never rises, and it cannot stay at one:");
        let mut lines = vec![head];
        let mut rank = 1;
        let mut layers = self.hull.layers.iter().peekable();
        while let Some(first) = layers.next() {
            let mut like = vec![first];
            while let Some(next) = layers.next_if(|next| self.kind(next) == self.kind(first)) {
                like.push(next);
            }
            let last = rank + like.len() - 1;
            let ranks = match like.len() {
                1 => format!("rank {rank}"),
                _ => format!("ranks {rank} to {last}"),
            };
            lines.push(format!(
                "  {ranks} (in terms of {}): {}",
                self.cells(&like),
                self.reason(&like)
            ));
            rank = last + 1;
        }
        lines
    }

    /// What layers that are told together have in common.
    fn kind(&self, layer: &Deleted) -> (u8, usize) {
        match layer {
            Deleted::Stuck(_) => (0, 0),
            Deleted::Unfair(Duty::Obligation(number), _) => (1, *number),
            Deleted::Unfair(Duty::Mover, _) => (2, 0),
            Deleted::Unfair(Duty::Term(term), _) => match self.terms[*term].kind {
                FairnessKind::Scheduled(_) => (3, 0),
                _ => (4, self.terms[*term].declaration.index()),
            },
            Deleted::Strong(term, _) => (5, self.terms[*term].declaration.index()),
        }
    }

    fn reason(&self, layers: &[&Deleted]) -> String {
        let declared = |term: usize| {
            let declaration = self.terms[term].declaration.index();
            let name = self.liveness.declarations.get(declaration);
            name.map_or_else(String::new, |name| format!("`{name}`"))
        };
        match layers[0] {
            Deleted::Stuck(_) => "no step leads on within what is left".to_owned(),
            Deleted::Unfair(Duty::Obligation(_), _) => {
                "what must come for the run to go against the property is put off for ever"
                    .to_owned()
            }
            Deleted::Unfair(Duty::Mover, _) => "it does not move for ever again".to_owned(),
            Deleted::Unfair(Duty::Term(term), _) => match &self.terms[*term].kind {
                FairnessKind::Scheduled(_) => {
                    let mut processes = Vec::new();
                    for layer in layers {
                        if let Deleted::Unfair(Duty::Term(term), _) = layer
                            && let FairnessKind::Scheduled(process) = self.terms[*term].kind
                        {
                            let process = process_id(&self.extended.system, process);
                            let name = process_name(&self.extended.system, process);
                            if !processes.contains(&name) {
                                processes.push(name);
                            }
                        }
                    }
                    format!(
                        "{} would not be scheduled: a step of it leads to a lower rank",
                        list(&processes, " or ")
                    )
                }
                _ => format!("{} is not met", declared(*term)),
            },
            Deleted::Strong(term, _) => format!(
                "{} would be asked for again and again, and is never answered",
                declared(*term)
            ),
        }
    }

    /// The cells that sets of layers depend on.
    fn cells(&self, layers: &[&Deleted]) -> String {
        let names = cell_names(&self.extended.system);
        let whose = self.symbolic.encoding.cells_of_vars();
        let mut cells = BTreeSet::new();
        for layer in layers {
            let set: &Bdd = match layer {
                Deleted::Stuck(set) | Deleted::Unfair(_, set) | Deleted::Strong(_, set) => set,
            };
            let vars = self.symbolic.diagrams.support(set).into_iter();
            cells.extend(vars.filter_map(|var| whose[var as usize]));
        }
        let program = cells
            .into_iter()
            .filter(|cell| cell.index() < self.extended.program_cells);
        let names: Vec<String> = program.map(|cell| names[cell.index()].clone()).collect();
        match names.is_empty() {
            true => "the automaton alone".to_owned(),
            false => list(&names, ", "),
        }
    }
}

/// Some names, the rest counted.
fn list(names: &[String], between: &str) -> String {
    match names.len().checked_sub(FEW + 1) {
        None => names.join(between),
        Some(_) => format!("{} and {} more", names[..FEW].join(", "), names.len() - FEW),
    }
}
