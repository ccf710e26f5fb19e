//! The grammar of expressions: one function for each level of precedence.

use super::kind::SyntaxKind::{self, *};
use super::parser::{MAX_NESTING, Parser};
use crate::diagnostics::{Code, Diagnostic};

impl Parser<'_> {
    pub(super) fn expr(&mut self) {
        if self.enter() {
            self.iff();
        }
        self.leave();
    }

    /// A chain of operators of one level, flat in one node.
    pub(super) fn chain(&mut self, operators: &[SyntaxKind], operand: fn(&mut Self)) {
        let checkpoint = self.checkpoint();
        operand(self);
        self.operator_in_words(operators);
        if !operators.contains(&self.peek()) {
            return;
        }
        self.start_at(checkpoint, BinaryExpr);
        while operators.contains(&self.peek()) {
            self.bump();
            operand(self);
            self.operator_in_words(operators);
        }
        self.finish();
    }

    pub(super) fn iff(&mut self) {
        self.chain(&[DoubleArrow], Self::implies);
    }

    pub(super) fn implies(&mut self) {
        let checkpoint = self.checkpoint();
        self.or();
        self.operator_in_words(&[Arrow]);
        if self.peek() == Arrow {
            self.start_at(checkpoint, BinaryExpr);
            self.bump();
            if self.enter() {
                self.implies();
            }
            self.leave();
            self.finish();
        }
    }

    pub(super) fn or(&mut self) {
        self.chain(&[OrOr], Self::and);
    }

    pub(super) fn and(&mut self) {
        self.chain(&[AndAnd], Self::until);
    }

    pub(super) fn until(&mut self) {
        let checkpoint = self.checkpoint();
        self.compare();
        if self.ltl && self.peek() == Name && matches!(self.peek_text(), "U" | "R" | "W") {
            self.start_at(checkpoint, BinaryExpr);
            self.bump();
            if self.enter() {
                self.until();
            }
            self.leave();
            self.finish();
        }
    }

    pub(super) fn compare(&mut self) {
        const OPERATORS: &[SyntaxKind] = &[EqEq, NotEq, Less, LessEq, Greater, GreaterEq, Equals];
        let checkpoint = self.checkpoint();
        self.sum();
        if self.peek() == Equals {
            let span = self.peek_span();
            self.error(
                Diagnostic::new(Code::AssignmentOperator, span, "`=` is not an operator")
                    .label("`==` compares, `:=` assigns")
                    .fix("=="),
            );
        }
        if self.peek() == Becomes {
            let found = Diagnostic::new(
                Code::AssignmentOperator,
                self.peek_span(),
                "`:=` is not an operator",
            );
            self.error(found.label("`==` compares, `:=` assigns").fix("=="));
            self.retype(EqEq);
        }
        if !OPERATORS.contains(&self.peek()) {
            return;
        }
        self.start_at(checkpoint, BinaryExpr);
        if self.peek() == Less && self.nth(1) == Greater {
            let found = Diagnostic::new(
                Code::UnexpectedToken,
                self.reach(1),
                "unequal is written `!=`",
            );
            self.error(found.label("write `!=`").fix("!="));
            self.retype(NotEq);
            self.bump();
            self.skip(1);
        } else {
            self.bump();
        }
        self.sum();
        self.finish();
        if OPERATORS.contains(&self.peek()) {
            let span = self.peek_span();
            self.error(
                Diagnostic::new(
                    Code::ComparisonChain,
                    span,
                    "comparisons cannot be chained",
                )
                .label("a second comparison")
                .help("join them with `&&`: `a < b && b < c`; to compare truth values use `<->` or parentheses"),
            );
            self.bump();
            self.sum();
        }
    }

    pub(super) fn sum(&mut self) {
        self.chain(&[Plus, Minus], Self::product);
    }

    pub(super) fn product(&mut self) {
        self.chain(&[Star, Slash, Percent], Self::unary);
    }

    pub(super) fn unary(&mut self) {
        if self.box_or_diamond() {
            if self.enter() {
                self.unary();
            }
            return self.leave();
        }
        self.not_in_words();
        // Outside `liveness`, `G x` can mean nothing else either: the checker says so. `G(x)` and `G - x` can.
        let temporal = self.peek() == Name
            && matches!(self.peek_text(), "G" | "F" | "X")
            && (self.ltl || starts_expr(self.nth(1)) && !matches!(self.nth(1), LParen | Minus));
        if matches!(self.peek(), Bang | Minus) || temporal {
            self.start(UnaryExpr);
            self.bump();
            if self.enter() {
                self.unary();
            }
            self.leave();
            self.finish();
        } else {
            self.postfix();
        }
    }

    pub(super) fn postfix(&mut self) {
        let checkpoint = self.checkpoint();
        self.primary();
        let mut links = 0;
        loop {
            match self.peek() {
                LBracket => {
                    self.start_at(checkpoint, IndexExpr);
                    self.bump();
                    self.expr();
                    self.expect(RBracket);
                    self.finish();
                }
                Dot => {
                    self.start_at(checkpoint, FieldExpr);
                    self.bump();
                    if self.peek() == Number {
                        let span = self.peek_span();
                        self.error(
                            Diagnostic::new(
                                Code::UnexpectedToken,
                                span,
                                "there are no fractions, only integers",
                            )
                            .label("a digit behind a point"),
                        );
                        self.bump();
                        self.finish();
                        continue;
                    }
                    self.name("a local variable's name");
                    self.finish();
                }
                AtKw => {
                    self.start_at(checkpoint, AtExpr);
                    self.bump();
                    if self.eat(LBrace) {
                        self.name_list("a label");
                        self.expect(RBrace);
                    } else {
                        self.name("a label");
                    }
                    self.finish();
                }
                _ => break,
            }
            links += 1;
            if links > MAX_NESTING {
                self.depth += MAX_NESTING;
                self.enter();
                self.depth -= MAX_NESTING + 1;
                break;
            }
        }
    }

    pub(super) fn primary(&mut self) {
        match self.peek() {
            Number => self.leaf(NumberExpr),
            TrueKw | FalseKw => self.leaf(BoolExpr),
            NoneKw => self.leaf(NoneExpr),
            Name if self.nth(1) == LParen => self.call(),
            Name => self.leaf(NameExpr),
            LParen => {
                self.start(ParenExpr);
                self.bump();
                self.expr();
                self.expect(RParen);
                self.finish();
            }
            MinKw | MaxKw if self.nth(1) == LParen => self.call(),
            ForallKw | ExistsKw | CountKw | SumKw | MinKw | MaxKw => {
                self.start(FoldExpr);
                self.bump();
                self.binders();
                self.expect(Colon);
                self.expr();
                self.finish();
            }
            kind if kind.is_keyword() && !kind.starts_item() && !kind.starts_statement() => {
                // A keyword used as a name: say so, and read it as one.
                self.start(NameExpr);
                self.name("a name");
                self.finish();
            }
            _ => self.expected("an expression"),
        }
    }

    pub(super) fn call(&mut self) {
        self.start(CallExpr);
        self.bump();
        self.bump();
        if self.peek() != RParen {
            self.expr();
            while self.eat(Comma) {
                self.expr();
            }
        }
        self.expect(RParen);
        self.finish();
    }

    pub(super) fn binders(&mut self) {
        self.start(Binders);
        loop {
            self.start(Group);
            self.name_list("a name");
            if self.in_set() {
                self.domain();
            }
            self.finish();
            if !self.eat(Comma) {
                break;
            }
        }
        self.finish();
    }
}

pub(super) fn starts_expr(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        Number
            | TrueKw
            | FalseKw
            | NoneKw
            | Name
            | LParen
            | Bang
            | Minus
            | MinKw
            | MaxKw
            | ForallKw
            | ExistsKw
            | CountKw
            | SumKw
    )
}
