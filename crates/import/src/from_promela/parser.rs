//! Tokens to the tree: the program's parts and its declarations. Statements, expressions and formulas have files of their own.
//!
//! The first text that cannot be read ends the reading. A name that is not declared does not: the others are looked at too.

use std::collections::HashMap;

use threadwise_lang::diagnostics::Code;

use super::inlines;
use super::labels::Labels;
use super::lexer::{DIALECT, Kind, Token};
use super::remarks::{Parsed, malformed, remark, unsupported};
use super::scopes::{Other, Scopes};
use super::separators;
use super::syntax::{
    At, Claim, Expr, ExprKind, Ltl, Mtype, Name, Proctype, Promela, Record, Statement, Type,
};
use super::words::is_keyword;
use crate::front::preprocess::preprocess;
use crate::front::source::Sources;
use crate::{Remark, Settings};

/// How deeply statements and expressions may be nested.
pub(crate) const DEEPEST: u32 = 200;
/// After so many errors the rest is not looked for.
const MOST_ERRORS: usize = 20;

/// The tree with notes on what was left out, or why there is none.
type Outcome = Result<(Promela, Vec<Remark>), Vec<Remark>>;

/// Reads a program, and the files that it includes.
pub(crate) fn parse(sources: &mut Sources, settings: &mut Settings<'_>) -> Outcome {
    preprocess(&DIALECT, sources, settings)
        .map(|tokens| tokens.into_iter().map(Token::from).collect::<Vec<_>>())
        .and_then(|tokens| inlines::expand(&tokens))
        .map_err(|error| vec![*error])
        .and_then(|expanded| {
            let tokens = separators::add(expanded.tokens);
            let length = sources.text(0).len() as u32;
            let end = At {
                file: 0,
                start: length,
                end: length,
            };
            let mut parser = Parser::new(
                tokens,
                end,
                Scopes::new(&expanded.names),
                Labels::new(expanded.within),
            );
            if let Err(error) = parser.program() {
                parser.errors.push(*error);
            }
            if parser.errors.is_empty() {
                Ok((parser.program, parser.notes))
            } else {
                Err(parser.errors)
            }
        })
}

pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// A token that ends every list, after the last.
    end: Token,
    pub(super) program: Promela,
    pub(super) scopes: Scopes,
    pub(super) labels: Labels,
    pub(super) errors: Vec<Remark>,
    pub(super) notes: Vec<Remark>,
    pub(super) depth: u32,
    /// The height of the expressions inside the one being read: indices and arguments.
    pub(super) inner: u32,
    /// How many members each set of mtypes has.
    pub(super) members: HashMap<Option<String>, usize>,
    formulas: HashMap<String, At>,
    /// How many loops are open: `break` needs one.
    pub(super) loops: u32,
    /// Declarations still set the values that a process starts with; after its first statement they are steps.
    pub(super) early: bool,
    /// Whether an option begins with the next statement, which may then be `else`.
    pub(super) option_begins: bool,
    /// Whether a never claim is being read.
    pub(super) in_claim: bool,
    /// Statements that go in front of the one being read, in its sequence.
    pub(super) in_front: Vec<Statement>,
}

impl Parser {
    fn new(tokens: Vec<Token>, end: At, scopes: Scopes, labels: Labels) -> Parser {
        Parser {
            tokens,
            next: 0,
            end: Token {
                kind: Kind::Stray,
                ..Token::sign(end, "the end of the program", 0)
            },
            program: Promela::default(),
            scopes,
            labels,
            errors: Vec::new(),
            notes: Vec::new(),
            depth: 0,
            inner: 0,
            members: HashMap::new(),
            formulas: HashMap::new(),
            loops: 0,
            early: true,
            option_begins: false,
            in_claim: false,
            in_front: Vec::new(),
        }
    }

    // Reading tokens.

    pub(super) fn ahead(&self, by: usize) -> &Token {
        self.tokens.get(self.next + by).unwrap_or(&self.end)
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ended(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// Where the reading is, to go back to.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    pub(super) fn go_back(&mut self, position: usize) {
        self.next = position;
    }

    pub(super) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    pub(super) fn at_sign(&self, sign: &str) -> bool {
        self.peek().is(sign)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek().is_word(word)
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        self.next += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.next += usize::from(found);
        found
    }

    /// The place from a token that was read to the last one read.
    pub(super) fn since(&self, first: At) -> At {
        match self
            .next
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
        {
            Some(last) if last.at.file == first.file && last.at.end > first.start => At {
                end: last.at.end,
                ..first
            },
            _ => first,
        }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Box<Remark> {
        let token = self.peek();
        let shown = if self.ended() {
            "the end of the program".to_string()
        } else {
            token.shown()
        };
        // What people write who think of other languages.
        let help = match (shown.as_str(), wanted) {
            ("`=`", "`)`") => "expected `)`; to compare, write `==`".to_string(),
            ("`(`", "`::`") => {
                "expected `::`; options are written `if :: x == 1 -> .. :: else -> .. fi`"
                    .to_string()
            }
            _ => format!("expected {wanted}"),
        };
        remark(
            token.at,
            Code::ForeignSyntax,
            format!("{shown} was not expected here"),
            help,
        )
    }

    pub(super) fn expect(&mut self, sign: &str) -> Parsed<At> {
        if self.at_sign(sign) {
            Ok(self.take().at)
        } else {
            Err(self.unexpected(&format!("`{sign}`")))
        }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<At> {
        if self.at_word(word) {
            Ok(self.take().at)
        } else {
            Err(self.unexpected(&format!("`{word}`")))
        }
    }

    /// A name that may be anything but a keyword or a member of an mtype.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return Err(self.unexpected(what));
        }
        if is_keyword(&token.text) {
            let message = format!("{} is a word of the language", token.shown());
            return Err(remark(
                token.at,
                Code::KeywordAsName,
                message,
                format!("{what} was expected; choose another name"),
            ));
        }
        if self.scopes.is_other(&token.text, Other::Member) {
            let message = format!("{} is a member of an mtype", token.shown());
            let help =
                format!("{what} was expected; a member's name cannot be used for anything else");
            return Err(remark(token.at, Code::KeywordAsName, message, help));
        }
        let token = self.take();
        Ok(Name {
            at: token.at,
            text: token.text.to_string(),
        })
    }

    /// Counts nesting; [`Parser::shallower`] ends it.
    pub(super) fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let help = format!("at most {DEEPEST} levels are read: split it up");
            return Err(remark(
                self.peek().at,
                Code::NestingTooDeep,
                "nested too deeply",
                help,
            ));
        }
        Ok(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// Notes an error that need not end the reading.
    pub(super) fn complain(&mut self, error: Box<Remark>) -> Parsed<()> {
        // A statement that begins with a variable is read twice.
        if self.errors.contains(&*error) {
            return Ok(());
        }
        if self.errors.len() + 1 >= MOST_ERRORS {
            return Err(error);
        }
        self.errors.push(*error);
        Ok(())
    }

    // The program's parts.

    fn program(&mut self) -> Parsed<()> {
        // Formulas come last, wherever they stand: they may speak of everything.
        let mut formulas = Vec::new();
        while !self.ended() {
            if self.at_word("ltl") {
                formulas.push(self.next);
                self.pass_formula()?;
            } else {
                self.unit()?;
            }
        }
        let end = self.next;
        for start in formulas {
            self.next = start;
            self.formula_unit()?;
        }
        self.next = end;
        if self.program.proctypes.is_empty() && self.errors.is_empty() {
            let help = "write `active proctype P() { .. }` or `init { .. }`";
            return Err(malformed(self.end.at, "the program has no process", help));
        }
        self.check_references()
    }

    fn pass_formula(&mut self) -> Parsed<()> {
        let at = self.take().at;
        if !self.at_sign("{") {
            self.name("the formula's name")?;
        }
        self.expect("{")?;
        let mut inner = 1;
        while inner > 0 {
            if self.ended() {
                return Err(remark(
                    at,
                    Code::UnclosedBrace,
                    "this formula has no end",
                    "close it with `}`",
                ));
            }
            let token = self.take();
            if token.is("{") {
                inner += 1;
            } else if token.is("}") {
                inner -= 1;
            }
        }
        Ok(())
    }

    fn formula_unit(&mut self) -> Parsed<()> {
        let at = self.expect_word("ltl")?;
        let name = if self.at_sign("{") {
            None
        } else {
            Some(self.name("the formula's name")?)
        };
        if let Some(name) = &name
            && let Some(earlier) = self.formulas.insert(name.text.clone(), name.at)
        {
            let message = format!("a second formula named `{}`", name.text);
            let message = remark(name.at, Code::DeclaredTwice, message, "rename one of them");
            return Err(super::remarks::related(message, earlier, "the first"));
        }
        self.expect("{")?;
        let formula = self.formula()?;
        while self.take_sign(";") {}
        self.expect("}")?;
        self.program.formulas.push(Ltl {
            at: self.since(at),
            name,
            formula,
        });
        Ok(())
    }

    fn unit(&mut self) -> Parsed<()> {
        if self.take_sign(";") || self.take_sign("->") {
            return Ok(());
        }
        let token = self.peek().clone();
        if token.kind != Kind::Word {
            return Err(self.unexpected("a declaration, a proctype, `init`, `never` or `ltl`"));
        }
        match &*token.text {
            "active" | "proctype" => self.proctype(),
            "D_proctype" => Err(unsupported(
                token.at,
                "`D_proctype` is not supported",
                "write `proctype`",
            )),
            "init" => self.init(),
            "never" => self.claim(),
            "trace" | "notrace" => Err(unsupported(
                token.at,
                format!("{} assertions are not supported", token.shown()),
                "say it with an `assert` or an `ltl` formula",
            )),
            "typedef" => self.record(),
            "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr" => Err(embedded(&token)),
            "mtype" if self.ahead(1).is("=") || self.ahead(1).is("{") => self.mtype(),
            "mtype"
                if self.ahead(1).is(":") && (self.ahead(3).is("=") || self.ahead(3).is("{")) =>
            {
                self.mtype()
            }
            _ if self.at_declaration() => {
                let declarations = self.declaration()?;
                self.program.globals.extend(declarations);
                Ok(())
            }
            _ => {
                let known = [
                    "proctype", "active", "init", "never", "typedef", "mtype", "ltl", "inline",
                    "byte", "chan",
                ];
                match threadwise_lang::suggest::closest(&token.text, known.map(String::from)) {
                    Some(close) => {
                        Err(self.unexpected(&format!("a declaration; did you mean `{close}`?")))
                    }
                    None => {
                        Err(self.unexpected("a declaration, a proctype, `init`, `never` or `ltl`"))
                    }
                }
            }
        }
    }

    fn mtype(&mut self) -> Parsed<()> {
        self.take();
        let set = if self.take_sign(":") {
            Some(self.name("the set's name")?)
        } else {
            None
        };
        self.take_sign("=");
        self.expect("{")?;
        let mut members: Vec<Name> = Vec::new();
        while !self.take_sign("}") {
            if self.take_sign(",") || self.take_sign(";") {
                continue;
            }
            let name = self.name("a member's name")?;
            // Declared one by one, so that a name cannot come twice.
            if let Err(error) = self.scopes.declare_other(&name, Other::Member) {
                self.complain(error)?;
            }
            members.push(name);
        }
        let count = self
            .members
            .entry(set.as_ref().map(|set| set.text.clone()))
            .or_default();
        *count += members.len();
        if let Some(last) = members.last().filter(|_| *count > 255) {
            return Err(malformed(
                last.at,
                "an mtype has at most 255 members",
                "split it into several sets",
            ));
        }
        self.program.mtypes.push(Mtype { set, members });
        Ok(())
    }

    fn record(&mut self) -> Parsed<()> {
        self.take();
        let name = self.name("the type's name")?;
        self.scopes.declare_other(&name, Other::Record)?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.take_sign("}") {
            if self.take_sign(";") {
                continue;
            }
            if !self.at_declaration() {
                return Err(self.unexpected("the declaration of a field"));
            }
            fields.extend(self.fields()?);
            if !self.at_sign("}") && !self.at_sign(";") {
                return Err(self.unexpected("`;` or `}`"));
            }
        }
        if fields.is_empty() {
            return Err(malformed(
                name.at,
                "a record without fields",
                "give it a field, or remove it",
            ));
        }
        // A record in itself would have no size.
        if let Some(inner) = fields
            .iter()
            .find(|field| field.kind == Type::Record(name.text.clone()))
        {
            let message = format!("`{}` contains itself", name.text);
            return Err(remark(
                inner.at,
                Code::RecursiveDefinition,
                message,
                "remove the field",
            ));
        }
        self.scopes.declare_record(&name, &fields)?;
        self.program.records.push(Record { name, fields });
        Ok(())
    }

    fn proctype(&mut self) -> Parsed<()> {
        let at = self.peek().at;
        let mut active = None;
        if self.at_word("active") {
            let here = self.take().at;
            active = Some(Expr {
                at: here,
                kind: ExprKind::Number(1),
            });
            if self.take_sign("[") {
                active = Some(self.constant("the number of processes", 0)?);
                self.expect("]")?;
            }
        }
        if self.at_word("D_proctype") {
            return Err(unsupported(
                self.peek().at,
                "`D_proctype` is not supported",
                "write `proctype`",
            ));
        }
        self.expect_word("proctype")?;
        let name = self.name("the name of the proctype")?;
        self.scopes.declare_other(&name, Other::Process)?;
        self.expect("(")?;
        self.scopes.enter();
        let mut parameters = Vec::new();
        while !self.take_sign(")") {
            if self.take_sign(";") || self.take_sign(",") {
                continue;
            }
            if !self.at_declaration() {
                return Err(self.unexpected("a parameter with its type, or `)`"));
            }
            for parameter in self.declaration()? {
                if parameter.initial.is_some() {
                    let help = "the values of parameters come from `run`";
                    return Err(malformed(
                        parameter.at,
                        "a parameter with an initial value",
                        help,
                    ));
                }
                parameters.push(parameter);
            }
        }
        self.refuse_options()?;
        let (body, end) = self.body(&name.text)?;
        let proctype = Proctype {
            at: self.since(at),
            name,
            is_init: false,
            active,
            parameters,
            body,
            end,
        };
        self.program.proctypes.push(proctype);
        Ok(())
    }

    fn init(&mut self) -> Parsed<()> {
        let at = self.take().at;
        if let Some(earlier) = self
            .program
            .proctypes
            .iter()
            .find(|proctype| proctype.is_init)
        {
            let message = remark(
                at,
                Code::DeclaredTwice,
                "a second `init`",
                "a program has one at most",
            );
            return Err(super::remarks::related(message, earlier.at, "the first"));
        }
        self.refuse_options()?;
        self.scopes.enter();
        let name = Name {
            at,
            text: "init".to_string(),
        };
        let (body, end) = self.body("init")?;
        let active = Some(Expr {
            at,
            kind: ExprKind::Number(1),
        });
        let parameters = Vec::new();
        let proctype = Proctype {
            at: self.since(at),
            name,
            is_init: true,
            active,
            parameters,
            body,
            end,
        };
        self.program.proctypes.push(proctype);
        Ok(())
    }

    fn claim(&mut self) -> Parsed<()> {
        let at = self.take().at;
        let name = if self.at_sign("{") {
            None
        } else {
            Some(self.name("the claim's name")?)
        };
        self.scopes.enter();
        let key = format!("never {}", self.program.claims.len());
        self.in_claim = true;
        let (body, end) = self.body(&key)?;
        self.in_claim = false;
        self.program.claims.push(Claim {
            at: self.since(at),
            name,
            body,
            end,
        });
        Ok(())
    }

    /// `priority` and `provided`.
    pub(super) fn refuse_options(&mut self) -> Parsed<()> {
        let token = self.peek();
        if token.is_word("priority") {
            return Err(unsupported(
                token.at,
                "priorities of processes are not supported",
                "remove the priority",
            ));
        }
        if token.is_word("provided") {
            let help = "put the condition in front of the statements it is for";
            return Err(unsupported(token.at, "`provided` is not supported", help));
        }
        Ok(())
    }
}

/// C in the program.
pub(super) fn embedded(token: &Token) -> Box<Remark> {
    let help = "say in Promela what the C text does";
    unsupported(
        token.at,
        format!("{}: C inside Promela is not supported", token.shown()),
        help,
    )
}
