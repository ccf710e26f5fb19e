//! What people write who know another language, and what it is here.
//!
//! Each habit gets one message, with the text that was meant as a fix, and is then read as what was meant: a token counts as another one, or the
//! node that was meant is built around it. So nothing that follows is misread, and one mistake has one message. What cannot be read on is put into an
//! [`SyntaxKind::Error`] node, and `check/follow.rs` drops what the checker says about the names in it.

use super::expressions::starts_expr;
use super::kind::SyntaxKind::{self, *};
use super::parser::Parser;
use crate::diagnostics::{Code, Diagnostic, Fix};
use crate::program::Span;

/// So many tokens are looked ahead at most, and after so many messages no more work goes into good ones.
const MANY: usize = 100;

/// Types that C, Promela and Rust have, and what is written here.
const FOREIGN_TYPES: &[(&str, &str)] = &[
    ("bit", "0..1"),
    ("byte", "0..255"),
    ("char", "0..255"),
    ("u8", "0..255"),
    ("uint8_t", "0..255"),
    ("u16", "0..65535"),
    ("uint16_t", "0..65535"),
    ("short", "-32768..32767"),
    ("i16", "-32768..32767"),
    ("i8", "-128..127"),
    ("_Bool", "bool"),
    ("boolean", "bool"),
    ("Boolean", "bool"),
    ("BOOLEAN", "bool"),
    ("i32", "int"),
    ("i64", "int"),
    ("u32", "int"),
    ("u64", "int"),
    ("usize", "int"),
    ("int32_t", "int"),
    ("int64_t", "int"),
    ("uint32_t", "int"),
    ("uint64_t", "int"),
    ("size_t", "int"),
    ("long", "int"),
    ("unsigned", "int"),
    ("integer", "int"),
    ("Int", "int"),
    ("Integer", "int"),
    ("Nat", "int"),
    ("pthread_mutex_t", "mutex"),
    ("Mutex", "mutex"),
    ("Lock", "mutex"),
];

/// What a type of another language is here.
pub(crate) fn foreign_type(word: &str) -> Option<&'static str> {
    let found = FOREIGN_TYPES.iter().find(|(theirs, _)| *theirs == word);
    found.map(|(_, ours)| *ours)
}

/// A statement of another language, and what is written here.
pub(crate) fn foreign_statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "wait" | "wait_until" | "when" | "until" | "assume" | "require" | "suspend" => "await",
        "acquire" => "lock",
        "release" => "unlock",
        "assert_eq" | "ensure" | "check" => "assert",
        "pass" | "noop" | "nop" | "sleep" | "yield" | "delay" | "print" | "println" | "printf" => {
            "skip"
        }
        _ => return None,
    })
}

/// A declaration of another language: what it is in a message, and the keyword here.
fn foreign_item(word: &str) -> Option<(&'static str, SyntaxKind)> {
    Some(match word {
        "thread" | "proctype" | "task" | "actor" | "fair" => ("a process template", ProcessKw),
        "const" | "constant" | "CONSTANT" | "CONSTANTS" => ("a parameter", ParamKw),
        "static" | "global" | "let" | "var" | "variable" | "variables" | "VARIABLE"
        | "VARIABLES" => ("a shared variable", SharedKw),
        "fn" | "func" | "function" | "predicate" | "define" => ("a definition", DefKw),
        "inline" | "procedure" | "proc" => ("a macro", MacroKw),
        "struct" => ("a record", RecordKw),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Lets the next token count as another kind.
    pub(super) fn retype(&mut self, kind: SyntaxKind) {
        let index = self.index(0);
        if let Some(token) = self.tokens.get_mut(index) {
            token.kind = kind;
        }
    }

    /// From the next token to the n-th.
    pub(super) fn reach(&self, n: usize) -> Span {
        Span {
            start: self.peek_span().start,
            end: self.nth_span(n).end,
        }
    }

    pub(super) fn nth_span(&self, n: usize) -> Span {
        let end = self.text.len() as u32;
        let token = self.tokens.get(self.index(n));
        token.map_or(Span { start: end, end }, |token| token.span)
    }

    pub(super) fn nth_text(&self, n: usize) -> &str {
        let span = self.nth_span(n);
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// Whether nothing stands between the n-th token and the one behind it.
    fn touches(&self, n: usize) -> bool {
        self.nth_span(n).end == self.nth_span(n + 1).start
    }

    /// Puts so many tokens into an error node.
    pub(super) fn skip(&mut self, tokens: usize) {
        self.start(Error);
        for _ in 0..tokens {
            self.bump();
        }
        self.finish();
    }

    /// Where the last token that was read ends.
    pub(super) fn read_to(&self) -> u32 {
        let read = self.tokens[..self.at].iter().rev();
        let last = read.into_iter().find(|token| !token.kind.is_trivia());
        last.map_or(0, |token| token.span.end)
    }

    // ---- expressions ----

    /// `[] e` and `<> e`, which are `G e` and `F e` here. Says whether there was one.
    pub(super) fn box_or_diamond(&mut self) -> bool {
        let (word, meant) = match (self.peek(), self.nth(1)) {
            (LBracket, RBracket) => ("[]", "G"),
            (Less, Greater) => ("<>", "F"),
            _ => return false,
        };
        let span = self.reach(1);
        if self.boxes_until.is_some_and(|until| span.start < until) {
            self.skip(2);
            return true;
        }
        // All of them in this property are one mistake, with one fix.
        let end = self.formula_end();
        self.boxes_until = Some(end);
        let message = format!("the temporal operator `{word}` is written `{meant}`");
        let found = Diagnostic::new(Code::UnexpectedToken, span, message);
        let rest = self
            .text
            .get(span.start as usize..end as usize)
            .unwrap_or_default();
        let ours = rest
            .replace("[](", "G(")
            .replace("<>(", "F(")
            .replace("[] ", "G ")
            .replace("<> ", "F ")
            .replace("[]", "G ")
            .replace("<>", "F ");
        let whole = Span { end, ..span };
        let behind = rest.get(2..).unwrap_or_default();
        let others = behind.contains("[]") || behind.contains("<>");
        let found = match (self.ltl, word) {
            (true, _) if others => found
                .label(format!("write `{meant}`"))
                .help("`[]` is `G`, and `<>` is `F`")
                .fix_at(whole, ours),
            (true, _) => found.label(format!("write `{meant}`")).fix_at(whole, ours),
            (false, "[]") => found
                .label("not needed here")
                .help("an invariant is checked in every state: leave `[]` out")
                .fix(""),
            (false, _) => found
                .label("only in `liveness`")
                .help(format!("state it as `liveness name: {meant} (..);`")),
        };
        self.error(found);
        self.skip(2);
        true
    }

    /// Where the property that is being read ends, without its semicolon.
    fn formula_end(&self) -> u32 {
        let rest = self.tokens[self.at..].iter();
        let mut rest = rest.skip_while(|token| token.kind != Semicolon);
        rest.next()
            .map_or(self.text.len() as u32, |token| token.span.start)
    }

    /// Words for `&&` and `||` between operands.
    pub(super) fn operator_in_words(&mut self, operators: &[SyntaxKind]) {
        let (kind, meant) = match (self.peek(), self.peek_text()) {
            (Name, "and" | "AND") => (AndAnd, "&&"),
            (OrKw, _) if !matches!(self.nth(1), UnconditionalKw | WeakKw | StrongKw) => {
                (OrOr, "||")
            }
            (Name, "OR") => (OrOr, "||"),
            (Name, "implies") => (Arrow, "->"),
            (Name, "iff") => (DoubleArrow, "<->"),
            _ => return,
        };
        if !operators.contains(&kind) || !starts_expr(self.nth(1)) {
            return;
        }
        let message = format!("`{}` is written `{meant}`", self.peek_text());
        let found = Diagnostic::new(Code::UnexpectedToken, self.peek_span(), message);
        self.error(found.label(format!("write `{meant}`")).fix(meant));
        self.retype(kind);
    }

    /// `not e`
    pub(super) fn not_in_words(&mut self) {
        let word = matches!(self.peek_text(), "not" | "NOT");
        if self.peek() == Name
            && word
            && starts_expr(self.nth(1))
            // `not(e)` may call a definition: the checker knows.
            && !matches!(self.nth(1), Minus | LParen)
        {
            let found = Diagnostic::new(
                Code::UnexpectedToken,
                self.peek_span(),
                format!("`{}` is written `!`", self.peek_text()),
            );
            self.error(found.label("write `!`").fix("!"));
            self.retype(Bang);
        }
    }

    /// What stands between the names that a quantifier binds and their set.
    pub(super) fn in_set(&mut self) -> bool {
        if self.eat(InKw) {
            return true;
        }
        if self.peek() != Colon {
            return self.expect(InKw);
        }
        let span = self.peek_span();
        if matches!(self.nth(1), Name | Number) && matches!(self.nth(2), Colon | DotDot) {
            let found = Diagnostic::new(
                Code::UnexpectedToken,
                span,
                "a quantifier is written with `in`",
            );
            self.error(found.label("write ` in`").fix(" in"));
            self.bump();
            return true;
        }
        let before = Span {
            end: span.start,
            ..span
        };
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            span,
            "the quantifier does not say what it ranges over",
        );
        let found = found.label("expected ` in ` and a set before this");
        self.error(match self.some_template() {
            Some(template) => found
                .help(format!(
                    "write ` in {template}` for all processes of `{template}`"
                ))
                .fix_at(before, format!(" in {template}")),
            None => found.help("write for example `forall k in 0..3: ..`"),
        });
        false
    }

    /// A process template of the file, for examples.
    fn some_template(&self) -> Option<String> {
        // Nobody reads more.
        if self.diagnostics.len() > MANY {
            return None;
        }
        let real = || self.tokens.iter().filter(|token| !token.kind.is_trivia());
        let pairs = real().zip(real().skip(1));
        let mut named =
            pairs.filter(|(first, second)| first.kind == ProcessKw && second.kind == Name);
        let (_, name) = named.next()?;
        Some(
            self.text
                .get(name.span.start as usize..name.span.end as usize)
                .unwrap_or_default()
                .to_owned(),
        )
    }

    // ---- declarations ----

    /// The colon before a type, or what is written instead of it. Says whether a type follows.
    pub(super) fn colon_before_type(&mut self) -> bool {
        if self.eat(Colon) {
            return true;
        }
        let span = self.peek_span();
        let found = |message| Diagnostic::new(Code::UnexpectedToken, span, message);
        match self.peek() {
            InKw => {
                let found = found("a type follows a colon");
                let from = Span {
                    start: self.read_to(),
                    ..span
                };
                self.error(found.label("write `:`").fix_at(from, ":"));
                self.bump();
                true
            }
            Equals | Becomes | Semicolon => {
                let before = Span {
                    start: self.read_to(),
                    end: self.read_to(),
                };
                let truth = matches!(self.nth(1), TrueKw | FalseKw);
                let found =
                    found("the type is missing").label("expected `:` and a type before this");
                self.error(match truth {
                    true => found.help("write `: bool`").fix_at(before, ": bool"),
                    false => found.help("write for example `: 0..3`, `: bool` or `: int`"),
                });
                false
            }
            _ => self.expect(Colon),
        }
    }

    /// `bool[2]`, or `flag[2]: bool`: the size that C writes behind a type or a name.
    pub(super) fn size_behind(&mut self, element: Option<Span>) {
        // Where the type is missing, what should be it ends before it begins.
        let element = element.filter(|at| at.start < at.end);
        if self.peek() != LBracket {
            return;
        }
        let size = match (self.nth(1), self.nth(2)) {
            (Number, RBracket) => self.nth_text(1).parse::<u32>().ok().filter(|n| *n > 0),
            _ => None,
        };
        let index = size.map_or("0..3".to_owned(), |size| format!("0..{}", size - 1));
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            self.peek_span(),
            "the index of an array is a part of its type",
        );
        let found = found.label("no size stands here");
        let of = element.map_or("..", |at| {
            self.text
                .get(at.start as usize..at.end as usize)
                .unwrap_or_default()
        });
        let meant = format!("array[{index}] of {of}");
        let found = found.help(format!("write `name: {meant}`"));
        self.error(match (element, size) {
            (Some(at), Some(_)) => {
                let end = self.nth_span(2).end;
                found.fix_at(Span { end, ..at }, meant)
            }
            _ => found,
        });
        self.start(Error);
        while !matches!(self.peek(), Semicolon | Equals | Colon | RBrace | EndOfFile) {
            self.bump();
        }
        self.finish();
    }

    /// Whether a declaration as in C stands here: `int x = 0;`, `bool flag[2];`.
    pub(super) fn typed_as_in_c(&self) -> bool {
        let foreign = self.peek() == Name && foreign_type(self.peek_text()).is_some();
        (matches!(self.peek(), BoolKw | IntKw | MutexKw) || foreign)
            && self.nth(1) == Name
            && matches!(self.nth(2), Equals | Semicolon | LBracket | Comma | Becomes)
    }

    /// Reads such a declaration as the one that was meant.
    pub(super) fn declared_as_in_c(&mut self, keyword: &str) {
        let name = self.nth_text(1).to_owned();
        let ours = foreign_type(self.peek_text()).unwrap_or(match self.peek() {
            BoolKw => "bool",
            MutexKw => "mutex",
            _ => "int",
        });
        let (mut ty, mut read, mut whole) = (ours.to_owned(), 2, true);
        if self.nth(2) == LBracket {
            let size = self.nth_text(3).parse::<u32>().ok().filter(|n| *n > 0);
            whole = size.is_some() && self.nth(4) == RBracket;
            ty = format!("array[0..{}] of {ours}", size.unwrap_or(4) - 1);
            read = 5;
        }
        let mut meant = format!("{keyword} {name}: {ty}");
        if self.nth(read) == Semicolon && ours != "mutex" {
            meant.push_str(if ours == "bool" { " = false" } else { " = 0" });
        }
        let span = self.reach(read - 1);
        whole &= matches!(self.nth(read), Equals | Semicolon);
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            span,
            "a declaration begins with `shared` or `local`, and the type follows the name",
        );
        let found = found.label("as in C").help(format!(
            "write `{meant}{}`",
            if self.nth(read) == Equals {
                " = ..;"
            } else {
                ";"
            }
        ));
        self.error(match whole {
            true => found.fix(meant),
            false => found,
        });
        self.start(Error);
        while !matches!(self.peek(), Semicolon | RBrace | LBrace | EndOfFile) {
            self.bump();
        }
        self.eat(Semicolon);
        self.finish();
    }

    /// The keyword of a declaration as another language has it, read as ours. Says whether there was one.
    pub(super) fn foreign_declaration(&mut self) -> bool {
        // `active [2] proctype P()`
        let words = match (self.peek_text(), self.nth(1)) {
            ("active", LBracket) if self.nth(3) == RBracket => 4,
            ("active" | "fair", Name | ProcessKw) => 1,
            ("static" | "let", Name) if self.nth_text(1) == "mut" => 1,
            _ => 0,
        };
        if self.peek() != Name {
            return false;
        }
        let found = match self.nth(words) {
            ProcessKw => Some(("a process template", ProcessKw)),
            _ => match self.nth_text(words) {
                "mut" => Some(("a shared variable", SharedKw)),
                word => foreign_item(word),
            },
        };
        let Some((what, keyword)) = found else {
            return false;
        };
        if !matches!(self.nth(words + 1), Name) {
            return false;
        }
        let span = self.reach(words);
        let meant = keyword.text().unwrap_or_default();
        let called = self
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default();
        let message = format!("`{called}` begins no declaration");
        let found = Diagnostic::new(Code::UnexpectedToken, span, message)
            .label(format!("{what} is declared with `{meant}`"));
        let found = match keyword {
            ProcessKw => found.help("write for example `process P[i: 1..N] { .. }`"),
            _ => found,
        };
        let behind = self.nth(words + 2);
        // With the keyword alone replaced, it would still not be ours.
        let other = match keyword {
            // In Promela the parameters stand behind the name in parentheses, which no template of ours has there.
            ProcessKw => behind == LParen,
            SharedKw => !matches!(behind, Colon | Comma),
            DefKw => self.behind_parentheses(words + 2) != Equals,
            RecordKw => self.nth(words + 4) != Colon,
            _ => false,
        };
        self.error(match (other, keyword) {
            (false, _) => found.fix(meant),
            (true, SharedKw) => {
                found.help("write the type behind the name, for example `shared x: 0..3 = 0;`")
            }
            (true, DefKw) => found.help(
                "a definition is one expression, `def inside(i: P) = P[i] at critical;`; statements with a name are a `macro`",
            ),
            (true, RecordKw) => found.help("for example `record Message { kind: Kind, from: 0..3 }`"),
            (true, _) => found,
        });
        if other && keyword != ProcessKw {
            self.recover();
            return true;
        }
        if words > 0 {
            self.skip(words);
        }
        self.retype(keyword);
        match keyword {
            ProcessKw => self.process(other),
            _ => self.item(),
        }
        true
    }

    /// What stands behind the parentheses that open at the n-th token, or there if none do.
    fn behind_parentheses(&self, n: usize) -> SyntaxKind {
        if self.nth(n) != LParen {
            return self.nth(n);
        }
        let mut at = n;
        while at < MANY && !matches!(self.nth(at), RParen | LBrace | Semicolon | EndOfFile) {
            at += 1;
        }
        self.nth(at + 1)
    }

    /// The name of a property. Behind it stands a colon or `under`, so anything else is a property without a name, or a name without its colon. Says whether
    /// the colon is still to come.
    pub(super) fn named_property(&mut self, what: &str, example: &str) -> bool {
        let named = self.peek() == Name || self.peek().is_keyword();
        if named && matches!(self.nth(1), Colon | UnderKw)
            || !starts_expr(self.peek()) && !self.opens_formula()
        {
            self.property_name("a property's name");
            return true;
        }
        let at = Span {
            start: self.peek_span().start,
            end: self.peek_span().start,
        };
        let behind = self.nth(1);
        let folds = matches!(
            self.peek(),
            ForallKw | ExistsKw | CountKw | SumKw | MinKw | MaxKw
        );
        let temporal = matches!(self.peek_text(), "G" | "F" | "X");
        let colon_left_out = self.peek() == Name
            && !folds
            && !temporal
            && starts_expr(behind)
            && !matches!(behind, LParen | Minus);
        if colon_left_out {
            let end = self.peek_span().end;
            let after = Span { start: end, end };
            let found = Diagnostic::new(
                Code::UnexpectedToken,
                self.peek_span(),
                "a `:` is missing behind the name",
            );
            self.error(found.label("write `:` behind this").fix_at(after, ":"));
            self.bump();
            return false;
        }
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            self.peek_span(),
            format!("{what} has no name"),
        );
        self.error(
            found
                .label("expected a name and `:` before this")
                .help(format!("write for example `{example}: ..`"))
                .fix_at(
                    at,
                    format!("{}: ", example.split(' ').nth(1).unwrap_or("name")),
                ),
        );
        false
    }

    fn opens_formula(&self) -> bool {
        matches!(
            (self.peek(), self.nth(1)),
            (LBracket, RBracket) | (Less, Greater)
        )
    }

    // ---- statements ----

    /// A statement, or a mistake that is read as the statement that was meant. Says whether there was one of these.
    pub(super) fn foreign_beginning(&mut self, first: bool) -> bool {
        match self.peek() {
            // `shared` inside a process that has just begun; later it is a declaration behind a brace that is not closed.
            SharedKw if first => {
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.peek_span(),
                    "`shared` variables are declared outside processes",
                );
                self.error(
                    found
                        .label("inside a process, variables are `local`")
                        .help("move it before the process, or write `local`")
                        .fix("local"),
                );
                self.variable(Local);
                true
            }
            Semicolon => {
                let found =
                    Diagnostic::new(Code::UnexpectedToken, self.peek_span(), "a `;` too many");
                self.error(
                    found
                        .label("nothing ends here; `skip;` does nothing")
                        .fix(""),
                );
                self.skip(1);
                true
            }
            Name if matches!(self.peek_text(), "let" | "var") && self.nth(1) == Name => {
                let mutable = usize::from(self.nth_text(1) == "mut");
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.reach(mutable),
                    "a local variable is declared with `local`",
                );
                if !matches!(self.nth(mutable + 2), Colon | Comma) {
                    self.error(
                        found
                            .label("write `local`, and the type behind the name")
                            .help("for example `local t: 0..3 = 0;`"),
                    );
                    self.recover();
                    return true;
                }
                self.error(found.label("write `local`").fix("local"));
                if mutable > 0 {
                    self.skip(1);
                }
                self.retype(LocalKw);
                self.variable(Local);
                true
            }
            _ if self.typed_as_in_c() => {
                self.declared_as_in_c("local");
                true
            }
            Name if self.peek_text() == "do" && self.nth(1) == LBrace => {
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.peek_span(),
                    "there is no `do .. while`",
                );
                self.error(
                    found
                        .label("not a statement")
                        .help("write `loop { .. if !condition { break; } }`"),
                );
                self.start(Loop);
                self.bump();
                self.block();
                self.finish();
                if self.peek() == WhileKw {
                    self.start(Error);
                    while !matches!(self.peek(), Semicolon | LBrace | RBrace | EndOfFile) {
                        self.bump();
                    }
                    self.eat(Semicolon);
                    self.finish();
                }
                true
            }
            // `if :: guard -> .. fi`, `do :: guard -> .. od`
            IfKw | Name if self.nth(1) == Colon && self.nth(2) == Colon => {
                let repeated = self.peek_text() == "do";
                if !repeated && self.peek() == Name {
                    return false;
                }
                let end = if repeated { "od" } else { "fi" };
                let found = Diagnostic::new(
                    Code::UnexpectedToken,
                    self.peek_span(),
                    format!("`:: .. {end}` of Promela is no statement"),
                );
                self.error(found.label("as in Promela").help(match repeated {
                    true => "write `loop { choose { await e; .. } or { .. } }`",
                    false => {
                        "write `choose { await e; .. } or { .. }`, or `if e { .. } else { .. }`"
                    }
                }));
                self.start(Error);
                while self.peek() != EndOfFile && self.peek_text() != end {
                    if self.peek().starts_item() {
                        break;
                    }
                    self.bump();
                }
                if self.peek_text() == end {
                    self.bump();
                }
                self.eat(Semicolon);
                self.finish();
                true
            }
            Bang | LParen | Number | TrueKw | FalseKw | ForallKw | ExistsKw => {
                self.condition_alone();
                true
            }
            _ => false,
        }
    }

    /// A condition as a statement: in Promela it waits, and an arrow may follow it.
    fn condition_alone(&mut self) {
        let start = self.peek_span().start;
        let at = self.diagnostics.len();
        self.start(Error);
        self.or();
        self.finish();
        let condition = Span {
            start,
            end: self.read_to(),
        };
        if self.diagnostics.len() > at {
            return self.recover();
        }
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            condition,
            "a condition is no statement",
        );
        let found = found
            .label("a value")
            .help("`await` waits for a condition: `await e;`");
        let text = self
            .text
            .get(condition.start as usize..condition.end as usize)
            .unwrap_or_default();
        let meant = format!("await {text}");
        let arrow = self.peek() == Arrow;
        let fix = match arrow {
            true => Fix {
                span: Span {
                    end: self.peek_span().end,
                    ..condition
                },
                text: format!("{meant};"),
            },
            false => Fix {
                span: condition,
                text: meant,
            },
        };
        self.error(found.fix_at(fix.span, fix.text));
        match arrow {
            true => self.skip(1),
            false => self.semicolon(),
        }
    }

    /// `label x := 1;`: a label without its colon, read as one. Says whether there was one.
    pub(super) fn label_without_colon(&mut self) -> bool {
        let behind = self.nth(1);
        let assigns = behind == Name && matches!(self.nth(2), Becomes | LBracket | Dot | Comma);
        if self.peek() != Name
            || foreign_statement(self.peek_text()).is_some()
            || !(assigns || behind.starts_statement())
        {
            return false;
        }
        let span = self.peek_span();
        let end = Span {
            start: span.end,
            end: span.end,
        };
        let message = format!("a `:` is missing behind the label `{}`", self.peek_text());
        let found = Diagnostic::new(Code::UnexpectedToken, span, message);
        self.error(found.label("write `:` behind this").fix_at(end, ":"));
        true
    }

    /// `asert x;`, `wait x;`: a word that begins no statement, and something behind it.
    pub(super) fn no_such_statement(&mut self) -> bool {
        let behind = self.nth(1);
        let alone = behind == Semicolon;
        if !(starts_expr(behind) && !matches!(behind, LParen | Minus) || alone) {
            return false;
        }
        let word = self.peek_text().to_owned();
        let statements = SyntaxKind::all().filter(|kind| kind.starts_statement());
        let words = statements.filter_map(|kind| kind.text().map(str::to_owned));
        let meant = foreign_statement(&word)
            .map(str::to_owned)
            .or_else(|| crate::suggest::closest(&word, words));
        let message = format!("`{word}` begins no statement");
        let found = Diagnostic::new(Code::UnexpectedToken, self.peek_span(), message);
        self.error(match (word.as_str(), meant) {
            ("continue", _) => found
                .label("not a statement")
                .help("`goto` the label at the head of the loop"),
            (_, Some(meant)) => found
                .label("not a statement")
                .help(format!("did you mean `{meant}`?"))
                .fix(meant),
            (_, None) => found
                .label("not a statement")
                .help("an assignment is `x := e;`, a macro is called as `m();`"),
        });
        self.recover();
        true
    }

    /// A block without braces: one statement, or what other languages put between words.
    pub(super) fn block_without_braces(&mut self) -> bool {
        let worded = matches!(self.peek_text(), "then" | "do");
        let behind = if worded { self.nth(1) } else { self.peek() };
        if !(behind == Name || behind.starts_statement()) || behind == LBrace {
            return false;
        }
        let span = self.peek_span();
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            span,
            "what belongs together stands in braces",
        );
        let at = self.diagnostics.len();
        self.error(
            found
                .label("expected `{`")
                .help("write `{ .. }`, also around a single statement"),
        );
        let said = self.diagnostics.len() > at;
        if worded {
            self.skip(1);
        }
        let body = self.peek_span().start;
        if self.enter() {
            self.statement();
        }
        self.leave();
        let end = self.read_to();
        if said && end >= body {
            let text = self
                .text
                .get(body as usize..end as usize)
                .unwrap_or_default();
            self.diagnostics[at].fix = Some(Fix {
                span: Span {
                    start: span.start,
                    end,
                },
                text: format!("{{ {text} }}"),
            });
        }
        true
    }

    /// `assert!(e)` of Rust, which would be read as `assert !(e)`. Says whether it stands here.
    pub(super) fn assert_of_rust(&mut self) -> bool {
        if self.nth(1) != Bang || self.nth(2) != LParen || !self.touches(0) || !self.touches(1) {
            return false;
        }
        let bang = self.nth_span(1);
        let found = Diagnostic::new(
            Code::UnexpectedToken,
            bang,
            "`assert!(..)` would assert the negation",
        );
        self.error(
            found
                .label("no `!` belongs here")
                .help("write `assert e;`, or `assert !(e);` for the negation")
                .fix(""),
        );
        true
    }
}
