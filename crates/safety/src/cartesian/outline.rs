//! The proof, readable, through the outlines of split invariants.
//!
//! What the states say of one thread and the shared variables is its assertion. What they say of the threads together goes into
//! the part that everybody sees, as far as labels tell: where each thread is counts as exposed if there are exceptions. Relations between the threads' other
//! locals are not shown, and the outline says then that it is not all.

use std::rc::Rc;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use threadwise_evidence::Outline;
use threadwise_model::influence::Globals;
use threadwise_model::symmetry;
use threadwise_model::system::{CellId, IdUse, ProcessId, SystemProperty, SystemPropertyKind};
use threadwise_symbolic::{Bdd, Halt, Hidden, Symbolic};

use super::abstraction::Abstraction;
use super::graph::{NONE, Node};
use crate::split::{
    Assertions, Division, Representatives, Stage, View, outline_at_leisure, tell_relations_omitted,
};

/// The outline of what was reached; `None` if some value is none of its variable's.
pub(super) fn outline(abstraction: &Abstraction) -> Result<Option<Outline>, Halt> {
    let system = abstraction.threads.system;
    let symbolic = Symbolic::without_steps(system, abstraction.room())?;
    let mut layout = symbolic.layout.clone();
    let related = abstraction
        .parts
        .iter()
        .any(|part| part.reached.exceptions != NONE);
    if related {
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let template = &system.templates[system.template_of(process)];
            let pc = system.cell(template.pc, system.index_of(process), 0);
            let codes = symbolic.encoding.cells[pc].codes().iter();
            // The last label is what is left.
            let classes = codes.skip(1).map(|(value, _)| vec![*value]).collect();
            layout.classes.insert(pc, classes);
        }
    }
    let symbolic = Rc::new(symbolic.rebuild(layout)?);
    let d = &symbolic.diagrams;
    let mut writer = Writer {
        abstraction,
        symbolic: &symbolic,
        known: FxHashMap::default(),
    };
    let Some(states) = writer.all()? else {
        return Ok(None);
    };
    let view = View::new(&symbolic, &Globals::default())?;
    let common = match related {
        true => view.hidden.forget(d, &states)?,
        false => d.all(),
    };
    let mut own = IndexVec::new();
    for process in view.own.indices() {
        abstraction.breathe_at_leisure()?;
        let others = view
            .own
            .iter_enumerated()
            .filter(|(other, _)| *other != process);
        let others = others.flat_map(|(_, own)| own.cells.iter().copied());
        let others: Vec<CellId> = others.collect();
        let others = Hidden::new(d, symbolic.encoding.vars_of(&others, false))?;
        own.push(others.forget(d, &states)?);
    }
    let assertions = Assertions {
        common,
        own,
        sharp: false,
    };
    let together = assertions.conjunction(d)?;
    // The states need not be alike for processes that are.
    let anonymous = SystemProperty {
        name: String::new(),
        kind: SystemPropertyKind::Checks,
        ids: IdUse::default(),
    };
    let mut alike = true;
    for generator in symmetry::generators(system, &anonymous) {
        alike &= symbolic.permute(&states, &generator)? == states;
    }
    let representatives = Representatives::new(system, alike);
    let stage = Stage::of(symbolic.clone(), view, assertions);
    let breathe = || abstraction.breathe_at_leisure();
    let mut outline = outline_at_leisure(&breathe, system.cells, &stage, &representatives)?;
    tell_relations_omitted(&symbolic, &mut outline, &together, &states);
    Ok(Some(outline))
}

/// From graphs over threads to diagrams.
struct Writer<'b, 'a, 's> {
    abstraction: &'b Abstraction<'a, 's>,
    symbolic: &'b Symbolic<'s>,
    known: FxHashMap<Node, Bdd>,
}

impl Writer<'_, '_, '_> {
    fn all(&mut self) -> Result<Option<Bdd>, Halt> {
        let abstraction = self.abstraction;
        let d = &self.symbolic.diagrams;
        let mut all = d.none();
        for (shared, part) in abstraction.parts.iter_enumerated() {
            if part.reached.states == NONE {
                continue;
            }
            let cells = &abstraction.threads.shared_cells;
            let Some(here) = self.values(cells, abstraction.threads.shared(shared))? else {
                return Ok(None);
            };
            let Some(below) = self.node(part.reached.states)? else {
                return Ok(None);
            };
            all = d.or(&all, &d.and(&here, &below)?)?;
        }
        Ok(Some(all))
    }

    fn node(&mut self, node: Node) -> Result<Option<Bdd>, Halt> {
        if let Some(known) = self.known.get(&node) {
            return Ok(Some(known.clone()));
        }
        let abstraction = self.abstraction;
        let d = &self.symbolic.diagrams;
        let (level, edges) = abstraction.graphs.node(node);
        let mut set = d.constant(level == abstraction.threads.len() && node != NONE);
        for &(locals, below) in edges.iter() {
            abstraction.breathe_at_leisure()?;
            let mut here = d.none();
            for local in abstraction.graphs.sets.members(locals) {
                let cells = &abstraction.threads.own_cells[level];
                let values = abstraction.threads.local(level, local);
                let Some(one) = self.values(cells, values)? else {
                    return Ok(None);
                };
                here = d.or(&here, &one)?;
            }
            let Some(below) = self.node(below)? else {
                return Ok(None);
            };
            set = d.or(&set, &d.and(&here, &below)?)?;
        }
        self.known.insert(node, set.clone());
        Ok(Some(set))
    }

    /// Where cells have these values.
    fn values(&self, cells: &[CellId], values: &[i64]) -> Result<Option<Bdd>, Halt> {
        let encoding = &self.symbolic.encoding;
        let d = &self.symbolic.diagrams;
        let mut all = d.all();
        for (cell, value) in cells.iter().zip(values).rev() {
            let Some(code) = encoding.cells[*cell].code(*value) else {
                return Ok(None);
            };
            all = d.and(&encoding.code(d, *cell, code, false)?, &all)?;
        }
        Ok(Some(all))
    }
}
