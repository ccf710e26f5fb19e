//! Control flow: where processes begin, loops that pass no label, `await` after a write, `stay`
//! in the middle of a step, labels that control never reaches, coarse steps.
//!
//! A template's body becomes a graph with a node for each simple statement or test; a labelled
//! node begins a step. The questions are then reachability and small forward analyses on it.

use super::bounds::Bounds;
use super::touches::Touches;
use super::*;

/// A node of the graph.
pub(super) struct Node<'a> {
    label: Option<LocationId>,
    pub(super) action: Action<'a>,
    span: Span,
    successors: Vec<usize>,
    /// The way back to the head of a `for` loop, which ends by itself, from the head to its body.
    again: Option<usize>,
    /// Touches of shared memory, where more than one in a step is coarse.
    touches: u32,
}

#[derive(Clone, Copy)]
pub(super) enum Action<'a> {
    Stmt(&'a StmtKind),
    Test(&'a Expr),
    LoopHead,
    Nothing,
}

/// Where a `goto` leads is known only at the end.
const UNRESOLVED: usize = usize::MAX;

pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    gotos: Vec<(usize, LocationId)>,
    end: usize,
    touches: Touches,
}

impl<'a> Graph<'a> {
    pub(super) fn of(template: &'a Template, touches: Touches) -> (Self, usize) {
        let mut graph = Graph {
            nodes: Vec::new(),
            gotos: Vec::new(),
            end: 0,
            touches,
        };
        graph.end = graph.add(None, Action::Nothing, template.span, vec![]);
        let entry = graph.block(&template.body, graph.end, None, false);
        let labels: BTreeMap<LocationId, usize> = graph
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| Some((node.label?, index)))
            .collect();
        for (node, label) in std::mem::take(&mut graph.gotos) {
            let target = labels.get(&label).copied().unwrap_or(graph.end);
            for successor in &mut graph.nodes[node].successors {
                if *successor == UNRESOLVED {
                    *successor = target;
                }
            }
        }
        (graph, entry)
    }

    fn add(
        &mut self,
        label: Option<LocationId>,
        action: Action<'a>,
        span: Span,
        successors: Vec<usize>,
    ) -> usize {
        self.nodes.push(Node {
            label,
            action,
            span,
            successors,
            again: None,
            touches: 0,
        });
        self.nodes.len() - 1
    }

    /// Adds a block, last statement first; returns where it is entered.
    fn block(&mut self, block: &'a Block, next: usize, exit: Option<usize>, atomic: bool) -> usize {
        let mut entry = next;
        for stmt in block.iter().rev() {
            entry = self.stmt(stmt, entry, exit, atomic);
        }
        entry
    }

    fn stmt(&mut self, stmt: &'a Stmt, next: usize, exit: Option<usize>, atomic: bool) -> usize {
        let (label, at) = (stmt.label, stmt.span);
        match &stmt.kind {
            StmtKind::Goto(target) => {
                let node = self.add(label, Action::Nothing, at, vec![UNRESOLVED]);
                self.gotos.push((node, *target));
                node
            }
            StmtKind::Break => self.add(label, Action::Nothing, at, vec![exit.unwrap_or(self.end)]),
            StmtKind::Return => self.add(label, Action::Nothing, at, vec![self.end]),
            StmtKind::If(branches, otherwise) => {
                let mut entry = self.block(otherwise, next, exit, atomic);
                for (position, (condition, block)) in branches.iter().enumerate().rev() {
                    let then = self.block(block, next, exit, atomic);
                    let label = if position == 0 { label } else { None };
                    entry = self.add(
                        label,
                        Action::Test(condition),
                        condition.span,
                        vec![then, entry],
                    );
                    self.nodes[entry].touches = if atomic {
                        0
                    } else {
                        self.touches.expr(condition)
                    };
                }
                entry
            }
            StmtKind::Choose(blocks) => {
                let entries = blocks
                    .iter()
                    .map(|block| self.block(block, next, exit, atomic))
                    .collect();
                self.add(label, Action::Nothing, at, entries)
            }
            StmtKind::ChooseIn(_, _, block) => {
                let body = self.block(block, next, exit, atomic);
                self.add(label, Action::Nothing, at, vec![body])
            }
            StmtKind::While(condition, block) => {
                let head = self.add(label, Action::Test(condition), at, vec![]);
                let body = self.block(block, head, Some(next), atomic);
                self.nodes[head].successors = vec![body, next];
                self.nodes[head].touches = if atomic {
                    0
                } else {
                    self.touches.expr(condition)
                };
                head
            }
            StmtKind::Loop(block) => {
                let head = self.add(label, Action::LoopHead, at, vec![]);
                let body = self.block(block, head, Some(next), atomic);
                self.nodes[head].successors = vec![body];
                head
            }
            StmtKind::For(_, _, block) | StmtKind::ForLabelled(_, _, block) => {
                // After the body control comes to `turn`, which leaves the loop or goes round:
                // the way round is `again`, so that it counts for no endless cycle.
                let turn = self.add(None, Action::Stmt(&stmt.kind), at, vec![next]);
                let body = self.block(block, turn, Some(next), atomic);
                self.nodes[turn].again = Some(body);
                self.add(label, Action::Nothing, at, vec![body, next])
            }
            StmtKind::Group { atomic: true, body } => {
                let inner = self.block(body, next, exit, true);
                let head = self.add(label, Action::LoopHead, at, vec![inner]);
                // The whole block is one deliberate access.
                self.nodes[head].touches = match self.touches.operation(body) {
                    _ if atomic => 0,
                    Some(touches) => touches,
                    None => u32::from(self.touches.block(body)),
                };
                head
            }
            StmtKind::Group {
                atomic: false,
                body,
            } => {
                let inner = self.block(body, next, exit, atomic);
                match label {
                    None => inner,
                    Some(_) => self.add(label, Action::LoopHead, at, vec![inner]),
                }
            }
            kind => {
                let node = self.add(label, Action::Stmt(kind), at, vec![next]);
                self.nodes[node].touches = if atomic { 0 } else { self.touches.stmt(kind) };
                node
            }
        }
    }

    pub(super) fn all_successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let node = &self.nodes[node];
        node.successors.iter().copied().chain(node.again)
    }

    fn reachable(&self, entry: usize) -> Vec<bool> {
        let mut seen = vec![false; self.nodes.len()];
        let mut stack = vec![entry];
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                stack.extend(self.all_successors(node));
            }
        }
        seen
    }

    /// A node on a cycle that passes no label, for each such cycle found.
    fn unlabelled_cycles(&self) -> Vec<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Colour {
            White,
            Grey,
            Black,
        }
        let mut colour = vec![Colour::White; self.nodes.len()];
        let mut found = Vec::new();
        for root in 0..self.nodes.len() {
            if colour[root] != Colour::White || self.nodes[root].label.is_some() {
                continue;
            }
            let mut stack = vec![(root, 0)];
            colour[root] = Colour::Grey;
            while let Some((node, next)) = stack.pop() {
                let Some(&target) = self.nodes[node].successors.get(next) else {
                    colour[node] = Colour::Black;
                    continue;
                };
                stack.push((node, next + 1));
                if self.nodes[target].label.is_some() {
                    continue;
                }
                match colour[target] {
                    Colour::White => {
                        colour[target] = Colour::Grey;
                        stack.push((target, 0));
                    }
                    Colour::Grey => found.push(target),
                    Colour::Black => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A forward analysis within steps: the value at a label is the default, elsewhere the join of
    /// what flows in. `step` gives what leaves a node; `join` changes its first argument and
    /// says whether it did.
    fn analyse<T: Clone + Default>(
        &self,
        step: &mut dyn FnMut(usize, &T, bool) -> T,
        join: fn(&mut T, &T) -> bool,
    ) -> Vec<T> {
        let mut values = vec![T::default(); self.nodes.len()];
        let mut waiting: Vec<usize> = (0..self.nodes.len()).rev().collect();
        let mut queued = vec![true; self.nodes.len()];
        while let Some(node) = waiting.pop() {
            queued[node] = false;
            let value = values[node].clone();
            let forward = step(node, &value, false);
            let around = step(node, &value, true);
            let targets = self.nodes[node].successors.iter().map(|t| (*t, &forward));
            for (target, out) in targets.chain(self.nodes[node].again.map(|t| (t, &around))) {
                if self.nodes[target].label.is_none()
                    && join(&mut values[target], out)
                    && !std::mem::replace(&mut queued[target], true)
                {
                    waiting.push(target);
                }
            }
        }
        values
    }
}

/// The locations that the steps from a location lead to; of the end, none.
pub fn next_labels(program: &Program, template: TemplateId, from: LocationId) -> Vec<LocationId> {
    let template = &program.templates[template];
    let (graph, _) = Graph::of(template, Touches::default());
    graph.next(template, from).into_iter().collect()
}

/// The control flow of a template, read off the text: pairs of locations such that a step may lead from the first to the second. Conditions are not
/// looked at, so there may be some that no run takes; none is missing that some run does.
pub fn control_flow(program: &Program, template: TemplateId) -> BTreeSet<(LocationId, LocationId)> {
    let template = &program.templates[template];
    let (graph, _) = Graph::of(template, Touches::default());
    let each = template.locations.indices().flat_map(|from| {
        let next = graph.next(template, from).into_iter();
        next.map(move |to| (from, to))
    });
    each.collect()
}

impl Graph<'_> {
    /// Where the steps from a location lead.
    fn next(&self, template: &Template, from: LocationId) -> BTreeSet<LocationId> {
        let mut found = BTreeSet::new();
        let start = self.nodes.iter().position(|node| node.label == Some(from));
        let Some(start) = start else {
            return found;
        };
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting: Vec<usize> = self.all_successors(start).collect();
        while let Some(node) = waiting.pop() {
            if node == self.end {
                found.insert(template.done());
            } else if let Some(label) = self.nodes[node].label {
                found.insert(label);
            } else if !std::mem::replace(&mut seen[node], true) {
                waiting.extend(self.all_successors(node));
            }
        }
        found
    }
}

impl Checker {
    /// Checks the control flow of a template whose statements are sound.
    pub(super) fn check_flow(&mut self, id: TemplateId) {
        let (found, warnings) = check_template(&self.program, &self.bound_domains, id);
        if let Some(entry) = entry_label(&self.program.templates[id].body) {
            self.program.templates[id].entry = entry;
        }
        self.diagnostics.extend(found);
        self.diagnostics.extend(warnings);
    }

    /// Warns of coarse steps, once all templates are known.
    pub(super) fn warn_coarse(&mut self) {
        let program = &self.program;
        let protected = super::held::protected(program);
        // Whoever touches a place of a queue touches the number of its messages.
        let messages = self.message_variables();
        let ignored: BTreeSet<SharedId> = protected.union(&messages).copied().collect();
        for template in &program.templates {
            let operations = self.operations.clone();
            let touches = Touches::of(&program.defs, ignored.clone(), operations);
            let (graph, _) = Graph::of(template, touches);
            check_coarse(&graph, &mut self.diagnostics);
        }
    }
}

/// What is wrong with the control flow of a template, and what is worth a warning.
pub(crate) fn check_template(
    program: &Program,
    domains: &IndexVec<BoundId, Option<Domain>>,
    id: TemplateId,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let template = &program.templates[id];
    let (graph, start) = Graph::of(template, Touches::default());
    let mut found = Vec::new();
    if entry_label(&template.body).is_none() {
        let first = template.body.first();
        let at = first.map_or(template.span, |stmt| stmt.span);
        let message = format!("`{}` does not begin at a label", template.name);
        let missing = Diagnostic::new(Code::NoEntryLabel, at, message)
            .label("put a label here")
            .help("a process begins at a label: `begin: ..`");
        let before = Span {
            end: at.start,
            ..at
        };
        // What steps there are depends on it, so nothing else is said of them.
        found.push(match first {
            Some(_) => missing.fix_at(before, "begin: "),
            None => missing,
        });
        return (found, Vec::new());
    }
    for node in graph.unlabelled_cycles() {
        found.push(
            Diagnostic::new(
                Code::CycleWithoutLabel,
                keyword_span(graph.nodes[node].span),
                "a way round this loop passes no label",
            )
            .label("such a step might never end")
            .help("label a statement that every round passes, or the loop itself"),
        );
    }
    let mut bounds = Bounds::new(program, domains, Some(id));
    check_awaits(&graph, &mut bounds, &mut found);
    check_stays(&graph, &mut found);
    let mut warnings = Vec::new();
    check_reached(&graph, start, template, &mut warnings);
    (found, warnings)
}

fn check_awaits(graph: &Graph, bounds: &mut Bounds, found: &mut Vec<Diagnostic>) {
    // What each node does that an `await` must not follow.
    let causes: Vec<Option<&'static str>> = graph
        .nodes
        .iter()
        .map(|node| disturbs(node.action, bounds))
        .collect();
    type Cause = Option<(Span, &'static str)>;
    let values = graph.analyse::<Cause>(
        &mut |node, before, around| {
            let own = match (causes[node], around, graph.nodes[node].action) {
                (Some(cause), _, _) => Some((graph.nodes[node].span, cause)),
                (None, true, Action::Stmt(StmtKind::ForLabelled(..))) => {
                    Some((graph.nodes[node].span, "the loop counter moves"))
                }
                _ => None,
            };
            before.or(own)
        },
        |value, incoming| {
            let changed = value.is_none() && incoming.is_some();
            if changed {
                *value = *incoming;
            }
            changed
        },
    );
    for (node, value) in graph.nodes.iter().zip(values) {
        let word = match node.action {
            Action::Stmt(StmtKind::Await(_)) => "await",
            Action::Stmt(StmtKind::Lock(_)) => "lock",
            _ => continue,
        };
        if let (Some((at, cause)), None) = (value, node.label) {
            found.push(
                Diagnostic::new(
                    Code::AwaitAfterWrite,
                    node.span,
                    format!("`{word}` in the middle of a step"),
                )
                .label("may block after the step has begun")
                .related(at, cause)
                .help(format!(
                    "add a label before this `{word}`: it then begins a step"
                )),
            );
        }
    }
}

/// What an action does that an `await` must not follow.
fn disturbs(action: Action, bounds: &mut Bounds) -> Option<&'static str> {
    const CHECK: &str = "this may fail a check";
    const WRITE: &str = "this writes";
    match action {
        Action::Nothing | Action::LoopHead => None,
        Action::Test(condition) => bounds.can_fail(condition).then_some(CHECK),
        Action::Stmt(kind) => match kind {
            StmtKind::Assign(..)
            | StmtKind::Cas { .. }
            | StmtKind::Swap { .. }
            | StmtKind::FetchAdd { .. }
            | StmtKind::Havoc(_)
            | StmtKind::Unlock(_)
            | StmtKind::Lock(_) => Some(WRITE),
            StmtKind::Start(..) => Some("this starts a process"),
            StmtKind::Assert(_) => Some("this is a check"),
            StmtKind::Await(condition) => bounds.can_fail(condition).then_some(CHECK),
            _ => None,
        },
    }
}

/// Whether a graph's `stay`s are first in their steps.
fn check_stays(graph: &Graph, found: &mut Vec<Diagnostic>) {
    let late = graph.analyse::<bool>(
        &mut |node, before, _| *before || !matches!(graph.nodes[node].action, Action::LoopHead),
        |value, incoming| {
            let changed = !*value && *incoming;
            *value |= *incoming;
            changed
        },
    );
    for (node, late) in graph.nodes.iter().zip(late) {
        if matches!(node.action, Action::Stmt(StmtKind::Stay)) && node.label.is_none() && late {
            found.push(
                Diagnostic::new(
                    Code::StayNotFirst,
                    node.span,
                    "`stay` is not first in its step",
                )
                .label("something comes before it")
                .help("give it a label of its own"),
            );
        }
    }
}

fn check_reached(graph: &Graph, start: usize, template: &Template, found: &mut Vec<Diagnostic>) {
    let reached = graph.reachable(start);
    for (node, reached) in graph.nodes.iter().zip(reached) {
        if let (Some(label), false) = (node.label, reached) {
            let location = &template.locations[label];
            found.push(
                Diagnostic::new(
                    Code::UnreachableLabel,
                    location.span,
                    format!("control never reaches `{}`", location.name),
                )
                .label("no way leads here"),
            );
        }
    }
}

/// Warns where a step touches shared memory a second time; once a step.
fn check_coarse(graph: &Graph, found: &mut Vec<Diagnostic>) {
    /// Touches so far in the step: 0, 1, or 2 for "more, and said so".
    const MANY: u32 = 2;
    /// How many, and where the first was.
    type Touched = (u32, Option<Span>);
    let values = graph.analyse::<Touched>(
        &mut |node, (before, first), _| {
            let node = &graph.nodes[node];
            let here = (node.touches > 0).then_some(node.span);
            ((before + node.touches).min(MANY), first.or(here))
        },
        |value, incoming| {
            let changed = incoming.0 > value.0;
            if changed {
                *value = *incoming;
            }
            changed
        },
    );
    for (node, (before, first)) in graph.nodes.iter().zip(values) {
        let (before, first) = match node.label {
            Some(_) => (0, None),
            None => (before, first),
        };
        if before >= MANY || before + node.touches < MANY {
            continue;
        }
        let diagnostic = Diagnostic::new(
            Code::CoarseStep,
            node.span,
            "this step touches shared memory more than once",
        );
        found.push(match first {
            None => diagnostic
                .label("several accesses here")
                .help("split it with a label, or write `atomic { .. }` if the hardware does this in one go"),
            Some(first) => diagnostic
                .label("not the first access of the step")
                .related(first, "the first")
                .help("put a label between the two, or write `atomic { .. }` around both if the hardware does this in one go"),
        });
    }
}

/// The label a body begins with, where nothing comes before it.
pub(crate) fn entry_label(body: &Block) -> Option<LocationId> {
    let first = body.first()?;
    match (&first.label, &first.kind) {
        (Some(label), _) => Some(*label),
        (None, StmtKind::Loop(inner) | StmtKind::Group { body: inner, .. }) => entry_label(inner),
        _ => None,
    }
}

/// A loop's span is its whole text; for a message the keyword is enough.
fn keyword_span(span: Span) -> Span {
    Span {
        start: span.start,
        end: span.end.min(span.start + 5),
    }
}
