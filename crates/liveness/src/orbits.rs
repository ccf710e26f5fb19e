//! Conjuncts that are the same but for who is who: one of them stands for all.
//!
//! `forall i in P: f(i)` has a conjunct for each process. If exchanging processes changes neither the program nor the fairness, as the types
//! and the uses of ids establish, and takes one conjunct to another, then either both hold or neither.

use threadwise_model::layout::owners;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{Expr, ProcessId, SystemProperty, TemplateSymmetry};
use threadwise_model::temporal::Formula;
use threadwise_symbolic::{Bdd, Halt, Symbolic};

/// For each conjunct, the one that it is the image of and the permutation that takes that one to it; `None` if it is to be decided
/// itself.
pub(crate) fn images(
    symbolic: &Symbolic,
    property: &SystemProperty,
    conjuncts: &[Formula<Expr>],
) -> Result<Vec<Option<(usize, Permutation)>>, Halt> {
    let mut images = Vec::new();
    let mut known: Vec<(usize, Shape)> = Vec::new();
    for (number, conjunct) in conjuncts.iter().enumerate() {
        let mut image = None;
        if let Some(shape) = Shape::of(symbolic, conjunct)? {
            for (other, before) in &known {
                if let Some(permutation) = before.to(symbolic, property, &shape)? {
                    image = Some((*other, permutation));
                    break;
                }
            }
            if image.is_none() {
                known.push((number, shape));
            }
        }
        images.push(image);
    }
    Ok(images)
}

/// A conjunct, its predicates apart.
struct Shape {
    operators: Formula<()>,
    predicates: Vec<Bdd>,
    /// The processes that the predicates speak of, in order.
    mentioned: Vec<ProcessId>,
}

impl Shape {
    /// `None` if a predicate asks for more than a state.
    fn of(symbolic: &Symbolic, conjunct: &Formula<Expr>) -> Result<Option<Self>, Halt> {
        let mut atoms = Vec::new();
        conjunct.for_atoms(&mut |atom| atoms.push(atom));
        if atoms.iter().any(|atom| mentions_choice(atom)) {
            return Ok(None);
        }
        let owners = owners(symbolic.system);
        let whose = symbolic.encoding.cells_of_vars();
        let mut mentioned = Vec::new();
        let mut predicates = Vec::new();
        for atom in atoms {
            let set = symbolic.states(atom)?;
            for var in symbolic.diagrams.support(&set) {
                let process = whose[var as usize].and_then(|cell| owners[cell]);
                if let Some(process) = process
                    && !mentioned.contains(&process)
                {
                    mentioned.push(process);
                }
            }
            predicates.push(set);
        }
        let Ok(operators) = conjunct.try_map(&mut |_| Ok::<(), std::convert::Infallible>(()));
        Ok(Some(Shape {
            operators,
            predicates,
            mentioned,
        }))
    }

    /// The permutation that takes this conjunct to another, if there is one.
    fn to(
        &self,
        symbolic: &Symbolic,
        property: &SystemProperty,
        other: &Shape,
    ) -> Result<Option<Permutation>, Halt> {
        if self.operators != other.operators || self.mentioned.len() != other.mentioned.len() {
            return Ok(None);
        }
        let Some(permutation) = permutation(symbolic, property, &self.mentioned, &other.mentioned)
        else {
            return Ok(None);
        };
        for (mine, theirs) in self.predicates.iter().zip(&other.predicates) {
            if symbolic.permute(mine, &permutation)? != *theirs {
                return Ok(None);
            }
        }
        Ok(Some(permutation))
    }
}

/// A permutation that takes these processes to those, and changes neither the program nor the property as far as types and uses of
/// ids can tell.
fn permutation(
    symbolic: &Symbolic,
    property: &SystemProperty,
    from: &[ProcessId],
    to: &[ProcessId],
) -> Option<Permutation> {
    let system = symbolic.system;
    let mut all: Option<Permutation> = None;
    for (id, template) in system.templates.iter_enumerated() {
        let mut images: Vec<u32> = (0..template.count).collect();
        for (a, b) in from.iter().zip(to) {
            if system.template_of(*a) != system.template_of(*b) {
                return None;
            }
            if system.template_of(*a) != id {
                continue;
            }
            let (a, b) = (system.index_of(*a), system.index_of(*b));
            match template.symmetry {
                TemplateSymmetry::Identity if a != b => return None,
                TemplateSymmetry::Identity => {}
                TemplateSymmetry::Full => {
                    let place = images.iter().position(|image| *image == b)?;
                    images.swap(a as usize, place);
                }
                TemplateSymmetry::Rotations => {
                    let count = template.count;
                    let by = (b + count - a) % count;
                    images = (0..count).map(|index| (index + by) % count).collect();
                }
            }
        }
        let moved = |index: &u32| images[*index as usize] != *index;
        if property.ids.ordered.contains(&id) && (0..template.count).any(|index| moved(&index)) {
            return None;
        }
        let named = property.ids.named.iter();
        if named
            .filter(|(of, _)| *of == id)
            .any(|(_, index)| moved(index))
        {
            return None;
        }
        let mapped = |a: &ProcessId, b: &ProcessId| {
            system.template_of(*a) != id
                || images[system.index_of(*a) as usize] == system.index_of(*b)
        };
        if !from.iter().zip(to).all(|(a, b)| mapped(a, b)) {
            return None;
        }
        if (0..template.count).any(|index| moved(&index)) {
            let one = Permutation::of_template(id, images)?;
            all = Some(match all {
                Some(before) => before.then(&one),
                None => one,
            });
        }
    }
    all
}

fn mentions_choice(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Choice(_));
    expr.for_children(&mut |child| found |= mentions_choice(child));
    found
}
