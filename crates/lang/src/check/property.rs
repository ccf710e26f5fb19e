//! Properties, fairness, exceptions, and what holds in initial states.

use super::*;
use crate::syntax::{child, exprs, names, span, tokens};

impl Checker {
    pub(super) fn properties(&mut self) {
        let Some(file) = self.file.clone() else {
            return;
        };
        // Fairness first: liveness names it wherever it stands.
        for item in file.children().filter(|n| n.kind() == SyntaxKind::Fairness) {
            self.fairness(&item);
        }
        for item in file.children() {
            match item.kind() {
                SyntaxKind::Invariant => self.invariant(&item),
                SyntaxKind::Deadlock => {
                    let at = tokens(&item).next().map_or(span(&item), |t| token_span(&t));
                    self.add_property("deadlock_free", at, PropertyKind::DeadlockFree);
                }
                SyntaxKind::Liveness => self.liveness(&item),
                SyntaxKind::Initially => {
                    if let Some(node) = exprs(&item).next() {
                        let scope = Scope::default();
                        let value = self.expect_type(&node, ExprType::Bool, Site::Property, &scope);
                        self.program.initially.extend(value);
                    }
                }
                SyntaxKind::Exception => {
                    for node in exprs(&item) {
                        let value = self.expect_type(
                            &node,
                            ExprType::Bool,
                            Site::Property,
                            &Scope::default(),
                        );
                        self.program.exceptions.extend(value);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_property(&mut self, name: &str, at: Span, kind: PropertyKind) {
        if name == "checks" {
            return self.report(
                Diagnostic::new(
                    Code::ReservedName,
                    at,
                    "`checks` is the name of the built-in checks",
                )
                .label("choose another name"),
            );
        }
        if let Some(first) = self.program.properties.iter().find(|p| p.name == name) {
            let first = first.span;
            return self.declared_twice(name, at, first);
        }
        self.program.properties.push(Property {
            name: name.to_owned(),
            kind,
            span: at,
        });
    }

    /// Records a name that lives apart from the global ones.
    fn declare_apart(&mut self, name: &SyntaxToken, kind: SymbolKind) {
        self.names
            .declare(name.text(), token_span(name), kind, EVERYWHERE, None);
    }

    fn invariant(&mut self, item: &SyntaxNode) {
        let Some(name) = names(item).next() else {
            return;
        };
        self.declare_apart(&name, SymbolKind::Property);
        let Some(node) = exprs(item).next() else {
            return;
        };
        let Some(value) =
            self.expect_type(&node, ExprType::Bool, Site::Property, &Scope::default())
        else {
            return;
        };
        let mut types = bounds::Bounds::new(&self.program, &self.bound_domains, None);
        // An invariant whose evaluation may fail a check can be violated all the same.
        if types.truth(&value) == Some(true) && !types.can_fail(&value) {
            self.report(
                Diagnostic::new(
                    Code::TrivialInvariant,
                    token_span(&name),
                    format!("`{}` holds by the types alone", name.text()),
                )
                .label("whatever the program does")
                .related(value.span, "always true"),
            );
        }
        self.add_property(
            name.text(),
            token_span(&name),
            PropertyKind::Invariant(value),
        );
    }

    // ---- fairness ----

    fn fairness(&mut self, item: &SyntaxNode) {
        let Some(name) = names(item).next() else {
            return;
        };
        if let Some(first) = self.fairness_names.get(name.text()) {
            let first = self.program.fairness[*first].span;
            return self.declared_twice(name.text(), token_span(&name), first);
        }
        self.declare_apart(&name, SymbolKind::Fairness);
        let mut alternatives = Vec::new();
        for list in item.children().filter(|n| n.kind() == SyntaxKind::FairList) {
            let terms: Vec<Option<FairnessTerm>> = list
                .children()
                .map(|term| self.fairness_term(&term))
                .collect();
            alternatives.push(terms.into_iter().flatten().collect());
        }
        let id = self.program.fairness.push(Fairness {
            name: text(&name),
            alternatives,
            span: token_span(&name),
        });
        self.fairness_names.insert(text(&name), id);
    }

    fn fairness_term(&mut self, term: &SyntaxNode) -> Option<FairnessTerm> {
        let mut scope = Scope::default();
        let bound = match child(term, SyntaxKind::Binders) {
            Some(binders) => self.binders(&binders, Site::Fairness, &mut scope)?,
            None => Vec::new(),
        };
        let conditions: Vec<Option<Expr>> = exprs(term)
            .map(|node| self.expect_type(&node, ExprType::Bool, Site::Fairness, &scope))
            .collect();
        let mut conditions = conditions.into_iter();
        match term.kind() {
            SyntaxKind::FairUnconditional => Some(FairnessTerm::Unconditional),
            SyntaxKind::FairWeak => Some(FairnessTerm::Weak(bound, conditions.next()??)),
            SyntaxKind::FairStrong => Some(FairnessTerm::Strong(
                bound,
                conditions.next()??,
                conditions.next()??,
            )),
            _ => None,
        }
    }

    // ---- liveness ----

    fn liveness(&mut self, item: &SyntaxNode) {
        let mut tokens = names(item);
        let Some(name) = tokens.next() else { return };
        self.declare_apart(&name, SymbolKind::Property);
        let mut under = Vec::new();
        for fairness in tokens {
            match self.fairness_names.get(fairness.text()) {
                Some(id) => {
                    let declared = self.program.fairness[*id].span;
                    self.names.resolve(token_span(&fairness), declared);
                    self.used.fairness.insert(*id);
                    under.push(*id);
                }
                None => {
                    let candidates: Vec<String> = self.fairness_names.keys().cloned().collect();
                    self.unknown(Code::UnknownFairness, "the fairness", &fairness, candidates);
                }
            }
        }
        let Some(node) = exprs(item).next() else {
            return;
        };
        if let Some(formula) = self.ltl(&node, &Scope::default()) {
            self.add_property(
                name.text(),
                token_span(&name),
                PropertyKind::Liveness { under, formula },
            );
        }
    }

    fn ltl(&mut self, node: &SyntaxNode, scope: &Scope) -> Option<Ltl> {
        if !is_temporal(node) {
            let value = self.expect_type(node, ExprType::Bool, Site::Fairness, scope)?;
            return Some(Ltl::State(value));
        }
        let operands: Vec<SyntaxNode> = exprs(node).collect();
        match node.kind() {
            SyntaxKind::ParenExpr => self.ltl(operands.first()?, scope),
            SyntaxKind::UnaryExpr => {
                let operator = tokens(node).next()?;
                let inner = Box::new(self.ltl(operands.first()?, scope)?);
                match operator.text() {
                    "!" => Some(Ltl::Not(inner)),
                    "G" => Some(Ltl::Globally(inner)),
                    "F" => Some(Ltl::Finally(inner)),
                    "X" => Some(Ltl::Next(inner)),
                    _ => self.temporal_operand(span(node)),
                }
            }
            SyntaxKind::BinaryExpr => {
                let operator = tokens(node).next()?;
                if !matches!(
                    operator.text(),
                    "&&" | "||" | "->" | "<->" | "U" | "R" | "W"
                ) {
                    return self.temporal_operand(span(node));
                }
                let formulas: Vec<Option<Ltl>> = operands
                    .iter()
                    .map(|operand| self.ltl(operand, scope))
                    .collect();
                let formulas: Vec<Ltl> = formulas.into_iter().collect::<Option<_>>()?;
                let formulas = match operator.text() {
                    "&&" => together(formulas, ExprKind::And),
                    "||" => together(formulas, ExprKind::Or),
                    _ => formulas,
                };
                let pair: fn(Box<Ltl>, Box<Ltl>) -> Ltl = match operator.text() {
                    "&&" => return Some(Ltl::And(formulas)),
                    "||" => return Some(Ltl::Or(formulas)),
                    "->" => Ltl::Implies,
                    "<->" => Ltl::Iff,
                    "U" => Ltl::Until,
                    "R" => Ltl::Release,
                    _ => Ltl::WeakUntil,
                };
                if formulas.len() > crate::syntax::MAX_NESTING {
                    return self.temporal_operand(span(node));
                }
                formulas
                    .into_iter()
                    .reduce(|left, right| pair(Box::new(left), Box::new(right)))
            }
            SyntaxKind::FoldExpr => {
                let forall = match tokens(node).next()?.kind() {
                    SyntaxKind::ForallKw => true,
                    SyntaxKind::ExistsKw => false,
                    _ => return self.temporal_operand(span(node)),
                };
                let mut scope = scope.clone();
                let binders = child(node, SyntaxKind::Binders)?;
                let bound = self.binders(&binders, Site::Fairness, &mut scope)?;
                let mut formula = self.ltl(operands.first()?, &scope)?;
                for (var, domain) in bound.into_iter().rev() {
                    formula = Ltl::Quantified {
                        forall,
                        var,
                        domain,
                        body: Box::new(formula),
                    };
                }
                Some(formula)
            }
            _ => self.temporal_operand(span(node)),
        }
    }

    fn temporal_operand<T>(&mut self, at: Span) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::TemporalOutside,
                at,
                "a temporal formula cannot be an operand here",
            )
            .label("only `! && || -> <->`, quantifiers and temporal operators take formulas")
            .help("temporal operators bind tighter than comparisons: write `F (n == 0)`"),
        );
        None
    }
}

/// Predicates that stand side by side as one, so that those on the left decide whether those on the right are evaluated, as if there were
/// parentheses around them.
fn together(formulas: Vec<Ltl>, join: fn(Vec<Expr>) -> ExprKind) -> Vec<Ltl> {
    let mut joined: Vec<Ltl> = Vec::new();
    let mut side_by_side: Vec<Expr> = Vec::new();
    let finish = |side_by_side: &mut Vec<Expr>, joined: &mut Vec<Ltl>| {
        let list = std::mem::take(side_by_side);
        if let (Some(first), Some(last)) = (list.first(), list.last()) {
            let span = Span {
                start: first.span.start,
                end: last.span.end,
            };
            let kind = match list.len() {
                1 => first.kind.clone(),
                _ => join(list),
            };
            joined.push(Ltl::State(Expr {
                kind,
                ty: ExprType::Bool,
                span,
            }));
        }
    };
    for formula in formulas {
        match formula {
            Ltl::State(predicate) => side_by_side.push(predicate),
            formula => {
                finish(&mut side_by_side, &mut joined);
                joined.push(formula);
            }
        }
    }
    finish(&mut side_by_side, &mut joined);
    joined
}

/// Whether a temporal operator stands anywhere in an expression.
fn is_temporal(node: &SyntaxNode) -> bool {
    node.descendants().any(|inner| {
        matches!(inner.kind(), SyntaxKind::UnaryExpr | SyntaxKind::BinaryExpr)
            && tokens(&inner).any(|token| token.kind() == SyntaxKind::Name)
    })
}
