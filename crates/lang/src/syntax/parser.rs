//! Recursive descent over the tokens, straight into the tree. After an error the parser skips to
//! the next statement or item and goes on, so one run reports many errors. Nesting is bounded,
//! because everything behind the parser recurses over what it builds.

use super::SyntaxNode;
use super::kind::SyntaxKind::{self, *};
use super::lexer::{Token, lex};
use super::words::settle;
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
    let mut tokens = lex(text, &mut diagnostics);
    settle(text, &mut tokens);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        builder: GreenNodeBuilder::new(),
        diagnostics,
        last_error: None,
        depth: 0,
        ltl: false,
        boxes_until: None,
    };
    parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|d| d.span);
    Parse {
        tree: SyntaxNode::new_root(parser.builder.finish()),
        diagnostics,
    }
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    /// The next token, trivia included.
    pub(super) at: usize,
    builder: GreenNodeBuilder<'static>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Where the last error was: one error a token is enough.
    last_error: Option<u32>,
    pub(super) depth: usize,
    /// Inside `liveness`, where `G F X U R W` are operators.
    pub(super) ltl: bool,
    /// Until where `[]` and `<>` have had their message.
    pub(super) boxes_until: Option<u32>,
}

impl Parser<'_> {
    // ---- tokens ----

    /// The index of the n-th token from here that is no trivia.
    pub(super) fn index(&self, n: usize) -> usize {
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

    pub(super) fn nth(&self, n: usize) -> SyntaxKind {
        self.tokens
            .get(self.index(n))
            .map_or(EndOfFile, |token| token.kind)
    }

    pub(super) fn peek(&self) -> SyntaxKind {
        self.nth(0)
    }

    pub(super) fn peek_text(&self) -> &str {
        match self.tokens.get(self.index(0)) {
            Some(token) => &self.text[token.span.start as usize..token.span.end as usize],
            None => "",
        }
    }

    pub(super) fn peek_span(&self) -> Span {
        match self.tokens.get(self.index(0)) {
            Some(token) => token.span,
            None => Span {
                start: self.text.len() as u32,
                end: self.text.len() as u32,
            },
        }
    }

    /// Adds spaces and comments to the tree, so that the next node begins with a real token.
    pub(super) fn trivia(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if !token.kind.is_trivia() {
                break;
            }
            self.push(*token);
        }
    }

    pub(super) fn push(&mut self, token: Token) {
        let text = &self.text[token.span.start as usize..token.span.end as usize];
        self.builder.token(
            <super::Threadwise as rowan::Language>::kind_to_raw(token.kind),
            text,
        );
        self.at += 1;
    }

    pub(super) fn bump(&mut self) {
        self.trivia();
        if let Some(token) = self.tokens.get(self.at) {
            self.push(*token);
        }
    }

    pub(super) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let here = self.peek() == kind;
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn expect(&mut self, kind: SyntaxKind) -> bool {
        if self.eat(kind) {
            return true;
        }
        let what = format!("`{}`", kind.text().unwrap_or("a name"));
        self.expected(&what);
        false
    }

    /// A declared name.
    pub(super) fn name(&mut self, what: &str) -> bool {
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
                .help(format!("for example `{word}_` or `the_{word}`"))
                .fix(format!("the_{word}")),
            );
            self.bump();
            return true;
        }
        self.expected(what);
        false
    }

    /// A property's name, which nothing in the program refers to: it may be a keyword, as in
    /// `invariant mutex: ..`.
    pub(super) fn property_name(&mut self, what: &str) -> bool {
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

    pub(super) fn semicolon(&mut self) {
        if self.eat(Semicolon) {
            return;
        }
        if self.peek() == Equals {
            return self.wrong_equals();
        }
        if self.peek() == Question {
            let found = Diagnostic::new(
                Code::UnexpectedToken,
                self.peek_span(),
                "there are no conditional expressions",
            );
            let help = "write `if c { x := a; } else { x := b; }`";
            self.error(found.label("expected `;`").help(help));
            return self.recover();
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
                    .label("a `;` belongs after this")
                    .fix_at(
                        Span {
                            start: end.end,
                            end: end.end,
                        },
                        ";",
                    ),
            );
        } else {
            self.expected("`;`");
            self.recover();
        }
    }

    /// `=` after a complete expression.
    pub(super) fn wrong_equals(&mut self) {
        let span = self.peek_span();
        self.error(
            Diagnostic::new(Code::AssignmentOperator, span, "`=` is not an operator")
                .label("`:=` assigns, `==` compares"),
        );
        self.recover();
    }

    // ---- errors ----

    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        let here = self.peek_span().start;
        if self.last_error != Some(here) {
            self.last_error = Some(here);
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn expected(&mut self, what: &str) {
        // The lexer has complained about this one already.
        if self.peek() == BadToken {
            self.last_error = Some(self.peek_span().start);
        }
        let found = match self.peek() {
            EndOfFile => "the end of the file".to_owned(),
            _ => format!("`{}`", shorten(self.peek_text())),
        };
        let span = self.peek_span();
        let mut diagnostic = Diagnostic::new(
            Code::UnexpectedToken,
            span,
            format!("expected {what}, found {found}"),
        )
        .label(format!("expected {what}"));
        if let Some(help) = habit(self.peek_text(), what) {
            diagnostic = diagnostic.help(help);
        }
        self.error(diagnostic);
    }

    /// Skips to the end of the statement or item: past a `;`, before a `}` or something that
    /// begins a statement or item.
    pub(super) fn recover(&mut self) {
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
    pub(super) fn enter(&mut self) -> bool {
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

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- nodes ----

    /// Begins a node at the next real token.
    pub(super) fn start(&mut self, kind: SyntaxKind) {
        self.trivia();
        self.open(kind);
    }

    /// Begins a node right here.
    pub(super) fn open(&mut self, kind: SyntaxKind) {
        self.builder
            .start_node(<super::Threadwise as rowan::Language>::kind_to_raw(kind));
    }

    pub(super) fn checkpoint(&mut self) -> Checkpoint {
        self.trivia();
        self.builder.checkpoint()
    }

    pub(super) fn start_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(
            checkpoint,
            <super::Threadwise as rowan::Language>::kind_to_raw(kind),
        );
    }

    pub(super) fn finish(&mut self) {
        self.builder.finish_node();
    }
}

/// A token's text for a message: block comments and the like can be long.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(30) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

/// What to write instead of something that other languages have.
fn habit(found: &str, expected: &str) -> Option<&'static str> {
    match found {
        "and" => Some("\"and\" is written `&&`"),
        "or" if expected != "a statement" => Some("\"or\" is written `||`"),
        "then" | "do" | "begin" => Some("what follows a condition stands in braces: `if c { .. }`"),
        _ if expected == "`{`" => Some("what belongs together stands in braces: `{ .. }`"),
        _ => None,
    }
}
