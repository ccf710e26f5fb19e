//! Changes every part of a program in place: its expressions, statements, formulas and places.

use crate::program::*;

/// What is done to the parts of a program; each is called once for each part, the inner ones first, but for those that say otherwise.
pub trait Rewrite {
    /// A declaration or a property is entered: its place.
    fn enter_item(&mut self, _span: Span) {}
    /// What follows is the text of a template, or no longer.
    fn enter_template(&mut self, _template: Option<TemplateId>) {}
    /// An expression is entered, before its parts.
    fn enter_expr(&mut self, _value: &mut Expr) {}
    /// An expression.
    fn expr(&mut self, _value: &mut Expr) {}
    /// A statement is entered, before its parts.
    fn enter_stmt(&mut self, _stmt: &mut Stmt) {}
    /// A statement of a template.
    fn stmt(&mut self, _template: TemplateId, _stmt: &mut Stmt) {}
    /// A cell that is read or written.
    fn place(&mut self, _place: &mut Place) {}
}

impl Program {
    /// Goes through all parts of the program.
    pub fn rewrite(&mut self, by: &mut dyn Rewrite) {
        for param in &mut self.params {
            by.enter_item(param.span);
            param
                .default
                .iter_mut()
                .for_each(|value| in_expr(value, by));
            param
                .constraint
                .iter_mut()
                .for_each(|value| in_expr(value, by));
        }
        self.shared
            .iter_mut()
            .for_each(|variable| in_variable(variable, by));
        for def in &mut self.defs {
            by.enter_item(def.span);
            in_expr(&mut def.body, by);
        }
        for (id, template) in self.templates.iter_mut_enumerated() {
            by.enter_item(template.span);
            by.enter_template(Some(id));
            if let Instances::Range(lo, hi) = &mut template.instances {
                in_expr(lo, by);
                in_expr(hi, by);
            }
            template
                .locals
                .iter_mut()
                .for_each(|variable| in_variable(variable, by));
            in_block(&mut template.body, id, by);
        }
        by.enter_template(None);
        self.initially
            .iter_mut()
            .chain(&mut self.exceptions)
            .for_each(|value| in_expr(value, by));
        for fairness in &mut self.fairness {
            by.enter_item(fairness.span);
            let terms = fairness.alternatives.iter_mut().flatten();
            terms.for_each(|term| in_fairness(term, by));
        }
        for property in &mut self.properties {
            by.enter_item(property.span);
            match &mut property.kind {
                PropertyKind::Invariant(value) => in_expr(value, by),
                PropertyKind::DeadlockFree => {}
                PropertyKind::Liveness { formula, .. } => in_formula(formula, by),
            }
        }
    }

    /// Changes every place in the program.
    pub fn map_spans(&mut self, new: &mut dyn FnMut(Span) -> Span) {
        struct Spans<'n>(&'n mut dyn FnMut(Span) -> Span);
        impl Rewrite for Spans<'_> {
            fn expr(&mut self, value: &mut Expr) {
                value.span = (self.0)(value.span);
            }
            fn stmt(&mut self, _: TemplateId, stmt: &mut Stmt) {
                stmt.span = (self.0)(stmt.span);
            }
            fn place(&mut self, place: &mut Place) {
                place.span = (self.0)(place.span);
            }
        }
        self.rewrite(&mut Spans(new));
        let mut spans: Vec<&mut Span> = Vec::new();
        spans.extend(self.params.iter_mut().map(|item| &mut item.span));
        spans.extend(self.enums.iter_mut().map(|item| &mut item.span));
        spans.extend(self.shared.iter_mut().map(|item| &mut item.span));
        spans.extend(self.defs.iter_mut().map(|item| &mut item.span));
        for template in &mut self.templates {
            spans.push(&mut template.span);
            spans.extend(template.locals.iter_mut().map(|item| &mut item.span));
            spans.extend(template.locations.iter_mut().map(|item| &mut item.span));
        }
        spans.extend(self.fairness.iter_mut().map(|item| &mut item.span));
        spans.extend(self.properties.iter_mut().map(|item| &mut item.span));
        spans.extend(self.directives.iter_mut().map(|item| &mut item.span));
        spans.into_iter().for_each(|span| *span = new(*span));
    }

    /// Gives locations other numbers.
    pub(crate) fn renumber_locations(
        &mut self,
        new: &dyn Fn(TemplateId, LocationId) -> Option<LocationId>,
    ) {
        struct Renumber<'n>(&'n dyn Fn(TemplateId, LocationId) -> Option<LocationId>);
        impl Rewrite for Renumber<'_> {
            fn expr(&mut self, value: &mut Expr) {
                match &mut value.kind {
                    ExprKind::At {
                        template,
                        locations,
                        ..
                    } => {
                        for location in &mut *locations {
                            *location = (self.0)(*template, *location).unwrap_or(*location);
                        }
                        locations.sort();
                        locations.dedup();
                    }
                    ExprKind::Enabled {
                        template, location, ..
                    }
                    | ExprKind::Taken {
                        template, location, ..
                    } => {
                        *location = (self.0)(*template, *location).unwrap_or(*location);
                    }
                    _ => {}
                }
            }
            fn stmt(&mut self, template: TemplateId, stmt: &mut Stmt) {
                if let StmtKind::Goto(location) = &mut stmt.kind {
                    *location = (self.0)(template, *location).unwrap_or(*location);
                }
                if let Some(label) = &mut stmt.label {
                    *label = (self.0)(template, *label).unwrap_or(*label);
                }
            }
        }
        self.rewrite(&mut Renumber(new));
    }
}

fn in_variable(variable: &mut Variable, by: &mut dyn Rewrite) {
    by.enter_item(variable.span);
    variable.dims.iter_mut().for_each(|dim| in_domain(dim, by));
    if let Scalar::Range(lo, hi) = &mut variable.scalar {
        in_expr(std::sync::Arc::make_mut(lo), by);
        in_expr(std::sync::Arc::make_mut(hi), by);
    }
    if let Initial::Value(value) = &mut variable.initial {
        in_expr(value, by);
    }
}

fn in_domain(domain: &mut Domain, by: &mut dyn Rewrite) {
    if let Domain::Range(lo, hi) = domain {
        in_expr(std::sync::Arc::make_mut(lo), by);
        in_expr(std::sync::Arc::make_mut(hi), by);
    }
}

fn in_fairness(term: &mut FairnessTerm, by: &mut dyn Rewrite) {
    match term {
        FairnessTerm::Unconditional => {}
        FairnessTerm::Weak(bound, value) => {
            bound
                .iter_mut()
                .for_each(|(_, domain)| in_domain(domain, by));
            in_expr(value, by);
        }
        FairnessTerm::Strong(bound, condition, then) => {
            bound
                .iter_mut()
                .for_each(|(_, domain)| in_domain(domain, by));
            in_expr(condition, by);
            in_expr(then, by);
        }
    }
}

fn in_formula(formula: &mut Ltl, by: &mut dyn Rewrite) {
    match formula {
        Ltl::State(value) => in_expr(value, by),
        Ltl::Not(f) | Ltl::Globally(f) | Ltl::Finally(f) | Ltl::Next(f) => in_formula(f, by),
        Ltl::And(list) | Ltl::Or(list) => list.iter_mut().for_each(|f| in_formula(f, by)),
        Ltl::Implies(f, g)
        | Ltl::Iff(f, g)
        | Ltl::Until(f, g)
        | Ltl::Release(f, g)
        | Ltl::WeakUntil(f, g) => {
            in_formula(f, by);
            in_formula(g, by);
        }
        Ltl::Quantified { domain, body, .. } => {
            in_domain(domain, by);
            in_formula(body, by);
        }
    }
}

fn in_block(block: &mut Block, template: TemplateId, by: &mut dyn Rewrite) {
    for stmt in block {
        by.enter_stmt(stmt);
        in_statement(&mut stmt.kind, template, by);
        by.stmt(template, stmt);
    }
}

fn in_statement(kind: &mut StmtKind, template: TemplateId, by: &mut dyn Rewrite) {
    match kind {
        StmtKind::Skip
        | StmtKind::Stay
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Return => {}
        StmtKind::Assign(places, values) => {
            places.iter_mut().for_each(|place| in_place(place, by));
            values.iter_mut().for_each(|value| in_expr(value, by));
        }
        StmtKind::Cas {
            result,
            place,
            old,
            new,
        } => {
            result.iter_mut().for_each(|place| in_place(place, by));
            in_place(place, by);
            in_expr(old, by);
            in_expr(new, by);
        }
        StmtKind::Swap {
            result,
            place,
            value,
        }
        | StmtKind::FetchAdd {
            result,
            place,
            amount: value,
        } => {
            result.iter_mut().for_each(|place| in_place(place, by));
            in_place(place, by);
            in_expr(value, by);
        }
        StmtKind::Start(_, values) => values.iter_mut().for_each(|value| in_expr(value, by)),
        StmtKind::Await(value) | StmtKind::Assert(value) => in_expr(value, by),
        StmtKind::Havoc(places) => places.iter_mut().for_each(|place| in_place(place, by)),
        StmtKind::Lock(place) | StmtKind::Unlock(place) => in_place(place, by),
        StmtKind::If(branches, otherwise) => {
            for (condition, block) in branches {
                in_expr(condition, by);
                in_block(block, template, by);
            }
            in_block(otherwise, template, by);
        }
        StmtKind::Choose(blocks) => blocks
            .iter_mut()
            .for_each(|block| in_block(block, template, by)),
        StmtKind::While(condition, block) => {
            in_expr(condition, by);
            in_block(block, template, by);
        }
        StmtKind::Loop(block) | StmtKind::Group { body: block, .. } => {
            in_block(block, template, by)
        }
        StmtKind::ChooseIn(_, domain, block)
        | StmtKind::For(_, domain, block)
        | StmtKind::ForLabelled(_, domain, block) => {
            in_domain(domain, by);
            in_block(block, template, by);
        }
    }
}

fn in_place(place: &mut Place, by: &mut dyn Rewrite) {
    place
        .indices
        .iter_mut()
        .for_each(|index| in_expr(index, by));
    by.place(place);
}

fn in_expr(value: &mut Expr, by: &mut dyn Rewrite) {
    use ExprKind::*;
    by.enter_expr(value);
    match &mut value.kind {
        Bool(_) | Int(_) | Member(_) | None | Param(_) | Own | Bound(_) => {}
        Read(place) | Locked(place) => in_place(place, by),
        Remote {
            process, indices, ..
        } => {
            process.iter_mut().for_each(|process| in_expr(process, by));
            indices.iter_mut().for_each(|index| in_expr(index, by));
        }
        At { process, .. } | Enabled { process, .. } | Taken { process, .. } => {
            process.iter_mut().for_each(|process| in_expr(process, by));
        }
        IntToId(e)
        | IdToInt(e)
        | IdToOpt(e)
        | OptToId(e)
        | Not(e)
        | Neg(e)
        | Around { id: e, .. } => in_expr(e, by),
        And(list) | Or(list) | Call(_, list) => list.iter_mut().for_each(|e| in_expr(e, by)),
        Implies(a, b) | Iff(a, b) | Compare(_, a, b) | Arith(_, a, b) => {
            in_expr(a, by);
            in_expr(b, by);
        }
        Fold { domain, body, .. } => {
            in_domain(domain, by);
            in_expr(body, by);
        }
    }
    by.expr(value);
}
