//! Expressions: names resolved, types inferred, coercions made explicit.

use super::names::Target;
use super::*;
use crate::syntax::{MAX_NESTING, exprs, span, tokens};

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
        self.deeper(span(node), |checker| {
            checker.expr_inside(node, hint, site, scope)
        })
    }

    fn expr_inside(
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
                let value = self.expr(&inner, hint, site, scope)?;
                // With its parentheses, so that what is built from it spans whole text.
                Some(Expr {
                    span: span(node),
                    ..value
                })
            }
            SyntaxKind::UnaryExpr => self.unary(node, site, scope),
            SyntaxKind::BinaryExpr => self.binary(node, site, scope),
            SyntaxKind::FoldExpr => self.fold(node, site, scope),
            SyntaxKind::CallExpr => self.call(node, site, scope),
            _ => match self.target(node, hint, site, scope)? {
                Target::Value(value) => Some(value),
                Target::Cell(place) => self.read(place, site),
                Target::Part(part) => self.not_single(&part),
            },
        }
    }

    /// A cell as a value.
    fn read(&mut self, place: Place, site: Site) -> Option<Expr> {
        self.complete(&place, site)?;
        self.mark_read(&place, site);
        let scalar = self.variable(&place.var, site)?.scalar.clone();
        match scalar.ty() {
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

    // ---- operators ----

    fn unary(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Expr> {
        let operator = tokens(node).next()?;
        let inner = exprs(node).next()?;
        // The least integer has no positive counterpart, so it is read as a whole.
        let least = || {
            let digits = tokens(&inner).next()?;
            let number = digits.text().replace('_', "").parse::<u64>().ok()?;
            (digits.kind() == SyntaxKind::Number && number == i64::MIN.unsigned_abs()).then_some(())
        };
        if operator.kind() == SyntaxKind::Minus
            && inner.kind() == SyntaxKind::NumberExpr
            && least().is_some()
        {
            return Some(Expr {
                kind: ExprKind::Int(i64::MIN),
                ty: ExprType::Int,
                span: span(node),
            });
        }
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
            // A syntax error, reported; what is there still has names. `none` would need its other side.
            for operand in &operands {
                if strip_parens(operand).kind() != SyntaxKind::NoneExpr {
                    self.expr(operand, None, site, scope);
                }
            }
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
            // `=` was reported; `==` was meant.
            SyntaxKind::EqEq | SyntaxKind::Equals => CompareOp::Eq,
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
            let left = self.expr(first, Some(ExprType::Int), site, scope);
            if let Some(left) = &left
                && self.folded_too_far(left, first, operator).is_some()
            {
                return None;
            }
            let left = left.and_then(|left| self.coerce(left, ExprType::Int, site));
            let right = self.expect_type(second, ExprType::Int, site, scope);
            return finish(left?, right?);
        }
        if self
            .location_by_equality(first, second, at, op == CompareOp::Ne)
            .is_some()
        {
            return None;
        }
        let of_record = self
            .record_of(first, site, scope)
            .or_else(|| self.record_of(second, site, scope));
        if let Some(record) = of_record {
            let same = self.same_record(record, (first, second), at, site, scope)?;
            return Some(match op {
                CompareOp::Eq => same,
                _ => Expr {
                    kind: ExprKind::Not(Box::new(same)),
                    ty: ExprType::Bool,
                    span: at,
                },
            });
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
            (Id(a) | OptId(a), Int) | (Int, Id(a) | OptId(a))
                if self.program.templates[a].order == IdOrder::Unordered
                    && !bounds::is_constant(if left.ty == Int { &left } else { &right }) =>
            {
                let number = if left.ty == Int { &left } else { &right }.span;
                let id = if left.ty == Int { &right } else { &left }.span;
                let name = self.program.templates[a].name.clone();
                self.report(
                    Diagnostic::new(
                        Code::UnlikeOperands,
                        at,
                        format!("cannot compare an integer with an id of `{name}`"),
                    )
                    .related(number, "this is an integer")
                    .related(id, format!("this is an id of `{name}`"))
                    .help(format!(
                        "a variable that holds ids has the type `{name}`, or `{name}?` with `none`"
                    )),
                );
                return None;
            }
            // An ordered id and an integer compare as integers; a constant id in a property as ids.
            (Id(a), Int) | (Int, Id(a)) => match self.program.templates[a].order {
                IdOrder::Unordered => Id(a),
                _ => Int,
            },
            (OptId(a), Int) | (Int, OptId(a)) => OptId(a),
            (a, b) => {
                if self.folded_too_far(&left, first, operator).is_some() {
                    return None;
                }
                let message = format!("cannot compare {} with {}", self.show(a), self.show(b));
                let refused = Diagnostic::new(Code::UnlikeOperands, at, message)
                    .related(left.span, format!("this is {}", self.show(a)))
                    .related(right.span, format!("this is {}", self.show(b)));
                let refused = self.with_declarations(refused, &[&left, &right], site);
                // `flag == 0` of C.
                let number = match (&left.kind, &right.kind, a, b) {
                    (_, ExprKind::Int(number @ (0 | 1)), Bool, Int) => Some((*number, right.span)),
                    (ExprKind::Int(number @ (0 | 1)), _, Int, Bool) => Some((*number, left.span)),
                    _ => None,
                };
                self.report(match number {
                    Some((number, place)) => refused
                        .help(format!("write `{}`", number == 1))
                        .fix_at(place, (number == 1).to_string()),
                    None => refused,
                });
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
            (OptId(template), Int)
                if self.program.templates[template].order != IdOrder::Unordered =>
            {
                let id = self.coerce(value, Id(template), site)?;
                Some(wrap(ExprKind::IdToInt, id, wanted))
            }
            (Id(template) | OptId(template), Int) => {
                self.unordered(template, at);
                None
            }
            (found, _) => {
                let message = format!("expected {}, found {}", self.show(wanted), self.show(found));
                let refused = Diagnostic::new(Code::TypeMismatch, at, message)
                    .label(format!("this is {}", self.show(found)));
                let refused = self.with_declarations(refused, &[&value], site);
                self.report(match (&value.kind, wanted) {
                    (ExprKind::Int(0), Bool) => refused.help("write `false`").fix("false"),
                    (ExprKind::Int(1), Bool) => refused.help("write `true`").fix("true"),
                    _ => refused,
                });
                None
            }
        }
    }

    /// Adds where the variables among some values are declared.
    pub(super) fn with_declarations(
        &self,
        mut refused: Diagnostic,
        values: &[&Expr],
        site: Site,
    ) -> Diagnostic {
        for value in values {
            if let ExprKind::Read(place) = &value.kind
                && let Some(variable) = self.variable(&place.var, site)
                && let Some(ty) = variable.scalar.ty()
            {
                refused =
                    refused.related(variable.span, declared_as(&variable.name, &self.show(ty)));
            }
        }
        refused
    }

    /// `count j in P: a <= 1` counts the `j` with `a <= 1`; if `a` is a truth value, the number of those with `a` is meant.
    fn folded_too_far(
        &mut self,
        left: &Expr,
        operand: &SyntaxNode,
        operator: &SyntaxToken,
    ) -> Option<()> {
        // Looking around takes time, and is for a few mistakes only.
        if left.ty != ExprType::Bool || self.crowded() {
            return None;
        }
        let mut inner = operand.parent()?;
        let fold = loop {
            let outer = inner.parent()?;
            match outer.kind() {
                SyntaxKind::FoldExpr => break outer,
                SyntaxKind::BinaryExpr if exprs(&outer).last().as_ref() == Some(&inner) => {
                    inner = outer;
                }
                _ => return None,
            }
        };
        crate::syntax::token(&fold, SyntaxKind::CountKw)?;
        let file = self.file.as_ref()?;
        let counted = Span {
            start: span(&fold).start,
            end: span(operand).end,
        };
        let at = |place: u32| rowan::TextSize::new(place);
        let text = file.text().slice(at(counted.start)..at(counted.end));
        let meant = format!("({text})");
        let found = Diagnostic::new(
            Code::TypeMismatch,
            token_span(operator),
            format!("`{}` compares inside what is counted", operator.text()),
        );
        self.report(
            found
                .label("belongs to the condition of `count`")
                .related(counted, "put this in parentheses")
                .help(format!("write `{meant} {} ..`", operator.text()))
                .fix_at(counted, meant),
        );
        Some(())
    }

    /// `P[i] == l`: that the process is at the label is meant.
    fn location_by_equality(
        &mut self,
        first: &SyntaxNode,
        second: &SyntaxNode,
        at: Span,
        negated: bool,
    ) -> Option<()> {
        let indexed = first.kind() == SyntaxKind::IndexExpr;
        let base = if indexed {
            exprs(first).next()?
        } else {
            first.clone()
        };
        let base = crate::syntax::names(&base).next()?;
        let label = crate::syntax::names(second).next()?;
        let Some(Global::Template(template)) = self.globals.get(base.text()).map(|found| found.0)
        else {
            return None;
        };
        if second.kind() != SyntaxKind::NameExpr
            || !self.labels[template].contains_key(label.text())
        {
            return None;
        }
        let process = first.text().to_string();
        let not = if negated { "!" } else { "" };
        let meant = format!("{not}{} at {}", process.trim(), label.text());
        let message = format!("`{}` is a label, not a value", label.text());
        let found = Diagnostic::new(Code::NotAValue, at, message);
        let found = found.label("`at` says where a process is");
        self.report(found.help(format!("write `{meant}`")).fix(meant));
        Some(())
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
                "an array with a cell for each process is an `array[{name}] of ..`, and a variable that holds ids has the type `{name}` or `{name}?`; for order and arithmetic declare `ordered process {name}[..]` or `ring process {name}[..]`, which gives up full symmetry"
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
        if let ExprKind::Bound(id) = value.kind {
            let name = self.program.templates[template].name.clone();
            let bound = self.program.bounds[id].name.clone();
            self.report(
                Diagnostic::new(
                    Code::UnorderedIds,
                    value.span,
                    format!("`{bound}` is an integer, not an id of `{name}`"),
                )
                .label("an id is expected here")
                .help(format!("let it range over the ids: `{bound} in {name}`")),
            );
            return None;
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

    /// A place to `lock` or `unlock`.
    pub(super) fn mutex_place(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<Place> {
        // Nothing else names a variable, not even one in parentheses.
        let found = match node.kind() {
            SyntaxKind::NameExpr | SyntaxKind::IndexExpr | SyntaxKind::FieldExpr => {
                Some(self.target(node, None, site, scope)?)
            }
            _ => None,
        };
        if let Some(Target::Cell(place)) = &found {
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

/// Where a variable is declared, for messages about its type.
pub(super) fn declared_as(name: &str, ty: &str) -> String {
    format!("`{name}` is declared here as {ty}")
}

pub(super) fn temporal_outside(at: Span, word: &str) -> Diagnostic {
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
