//! Loops over all processes whose rounds do not influence one another ([`rounds`](threadwise_lang::rounds)).
//!
//! The body is executed without dividing the path: an `if` makes what is written conditional, and a cell where the condition fails keeps its value. So a loop with an `if` over
//! n processes is one path, not 2^n, and one that permutations of processes map to itself. Rounds follow one another where processes are counted; for any number of
//! processes the body is executed once, for everybody: by independence the order makes no difference.

use threadwise_lang::program::{Block, BoundId, Domain, Expr, Program, Span, StmtKind, TemplateId};
use threadwise_lang::rounds;

use super::expression::Evaluate;
use super::walk::{Execute, Walk};
use super::{Truth, Value};
use crate::system::{Check, CheckKind};

type Result<D, T> = std::result::Result<T, <D as Evaluate>::Refusal>;

/// A `for` without labels inside.
#[derive(Clone, Copy)]
pub(crate) struct For<'p> {
    pub(crate) bound: BoundId,
    pub(crate) domain: &'p Domain,
    pub(crate) body: &'p Block,
    pub(crate) span: Span,
    /// The template, if it is over all processes of one and its rounds do not influence one another.
    pub(super) everybody: Option<TemplateId>,
}

impl<'p> For<'p> {
    /// A loop of a process of the template `own`.
    pub(super) fn new(
        program: &Program,
        own: TemplateId,
        (bound, domain, body): (BoundId, &'p Domain, &'p Block),
        span: Span,
    ) -> For<'p> {
        let everybody = match domain {
            Domain::Template(over) => {
                let independent = rounds::independent(program, own, bound, *over, body);
                independent.is_ok().then_some(*over)
            }
            _ => None,
        };
        For {
            bound,
            domain,
            body,
            span,
            everybody,
        }
    }
}

impl<D: Execute> Walk<'_, D> {
    /// Executes a loop whose rounds do not divide the path.
    pub(super) fn rounds(&mut self, looped: &For<'_>) -> Result<D, ()> {
        let bound = looped.bound;
        let everybody = looped.everybody;
        let process = everybody.and_then(|over| self.domain.everybody(bound, over));
        if let Some(process) = process {
            self.domain.frame().bindings.insert(bound, process);
            self.round(looped.body)?;
            self.domain.everybody_done();
        } else {
            let (lo, hi) = self.domain.numbers(looped.domain, looped.span)?;
            for value in lo..=hi {
                let bindings = &mut self.domain.frame().bindings;
                bindings.insert(bound, Value::number(value));
                self.round(looped.body)?;
            }
        }
        self.domain.frame().bindings.remove(&bound);
        Ok(())
    }

    fn round(&mut self, body: &Block) -> Result<D, ()> {
        for stmt in body {
            // A path on which a check always fails is over, but harmless.
            self.domain.goes_on(0)?;
            match &stmt.kind {
                StmtKind::Assign(places, values) => self.assignment(places, values, stmt.span)?,
                StmtKind::Assert(condition) => {
                    let holds = self.truth(condition)?;
                    self.check(holds, CheckKind::Assert, stmt.span)?;
                }
                StmtKind::If(branches, otherwise) => self.cases(branches, otherwise, stmt.span)?,
                StmtKind::For(bound, domain, body) => {
                    let (program, own) = (self.domain.program(), self.flow.template);
                    let looped = For::new(&program, own, (*bound, domain, body), stmt.span);
                    self.rounds(&looped)?;
                }
                StmtKind::Group { body, .. } => self.round(body)?,
                // `skip`; independent rounds have nothing else.
                _ => {}
            }
        }
        Ok(())
    }

    /// An `if`: every block is executed as if its condition held, and then what it has written counts only where it does.
    fn cases(
        &mut self,
        branches: &[(Expr, Block)],
        otherwise: &Block,
        span: Span,
    ) -> Result<D, ()> {
        let around = self.given.clone();
        let mut open = D::Truth::constant(true);
        let mut blocks = Vec::new();
        // Every condition is about the state before any of the blocks.
        for (condition, block) in branches {
            let holds = self.truth(condition)?;
            let fails = self.domain.copy(&holds, condition.span)?.negated();
            blocks.push((self.both(&open, holds, span)?, block));
            open = self.both(&open, fails, span)?;
            self.given = self.both(&around, open.clone(), span)?;
        }
        blocks.push((open, otherwise));
        let before = self.domain.frame().writes.clone();
        let mut written = Vec::new();
        for (taken, block) in blocks {
            if taken == Truth::constant(false) {
                continue;
            }
            self.given = self.both(&around, taken.clone(), span)?;
            self.round(block)?;
            let after = std::mem::replace(&mut self.domain.frame().writes, before.clone());
            written.push((taken, added(&before, after)));
        }
        self.given = around;
        for (taken, writes) in written {
            self.domain.write_where(taken, writes, span)?;
        }
        Ok(())
    }

    /// Two conditions, the first one copied.
    fn both(&mut self, one: &D::Truth, other: D::Truth, span: Span) -> Result<D, D::Truth> {
        let one = self.domain.copy(one, span)?;
        Ok(Truth::all([one, other]))
    }

    /// A check of what is done only where something is given.
    pub(super) fn where_given(&mut self, check: Check<D::Truth>) -> Result<D, Check<D::Truth>> {
        if self.given == Truth::constant(true) {
            return Ok(check);
        }
        let given = self.given.clone();
        let given = self.domain.copy(&given, check.span)?;
        Ok(Check {
            holds: Truth::any([given.negated(), check.holds]),
            ..check
        })
    }
}

/// What was written since, oldest first. A write may have taken older ones away, of the same place.
fn added<W: PartialEq>(before: &[W], after: Vec<W>) -> Vec<W> {
    let mut older = before.iter();
    let mut after = after.into_iter().peekable();
    while let Some(write) = after.peek()
        && older.any(|old| old == write)
    {
        after.next();
    }
    after.collect()
}
