//! Quantifiers, built-in functions, and definitions with their calls.

use super::compound::int;
use super::expr::{count, temporal_outside};
use super::names::Target;
use super::*;
use crate::program::ENDED;
use crate::syntax::{child, exprs, names, span, tokens};

impl Checker {
    /// The variables of `i, j in P, k in 1..3`, outermost first, put into scope.
    pub(super) fn binders(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &mut Scope,
    ) -> Option<Vec<(BoundId, Domain)>> {
        let mut bound = Vec::new();
        for group in node.children().filter(|n| n.kind() == SyntaxKind::Group) {
            let domain = child(&group, SyntaxKind::Domain)?;
            let domain = self.domain(&domain, site, scope)?;
            for name in names(&group) {
                let ty = domain.ty();
                self.shadow_check(&name, site);
                let around = node.parent().unwrap_or_else(|| node.clone());
                let kind = SymbolKind::Bound;
                let id = self.new_bound(&name, ty, Some(domain.clone()), kind, &around);
                scope.inner.push((text(&name), Inner::Bound(id)));
                bound.push((id, domain.clone()));
            }
        }
        Some(bound)
    }

    /// A bound name must not hide a variable or another declaration.
    pub(super) fn shadow_check(&mut self, name: &SyntaxToken, site: Site) {
        let mut hidden = self.globals.get(name.text()).map(|(_, at)| *at);
        if let Site::Program(template) = site {
            hidden = hidden
                .or_else(|| {
                    let id = self.local_names[template].get(name.text())?;
                    let local = &self.program.templates[template].locals[*id];
                    (!local.loop_counter).then_some(local.span)
                })
                .or_else(|| self.own_id_span(template, name.text()));
        }
        if let Some(first) = hidden {
            self.declared_twice(name.text(), token_span(name), first);
        }
    }

    pub(super) fn fold(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
        let kind = match tokens(node).next()?.kind() {
            SyntaxKind::ForallKw => FoldKind::Forall,
            SyntaxKind::ExistsKw => FoldKind::Exists,
            SyntaxKind::CountKw => FoldKind::Count,
            SyntaxKind::SumKw => FoldKind::Sum,
            SyntaxKind::MinKw => FoldKind::Min,
            _ => FoldKind::Max,
        };
        let (body_type, ty) = match kind {
            FoldKind::Forall | FoldKind::Exists => (ExprType::Bool, ExprType::Bool),
            FoldKind::Count => (ExprType::Bool, ExprType::Int),
            FoldKind::Sum | FoldKind::Min | FoldKind::Max => (ExprType::Int, ExprType::Int),
        };
        if site == Site::Constant {
            self.report(
                Diagnostic::new(
                    Code::NotConstant,
                    span(node),
                    "quantifiers cannot be used here",
                )
                .label("only numbers and parameters"),
            );
            return None;
        }
        let mut scope = scope.clone();
        let binders = child(node, SyntaxKind::Binders)?;
        let bound = self.binders(&binders, site, &mut scope)?;
        let body = exprs(node).next()?;
        let mut value = self.expect_type(&body, body_type, site, &scope)?;
        // Several variables: one fold inside another. Counting nests as a sum of counts.
        for (depth, (var, domain)) in bound.into_iter().rev().enumerate() {
            let kind = match kind {
                FoldKind::Count if depth > 0 => FoldKind::Sum,
                other => other,
            };
            value = Expr {
                kind: ExprKind::Fold {
                    kind,
                    var,
                    domain,
                    body: Box::new(value),
                },
                ty,
                span: span(node),
            };
        }
        Some(value)
    }

    pub(super) fn call(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
        let callee = tokens(node).next()?;
        let args: Vec<SyntaxNode> = exprs(node).collect();
        let at = span(node);
        if matches!(callee.kind(), SyntaxKind::MinKw | SyntaxKind::MaxKw) {
            self.arity(&callee, args.len(), 2)?;
            let left = self.expect_type(&args[0], ExprType::Int, site, scope);
            let right = self.expect_type(&args[1], ExprType::Int, site, scope);
            let op = if callee.kind() == SyntaxKind::MinKw {
                ArithOp::Min
            } else {
                ArithOp::Max
            };
            return Some(Expr {
                kind: ExprKind::Arith(op, Box::new(left?), Box::new(right?)),
                ty: ExprType::Int,
                span: at,
            });
        }
        match callee.text() {
            "cas" | "swap" | "fetch_add" => {
                self.report(
                    Diagnostic::new(
                        Code::PrimitivePosition,
                        at,
                        format!("`{}` cannot stand inside an expression", callee.text()),
                    )
                    .label("it writes")
                    .help(format!(
                        "store its result first: `r := {}(..);`",
                        callee.text()
                    )),
                );
                None
            }
            "next" | "prev" => {
                self.arity(&callee, args.len(), 1)?;
                let id = self.expr(&args[0], None, site, scope)?;
                match id.ty {
                    ExprType::Id(template)
                        if self.program.templates[template].order == IdOrder::Ring =>
                    {
                        Some(Expr {
                            kind: ExprKind::Around {
                                forward: callee.text() == "next",
                                id: Box::new(id),
                            },
                            ty: ExprType::Id(template),
                            span: at,
                        })
                    }
                    found => {
                        let message = format!("`{}` needs an id on a ring", callee.text());
                        self.report(
                            Diagnostic::new(Code::NotARing, id.span, message)
                                .label(format!("this is {}", self.show(found)))
                                .help("declare the template `ring process`"),
                        );
                        None
                    }
                }
            }
            "locked" => {
                self.arity(&callee, args.len(), 1)?;
                if site == Site::Constant || matches!(site, Site::Initial(_)) {
                    return self.not_constant(at, "locked");
                }
                let place = self.mutex_place(&args[0], site, scope)?;
                self.mark_read(&place, site);
                Some(Expr {
                    kind: ExprKind::Locked(place),
                    ty: ExprType::Bool,
                    span: at,
                })
            }
            "enabled" | "taken" => self.process_label(&callee, &args, at, site, scope),
            "ended" if self.is_free("ended") => self.ended(&callee, &args, at, site),
            word if self.of_queues(word) => self.queue_call(&callee, &args, at, site, scope),
            word => {
                let Some(global) = self.global(&callee) else {
                    if matches!(word, "G" | "F" | "X") {
                        self.report(temporal_outside(token_span(&callee), word));
                        return None;
                    }
                    if matches!(word, "not" | "NOT") {
                        let message = format!("`{word}` is written `!`");
                        let found =
                            Diagnostic::new(Code::UnknownFunction, token_span(&callee), message);
                        self.report(found.label("write `!`").fix("!"));
                        return None;
                    }
                    let candidates = self.names_of(|global| matches!(global, Global::Def(_)));
                    self.unknown(Code::UnknownFunction, "the definition", &callee, candidates);
                    return None;
                };
                let Global::Def(id) = global else {
                    let help = match global {
                        Global::Macro(_) => "a macro is called as a statement",
                        Global::Record(_) => {
                            "a value of a record stands alone: it is assigned, compared, sent, or an initial value"
                        }
                        _ => "only definitions take arguments",
                    };
                    self.report(
                        Diagnostic::new(
                            Code::UnknownFunction,
                            token_span(&callee),
                            format!("`{word}` is not a definition"),
                        )
                        .label("cannot be called here")
                        .help(help),
                    );
                    return None;
                };
                self.def(id);
                if self.def_states[id] != Lazy::Done(Some(())) {
                    return None;
                }
                let params = self.program.defs[id].params.clone();
                self.arity(&callee, args.len(), params.len())?;
                let values: Vec<Option<Expr>> = args
                    .iter()
                    .zip(params)
                    .map(|(arg, param)| {
                        let ty = self.program.bounds[param].ty;
                        self.expect_type(arg, ty, site, scope)
                    })
                    .collect();
                let values: Option<Vec<Expr>> = values.into_iter().collect();
                self.call_def(id, values?, at, site)
            }
        }
    }

    /// `ended(Child)`: all processes of a template that there are have ended.
    fn ended(
        &mut self,
        callee: &SyntaxToken,
        args: &[SyntaxNode],
        at: Span,
        site: Site,
    ) -> Option<Expr> {
        self.arity(callee, args.len(), 1)?;
        if site == Site::Constant || matches!(site, Site::Initial(_)) {
            return self.not_constant(at, "ended");
        }
        let named = match args[0].kind() {
            SyntaxKind::NameExpr => names(&args[0]).next().map(|name| self.global(&name)),
            _ => None,
        };
        let Some(Some(Global::Template(template))) = named else {
            let message = "expected a process template";
            let refused = Diagnostic::new(Code::NotAProcess, span(&args[0]), message);
            self.report(refused.label("write for example `ended(Child)`"));
            return None;
        };
        let dynamic = matches!(
            self.program.templates[template].instances,
            Instances::Dynamic
        );
        match site {
            Site::Program(_) if !dynamic => {
                let message = "program text waits for the end of processes that are started, and of no others";
                let refused = Diagnostic::new(Code::LocationInProgram, at, message);
                let help = "count the processes that have ended in a shared variable";
                self.report(refused.label("not in program text").help(help));
                return None;
            }
            Site::Def(def) if !dynamic => self.property_only(def, Code::LocationInProgram, at),
            _ => {}
        }
        let done = self.location_of_done(template);
        let single = matches!(
            self.program.templates[template].instances,
            Instances::Single
        );
        let ended = |process| Expr {
            kind: ExprKind::At {
                template,
                process,
                locations: vec![done],
            },
            ty: ExprType::Bool,
            span: at,
        };
        if single {
            return Some(ended(None));
        }
        let domain = Domain::Template(template);
        self.bound_domains.push(Some(domain.clone()));
        self.bound_spans.push(at);
        let var = self.program.bounds.push(Bound {
            name: ENDED.to_owned(),
            ty: ExprType::Id(template),
        });
        let process = Expr {
            kind: ExprKind::Bound(var),
            ty: ExprType::Id(template),
            span: at,
        };
        Some(Expr {
            kind: ExprKind::Fold {
                kind: FoldKind::Forall,
                var,
                domain,
                body: Box::new(ended(Some(Box::new(process)))),
            },
            ty: ExprType::Bool,
            span: at,
        })
    }

    /// `length(q)`, `empty(q)`, `full(q)`, `peek(q)`
    fn queue_call(
        &mut self,
        callee: &SyntaxToken,
        args: &[SyntaxNode],
        at: Span,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let word = callee.text();
        if matches!(word, "send" | "receive") {
            let message = format!("`{word}` cannot stand inside an expression");
            let refused = Diagnostic::new(Code::PrimitivePosition, at, message);
            let help = match word {
                "send" => "it is a statement: `send(q, e);`",
                _ => "store the message first: `x := receive(q);`",
            };
            self.report(refused.label("it writes").help(help));
            return None;
        }
        self.arity(callee, args.len(), 1)?;
        if site == Site::Constant || matches!(site, Site::Initial(_)) {
            return self.not_constant(at, word);
        }
        let queue = self.queue(&args[0], site, scope)?;
        let Element::Queue(capacity, _) = &queue.ty.element else {
            return None;
        };
        let compare = |op, length, bound| {
            Some(Expr {
                kind: ExprKind::Compare(op, Box::new(length), Box::new(bound)),
                ty: ExprType::Bool,
                span: at,
            })
        };
        let capacity = (**capacity).clone();
        let length = Expr {
            span: at,
            ..self.queue_length(&queue, site)?
        };
        match word {
            "length" => Some(length),
            "empty" => compare(CompareOp::Eq, length, int(ExprKind::Int(0), at)),
            "full" => compare(CompareOp::Ge, length, capacity),
            _ => match self.oldest(queue, at, site)? {
                Target::Value(value) => Some(value),
                Target::Part(part) => self.not_single(&part),
                Target::Cell(_) => None,
            },
        }
    }

    pub(super) fn arity(
        &mut self,
        callee: &SyntaxToken,
        given: usize,
        wanted: usize,
    ) -> Option<()> {
        if given == wanted {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                token_span(callee),
                format!(
                    "`{}` takes {}, not {given}",
                    callee.text(),
                    count(wanted, "argument")
                ),
            )
            .label("wrong number of arguments"),
        );
        None
    }

    /// `enabled(P[i], l)` and `taken(P[i], l)`.
    fn process_label(
        &mut self,
        callee: &SyntaxToken,
        args: &[SyntaxNode],
        at: Span,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        self.arity(callee, args.len(), 2)?;
        match site {
            Site::Fairness => {}
            Site::Def(def) => {
                self.def_facts[def].fairness_only.get_or_insert(at);
            }
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::FairnessOnly,
                        at,
                        format!("`{}` belongs in fairness and liveness", callee.text()),
                    )
                    .label("not here"),
                );
                return None;
            }
        }
        let (base, index) = match args[0].kind() {
            SyntaxKind::IndexExpr => {
                let mut parts = exprs(&args[0]);
                (parts.next()?, parts.next())
            }
            _ => (args[0].clone(), None),
        };
        let template = match names(&base).next().map(|name| self.global(&name)) {
            Some(Some(Global::Template(id))) if base.kind() == SyntaxKind::NameExpr => id,
            _ => {
                self.report(
                    Diagnostic::new(Code::NotAProcess, span(&args[0]), "expected a process")
                        .label("write for example `P[i]`"),
                );
                return None;
            }
        };
        let single = matches!(
            self.program.templates[template].instances,
            Instances::Single
        );
        let process = match index {
            Some(index) if !single => Some(Box::new(self.expect_type(
                &index,
                ExprType::Id(template),
                site,
                scope,
            )?)),
            None if single => None,
            _ => {
                self.report(
                    Diagnostic::new(Code::NotAProcess, span(&args[0]), "expected one process")
                        .label(if single {
                            "a single process has no index"
                        } else {
                            "say which: `P[i]`"
                        }),
                );
                return None;
            }
        };
        let label = match args[1].kind() {
            SyntaxKind::NameExpr => names(&args[1]).next()?,
            _ => {
                self.report(
                    Diagnostic::new(Code::UnknownLabel, span(&args[1]), "expected a label")
                        .label("not a label"),
                );
                return None;
            }
        };
        let location = self.location(template, &label)?;
        let kind = if callee.text() == "enabled" {
            ExprKind::Enabled {
                template,
                process,
                location,
            }
        } else {
            ExprKind::Taken {
                template,
                process,
                location,
            }
        };
        Some(Expr {
            kind,
            ty: ExprType::Bool,
            span: at,
        })
    }

    /// A call, where the site allows what the definition says.
    pub(super) fn call_def(
        &mut self,
        id: DefId,
        args: Vec<Expr>,
        at: Span,
        site: Site,
    ) -> Option<Expr> {
        self.def(id);
        if self.def_states[id] != Lazy::Done(Some(())) {
            return None;
        }
        let name = self.program.defs[id].name.clone();
        let wanted = self.program.defs[id].params.len();
        if wanted != args.len() {
            self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    at,
                    format!(
                        "`{name}` takes {}, not {}",
                        count(wanted, "argument"),
                        args.len()
                    ),
                )
                .label("wrong number of arguments"),
            );
            return None;
        }
        let facts = &self.def_facts[id];
        let (property_only, fairness_only) = (facts.property_only, facts.fairness_only);
        match site {
            Site::Constant | Site::Initial(_) => {
                return self.not_constant(at, &name);
            }
            Site::Program(_) => {
                if let Some((code, inner)) = property_only {
                    self.report(
                        Diagnostic::new(
                            code,
                            at,
                            match code {
                                Code::LiteralId => {
                                    format!("`{name}` names a process and belongs in properties")
                                }
                                _ => format!(
                                    "`{name}` speaks of other processes and belongs in properties"
                                ),
                            },
                        )
                        .label("not in program text")
                        .related(inner, "here"),
                    );
                    return None;
                }
                if let Some(inner) = fairness_only {
                    return self.fairness_only(at, &name, inner);
                }
            }
            Site::Property => {
                if let Some(inner) = fairness_only {
                    return self.fairness_only(at, &name, inner);
                }
            }
            Site::Def(outer) => {
                if let Some((code, _)) = property_only {
                    self.property_only(outer, code, at);
                }
                if fairness_only.is_some() {
                    self.def_facts[outer].fairness_only.get_or_insert(at);
                }
            }
            Site::Fairness => {}
        }
        Some(Expr {
            ty: self.program.defs[id].body.ty,
            kind: ExprKind::Call(id, args),
            span: at,
        })
    }

    fn fairness_only<T>(&mut self, at: Span, name: &str, inner: Span) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::FairnessOnly,
                at,
                format!("`{name}` belongs in fairness and liveness"),
            )
            .label("not here")
            .related(inner, "because of this"),
        );
        None
    }

    /// Definitions with those they mention first, so that a long chain of them is read one by one
    /// and not one inside the other.
    pub(super) fn definition_order(&self) -> Vec<DefId> {
        let mentions = |id: DefId| -> Vec<DefId> {
            self.def_nodes[id]
                .descendants()
                .filter(|node| matches!(node.kind(), SyntaxKind::NameExpr | SyntaxKind::CallExpr))
                .filter_map(|node| match self.globals.get(names(&node).next()?.text()) {
                    Some((Global::Def(id), _)) => Some(*id),
                    _ => None,
                })
                .collect()
        };
        let mut order = Vec::new();
        let mut seen: BTreeSet<DefId> = BTreeSet::new();
        for root in self.def_nodes.indices() {
            if !seen.insert(root) {
                continue;
            }
            let mut stack = vec![(root, mentions(root))];
            while let Some((id, waiting)) = stack.last_mut() {
                match waiting.pop() {
                    Some(next) if seen.insert(next) => stack.push((next, mentions(next))),
                    Some(_) => {}
                    None => {
                        order.push(*id);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// Checks a definition, once.
    pub(super) fn def(&mut self, id: DefId) {
        match self.def_states[id] {
            Lazy::Done(_) => return,
            Lazy::Busy => {
                let def = &self.program.defs[id];
                let diagnostic = Diagnostic::new(
                    Code::RecursiveDefinition,
                    def.span,
                    format!("`{}` leads back to itself", def.name),
                )
                .label("definitions cannot be recursive");
                self.def_states[id] = Lazy::Done(None);
                return self.report(diagnostic);
            }
            Lazy::Waiting => {}
        }
        self.def_states[id] = Lazy::Busy;
        let node = self.def_nodes[id].clone();
        let mut scope = Scope::default();
        let mut complete = true;
        for param in node.children().filter(|n| n.kind() == SyntaxKind::DefParam) {
            let Some(name) = names(&param).next() else {
                continue;
            };
            self.shadow_check(&name, Site::Def(id));
            if scope.lookup(name.text()).is_some() {
                self.declared_twice(name.text(), token_span(&name), token_span(&name));
            }
            match self.def_param_type(&param) {
                Some(ty) => {
                    let bound = self.new_bound(&name, ty, None, SymbolKind::DefParam, &node);
                    self.program.defs[id].params.push(bound);
                    scope.inner.push((text(&name), Inner::Bound(bound)));
                }
                None => complete = false,
            }
        }
        let body = exprs(&node)
            .next()
            .filter(|_| complete)
            .and_then(|body| self.expr(&body, None, Site::Def(id), &scope));
        // A cycle found on the way was reported there.
        if self.def_states[id] != Lazy::Busy {
            return;
        }
        let Some(body) = body else {
            self.def_states[id] = Lazy::Done(None);
            return;
        };
        let height = self.height(&body);
        self.def_facts[id].height = height;
        let ty = self.show(body.ty);
        self.names.describe(self.program.defs[id].span, ty);
        self.program.defs[id].body = body;
        self.def_states[id] = Lazy::Done(Some(()));
        if height > MAX_DEPTH {
            let def = &self.program.defs[id];
            let diagnostic = Diagnostic::new(
                Code::NestingTooDeep,
                def.span,
                format!("`{}` is nested too deeply, definitions included", def.name),
            )
            .label(format!("more than {MAX_DEPTH} levels"));
            self.def_states[id] = Lazy::Done(None);
            self.report(diagnostic);
        }
    }

    fn def_param_type(&mut self, param: &SyntaxNode) -> Option<ExprType> {
        let node = param.children().find(|n| n.kind().is_type())?;
        let ty = self.ty(&node)?;
        let scalar = match &ty.element {
            Element::Scalar(scalar) if ty.dims.is_empty() => Some(scalar),
            _ => None,
        };
        match scalar {
            Some(Scalar::Bool) => Some(ExprType::Bool),
            Some(Scalar::Int) => Some(ExprType::Int),
            Some(Scalar::Enum(id)) => Some(ExprType::Enum(*id)),
            Some(Scalar::Id(id)) => Some(ExprType::Id(*id)),
            Some(Scalar::OptId(id)) => Some(ExprType::OptId(*id)),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::DefParameterType,
                        span(&node),
                        "a definition's parameter is `bool`, `int`, an enumeration or an id",
                    )
                    .label("not allowed here")
                    .help("for a range write `int`"),
                );
                None
            }
        }
    }

    /// The depth of an expression, definitions included.
    fn height(&self, value: &Expr) -> usize {
        let mut inner = 0;
        if let ExprKind::Call(id, _) = &value.kind {
            inner = self.def_facts[*id].height;
        }
        value.children(&mut |child| inner = inner.max(self.height(child)));
        inner + 1
    }
}
