//! Symmetry: which permutations of processes map the system, and a property, onto themselves.
//!
//! Ids of an unordered template are a scalarset: the program compares them for equality, stores them and
//! uses them as an index, and does nothing else. Then every permutation of its processes is an automorphism
//! (Ip and Dill, "Better verification through symmetry", 1996), which the types establish without a look at the
//! state space. On a ring, `next` and `prev` are also allowed, and the rotations remain.
//! What the types alone do not exclude is looked for in the text: an id used as a number, an order of ids,
//! a `for` over ids whose rounds may influence one another ([`rounds`](threadwise_lang::rounds)), a literal id. In the program it leaves the identity; in a property, a literal id restricts the group to the
//! permutations that fix it.
//!
//! A permutation acts on a state in three ways: it moves the local copies, it moves the array cells that are indexed by ids, and
//! it renames ids *held* in cells: ids, optional ids and the holders of mutexes. Permutations of
//! different templates commute, so generators are given template by template. For templates that grow none are claimed.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use threadwise_lang::program::{
    Block, CompareOp, Domain, Expr, ExprKind, ExprType, FairnessTerm, IdOrder, Initial, Ltl,
    PropertyKind, StmtKind, TemplateId,
};
use threadwise_lang::rounds::independent;

use crate::instance::Instance;
use crate::system::{
    CellDomain, CellId, DimKind, IdUse, ProcessId, Scope, System, SystemProperty, TemplateSymmetry,
};

/// A permutation of the processes of a system, template by template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permutation {
    /// For each template that is not left as it is: the image of each index.
    images: BTreeMap<TemplateId, Vec<u32>>,
}

impl Permutation {
    /// The permutation that takes index `k` of the template to `images[k]`, and fixes all other
    /// templates. `None` if the images are no permutation.
    pub fn of_template(template: TemplateId, images: Vec<u32>) -> Option<Permutation> {
        let mut hit = vec![false; images.len()];
        for image in &images {
            let seen = hit.get_mut(*image as usize)?;
            if std::mem::replace(seen, true) {
                return None;
            }
        }
        Some(Permutation {
            images: BTreeMap::from([(template, images)]),
        })
    }

    /// This permutation, and another one after it.
    pub fn then(&self, next: &Permutation) -> Permutation {
        let mut images = next.images.clone();
        for (template, first) in &self.images {
            let both = first.iter().map(|index| next.index(*template, *index));
            images.insert(*template, both.collect());
        }
        Permutation { images }
    }

    /// The image of an index of a template.
    pub fn index(&self, template: TemplateId, index: u32) -> u32 {
        match self.images.get(&template) {
            Some(images) => images[index as usize],
            None => index,
        }
    }

    /// The image of a process.
    pub fn process(&self, system: &System, process: ProcessId) -> ProcessId {
        let template = system.template_of(process);
        let first = system.templates[template].first;
        ProcessId::from_raw(first.raw() + self.index(template, process.raw() - first.raw()))
    }

    /// The image of a value in a cell of this domain.
    pub fn value(&self, system: &System, domain: CellDomain, value: i64) -> i64 {
        match domain {
            CellDomain::Id(template) | CellDomain::OptId(template) if value >= 0 => {
                i64::from(self.index(template, value as u32))
            }
            CellDomain::Mutex if value >= 0 => i64::from(
                self.process(system, ProcessId::from_raw(value as u32))
                    .raw(),
            ),
            _ => value,
        }
    }

    /// The image of a state.
    pub fn apply(&self, system: &System, state: &[i64]) -> Vec<i64> {
        let mut image = vec![0; state.len()];
        for (value, (to, domain)) in state.iter().zip(self.cells(system)) {
            image[to.index()] = self.value(system, domain, *value);
        }
        image
    }

    /// Where each cell is taken, and the domain of its values.
    pub fn cells(&self, system: &System) -> IndexVec<CellId, (CellId, CellDomain)> {
        let mut images = index_vec::index_vec![(CellId::new(0), CellDomain::Bool); system.cells];
        for (id, var) in system.vars.iter_enumerated() {
            // Most variables have no dimension that moves; those that do share the work for all copies.
            let moves = var.dims.iter().any(
                |dim| matches!(dim.kind, DimKind::Template(t) if self.images.contains_key(&t)),
            );
            let offsets: Vec<u32> = if moves {
                (0..var.len)
                    .map(|offset| self.offset(&var.dims, offset))
                    .collect()
            } else {
                (0..var.len).collect()
            };
            let (copies, owner) = match var.scope {
                Scope::Shared => (1, None),
                Scope::Local(template) => (system.templates[template].count, Some(template)),
            };
            for copy in 0..copies {
                let to_copy = owner.map_or(0, |template| self.index(template, copy));
                for (offset, to_offset) in (0..var.len).zip(&offsets) {
                    images[system.cell(id, copy, offset)] =
                        (system.cell(id, to_copy, *to_offset), var.domain);
                }
            }
        }
        images
    }

    fn offset(&self, dims: &[crate::system::Dim], offset: u32) -> u32 {
        let mut rest = offset;
        let mut scale = 1;
        let mut image = 0;
        for dim in dims.iter().rev() {
            let index = rest % dim.size;
            rest /= dim.size;
            let index = match dim.kind {
                DimKind::Template(template) => self.index(template, index),
                DimKind::Range(_) | DimKind::Enum(_) => index,
            };
            image += index * scale;
            scale *= dim.size;
        }
        image
    }
}

/// Generators of the group that maps the system and the property onto themselves. For the whole
/// group of a template two permutations are enough, whatever its size: an exchange and a cycle.
pub fn generators(system: &System, property: &SystemProperty) -> Vec<Permutation> {
    let mut generators = Vec::new();
    for (id, template) in system.templates.iter_enumerated() {
        if property.ids.ordered.contains(&id) {
            continue;
        }
        let free: Vec<u32> = (0..template.count)
            .filter(|index| !property.ids.named.contains(&(id, *index)))
            .collect();
        let all = free.len() == template.count as usize;
        match template.symmetry {
            TemplateSymmetry::Identity => {}
            TemplateSymmetry::Full => {
                if free.len() >= 2 {
                    generators.push(cycle(id, template.count, &free[..2]));
                }
                if free.len() >= 3 {
                    generators.push(cycle(id, template.count, &free));
                }
            }
            // A rotation that fixes one process is the identity.
            TemplateSymmetry::Rotations => {
                if all && free.len() >= 2 {
                    generators.push(cycle(id, template.count, &free));
                }
            }
        }
    }
    generators
}

/// Takes each of these indices to the next, and the last to the first.
fn cycle(template: TemplateId, count: u32, indices: &[u32]) -> Permutation {
    let mut images: Vec<u32> = (0..count).collect();
    for (position, index) in indices.iter().enumerate() {
        images[*index as usize] = indices[(position + 1) % indices.len()];
    }
    Permutation {
        images: BTreeMap::from([(template, images)]),
    }
}

/// The symmetry of each template's processes in the program itself, properties aside.
pub(crate) fn of_templates(instance: &Instance) -> IndexVec<TemplateId, TemplateSymmetry> {
    let program = instance.program();
    let mut uses = Uses::new(instance, false);
    for var in &program.shared {
        uses.initial(&var.initial);
    }
    for (id, template) in program.templates.iter_enumerated() {
        for var in &template.locals {
            uses.initial(&var.initial);
            // Until it is given, the cell holds the least id.
            if let (Initial::Given, Some(ty)) = (&var.initial, var.scalar.ty()) {
                uses.ordered(match ty {
                    ExprType::OptId(_) => ExprType::Bool,
                    ty => ty,
                });
            }
        }
        uses.block(id, &template.body);
    }
    for predicate in &program.initially {
        uses.expr(predicate);
    }
    let broken = uses.found.ordered;
    program
        .templates
        .iter_enumerated()
        .map(|(id, template)| match template.order {
            _ if instance.is_dynamic(id) || instance.is_single(id) || broken.contains(&id) => {
                TemplateSymmetry::Identity
            }
            IdOrder::Unordered => TemplateSymmetry::Full,
            IdOrder::Ring => TemplateSymmetry::Rotations,
            IdOrder::Ordered => TemplateSymmetry::Identity,
        })
        .collect()
}

/// How a property uses ids.
pub(crate) fn id_use(instance: &Instance, property: &PropertyKind) -> IdUse {
    let mut uses = Uses::new(instance, true);
    match property {
        PropertyKind::Invariant(expr) => uses.expr(expr),
        PropertyKind::DeadlockFree => {}
        PropertyKind::Liveness { under, formula } => {
            uses.formula(formula);
            for fairness in under {
                for term in instance.program().fairness[*fairness]
                    .alternatives
                    .iter()
                    .flatten()
                {
                    match term {
                        FairnessTerm::Unconditional => {}
                        FairnessTerm::Weak(_, e) => uses.expr(e),
                        FairnessTerm::Strong(_, p, q) => {
                            uses.expr(p);
                            uses.expr(q);
                        }
                    }
                }
            }
        }
    }
    uses.found
}

/// Looks for uses of ids that tell processes apart.
struct Uses<'a> {
    instance: &'a Instance,
    /// Whether a literal id names a process; in the program it counts as order.
    names: bool,
    found: IdUse,
    /// Definitions that were looked into already.
    seen: BTreeSet<usize>,
}

impl<'a> Uses<'a> {
    fn new(instance: &'a Instance, names: bool) -> Self {
        Uses {
            instance,
            names,
            found: IdUse::default(),
            seen: BTreeSet::new(),
        }
    }

    fn ordered(&mut self, ty: ExprType) {
        if let ExprType::Id(template) | ExprType::OptId(template) = ty {
            self.found.ordered.insert(template);
        }
    }

    fn initial(&mut self, initial: &Initial) {
        if let Initial::Value(expr) = initial {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::IntToId(_) => match (expr.ty, self.instance.constant(expr)) {
                (ExprType::Id(template), Ok(index)) if self.names && index >= 0 => {
                    self.found.named.insert((template, index as u32));
                }
                (ty, _) => self.ordered(ty),
            },
            ExprKind::IdToInt(id) => self.ordered(id.ty),
            ExprKind::Around { id, .. } => {
                if let ExprType::Id(template) = id.ty
                    && self.instance.program().templates[template].order != IdOrder::Ring
                {
                    self.ordered(id.ty);
                }
            }
            ExprKind::Compare(op, a, b) if !matches!(op, CompareOp::Eq | CompareOp::Ne) => {
                self.ordered(a.ty);
                self.ordered(b.ty);
            }
            ExprKind::Call(def, _) if self.seen.insert(def.index()) => {
                self.expr(&self.instance.program().defs[*def].body);
            }
            // The value of a quantifier does not depend on the order in which its body is evaluated.
            _ => {}
        }
        expr.children(&mut |child| self.expr(child));
    }

    fn formula(&mut self, formula: &Ltl) {
        if let Ltl::State(expr) = formula {
            self.expr(expr);
        }
        for part in formula.children() {
            self.formula(part);
        }
    }

    /// A loop of a process goes through ids in their order, unless the order makes no difference.
    fn goes_through(&mut self, own: TemplateId, stmt: &StmtKind) {
        let program = self.instance.program();
        match stmt {
            StmtKind::For(bound, Domain::Template(over), body)
                if independent(program, own, *bound, *over, body).is_ok() => {}
            StmtKind::For(_, Domain::Template(over), _)
            | StmtKind::ForLabelled(_, Domain::Template(over), _) => {
                self.found.ordered.insert(*over);
            }
            _ => {}
        }
    }

    fn block(&mut self, own: TemplateId, block: &Block) {
        for stmt in block {
            self.goes_through(own, &stmt.kind);
            let parts = stmt.kind.parts();
            let indices = parts.places.iter().flat_map(|place| &place.indices);
            for expr in parts.exprs.iter().copied().chain(indices) {
                self.expr(expr);
            }
            for inner in parts.blocks {
                self.block(own, inner);
            }
        }
    }
}
