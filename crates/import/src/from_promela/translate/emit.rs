//! The model as a program of our language, with places in the original.

use super::build::*;
use super::declared::{Declared, emitted, ranged};
use super::finish::{self, Kept};
use super::flow;
use super::graph::Graph;
use super::ir::*;
use super::names::Names;
use super::properties;
use super::ranges;
use super::steps::{Found, Steps};
use super::terms::{Locations, Terms, Tracked, View, pid_only};
use super::visible;
use crate::from_promela::syntax::{At, Promela, Type};
use crate::front::source::Sources;
use std::collections::BTreeMap;
use threadwise_lang::build::Built;
use threadwise_lang::print::{Item, Layout};
use threadwise_lang::program as model;
use threadwise_lang::program::{
    Block, CompareOp, Domain, ExprKind, Fairness, FairnessId, FairnessTerm, FoldKind, IdOrder,
    Initial, Instances, Location, LocationId, Ltl, Property, PropertyKind, Stmt, StmtKind, VarRef,
};

/// Parts of a model.
const MAX_PARTS: usize = 1_000_000;

/// Everything that is needed to write the model.
pub(super) struct Plan<'p> {
    pub source: &'p Promela,
    pub sources: &'p Sources,
    pub program: Program,
    pub declared: Declared,
    pub tracked: Tracked,
    pub locations: Locations,
    pub location_names: BTreeMap<(TemplateId, NodeId), String>,
    pub found: Found,
    pub exclusive: bool,
    pub sender: bool,
    pub names: Names,
    /// Assignments that set initial values which a declaration cannot say.
    pub setup: Block,
    /// The never claims.
    pub claims: Vec<Graph>,
    /// The predicates of each formula.
    pub predicates: Vec<(usize, properties::Predicates)>,
}

impl Plan<'_> {
    pub(super) fn terms(&self) -> Terms<'_> {
        Terms {
            program: &self.program,
            declared: &self.declared,
            tracked: &self.tracked,
            no_timeout: false,
            locations: &self.locations,
            sources: self.sources,
        }
    }

    /// Whether nobody holds the right to move, or somebody does.
    pub(super) fn moves(&self, op: CompareOp) -> Term {
        let terms = self.terms();
        terms.global(self.declared.exclusive).compare(op, int(0))
    }

    /// A formula about the first state that SPIN knows: the one after the initial values are set.
    pub(super) fn after_setup(&self, f: Ltl) -> Ltl {
        if self.setup.is_empty() {
            return f;
        }
        let set = Ltl::State(self.moves(CompareOp::Eq));
        Ltl::State(self.moves(CompareOp::Ne)).until(set.and(f))
    }

    /// The process that sets initial values: it comes behind all others.
    pub(super) fn setup_process(&self) -> Option<model::TemplateId> {
        (!self.setup.is_empty()).then(|| self.declared.model.templates.next_idx())
    }
}

/// The model while properties are added, with the order in which they are written.
pub(super) struct Written<'p> {
    sources: &'p Sources,
    model: model::Program,
    properties: Vec<Item>,
}

impl Written<'_> {
    /// A comment in front of what comes next.
    pub(super) fn comment(&mut self, text: &str) {
        self.properties.push(Item::Comment(format!(" {text}")));
    }

    pub(super) fn property(&mut self, name: &str, kind: PropertyKind, at: Option<At>) {
        let item = Item::Property(self.model.properties.len());
        self.properties.push(item);
        self.model.properties.push(Property {
            name: name.to_owned(),
            kind,
            span: at.map_or(NOWHERE, |at| self.sources.span(at)),
        });
    }

    pub(super) fn liveness(&mut self, name: &str, fair: FairnessId, formula: Ltl, at: Option<At>) {
        let under = vec![fair];
        self.property(name, PropertyKind::Liveness { under, formula }, at);
    }

    /// That something is so for ever again.
    pub(super) fn fairness(&mut self, comment: &str, name: &str, what: Term) {
        self.comment(comment);
        let id = self.model.fairness.push(Fairness {
            name: name.to_owned(),
            alternatives: vec![vec![FairnessTerm::Weak(Vec::new(), what)]],
            span: NOWHERE,
        });
        self.properties.push(Item::Fairness(id));
    }
}

/// Finds locations and who may hold the right to move, by writing the steps until nothing changes.
pub(super) fn settle(plan: &mut Plan<'_>) -> Result<()> {
    let rendezvous = plan.program.classes.iter().any(|c| c.capacity == 0);
    let mut before = Found::default();
    for _ in 0..20 {
        let mut found = Found::default();
        let exclusive = rendezvous || !before.held.is_empty() || !plan.setup.is_empty();
        let mut names = BTreeMap::new();
        for (at, template) in plan.program.present() {
            let id = TemplateId(at);
            found.reach(id, template.entry);
            while let Some(node) = found.waiting.pop() {
                let terms = plan.terms();
                let mut steps = Steps {
                    terms: &terms,
                    template: id,
                    before: &before,
                    found: &mut found,
                    exclusive,
                    tracked: &plan.tracked,
                    sender: plan.sender,
                };
                steps.location(node)?;
            }
            name_locations(plan, id, &found, &mut names);
        }
        let stable = found.locations == before.locations && found.held.is_subset(&before.held);
        plan.locations = numbered(&plan.program, &found);
        plan.location_names = names;
        plan.exclusive = exclusive;
        if stable {
            plan.found = before;
            return Ok(());
        }
        before.locations = found.locations;
        before.held.extend(found.held);
    }
    refuse(
        plan.program.templates[0].at,
        "this program, whose atomic sequences are too entangled",
        "make them simpler",
    )
}

fn name_locations(
    plan: &Plan<'_>,
    id: TemplateId,
    found: &Found,
    into: &mut BTreeMap<(TemplateId, NodeId), String>,
) {
    let template = &plan.program.templates[id.0];
    let mut names = plan.names.clone();
    for local in &template.locals {
        let var = &plan.program.vars[local.0];
        if !var.shared {
            names.fresh(&var.name);
        }
    }
    let here: Vec<NodeId> = found
        .locations
        .iter()
        .filter(|(t, _)| *t == id)
        .map(|(_, n)| *n)
        .collect();
    for node in &here {
        if let Some(label) = template.nodes[node.0].labels.first() {
            into.insert((id, *node), names.fresh(label));
        }
    }
    for node in here {
        let found = &template.nodes[node.0];
        if found.labels.is_empty() {
            let wanted = if found.end {
                "ended".to_string()
            } else {
                format!("l{}", plan.sources.line(found.at))
            };
            into.insert((id, node), names.fresh(&wanted));
        }
    }
}

/// The control states of a template at which steps begin. The first is where the process begins.
fn in_order(program: &Program, id: TemplateId, found: &Found) -> Vec<NodeId> {
    let entry = program.templates[id.0].entry;
    let here = found.locations.iter().filter(|(t, _)| *t == id);
    let mut here: Vec<NodeId> = here.map(|(_, node)| *node).collect();
    here.sort_by_key(|node| (*node != entry, *node));
    here
}

fn numbered(program: &Program, found: &Found) -> Locations {
    let mut locations = Locations::new();
    for (at, _) in program.present() {
        let id = TemplateId(at);
        let here = in_order(program, id, found).into_iter().enumerate();
        locations.extend(here.map(|(n, node)| ((id, node), LocationId::new(n))));
    }
    locations
}

/// Writes the whole model.
pub(super) fn model(plan: &Plan<'_>, name: &str) -> Result<Built> {
    let mut out = Written {
        sources: plan.sources,
        model: plan.declared.model.clone(),
        properties: Vec::new(),
    };
    initials(plan, &mut out.model)?;
    let mut parts = 0;
    for (at, _) in plan.program.present() {
        let id = TemplateId(at);
        let number = plan.terms().template(id)?;
        process(plan, id, &mut out.model.templates[number], &mut parts)?;
    }
    if !plan.setup.is_empty() {
        setup_process(plan, &mut out.model);
    }
    if visible::timeouts(&plan.program) {
        let mut terms = plan.terms();
        terms.no_timeout = true;
        let stuck = &mut out.model.defs[plan.declared.stuck];
        stuck.body = not(somebody_moves(plan, &terms)?);
        stuck.span = plan.sources.span(plan.program.templates[0].at);
    }
    properties::write(plan, &mut out)?;
    let kept = finish::finish(&mut out.model, &plan.declared.kept);
    let layout = layout(plan, name, &out, &kept);
    let program = out.model;
    Ok(Built { program, layout })
}

fn done(span: model::Span) -> Location {
    let name = "done".to_owned();
    Location { name, span }
}

/// A process that sets initial values before anybody else moves.
fn setup_process(plan: &Plan<'_>, model: &mut model::Program) {
    let terms = plan.terms();
    let exclusive = terms.shared(plan.declared.exclusive, Vec::new());
    let begin = is_number(terms.value(exclusive.clone()), setting_up(&plan.program));
    let mut body = await_of(begin, NOWHERE);
    body.extend(plan.setup.iter().cloned());
    body.push(assign(exclusive, int(0), NOWHERE));
    let begin = Location {
        name: "begin".to_owned(),
        span: NOWHERE,
    };
    let group = StmtKind::Group { atomic: true, body };
    model.templates.push(model::Template {
        name: plan.declared.setup.clone(),
        id_name: None,
        order: IdOrder::Unordered,
        instances: Instances::Single,
        locals: Default::default(),
        locations: [begin, done(NOWHERE)].into_iter().collect(),
        entry: LocationId::new(0),
        body: vec![stmt(group, NOWHERE).labelled(LocationId::new(0))],
        span: NOWHERE,
    });
}

/// In which order the model is written, with comments.
fn layout(plan: &Plan<'_>, name: &str, out: &Written<'_>, kept: &Kept) -> Layout {
    let declared = &plan.declared;
    let mut layout = Layout {
        short_atomic: true,
        ..Layout::default()
    };
    let comment = |text: &str| Item::Comment(format!(" {text}"));
    layout.add(comment(&format!("From the Promela program {name}.")));
    layout.add(Item::Blank);
    let defs = kept.defs.iter().filter(|(old, _)| **old != declared.stuck);
    defs.for_each(|(_, new)| layout.add(Item::Def(*new)));
    layout.add(Item::Blank);
    let exists = plan.program.classes.iter().filter_map(|class| class.exists);
    let exists: Vec<_> = exists.map(|var| declared.vars[var.0]).collect();
    for (old, new) in &kept.shared {
        if exists.contains(&Some(VarRef::Shared(*old))) {
            layout.add(comment(
                "Asked before a rendezvous: there is such a channel.",
            ));
        }
        if *old == declared.exclusive {
            layout.add(comment("Who alone may move: nobody (0), a process (its pid + 1), or whoever takes the message being handed over."));
        }
        let remark = match old {
            _ if *old == declared.nr_pr => Some("how many processes there are"),
            _ if *old == declared.sender => Some("who hands over a message: its pid + 1"),
            _ if declared.place.contains(old) => Some("where its processes are"),
            _ => None,
        };
        layout
            .items
            .push((Item::Shared(*new), remark.map(str::to_owned)));
    }
    for template in out.model.templates.indices() {
        layout.add(Item::Blank);
        if Some(template) == plan.setup_process() {
            layout.add(comment("Sets initial values before anybody else moves."));
        }
        layout.add(Item::Template(template));
    }
    layout.add(Item::Blank);
    if let Some(stuck) = kept.defs.get(&declared.stuck) {
        layout.add(comment(
            "Whether no process has a statement that can be executed: `timeout`.",
        ));
        layout.add(Item::Def(*stuck));
        layout.add(Item::Blank);
    }
    out.properties
        .iter()
        .for_each(|item| layout.add(item.clone()));
    layout
}

/// Whether some process has something to execute; used where every process is tracked.
fn somebody_moves(plan: &Plan<'_>, terms: &Terms<'_>) -> Result<Term> {
    let mut all = Vec::new();
    for (at, template) in plan.program.present() {
        let id = TemplateId(at);
        let some = plan.declared.some[at];
        let view = View::Other(id, terms.some_pid(id, some));
        let mut here = Vec::new();
        for (_, node) in plan.found.locations.iter().filter(|(t, _)| *t == id) {
            if let Some(place) = terms.is_at(id, *node, &view) {
                here.push(and(place, terms.moves(id, *node, &view)?));
            }
        }
        let any = or(here);
        all.push(match is(&any, false) || template.single() {
            true => any,
            false => fold(
                FoldKind::Exists,
                some,
                Domain::Template(terms.template(id)?),
                any,
            ),
        });
    }
    Ok(or(all))
}

/// The value of the variable that says who may move, while initial values are set.
fn setting_up(program: &Program) -> i64 {
    program.most + program.classes.len() as i64 + 1
}

/// What must be set before anybody moves: arrays whose elements begin with different values, and what is different for
/// processes that are there from the beginning.
pub(super) fn setup(plan: &Plan<'_>) -> Result<Block> {
    let program = &plan.program;
    let terms = plan.terms();
    let mut all = Vec::new();
    for (at, var) in program.vars.iter().enumerate() {
        let id = VarId(at);
        if !emitted(program, id) || (var.owner.is_some() && !var.shared) {
            continue;
        }
        let views: Vec<View> = match var.owner {
            None => vec![View::Nobody],
            Some(owner) => from_the_beginning(program, owner).collect(),
        };
        let given = var.initial.number().is_some() || var.owner.is_none();
        if var.list.is_some() || !given {
            for view in views {
                all.extend(terms.initialise(id, &view, terms.span(var.at))?);
            }
        }
    }
    for (at, template) in program.present().filter(|(_, t)| t.run && t.active > 0) {
        let span = terms.span(template.at);
        for view in from_the_beginning(program, TemplateId(at)) {
            if program.ambiguous {
                let on = terms.of_process(plan.declared.on[at], &view);
                all.push(assign(on, truth(true), span));
            }
            if let Some(number) = plan.tracked.get(&(TemplateId(at), template.entry)) {
                let place = terms.of_process(plan.declared.place[at], &view);
                all.push(assign(place, int(*number), span));
            }
        }
    }
    Ok(all)
}

/// The processes of a template that nobody starts.
fn from_the_beginning(program: &Program, id: TemplateId) -> impl Iterator<Item = View> {
    let template = &program.templates[id.0];
    let pids = template.first..template.first + template.active;
    pids.map(move |pid| View::Other(id, int(pid)))
}

/// Initial values, and who may move first.
fn initials(plan: &Plan<'_>, model: &mut model::Program) -> Result<()> {
    let program = &plan.program;
    let terms = plan.terms();
    for (at, var) in program.vars.iter().enumerate() {
        let id = VarId(at);
        let view = var.owner.map_or(View::Nobody, View::Own);
        let known = var.initial.number().is_some();
        let template = var.owner.map(|owner| &program.templates[owner.0]);
        let value = |e: &Expr| -> Result<Initial> {
            Ok(Initial::Value(number_or_truth(terms.stored(id, e, &view)?)))
        };
        match plan.declared.vars[at] {
            None => {}
            Some(VarRef::Shared(shared)) => {
                let later = template.is_some_and(|t| t.run || !t.single()) && !known;
                let initial = if later { &Expr::Num(0) } else { &var.initial };
                model.shared[shared].initial = value(initial)?;
            }
            Some(VarRef::Local(local)) => {
                if !known && !pid_only(&var.initial) {
                    return refuse(
                        var.at,
                        "an initial value that is not known before the program runs",
                        "set it by an assignment",
                    );
                }
                let owner = var.owner.and_then(|owner| plan.declared.templates[owner.0]);
                if let Some(owner) = owner {
                    model.templates[owner].locals[local].initial = value(&var.initial)?;
                }
            }
        }
    }
    let first = match plan.setup.is_empty() {
        true => 0,
        false => setting_up(program),
    };
    let most = first.max(program.most + program.classes.len() as i64);
    let exclusive = &mut model.shared[plan.declared.exclusive];
    exclusive.scalar = ranged(0, most);
    exclusive.initial = Initial::Value(int(first));
    Ok(())
}

/// Writes the statements of a template's processes.
fn process(
    plan: &Plan<'_>,
    id: TemplateId,
    into: &mut model::Template,
    parts: &mut usize,
) -> Result<()> {
    let template = &plan.program.templates[id.0];
    let terms = plan.terms();
    let order = in_order(&plan.program, id, &plan.found);
    for (at, node) in order.iter().enumerate() {
        let mut scratch = Found::default();
        let mut steps = Steps {
            terms: &terms,
            template: id,
            before: &plan.found,
            found: &mut scratch,
            exclusive: plan.exclusive,
            tracked: &plan.tracked,
            sender: plan.sender,
        };
        let block = steps.location(*node)?;
        *parts += block_size(&block);
        if *parts > MAX_PARTS {
            return refuse(
                template.at,
                "a program whose model would be too large",
                "make it smaller",
            );
        }
        let next = (at + 1 < order.len()).then(|| LocationId::new(at + 1));
        let place = terms.span(template.nodes[node.0].at);
        let step = step(LocationId::new(at), place, block, next);
        let name = plan.location_names.get(&(id, *node));
        into.locations.push(Location {
            name: name.cloned().unwrap_or_default(),
            span: step.first().map_or(place, |first| first.span),
        });
        into.body.extend(step);
    }
    into.locations.push(done(into.span));
    Ok(())
}

/// Removes the jump at the end of a way that leads to what follows anyway.
fn fall_through(block: &mut Block, next: Option<LocationId>) {
    match block.last_mut().map(|last| &mut last.kind) {
        Some(StmtKind::Goto(target)) if Some(*target) == next => {
            block.pop();
        }
        Some(StmtKind::Return) if next.is_none() => {
            block.pop();
        }
        Some(StmtKind::If(branches, other)) => {
            branches.iter_mut().for_each(|(_, b)| fall_through(b, next));
            fall_through(other, next);
        }
        Some(StmtKind::Choose(branches)) => branches.iter_mut().for_each(|b| fall_through(b, next)),
        _ => {}
    }
}

/// How many statements a way through a block has at most, jumps aside.
fn longest(block: &Block) -> usize {
    let of = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Goto(_) | StmtKind::Return => 0,
        StmtKind::For(_, _, body) | StmtKind::ChooseIn(_, _, body) => 1 + longest(body),
        StmtKind::If(branches, other) => {
            let branches = branches.iter().map(|(_, block)| longest(block));
            1 + branches.max().unwrap_or(0).max(longest(other))
        }
        StmtKind::Choose(branches) => branches.iter().map(longest).max().unwrap_or(0),
        _ => 1,
    };
    block.iter().map(of).sum()
}

/// Whether a statement joins truth values: in a step of its own it would not be clear that they are read at once.
fn joins(stmt: &Stmt) -> bool {
    let mut found = false;
    let parts = stmt.kind.parts();
    let places = parts.places.iter().flat_map(|place| &place.indices);
    for e in places.chain(parts.exprs) {
        e.walk(&mut |part| found |= matches!(part.kind, ExprKind::And(_) | ExprKind::Or(_)));
    }
    found && parts.blocks.is_empty()
}

/// What a process does at a location, as statements: one step, and the jump behind it.
fn step(label: LocationId, at: model::Span, mut block: Block, next: Option<LocationId>) -> Block {
    fall_through(&mut block, next);
    // A final jump stands behind the block that is one step.
    let tail = block.pop_if(|last| matches!(last.kind, StmtKind::Goto(_) | StmtKind::Return));
    if block.is_empty() {
        block.push(stmt(StmtKind::Skip, at));
    }
    let single = matches!(&block[..], [only] if joins(only)).then(|| block[0].span);
    let coarse = single.is_some() || longest(&block) > 1;
    tidy(&mut block);
    if coarse {
        let body = std::mem::take(&mut block);
        let group = StmtKind::Group { atomic: true, body };
        block.push(stmt(group, single.unwrap_or(at)));
    }
    block[0].label = Some(label);
    block.extend(tail);
    block
}

/// No branch is empty, and none says nothing where another could say the opposite.
fn tidy(block: &mut Block) {
    for stmt in block {
        let span = stmt.span;
        let fill = |block: &mut Block| {
            tidy(block);
            if block.is_empty() {
                block.push(Stmt::new(StmtKind::Skip, span));
            }
        };
        match &mut stmt.kind {
            StmtKind::If(branches, other) => {
                if let [(condition, yes)] = &mut branches[..]
                    && yes.is_empty()
                    && !other.is_empty()
                {
                    *condition = not(condition.clone());
                    *yes = std::mem::take(other);
                }
                branches.iter_mut().for_each(|(_, block)| fill(block));
                tidy(other);
            }
            StmtKind::Choose(branches) => branches.iter_mut().for_each(fill),
            StmtKind::For(_, _, body) | StmtKind::ChooseIn(_, _, body) => tidy(body),
            _ => {}
        }
    }
}

/// Ranges and truth values, once it is known who sees what.
pub(super) fn analyse(program: &mut Program, more: &[&Expr]) {
    flow::bound(program);
    for var in program.vars.iter_mut().filter(|v| v.lone) {
        if ranges::within(var.range, (0, 1)) {
            var.kind = Type::Bool;
        }
    }
    ranges::find_truth_values(program, more);
}
