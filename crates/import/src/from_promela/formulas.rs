//! Formulas of `ltl`.
//!
//! The operators in front (`!`, `[]`, `<>`, `X`) bind more than anything else, so `[] a == b` compares the value of `[] a`:
//! SPIN makes something of it that nobody means, and here it is refused. `U`, `W` and `V` bind more than `&&`, and every
//! operator between two formulas groups from the left, `->` too.

use threadwise_lang::diagnostics::Code;

use super::expressions::{Tall, binary};
use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::remarks::{Parsed, remark};
use super::syntax::{At, Binary, Expr, ExprKind, Formula, FormulaKind, Unary};

/// The operators between two formulas.
#[derive(Clone, Copy)]
enum Between {
    Implies,
    Equivalent,
    Until,
    WeakUntil,
    Release,
    /// Of expressions; `&&` and `||` are of formulas too.
    Plain(Binary),
}

/// A formula with the height of its tree.
struct High {
    formula: Formula,
    height: u32,
}

fn between(token: &Token) -> Option<(u32, Between)> {
    match (token.kind, &*token.text) {
        (Kind::Sign, "->") | (Kind::Word, "implies") => Some((0, Between::Implies)),
        (Kind::Sign, "<->") | (Kind::Word, "equivalent") => Some((0, Between::Equivalent)),
        (Kind::Word, "U" | "until" | "stronguntil") => Some((3, Between::Until)),
        (Kind::Word, "W" | "weakuntil") => Some((3, Between::WeakUntil)),
        (Kind::Word, "V" | "release") => Some((3, Between::Release)),
        (Kind::Sign, sign) => {
            binary(sign).map(|(strength, operator)| (strength, Between::Plain(operator)))
        }
        _ => None,
    }
}

impl Parser {
    pub(super) fn formula(&mut self) -> Parsed<Formula> {
        Ok(self.high(0)?.formula)
    }

    fn high(&mut self, least: u32) -> Parsed<High> {
        self.deeper()?;
        let mut left = self.in_front()?;
        while let Some((strength, operator)) =
            between(self.peek()).filter(|(strength, _)| *strength >= least)
        {
            let sign = self.take();
            let right = self.high(strength + 1)?;
            left = self.combined(&sign, operator, left, right)?;
        }
        self.shallower();
        Ok(left)
    }

    fn in_front(&mut self) -> Parsed<High> {
        let token = self.peek().clone();
        let make: fn(Box<Formula>) -> FormulaKind = match (token.kind, &*token.text) {
            (Kind::Sign, "[]") | (Kind::Word, "always") => FormulaKind::Always,
            (Kind::Sign, "<>") | (Kind::Word, "eventually") => FormulaKind::Eventually,
            (Kind::Word, "X" | "next") => FormulaKind::Next,
            (Kind::Sign, "!") => FormulaKind::Not,
            (Kind::Sign, "!!" | "-" | "--" | "~") => {
                self.take();
                self.deeper()?;
                let inner = self.in_front()?;
                self.shallower();
                return self.plain_in_front(&token, inner);
            }
            (Kind::Sign, "(") => {
                self.take();
                let mut inner = self.high(0)?;
                self.expect(")")?;
                inner.formula.at = self.since(token.at);
                return Ok(inner);
            }
            _ => {
                let Tall { expr, height } = self.measured_primary()?;
                return Ok(High {
                    formula: Formula {
                        at: expr.at,
                        kind: FormulaKind::Predicate(expr),
                    },
                    height,
                });
            }
        };
        self.take();
        self.deeper()?;
        let inner = self.in_front()?;
        self.shallower();
        let at = token.at.to(inner.formula.at);
        let height = self.check_height(at, inner.height + 1)?;
        let kind = match (token.is("!"), inner.formula.kind) {
            (true, FormulaKind::Predicate(expr)) => FormulaKind::Predicate(Expr {
                at,
                kind: ExprKind::Unary(Unary::Not, Box::new(expr)),
            }),
            (_, kind) => make(Box::new(Formula {
                at: inner.formula.at,
                kind,
            })),
        };
        Ok(High {
            formula: Formula { at, kind },
            height,
        })
    }

    fn plain_in_front(&mut self, sign: &Token, inner: High) -> Parsed<High> {
        let (operator, times) = match &*sign.text {
            "!!" => (Unary::Not, 2),
            "-" => (Unary::Minus, 1),
            "--" => (Unary::Minus, 2),
            _ => (Unary::Complement, 1),
        };
        let at = inner.formula.at;
        let FormulaKind::Predicate(expr) = inner.formula.kind else {
            return Err(not_a_value(sign.at, at));
        };
        let mut tall = Tall {
            expr,
            height: inner.height,
        };
        for _ in 0..times {
            tall = self.applied(sign.at, operator, tall)?;
        }
        Ok(High {
            formula: Formula {
                at: tall.expr.at,
                kind: FormulaKind::Predicate(tall.expr),
            },
            height: tall.height,
        })
    }

    fn combined(&self, sign: &Token, operator: Between, left: High, right: High) -> Parsed<High> {
        let at = left.formula.at.to(right.formula.at);
        // An equivalence of predicates adds two levels.
        let height = self.check_height(at, left.height.max(right.height) + 2)?;
        let (left, right) = (left.formula, right.formula);
        let (left_at, right_at) = (left.at, right.at);
        let kind = match (operator, left.kind, right.kind) {
            (
                Between::Plain(operator),
                FormulaKind::Predicate(left),
                FormulaKind::Predicate(right),
            ) => predicate(at, operator, left, right),
            // Predicates stay as large as they can.
            (Between::Implies, FormulaKind::Predicate(left), FormulaKind::Predicate(right)) => {
                predicate(at, Binary::Or, not(left), right)
            }
            (Between::Equivalent, FormulaKind::Predicate(left), FormulaKind::Predicate(right)) => {
                predicate(at, Binary::Equal, not(left), not(right))
            }
            (operator, left, right) => {
                let left = Box::new(Formula {
                    at: left_at,
                    kind: left,
                });
                let right = Box::new(Formula {
                    at: right_at,
                    kind: right,
                });
                match operator {
                    Between::Implies => FormulaKind::Implies(left, right),
                    Between::Equivalent => FormulaKind::Equivalent(left, right),
                    Between::Until => FormulaKind::Until(left, right),
                    Between::WeakUntil => FormulaKind::WeakUntil(left, right),
                    Between::Release => FormulaKind::Release(left, right),
                    Between::Plain(Binary::And) => FormulaKind::And(left, right),
                    Between::Plain(Binary::Or) => FormulaKind::Or(left, right),
                    Between::Plain(_) => {
                        let temporal = if let FormulaKind::Predicate(_) = left.kind {
                            right_at
                        } else {
                            left_at
                        };
                        return Err(not_a_value(sign.at, temporal));
                    }
                }
            }
        };
        Ok(High {
            formula: Formula { at, kind },
            height,
        })
    }
}

fn not(inner: Expr) -> Expr {
    Expr {
        at: inner.at,
        kind: ExprKind::Unary(Unary::Not, Box::new(inner)),
    }
}

fn predicate(at: At, operator: Binary, left: Expr, right: Expr) -> FormulaKind {
    FormulaKind::Predicate(Expr {
        at,
        kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
    })
}

fn not_a_value(sign: At, temporal: At) -> Box<crate::Remark> {
    let help = "put parentheses around what the temporal operator is about: `[] (a == b)`";
    let message = remark(
        sign,
        Code::TemporalOutside,
        "a temporal formula has no value to compare or compute with",
        help,
    );
    super::remarks::related(message, temporal, "this formula")
}
