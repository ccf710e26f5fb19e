//! Paths of a family: where something is checked, one path ends in the failure and the other goes on knowing that the check succeeded.

use std::collections::BTreeSet;

use threadwise_lang::program::{BoundId, Domain, LocalId, LocationId, Scalar, Span, TemplateId};

use super::expr::{Everybody, Lowering, Result, Targets};
use super::{
    Family, FamilyVariable, Formula, MAX_PATHS, Path, PathEnd, Started, Term, Unsupported, Write,
    between,
};
use crate::execute::{self, Evaluate, Execute, Form};
use crate::system::Check;

/// The greatest size of all paths from a label, as a number of nodes.
const MAX_NODES: usize = 2_000_000;
/// The greatest number of statements on all paths from a label.
const MAX_STATEMENTS: usize = 20_000;
/// The greatest number of writes in a step.
const MAX_WRITES: usize = 1_000;

/// A path that is executed.
pub(super) type Open = execute::Path<Term, Write, Trail>;

/// The paths of a template, in the order of its labels, and the labels at which a process may rest.
pub(super) fn paths(
    family: &Family,
    template: TemplateId,
) -> Result<(Vec<Path>, BTreeSet<LocationId>)> {
    let flow = execute::flow(family.program(), template);
    let mut lowering = Lowering::new(family, Some(template));
    for from in family.templates[template].locations.indices() {
        (lowering.nodes, lowering.statements) = (0, 0);
        execute::follow(&mut lowering, &flow, from)?;
    }
    Ok((lowering.paths, lowering.rests))
}

/// What must hold for a path, and how many values it chooses.
#[derive(Clone, Default)]
pub(super) struct Trail {
    guard: Vec<Formula>,
    choices: u32,
}

impl Trail {
    fn impossible(&self) -> bool {
        self.guard.contains(&Formula::Constant(false))
    }

    fn assume(&mut self, condition: Formula) {
        match condition {
            Formula::Constant(true) => {}
            Formula::And(members) => self.guard.extend(members),
            other => self.guard.push(other),
        }
    }

    /// A value that is chosen, with what is known of it.
    fn choice(&mut self, least: &Option<Term>, greatest: &Option<Term>) -> Term {
        let value = Term::Choice(self.choices);
        self.choices += 1;
        self.assume(between(least, &value, greatest));
        value
    }
}

impl Lowering<'_> {
    /// Counts what is kept of the path.
    fn spend(&mut self) -> Result<()> {
        let path = &self.path;
        let guard = path.trail.guard.iter().map(|formula| formula.size().nodes);
        let writes = path.frame.writes.iter();
        let writes = writes.map(|write| write.cell.size().nodes + write.value.size().nodes);
        self.nodes += guard.chain(writes).sum::<usize>();
        match self.nodes > MAX_NODES {
            true => Err(Unsupported::new("the steps are too large", path.span)),
            false => Ok(()),
        }
    }

    /// The path is over.
    fn finish(&mut self, end: PathEnd) -> Result<()> {
        if self.path.trail.impossible() {
            return Ok(());
        }
        self.spend()?;
        let path = std::mem::take(&mut self.path);
        let (writes, starts) = match end {
            PathEnd::At(_) => {
                let starts = path.frame.starts.into_iter().zip(path.frame.given);
                let starts = starts.map(|(template, given)| Started { template, given });
                (path.frame.writes, starts.collect())
            }
            PathEnd::Fails(..) => (Vec::new(), Vec::new()),
        };
        let program = self.family.program();
        let mut fresh = program.bounds.len() + program.templates.len();
        let guard = path.trail.guard.into_iter().flat_map(|formula| {
            match formula.without_counts(self.family, &mut fresh) {
                Formula::And(members) => members,
                Formula::Constant(true) => Vec::new(),
                other => vec![other],
            }
        });
        self.paths.push(Path {
            from: path.from,
            guard: guard.collect(),
            choices: path.trail.choices,
            writes,
            starts,
            end,
            span: path.span,
        });
        Ok(())
    }
}

impl<'a> Execute for Lowering<'a> {
    type Trail = Trail;
    // Proofs are found path by path, so their order shows in certificates.
    const OTHERWISE_FIRST: bool = true;

    fn path(&mut self) -> &mut Open {
        &mut self.path
    }

    fn goes_on(&mut self, pending: usize) -> Result<bool> {
        if self.path.trail.impossible() {
            return Ok(false);
        }
        self.statements += 1;
        let what = match () {
            () if self.paths.len() + pending > MAX_PATHS => {
                format!("the template has more than {MAX_PATHS} paths")
            }
            () if self.statements > MAX_STATEMENTS => {
                format!("the steps have more than {MAX_STATEMENTS} statements")
            }
            () => return Ok(true),
        };
        Err(Unsupported::new(what, self.path.span))
    }

    fn fork(&mut self) -> Result<Open> {
        self.spend()?;
        Ok(self.path.clone())
    }

    fn assume(&mut self, condition: Formula) -> bool {
        let possible = condition != Formula::Constant(false);
        self.path.trail.assume(condition);
        possible
    }

    /// What is checked for everybody must hold of all processes.
    fn require(&mut self, check: Check<Formula>) -> Result<()> {
        let everybody = self.everybody.iter().rev();
        let holds = everybody.fold(check.holds, |holds, each| {
            Formula::quantified(true, each.bound, each.template, holds)
        });
        let check = Check { holds, ..check };
        let succeeding = self.path.clone();
        self.path.trail.assume(check.holds.clone().negated());
        self.finish(PathEnd::Fails(check.kind, check.span))?;
        self.path = succeeding;
        self.path.trail.assume(check.holds);
        Ok(())
    }

    fn arrive(&mut self, to: LocationId) -> Result<()> {
        self.finish(PathEnd::At(to))
    }

    // A process that rests changes nothing.
    fn rest(&mut self) -> Result<()> {
        self.rests.insert(self.path.from);
        Ok(())
    }

    // The paths on which its checks fail are there already.
    fn end(&mut self) {}

    fn bounds(&mut self, domain: &Domain, _: Span) -> Result<(Term, Term)> {
        self.family.domain_bounds(domain)
    }

    fn numbers(&mut self, domain: &Domain, span: Span) -> Result<(i64, i64)> {
        let values = self.family.domain_values(domain, span)?;
        Ok((*values.start(), *values.end()))
    }

    fn choose(&mut self, least: Term, greatest: Term) -> Option<Term> {
        Some(self.path.trail.choice(&Some(least), &Some(greatest)))
    }

    fn any(&mut self, place: &Targets<'a>, span: Span) -> Result<Term> {
        if matches!(place.scalar, Scalar::Mutex) {
            return Err(Unsupported::new("`havoc` of a mutex", span));
        }
        let variable = place.variable;
        Ok(self.path.trail.choice(&variable.least, &variable.greatest))
    }

    fn different(&mut self, [a, b]: [&Targets<'a>; 2], _: Span) -> Result<Formula> {
        let twice = b.cells.iter().flat_map(|(here, cell)| {
            a.cells.iter().map(move |(there, other)| {
                Formula::all([here.clone(), there.clone(), cell.same(other)])
            })
        });
        Ok(Formula::any(twice).negated())
    }

    /// Truth values and ids are inside their types by construction; only integers are checked.
    fn fits(&mut self, place: &Targets<'a>, value: &Term) -> Result<Formula> {
        Ok(within(place.scalar, place.variable, value))
    }

    fn holder(&self) -> Term {
        let own = self.own.unwrap_or(TemplateId::new(0));
        self.family.mutex_code(own, Term::Own)
    }

    fn write(&mut self, place: Targets<'a>, value: Term, span: Span) -> Result<()> {
        for (condition, cell) in place.cells {
            let kept = self.current(cell.clone());
            let new = Term::either(condition, value.clone(), kept);
            self.admit(&new, span)?;
            let each = Vec::new();
            let write = Write {
                each,
                cell,
                value: new,
            };
            self.path.frame.writes.push(write);
        }
        match self.path.frame.writes.len() > MAX_WRITES {
            true => Err(Unsupported::new(
                format!("a step has more than {MAX_WRITES} writes"),
                span,
            )),
            false => Ok(()),
        }
    }

    fn write_where(&mut self, condition: Formula, writes: Vec<Write>, span: Span) -> Result<()> {
        let mut merged = Vec::with_capacity(writes.len());
        for write in writes {
            // A cell of everybody is that of the process whose name it has.
            let kept = self.current(write.cell.clone());
            let value = Term::either(condition.clone(), write.value, kept);
            self.admit(&value, span)?;
            merged.push(Write { value, ..write });
        }
        self.path.frame.writes.extend(merged);
        Ok(())
    }

    fn parameters(&self, template: TemplateId) -> Vec<LocalId> {
        let template = &self.family.program().templates[template];
        template.parameters().map(|(local, _)| local).collect()
    }

    fn argument_fits(&mut self, parameter: (TemplateId, LocalId), value: &Term) -> Result<Formula> {
        let variable = &self.family.templates[parameter.0].locals[parameter.1];
        let declared = &self.family.program().templates[parameter.0].locals[parameter.1];
        Ok(within(&declared.scalar, variable, value))
    }

    fn start(
        &mut self,
        template: TemplateId,
        given: Vec<(LocalId, Term)>,
        span: Span,
    ) -> Result<()> {
        for (_, value) in &given {
            self.admit(value, span)?;
        }
        self.path.frame.starts.push(template);
        self.path.frame.given.push(given);
        Ok(())
    }

    fn everybody(&mut self, bound: BoundId, template: TemplateId) -> Option<Term> {
        self.everybody.push(Everybody {
            bound,
            template,
            writes: self.path.frame.writes.len(),
        });
        Some(Term::Bound(bound))
    }

    /// What was written for a process is written for all of them. While it was for one, other writes of the body were seen as its own, which
    /// they are.
    fn everybody_done(&mut self) {
        if let Some(each) = self.everybody.pop() {
            for write in &mut self.path.frame.writes[each.writes..] {
                write.each.insert(0, (each.bound, each.template));
            }
        }
    }
}

/// A value is one of a variable, as its type says.
fn within(scalar: &Scalar, variable: &FamilyVariable, value: &Term) -> Formula {
    match scalar {
        Scalar::Range(..) => between(&variable.least, value, &variable.greatest),
        _ => Formula::Constant(true),
    }
}
