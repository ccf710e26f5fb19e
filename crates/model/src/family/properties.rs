//! Invariants of a family: conjuncts, each about all processes of some templates.

use threadwise_lang::program::{BoundId, PropertyKind, TemplateId};

use super::expr::Lowering;
use super::{Family, Formula, Term, Unsupported};
use crate::execute::Evaluate;

/// A part of an invariant: it is to hold of all processes of these templates.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// The processes, which need not be different, and their templates.
    pub variables: Vec<(BoundId, TemplateId)>,
    /// What must hold. What its evaluation checks must, too.
    pub body: Formula,
}

impl Family {
    /// The name, in conjuncts, of the process of a template that has a single one.
    pub fn single(&self, template: TemplateId) -> BoundId {
        BoundId::from_usize(self.program().bounds.len() + template.index())
    }

    /// The conjuncts of an invariant; `None` if there is no invariant with this name.
    pub fn invariant(&self, name: &str) -> Result<Option<Vec<Conjunct>>, Unsupported> {
        let program = self.program();
        let found = program.properties.iter().find(|p| p.name == name);
        let Some(PropertyKind::Invariant(expr)) = found.map(|property| &property.kind) else {
            return Ok(None);
        };
        let mut lowering = Lowering::new(self, None);
        let formula = lowering.truth(expr)?;
        let checks = std::mem::take(&mut lowering.frame().checks);
        let checks = checks.into_iter().map(|check| check.holds);
        let mut conjuncts = Vec::new();
        for formula in checks.chain([formula]) {
            split(formula, &mut Vec::new(), &mut conjuncts);
        }
        for conjunct in &mut conjuncts {
            let mentioned = lowering.singles.iter().copied();
            let mentioned = mentioned.filter(|template| {
                // The text of a term tells whether a name is in it.
                let name = Term::Bound(self.single(*template)).to_string();
                let text = conjunct.body.to_string();
                let mut words = text.split(|c: char| !c.is_alphanumeric());
                words.any(|word| word == name)
            });
            let mentioned: Vec<_> = mentioned.map(|t| (self.single(t), t)).collect();
            conjunct.variables.extend(mentioned);
        }
        Ok(Some(conjuncts))
    }
}

/// Takes a formula apart at conjunctions and universal quantifiers.
fn split(
    formula: Formula,
    variables: &mut Vec<(BoundId, TemplateId)>,
    conjuncts: &mut Vec<Conjunct>,
) {
    match formula {
        Formula::And(members) => {
            for member in members {
                split(member, variables, conjuncts);
            }
        }
        Formula::ForAll(var, template, body) => {
            variables.push((var, template));
            split(*body, variables, conjuncts);
            variables.pop();
        }
        Formula::Constant(true) => {}
        body => conjuncts.push(Conjunct {
            variables: variables.clone(),
            body,
        }),
    }
}
