//! The grammar of declarations.

use super::expressions::starts_expr;
use super::kind::SyntaxKind::{self, *};
use super::parser::Parser;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::Span;

impl Parser<'_> {
    pub(super) fn file(&mut self) {
        // Not `start`: comments before the first item belong to the file.
        self.open(File);
        while self.peek() != EndOfFile {
            self.item();
        }
        self.trivia();
        self.finish();
    }

    pub(super) fn item(&mut self) {
        match self.peek() {
            ParamKw => self.param(),
            EnumKw => self.enumeration(),
            RecordKw => self.record(),
            TypeKw => {
                self.start(Alias);
                self.bump();
                self.name("a type's name");
                self.expect(Equals);
                self.ty();
                self.semicolon();
                self.finish();
            }
            SharedKw => self.variable(Shared),
            ProcessKw | OrderedKw | RingKw => self.process(false),
            DefKw => self.def(),
            MacroKw => self.macro_item(),
            InvariantKw => {
                self.start(Invariant);
                self.bump();
                if self.named_property("this invariant", "invariant safe") {
                    self.expect(Colon);
                }
                self.expr();
                self.semicolon();
                self.finish();
            }
            DeadlockFreeKw => {
                self.start(Deadlock);
                self.bump();
                self.semicolon();
                self.finish();
            }
            FairnessKw => self.fairness(),
            LivenessKw => self.liveness(),
            InitiallyKw => {
                self.start(Initially);
                self.bump();
                self.expr();
                self.semicolon();
                self.finish();
            }
            ExceptionKw => {
                self.start(Exception);
                self.bump();
                self.expect(LBrace);
                while !matches!(self.peek(), RBrace | EndOfFile) && !self.peek().starts_item() {
                    let before = self.at;
                    self.expr();
                    self.semicolon();
                    if self.at == before {
                        self.recover();
                        break;
                    }
                }
                self.expect(RBrace);
                self.finish();
            }
            _ if self.typed_as_in_c() => self.declared_as_in_c("shared"),
            _ if self.foreign_declaration() => {}
            _ => {
                let words = SyntaxKind::all()
                    .filter(|kind| kind.starts_item())
                    .filter_map(|kind| kind.text().map(str::to_owned));
                match crate::suggest::closest(self.peek_text(), words) {
                    Some(near) if self.peek() == Name => {
                        let span = self.peek_span();
                        self.error(
                            Diagnostic::new(
                                Code::UnexpectedToken,
                                span,
                                format!("`{}` begins no declaration", self.peek_text()),
                            )
                            .label("expected a declaration")
                            .help(format!("did you mean `{near}`?"))
                            .fix(near),
                        );
                    }
                    _ => self.expected(
                        "a declaration (`param`, `shared`, `process`, `def`, `invariant`, ..)",
                    ),
                }
                self.start(Error);
                self.bump();
                while !self.peek().starts_item() && self.peek() != EndOfFile {
                    self.bump();
                }
                self.finish();
            }
        }
    }

    pub(super) fn param(&mut self) {
        self.start(Param);
        self.bump();
        self.name("a parameter's name");
        if self.eat(Equals) {
            self.start(Initial);
            self.expr();
            self.finish();
        }
        if self.eat(WhereKw) {
            self.expr();
        }
        self.semicolon();
        self.finish();
    }

    pub(super) fn enumeration(&mut self) {
        self.start(Enum);
        self.bump();
        self.name("an enumeration's name");
        self.expect(LBrace);
        while !matches!(self.peek(), RBrace | EndOfFile) {
            if !self.name("a member's name") {
                self.recover();
                break;
            }
            if !self.eat(Comma) {
                break;
            }
        }
        self.expect(RBrace);
        self.eat(Semicolon);
        self.finish();
    }

    pub(super) fn record(&mut self) {
        self.start(Record);
        self.bump();
        self.name("a record's name");
        self.expect(LBrace);
        while !matches!(self.peek(), RBrace | EndOfFile) {
            self.start(RecordField);
            let named = self.peek() == Name || self.peek().is_keyword();
            if !named {
                self.expected("a field's name");
                self.recover();
                self.finish();
                break;
            }
            self.name_list("a field's name");
            self.expect(Colon);
            self.ty();
            self.finish();
            if !self.eat(Comma) {
                break;
            }
        }
        self.expect(RBrace);
        self.eat(Semicolon);
        self.finish();
    }

    /// `shared` or `local`.
    pub(super) fn variable(&mut self, kind: SyntaxKind) {
        self.start(kind);
        self.bump();
        self.name_list("a variable's name");
        self.size_behind(None);
        if self.colon_before_type() {
            let start = self.peek_span().start;
            self.ty();
            let end = self.read_to();
            self.size_behind(Some(Span { start, end }));
        }
        if self.peek() == Becomes {
            let span = self.peek_span();
            self.error(
                Diagnostic::new(
                    Code::AssignmentOperator,
                    span,
                    "an initial value is given with `=`",
                )
                .label("write `=` here")
                .fix("="),
            );
            self.bump();
            self.initial();
        } else if self.eat(Equals) {
            self.initial();
        }
        self.semicolon();
        self.finish();
    }

    pub(super) fn initial(&mut self) {
        self.start(Initial);
        if !self.eat(AnyKw) {
            self.expr();
        }
        self.finish();
    }

    pub(super) fn name_list(&mut self, what: &str) {
        self.name(what);
        while self.eat(Comma) {
            self.name(what);
        }
    }

    pub(super) fn ty(&mut self) {
        match self.peek() {
            BoolKw => self.leaf(TypeBool),
            IntKw => self.leaf(TypeInt),
            MutexKw => self.leaf(TypeMutex),
            ArrayKw => {
                self.start(TypeArray);
                self.bump();
                self.expect(LBracket);
                self.domain();
                self.expect(RBracket);
                self.expect(OfKw);
                if self.enter() {
                    self.ty();
                }
                self.leave();
                self.finish();
            }
            QueueKw => {
                self.start(TypeQueue);
                self.bump();
                self.expect(LBracket);
                self.sum();
                self.expect(RBracket);
                self.expect(OfKw);
                if self.enter() {
                    self.ty();
                }
                self.leave();
                self.finish();
            }
            Name if self.nth(1) == Question => {
                self.start(TypeName);
                self.bump();
                self.bump();
                self.finish();
            }
            kind if starts_expr(kind) => {
                let checkpoint = self.checkpoint();
                self.sum();
                if self.peek() == DotDot {
                    self.start_at(checkpoint, TypeRange);
                    self.bump();
                    self.sum();
                } else {
                    // The checker says so if it is more than a name.
                    self.start_at(checkpoint, TypeName);
                }
                self.finish();
            }
            _ => self.expected("a type"),
        }
    }

    pub(super) fn leaf(&mut self, kind: SyntaxKind) {
        self.start(kind);
        self.bump();
        self.finish();
    }

    pub(super) fn domain(&mut self) {
        self.start(Domain);
        self.sum();
        if self.eat(DotDot) {
            self.sum();
        }
        self.finish();
    }

    /// `said` if there was a message about the head already.
    pub(super) fn process(&mut self, said: bool) {
        self.start(Process);
        if matches!(self.peek(), OrderedKw | RingKw) {
            self.bump();
        }
        self.expect(ProcessKw);
        self.name("a template's name");
        if self.peek() == LParen {
            if !said {
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.peek_span(),
                    "the ids of a template stand in brackets",
                );
                let help = "write for example `process P[i: 1..N] { .. }`";
                self.error(found.label("expected `[`").help(help));
            }
            self.start(Error);
            while !matches!(self.peek(), LBrace | EndOfFile) {
                self.bump();
            }
            self.finish();
        }
        let ids = self.peek() == LBracket;
        if ids {
            self.start(ProcessIds);
            self.bump();
            if self.peek() != RBracket {
                self.name("the name of a process's own id");
                if self.colon_before_type() {
                    self.domain();
                }
            }
            self.expect(RBracket);
            self.finish();
        }
        if ids && self.peek() == LParen {
            self.start(ProcessParams);
            self.bump();
            self.typed_names();
            self.expect(RParen);
            self.finish();
        }
        let open = self.peek_span();
        if self.expect(LBrace) {
            while self.peek() == LocalKw || self.declaration_in_process() {
                if self.peek() == LocalKw {
                    self.variable(Local);
                } else {
                    self.foreign_beginning(true);
                }
            }
            self.statements();
            self.close_brace(open);
        } else {
            self.recover();
        }
        self.finish();
    }

    /// Whether a variable is declared here, and not with `local`.
    fn declaration_in_process(&self) -> bool {
        let behind = matches!(self.nth(2), Colon | Comma | Name);
        self.typed_as_in_c()
            || self.peek() == SharedKw && behind
            || matches!(self.peek_text(), "let" | "var") && self.nth(1) == Name && behind
    }

    pub(super) fn close_brace(&mut self, open: Span) {
        if self.eat(RBrace) {
            return;
        }
        let span = self.peek_span();
        let at_end = self.peek() == EndOfFile || self.peek().starts_item();
        if at_end {
            self.error(
                Diagnostic::new(Code::UnclosedBrace, open, "this `{` is never closed")
                    .label("opened here")
                    .related(span, "a `}` was expected before this"),
            );
        } else {
            self.expected("`}`");
        }
    }

    pub(super) fn def(&mut self) {
        self.start(Def);
        self.bump();
        self.name("a definition's name");
        if self.eat(LParen) {
            self.typed_names();
            self.expect(RParen);
        }
        self.expect(Equals);
        self.expr();
        self.semicolon();
        self.finish();
    }

    /// Parameters with their types: of a definition, or of a template that begins empty.
    fn typed_names(&mut self) {
        while self.peek() == Name || self.peek().is_keyword() {
            self.start(DefParam);
            self.name("a parameter's name");
            self.expect(Colon);
            self.ty();
            self.finish();
            if !self.eat(Comma) {
                break;
            }
        }
    }

    pub(super) fn macro_item(&mut self) {
        self.start(Macro);
        self.bump();
        self.name("a macro's name");
        self.expect(LParen);
        if self.peek() != RParen {
            self.name_list("a parameter's name");
        }
        self.expect(RParen);
        self.block();
        self.finish();
    }

    pub(super) fn fairness(&mut self) {
        self.start(Fairness);
        self.bump();
        self.name("a name for the fairness");
        self.expect(Colon);
        loop {
            self.start(FairList);
            loop {
                self.fair_term();
                if !self.eat(Comma) {
                    break;
                }
            }
            self.finish();
            if !self.eat(OrKw) {
                break;
            }
        }
        self.semicolon();
        self.finish();
    }

    pub(super) fn fair_term(&mut self) {
        match self.peek() {
            UnconditionalKw => self.leaf(FairUnconditional),
            kind @ (WeakKw | StrongKw) => {
                self.start(if kind == WeakKw { FairWeak } else { FairStrong });
                self.bump();
                // For a weak term the quantifier belongs to the term: one condition a process.
                if self.peek() == ForallKw {
                    self.bump();
                    self.binders();
                    self.expect(Colon);
                }
                if kind == StrongKw {
                    self.expect(IfKw);
                    self.expr();
                    self.expect(ThenKw);
                }
                self.expr();
                self.finish();
            }
            _ => {
                self.expected("`unconditional`, `weak` or `strong`");
            }
        }
    }

    pub(super) fn liveness(&mut self) {
        self.start(Liveness);
        self.bump();
        self.ltl = true;
        if self.named_property("this liveness property", "liveness progress") {
            if self.eat(UnderKw) {
                self.name_list("the name of a fairness");
            }
            self.expect(Colon);
        }
        self.expr();
        self.ltl = false;
        self.semicolon();
        self.finish();
    }
}
