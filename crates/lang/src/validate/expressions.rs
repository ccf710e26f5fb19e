//! Expressions: what each node's type must be, and whether it may stand where it does.

use super::{Binding, Invalid, Rule, Site, Valid, Validator, ensure};
use crate::check::{MAX_DEPTH, is_constant};
use crate::program::*;
use crate::syntax::MAX_NESTING;

impl<'p> Validator<'p> {
    /// One more level of nesting.
    pub(super) fn deeper<T>(
        &mut self,
        span: Span,
        inside: impl FnOnce(&mut Self) -> Valid<T>,
    ) -> Valid<T> {
        ensure(self.depth < MAX_DEPTH, Rule::Depth, span)?;
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// An expression of a type.
    pub(super) fn typed(&mut self, value: &Expr, ty: ExprType, site: Site) -> Valid {
        self.expr(value, site)?;
        ensure(value.ty == ty, Rule::Type, value.span)
    }

    /// An expression of the type that it says.
    pub(super) fn expr(&mut self, value: &Expr, site: Site) -> Valid {
        self.deeper(value.span, |this| match &value.kind {
            ExprKind::Arith(..) | ExprKind::Iff(..) => this.chain(value, site),
            _ => {
                let ty = this.node(value, site)?;
                ensure(ty == value.ty, Rule::Type, value.span)
            }
        })
    }

    /// Operators one behind the other, which are nested on the left: one level, as in a text.
    fn chain(&mut self, value: &Expr, site: Site) -> Valid {
        let mut rest = value;
        let mut length = 0;
        loop {
            let (ty, left, right) = match &rest.kind {
                ExprKind::Arith(_, left, right) => (ExprType::Int, left, right),
                ExprKind::Iff(left, right) => (ExprType::Bool, left, right),
                _ => return self.expr(rest, site),
            };
            length += 1;
            ensure(length <= MAX_NESTING, Rule::Depth, value.span)?;
            ensure(rest.ty == ty, Rule::Type, rest.span)?;
            self.typed(right, ty, site)?;
            ensure(left.ty == ty, Rule::Type, left.span)?;
            rest = left;
        }
    }

    /// The type of a node by its parts, which are right.
    fn node(&mut self, value: &Expr, site: Site) -> Valid<ExprType> {
        use ExprKind::*;
        let (program, span) = (self.program, value.span);
        let of_rule = |rule| Err(Invalid { rule, span });
        match &value.kind {
            Bool(_) => Ok(ExprType::Bool),
            Int(_) => Ok(ExprType::Int),
            Member(position) => match value.ty {
                ExprType::Enum(id) => {
                    self.known_enum(id, span)?;
                    let known = (*position as usize) < program.enums[id].members.len();
                    ensure(known, Rule::Id, span)?;
                    Ok(value.ty)
                }
                _ => of_rule(Rule::Type),
            },
            None => match value.ty {
                ExprType::OptId(id) => {
                    self.known_template(id, span)?;
                    Ok(value.ty)
                }
                _ => of_rule(Rule::Type),
            },
            Param(id) => {
                ensure(program.params.get(*id).is_some(), Rule::Id, span)?;
                Ok(ExprType::Int)
            }
            Own => match site {
                Site::Program(id) | Site::Initial(Some(id)) => {
                    let named = program.templates[id].id_name.is_some();
                    ensure(named, Rule::Scope, span)?;
                    Ok(ExprType::Id(id))
                }
                _ => of_rule(Rule::Scope),
            },
            Bound(id) => {
                let known = program.bounds.get(*id);
                let rule = Rule::Id;
                let bound = known.ok_or(Invalid { rule, span })?;
                let here = self.bound[*id] == Binding::InScope && site != Site::Constant;
                ensure(here, Rule::Scope, span)?;
                Ok(bound.ty)
            }
            Read(place) => {
                let variable = self.place(place, site)?;
                variable.scalar.ty().ok_or(Invalid {
                    rule: Rule::Type,
                    span,
                })
            }
            Locked(place) => {
                let variable = self.place(place, site)?;
                let mutex = matches!(variable.scalar, Scalar::Mutex);
                ensure(mutex, Rule::Type, span)?;
                Ok(ExprType::Bool)
            }
            Remote { .. } | At { .. } | Enabled { .. } | Taken { .. } => self.about(value, site),
            IntToId(_) | IdToInt(_) | IdToOpt(_) | OptToId(_) => self.coercion(value, site),
            Around { id, .. } => {
                self.expr(id, site)?;
                let ExprType::Id(template) = id.ty else {
                    return of_rule(Rule::Type);
                };
                let ring = program.templates[template].order == IdOrder::Ring;
                ensure(ring, Rule::Order, span)?;
                Ok(id.ty)
            }
            Not(inner) => self
                .typed(inner, ExprType::Bool, site)
                .map(|()| ExprType::Bool),
            Neg(inner) => self
                .typed(inner, ExprType::Int, site)
                .map(|()| ExprType::Int),
            And(list) | Or(list) => {
                ensure(list.len() >= 2, Rule::Form, span)?;
                for part in list {
                    self.typed(part, ExprType::Bool, site)?;
                }
                Ok(ExprType::Bool)
            }
            Implies(left, right) | Iff(left, right) => {
                self.typed(left, ExprType::Bool, site)?;
                self.typed(right, ExprType::Bool, site)?;
                Ok(ExprType::Bool)
            }
            Compare(op, left, right) => {
                self.expr(left, site)?;
                self.typed(right, left.ty, site)?;
                let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
                ensure(equality || left.ty == ExprType::Int, Rule::Type, span)?;
                Ok(ExprType::Bool)
            }
            Arith(_, left, right) => {
                self.typed(left, ExprType::Int, site)?;
                self.typed(right, ExprType::Int, site)?;
                Ok(ExprType::Int)
            }
            Fold {
                kind,
                var,
                domain,
                body,
            } => {
                ensure(site != Site::Constant, Rule::Constant, span)?;
                // Whether those that were started have ended is what program text may ask.
                let ended = program.ended(value).is_some_and(|id| {
                    matches!(program.templates[id].instances, Instances::Dynamic)
                });
                let site = match site {
                    Site::Program(_) | Site::Def if ended => Site::Property,
                    site => site,
                };
                self.domain(domain, site, span)?;
                self.bind(*var, Some(domain), span)?;
                let (inner, ty) = kind.types();
                self.typed(body, inner, site)?;
                self.bound[*var] = Binding::Over;
                Ok(ty)
            }
            Call(id, args) => self.call(*id, args, site, span),
        }
    }

    fn call(&mut self, id: DefId, args: &[Expr], site: Site, span: Span) -> Valid<ExprType> {
        let program = self.program;
        let rule = Rule::Id;
        let def = program.defs.get(id).ok_or(Invalid { rule, span })?;
        ensure(def.params.len() == args.len(), Rule::Form, span)?;
        for (param, arg) in def.params.iter().zip(args) {
            self.typed(arg, program.bounds[*param].ty, site)?;
        }
        let facts = self.facts[id];
        match site {
            Site::Constant | Site::Initial(_) => ensure(false, Rule::Constant, span)?,
            Site::Program(_) => ensure(!facts.property && !facts.fairness, Rule::Site, span)?,
            Site::Property => ensure(!facts.fairness, Rule::Site, span)?,
            Site::Def | Site::Fairness => {}
        }
        Ok(def.body.ty)
    }

    /// The variable of a cell.
    pub(super) fn place(&mut self, place: &Place, site: Site) -> Valid<&'p Variable> {
        let (program, span) = (self.program, place.span);
        let constant = matches!(site, Site::Constant | Site::Initial(_));
        ensure(!constant, Rule::Constant, span)?;
        let variable = match (place.var, site) {
            (VarRef::Shared(id), _) => program.shared.get(id),
            (VarRef::Local(id), Site::Program(template)) => {
                program.templates[template].locals.get(id)
            }
            (VarRef::Local(_), _) => {
                let rule = Rule::Scope;
                return Err(Invalid { rule, span });
            }
        };
        let rule = Rule::Id;
        let variable = variable.ok_or(Invalid { rule, span })?;
        self.indices(&place.indices, variable, site, span)?;
        Ok(variable)
    }

    fn indices(&mut self, given: &[Expr], variable: &Variable, site: Site, span: Span) -> Valid {
        ensure(given.len() == variable.dims.len(), Rule::Indices, span)?;
        for (index, dim) in given.iter().zip(&variable.dims) {
            self.typed(index, dim.ty(), site)?;
        }
        Ok(())
    }

    /// What is said about a process.
    fn about(&mut self, value: &Expr, site: Site) -> Valid<ExprType> {
        let (program, span) = (self.program, value.span);
        let steps = matches!(
            value.kind,
            ExprKind::Enabled { .. } | ExprKind::Taken { .. }
        );
        let said = match site {
            Site::Fairness | Site::Def => true,
            Site::Property => !steps,
            Site::Constant | Site::Initial(_) | Site::Program(_) => false,
        };
        ensure(said, Rule::Site, span)?;
        let (template, process) = match &value.kind {
            ExprKind::Remote {
                template, process, ..
            }
            | ExprKind::At {
                template, process, ..
            }
            | ExprKind::Enabled {
                template, process, ..
            }
            | ExprKind::Taken {
                template, process, ..
            } => (*template, process),
            _ => return Ok(value.ty),
        };
        let known = self.known_template(template, span)?;
        let single = matches!(known.instances, Instances::Single);
        ensure(process.is_none() == single, Rule::Form, span)?;
        if let Some(process) = process {
            self.typed(process, ExprType::Id(template), site)?;
        }
        let template = &program.templates[template];
        match &value.kind {
            ExprKind::Remote { var, indices, .. } => {
                let rule = Rule::Id;
                let variable = template.locals.get(*var).ok_or(Invalid { rule, span })?;
                self.indices(indices, variable, site, span)?;
                let rule = Rule::Type;
                variable.scalar.ty().ok_or(Invalid { rule, span })
            }
            ExprKind::At { locations, .. } => {
                let known = locations
                    .iter()
                    .all(|id| template.locations.get(*id).is_some());
                ensure(known, Rule::Id, span)?;
                let sorted = locations.is_sorted_by(|a, b| a < b) && !locations.is_empty();
                ensure(sorted, Rule::Form, span)?;
                Ok(ExprType::Bool)
            }
            ExprKind::Enabled { location, .. } | ExprKind::Taken { location, .. } => {
                let known = template.locations.get(*location).is_some();
                ensure(known, Rule::Id, span)?;
                Ok(ExprType::Bool)
            }
            _ => Ok(value.ty),
        }
    }

    /// Numbers and ids, ids and optional ids.
    fn coercion(&mut self, value: &Expr, site: Site) -> Valid<ExprType> {
        let (program, span) = (self.program, value.span);
        let unordered = |id: TemplateId| program.templates[id].order == IdOrder::Unordered;
        let mistyped = Err(Invalid {
            rule: Rule::Type,
            span,
        });
        match (&value.kind, value.ty) {
            (ExprKind::IntToId(inner), ExprType::Id(id)) => {
                self.known_template(id, span)?;
                self.typed(inner, ExprType::Int, site)?;
                let property = matches!(site, Site::Property | Site::Fairness | Site::Def);
                let named = property && is_constant(inner);
                ensure(!unordered(id) || named, Rule::Order, span)?;
                Ok(value.ty)
            }
            (ExprKind::IdToInt(inner), ExprType::Int) => {
                self.expr(inner, site)?;
                match inner.ty {
                    ExprType::Id(id) => {
                        ensure(!unordered(id), Rule::Order, span)?;
                        Ok(value.ty)
                    }
                    _ => mistyped,
                }
            }
            (ExprKind::IdToOpt(inner), ExprType::OptId(id)) => {
                self.known_template(id, span)?;
                self.typed(inner, ExprType::Id(id), site)?;
                Ok(value.ty)
            }
            (ExprKind::OptToId(inner), ExprType::Id(id)) => {
                self.known_template(id, span)?;
                self.typed(inner, ExprType::OptId(id), site)?;
                let none = matches!(inner.kind, ExprKind::None);
                ensure(!none, Rule::Type, span)?;
                Ok(value.ty)
            }
            _ => mistyped,
        }
    }
}
