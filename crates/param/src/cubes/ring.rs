//! Rings: how terms name the next process and the one before, and how many there are at least.

use threadwise_lang::program::{Block, Expr, ExprKind, Program, PropertyKind, TemplateId};
use threadwise_model::family::{Family, Formula, Population, Term};

use super::columns::Frame;

/// Whose neighbour a term is, on which ring, and whether the next one: `i + 1`, or 0 if i is the last.
pub(crate) fn neighbour(term: &Term) -> Option<(TemplateId, bool, &Term)> {
    let Term::If(condition, end, further) = term else {
        return None;
    };
    let Formula::Equal(id, last) = &**condition else {
        return None;
    };
    let by = |more: i64| **further == Term::sum(vec![id.clone(), Term::Number(more)]);
    match (last_of(last), last_of(end)) {
        (Some(ring), _) if **end == Term::Number(0) && by(1) => Some((ring, true, id)),
        (_, Some(ring)) if *last == Term::Number(0) && by(-1) => Some((ring, false, id)),
        _ => None,
    }
}

/// The template whose last process has this id.
fn last_of(term: &Term) -> Option<TemplateId> {
    match term {
        Term::Sum(parts) => match parts.as_slice() {
            [Term::Population(template), Term::Number(-1)] => Some(*template),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a program asks for the next one (`true`), and for the one before.
pub(super) fn ways_round(program: &Program) -> Vec<bool> {
    let mut ways = [false; 2];
    let mut see = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let ExprKind::Around { forward, .. } = part.kind {
                ways[usize::from(!forward)] = true;
            }
        });
    };
    program.defs.iter().for_each(|def| see(&def.body));
    for template in &program.templates {
        in_block(&template.body, &mut see);
    }
    for property in &program.properties {
        if let PropertyKind::Invariant(expr) = &property.kind {
            see(expr);
        }
    }
    let used = [true, false].into_iter().zip(ways);
    used.filter(|(_, used)| *used).map(|(way, _)| way).collect()
}

fn in_block(block: &Block, see: &mut dyn FnMut(&Expr)) {
    for statement in block {
        let parts = statement.kind.parts();
        let indices = parts.places.iter().flat_map(|place| &place.indices);
        parts
            .exprs
            .iter()
            .copied()
            .chain(indices)
            .for_each(&mut *see);
        for inner in parts.blocks {
            in_block(inner, see);
        }
    }
}

impl Frame<'_> {
    /// How many processes of a template there are at least, by what `where` says of the parameter that is the number of the last one.
    pub(crate) fn least(&self, template: TemplateId) -> usize {
        least(self.family, template).unwrap_or(0)
    }
}

fn least(family: &Family, template: TemplateId) -> Option<usize> {
    let Population::Between(Term::Number(lowest), greatest) =
        &family.templates[template].population
    else {
        return None;
    };
    let conjuncts = family.assumptions.iter().flat_map(|known| match known {
        Formula::And(members) => members.as_slice(),
        other => std::slice::from_ref(other),
    });
    let bounds = conjuncts.filter_map(|known| match known {
        Formula::AtMost(Term::Number(least), term) if term == greatest => Some(*least),
        _ => None,
    });
    let last = match greatest {
        Term::Number(last) => Some(*last),
        _ => bounds.max(),
    };
    usize::try_from(last?.checked_sub(*lowest)?.checked_add(1)?).ok()
}
