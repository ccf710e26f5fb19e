//! Recursive descent over the tokens, straight into the tree. After an error the parser skips to
//! the next statement or item and goes on, so one run reports many errors. Nesting is bounded,
//! because everything behind the parser recurses over what it builds.

use super::SyntaxNode;
use super::kind::SyntaxKind::{self, *};
use super::lexer::{Token, lex};
use crate::diagnostics::{Code, Diagnostic};
use crate::program::Span;
use rowan::{Checkpoint, GreenNodeBuilder};

/// How deeply expressions and blocks may be nested, and how long a chain of one arithmetic
/// operator may be.
pub const MAX_NESTING: usize = 200;

/// A parsed text.
#[derive(Debug)]
pub struct Parse {
    /// The tree; its text is the input, byte for byte.
    pub tree: SyntaxNode,
    /// The errors, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a text. Never fails: the tree covers whatever was understood.
pub fn parse(text: &str) -> Parse {
    let mut diagnostics = Vec::new();
    let tokens = lex(text, &mut diagnostics);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        builder: GreenNodeBuilder::new(),
        diagnostics,
        last_error: None,
        depth: 0,
        ltl: false,
    };
    parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|d| d.span);
    Parse {
        tree: SyntaxNode::new_root(parser.builder.finish()),
        diagnostics,
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The next token, trivia included.
    at: usize,
    builder: GreenNodeBuilder<'static>,
    diagnostics: Vec<Diagnostic>,
    /// Where the last error was: one error a token is enough.
    last_error: Option<u32>,
    depth: usize,
    /// Inside `liveness`, where `G F X U R W` are operators.
    ltl: bool,
}

impl Parser<'_> {
    // ---- tokens ----

    /// The index of the n-th token from here that is no trivia.
    fn index(&self, n: usize) -> usize {
        let mut at = self.at;
        let mut left = n;
        while let Some(token) = self.tokens.get(at) {
            if !token.kind.is_trivia() {
                if left == 0 {
                    break;
                }
                left -= 1;
            }
            at += 1;
        }
        at
    }

    fn nth(&self, n: usize) -> SyntaxKind {
        self.tokens
            .get(self.index(n))
            .map_or(EndOfFile, |token| token.kind)
    }

    fn peek(&self) -> SyntaxKind {
        self.nth(0)
    }

    fn peek_text(&self) -> &str {
        match self.tokens.get(self.index(0)) {
            Some(token) => &self.text[token.span.start as usize..token.span.end as usize],
            None => "",
        }
    }

    fn peek_span(&self) -> Span {
        match self.tokens.get(self.index(0)) {
            Some(token) => token.span,
            None => Span {
                start: self.text.len() as u32,
                end: self.text.len() as u32,
            },
        }
    }

    /// Adds spaces and comments to the tree, so that the next node begins with a real token.
    fn trivia(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if !token.kind.is_trivia() {
                break;
            }
            self.push(*token);
        }
    }

    fn push(&mut self, token: Token) {
        let text = &self.text[token.span.start as usize..token.span.end as usize];
        self.builder.token(
            <super::Threadwise as rowan::Language>::kind_to_raw(token.kind),
            text,
        );
        self.at += 1;
    }

    fn bump(&mut self) {
        self.trivia();
        if let Some(token) = self.tokens.get(self.at) {
            self.push(*token);
        }
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let here = self.peek() == kind;
        if here {
            self.bump();
        }
        here
    }

    fn expect(&mut self, kind: SyntaxKind) -> bool {
        if self.eat(kind) {
            return true;
        }
        let what = format!("`{}`", kind.text().unwrap_or("a name"));
        self.expected(&what);
        false
    }

    /// A declared name.
    fn name(&mut self, what: &str) -> bool {
        if self.eat(Name) {
            return true;
        }
        if self.peek().is_keyword() && !self.peek().starts_item() {
            let word = self.peek_text().to_owned();
            let span = self.peek_span();
            self.error(
                Diagnostic::new(
                    Code::KeywordAsName,
                    span,
                    format!("`{word}` is a keyword and cannot be {what}"),
                )
                .label("choose another name")
                .help(format!("for example `{word}_` or `the_{word}`")),
            );
            self.bump();
            return true;
        }
        self.expected(what);
        false
    }

    /// A property's name, which nothing in the program refers to: it may be a keyword, as in
    /// `invariant mutex: ..`.
    fn property_name(&mut self, what: &str) -> bool {
        if !self.peek().is_keyword() {
            return self.name(what);
        }
        self.trivia();
        if let Some(token) = self.tokens.get(self.at) {
            self.push(Token {
                kind: Name,
                ..*token
            });
        }
        true
    }

    fn semicolon(&mut self) {
        if self.eat(Semicolon) {
            return;
        }
        if self.peek() == Equals {
            return self.wrong_equals();
        }
        let previous = self.tokens[..self.at]
            .iter()
            .rev()
            .find(|token| !token.kind.is_trivia())
            .map_or(Span::default(), |token| token.span);
        let next = self.peek_span();
        let between = &self.text[previous.end as usize..next.start as usize];
        let word = self.peek();
        if between.contains('\n') || matches!(word, RBrace | EndOfFile) {
            let end = Span {
                start: previous.end.saturating_sub(1).max(previous.start),
                end: previous.end,
            };
            self.error(
                Diagnostic::new(Code::MissingSemicolon, end, "missing `;`")
                    .label("a `;` belongs after this"),
            );
        } else {
            self.expected("`;`");
            self.recover();
        }
    }

    /// `=` after a complete expression.
    fn wrong_equals(&mut self) {
        let span = self.peek_span();
        self.error(
            Diagnostic::new(Code::AssignmentOperator, span, "`=` is not an operator")
                .label("`:=` assigns, `==` compares"),
        );
        self.recover();
    }

    // ---- errors ----

    fn error(&mut self, diagnostic: Diagnostic) {
        let here = self.peek_span().start;
        if self.last_error != Some(here) {
            self.last_error = Some(here);
            self.diagnostics.push(diagnostic);
        }
    }

    fn expected(&mut self, what: &str) {
        let found = match self.peek() {
            EndOfFile => "the end of the file".to_owned(),
            _ => format!("`{}`", shorten(self.peek_text())),
        };
        let span = self.peek_span();
        self.error(
            Diagnostic::new(
                Code::UnexpectedToken,
                span,
                format!("expected {what}, found {found}"),
            )
            .label(format!("expected {what}")),
        );
    }

    /// Skips to the end of the statement or item: past a `;`, before a `}` or something that
    /// begins a statement or item.
    fn recover(&mut self) {
        self.start(Error);
        let mut depth = 0usize;
        loop {
            match self.peek() {
                EndOfFile => break,
                Semicolon if depth == 0 => {
                    self.bump();
                    break;
                }
                LBrace => depth += 1,
                RBrace if depth == 0 => break,
                RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        break;
                    }
                }
                kind if depth == 0 && (kind.starts_item() || kind.starts_statement()) => break,
                _ => {}
            }
            self.bump();
        }
        self.finish();
    }

    /// Enters one more level of nesting. At the limit, the rest of the text is skipped.
    fn enter(&mut self) -> bool {
        self.depth += 1;
        if self.depth <= MAX_NESTING {
            return true;
        }
        let span = self.peek_span();
        self.error(
            Diagnostic::new(
                Code::NestingTooDeep,
                span,
                format!("more than {MAX_NESTING} levels of nesting"),
            )
            .label("too deep here; the rest of the file was not read")
            .help("name parts with `def` or `macro`"),
        );
        self.start(Error);
        while self.peek() != EndOfFile {
            self.bump();
        }
        self.finish();
        // Nothing that follows is worth a message.
        self.last_error = Some(self.peek_span().start);
        false
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- nodes ----

    fn start(&mut self, kind: SyntaxKind) {
        self.trivia();
        self.builder
            .start_node(<super::Threadwise as rowan::Language>::kind_to_raw(kind));
    }

    fn checkpoint(&mut self) -> Checkpoint {
        self.trivia();
        self.builder.checkpoint()
    }

    fn start_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(
            checkpoint,
            <super::Threadwise as rowan::Language>::kind_to_raw(kind),
        );
    }

    fn finish(&mut self) {
        self.builder.finish_node();
    }

    // ---- items ----

    fn file(&mut self) {
        self.builder
            .start_node(<super::Threadwise as rowan::Language>::kind_to_raw(File));
        while self.peek() != EndOfFile {
            self.item();
        }
        self.trivia();
        self.finish();
    }

    fn item(&mut self) {
        match self.peek() {
            ParamKw => self.param(),
            EnumKw => self.enumeration(),
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
            ProcessKw | OrderedKw | RingKw => self.process(),
            DefKw => self.def(),
            MacroKw => self.macro_item(),
            InvariantKw => {
                self.start(Invariant);
                self.bump();
                self.property_name("a property's name");
                self.expect(Colon);
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
            _ => {
                self.expected(
                    "a declaration (`param`, `shared`, `process`, `def`, `invariant`, ..)",
                );
                self.start(Error);
                self.bump();
                self.finish();
                while !self.peek().starts_item() && self.peek() != EndOfFile {
                    self.bump();
                }
            }
        }
    }

    fn param(&mut self) {
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

    fn enumeration(&mut self) {
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

    /// `shared` or `local`.
    fn variable(&mut self, kind: SyntaxKind) {
        self.start(kind);
        self.bump();
        self.name_list("a variable's name");
        self.expect(Colon);
        self.ty();
        if self.peek() == Becomes {
            let span = self.peek_span();
            self.error(
                Diagnostic::new(
                    Code::AssignmentOperator,
                    span,
                    "an initial value is given with `=`",
                )
                .label("write `=` here"),
            );
            self.bump();
            self.initial();
        } else if self.eat(Equals) {
            self.initial();
        }
        self.semicolon();
        self.finish();
    }

    fn initial(&mut self) {
        self.start(Initial);
        if !self.eat(AnyKw) {
            self.expr();
        }
        self.finish();
    }

    fn name_list(&mut self, what: &str) {
        self.name(what);
        while self.eat(Comma) {
            self.name(what);
        }
    }

    fn ty(&mut self) {
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

    fn leaf(&mut self, kind: SyntaxKind) {
        self.start(kind);
        self.bump();
        self.finish();
    }

    fn domain(&mut self) {
        self.start(Domain);
        self.sum();
        if self.eat(DotDot) {
            self.sum();
        }
        self.finish();
    }

    fn process(&mut self) {
        self.start(Process);
        if matches!(self.peek(), OrderedKw | RingKw) {
            self.bump();
        }
        self.expect(ProcessKw);
        self.name("a template's name");
        if self.peek() == LBracket {
            self.start(ProcessIds);
            self.bump();
            if self.peek() != RBracket {
                self.name("the name of a process's own id");
                self.expect(Colon);
                self.domain();
            }
            self.expect(RBracket);
            self.finish();
        }
        let open = self.peek_span();
        if self.expect(LBrace) {
            while self.peek() == LocalKw {
                self.variable(Local);
            }
            self.statements();
            self.close_brace(open);
        } else {
            self.recover();
        }
        self.finish();
    }

    fn close_brace(&mut self, open: Span) {
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

    fn def(&mut self) {
        self.start(Def);
        self.bump();
        self.name("a definition's name");
        if self.eat(LParen) {
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
            self.expect(RParen);
        }
        self.expect(Equals);
        self.expr();
        self.semicolon();
        self.finish();
    }

    fn macro_item(&mut self) {
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

    fn fairness(&mut self) {
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

    fn fair_term(&mut self) {
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

    fn liveness(&mut self) {
        self.start(Liveness);
        self.bump();
        self.property_name("a property's name");
        if self.eat(UnderKw) {
            self.name_list("the name of a fairness");
        }
        self.expect(Colon);
        self.ltl = true;
        self.expr();
        self.ltl = false;
        self.semicolon();
        self.finish();
    }

    // ---- statements ----

    fn block(&mut self) {
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

    fn statements(&mut self) {
        loop {
            match self.peek() {
                RBrace | EndOfFile => break,
                kind if kind.starts_item() => break,
                _ => self.statement(),
            }
        }
    }

    fn statement(&mut self) {
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
                        .label("write `:=` here"),
                    );
                    self.bump();
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

    // ---- expressions ----

    fn expr(&mut self) {
        if self.enter() {
            self.iff();
        }
        self.leave();
    }

    /// A chain of operators of one level, flat in one node.
    fn chain(&mut self, operators: &[SyntaxKind], operand: fn(&mut Self)) {
        let checkpoint = self.checkpoint();
        operand(self);
        if !operators.contains(&self.peek()) {
            return;
        }
        self.start_at(checkpoint, BinaryExpr);
        while operators.contains(&self.peek()) {
            self.bump();
            operand(self);
        }
        self.finish();
    }

    fn iff(&mut self) {
        self.chain(&[DoubleArrow], Self::implies);
    }

    fn implies(&mut self) {
        let checkpoint = self.checkpoint();
        self.or();
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

    fn or(&mut self) {
        self.chain(&[OrOr], Self::and);
    }

    fn and(&mut self) {
        self.chain(&[AndAnd], Self::until);
    }

    fn until(&mut self) {
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

    fn compare(&mut self) {
        const OPERATORS: &[SyntaxKind] = &[EqEq, NotEq, Less, LessEq, Greater, GreaterEq];
        let checkpoint = self.checkpoint();
        self.sum();
        if !OPERATORS.contains(&self.peek()) {
            return;
        }
        self.start_at(checkpoint, BinaryExpr);
        self.bump();
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

    fn sum(&mut self) {
        self.chain(&[Plus, Minus], Self::product);
    }

    fn product(&mut self) {
        self.chain(&[Star, Slash, Percent], Self::unary);
    }

    fn unary(&mut self) {
        let temporal =
            self.ltl && self.peek() == Name && matches!(self.peek_text(), "G" | "F" | "X");
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

    fn postfix(&mut self) {
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

    fn primary(&mut self) {
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

    fn call(&mut self) {
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

    fn binders(&mut self) {
        self.start(Binders);
        loop {
            self.start(Group);
            self.name_list("a name");
            self.expect(InKw);
            self.domain();
            self.finish();
            if !self.eat(Comma) {
                break;
            }
        }
        self.finish();
    }
}

fn starts_expr(kind: SyntaxKind) -> bool {
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

/// A token's text for a message: block comments and the like can be long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(30) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}
