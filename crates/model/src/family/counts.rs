//! Numbers of processes that are compared with a small number, or with that of all: said with quantifiers.
//!
//! That at most one process has something is that of two different processes one has it not. So it makes no difference to engines and checkers which of the two was written. Numbers of processes
//! at labels stay as they are: they are what counters count.

use threadwise_lang::program::{BoundId, Scalar, TemplateId};

use super::terms::Names;
use super::{Cell, Family, FoldKind, Formula, Population, Term};
use crate::execute::Form;

/// The greatest number that a number of processes is compared with.
const MOST: i64 = 2;
/// The greatest size of what processes are counted by. It is there once for each of these.
const MAX_NODES: usize = 400;

/// Processes of which something holds.
struct Counted {
    var: BoundId,
    template: TemplateId,
    what: Formula,
}

impl Formula {
    /// The same without numbers of processes, where these are compared with so few, or with all. `fresh` is the next name that no process has.
    pub(super) fn without_counts(self, family: &Family, fresh: &mut usize) -> Formula {
        match self {
            Formula::Not(inner) => inner.without_counts(family, fresh).negated(),
            Formula::And(members) => {
                let each = members.into_iter();
                Formula::all(each.map(|member| member.without_counts(family, fresh)))
            }
            Formula::Or(members) => {
                let each = members.into_iter();
                Formula::any(each.map(|member| member.without_counts(family, fresh)))
            }
            Formula::ForAll(var, template, body) => {
                Formula::quantified(true, var, template, body.without_counts(family, fresh))
            }
            Formula::Exists(var, template, body) => {
                Formula::quantified(false, var, template, body.without_counts(family, fresh))
            }
            Formula::AtMost(ref a, ref b) => match (a.counted(family), b.counted(family)) {
                (Some(counted), None) => counted.at_most(b, fresh),
                (None, Some(counted)) => counted.at_least(a, family, fresh),
                _ => None,
            }
            .unwrap_or(self),
            Formula::Equal(ref a, ref b) => match (a.counted(family), b.counted(family)) {
                (Some(counted), None) => counted.exactly(b, family, fresh),
                (None, Some(counted)) => counted.exactly(a, family, fresh),
                _ => None,
            }
            .unwrap_or(self),
            other => other,
        }
    }

    /// Whether it says that a term is not negative.
    fn is_natural(&self, term: &Term) -> bool {
        match self {
            Formula::AtMost(Term::Number(0..), known) => known == term,
            Formula::Not(inner) => match &**inner {
                Formula::AtMost(known, Term::Number(-1..)) => known == term,
                _ => false,
            },
            Formula::And(members) => members.iter().any(|member| member.is_natural(term)),
            _ => false,
        }
    }

    /// Whether it depends on nothing but where this process is.
    fn is_about_labels(&self, var: BoundId) -> bool {
        match self {
            Formula::Constant(_) => true,
            Formula::At { process, .. } => *process == Term::Bound(var),
            Formula::Not(inner) => inner.is_about_labels(var),
            Formula::And(members) | Formula::Or(members) => {
                members.iter().all(|member| member.is_about_labels(var))
            }
            _ => false,
        }
    }
}

impl Term {
    /// The processes that a term is the number of, unless labels decide who they are.
    fn counted(&self, family: &Family) -> Option<Counted> {
        let Term::Fold {
            kind: FoldKind::Sum,
            var,
            template,
            body,
        } = self
        else {
            return None;
        };
        let what = match &**body {
            Term::If(what, yes, no)
                if **yes == Term::Number(1)
                    && **no == Term::Number(0)
                    && what.size().nodes <= MAX_NODES =>
            {
                (**what).clone()
            }
            // Truth values are counted, and not added up.
            Term::Cell(cell) if cell.is_truth(family) => {
                Formula::equal((**body).clone(), Term::Number(1))
            }
            _ => return None,
        };
        (!what.is_about_labels(*var)).then_some(Counted {
            var: *var,
            template: *template,
            what,
        })
    }
}

impl Cell {
    fn is_truth(&self, family: &Family) -> bool {
        let program = family.program();
        let declared = match self {
            Cell::Shared { var, .. } => &program.shared[*var],
            Cell::Local { template, var, .. } => &program.templates[*template].locals[*var],
        };
        declared.scalar == Scalar::Bool
    }
}

impl Counted {
    /// That there are at most so many.
    fn at_most(&self, number: &Term, fresh: &mut usize) -> Option<Formula> {
        match number {
            Term::Number(number) if (0..=MOST).contains(number) => {
                Some(self.different(number + 1, true, fresh))
            }
            _ => None,
        }
    }

    /// That there are at least so many.
    fn at_least(&self, number: &Term, family: &Family, fresh: &mut usize) -> Option<Formula> {
        match number {
            Term::Number(number) if (1..=MOST).contains(number) => {
                Some(self.different(*number, false, fresh))
            }
            _ if self.is_population(number, family) => Some(self.all()),
            _ => None,
        }
    }

    /// That there are so many.
    fn exactly(&self, number: &Term, family: &Family, fresh: &mut usize) -> Option<Formula> {
        match number {
            Term::Number(0) => self.at_most(number, fresh),
            Term::Number(few) if (1..=MOST).contains(few) => Some(Formula::all([
                self.at_least(number, family, fresh)?,
                self.at_most(number, fresh)?,
            ])),
            _ if self.is_population(number, family) => Some(self.all()),
            _ => None,
        }
    }

    /// Whether a number is that of all processes: theirs are the ids from 1 to it, and it is not negative.
    fn is_population(&self, number: &Term, family: &Family) -> bool {
        let population = &family.templates[self.template].population;
        let last =
            matches!(population, Population::Between(Term::Number(1), last) if last == number);
        last && family
            .assumptions
            .iter()
            .any(|known| known.is_natural(number))
    }

    fn all(&self) -> Formula {
        Formula::quantified(true, self.var, self.template, self.what.clone())
    }

    /// That of some so many different processes it holds, or (`none`) that it does not hold of all of any so many.
    fn different(&self, number: i64, none: bool, fresh: &mut usize) -> Formula {
        let mut names = vec![self.var];
        while (names.len() as i64) < number {
            names.push(BoundId::from_usize(*fresh));
            *fresh += 1;
        }
        let mut parts = Vec::new();
        for (place, name) in names.iter().enumerate() {
            for other in &names[..place] {
                let same = Formula::equal(Term::Bound(*other), Term::Bound(*name));
                parts.push(if none { same } else { same.negated() });
            }
            let what = self.what.resolve(&Names::renaming(self.var, *name));
            parts.push(if none { what.negated() } else { what });
        }
        let body = match none {
            true => Formula::any(parts),
            false => Formula::all(parts),
        };
        let outwards = names.into_iter().rev();
        outwards.fold(body, |body, name| {
            Formula::quantified(none, name, self.template, body)
        })
    }
}
