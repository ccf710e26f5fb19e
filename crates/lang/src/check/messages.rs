//! `send(q, e)` and `x := receive(q)`, written with what the program knows.
//!
//! Both wait for what they need, and are then one simultaneous assignment: a message goes behind the last one; the oldest leaves, the others move up,
//! and the last place gets the least value of its type. Where the number of places is not known here, because a parameter says it, the others
//! move up in a loop.

use super::compound::{Part, in_queue, int};
use super::*;
use crate::syntax::{exprs, span};

/// Up to so many places a queue is written in one assignment.
const FEW_PLACES: i64 = 16;

/// A part of the places of a queue: its variable, and the type of what a message has there.
type Places = Vec<(VarRef, Scalar)>;

impl Checker {
    /// `send(q, e)`
    pub(super) fn send(
        &mut self,
        callee: &SyntaxToken,
        call: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let args: Vec<SyntaxNode> = exprs(call).collect();
        self.arity(callee, args.len(), 2)?;
        let (queue, capacity) = self.queue_to_change(&args[0], site, scope)?;
        let message = queue.ty.message()?;
        let values = match &message.element {
            Element::Record(record) => self.record_value(&args[1], *record, site, scope)?,
            Element::Scalar(scalar) => {
                let value = self.expect_type(&args[1], scalar.ty()?, site, scope)?;
                self.check_constant_range(&value, scalar);
                vec![value]
            }
            Element::Queue(..) => return None,
        };
        let at = span(call);
        let length = self.queue_length(&queue, site)?;
        let count = self.length_place(&queue)?;
        let mut places = Vec::new();
        let mut written = Vec::new();
        for ((var, scalar), value) in self.queue_places(&queue)?.into_iter().zip(values) {
            places.push(place_at(&count, var, length.clone()));
            written.push(held(value, &scalar, at));
        }
        places.push(count.clone());
        written.push(plus(length.clone(), ArithOp::Add, at));
        let room = Expr {
            kind: ExprKind::Compare(CompareOp::Lt, Box::new(length), Box::new(capacity)),
            ty: ExprType::Bool,
            span: at,
        };
        let body = vec![
            simple(StmtKind::Await(room), at),
            simple(StmtKind::Assign(places, written), at),
        ];
        Some(self.operation(body, &count, at))
    }

    /// `x := receive(q)`, or without a place for the message.
    pub(super) fn receive(
        &mut self,
        (callee, call): (&SyntaxToken, &SyntaxNode),
        to: Option<&SyntaxNode>,
        at: Span,
        site: Site,
        scope: &Scope,
    ) -> Option<StmtKind> {
        let args: Vec<SyntaxNode> = exprs(call).collect();
        self.arity(callee, args.len(), 1)?;
        let (queue, capacity) = self.queue_to_change(&args[0], site, scope)?;
        let count = self.length_place(&queue)?;
        let parts = self.queue_places(&queue)?;
        let (mut places, mut written) = (Vec::new(), Vec::new());
        if let Some(node) = to {
            let to = self.receiver(node, &queue, site, scope)?;
            for ((cell, ty), (var, scalar)) in to.into_iter().zip(&parts) {
                self.mark_read(&count, site);
                let zero = int(ExprKind::Int(0), at);
                let place = place_at(&count, *var, zero);
                self.mark_read(&place, site);
                written.push(self.delivered(place, scalar, ty, at, site)?);
                places.push(cell);
            }
        }
        let length = self.queue_length(&queue, site)?;
        let waiting = Expr {
            kind: ExprKind::Compare(
                CompareOp::Gt,
                Box::new(length.clone()),
                Box::new(int(ExprKind::Int(0), at)),
            ),
            ty: ExprType::Bool,
            span: at,
        };
        let mut body = vec![simple(StmtKind::Await(waiting), at)];
        match literal(&capacity).filter(|most| *most <= FEW_PLACES) {
            Some(most) => {
                for (var, scalar) in &parts {
                    let place = |k| place_at(&count, *var, int(ExprKind::Int(k), at));
                    for k in 1..most {
                        places.push(place(k - 1));
                        written.push(read(place(k), scalar, at)?);
                    }
                    places.push(place(most - 1));
                    written.push(in_queue(scalar, at)?.1);
                }
            }
            None => {
                if !places.is_empty() {
                    let (places, written) =
                        (std::mem::take(&mut places), std::mem::take(&mut written));
                    body.push(simple(StmtKind::Assign(places, written), at));
                }
                body.push(self.moving_up(&parts, &count, &capacity, at)?);
                for (var, scalar) in &parts {
                    let last = plus(capacity.clone(), ArithOp::Sub, at);
                    places.push(place_at(&count, *var, last));
                    written.push(in_queue(scalar, at)?.1);
                }
            }
        }
        places.push(count.clone());
        written.push(plus(length, ArithOp::Sub, at));
        body.push(simple(StmtKind::Assign(places, written), at));
        Some(self.operation(body, &count, at))
    }

    /// A queue of this process or of all, with its number of places.
    fn queue_to_change(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<(Part, Expr)> {
        let queue = self.queue(node, site, scope)?;
        let Element::Queue(capacity, _) = &queue.ty.element else {
            return None;
        };
        let capacity = (**capacity).clone();
        Some((queue, capacity))
    }

    /// The cells that a message goes to, with their types.
    fn receiver(
        &mut self,
        node: &SyntaxNode,
        queue: &Part,
        site: Site,
        scope: &Scope,
    ) -> Option<Vec<(Place, ExprType)>> {
        let message = queue.ty.message()?;
        let Element::Record(record) = message.element else {
            let place = self.place(node, site, scope)?;
            let ty = self.variable(&place.var, site)?.scalar.ty()?;
            return Some(vec![(place, ty)]);
        };
        if self.record_of(node, site, scope) != Some(record) {
            let refused = Diagnostic::new(
                Code::TypeMismatch,
                span(node),
                "the messages of this queue are records of another type",
            );
            self.report(refused.label("does not fit"));
            return None;
        }
        let cells = self.record_cells(node, record, site, scope)?;
        let cells = cells.into_iter();
        cells
            .map(|(place, scalar)| Some((place, scalar.ty()?)))
            .collect()
    }

    /// What a place of a queue holds, as a value of the type of the cell that it goes to.
    fn delivered(
        &mut self,
        place: Place,
        scalar: &Scalar,
        wanted: ExprType,
        at: Span,
        site: Site,
    ) -> Option<Expr> {
        let value = read(place, scalar, at)?;
        self.coerce(value, wanted, site)
    }

    /// `for k in 0..K-2 { q[k] := q[k + 1]; }`
    fn moving_up(
        &mut self,
        parts: &Places,
        count: &Place,
        capacity: &Expr,
        at: Span,
    ) -> Option<Stmt> {
        let last = int(
            ExprKind::Arith(
                ArithOp::Sub,
                Box::new(capacity.clone()),
                Box::new(int(ExprKind::Int(2), at)),
            ),
            at,
        );
        let domain = Domain::Range(Arc::new(int(ExprKind::Int(0), at)), Arc::new(last));
        self.bound_domains.push(Some(domain.clone()));
        self.bound_spans.push(at);
        let bound = self.program.bounds.push(Bound {
            name: "k".to_owned(),
            ty: ExprType::Int,
        });
        let k = || int(ExprKind::Bound(bound), at);
        let (mut places, mut written) = (Vec::new(), Vec::new());
        for (var, scalar) in parts {
            places.push(place_at(count, *var, k()));
            let next = place_at(count, *var, plus(k(), ArithOp::Add, at));
            written.push(read(next, scalar, at)?);
        }
        let body = vec![simple(StmtKind::Assign(places, written), at)];
        Some(simple(StmtKind::For(bound, domain, body), at))
    }

    /// One access to shared memory, whatever it is made of.
    fn operation(&mut self, body: Block, count: &Place, at: Span) -> StmtKind {
        if let VarRef::Shared(length) = count.var {
            self.operations.entry(at).or_default().insert(length);
        }
        StmtKind::Group { atomic: true, body }
    }
}

/// The place of a queue with an index.
fn place_at(count: &Place, var: VarRef, index: Expr) -> Place {
    let mut place = count.clone();
    place.var = var;
    place.indices.push(index);
    place
}

/// What a place of a queue holds.
fn read(place: Place, scalar: &Scalar, at: Span) -> Option<Expr> {
    let ty = in_queue(scalar, at)?.0.ty()?;
    Some(Expr {
        kind: ExprKind::Read(place),
        ty,
        span: at,
    })
}

/// A message as a place of a queue holds it.
fn held(value: Expr, scalar: &Scalar, at: Span) -> Expr {
    match scalar {
        Scalar::Id(id) if value.ty == ExprType::Id(*id) => Expr {
            kind: ExprKind::IdToOpt(Box::new(value)),
            ty: ExprType::OptId(*id),
            span: at,
        },
        _ => value,
    }
}

/// One more, or one less.
fn plus(value: Expr, op: ArithOp, at: Span) -> Expr {
    let one = int(ExprKind::Int(1), at);
    int(ExprKind::Arith(op, Box::new(value), Box::new(one)), at)
}

fn simple(kind: StmtKind, span: Span) -> Stmt {
    Stmt {
        label: None,
        kind,
        span,
        note: None,
    }
}
