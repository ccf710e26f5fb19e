//! The grammar of statements.

use super::expressions::starts_expr;
use super::kind::SyntaxKind::*;
use super::parser::Parser;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::Span;

impl Parser<'_> {
    pub(super) fn block(&mut self) {
        self.start(Block);
        let open = self.peek_span();
        if self.peek() != LBrace && self.block_without_braces() {
            return self.finish();
        }
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
        if labelled && !(self.nth(2) == Colon && matches!(self.peek_text(), "if" | "do")) {
            self.start(Label);
            self.name("a label");
            self.bump();
            self.finish();
        } else if self.label_without_colon() {
            self.start(Label);
            self.bump();
            self.finish();
        }
        if self.foreign_beginning(false) {
            return;
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
            AssertKw => {
                let of_rust = self.assert_of_rust();
                self.start_at(checkpoint, Assert);
                self.bump();
                if of_rust {
                    self.skip(1);
                }
                self.expr();
                self.semicolon();
                self.finish();
            }
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
            Name if self.no_such_statement() => {}
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
        loop {
            if self.peek() == Name
                && matches!(self.peek_text(), "elif" | "elsif" | "elseif")
                && starts_expr(self.nth(1))
            {
                let message = format!("`{}` is written `else if`", self.peek_text());
                let found = Diagnostic::new(Code::UnexpectedToken, self.peek_span(), message);
                self.error(found.label("write `else if`").fix("else if"));
                self.skip(1);
                self.expr();
                self.block();
                continue;
            }
            if !self.eat(ElseKw) {
                break;
            }
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
        let start = self.peek_span().start;
        self.places();
        let place = Span {
            start,
            end: self.read_to(),
        };
        let wrong = |span| {
            let message = "an assignment is written with `:=`";
            Diagnostic::new(Code::AssignmentOperator, span, message)
        };
        if self.peek() == Equals {
            let wrong = wrong(self.peek_span());
            self.error(wrong.label("write `:=` here").fix(":="));
            self.bump();
        } else if let Some((meant, fix)) = self.foreign_assignment(place) {
            let wrong = wrong(self.peek_span())
                .label("not an assignment")
                .help(meant);
            self.error(match fix {
                Some((span, text)) => wrong.fix_at(span, text),
                None => wrong,
            });
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
        self.error(
            late.label("move it to the top of the process")
                .help("write it behind the `{` of the process, and assign to it here"),
        );
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

    /// What is meant by `x += 1`, `x++` or `x == 1` as a statement, and what is written instead of which part.
    fn foreign_assignment(&self, place: Span) -> Option<(String, Option<(Span, String)>)> {
        let x = &self.text[place.start as usize..place.end as usize];
        let operator = match self.peek() {
            Plus => "+",
            Minus => "-",
            Star => "*",
            EqEq => {
                let help = format!(
                    "`==` compares: write `{x} := ..` to assign, `await {x} == ..` to wait"
                );
                return Some((help, None));
            }
            _ => return None,
        };
        let one = self.nth(1) == self.peek() && self.peek() != Star;
        if !one && self.nth(1) != Equals {
            return None;
        }
        let text = match one {
            true => format!(" := {x} {operator} 1"),
            false => format!(" := {x} {operator}"),
        };
        let from = Span {
            start: place.end,
            end: self.reach(1).end,
        };
        let example = if one { "" } else { " .." };
        Some((format!("write `{x}{text}{example}`"), Some((from, text))))
    }
}
