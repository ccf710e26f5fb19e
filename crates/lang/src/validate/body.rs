//! The bodies of templates: statements, labels and control flow.

use std::collections::BTreeSet;

use super::{Binding, Rule, Site, Valid, Validator, ensure, fits};
use crate::check::{check_template, entry_label, same_cell, same_value};
use crate::program::*;
use crate::rounds::independent;

/// What surrounds a statement.
#[derive(Clone, Copy)]
struct Around {
    template: TemplateId,
    in_loop: bool,
    /// Inside of one step: no labels.
    one_step: bool,
}

/// Labels and counters that were met.
#[derive(Default)]
struct Met {
    labels: BTreeSet<LocationId>,
    /// In the order of the text.
    order: Vec<LocationId>,
    counters: BTreeSet<LocalId>,
}

impl Validator<'_> {
    pub(super) fn template(&mut self, id: TemplateId) -> Valid {
        let template = &self.program.templates[id];
        let around = Around {
            template: id,
            in_loop: false,
            one_step: false,
        };
        let mut met = Met::default();
        self.block(&template.body, around, &mut met)?;
        let labels = template.locations.len() - 1;
        ensure(met.labels.len() == labels, Rule::Label, template.span)?;
        ensure(met.order.is_sorted(), Rule::Label, template.span)?;
        let counters = template.locals.iter().filter(|v| v.loop_counter).count();
        ensure(met.counters.len() == counters, Rule::Loop, template.span)?;
        // Declarations come before the counters of loops.
        let declared = template.locals.iter().take_while(|v| !v.loop_counter);
        let last = declared.count() + counters == template.locals.len();
        ensure(last, Rule::Loop, template.span)?;
        let entry = entry_label(&template.body);
        ensure(entry == Some(template.entry), Rule::Flow, template.span)?;
        let (errors, _) = check_template(self.program, &self.domains, id);
        match errors.first() {
            Some(error) => ensure(false, Rule::Flow, error.span),
            None => Ok(()),
        }
    }

    fn block(&mut self, block: &Block, around: Around, met: &mut Met) -> Valid {
        for stmt in block {
            if let Some(label) = stmt.label {
                let template = &self.program.templates[around.template];
                let known = label < template.done() && met.labels.insert(label);
                ensure(known && !around.one_step, Rule::Label, stmt.span)?;
                met.order.push(label);
            }
            self.deeper(stmt.span, |this| this.statement(stmt, around, met))?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt, around: Around, met: &mut Met) -> Valid {
        let (program, span) = (self.program, stmt.span);
        let site = Site::Program(around.template);
        let in_loop = Around {
            in_loop: true,
            ..around
        };
        match &stmt.kind {
            StmtKind::Assign(places, values) => self.assign(places, values, site, span),
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                let (ty, scalar) = self.written(place, site)?;
                self.typed(old, ty, site)?;
                self.typed(new, ty, site)?;
                fits(new, &scalar)?;
                self.result(result.as_ref(), place, ExprType::Bool, site)
            }
            StmtKind::Swap {
                result,
                place,
                value,
            } => {
                let (ty, scalar) = self.written(place, site)?;
                self.typed(value, ty, site)?;
                fits(value, &scalar)?;
                self.result(result.as_ref(), place, ty, site)
            }
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => {
                let (ty, _) = self.written(place, site)?;
                ensure(ty == ExprType::Int, Rule::Type, place.span)?;
                self.typed(amount, ExprType::Int, site)?;
                self.result(result.as_ref(), place, ty, site)
            }
            StmtKind::Await(value) | StmtKind::Assert(value) => {
                self.typed(value, ExprType::Bool, site)
            }
            StmtKind::Skip | StmtKind::Stay | StmtKind::Return => Ok(()),
            StmtKind::Break => ensure(around.in_loop, Rule::Loop, span),
            StmtKind::Havoc(places) => {
                ensure(!places.is_empty(), Rule::Form, span)?;
                places
                    .iter()
                    .try_for_each(|place| self.written(place, site).map(|_| ()))
            }
            StmtKind::Lock(place) | StmtKind::Unlock(place) => {
                let variable = self.place(place, site)?;
                let mutex = matches!(variable.scalar, Scalar::Mutex);
                ensure(mutex, Rule::Write, place.span)
            }
            StmtKind::Start(id, values) => {
                self.known_template(*id, span)?;
                let template = &program.templates[*id];
                let dynamic = matches!(template.instances, Instances::Dynamic);
                let parameters: Vec<&Variable> = template.parameters().map(|(_, v)| v).collect();
                ensure(
                    dynamic && parameters.len() == values.len(),
                    Rule::Form,
                    span,
                )?;
                for (parameter, value) in parameters.into_iter().zip(values) {
                    let ty = parameter.scalar.ty();
                    let ty = ty.ok_or(super::Invalid {
                        rule: Rule::Type,
                        span,
                    })?;
                    self.typed(value, ty, site)?;
                    fits(value, &parameter.scalar)?;
                }
                Ok(())
            }
            StmtKind::Goto(label) => {
                let template = &program.templates[around.template];
                ensure(*label < template.done(), Rule::Label, span)
            }
            StmtKind::If(branches, otherwise) => {
                ensure(!branches.is_empty(), Rule::Form, span)?;
                for (condition, block) in branches {
                    self.typed(condition, ExprType::Bool, site)?;
                    self.block(block, around, met)?;
                }
                self.block(otherwise, around, met)
            }
            StmtKind::Choose(blocks) => {
                ensure(!blocks.is_empty(), Rule::Form, span)?;
                blocks
                    .iter()
                    .try_for_each(|block| self.block(block, around, met))
            }
            StmtKind::While(condition, block) => {
                self.typed(condition, ExprType::Bool, site)?;
                self.block(block, in_loop, met)
            }
            StmtKind::Loop(block) => self.block(block, in_loop, met),
            StmtKind::ChooseIn(var, domain, block) => {
                self.domain(domain, site, span)?;
                self.over(*var, domain, block, around, met, span)
            }
            StmtKind::For(var, domain, block) => {
                self.domain(domain, site, span)?;
                self.over(*var, domain, block, in_loop, met, span)?;
                match self.unordered(domain) {
                    Some(id) => {
                        let rounds = independent(program, around.template, *var, id, block);
                        ensure(rounds.is_ok(), Rule::Order, span)
                    }
                    None => Ok(()),
                }
            }
            StmtKind::ForLabelled(counter, domain, block) => {
                self.domain(domain, site, span)?;
                ensure(self.unordered(domain).is_none(), Rule::Order, span)?;
                self.counter(*counter, domain, around.template, met, span)?;
                let before = met.labels.len();
                self.block(block, in_loop, met)?;
                ensure(met.labels.len() > before, Rule::Loop, span)
            }
            StmtKind::Group { atomic, body } => {
                let around = Around {
                    one_step: around.one_step || *atomic,
                    // A macro's loops are its own.
                    in_loop: around.in_loop && *atomic,
                    ..around
                };
                self.block(body, around, met)
            }
        }
    }

    /// The block of a bound variable: one step.
    fn over(
        &mut self,
        var: BoundId,
        domain: &Domain,
        block: &Block,
        around: Around,
        met: &mut Met,
        span: Span,
    ) -> Valid {
        self.bind(var, Some(domain), span)?;
        let around = Around {
            one_step: true,
            ..around
        };
        self.block(block, around, met)?;
        self.bound[var] = Binding::Over;
        Ok(())
    }

    /// The template whose ids a loop goes through, if they have no order.
    fn unordered(&self, domain: &Domain) -> Option<TemplateId> {
        match domain {
            Domain::Template(id) => {
                let order = self.program.templates[*id].order;
                (order == IdOrder::Unordered).then_some(*id)
            }
            Domain::Range(..) | Domain::Enum(_) => None,
        }
    }

    /// The hidden counter of a loop with labels.
    fn counter(
        &mut self,
        id: LocalId,
        domain: &Domain,
        template: TemplateId,
        met: &mut Met,
        span: Span,
    ) -> Valid {
        let Some(counter) = self.program.templates[template].locals.get(id) else {
            return ensure(false, Rule::Id, span);
        };
        ensure(
            counter.loop_counter && counter.dims.is_empty() && met.counters.insert(id),
            Rule::Loop,
            span,
        )?;
        let within = match (domain, &counter.scalar) {
            (Domain::Range(lo, hi), Scalar::Range(least, most)) => {
                let top = matches!(&most.kind, ExprKind::Arith(ArithOp::Max, a, b) if same_value(a, lo) && same_value(b, hi));
                same_value(least, lo) && top
            }
            (Domain::Enum(a), Scalar::Enum(b)) => a == b,
            (Domain::Template(a), Scalar::Id(b)) => a == b,
            _ => false,
        };
        ensure(within, Rule::Loop, span)
    }

    fn assign(&mut self, places: &[Place], values: &[Expr], site: Site, span: Span) -> Valid {
        let many = places.len() == values.len() && !places.is_empty();
        ensure(many, Rule::Form, span)?;
        for (position, (place, value)) in places.iter().zip(values).enumerate() {
            let (ty, scalar) = self.written(place, site)?;
            self.typed(value, ty, site)?;
            fits(value, &scalar)?;
            let twice = places[..position].iter().any(|p| same_cell(p, place));
            ensure(!twice, Rule::Write, place.span)?;
        }
        Ok(())
    }

    /// The type of a cell that is written: no mutex, and no loop's counter.
    fn written(&mut self, place: &Place, site: Site) -> Valid<(ExprType, Scalar)> {
        let variable = self.place(place, site)?;
        ensure(!variable.loop_counter, Rule::Write, place.span)?;
        match variable.scalar.ty() {
            Some(ty) => Ok((ty, variable.scalar.clone())),
            None => Err(super::Invalid {
                rule: Rule::Write,
                span: place.span,
            }),
        }
    }

    /// Where the result of a primitive goes, which is another cell.
    fn result(&mut self, result: Option<&Place>, place: &Place, ty: ExprType, site: Site) -> Valid {
        let Some(result) = result else { return Ok(()) };
        let (found, _) = self.written(result, site)?;
        let fits = match (ty, found) {
            (ExprType::Id(a), ExprType::OptId(b)) => a == b,
            (a, b) => a == b,
        };
        ensure(fits, Rule::Type, result.span)?;
        ensure(!same_cell(result, place), Rule::Write, result.span)
    }
}
