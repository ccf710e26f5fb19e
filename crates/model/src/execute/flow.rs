//! Control flow: the body of a template as a graph of nodes.
//!
//! Structured statements become edges: loops lead back, `break` and `goto` lead out. A node is one
//! thing to execute or to decide, and where control goes from there. Labels are nodes of their
//! own, at which paths end and begin. The hidden counter of a `for` with labels is written here
//! too: set on the way in, advanced on the way round, and reset on every way out, whether control runs
//! off the end, breaks, jumps or returns.

use index_vec::{IndexVec, define_index_type};
use threadwise_lang::program::{
    Block, Domain, Expr, LocalId, LocationId, Program, Span, Stmt, StmtKind, TemplateId,
};

use super::rounds::For;

define_index_type! { /// A node of the graph.
pub(crate) struct NodeId = u32; }

/// One thing to execute, and where control goes from there.
pub(crate) enum Node<'p> {
    /// The path ends here.
    Label(LocationId),
    /// A statement that neither branches nor jumps.
    Do(&'p Stmt, NodeId),
    /// The first condition that holds, or the last node.
    Branch(&'p [(Expr, Block)], Vec<NodeId>, NodeId),
    /// A loop's condition: into the loop, or past it.
    Test(&'p Expr, NodeId, NodeId),
    /// Any of these.
    Fork(Vec<NodeId>),
    /// Rest here, or go on.
    Stay(NodeId),
    /// Any value of the domain.
    Pick(threadwise_lang::program::BoundId, &'p Domain, NodeId),
    /// An unlabelled `for` begins with the first value: into the loop, or past it.
    ForEnter(For<'p>, NodeId, NodeId),
    /// An unlabelled `for` goes on with the next value: into the loop, or past it.
    ForNext(For<'p>, NodeId, NodeId),
    /// A labelled `for` begins: into the loop with the least value, or past it.
    CounterEnter(LocalId, &'p Domain, NodeId, NodeId),
    /// A labelled `for` goes on: into the loop with the next value, or past it.
    CounterNext(LocalId, &'p Domain, NodeId, NodeId),
    /// A labelled `for` is left: its counter takes the least value.
    CounterReset(LocalId, &'p Domain, NodeId),
}

/// The graph of a template's body.
pub(crate) struct Flow<'p> {
    /// The template.
    pub(crate) template: TemplateId,
    /// The nodes.
    pub(crate) nodes: IndexVec<NodeId, Node<'p>>,
    /// For each label the node that its steps begin with, and the place of its statement.
    pub(crate) starts: IndexVec<LocationId, Option<(NodeId, Span)>>,
}

/// Builds the graph.
pub(crate) fn flow(program: &Program, id: TemplateId) -> Flow<'_> {
    let template = &program.templates[id];
    let mut builder = Builder {
        program,
        flow: Flow {
            template: id,
            nodes: IndexVec::new(),
            starts: index_vec::index_vec![None; template.locations.len()],
        },
        counters_at: index_vec::index_vec![Vec::new(); template.locations.len()],
        counters: Vec::new(),
        breaks: Vec::new(),
        done: template.done(),
    };
    builder.find_labels(&template.body);
    let done = builder.node(Node::Label(template.done()));
    builder.block(&template.body, done);
    builder.flow
}

type Counter<'p> = (LocalId, &'p Domain);

struct Builder<'p> {
    program: &'p Program,
    flow: Flow<'p>,
    /// The labelled `for` loops around each label.
    counters_at: IndexVec<LocationId, Vec<LocalId>>,
    /// The labelled `for` loops around the current statement, outermost first.
    counters: Vec<Counter<'p>>,
    /// Where `break` leads, and how many labelled `for` loops are around that place.
    breaks: Vec<(NodeId, usize)>,
    done: LocationId,
}

impl<'p> Builder<'p> {
    fn node(&mut self, node: Node<'p>) -> NodeId {
        self.flow.nodes.push(node)
    }

    /// Records for each label which labelled `for` loops it stands in.
    fn find_labels(&mut self, block: &'p [Stmt]) {
        for stmt in block {
            if let Some(label) = stmt.label {
                self.counters_at[label] = self.counters.iter().map(|(local, _)| *local).collect();
            }
            let around = self.counters.len();
            if let StmtKind::ForLabelled(local, domain, _) = &stmt.kind {
                self.counters.push((*local, domain));
            }
            for body in stmt.kind.parts().blocks {
                self.find_labels(body);
            }
            self.counters.truncate(around);
        }
    }

    /// The node that a block begins with, if `next` follows it.
    fn block(&mut self, block: &'p [Stmt], next: NodeId) -> NodeId {
        block
            .iter()
            .rev()
            .fold(next, |next, stmt| self.stmt(stmt, next))
    }

    fn stmt(&mut self, stmt: &'p Stmt, next: NodeId) -> NodeId {
        match &stmt.kind {
            // The way round leads to the label of the loop itself, where it has one. The entry
            // exists before the body, so that the body can lead back to it.
            StmtKind::While(_, body) | StmtKind::Loop(body) => {
                let inner = self.node(Node::Fork(Vec::new()));
                let entry = self.labelled(stmt, inner);
                self.breaks.push((next, self.counters.len()));
                let body = self.block(body, entry);
                self.breaks.pop();
                self.flow.nodes[inner] = match &stmt.kind {
                    StmtKind::While(condition, _) => Node::Test(condition, body, next),
                    _ => Node::Fork(vec![body]),
                };
                entry
            }
            _ => {
                let inner = self.unlabelled(stmt, next);
                self.labelled(stmt, inner)
            }
        }
    }

    fn labelled(&mut self, stmt: &'p Stmt, inner: NodeId) -> NodeId {
        match stmt.label {
            Some(label) => {
                self.flow.starts[label] = Some((inner, stmt.span));
                self.node(Node::Label(label))
            }
            None => inner,
        }
    }

    fn unlabelled(&mut self, stmt: &'p Stmt, next: NodeId) -> NodeId {
        match &stmt.kind {
            StmtKind::Skip => next,
            StmtKind::Stay => self.node(Node::Stay(next)),
            StmtKind::Goto(label) => {
                let target = self.node(Node::Label(*label));
                let kept = self.counters_at[*label].clone();
                self.leave(target, |counter| !kept.contains(counter))
            }
            StmtKind::Return => {
                let target = self.node(Node::Label(self.done));
                self.leave(target, |_| true)
            }
            StmtKind::Break => match self.breaks.last().copied() {
                Some((target, around)) => {
                    let kept: Vec<LocalId> =
                        self.counters[..around].iter().map(|(c, _)| *c).collect();
                    self.leave(target, |counter| !kept.contains(counter))
                }
                None => next,
            },
            StmtKind::If(branches, otherwise) => {
                let otherwise = self.block(otherwise, next);
                let targets = branches
                    .iter()
                    .map(|(_, body)| self.block(body, next))
                    .collect();
                self.node(Node::Branch(branches, targets, otherwise))
            }
            StmtKind::Choose(blocks) => {
                let targets = blocks.iter().map(|body| self.block(body, next)).collect();
                self.node(Node::Fork(targets))
            }
            StmtKind::ChooseIn(bound, domain, body) => {
                let body = self.block(body, next);
                self.node(Node::Pick(*bound, domain, body))
            }
            StmtKind::For(bound, domain, body) => {
                let round = self.node(Node::Fork(Vec::new()));
                self.breaks.push((next, self.counters.len()));
                let inside = self.block(body, round);
                self.breaks.pop();
                let parts = (*bound, domain, body);
                let looped = For::new(self.program, self.flow.template, parts, stmt.span);
                self.flow.nodes[round] = Node::ForNext(looped, inside, next);
                self.node(Node::ForEnter(looped, inside, next))
            }
            StmtKind::ForLabelled(local, domain, body) => {
                let round = self.node(Node::Fork(Vec::new()));
                // A `break` comes from inside, where the counter counts as running.
                self.breaks.push((next, self.counters.len()));
                self.counters.push((*local, domain));
                let body = self.block(body, round);
                self.counters.pop();
                self.breaks.pop();
                let after = self.node(Node::CounterReset(*local, domain, next));
                self.flow.nodes[round] = Node::CounterNext(*local, domain, body, after);
                self.node(Node::CounterEnter(*local, domain, body, next))
            }
            StmtKind::Group { body, .. } => self.block(body, next),
            _ => self.node(Node::Do(stmt, next)),
        }
    }

    /// Leads to `target`, and resets the counters around the current statement that are left.
    fn leave(&mut self, target: NodeId, left: impl Fn(&LocalId) -> bool) -> NodeId {
        let counters = self.counters.clone();
        counters
            .into_iter()
            .filter(|(local, _)| left(local))
            .fold(target, |next, (local, domain)| {
                self.node(Node::CounterReset(local, domain, next))
            })
    }
}
