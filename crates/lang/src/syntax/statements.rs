//! The grammar of statements.

use super::kind::SyntaxKind::*;
use super::parser::Parser;
use crate::diagnostics::{Code, Diagnostic};

impl Parser<'_> {
    pub(super) fn block(&mut self) {
        self.start(Block);
        let open = self.peek_span();
        if self.expect(LBrace) {
            if self.enter() {
                self.statements();
            }
            self.leave();
            self.close_brace(open);
        }
        self.finish();
    }

    pub(super) fn statements(&mut self) {
        loop {
            match self.peek() {
                RBrace | EndOfFile => break,
                kind if kind.starts_item() => break,
                _ => self.statement(),
            }
        }
    }

    pub(super) fn statement(&mut self) {
        let checkpoint = self.checkpoint();
        let labelled = self.nth(1) == Colon && (self.peek() == Name || self.peek().is_keyword());
        if labelled {
            self.start(Label);
            self.name("a label");
            self.bump();
            self.finish();
        }
        let simple = |parser: &mut Self, kind, body: fn(&mut Self)| {
            parser.start_at(checkpoint, kind);
            parser.bump();
            body(parser);
            parser.semicolon();
            parser.finish();
        };
        match self.peek() {
            AwaitKw => simple(self, Await, Self::expr),
            AssertKw => simple(self, Assert, Self::expr),
            SkipKw => simple(self, Skip, |_| {}),
            StayKw => simple(self, Stay, |_| {}),
            BreakKw => simple(self, Break, |_| {}),
            ReturnKw => simple(self, Return, |_| {}),
            LockKw => simple(self, Lock, Self::postfix),
            UnlockKw => simple(self, Unlock, Self::postfix),
            HavocKw => simple(self, Havoc, |parser| {
                parser.postfix();
                while parser.eat(Comma) {
                    parser.postfix();
                }
            }),
            GotoKw => simple(self, Goto, |parser| {
                parser.name("a label");
            }),
            StartKw => simple(self, Start, |parser| {
                parser.name("a template's name");
            }),
            IfKw => {
                self.start_at(checkpoint, If);
                self.bump();
                self.expr();
                self.block();
                while self.eat(ElseKw) {
                    if self.eat(IfKw) {
                        self.expr();
                        self.block();
                    } else {
                        self.block();
                        break;
                    }
                }
                self.finish();
            }
            ChooseKw if self.nth(1) != LBrace => {
                self.start_at(checkpoint, ChooseIn);
                self.bump();
                self.name("a name, or `{`");
                self.expect(InKw);
                self.domain();
                self.block();
                self.finish();
            }
            ChooseKw => {
                self.start_at(checkpoint, Choose);
                self.bump();
                self.block();
                while self.eat(OrKw) {
                    self.block();
                }
                self.finish();
            }
            WhileKw => {
                self.start_at(checkpoint, While);
                self.bump();
                self.expr();
                self.block();
                self.finish();
            }
            kind @ (LoopKw | AtomicKw) => {
                self.start_at(checkpoint, if kind == LoopKw { Loop } else { Atomic });
                self.bump();
                self.block();
                self.finish();
            }
            ForKw => {
                self.start_at(checkpoint, For);
                self.bump();
                self.name("the name of the counter");
                self.expect(InKw);
                self.domain();
                self.block();
                self.finish();
            }
            Name if self.nth(1) == LParen => {
                self.start_at(checkpoint, CallStmt);
                self.postfix();
                self.semicolon();
                self.finish();
            }
            Name => {
                self.start_at(checkpoint, Assign);
                self.postfix();
                while self.eat(Comma) {
                    self.postfix();
                }
                if self.peek() == Equals {
                    let span = self.peek_span();
                    self.error(
                        Diagnostic::new(
                            Code::AssignmentOperator,
                            span,
                            "an assignment is written with `:=`",
                        )
                        .label("write `:=` here")
                        .fix(":="),
                    );
                    self.bump();
                } else if let Some(meant) = self.foreign_assignment() {
                    let span = self.peek_span();
                    self.error(
                        Diagnostic::new(
                            Code::AssignmentOperator,
                            span,
                            "an assignment is written with `:=`",
                        )
                        .label("not an assignment")
                        .help(meant),
                    );
                    self.recover();
                    self.finish();
                    return;
                } else if !self.expect(Becomes) {
                    self.recover();
                    self.finish();
                    return;
                }
                self.expr();
                while self.eat(Comma) {
                    self.expr();
                }
                self.semicolon();
                self.finish();
            }
            LocalKw => {
                let span = self.peek_span();
                self.error(
                    Diagnostic::new(
                        Code::UnexpectedToken,
                        span,
                        "`local` declarations come before the first statement",
                    )
                    .label("move it to the top of the process"),
                );
                self.variable(Local);
            }
            _ => {
                self.expected("a statement");
                let before = self.at;
                self.recover();
                if self.at == before && !matches!(self.peek(), RBrace | EndOfFile) {
                    self.start(Error);
                    self.bump();
                    self.finish();
                }
            }
        }
    }

    /// What is meant by `x += 1`, `x++` or `x == 1` as a statement.
    fn foreign_assignment(&self) -> Option<&'static str> {
        match (self.peek(), self.nth(1)) {
            (Plus, Equals | Plus) => Some("write `x := x + 1`"),
            (Minus, Equals | Minus) => Some("write `x := x - 1`"),
            (EqEq, _) => Some("`==` compares: write `x := ..` to assign, `await x == ..` to wait"),
            _ => None,
        }
    }
}
