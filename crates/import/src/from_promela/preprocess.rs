//! What `cpp` does for SPIN: definitions, conditionals, included files.
//!
//! A macro is switched off while its own expansion is read again, and its name met then stays a name for good, as in C.
//! So every expansion ends, but it may be exponentially long: the tokens made are counted, and past a limit refused.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use threadwise_lang::diagnostics::Code;

use super::conditions;
use super::lexer::{self, Kind, Token};
use super::remarks::{Parsed, malformed, remark, unsupported};
use super::syntax::At;
use crate::{Original, Settings};

/// How many tokens macros and inlines may come to.
pub(crate) const MOST_TOKENS: usize = 1_000_000;
/// How deeply files may include each other, and calls of macros stand in calls of macros.
const DEEPEST: usize = 60;
/// The longest file that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// How many files may be read.
const MOST_FILES: usize = 1_000;

struct Macro {
    /// `None`: without parentheses.
    parameters: Option<Vec<Rc<str>>>,
    body: Vec<Token>,
}

/// One level of tokens still to be read: the text itself, or the expansion of a macro.
struct Pending {
    tokens: Vec<Token>,
    next: usize,
    of: Option<Rc<str>>,
}

/// One `#if` that is open.
struct Conditional {
    at: At,
    /// The text around it is read.
    outside: bool,
    /// This part of it is read.
    now: bool,
    /// One of its parts was read, or is.
    taken: bool,
    /// `#else` was seen.
    last: bool,
}

pub(crate) struct Preprocessor<'s, 'r> {
    settings: &'s mut Settings<'r>,
    pub(crate) files: Vec<Original>,
    /// For each file, the `#include` that first asked for it.
    pub(crate) included: Vec<At>,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Macros whose expansion is being read.
    disabled: HashSet<Rc<str>>,
    /// Files that are being read, by name: an `#include` of one of them would not end.
    open: Vec<String>,
    made: usize,
    output: Vec<Token>,
    /// The line ended since the last token of the output.
    breaks: bool,
}

impl<'s, 'r> Preprocessor<'s, 'r> {
    pub(crate) fn new(settings: &'s mut Settings<'r>) -> Self {
        Preprocessor {
            settings,
            files: Vec::new(),
            included: Vec::new(),
            macros: HashMap::new(),
            disabled: HashSet::new(),
            open: Vec::new(),
            made: 0,
            output: Vec::new(),
            breaks: true,
        }
    }

    /// The program's tokens, without directives and with macros expanded.
    pub(crate) fn program(&mut self, name: &str, text: &str) -> Parsed<Vec<Token>> {
        // The file comes first, so that messages about `-D` have a text to be drawn over.
        self.files.push(Original {
            name: name.to_string(),
            text: text.to_string(),
        });
        let here = At::default();
        self.included.push(here);
        for (name, body) in std::mem::take(&mut self.settings.defines) {
            self.define_from_outside(here, &name, &body)?;
            self.settings.defines.push((name, body));
        }
        self.open.push(name.to_string());
        self.file(0)?;
        Ok(std::mem::take(&mut self.output))
    }

    fn define_from_outside(&mut self, here: At, name: &str, body: &str) -> Parsed<()> {
        let words = lexer::tokens(name, 0)
            .ok()
            .filter(|tokens| tokens.len() == 1 && tokens[0].kind == Kind::Word);
        let (Some(words), Ok(mut body)) = (words, lexer::tokens(body, 0)) else {
            let message = format!("`-D {name}={body}` is no definition");
            return Err(malformed(
                here,
                message,
                "write `-D NAME` or `-D NAME=TOKENS`",
            ));
        };
        for token in &mut body {
            token.at = here;
        }
        self.macros.insert(
            words[0].text.clone(),
            Rc::new(Macro {
                parameters: None,
                body,
            }),
        );
        Ok(())
    }

    fn file(&mut self, index: usize) -> Parsed<()> {
        let length = self.files[index].text.len();
        if length > LONGEST {
            let at = At {
                file: index as u32,
                ..At::default()
            };
            let message = format!("this file has {length} bytes; at most {LONGEST} are read");
            return Err(unsupported(
                at,
                message,
                "split it, or leave out what is not needed",
            ));
        }
        let text = self.files[index].text.clone();
        let tokens = lexer::tokens(&text, index as u32)?;
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut next = 0;
        while next < tokens.len() {
            let live = conditionals.last().is_none_or(|inner| inner.now);
            let start = next;
            if tokens[next].breaks && tokens[next].is("#") {
                next += 1;
                while next < tokens.len() && !tokens[next].breaks {
                    next += 1;
                }
                self.directive(&tokens[start..next], live, &mut conditionals)?;
                continue;
            }
            while next < tokens.len() && !(tokens[next].breaks && tokens[next].is("#")) {
                next += 1;
            }
            if live {
                let read = self.expand(tokens[start..next].to_vec(), 0)?;
                self.emit(read)?;
            }
        }
        match conditionals.last() {
            Some(open) => Err(malformed(
                open.at,
                "this `#if` is never closed",
                "add an `#endif`",
            )),
            None => Ok(()),
        }
    }

    fn emit(&mut self, tokens: Vec<Token>) -> Parsed<()> {
        for token in &tokens {
            if token.is("#") || token.is("##") {
                let help = "a directive stands first on its line; elsewhere `#` has no meaning";
                return Err(malformed(
                    token.at,
                    format!("{} is out of place", token.shown()),
                    help,
                ));
            }
            if token.kind == Kind::Stray {
                return Err(stray(token));
            }
        }
        self.output.extend(tokens);
        Ok(())
    }

    fn directive(&mut self, line: &[Token], live: bool, open: &mut Vec<Conditional>) -> Parsed<()> {
        let hash = line[0].at;
        let Some(word) = line.get(1) else {
            return Ok(());
        };
        let rest = &line[2..];
        let unopened = || {
            malformed(
                word.at,
                format!("`#{}` without an `#if`", word.text),
                "remove it, or open it",
            )
        };
        match &*word.text {
            "if" | "ifdef" | "ifndef" => {
                let now = live
                    && match &*word.text {
                        "if" => self.condition(word, rest)?,
                        "ifdef" => self.is_defined(word, rest)?,
                        _ => !self.is_defined(word, rest)?,
                    };
                if open.len() >= 200 {
                    return Err(remark(
                        hash,
                        Code::NestingTooDeep,
                        "too many `#if` inside each other",
                        "flatten them",
                    ));
                }
                open.push(Conditional {
                    at: hash,
                    outside: live,
                    now,
                    taken: now,
                    last: false,
                });
            }
            "elif" => {
                let Some(mut inner) = open.pop() else {
                    return Err(unopened());
                };
                if inner.last {
                    return Err(malformed(
                        word.at,
                        "`#elif` after `#else`",
                        "move it in front of the `#else`",
                    ));
                }
                inner.now = inner.outside && !inner.taken && self.condition(word, rest)?;
                inner.taken |= inner.now;
                open.push(inner);
            }
            "else" => {
                let inner = open.last_mut().ok_or_else(unopened)?;
                if inner.last {
                    return Err(malformed(word.at, "a second `#else`", "remove it"));
                }
                inner.last = true;
                inner.now = inner.outside && !inner.taken;
                inner.taken = true;
            }
            "endif" => {
                open.pop().ok_or_else(unopened)?;
            }
            _ if !live => {}
            "define" => self.define(word, rest)?,
            "undef" => {
                let name = macro_name(word, rest)?;
                self.macros.remove(&name.text);
            }
            "include" => self.include(word, rest)?,
            "error" => {
                let said: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
                let help = "the program asks for other definitions: see its text, and `-D`";
                return Err(malformed(
                    word.at,
                    format!("#error {}", said.join(" ")),
                    help,
                ));
            }
            // What `cpp` itself writes, and remarks for compilers.
            "line" | "pragma" | "ident" | "warning" => {}
            _ if word.kind == Kind::Number => {}
            _ => {
                let known = [
                    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif",
                ];
                let close = threadwise_lang::suggest::closest(&word.text, known.map(String::from));
                let help = match close {
                    Some(close) => format!("did you mean `#{close}`?"),
                    None => "known are #define, #undef, #include, #if and its like, and #error"
                        .to_string(),
                };
                return Err(malformed(
                    word.at,
                    format!("there is no directive `#{}`", word.text),
                    help,
                ));
            }
        }
        Ok(())
    }

    fn is_defined(&self, word: &Token, rest: &[Token]) -> Parsed<bool> {
        Ok(self.macros.contains_key(&macro_name(word, rest)?.text))
    }

    fn condition(&mut self, word: &Token, rest: &[Token]) -> Parsed<bool> {
        // `defined` comes before expansion, which would replace the name it asks for.
        let mut asked = Vec::new();
        let mut next = 0;
        while let Some(token) = rest.get(next) {
            if !token.is_word("defined") {
                asked.push(token.clone());
                next += 1;
                continue;
            }
            let in_parentheses = rest.get(next + 1).is_some_and(|token| token.is("("));
            let name = rest
                .get(next + 1 + usize::from(in_parentheses))
                .filter(|name| name.kind == Kind::Word);
            let closed = !in_parentheses || rest.get(next + 3).is_some_and(|token| token.is(")"));
            let Some(name) = name.filter(|_| closed) else {
                return Err(malformed(
                    token.at,
                    "`defined` needs a name",
                    "write `defined(NAME)`",
                ));
            };
            let value = if self.macros.contains_key(&name.text) {
                "1"
            } else {
                "0"
            };
            asked.push(Token {
                kind: Kind::Number,
                text: value.into(),
                ..token.clone()
            });
            next += if in_parentheses { 4 } else { 2 };
        }
        let expanded = self.expand(asked, 0)?;
        conditions::holds(word.at, &expanded)
    }

    fn define(&mut self, word: &Token, rest: &[Token]) -> Parsed<()> {
        let Some(name) = rest.first().filter(|name| name.kind == Kind::Word) else {
            return Err(malformed(
                word.at,
                "`#define` needs a name",
                "write `#define NAME TOKENS`",
            ));
        };
        let mut body = &rest[1..];
        let mut parameters = None;
        // Only a parenthesis that touches the name opens parameters.
        if body
            .first()
            .is_some_and(|token| token.is("(") && token.at.start == name.at.end)
        {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                return Err(malformed(
                    name.at,
                    "the macro's parameters have no end",
                    "close them with `)`",
                ));
            };
            parameters = Some(parameter_names(&body[1..close])?);
            body = &body[close + 1..];
        }
        if let Some(hash) = body.iter().find(|token| token.is("#") || token.is("##")) {
            let message = format!("{} in a macro is not supported", hash.shown());
            return Err(unsupported(
                hash.at,
                message,
                "write out the text that the macro is to give",
            ));
        }
        self.macros.insert(
            name.text.clone(),
            Rc::new(Macro {
                parameters,
                body: body.to_vec(),
            }),
        );
        Ok(())
    }

    fn include(&mut self, word: &Token, rest: &[Token]) -> Parsed<()> {
        let Some(file) = rest
            .first()
            .filter(|file| file.kind == Kind::Text && rest.len() == 1)
        else {
            let at = rest.first().map_or(word.at, |token| token.at);
            let help = "write `#include \"FILE\"`; files of a system, in `<..>`, are not read";
            return Err(unsupported(
                at,
                "only files in double quotes are included",
                help,
            ));
        };
        let name = file.text[1..file.text.len() - 1].to_string();
        if self.open.contains(&name) {
            let message = format!("`{name}` includes itself");
            return Err(malformed(
                file.at,
                message,
                "remove one of the `#include`s of the cycle",
            ));
        }
        if self.open.len() > DEEPEST || self.files.len() > MOST_FILES {
            return Err(unsupported(
                file.at,
                "too many files include each other",
                "include fewer files",
            ));
        }
        let text = (self.settings.include)(&name).map_err(|why| {
            malformed(
                file.at,
                format!("`{name}` cannot be read: {why}"),
                "check the file's name, from the program's folder",
            )
        })?;
        let index = match self
            .files
            .iter()
            .position(|known| known.name == name && known.text == text)
        {
            Some(known) => known,
            None => {
                self.files.push(Original {
                    name: name.clone(),
                    text,
                });
                self.included.push(file.at);
                self.files.len() - 1
            }
        };
        // A file that says nothing costs time too.
        self.made += 1_000 + self.files[index].text.len() / 2;
        self.check_size(file.at)?;
        self.open.push(name);
        self.file(index)?;
        self.open.pop();
        Ok(())
    }

    fn check_size(&self, at: At) -> Parsed<()> {
        if self.made > 4 * MOST_TOKENS {
            let help = format!("at most about {MOST_TOKENS} tokens are made; simplify the macros");
            return Err(remark(
                at,
                Code::ExpansionTooLarge,
                "the macros expand to too much text",
                help,
            ));
        }
        Ok(())
    }

    /// Tokens with macros expanded. `depth` counts the calls that this is an argument of.
    fn expand(&mut self, tokens: Vec<Token>, depth: usize) -> Parsed<Vec<Token>> {
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut pending = vec![Pending {
            tokens,
            next: 0,
            of: None,
        }];
        while let Some(mut token) = self.next(&mut pending) {
            let found = if token.kind == Kind::Word && !token.frozen {
                self.macros.get(&token.text).cloned()
            } else {
                None
            };
            if let Some(found) = found {
                if self.disabled.contains(&token.text) {
                    token.frozen = true;
                } else if let Some(made) = self.call(&found, &token, &mut pending, depth)? {
                    self.breaks |= token.breaks;
                    self.made += made.len() + 1;
                    self.check_size(token.at)?;
                    self.disabled.insert(token.text.clone());
                    pending.push(Pending {
                        tokens: made,
                        next: 0,
                        of: Some(token.text.clone()),
                    });
                    continue;
                }
            }
            token.breaks |= std::mem::take(&mut self.breaks);
            out.push(token);
        }
        Ok(out)
    }

    /// The next token; expansions that are read to their end are closed on the way.
    fn next(&mut self, pending: &mut Vec<Pending>) -> Option<Token> {
        loop {
            let top = pending.last_mut()?;
            if let Some(token) = top.tokens.get(top.next) {
                top.next += 1;
                return Some(token.clone());
            }
            if let Some(name) = pending.pop().and_then(|done| done.of) {
                self.disabled.remove(&name);
            }
        }
    }

    /// What a macro gives here; `None` where a macro with parameters is not called.
    fn call(
        &mut self,
        found: &Macro,
        name: &Token,
        pending: &mut Vec<Pending>,
        depth: usize,
    ) -> Parsed<Option<Vec<Token>>> {
        let copied = |token: &Token| Token {
            at: name.at,
            breaks: false,
            ..token.clone()
        };
        let Some(parameters) = &found.parameters else {
            return Ok(Some(found.body.iter().map(copied).collect()));
        };
        let opens = pending
            .iter()
            .rev()
            .find_map(|level| level.tokens.get(level.next));
        if !opens.is_some_and(|token| token.is("(")) {
            return Ok(None);
        }
        self.next(pending);
        let arguments = self.arguments(name, pending)?;
        let none_for_none =
            parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty();
        if arguments.len() != parameters.len() && !none_for_none {
            let message = format!(
                "macro `{}` takes {} arguments, not {}",
                name.text,
                parameters.len(),
                arguments.len()
            );
            return Err(remark(
                name.at,
                Code::ArgumentCount,
                message,
                "give as many as its `#define` has",
            ));
        }
        if depth >= DEEPEST {
            return Err(remark(
                name.at,
                Code::NestingTooDeep,
                "macro calls nested too deeply",
                "flatten them",
            ));
        }
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut made = Vec::new();
        for token in &found.body {
            let parameter = parameters
                .iter()
                .position(|parameter| *parameter == token.text && token.kind == Kind::Word);
            let Some(parameter) = parameter else {
                made.push(copied(token));
                continue;
            };
            if expanded[parameter].is_none() {
                // What breaks the line inside an argument is no end of a line of the program.
                let outer = std::mem::take(&mut self.breaks);
                let mut tokens = self.expand(arguments[parameter].clone(), depth + 1)?;
                self.breaks = outer;
                for token in &mut tokens {
                    token.breaks = false;
                }
                expanded[parameter] = Some(tokens);
            }
            let tokens = expanded[parameter].as_deref().unwrap_or_default();
            self.made += tokens.len();
            self.check_size(name.at)?;
            made.extend_from_slice(tokens);
        }
        Ok(Some(made))
    }

    /// The arguments of a call, whose opening parenthesis was read.
    fn arguments(&mut self, name: &Token, pending: &mut Vec<Pending>) -> Parsed<Vec<Vec<Token>>> {
        let mut arguments = vec![Vec::new()];
        let mut inner = 0usize;
        while let Some(mut token) = self.next(pending) {
            self.made += 1;
            self.check_size(name.at)?;
            if token.is(")") && inner == 0 {
                return Ok(arguments);
            } else if token.is("(") {
                inner += 1;
            } else if token.is(")") {
                inner -= 1;
            } else if token.is(",") && inner == 0 {
                arguments.push(Vec::new());
                continue;
            }
            token.breaks = false;
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
        let message = format!("the call of macro `{}` is not closed", name.text);
        Err(malformed(
            name.at,
            message,
            "close it with `)`, with no directive in between",
        ))
    }
}

/// Why a piece of text is no token.
fn stray(token: &Token) -> Box<crate::Remark> {
    match token.text.chars().next() {
        Some('"' | '\'') => malformed(token.at, "this quote is not closed on its line", "close it"),
        _ => remark(
            token.at,
            Code::BadCharacter,
            format!("{} has no meaning here", token.shown()),
            "remove it",
        ),
    }
}

fn macro_name<'t>(word: &Token, rest: &'t [Token]) -> Parsed<&'t Token> {
    let name = rest.first().filter(|name| name.kind == Kind::Word);
    name.ok_or_else(|| {
        malformed(
            word.at,
            format!("`#{}` needs a name", word.text),
            "write the macro's name after it",
        )
    })
}

fn parameter_names(tokens: &[Token]) -> Parsed<Vec<Rc<str>>> {
    let mut names: Vec<Rc<str>> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let fits = if index % 2 == 0 {
            token.kind == Kind::Word
        } else {
            token.is(",")
        };
        if !fits || (index % 2 == 1 && index + 1 == tokens.len()) {
            let help = "a macro's parameters are names with commas between them";
            return Err(unsupported(
                token.at,
                format!("{} cannot stand here", token.shown()),
                help,
            ));
        }
        if index % 2 == 0 {
            if names.contains(&token.text) {
                let message = format!("two parameters are named {}", token.shown());
                return Err(remark(
                    token.at,
                    Code::DeclaredTwice,
                    message,
                    "rename one of them",
                ));
            }
            names.push(token.text.clone());
        }
    }
    Ok(names)
}
