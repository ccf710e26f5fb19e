//! Control states as SPIN has them.
//!
//! A state is what stands in front of a statement that takes a step. `goto`, `break`, `;` and the ends of blocks take none, unless one of
//! them is all that an option consists of. The options of `if` and `do` are edges of one state, also if the first statement
//! of an option is another `if` or `do`. Graphs are built from the last statement to the first, so that each
//! knows what comes next; labels and the ends of atomic sequences are passed through by links that are followed at the end.

use super::fold::fold;
use super::ir::*;
use super::resolve::Resolver;
use crate::from_promela::syntax::{self, At, Binary, ExprKind, Name, Statement, StatementKind};
use std::collections::BTreeMap;

/// Control states of one proctype.
const MAX_NODES: usize = 20_000;

#[derive(Clone, Copy, Default)]
struct Region {
    /// The outermost `atomic` around.
    atomic: Option<usize>,
    dstep: Option<usize>,
    escape: Option<NodeId>,
}

/// A node while the graph is built.
#[derive(Default)]
struct Draft {
    node: Node,
    region: Region,
    /// A link: stands for another node. With what is left by following it.
    link: Option<(NodeId, Leaves)>,
}

/// Which atomic sequences and `d_step` a jump, or the end of a block, leaves.
#[derive(Clone, Copy)]
enum Leaves {
    Nothing,
    One(usize),
    /// Where it leads is outside of all of them, even if another one begins there.
    All,
}

impl Leaves {
    /// By a jump to this place.
    fn to(place: Region) -> Self {
        if place.atomic.is_none() && place.dstep.is_none() {
            Leaves::All
        } else {
            Leaves::Nothing
        }
    }

    fn has(self, region: usize) -> bool {
        match self {
            Leaves::Nothing => false,
            Leaves::One(one) => one == region,
            Leaves::All => true,
        }
    }
}

struct Labelled {
    node: NodeId,
    defined: bool,
    at: At,
    /// The `d_step` that it stands in.
    dstep: Option<usize>,
}

struct Builder<'r, 'p> {
    resolver: &'r Resolver<'p>,
    owner: Option<TemplateId>,
    drafts: Vec<Draft>,
    labels: BTreeMap<String, Labelled>,
    /// Labels that mark a state, whether it is ever reached or not.
    marks: Vec<(String, At)>,
    /// The targets of `goto`, each with the `d_step` that the jump stands in.
    jumps: Vec<(Name, Option<usize>)>,
    regions: usize,
}

#[derive(Clone, Copy)]
struct Context {
    next: NodeId,
    break_to: Option<NodeId>,
    region: Region,
    depth: usize,
}

/// A label in front of the first statement, or in front of what that begins with.
fn leading_label(mut first: &Statement) -> Option<&Name> {
    loop {
        if let Some(label) = first.labels.first() {
            return Some(label);
        }
        let (StatementKind::Block(body) | StatementKind::Atomic(body) | StatementKind::DStep(body)) =
            &first.kind
        else {
            return None;
        };
        first = first_of(body)?;
    }
}

/// Whether control may come back to the first statement, which is a loop.
fn comes_back(mut body: &[Statement]) -> bool {
    loop {
        match first_of(body).map(|first| &first.kind) {
            Some(StatementKind::Do(_)) => return true,
            Some(StatementKind::Block(inner) | StatementKind::Atomic(inner)) => body = inner,
            _ => return false,
        }
    }
}

/// What stands in front of `unless` or behind it, without its braces: for SPIN these are no state.
fn unwrapped(body: &[Statement]) -> &[Statement] {
    match body {
        [
            Statement {
                labels,
                kind: StatementKind::Block(inner),
                ..
            },
        ] if labels.is_empty() => inner,
        _ => body,
    }
}

/// The first statement that is one.
fn first_of(body: &[Statement]) -> Option<&Statement> {
    let mut statements = body.iter();
    statements.find(|s| !matches!(s.kind, StatementKind::Declare(_)))
}

fn jumps(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        StatementKind::Goto(_) | StatementKind::Break
    )
}

fn edge(at: At, action: Action, target: NodeId, region: Region) -> Edge {
    Edge {
        at,
        action,
        target,
        keeps: false,
        unless: Vec::new(),
        within: (region.atomic, region.dstep),
    }
}

/// The graph of a body: its nodes, the first one, and the end.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    pub entry: NodeId,
    /// All labels that mark a state, with their places; those of states that are never reached are in no node.
    pub marks: Vec<(String, At)>,
}

/// Builds the graph of a proctype or a claim.
pub(super) fn build(
    resolver: &Resolver<'_>,
    owner: Option<TemplateId>,
    body: &[Statement],
    end: At,
) -> Result<Graph> {
    let mut builder = Builder {
        resolver,
        owner,
        drafts: Vec::new(),
        labels: BTreeMap::new(),
        marks: Vec::new(),
        jumps: Vec::new(),
        regions: 0,
    };
    let last = builder.node(end, Region::default())?;
    builder.drafts[last.0].node.end = true;
    let skipped = body
        .iter()
        .take_while(|s| matches!(s.kind, StatementKind::Declare(_)))
        .count();
    for statement in &body[..skipped] {
        if let Some(label) = statement.labels.first() {
            return wrong(
                label.at,
                "a label in front of a declaration",
                "put it in front of a statement",
            );
        }
    }
    let context = Context {
        next: last,
        break_to: None,
        region: Region::default(),
        depth: 0,
    };
    let entry = builder.sequence(&body[skipped..], context)?;
    builder.finish(entry)
}

impl Builder<'_, '_> {
    fn node(&mut self, at: At, region: Region) -> Result<NodeId> {
        if self.drafts.len() >= MAX_NODES {
            return refuse(
                at,
                "a proctype with this many statements",
                "make it smaller",
            );
        }
        self.drafts.push(Draft {
            node: Node {
                at,
                ..Node::default()
            },
            region,
            link: None,
        });
        Ok(NodeId(self.drafts.len() - 1))
    }

    fn link(&mut self, to: NodeId, leaves: Leaves, at: At) -> Result<NodeId> {
        let id = self.node(at, Region::default())?;
        self.drafts[id.0].link = Some((to, leaves));
        Ok(id)
    }

    fn label(&mut self, name: &Name) -> Result<NodeId> {
        if let Some(found) = self.labels.get(&name.text) {
            return Ok(found.node);
        }
        let node = self.node(name.at, Region::default())?;
        self.labels.insert(
            name.text.clone(),
            Labelled {
                node,
                defined: false,
                at: name.at,
                dstep: None,
            },
        );
        Ok(node)
    }

    fn sequence(&mut self, body: &[Statement], context: Context) -> Result<NodeId> {
        let mut next = context.next;
        for statement in body.iter().rev() {
            next = self.statement(statement, Context { next, ..context })?;
        }
        Ok(next)
    }

    fn statement(&mut self, statement: &Statement, context: Context) -> Result<NodeId> {
        if context.depth > 250 {
            return refuse(
                statement.at,
                "statements nested this deeply",
                "use fewer levels",
            );
        }
        let mut entry = self.unlabelled(
            statement,
            Context {
                depth: context.depth + 1,
                ..context
            },
        )?;
        let jumps = jumps(statement);
        let special = |label: &syntax::Name| {
            let prefixes = ["accept", "end", "progress"];
            prefixes.iter().any(|p| label.text.starts_with(p))
        };
        let stops = jumps && statement.labels.iter().any(special);
        if stops {
            // SPIN puts a step in front of a jump with a label that means something.
            let next = entry;
            entry = self.simple(statement.at, Action::Skip, Context { next, ..context })?;
        }
        for label in &statement.labels {
            let id = self.label(label)?;
            let found = self.labels.get_mut(&label.text).map(|l| {
                l.dstep = context.region.dstep;
                std::mem::replace(&mut l.defined, true)
            });
            if found == Some(true) {
                return wrong(
                    label.at,
                    format!("the label `{}` stands twice", label.text),
                    "give one another name",
                );
            }
            self.drafts[id.0].link = Some((entry, Leaves::to(context.region)));
            // Another label of `goto` or `break` marks no state: control passes.
            let passes = jumps && !stops;
            if !passes && self.drafts[entry.0].link.is_none() && entry != context.next {
                self.drafts[entry.0].node.labels.push(label.text.clone());
                self.marks.push((label.text.clone(), label.at));
            }
        }
        Ok(entry)
    }

    /// The statements of `{ }` or `atomic`. For SPIN the sequence is a state apart from its first statement, so a jump that it begins with is a step, and
    /// so are there two states if control may come back to the first statement.
    fn block(&mut self, at: At, body: &[Statement], context: Context) -> Result<NodeId> {
        let next = self.sequence(body, context)?;
        match first_of(body) {
            Some(first) if jumps(first) => {
                self.simple(first.at, Action::Skip, Context { next, ..context })
            }
            _ if self.drafts[next.0].link.is_none() && comes_back(body) => {
                let apart = self.node(at, context.region)?;
                let edges = self.drafts[next.0].node.edges.clone();
                self.drafts[apart.0].node.edges = edges;
                Ok(apart)
            }
            _ => Ok(next),
        }
    }

    /// A state with one edge.
    fn simple(&mut self, at: At, action: Action, context: Context) -> Result<NodeId> {
        let id = self.node(at, context.region)?;
        let edge = edge(at, action, context.next, context.region);
        self.drafts[id.0].node.edges.push(edge);
        Ok(id)
    }

    fn options(
        &mut self,
        at: At,
        options: &[Vec<Statement>],
        into: NodeId,
        context: Context,
    ) -> Result<()> {
        // SPIN tries them in order, with an option that begins with `else` itself at the end.
        let is_else = |option: &&Vec<Statement>| {
            let first = option.first();
            first.is_some_and(|first| matches!(first.kind, StatementKind::Else))
        };
        let (last, before): (Vec<_>, Vec<_>) = options.iter().partition(is_else);
        for option in before.into_iter().chain(last) {
            let Some(first) = first_of(option) else {
                return wrong(at, "an option without a statement", "write `skip`");
            };
            if let Some(label) = leading_label(first) {
                return wrong(
                    label.at,
                    "a label in front of the first statement of an option",
                    "put it in front of the `if` or `do`",
                );
            }
            let entry = self.sequence(option, context)?;
            if self.drafts[entry.0].link.is_none()
                && self.drafts[entry.0].region.escape != context.region.escape
            {
                return refuse(
                    first.at,
                    "`unless` as the first statement of an option",
                    "put `skip` in front of it",
                );
            }
            if self.drafts[entry.0].link.is_some() || jumps(first) {
                // Nothing but a jump: that is a step.
                let jump = edge(first.at, Action::Skip, entry, context.region);
                self.drafts[into.0].node.edges.push(jump);
                continue;
            }
            let edges = self.drafts[entry.0].node.edges.clone();
            self.drafts[into.0].node.edges.extend(edges);
            if self.drafts[into.0].node.edges.len() > 1000 {
                return refuse(
                    at,
                    "an `if` or `do` with more than 1000 options",
                    "make it smaller",
                );
            }
        }
        let edges = &self.drafts[into.0].node.edges;
        let is_else = |edge: &&Edge| matches!(edge.action, Action::Else);
        if edges.iter().filter(is_else).count() > 1 {
            return refuse(
                at,
                "two `else` in one place: one in the first statement of an option of the other",
                "put `skip` in front of the inner `if`",
            );
        }
        let before = edges.split_last().map_or(&[][..], |(_, before)| before);
        if let Some(edge) = before.iter().find(is_else) {
            return refuse(
                edge.at,
                "`else` inside the first statement of an option that is not the last",
                "put that option last: SPIN does not look at those behind it before it takes this `else`",
            );
        }
        Ok(())
    }

    fn expr(&self, e: &syntax::Expr) -> Result<Expr> {
        self.resolver.expr(e, self.owner)
    }

    /// What is printed is evaluated, which may fail.
    fn printed(&self, values: &[syntax::Expr]) -> Result<Action> {
        let mut all: Option<Expr> = None;
        for value in values {
            let at = value.at;
            let value = self.expr(value)?;
            let mut may_fail = false;
            value.walk(&mut |part| {
                may_fail |= match part {
                    Expr::Var(cell) => !cell.indices.is_empty(),
                    Expr::Chan(c) => !c.indices.is_empty(),
                    Expr::Bin(Binary::Div | Binary::Mod, ..)
                    | Expr::Length(_)
                    | Expr::Full(_)
                    | Expr::Empty(_)
                    | Expr::Poll { .. }
                    | Expr::RemoteLabel { .. }
                    | Expr::RemoteVar { .. } => true,
                    Expr::Num(_)
                    | Expr::Member(..)
                    | Expr::Pid(_)
                    | Expr::NrPr
                    | Expr::Timeout(_)
                    | Expr::Not(_)
                    | Expr::Minus(_)
                    | Expr::Bin(..)
                    | Expr::Cond(..) => false,
                }
            });
            if may_fail {
                let same = Expr::Bin(Binary::Equal, Box::new(value.clone()), Box::new(value), at);
                all = Some(match all {
                    None => same,
                    Some(all) => Expr::Bin(Binary::And, Box::new(all), Box::new(same), at),
                });
            }
        }
        Ok(all.map_or(Action::Skip, Action::Assert))
    }

    fn run(&self, e: &syntax::Expr, result: Option<Cell>) -> Result<Option<Action>> {
        let ExprKind::Run { name, arguments } = &e.kind else {
            return Ok(None);
        };
        let Some(template) = self.resolver.template_of.get(&name.text).copied() else {
            return wrong(
                name.at,
                format!("there is no proctype `{}`", name.text),
                "name a declared proctype",
            );
        };
        let wanted = self.resolver.program.templates[template.0].parameters.len();
        if arguments.len() != wanted {
            return wrong(
                e.at,
                format!(
                    "`{}` has {wanted} parameters, here are {} arguments",
                    name.text,
                    arguments.len()
                ),
                "give one argument for each parameter",
            );
        }
        let arguments = arguments
            .iter()
            .map(|a| self.expr(a))
            .collect::<Result<Vec<_>>>()?;
        Ok(Some(Action::Run {
            template,
            arguments,
            result,
            at: e.at,
        }))
    }

    fn unlabelled(&mut self, statement: &Statement, context: Context) -> Result<NodeId> {
        let at = statement.at;
        match &statement.kind {
            // Initial values of what is declared between statements are assignments of the tree.
            StatementKind::Declare(_) => Ok(context.next),
            StatementKind::Assign(place, value) => {
                let cell = self.resolver.cell(place, self.owner)?;
                let action = match self.run(value, Some(cell.clone()))? {
                    Some(run) => run,
                    None => Action::Assign(cell, self.expr(value)?),
                };
                self.simple(at, action, context)
            }
            StatementKind::Add(place, by) => {
                let cell = self.resolver.cell(place, self.owner)?;
                let (op, by) = if *by < 0 {
                    (Binary::Sub, -by)
                } else {
                    (Binary::Add, *by)
                };
                let value = Expr::Bin(
                    op,
                    Box::new(Expr::Var(cell.clone())),
                    Box::new(Expr::Num(by)),
                    at,
                );
                self.simple(at, Action::Assign(cell, value), context)
            }
            StatementKind::Test(e) => {
                let action = match self.run(e, None)? {
                    Some(run) => run,
                    None => match fold(&self.expr(e)?) {
                        Expr::Num(n) if n != 0 => Action::Skip,
                        other => Action::Test(other),
                    },
                };
                self.simple(at, action, context)
            }
            StatementKind::Assert(e) => {
                let e = self.expr(e)?;
                self.simple(at, Action::Assert(e), context)
            }
            StatementKind::Print(values) => {
                let action = self.printed(values)?;
                self.simple(at, action, context)
            }
            StatementKind::Else => self.simple(at, Action::Else, context),
            StatementKind::If(options) => {
                let id = self.node(at, context.region)?;
                self.options(at, options, id, context)?;
                Ok(id)
            }
            StatementKind::Do(options) => {
                let id = self.node(at, context.region)?;
                let behind = self.link(context.next, Leaves::to(context.region), at)?;
                let inner = Context {
                    next: id,
                    break_to: Some(behind),
                    ..context
                };
                self.options(at, options, id, inner)?;
                Ok(id)
            }
            StatementKind::Break => match context.break_to {
                Some(target) => self.link(target, Leaves::Nothing, at),
                None => wrong(at, "`break` outside `do`", "use `goto`"),
            },
            StatementKind::Goto(name) => {
                let target = self.label(name)?;
                self.jumps.push((name.clone(), context.region.dstep));
                self.link(target, Leaves::Nothing, at)
            }
            StatementKind::Send {
                channel,
                sorted,
                values,
            } => {
                let action = Action::Send {
                    channel: self.resolver.channel(channel, self.owner)?,
                    sorted: *sorted,
                    values: self.resolver.values(values, self.owner)?,
                };
                self.simple(at, action, context)
            }
            StatementKind::Receive {
                channel,
                random,
                copy,
                patterns,
            } => {
                let action = Action::Receive {
                    channel: self.resolver.channel(channel, self.owner)?,
                    random: *random,
                    copy: *copy,
                    patterns: self.resolver.patterns(patterns, self.owner)?,
                };
                self.simple(at, action, context)
            }
            StatementKind::Block(body) => self.block(at, body, context),
            StatementKind::Atomic(body) => {
                if context.region.atomic.is_some() || context.region.dstep.is_some() {
                    return self.block(at, body, context);
                }
                self.regions += 1;
                let region = Region {
                    atomic: Some(self.regions),
                    ..context.region
                };
                let next = self.link(context.next, Leaves::One(self.regions), at)?;
                self.block(
                    at,
                    body,
                    Context {
                        next,
                        region,
                        ..context
                    },
                )
            }
            StatementKind::DStep(body) => self.d_step(at, body, context),
            StatementKind::Unless(body, escape) => self.unless(at, body, escape, context),
        }
    }

    fn d_step(&mut self, at: At, body: &[Statement], context: Context) -> Result<NodeId> {
        if context.region.dstep.is_some() {
            return self.sequence(body, context);
        }
        self.regions += 1;
        let region = Region {
            dstep: Some(self.regions),
            escape: None,
            ..context.region
        };
        let next = self.link(context.next, Leaves::One(self.regions), at)?;
        let entry = self.sequence(
            body,
            Context {
                next,
                region,
                break_to: None,
                ..context
            },
        )?;
        // A receive is the step itself, since a rendezvous may begin a `d_step`. Nothing leads back to it.
        let receives = |e: &Edge| matches!(e.action, Action::Receive { .. });
        match &self.drafts[entry.0].node.edges[..] {
            [only] if receives(only) && self.drafts[entry.0].link.is_none() => {
                let first = only.clone();
                let id = self.node(at, context.region)?;
                self.drafts[id.0].node.edges.push(first);
                Ok(id)
            }
            _ => self.simple(at, Action::Deterministic(entry), context),
        }
    }

    fn unless(
        &mut self,
        at: At,
        body: &[Statement],
        escape: &[Statement],
        context: Context,
    ) -> Result<NodeId> {
        if context.region.escape.is_some() {
            return refuse(
                at,
                "`unless` inside `unless`",
                "write one of them as an option with a guard",
            );
        }
        if context.region.dstep.is_some() || context.region.atomic.is_some() {
            return refuse(
                at,
                "`unless` inside `atomic` or `d_step`",
                "take it out of the sequence",
            );
        }
        let entry = self.sequence(unwrapped(escape), context)?;
        if self.drafts[entry.0].region.escape.is_some() {
            return refuse(
                at,
                "`unless` as the first statement behind `unless`",
                "put its condition in front of it",
            );
        }
        if self.drafts[entry.0].link.is_some() {
            return refuse(
                at,
                "`unless` followed by a mere jump",
                "put a guard in front of it",
            );
        }
        if let Some(else_) = self.drafts[entry.0]
            .node
            .edges
            .iter()
            .find(|e| matches!(e.action, Action::Else))
        {
            return refuse(
                else_.at,
                "`else` as the guard of `unless`",
                "write the condition",
            );
        }
        let region = Region {
            escape: Some(entry),
            ..context.region
        };
        self.sequence(unwrapped(body), Context { region, ..context })
    }

    /// Follows links, with the sequences that are left on the way.
    fn follow(&self, mut id: NodeId) -> Result<(NodeId, Vec<Leaves>)> {
        let mut left = Vec::new();
        let mut steps = 0;
        while let Some((next, leaves)) = self.drafts[id.0].link {
            left.push(leaves);
            steps += 1;
            if steps > self.drafts.len() {
                return wrong(
                    self.drafts[id.0].node.at,
                    "a jump that only leads to itself",
                    "put a statement in between",
                );
            }
            id = next;
        }
        Ok((id, left))
    }

    /// Resolves links, adds escapes, drops what is never reached and numbers the rest in order of the text.
    fn finish(mut self, entry: NodeId) -> Result<Graph> {
        for (name, label) in &self.labels {
            if !label.defined {
                return wrong(
                    label.at,
                    format!("there is no label `{name}` here"),
                    "put the label in front of a statement",
                );
            }
        }
        for (target, dstep) in &self.jumps {
            if self.labels.get(&target.text).map(|label| label.dstep) != Some(*dstep) {
                return wrong(
                    target.at,
                    "a jump into or out of `d_step`",
                    "use `atomic`, or jump behind the sequence",
                );
            }
        }
        for at in 0..self.drafts.len() {
            let region = self.drafts[at].region;
            let mut edges = std::mem::take(&mut self.drafts[at].node.edges);
            for edge in &mut edges {
                let (target, left) = self.follow(edge.target)?;
                edge.target = target;
                let goes_on = self.drafts[target.0].region;
                let stays = |r: Option<usize>| r.is_some_and(|r| !left.iter().any(|l| l.has(r)));
                let (atomic, dstep) = edge.within;
                let in_atomic =
                    stays(atomic) && (goes_on.atomic.is_some() || goes_on.dstep.is_some());
                edge.keeps = in_atomic || stays(dstep);
                if let Action::Deterministic(first) = &mut edge.action {
                    *first = self.follow(*first)?.0;
                }
            }
            let node = &mut self.drafts[at].node;
            node.edges = edges;
            node.deterministic = region.dstep.is_some();
            node.atomic = region.atomic.is_some() || region.dstep.is_some();
        }
        for at in 0..self.drafts.len() {
            if let Some(escape) = self.drafts[at].region.escape {
                let more = self.drafts[escape.0].node.edges.clone();
                let node = &mut self.drafts[at].node;
                node.edges.iter_mut().for_each(|e| e.unless.push(escape));
                node.edges.splice(0..0, more);
            }
        }
        let entry = self.follow(entry)?.0;
        let mut reached = vec![false; self.drafts.len()];
        let mut open = vec![entry];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut reached[id.0], true) {
                continue;
            }
            for edge in &self.drafts[id.0].node.edges {
                if let Action::Deterministic(first) = edge.action {
                    open.push(first);
                }
                open.push(edge.target);
                open.extend(&edge.unless);
            }
        }
        let mut order: Vec<usize> = (0..self.drafts.len()).filter(|at| reached[*at]).collect();
        // Built from the back: of two nodes at one place, such as those of `for`, the later one comes first.
        order.sort_by_key(|at| {
            let node = &self.drafts[*at].node;
            (
                node.end,
                node.at.file != 0,
                node.at.start,
                std::cmp::Reverse(*at),
            )
        });
        let mut number = vec![NodeId(0); self.drafts.len()];
        for (new, old) in order.iter().enumerate() {
            number[*old] = NodeId(new);
        }
        let mut nodes = Vec::new();
        for old in order {
            let mut node = std::mem::take(&mut self.drafts[old].node);
            for edge in &mut node.edges {
                edge.target = number[edge.target.0];
                edge.unless.iter_mut().for_each(|id| *id = number[id.0]);
                if let Action::Deterministic(first) = &mut edge.action {
                    *first = number[first.0];
                }
            }
            nodes.push(node);
        }
        Ok(Graph {
            entry: number[entry.0],
            nodes,
            marks: self.marks,
        })
    }
}
