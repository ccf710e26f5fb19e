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
        let block = |parser: &mut Self, kind, body: fn(&mut Self)| {
            parser.start_at(checkpoint, kind);
            parser.bump();
            body(parser);
            parser.finish();
        };
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
            HavocKw => simple(self, Havoc, Self::places),
            GotoKw => simple(self, Goto, |parser| {
                parser.name("a label");
            }),
            StartKw => simple(self, Start, |parser| {
                parser.name("a template's name");
                if parser.eat(LParen) {
                    if parser.peek() != RParen {
                        parser.expr();
                        while parser.eat(Comma) {
                            parser.expr();
                        }
                    }
                    parser.expect(RParen);
                }
            }),
            IfKw => block(self, If, Self::branches),
            ChooseKw if self.nth(1) != LBrace => block(self, ChooseIn, |parser| {
                parser.bound_block("a name, or `{`");
            }),
            ChooseKw => block(self, Choose, |parser| {
                parser.block();
                while parser.eat(OrKw) {
                    parser.block();
                }
            }),
            WhileKw => block(self, While, |parser| {
                parser.expr();
                parser.block();
            }),
            LoopKw => block(self, Loop, Self::block),
            AtomicKw => block(self, Atomic, Self::block),
            ForKw => block(self, For, |parser| {
                parser.bound_block("the name of the counter");
            }),
            Name if self.nth(1) == LParen => {
                self.start_at(checkpoint, CallStmt);
                self.postfix();
                self.semicolon();
                self.finish();
            }
            Name => {
                self.start_at(checkpoint, Assign);
                self.assignment();
                self.finish();
            }
            LocalKw => self.late_declaration(),
            _ => self.no_statement(),
        }
    }

    fn places(&mut self) {
        self.postfix();
        while self.eat(Comma) {
            self.postfix();
        }
    }

    fn branches(&mut self) {
        self.expr();
        self.block();
        while self.eat(ElseKw) {
            if !self.eat(IfKw) {
                self.block();
                break;
            }
            self.expr();
            self.block();
        }
    }

    fn bound_block(&mut self, what: &str) {
        self.name(what);
        self.expect(InKw);
        self.domain();
        self.block();
    }

    fn assignment(&mut self) {
        self.places();
        let wrong = |span| {
            let message = "an assignment is written with `:=`";
            Diagnostic::new(Code::AssignmentOperator, span, message)
        };
        if self.peek() == Equals {
            let wrong = wrong(self.peek_span());
            self.error(wrong.label("write `:=` here").fix(":="));
            self.bump();
        } else if let Some(meant) = self.foreign_assignment() {
            let wrong = wrong(self.peek_span());
            self.error(wrong.label("not an assignment").help(meant));
            return self.recover();
        } else if !self.expect(Becomes) {
            return self.recover();
        }
        self.expr();
        while self.eat(Comma) {
            self.expr();
        }
        self.semicolon();
    }

    fn late_declaration(&mut self) {
        let message = "`local` declarations come before the first statement";
        let late = Diagnostic::new(Code::UnexpectedToken, self.peek_span(), message);
        self.error(late.label("move it to the top of the process"));
        self.variable(Local);
    }

    fn no_statement(&mut self) {
        self.expected("a statement");
        let before = self.at;
        self.recover();
        if self.at == before && !matches!(self.peek(), RBrace | EndOfFile) {
            self.start(Error);
            self.bump();
            self.finish();
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
