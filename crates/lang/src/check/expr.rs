//! Expressions: names resolved, types inferred, coercions made explicit.

use super::*;
use crate::syntax::{MAX_NESTING, child, exprs, names, span, tokens};

/// How deep an expression may be, definitions included: everything behind recurses over it.
const MAX_HEIGHT: usize = 400;

/// One link of `base[e].v at l`.
enum Link {
    Index(SyntaxNode, SyntaxNode),
    Field(SyntaxNode, SyntaxToken),
    At(SyntaxNode, Vec<SyntaxToken>),
}

/// What a name with its indices stands for, before it is used as a value or a place.
pub(super) enum Target {
    /// A cell, possibly with indices missing.
    Cell(Place),
    /// Some value.
    Value(Expr),
}

impl Checker {
    /// An expression that must have a type, coerced to it.
    pub(super) fn expect_type(
        &mut self,
        node: &SyntaxNode,
        expected: ExprType,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let value = self.expr(node, Some(expected), site, scope)?;
        self.coerce(value, expected, site)
    }

    /// An expression of any type; `hint` is what would fit, for `none`.
    pub(super) fn expr(
        &mut self,
        node: &SyntaxNode,
        hint: Option<ExprType>,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let at = span(node);
        let make = |kind, ty| Some(Expr { kind, ty, span: at });
        match node.kind() {
            SyntaxKind::NumberExpr => {
                let digits = tokens(node).next()?.text().replace('_', "");
                match digits.parse::<i64>() {
                    Ok(value) => make(ExprKind::Int(value), ExprType::Int),
                    Err(_) => {
                        self.report(
                            Diagnostic::new(
                                Code::NumberTooLarge,
                                at,
                                "this number does not fit 64 bits",
                            )
                            .label(format!("the largest is {}", i64::MAX)),
                        );
                        None
                    }
                }
            }
            SyntaxKind::BoolExpr => make(
                ExprKind::Bool(crate::syntax::token(node, SyntaxKind::TrueKw).is_some()),
                ExprType::Bool,
            ),
            SyntaxKind::NoneExpr => match hint {
                Some(ExprType::OptId(id) | ExprType::Id(id)) => {
                    make(ExprKind::None, ExprType::OptId(id))
                }
                _ => {
                    self.report(
                        Diagnostic::new(
                            Code::BareNone,
                            at,
                            "`none` can only stand where an optional id is expected",
                        )
                        .label("of which template?"),
                    );
                    None
                }
            },
            SyntaxKind::ParenExpr => {
                let inner = exprs(node).next()?;
                self.expr(&inner, hint, site, scope)
            }
            SyntaxKind::UnaryExpr => self.unary(node, site, scope),
            SyntaxKind::BinaryExpr => self.binary(node, site, scope),
            SyntaxKind::FoldExpr => self.fold(node, site, scope),
            SyntaxKind::CallExpr => self.call(node, site, scope),
            _ => match self.target(node, hint, site, scope)? {
                Target::Value(value) => Some(value),
                Target::Cell(place) => self.read(place, site),
            },
        }
    }

    /// A cell as a value.
    fn read(&mut self, place: Place, site: Site) -> Option<Expr> {
        self.complete(&place, site)?;
        self.mark_read(&place, site);
        let scalar = self.variable(&place.var, site)?.scalar.clone();
        match Self::scalar_type(&scalar) {
            Some(ty) => Some(Expr {
                span: place.span,
                kind: ExprKind::Read(place),
                ty,
            }),
            None => {
                self.report(
                    Diagnostic::new(Code::MutexValue, place.span, "a mutex is not a value")
                        .label("cannot be read")
                        .help("`locked(m)` says whether it is held"),
                );
                None
            }
        }
    }

    pub(super) fn mark_read(&mut self, place: &Place, site: Site) {
        match (place.var, site) {
            (VarRef::Shared(id), _) => {
                self.used.shared.insert(id);
            }
            (VarRef::Local(id), Site::Program(template)) => {
                self.used.locals.insert((template, id));
            }
            _ => {}
        }
    }

    pub(super) fn variable(&self, var: &VarRef, site: Site) -> Option<&Variable> {
        match (var, site) {
            (VarRef::Shared(id), _) => Some(&self.program.shared[*id]),
            (VarRef::Local(id), Site::Program(template)) => {
                Some(&self.program.templates[template].locals[*id])
            }
            _ => None,
        }
    }

    /// Reports a cell with indices missing.
    pub(super) fn complete(&mut self, place: &Place, site: Site) -> Option<()> {
        let variable = self.variable(&place.var, site)?;
        let (given, wanted) = (place.indices.len(), variable.dims.len());
        if given == wanted {
            return Some(());
        }
        let name = variable.name.clone();
        self.report(
            Diagnostic::new(
                Code::WholeArray,
                place.span,
                format!("`{name}` is an array and is used cell by cell"),
            )
            .label(format!("{} more to give", count(wanted - given, "index"))),
        );
        None
    }

    // ---- names ----

    /// A name with its indices, fields and locations.
    pub(super) fn target(
        &mut self,
        node: &SyntaxNode,
        hint: Option<ExprType>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let mut links = Vec::new();
        let mut base = node.clone();
        loop {
            let inner = exprs(&base).next();
            match base.kind() {
                SyntaxKind::IndexExpr => {
                    links.push(Link::Index(base.clone(), exprs(&base).nth(1)?))
                }
                SyntaxKind::FieldExpr => {
                    links.push(Link::Field(base.clone(), names(&base).next()?))
                }
                SyntaxKind::AtExpr => links.push(Link::At(base.clone(), names(&base).collect())),
                _ => break,
            }
            base = inner?;
        }
        links.reverse();
        if base.kind() == SyntaxKind::NameExpr
            && let Some(name) = names(&base).next()
        {
            if scope.lookup(name.text()).is_none()
                && let Some(Global::Template(id)) = self.globals.get(name.text()).map(|g| g.0)
            {
                self.global(name.text());
                return self
                    .process(id, &base, links, site, scope)
                    .map(Target::Value);
            }
            let first = self.name(&name, site, scope)?;
            return self.links(first, links, site, scope);
        }
        if links.is_empty() {
            return None;
        }
        // A literal, a call or the like, with an index behind it.
        let value = self.expr(&base, hint, site, scope)?;
        self.links(Target::Value(value), links, site, scope)
    }

    /// Applies indices to a variable.
    fn links(
        &mut self,
        first: Target,
        links: Vec<Link>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let mut target = first;
        for link in links {
            target = match (target, link) {
                (Target::Cell(mut place), Link::Index(node, index)) => {
                    let variable = self.variable(&place.var, site)?;
                    let name = variable.name.clone();
                    let Some(dim) = variable.dims.get(place.indices.len()).cloned() else {
                        self.report(
                            Diagnostic::new(
                                Code::NotAnArray,
                                span(&node),
                                format!("too many indices for `{name}`"),
                            )
                            .label(match place.indices.len() {
                                0 => "it is not an array".to_owned(),
                                n => format!("it takes {}", count(n, "index")),
                            }),
                        );
                        return None;
                    };
                    let index = self.expect_type(&index, Self::domain_type(&dim), site, scope)?;
                    place.indices.push(index);
                    place.span = span(&node);
                    Target::Cell(place)
                }
                (Target::Value(value), Link::Index(node, _)) => {
                    self.report(
                        Diagnostic::new(Code::NotAnArray, span(&node), "only arrays have indices")
                            .label(format!("this is {}", self.show(value.ty))),
                    );
                    return None;
                }
                (_, Link::Field(node, _) | Link::At(node, _)) => {
                    self.report(
                        Diagnostic::new(
                            Code::NotAProcess,
                            span(&node),
                            "`.` and `at` speak of a process",
                        )
                        .label("what stands before it is no process")
                        .help("write `P[i] at label` or `P[i].variable`"),
                    );
                    return None;
                }
            };
        }
        Some(target)
    }

    /// A name that is no process template.
    fn name(&mut self, token: &SyntaxToken, site: Site, scope: &Scope) -> Option<Target> {
        let at = token_span(token);
        let word = token.text();
        let value = |kind, ty| Some(Target::Value(Expr { kind, ty, span: at }));
        if let Some(frame) = &scope.frame
            && scope.lookup(word).is_none()
            && let Some(argument) = frame.args.get(word)
        {
            let frame = Rc::clone(frame);
            return match argument.kind() {
                SyntaxKind::NameExpr | SyntaxKind::IndexExpr => {
                    self.target(argument, None, site, &frame.caller)
                }
                _ => self
                    .expr(argument, None, site, &frame.caller)
                    .map(Target::Value),
            };
        }
        if let Some(inner) = scope.lookup(word) {
            if site == Site::Constant {
                return self.not_constant(at, word);
            }
            return match inner {
                Inner::Bound(id) => value(ExprKind::Bound(id), self.program.bounds[id].ty),
                Inner::Counter(id) => Some(Target::Cell(Place {
                    var: VarRef::Local(id),
                    indices: Vec::new(),
                    span: at,
                })),
            };
        }
        let owner = match site {
            Site::Program(template) | Site::Initial(Some(template)) => Some(template),
            _ => None,
        };
        // A macro does not see its caller's locals.
        if let Some(template) = owner.filter(|_| scope.frame.is_none()) {
            if self.program.templates[template].id_name.as_deref() == Some(word) {
                return value(ExprKind::Own, ExprType::Id(template));
            }
            let local = self.program.templates[template]
                .locals
                .iter_enumerated()
                .find(|(_, variable)| variable.name == word && !variable.loop_counter)
                .map(|(id, _)| id);
            if let Some(id) = local {
                if let Site::Initial(_) = site {
                    return self.initial_not_constant(at, word);
                }
                return Some(Target::Cell(Place {
                    var: VarRef::Local(id),
                    indices: Vec::new(),
                    span: at,
                }));
            }
        }
        match self.global(word) {
            Some(Global::Param(id)) => value(ExprKind::Param(id), ExprType::Int),
            Some(Global::Member(id, position)) => {
                value(ExprKind::Member(position), ExprType::Enum(id))
            }
            Some(Global::Shared(id)) => match site {
                Site::Constant => self.not_constant(at, word),
                Site::Initial(_) => self.initial_not_constant(at, word),
                _ => Some(Target::Cell(Place {
                    var: VarRef::Shared(id),
                    indices: Vec::new(),
                    span: at,
                })),
            },
            Some(Global::Def(id)) => self.call_def(id, Vec::new(), at, site).map(Target::Value),
            Some(Global::Enum(_) | Global::Alias(_) | Global::Macro(_) | Global::Template(_)) => {
                self.report(
                    Diagnostic::new(Code::NotAValue, at, format!("`{word}` is not a value"))
                        .label("a type, a template or a macro"),
                );
                None
            }
            None => {
                self.unknown_name(token, site, scope);
                None
            }
        }
    }

    fn not_constant<T>(&mut self, at: Span, word: &str) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::NotConstant,
                at,
                format!("`{word}` cannot be used here"),
            )
            .label("only numbers and parameters")
            .help("bounds, defaults and `where` are fixed before the program runs"),
        );
        None
    }

    fn initial_not_constant<T>(&mut self, at: Span, word: &str) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::InitialNotConstant,
                at,
                format!("an initial value cannot read `{word}`"),
            )
            .label("a variable")
            .help("initial values use numbers, parameters, members of enumerations and the own id"),
        );
        None
    }

    fn unknown_name(&mut self, token: &SyntaxToken, site: Site, scope: &Scope) {
        let word = token.text();
        let at = token_span(token);
        let owners: Vec<String> = self
            .program
            .templates
            .iter()
            .filter(|template| template.locals.iter().any(|local| local.name == word))
            .map(|template| template.name.clone())
            .collect();
        if let (Some(owner), false) = (owners.first(), matches!(site, Site::Constant)) {
            let (code, help) = match site {
                Site::Program(_) if scope.frame.is_some() => (
                    Code::UnknownName,
                    "a macro does not see its caller's locals: pass it as an argument".to_owned(),
                ),
                Site::Program(_) => (
                    Code::ForeignLocal,
                    format!("other processes read it, so declare it `shared {word}: ..`"),
                ),
                _ => (
                    Code::LocalInProperty,
                    format!("say whose it is: `{owner}[i].{word}`"),
                ),
            };
            return self.report(
                Diagnostic::new(code, at, format!("`{word}` is local to `{owner}`"))
                    .label("not visible here")
                    .help(help),
            );
        }
        if matches!(word, "G" | "F" | "X" | "U" | "R" | "W") {
            return self.report(temporal_outside(at, word));
        }
        let mut candidates: Vec<String> =
            self.names_of(|global| !matches!(global, Global::Macro(_)));
        candidates.extend(scope.inner.iter().map(|(name, _)| name.clone()));
        if let Site::Program(template) = site {
            let template = &self.program.templates[template];
            candidates.extend(template.locals.iter().map(|local| local.name.clone()));
            candidates.extend(template.id_name.clone());
        }
        self.unknown(Code::UnknownName, "the name", token, candidates);
    }

    // ---- processes in properties ----

    /// `P[j] at l`, `P[j].v[..]`, `Server at l`, `Server.v`.
    fn process(
        &mut self,
        template: TemplateId,
        base: &SyntaxNode,
        links: Vec<Link>,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let name = self.program.templates[template].name.clone();
        let single = matches!(
            self.program.templates[template].instances,
            Instances::Single
        );
        let mut links = links.into_iter();
        let mut next = links.next();
        let mut whole = span(base);
        let mut id = None;
        if let Some(Link::Index(node, index)) = &next {
            whole = span(node);
            if single {
                self.report(
                    Diagnostic::new(
                        Code::NotAnArray,
                        whole,
                        format!("`{name}` is a single process and has no index"),
                    )
                    .label("leave the index out"),
                );
                return None;
            }
            self.visible(&next, whole, site)?;
            let index = self.expect_type(index, ExprType::Id(template), site, scope)?;
            id = Some(Box::new(index));
            next = links.next();
        }
        let Some(link) = next else {
            self.report(
                Diagnostic::new(
                    Code::NotAValue,
                    whole,
                    format!("`{name}` is a process, not a value"),
                )
                .label("say what of it")
                .help(format!(
                    "`{name}{} at label` or `{name}{}.variable`",
                    if single { "" } else { "[i]" },
                    if single { "" } else { "[i]" }
                )),
            );
            return None;
        };
        if id.is_none() && !single {
            self.report(
                Diagnostic::new(
                    Code::NotAProcess,
                    whole,
                    format!("`{name}` is a template: say which process"),
                )
                .label("needs an index")
                .help(format!(
                    "`{name}[i]`, under `forall i in {name}:` or `exists i in {name}:`"
                )),
            );
            return None;
        }
        let link = Some(link);
        let at = match &link {
            Some(Link::At(node, _) | Link::Field(node, _) | Link::Index(node, _)) => span(node),
            None => whole,
        };
        self.visible(&link, at, site)?;
        match link? {
            Link::At(node, labels) => {
                if links.next().is_some() {
                    self.report(
                        Diagnostic::new(Code::NotAnArray, span(&node), "this is a truth value")
                            .label("nothing can follow it"),
                    );
                    return None;
                }
                let mut locations = Vec::new();
                for label in &labels {
                    locations.push(self.location(template, label));
                }
                let mut locations: Vec<LocationId> =
                    locations.into_iter().collect::<Option<_>>()?;
                locations.sort();
                locations.dedup();
                Some(Expr {
                    kind: ExprKind::At {
                        template,
                        process: id,
                        locations,
                    },
                    ty: ExprType::Bool,
                    span: span(&node),
                })
            }
            Link::Field(node, field) => {
                let found = self.program.templates[template]
                    .locals
                    .iter_enumerated()
                    .find(|(_, local)| local.name == field.text())
                    .map(|(id, local)| (id, local.clone()));
                let Some((var, local)) = found else {
                    let candidates: Vec<String> = self.program.templates[template]
                        .locals
                        .iter()
                        .map(|local| local.name.clone())
                        .collect();
                    let what = format!("a local variable of `{name}` called");
                    self.unknown(Code::UnknownLocal, &what, &field, candidates);
                    return None;
                };
                self.used.locals.insert((template, var));
                let mut whole = span(&node);
                let mut indices = Vec::new();
                for link in links {
                    match (link, local.dims.get(indices.len()).cloned()) {
                        (Link::Index(node, index), Some(dim)) => {
                            whole = span(&node);
                            let ty = Self::domain_type(&dim);
                            indices.push(self.expect_type(&index, ty, site, scope)?);
                        }
                        (Link::Index(node, _) | Link::At(node, _) | Link::Field(node, _), _) => {
                            self.report(
                                Diagnostic::new(
                                    Code::NotAnArray,
                                    span(&node),
                                    format!("`{}` has no more indices", local.name),
                                )
                                .label("nothing more can follow"),
                            );
                            return None;
                        }
                    }
                }
                if indices.len() < local.dims.len() {
                    self.report(
                        Diagnostic::new(
                            Code::WholeArray,
                            whole,
                            format!("`{}` is an array and is used cell by cell", local.name),
                        )
                        .label("an index is missing"),
                    );
                    return None;
                }
                let Some(ty) = Self::scalar_type(&local.scalar) else {
                    self.report(
                        Diagnostic::new(Code::MutexValue, whole, "a mutex is not a value")
                            .label("cannot be read"),
                    );
                    return None;
                };
                Some(Expr {
                    kind: ExprKind::Remote {
                        template,
                        process: id,
                        var,
                        indices,
                    },
                    ty,
                    span: whole,
                })
            }
            Link::Index(node, _) => {
                self.report(
                    Diagnostic::new(Code::NotAnArray, span(&node), "a process has one index")
                        .label("a second index"),
                );
                None
            }
        }
    }

    /// Whether this site may speak of other processes.
    fn visible(&mut self, link: &Option<Link>, at: Span, site: Site) -> Option<()> {
        let location = matches!(link, Some(Link::At(..)));
        let code = if location {
            Code::LocationInProgram
        } else {
            Code::ForeignLocal
        };
        match site {
            Site::Property | Site::Fairness => Some(()),
            Site::Def(def) => {
                // The index alone says nothing: the link behind it is what counts.
                if !matches!(link, Some(Link::Index(..))) {
                    self.property_only(def, code, at);
                }
                Some(())
            }
            _ => {
                if matches!(link, Some(Link::Index(..))) {
                    return Some(());
                }
                let (message, help) = if location {
                    (
                        "program text cannot ask where a process is",
                        "set a shared variable there, and read that",
                    )
                } else {
                    (
                        "program text cannot read another process's local variable",
                        "declare it `shared`, as an array over the template if each process has its own",
                    )
                };
                self.report(
                    Diagnostic::new(code, at, message)
                        .label("belongs in properties")
                        .help(help),
                );
                None
            }
        }
    }

    /// Remembers that a definition says something that only properties may say.
    pub(super) fn property_only(&mut self, def: DefId, code: Code, at: Span) {
        self.def_facts[def].property_only.get_or_insert((code, at));
    }

    /// A label of a template, also of one whose body is not checked yet.
    pub(super) fn location(
        &mut self,
        template: TemplateId,
        label: &SyntaxToken,
    ) -> Option<LocationId> {
        let labels = self.template_labels(template);
        let found = labels
            .iter()
            .position(|name| name == label.text())
            .map(LocationId::from_usize);
        if found.is_none() {
            let name = self.program.templates[template].name.clone();
            let what = format!("a label of `{name}` called");
            self.unknown(Code::UnknownLabel, &what, label, labels);
        }
        found
    }

    // ---- operators ----

    fn unary(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
        let operator = tokens(node).next()?;
        let inner = exprs(node).next()?;
        let (ty, kind): (ExprType, fn(Box<Expr>) -> ExprKind) = match operator.kind() {
            SyntaxKind::Bang => (ExprType::Bool, ExprKind::Not),
            SyntaxKind::Minus => (ExprType::Int, ExprKind::Neg),
            _ => {
                let diagnostic = temporal_outside(token_span(&operator), operator.text());
                self.report(diagnostic);
                return None;
            }
        };
        let inner = self.expect_type(&inner, ty, site, scope)?;
        Some(Expr {
            kind: kind(Box::new(inner)),
            ty,
            span: span(node),
        })
    }

    fn binary(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
        let operators: Vec<SyntaxToken> = tokens(node).collect();
        let operands: Vec<SyntaxNode> = exprs(node).collect();
        if operands.len() != operators.len() + 1 {
            return None;
        }
        let at = span(node);
        let bools = |checker: &mut Self| -> Option<Vec<Expr>> {
            let values: Vec<Option<Expr>> = operands
                .iter()
                .map(|operand| checker.expect_type(operand, ExprType::Bool, site, scope))
                .collect();
            values.into_iter().collect()
        };
        let pair = |mut values: Vec<Expr>| {
            let second = values.pop()?;
            let first = values.pop()?;
            Some((Box::new(first), Box::new(second)))
        };
        let bool_expr = |kind| {
            Some(Expr {
                kind,
                ty: ExprType::Bool,
                span: at,
            })
        };
        match operators[0].kind() {
            SyntaxKind::AndAnd => bool_expr(ExprKind::And(bools(self)?)),
            SyntaxKind::OrOr => bool_expr(ExprKind::Or(bools(self)?)),
            SyntaxKind::Arrow => {
                let (left, right) = pair(bools(self)?)?;
                bool_expr(ExprKind::Implies(left, right))
            }
            SyntaxKind::DoubleArrow => {
                self.bounded_chain(operators.len(), at)?;
                let mut values = bools(self)?.into_iter();
                let mut left = values.next()?;
                for right in values {
                    let whole = Span {
                        start: left.span.start,
                        end: right.span.end,
                    };
                    left = Expr {
                        kind: ExprKind::Iff(Box::new(left), Box::new(right)),
                        ty: ExprType::Bool,
                        span: whole,
                    };
                }
                Some(left)
            }
            SyntaxKind::Plus
            | SyntaxKind::Minus
            | SyntaxKind::Star
            | SyntaxKind::Slash
            | SyntaxKind::Percent => {
                self.bounded_chain(operators.len(), at)?;
                let values: Vec<Option<Expr>> = operands
                    .iter()
                    .map(|operand| self.expect_type(operand, ExprType::Int, site, scope))
                    .collect();
                let values: Option<Vec<Expr>> = values.into_iter().collect();
                let mut values = values?.into_iter();
                let mut left = values.next()?;
                for (right, operator) in values.zip(&operators) {
                    let op = match operator.kind() {
                        SyntaxKind::Plus => ArithOp::Add,
                        SyntaxKind::Minus => ArithOp::Sub,
                        SyntaxKind::Star => ArithOp::Mul,
                        SyntaxKind::Slash => ArithOp::Div,
                        _ => ArithOp::Rem,
                    };
                    let whole = Span {
                        start: left.span.start,
                        end: right.span.end,
                    };
                    left = Expr {
                        kind: ExprKind::Arith(op, Box::new(left), Box::new(right)),
                        ty: ExprType::Int,
                        span: whole,
                    };
                }
                Some(left)
            }
            SyntaxKind::Name => {
                let diagnostic = temporal_outside(token_span(&operators[0]), operators[0].text());
                self.report(diagnostic);
                None
            }
            _ => self.compare(&operators[0], &operands, at, site, scope),
        }
    }

    fn bounded_chain(&mut self, operators: usize, at: Span) -> Option<()> {
        if operators < MAX_NESTING {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                Code::NestingTooDeep,
                at,
                format!("more than {MAX_NESTING} operands in one chain"),
            )
            .label("too long")
            .help("use `sum` over a range, or name parts with `def`"),
        );
        None
    }

    fn compare(
        &mut self,
        operator: &SyntaxToken,
        operands: &[SyntaxNode],
        at: Span,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let op = match operator.kind() {
            SyntaxKind::EqEq => CompareOp::Eq,
            SyntaxKind::NotEq => CompareOp::Ne,
            SyntaxKind::Less => CompareOp::Lt,
            SyntaxKind::LessEq => CompareOp::Le,
            SyntaxKind::Greater => CompareOp::Gt,
            _ => CompareOp::Ge,
        };
        let finish = |left: Expr, right: Expr| {
            Some(Expr {
                kind: ExprKind::Compare(op, Box::new(left), Box::new(right)),
                ty: ExprType::Bool,
                span: at,
            })
        };
        let (first, second) = (&operands[0], &operands[1]);
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
            let left = self.expect_type(first, ExprType::Int, site, scope);
            let right = self.expect_type(second, ExprType::Int, site, scope);
            return finish(left?, right?);
        }
        // `none` takes its type from the other side.
        let (left, right) = if strip_parens(first).kind() == SyntaxKind::NoneExpr {
            let right = self.expr(second, None, site, scope);
            let hint = right.as_ref().map(|value| value.ty);
            (self.expr(first, Some(hint?), site, scope), right)
        } else {
            let left = self.expr(first, None, site, scope);
            let hint = left.as_ref().map(|value| value.ty);
            if hint.is_none() && strip_parens(second).kind() == SyntaxKind::NoneExpr {
                return None;
            }
            (left, self.expr(second, hint, site, scope))
        };
        let (left, right) = (left?, right?);
        use ExprType::*;
        let common = match (left.ty, right.ty) {
            (a, b) if a == b => a,
            (Id(a), OptId(b)) | (OptId(b), Id(a)) if a == b => OptId(a),
            // An ordered id and an integer compare as integers; a constant id in a property as ids.
            (Id(a), Int) | (Int, Id(a)) => match self.program.templates[a].order {
                IdOrder::Unordered => Id(a),
                _ => Int,
            },
            (OptId(a), Int) | (Int, OptId(a)) => OptId(a),
            (a, b) => {
                let message = format!("cannot compare {} with {}", self.show(a), self.show(b));
                self.report(
                    Diagnostic::new(Code::UnlikeOperands, at, message)
                        .label("two kinds of values")
                        .related(left.span, format!("this is {}", self.show(a)))
                        .related(right.span, format!("this is {}", self.show(b))),
                );
                return None;
            }
        };
        let left = self.coerce(left, common, site);
        let right = self.coerce(right, common, site);
        finish(left?, right?)
    }

    /// Makes a value fit a type, or says why it does not.
    pub(super) fn coerce(&mut self, value: Expr, wanted: ExprType, site: Site) -> Option<Expr> {
        use ExprType::*;
        if value.ty == wanted {
            return Some(value);
        }
        let at = value.span;
        let wrap = |kind: fn(Box<Expr>) -> ExprKind, value: Expr, ty| Expr {
            kind: kind(Box::new(value)),
            ty,
            span: at,
        };
        match (value.ty, wanted) {
            (Id(a), OptId(b)) if a == b => Some(wrap(ExprKind::IdToOpt, value, wanted)),
            (OptId(a), Id(b)) if a == b => {
                if matches!(value.kind, ExprKind::None) {
                    self.report(
                        Diagnostic::new(
                            Code::BareNone,
                            at,
                            "`none` can only stand where an optional id is expected",
                        )
                        .label("an id is expected here"),
                    );
                    return None;
                }
                Some(wrap(ExprKind::OptToId, value, wanted))
            }
            (Int, Id(template)) => {
                self.int_as_id(&value, template, site)?;
                Some(wrap(ExprKind::IntToId, value, wanted))
            }
            (Int, OptId(template)) => {
                self.int_as_id(&value, template, site)?;
                let id = wrap(ExprKind::IntToId, value, Id(template));
                Some(wrap(ExprKind::IdToOpt, id, wanted))
            }
            (Id(template), Int) if self.program.templates[template].order != IdOrder::Unordered => {
                Some(wrap(ExprKind::IdToInt, value, wanted))
            }
            (Id(template) | OptId(template), Int)
                if self.program.templates[template].order == IdOrder::Unordered =>
            {
                self.unordered(template, at);
                None
            }
            (found, _) => {
                let message = format!("expected {}, found {}", self.show(wanted), self.show(found));
                self.report(
                    Diagnostic::new(Code::TypeMismatch, at, message)
                        .label(format!("this is {}", self.show(found))),
                );
                None
            }
        }
    }

    fn unordered(&mut self, template: TemplateId, at: Span) {
        let name = self.program.templates[template].name.clone();
        self.report(
            Diagnostic::new(
                Code::UnorderedIds,
                at,
                format!("ids of `{name}` have no order and no arithmetic"),
            )
            .label("used as a number")
            .help(format!(
                "declare `ordered process {name}[..]` or `ring process {name}[..]`; that gives up full symmetry"
            )),
        );
    }

    /// An integer can be an id of an ordered template; a constant also in a property.
    fn int_as_id(&mut self, value: &Expr, template: TemplateId, site: Site) -> Option<()> {
        if self.program.templates[template].order != IdOrder::Unordered {
            return Some(());
        }
        let constant = bounds::is_constant(value);
        match site {
            Site::Property | Site::Fairness if constant => return Some(()),
            Site::Def(def) if constant => {
                self.property_only(def, Code::LiteralId, value.span);
                return Some(());
            }
            _ => {}
        }
        if !constant {
            self.unordered(template, value.span);
            return None;
        }
        let name = self.program.templates[template].name.clone();
        self.report(
            Diagnostic::new(
                Code::LiteralId,
                value.span,
                format!("a literal id of `{name}` in program text"),
            )
            .label(format!("the ids of `{name}` are interchangeable"))
            .help(format!(
                "declare `ordered process {name}[..]`, which gives up full symmetry"
            )),
        );
        None
    }

    // ---- quantifiers and calls ----

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
                let ty = Self::domain_type(&domain);
                self.shadow_check(&name, site);
                let id = self.new_bound(name.text(), ty, Some(domain.clone()));
                scope.inner.push((text(&name), Inner::Bound(id)));
                bound.push((id, domain.clone()));
            }
        }
        Some(bound)
    }

    /// A bound name must not hide a variable or another declaration.
    pub(super) fn shadow_check(&mut self, name: &SyntaxToken, site: Site) {
        if BUILT_IN.contains(&name.text()) {
            return self.report(
                Diagnostic::new(
                    Code::ReservedName,
                    token_span(name),
                    format!("`{}` is a built-in function", name.text()),
                )
                .label("choose another name"),
            );
        }
        let mut hidden = self.globals.get(name.text()).map(|(_, at)| *at);
        if let Site::Program(template) = site {
            let template_locals = &self.program.templates[template].locals;
            hidden = hidden
                .or_else(|| {
                    template_locals
                        .iter()
                        .find(|local| local.name == name.text() && !local.loop_counter)
                        .map(|local| local.span)
                })
                .or_else(|| self.own_id_span(template, name.text()));
        }
        if let Some(first) = hidden {
            self.declared_twice(name.text(), token_span(name), first);
        }
    }

    fn fold(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
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

    fn call(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
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
            word => {
                let Some(global) = self.global(word) else {
                    if matches!(word, "G" | "F" | "X") {
                        self.report(temporal_outside(token_span(&callee), word));
                        return None;
                    }
                    let candidates = self.names_of(|global| matches!(global, Global::Def(_)));
                    self.unknown(Code::UnknownFunction, "the definition", &callee, candidates);
                    return None;
                };
                let Global::Def(id) = global else {
                    let help = match global {
                        Global::Macro(_) => "a macro is called as a statement",
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

    fn arity(&mut self, callee: &SyntaxToken, given: usize, wanted: usize) -> Option<()> {
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

    pub(super) fn macro_arity(
        &mut self,
        callee: &SyntaxToken,
        given: usize,
        wanted: usize,
    ) -> Option<()> {
        self.arity(callee, given, wanted)
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
        let template = match names(&base).next().map(|name| self.global(name.text())) {
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
    fn call_def(&mut self, id: DefId, args: Vec<Expr>, at: Span, site: Site) -> Option<Expr> {
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
                            format!("`{name}` speaks of other processes and belongs in properties"),
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
                    let bound = self.new_bound(name.text(), ty, None);
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
        self.program.defs[id].body = body;
        self.def_states[id] = Lazy::Done(Some(()));
        if height > MAX_HEIGHT {
            let def = &self.program.defs[id];
            let diagnostic = Diagnostic::new(
                Code::NestingTooDeep,
                def.span,
                format!("`{}` is nested too deeply, definitions included", def.name),
            )
            .label(format!("more than {MAX_HEIGHT} levels"));
            self.def_states[id] = Lazy::Done(None);
            self.report(diagnostic);
        }
    }

    fn def_param_type(&mut self, param: &SyntaxNode) -> Option<ExprType> {
        let node = param.children().find(|n| n.kind().is_type())?;
        let ty = self.ty(&node)?;
        match (&ty.scalar, ty.dims.is_empty()) {
            (Scalar::Bool, true) => Some(ExprType::Bool),
            (Scalar::Int, true) => Some(ExprType::Int),
            (Scalar::Enum(id), true) => Some(ExprType::Enum(*id)),
            (Scalar::Id(id), true) => Some(ExprType::Id(*id)),
            (Scalar::OptId(id), true) => Some(ExprType::OptId(*id)),
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
        bounds::children(value, &mut |child| inner = inner.max(self.height(child)));
        inner + 1
    }

    /// A place to `lock` or `unlock`.
    pub(super) fn mutex_place(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<Place> {
        let found = self.target(node, None, site, scope)?;
        if let Target::Cell(place) = &found {
            self.complete(place, site)?;
            if matches!(self.variable(&place.var, site)?.scalar, Scalar::Mutex) {
                return Some(place.clone());
            }
        }
        self.report(
            Diagnostic::new(Code::NotAMutex, span(node), "this is not a mutex")
                .label("expected a variable of type `mutex`"),
        );
        None
    }

    /// Reports a constant that does not fit the constant bounds of a range.
    pub(super) fn check_constant_range(&mut self, value: &Expr, scalar: &Scalar) {
        let Scalar::Range(lo, hi) = scalar else {
            return;
        };
        let (Some(constant), Some(lo), Some(hi)) = (
            bounds::literal(value),
            bounds::literal(lo),
            bounds::literal(hi),
        ) else {
            return;
        };
        if constant < lo || constant > hi {
            self.report(
                Diagnostic::new(
                    Code::OutOfRange,
                    value.span,
                    format!("{constant} is outside `{lo}..{hi}`"),
                )
                .label("never fits"),
            );
        }
    }
}

impl Scope {
    pub(super) fn lookup(&self, name: &str) -> Option<Inner> {
        self.inner
            .iter()
            .rev()
            .find(|(inner, _)| inner == name)
            .map(|(_, inner)| *inner)
    }
}

pub(super) fn strip_parens(node: &SyntaxNode) -> SyntaxNode {
    let mut node = node.clone();
    while node.kind() == SyntaxKind::ParenExpr {
        let inner = exprs(&node).next();
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

fn temporal_outside(at: Span, word: &str) -> Diagnostic {
    Diagnostic::new(
        Code::TemporalOutside,
        at,
        format!("the temporal operator `{word}` cannot be used here"),
    )
    .label("only state predicates")
    .help("temporal formulas belong in `liveness`, outside comparisons and definitions")
}

/// `1 index`, `2 arguments`.
pub(super) fn count(n: usize, noun: &str) -> String {
    match (n, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "index") => format!("{n} indices"),
        _ => format!("{n} {noun}s"),
    }
}
