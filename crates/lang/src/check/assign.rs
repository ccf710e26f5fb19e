//! Writes: assignments and atomic primitives.

use super::expr::{count, declared_as};
use super::names::Target;
use super::stmt::same_cell;
use super::*;
use crate::syntax::{exprs, names, span};

impl Checker {
    /// A cell that may be written.
    pub(super) fn place(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Place> {
        let found = match node.kind() {
            SyntaxKind::NameExpr | SyntaxKind::IndexExpr | SyntaxKind::FieldExpr => {
                self.target(node, None, site, scope)?
            }
            _ => return self.not_a_variable(span(node), "this"),
        };
        match found {
            Target::Cell(place) => {
                self.complete(&place, site)?;
                let variable = self.variable(&place.var, site)?;
                if variable.loop_counter {
                    let name = variable.name.clone();
                    return self.not_a_variable(place.span, &format!("the loop counter `{name}`"));
                }
                if matches!(variable.scalar, Scalar::Mutex) {
                    self.report(
                        Diagnostic::new(
                            Code::MutexValue,
                            place.span,
                            "a mutex is written by `lock` and `unlock` only",
                        )
                        .label("a mutex"),
                    );
                    return None;
                }
                Some(place)
            }
            Target::Value(_) => self.not_a_variable(span(node), "this"),
            Target::Part(part) => self.not_single(&part),
        }
    }

    pub(super) fn not_a_variable<T>(&mut self, at: Span, what: &str) -> Option<T> {
        self.report(
            Diagnostic::new(Code::NotAVariable, at, format!("{what} cannot be written"))
                .label("not a variable"),
        );
        None
    }

    pub(super) fn assign(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let becomes = node
            .children_with_tokens()
            .filter_map(|element| element.into_token())
            .find(|token| matches!(token.kind(), SyntaxKind::Becomes | SyntaxKind::Equals))?;
        let middle = becomes.text_range().start();
        let (places, values): (Vec<SyntaxNode>, Vec<SyntaxNode>) =
            exprs(node).partition(|part| part.text_range().start() < middle);
        if let [value] = values.as_slice()
            && value.kind() == SyntaxKind::CallExpr
            && let Some(callee) = names(value).next()
            && matches!(callee.text(), "cas" | "swap" | "fetch_add")
        {
            if places.len() != 1 {
                self.place_count(span(node), places.len(), 1);
                return None;
            }
            return self.primitive(value, Some(&places[0]), site, scope);
        }
        if let [value] = values.as_slice()
            && value.kind() == SyntaxKind::CallExpr
            && let Some(callee) = names(value).next()
            && callee.text() == "receive"
            && self.of_queues("receive")
        {
            let [place] = places.as_slice() else {
                self.place_count(span(node), places.len(), 1);
                return None;
            };
            let at = Span {
                start: span(place).start,
                end: span(value).end,
            };
            return self.receive((&callee, value), Some(place), at, site, scope);
        }
        let targets: Vec<Option<Written>> = places
            .iter()
            .map(|place| self.written(place, site, scope))
            .collect();
        if values.is_empty() {
            // A syntax error, reported.
            return None;
        }
        if places.len() != values.len() {
            self.place_count(span(node), places.len(), values.len());
            return None;
        }
        let (mut cells, mut results, mut sound) = (Vec::new(), Vec::new(), true);
        for (target, value) in targets.into_iter().zip(&values) {
            let values = match &target {
                Some(target) => self.values_for(target, value, site, scope),
                None => {
                    if self.record_of(value, site, scope).is_none() {
                        self.expr(value, None, site, scope);
                    }
                    None
                }
            };
            sound &= values.is_some();
            results.extend(values.into_iter().flatten());
            match target {
                Some(Written::Cell(cell)) => cells.push(cell),
                Some(Written::Record(_, parts)) => {
                    cells.extend(parts.into_iter().map(|(cell, _)| cell));
                }
                None => {}
            }
        }
        if !sound {
            return None;
        }
        for (index, second) in cells.iter().enumerate() {
            if let Some(first) = cells[..index].iter().find(|first| same_cell(first, second)) {
                self.report(
                    Diagnostic::new(
                        Code::SameCellTwice,
                        second.span,
                        "the same cell twice in one assignment",
                    )
                    .label("again here")
                    .related(first.span, "the first"),
                );
                return None;
            }
        }
        Some(StmtKind::Assign(cells, results))
    }

    /// A cell, or the cells of a record.
    fn written(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Written> {
        match self.record_of(node, site, scope) {
            Some(record) => {
                let cells = self.record_cells(node, record, site, scope)?;
                Some(Written::Record(record, cells))
            }
            None => self.place(node, site, scope).map(Written::Cell),
        }
    }

    /// What is written, one value for each cell.
    fn values_for(
        &mut self,
        target: &Written,
        value: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<Vec<Expr>> {
        match target {
            Written::Record(record, cells) => {
                let values = self.record_value(value, *record, site, scope)?;
                let values = values.into_iter().zip(cells);
                let values = values.map(|(value, (_, scalar))| {
                    self.check_constant_range(&value, scalar);
                    self.coerce(value, scalar.ty()?, site)
                });
                values.collect()
            }
            Written::Cell(cell) => {
                let variable = self.variable(&cell.var, site)?;
                let (scalar, declared) = (variable.scalar.clone(), variable.span);
                let name = variable.name.clone();
                let (ty, before) = (scalar.ty()?, self.diagnostics.len());
                let Some(value) = self.expect_type(value, ty, site, scope) else {
                    // The declaration says why another type is expected.
                    let as_what = declared_as(&name, &self.show(ty));
                    if let [refused] = &mut self.diagnostics[before..]
                        && refused.code == Code::TypeMismatch
                        && refused.span == span(value)
                    {
                        refused.related.push((declared, as_what));
                    }
                    return None;
                };
                self.check_constant_range(&value, &scalar);
                Some(vec![value])
            }
        }
    }

    /// The places of `havoc`: each a cell, or the cells of a record.
    pub(super) fn havoc(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let (mut cells, mut sound) = (Vec::new(), true);
        for place in exprs(node) {
            match self.written(&place, site, scope) {
                Some(Written::Cell(cell)) => cells.push(cell),
                Some(Written::Record(_, parts)) => {
                    cells.extend(parts.into_iter().map(|(cell, _)| cell));
                }
                None => sound = false,
            }
        }
        sound.then_some(StmtKind::Havoc(cells))
    }

    fn place_count(&mut self, at: Span, places: usize, values: usize) {
        self.report(
            Diagnostic::new(
                Code::PlaceCount,
                at,
                format!("{} but {}", count(places, "place"), count(values, "value")),
            )
            .label("as many values as places are needed"),
        );
    }

    /// `cas`, `swap` or `fetch_add`, with or without a place for the result.
    pub(super) fn primitive(
        &mut self,
        call: &SyntaxNode,
        result: Option<&SyntaxNode>,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let callee = names(call).next()?;
        let args: Vec<SyntaxNode> = exprs(call).collect();
        let wanted = if callee.text() == "cas" { 3 } else { 2 };
        self.arity(&callee, args.len(), wanted)?;
        let place = self.place(&args[0], site, scope);
        let result = match result {
            Some(node) => Some(self.place(node, site, scope)?),
            None => None,
        };
        let place = place?;
        let scalar = self.variable(&place.var, site)?.scalar.clone();
        let ty = scalar.ty()?;
        let result_type = if callee.text() == "cas" {
            ExprType::Bool
        } else {
            ty
        };
        if let Some(cell) = &result {
            let found = self.variable(&cell.var, site)?.scalar.ty()?;
            let fits = found == result_type
                || matches!((result_type, found), (ExprType::Id(a), ExprType::OptId(b)) if a == b);
            if !fits {
                let message = format!(
                    "the result of `{}` is {}, and this holds {}",
                    callee.text(),
                    self.show(result_type),
                    self.show(found)
                );
                self.report(
                    Diagnostic::new(Code::TypeMismatch, cell.span, message).label("does not fit"),
                );
                return None;
            }
            if same_cell(cell, &place) {
                self.report(
                    Diagnostic::new(
                        Code::SameCellTwice,
                        cell.span,
                        "the result goes to the cell itself",
                    )
                    .label("written twice")
                    .related(place.span, "this cell"),
                );
                return None;
            }
        }
        if callee.text() != "swap" || result.is_some() {
            self.mark_read(&place, site);
        }
        match callee.text() {
            "cas" => {
                let old = self.expect_type(&args[1], ty, site, scope);
                let new = self.expect_type(&args[2], ty, site, scope);
                let (old, new) = (old?, new?);
                self.check_constant_range(&new, &scalar);
                Some(StmtKind::Cas {
                    result,
                    place,
                    old,
                    new,
                })
            }
            "swap" => {
                let value = self.expect_type(&args[1], ty, site, scope)?;
                self.check_constant_range(&value, &scalar);
                Some(StmtKind::Swap {
                    result,
                    place,
                    value,
                })
            }
            _ => {
                if ty != ExprType::Int {
                    let message = format!("`fetch_add` needs an integer, not {}", self.show(ty));
                    self.report(
                        Diagnostic::new(Code::TypeMismatch, place.span, message)
                            .label("not an integer"),
                    );
                    return None;
                }
                let amount = self.expect_type(&args[1], ExprType::Int, site, scope)?;
                Some(StmtKind::FetchAdd {
                    result,
                    place,
                    amount,
                })
            }
        }
    }
}

/// What an assignment writes: a cell, or the cells of a record with their types.
enum Written {
    Cell(Place),
    Record(usize, Vec<(Place, Scalar)>),
}
