//! What holds at each place of a process's code, whatever way control came there: the walk that such analyses share.
//!
//! Facts are followed forwards through statements and joined where ways meet; labels keep what was brought to them, by jumps and otherwise. `None` stands for a place that
//! control does not come to, as far as is known yet. What a fact is, and how often the code is gone through until nothing changes, is for the analysis to say.

use super::ir::{Expr, LabelId, Statement, StatementKind};

pub(crate) trait Forward {
    type Fact: Clone;

    /// What holds at a label.
    fn at(&self, label: LabelId) -> Option<Self::Fact>;

    /// Joins what holds where control comes to a label into what holds there.
    fn arrive(&mut self, label: LabelId, fact: &Self::Fact);

    /// What holds where two ways meet.
    fn both(one: Self::Fact, other: Self::Fact) -> Self::Fact;

    /// What holds where the loops that are being gone through are left, the innermost last.
    fn exits(&mut self) -> &mut Vec<Option<Self::Fact>>;

    /// Looks at a statement that control comes to.
    fn visit(&mut self, statement: &Statement, fact: &Self::Fact);

    /// Looks at a loop of which a round may begin.
    fn round(&mut self, statement: &Statement, fact: &Self::Fact);

    /// What holds after a statement that has no code inside and does not jump.
    fn after(&mut self, statement: &Statement, fact: Self::Fact) -> Option<Self::Fact>;

    /// What holds where a condition does, or does not.
    fn refined(&self, fact: Self::Fact, _condition: &Expr, _holds: bool) -> Option<Self::Fact> {
        Some(fact)
    }

    /// What holds after an atomic part.
    fn atomic(&mut self, inner: &[Statement], fact: Self::Fact) -> Option<Self::Fact> {
        self.code(inner, Some(fact))
    }

    fn code(&mut self, code: &[Statement], fact: Option<Self::Fact>) -> Option<Self::Fact> {
        code.iter()
            .fold(fact, |fact, statement| self.statement(statement, fact))
    }

    /// What holds after a statement. If nothing leads to it from before it, there may still be labels within.
    fn statement(&mut self, statement: &Statement, fact: Option<Self::Fact>) -> Option<Self::Fact> {
        if let Some(fact) = &fact {
            self.visit(statement, fact);
        }
        match &statement.kind {
            StatementKind::Label(label) => {
                self.reach(*label, &fact);
                self.at(*label)
            }
            StatementKind::If(condition, yes, no) => {
                let (holds, fails) = self.branches(fact, condition);
                let one = self.code(yes, holds);
                let other = self.code(no, fails);
                Self::joined(one, other)
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => {
                self.reach(*head, &fact);
                let fact = self.at(*head);
                if let Some(fact) = &fact {
                    self.round(statement, fact);
                }
                let (inside, after) = match condition {
                    Some(condition) => self.branches(fact, condition),
                    None => (fact, None),
                };
                self.exits().push(None);
                let end = self.code(body, inside);
                self.reach(*head, &end);
                let exit = self.exits().pop().flatten();
                Self::joined(after, exit)
            }
            StatementKind::Break => {
                if let Some(exit) = self.exits().pop() {
                    self.exits().push(Self::joined(exit, fact));
                }
                None
            }
            StatementKind::Goto(label) => {
                self.reach(*label, &fact);
                None
            }
            StatementKind::Return => None,
            StatementKind::Atomic(inner) => match fact {
                Some(fact) => self.atomic(inner, fact),
                None => self.code(inner, None),
            },
            StatementKind::Choose(blocks) => {
                let each = blocks.iter().map(|block| self.code(block, fact.clone()));
                each.fold(None, Self::joined)
            }
            _ => self.after(statement, fact?),
        }
    }

    /// The same as `arrive`, if control comes there at all.
    fn reach(&mut self, label: LabelId, fact: &Option<Self::Fact>) {
        if let Some(fact) = fact {
            self.arrive(label, fact);
        }
    }

    /// What holds where a condition does, and where it does not.
    fn branches(
        &self,
        fact: Option<Self::Fact>,
        condition: &Expr,
    ) -> (Option<Self::Fact>, Option<Self::Fact>) {
        let refined = |holds| self.refined(fact.clone()?, condition, holds);
        (refined(true), refined(false))
    }

    fn joined(one: Option<Self::Fact>, other: Option<Self::Fact>) -> Option<Self::Fact> {
        match (one, other) {
            (None, other) => other,
            (one, None) => one,
            (Some(one), Some(other)) => Some(Self::both(one, other)),
        }
    }
}
