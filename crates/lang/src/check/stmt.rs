//! Statements: the body of a template becomes blocks of checked statements, macros expanded.

use super::*;
use crate::rounds::{Dependence, Tie, independent};
use crate::syntax::{child, exprs, names, span};

/// How many statements and arguments macros may expand to, in all templates together.
pub(super) const MAX_EXPANDED: usize = 100_000;

/// What surrounds a statement.
#[derive(Clone, Copy)]
struct Around {
    template: TemplateId,
    in_loop: bool,
    /// The kind of block, if labels are not allowed in it.
    one_step: Option<&'static str>,
}

impl Checker {
    /// Finds the locations of a template, if nobody has yet: its labels, then `done`.
    pub(super) fn template_locations(&mut self, id: TemplateId) {
        if !self.program.templates[id].locations.is_empty() {
            return;
        }
        let node = self.template_nodes[id].clone();
        let mut found = Vec::new();
        self.collect_labels(&node, &mut Vec::new(), &mut 0, &mut found);
        let mut locations: IndexVec<LocationId, Location> = IndexVec::new();
        for label in found {
            let at = token_span(&label);
            if label.text() == "done" {
                self.report(
                    Diagnostic::new(
                        Code::ReservedName,
                        at,
                        "`done` is the location of a process that has ended",
                    )
                    .label("choose another label"),
                );
                continue;
            }
            if let Some(first) = self.labels[id].get(label.text()) {
                let first = locations[*first].span;
                let mut diagnostic = Diagnostic::new(
                    Code::LabelTwice,
                    at,
                    format!("the label `{}` stands twice in this process", label.text()),
                )
                .label("the second")
                .related(first, "the first");
                if !node.text_range().contains_range(label.text_range()) {
                    diagnostic =
                        diagnostic.help("a macro with a label can be used once in a process");
                }
                self.report(diagnostic);
                continue;
            }
            let scope = label_scope(&label).unwrap_or(at);
            let owner = self.program.templates[id].span;
            let kind = SymbolKind::Label;
            self.names
                .declare(label.text(), at, kind, scope, Some(owner));
            let location = locations.push(Location {
                name: text(&label),
                span: at,
            });
            self.labels[id].insert(text(&label), location);
        }
        locations.push(Location {
            name: "done".to_owned(),
            span: self.program.templates[id].span,
        });
        self.program.templates[id].locations = locations;
    }

    /// The location of processes that have ended.
    pub(super) fn location_of_done(&mut self, id: TemplateId) -> LocationId {
        self.template_locations(id);
        self.program.templates[id].done()
    }

    /// A call of something that is not declared; perhaps a statement is meant: `wait(x)`, `asert(x)`.
    fn unknown_statement(&mut self, callee: &SyntaxToken, call: &SyntaxNode) {
        let word = callee.text();
        let statements = SyntaxKind::all().filter(|kind| kind.starts_statement());
        let words = statements.filter_map(|kind| kind.text().map(str::to_owned));
        let mut candidates = self.names_of(|global| matches!(global, Global::Macro(_)));
        let own = crate::suggest::closest(word, candidates.iter().cloned());
        let Some(meant) = crate::syntax::foreign_statement(word).filter(|_| own.is_none()) else {
            candidates.extend(words);
            return self.unknown(Code::UnknownFunction, "the macro", callee, candidates);
        };
        let message = format!("`{word}` is not declared");
        let found = Diagnostic::new(Code::UnknownFunction, token_span(callee), message);
        let (found, rest) = match meant {
            "await" => (found.label("`await` waits for a condition"), "await e;"),
            "lock" | "unlock" => (found.label(format!("`{meant}` does this")), "lock m;"),
            "skip" => {
                let found = found.label("a model has no such step");
                let found = found.help("leave it out, or write `skip;`");
                return self.report(found.fix_at(span(call), "skip"));
            }
            _ => (found.label(format!("`{meant}` does this")), "assert e;"),
        };
        let rest = if meant == "unlock" { "unlock m;" } else { rest };
        self.report(found.help(format!("write `{rest}`")).fix(meant));
    }

    pub(super) fn template_body(&mut self, id: TemplateId) {
        let node = self.template_nodes[id].clone();
        let around = Around {
            template: id,
            in_loop: false,
            one_step: None,
        };
        self.incomplete = false;
        let body = self.statements(&node, around, &Scope::default());
        self.program.templates[id].body = body;
        // With statements missing, what control flow there is says little.
        if !self.incomplete {
            self.check_flow(id);
        }
    }

    /// The labels in a node, in order, those of called macros included.
    fn collect_labels(
        &self,
        node: &SyntaxNode,
        open: &mut Vec<usize>,
        budget: &mut usize,
        found: &mut Vec<SyntaxToken>,
    ) {
        for inner in node.descendants() {
            match inner.kind() {
                SyntaxKind::Label => found.extend(names(&inner).next()),
                SyntaxKind::CallStmt => {
                    let Some(index) = self.called_macro(&inner) else {
                        continue;
                    };
                    *budget += 1;
                    if open.contains(&index) || open.len() > MAX_DEPTH || *budget > MAX_EXPANDED {
                        continue;
                    }
                    open.push(index);
                    let body = self.macros[index].node.clone();
                    self.collect_labels(&body, open, budget, found);
                    open.pop();
                }
                _ => {}
            }
        }
    }

    fn called_macro(&self, call: &SyntaxNode) -> Option<usize> {
        let call = child(call, SyntaxKind::CallExpr)?;
        let name = names(&call).next()?;
        match self.globals.get(name.text()) {
            Some((Global::Macro(index), _)) => Some(*index),
            _ => None,
        }
    }

    /// Whether a node contains a label, called macros included.
    fn has_label(&mut self, node: &SyntaxNode, depth: usize) -> bool {
        node.descendants().any(|inner| match inner.kind() {
            SyntaxKind::Label => true,
            SyntaxKind::CallStmt => match self.called_macro(&inner) {
                Some(index) if depth <= MAX_DEPTH => match self.macro_labels.get(&index) {
                    Some(known) => *known,
                    None => {
                        // Until it is known: a macro that leads back to itself adds no label.
                        self.macro_labels.insert(index, false);
                        let body = self.macros[index].node.clone();
                        let found = self.has_label(&body, depth + 1);
                        self.macro_labels.insert(index, found);
                        found
                    }
                },
                _ => false,
            },
            _ => false,
        })
    }

    fn statements(&mut self, node: &SyntaxNode, around: Around, scope: &Scope) -> Block {
        node.children()
            .filter(|child| child.kind().is_statement())
            .filter_map(|child| {
                let stmt = self.statement(&child, around, scope);
                self.incomplete |= stmt.is_none();
                stmt
            })
            .collect()
    }

    fn block(&mut self, node: &SyntaxNode, around: Around, scope: &Scope) -> Block {
        match block_of(node) {
            Some(block) => self.statements(&block, around, scope),
            None => Vec::new(),
        }
    }

    fn statement(&mut self, node: &SyntaxNode, around: Around, scope: &Scope) -> Option<Stmt> {
        let mut at = span(node);
        let mut label = None;
        if let Some(marker) = child(node, SyntaxKind::Label) {
            let first = node
                .children_with_tokens()
                .skip_while(|element| element.kind() != SyntaxKind::Label)
                .skip(1)
                .find(|element| !element.kind().is_trivia());
            if let Some(first) = first {
                at.start = first.text_range().start().into();
            }
            if let Some(block) = around.one_step {
                self.report(
                    Diagnostic::new(
                        Code::LabelInside,
                        span(&marker),
                        format!("a label inside {block}"),
                    )
                    .label("a label would end the step")
                    .help("move it out of the block"),
                );
                return None;
            }
            let name = names(&marker).next()?;
            label = self.labels[around.template].get(name.text()).copied();
        }
        let kind = self.deeper(at, |checker| checker.statement_kind(node, around, scope))?;
        Some(Stmt {
            label,
            kind,
            span: at,
            note: None,
        })
    }

    fn statement_kind(
        &mut self,
        node: &SyntaxNode,
        around: Around,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let site = Site::Program(around.template);
        let in_loop = Around {
            in_loop: true,
            ..around
        };
        match node.kind() {
            SyntaxKind::Assign => self.assign(node, site, scope),
            SyntaxKind::Await | SyntaxKind::Assert => {
                let condition = exprs(node).next()?;
                let condition = self.expect_type(&condition, ExprType::Bool, site, scope)?;
                Some(if node.kind() == SyntaxKind::Await {
                    StmtKind::Await(condition)
                } else {
                    StmtKind::Assert(condition)
                })
            }
            SyntaxKind::Skip => Some(StmtKind::Skip),
            SyntaxKind::Stay => Some(StmtKind::Stay),
            SyntaxKind::Return => Some(StmtKind::Return),
            SyntaxKind::Break => {
                if !around.in_loop {
                    let message = "`break` outside a loop";
                    let refused = Diagnostic::new(Code::BreakOutsideLoop, span(node), message);
                    self.report(refused.label("no loop to leave"));
                    return None;
                }
                Some(StmtKind::Break)
            }
            SyntaxKind::Havoc => self.havoc(node, site, scope),
            SyntaxKind::Lock | SyntaxKind::Unlock => {
                let place = exprs(node).next()?;
                let place = self.mutex_place(&place, site, scope)?;
                self.mark_read(&place, site);
                Some(if node.kind() == SyntaxKind::Lock {
                    StmtKind::Lock(place)
                } else {
                    StmtKind::Unlock(place)
                })
            }
            SyntaxKind::Start => self.start(node, site, scope),
            SyntaxKind::Goto => self.goto(node, around.template),
            SyntaxKind::If => self.branches(node, around, scope),
            SyntaxKind::Choose => {
                let blocks = blocks(node).map(|block| self.statements(&block, around, scope));
                Some(StmtKind::Choose(blocks.collect()))
            }
            SyntaxKind::ChooseIn => {
                let (bound, domain, inner) = self.bound_block(node, site, scope)?;
                let around = Around {
                    one_step: Some("`choose .. in`"),
                    ..around
                };
                let body = self.block(node, around, &inner);
                Some(StmtKind::ChooseIn(bound, domain, body))
            }
            SyntaxKind::While => {
                let condition = exprs(node).next()?;
                let condition = self.expect_type(&condition, ExprType::Bool, site, scope);
                let body = self.block(node, in_loop, scope);
                Some(StmtKind::While(condition?, body))
            }
            SyntaxKind::Loop => Some(StmtKind::Loop(self.block(node, in_loop, scope))),
            SyntaxKind::For => self.for_loop(node, in_loop, scope),
            SyntaxKind::Atomic => {
                let around = Around {
                    one_step: Some("`atomic`"),
                    ..around
                };
                let body = self.block(node, around, scope);
                Some(StmtKind::Group { atomic: true, body })
            }
            SyntaxKind::CallStmt => self.call_statement(node, around, scope),
            _ => None,
        }
    }

    fn start(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<StmtKind> {
        let name = names(node).next()?;
        let text = name.text();
        let refused = match self.global(&name) {
            Some(Global::Template(id))
                if matches!(self.program.templates[id].instances, Instances::Dynamic) =>
            {
                return self.arguments(&name, id, node, site, scope);
            }
            Some(Global::Template(_)) => {
                let message = format!("the processes of `{text}` all run from the beginning");
                let help = format!("a template to start is declared `process {text}[] {{ .. }}`");
                Diagnostic::new(Code::StartNotDynamic, token_span(&name), message).help(help)
            }
            Some(_) => {
                let message = format!("`{text}` is no process template");
                Diagnostic::new(Code::NotAProcess, token_span(&name), message)
            }
            None => {
                let candidates = self.names_of(|global| matches!(global, Global::Template(_)));
                self.unknown(Code::NotAProcess, "the template", &name, candidates);
                return None;
            }
        };
        self.report(refused.label("cannot be started"));
        None
    }

    /// What a process is given that is started.
    fn arguments(
        &mut self,
        name: &SyntaxToken,
        id: TemplateId,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let given: Vec<SyntaxNode> = exprs(node).collect();
        let parameters = self.program.templates[id].parameters();
        let parameters: Vec<(LocalId, Scalar)> = parameters
            .map(|(local, variable)| (local, variable.scalar.clone()))
            .collect();
        self.arity(name, given.len(), parameters.len())?;
        let mut values = Vec::new();
        for (given, (local, scalar)) in given.iter().zip(parameters) {
            if self.broken_locals.contains(&(id, local)) {
                return None;
            }
            let value = self.expect_type(given, scalar.ty()?, site, scope)?;
            self.check_constant_range(&value, &scalar);
            values.push(value);
        }
        Some(StmtKind::Start(id, values))
    }

    fn goto(&mut self, node: &SyntaxNode, template: TemplateId) -> Option<StmtKind> {
        let name = names(node).next()?;
        if let Some(location) = self.labels[template].get(name.text()) {
            let declared = self.program.templates[template].locations[*location].span;
            self.names.resolve(token_span(&name), declared);
            return Some(StmtKind::Goto(*location));
        }
        if name.text() == "done" {
            let message = "`done` is no label to go to";
            let refused = Diagnostic::new(Code::UnknownLabel, token_span(&name), message);
            let refused = refused.label("the end of a process");
            self.report(refused.help("write `return`"));
            return None;
        }
        let candidates: Vec<String> = self.labels[template].keys().cloned().collect();
        self.unknown(Code::UnknownLabel, "the label", &name, candidates);
        None
    }

    fn branches(&mut self, node: &SyntaxNode, around: Around, scope: &Scope) -> Option<StmtKind> {
        let site = Site::Program(around.template);
        let conditions: Vec<SyntaxNode> = exprs(node).collect();
        let blocks: Vec<SyntaxNode> = blocks(node).collect();
        let mut branches = Vec::new();
        let mut complete = true;
        for (condition, block) in conditions.iter().zip(&blocks) {
            let condition = self.expect_type(condition, ExprType::Bool, site, scope);
            let body = self.statements(block, around, scope);
            match condition {
                Some(condition) => branches.push((condition, body)),
                None => complete = false,
            }
        }
        let otherwise = match blocks.get(conditions.len()) {
            Some(block) => self.statements(block, around, scope),
            None => Vec::new(),
        };
        complete.then_some(StmtKind::If(branches, otherwise))
    }

    /// The variable and domain of `choose k in D` or `for k in D`.
    fn bound_block(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<(BoundId, Domain, Scope)> {
        let name = names(node).next()?;
        let domain = child(node, SyntaxKind::Domain)?;
        let domain = self.domain(&domain, site, scope)?;
        self.shadow_check(&name, site);
        let ty = domain.ty();
        let kind = SymbolKind::Bound;
        let bound = self.new_bound(&name, ty, Some(domain.clone()), kind, node);
        let mut inner = scope.clone();
        inner.inner.push((text(&name), Inner::Bound(bound)));
        Some((bound, domain, inner))
    }

    fn for_loop(&mut self, node: &SyntaxNode, around: Around, scope: &Scope) -> Option<StmtKind> {
        let site = Site::Program(around.template);
        let domain_node = child(node, SyntaxKind::Domain)?;
        let name = names(node).next()?;
        if !self.has_label(node.children().last().as_ref()?, 0) {
            let (bound, domain, inner) = self.bound_block(node, site, scope)?;
            let before = std::mem::take(&mut self.incomplete);
            let body = self.block(node, around, &inner);
            // With statements missing, what the rounds do is not known.
            if let Domain::Template(id) = domain
                && self.program.templates[id].order == IdOrder::Unordered
                && !self.incomplete
                && let Err(found) = independent(&self.program, around.template, bound, id, &body)
            {
                self.dependent_rounds(around.template, id, (&domain_node, name.text()), found);
            }
            self.incomplete |= before;
            return Some(StmtKind::For(bound, domain, body));
        }
        let domain = self.domain(&domain_node, site, scope)?;
        if let Domain::Template(id) = domain
            && self.program.templates[id].order == IdOrder::Unordered
        {
            let why = "this loop stops between two of them";
            let refused = self.no_order(id, &domain_node, why);
            let help = "a loop without labels inside can do the same for all of them at once; to go through them one by one, declare";
            let name = &self.program.templates[id].name;
            self.report(refused.help(format!("{help} `ordered process {name}[..]`")));
            return None;
        }
        self.shadow_check(&name, site);
        let counter = self.loop_counter(around.template, &name, &domain)?;
        let owner = self.program.templates[around.template].span;
        let (at, kind) = (token_span(&name), SymbolKind::Counter);
        self.names
            .declare(name.text(), at, kind, span(node), Some(owner));
        let mut inner = scope.clone();
        inner.inner.push((text(&name), Inner::Counter(counter)));
        let body = self.block(node, around, &inner);
        Some(StmtKind::ForLabelled(counter, domain, body))
    }

    /// A loop over ids without an order whose rounds are not done all at once.
    fn no_order(&self, template: TemplateId, domain: &SyntaxNode, why: &str) -> Diagnostic {
        let template = &self.program.templates[template].name;
        let message = format!("the ids of `{template}` have no order to go through, and {why}");
        Diagnostic::new(Code::UnorderedFor, span(domain), message).label("unordered")
    }

    /// A loop over ids without an order whose rounds may influence one another.
    fn dependent_rounds(
        &mut self,
        own: TemplateId,
        template: TemplateId,
        (domain, round): (&SyntaxNode, &str),
        found: Dependence,
    ) {
        let program = &self.program;
        let named = |var| match var {
            VarRef::Shared(var) => &program.shared[var],
            VarRef::Local(var) => &program.templates[own].locals[var],
        };
        let ordered = format!(
            "or declare `ordered process {}[..]`",
            program.templates[template].name
        );
        let (why, here, help) = match found.tie {
            Tie::Statement => (
                "this cannot be done for all of them at once".to_owned(),
                "this depends on the order".to_owned(),
                format!(
                    "assign, test and assert for every `{round}`; to wait for all of them, write `await forall`; {ordered}"
                ),
            ),
            Tie::Write(var) => {
                let name = &named(var).name;
                (
                    format!("rounds of this loop write the same cell of `{name}`"),
                    format!("not the cell of `{round}` alone"),
                    format!(
                        "write only entries of arrays over the ids, each at index `{round}`; {ordered}"
                    ),
                )
            }
            Tie::Read(var) => {
                let name = &named(var).name;
                (
                    format!("a round of this loop reads what another one writes to `{name}`"),
                    format!(
                        "`{name}` is written in this loop, and this may be another entry than that of `{round}`"
                    ),
                    format!(
                        "where the loop writes an array, read it at index `{round}` only; {ordered}"
                    ),
                )
            }
        };
        let refused = self.no_order(template, domain, &why);
        self.report(refused.related(found.span, here).help(help));
    }

    /// The hidden local of a `for` loop with labels inside.
    fn loop_counter(
        &mut self,
        template: TemplateId,
        name: &SyntaxToken,
        domain: &Domain,
    ) -> Option<LocalId> {
        let at = token_span(name);
        let expr = |kind, ty| Expr { kind, ty, span: at };
        let (scalar, least) = match domain {
            Domain::Range(lo, hi) => {
                // The loop may be empty, but its counter must have a value.
                let top = expr(
                    ExprKind::Arith(
                        ArithOp::Max,
                        Box::new((**lo).clone()),
                        Box::new((**hi).clone()),
                    ),
                    ExprType::Int,
                );
                (Scalar::Range(lo.clone(), Arc::new(top)), (**lo).clone())
            }
            Domain::Enum(id) => (
                Scalar::Enum(*id),
                expr(ExprKind::Member(0), ExprType::Enum(*id)),
            ),
            Domain::Template(id) => {
                let Instances::Range(lo, _) = &self.program.templates[*id].instances else {
                    return None;
                };
                let least = expr(ExprKind::IntToId(Box::new(lo.clone())), ExprType::Id(*id));
                (Scalar::Id(*id), least)
            }
        };
        // Two loops may use one name; in states and traces the second is `k_2`.
        let mut unique = text(name);
        let last = self.loops_named.entry((template, text(name))).or_insert(1);
        while self.local_names[template].contains_key(&unique)
            || self.local_compounds[template].contains_key(&unique)
        {
            *last += 1;
            unique = format!("{}_{last}", name.text());
        }
        let id = self.program.templates[template].locals.push(Variable {
            name: unique.clone(),
            dims: Vec::new(),
            scalar,
            initial: Initial::Value(least),
            loop_counter: true,
            span: at,
        });
        self.local_names[template].insert(unique, id);
        // Whether the body reads it or not, it counts the rounds.
        self.used.locals.insert((template, id));
        Some(id)
    }

    // ---- macros ----

    fn call_statement(
        &mut self,
        node: &SyntaxNode,
        around: Around,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let call = child(node, SyntaxKind::CallExpr)?;
        let callee = names(&call).next()?;
        if matches!(callee.text(), "cas" | "swap" | "fetch_add") {
            return self.primitive(&call, None, Site::Program(around.template), scope);
        }
        if self.of_queues(callee.text()) && matches!(callee.text(), "send" | "receive") {
            let site = Site::Program(around.template);
            return match callee.text() {
                "send" => self.send(&callee, &call, site, scope),
                _ => self.receive((&callee, &call), None, span(&call), site, scope),
            };
        }
        let index = match self.global(&callee) {
            Some(Global::Macro(index)) => index,
            Some(Global::Def(_)) => {
                self.report(
                    Diagnostic::new(
                        Code::UnknownFunction,
                        token_span(&callee),
                        format!("`{}` is a definition, not a macro", callee.text()),
                    )
                    .label("a value, not a statement"),
                );
                return None;
            }
            _ => {
                self.unknown_statement(&callee, &call);
                return None;
            }
        };
        let args: Vec<SyntaxNode> = exprs(&call).collect();
        let params = self.macros[index].params.clone();
        self.arity(&callee, args.len(), params.len())?;
        if scope.calls(&self.macros[index].node) {
            self.report(
                Diagnostic::new(
                    Code::RecursiveMacro,
                    token_span(&callee),
                    format!("the macro `{}` leads back to itself", callee.text()),
                )
                .label("macros cannot be recursive"),
            );
            return None;
        }
        self.macros[index].called = true;
        let body = block_of(&self.macros[index].node)?;
        self.expanded += body.children().count() + 1;
        if self.expanded > MAX_EXPANDED {
            self.expansion_too_large(token_span(&callee));
            return None;
        }
        let inner = Scope {
            inner: Vec::new(),
            frame: Some(Rc::new(Frame {
                body: self.macros[index].node.clone(),
                args: params
                    .iter()
                    .zip(args)
                    .map(|(param, arg)| (text(param), (token_span(param), arg)))
                    .collect(),
                caller: scope.clone(),
            })),
        };
        let around = Around {
            in_loop: false,
            ..around
        };
        let body = self.statements(&body, around, &inner);
        Some(StmtKind::Group {
            atomic: false,
            body,
        })
    }
}

impl Checker {
    /// Said once: what follows would only repeat it.
    pub(super) fn expansion_too_large(&mut self, at: Span) {
        if self.expanded < usize::MAX / 2 {
            self.expanded = usize::MAX / 2;
            self.report(
                Diagnostic::new(
                    Code::ExpansionTooLarge,
                    at,
                    format!("macros expand to more than {MAX_EXPANDED} statements and arguments"),
                )
                .label("while expanding this")
                .help("repeat statements with a loop, or let fewer macros build on one another"),
            );
        }
    }
}

impl Scope {
    /// Whether this is inside an expansion of the macro.
    fn calls(&self, node: &SyntaxNode) -> bool {
        let mut scope = self;
        while let Some(frame) = &scope.frame {
            if frame.body == *node {
                return true;
            }
            scope = &frame.caller;
        }
        false
    }
}

/// The blocks of a statement.
fn blocks(node: &SyntaxNode) -> impl Iterator<Item = SyntaxNode> {
    let is_block = |child: &SyntaxNode| child.kind() == SyntaxKind::Block;
    node.children().filter(is_block)
}

/// The template or macro that a label stands in.
pub(super) fn label_scope(label: &SyntaxToken) -> Option<Span> {
    label
        .parent_ancestors()
        .find(|node| matches!(node.kind(), SyntaxKind::Process | SyntaxKind::Macro))
        .map(|node| span(&node))
}

/// Whether two places are the same cell whatever the state.
pub(crate) fn same_cell(a: &Place, b: &Place) -> bool {
    a.var == b.var
        && a.indices
            .iter()
            .zip(&b.indices)
            .all(|(x, y)| same_value(x, y))
}

/// Whether two expressions have the same value whatever the state.
pub(crate) fn same_value(a: &Expr, b: &Expr) -> bool {
    use ExprKind::*;
    match (&a.kind, &b.kind) {
        (Int(x), Int(y)) => x == y,
        (Bool(x), Bool(y)) => x == y,
        (Member(x), Member(y)) => x == y,
        (Param(x), Param(y)) => x == y,
        (Bound(x), Bound(y)) => x == y,
        (Own, Own) => true,
        (Read(x), Read(y)) => same_cell(x, y),
        (IntToId(x), IntToId(y)) | (IdToInt(x), IdToInt(y)) | (Neg(x), Neg(y)) => same_value(x, y),
        (Arith(op, x, y), Arith(other, v, w)) => {
            op == other && same_value(x, v) && same_value(y, w)
        }
        _ => false,
    }
}
