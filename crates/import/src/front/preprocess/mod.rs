//! What C's preprocessor does, for C itself and for Promela, which SPIN gives to it first: definitions, conditionals, included files.
//!
//! Headers of the system are not read: a language knows what its own define. Every token keeps its place, and what a macro gives has the place
//! of the macro's use, so that messages and traces speak of the file. Text that a conditional leaves out may hold anything but a comment without an end:
//! what is no token is an error only where it is used.

mod condition;
pub(crate) mod constant;
mod expand;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;

use crate::Settings;
use crate::front::remarks::{Parsed, malformed, remark, unsupported};
use crate::front::source::{At, Sources};
use expand::Macros;

pub(crate) use expand::MOST_TOKENS;

/// How deeply files may include each other.
const DEEPEST: usize = 60;
/// How many `#if` may be open.
const DEEPEST_CONDITIONS: usize = 200;
/// The longest file that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// How many `#include`s may be followed.
const MOST_INCLUDES: usize = 1_000;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    /// `'a'`.
    Character,
    /// `"text"`.
    Text,
    /// An operator or a bracket.
    Sign,
    /// Not a token of the language.
    Stray,
}

/// One token with its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub text: Arc<str>,
    pub at: At,
    /// It is the first on its line.
    pub first: bool,
    /// White space stands in front of it.
    pub spaced: bool,
    /// A macro's name inside its own expansion: stays as it is.
    pub frozen: bool,
}

impl Token {
    /// A token that stands nowhere in the text, at the place given.
    pub(crate) fn new(kind: Kind, text: &str, at: At) -> Token {
        Token {
            kind,
            text: text.into(),
            at,
            first: false,
            spaced: false,
            frozen: false,
        }
    }

    /// Whether it is this sign or word.
    pub(crate) fn is(&self, text: &str) -> bool {
        &*self.text == text && matches!(self.kind, Kind::Word | Kind::Sign)
    }

    /// How a message names it.
    pub(crate) fn shown(&self) -> String {
        shown(&self.text)
    }
}

/// How a message names a token with this text.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("`{}..`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// Names and what they stand for.
pub(crate) type Definitions = &'static [(&'static str, &'static str)];

/// Whether a name is defined.
pub(crate) type IsDefined<'m> = &'m dyn Fn(&str) -> bool;

/// What languages differ in.
pub(crate) struct Dialect {
    /// A text as tokens; the number is that of its file.
    pub tokens: fn(&str, u32) -> Parsed<Vec<Token>>,
    /// What is defined without being asked for.
    pub defined: &'static [Definitions],
    /// What a header of the system defines, if the language knows it. It may ask whether a name is defined.
    pub header: fn(&str, IsDefined<'_>) -> Option<Definitions>,
    /// What to do about a header that it does not know.
    pub unknown_header: &'static str,
}

/// The tokens of a program, without directives and with macros expanded.
pub(crate) fn preprocess(
    dialect: &Dialect,
    sources: &mut Sources,
    settings: &mut Settings<'_>,
) -> Parsed<Vec<Token>> {
    let mut preprocessor = Preprocessor {
        dialect,
        macros: Macros::new(dialect.tokens),
        sources,
        depth: 0,
        includes: 0,
        once: HashSet::new(),
        output: Vec::new(),
    };
    for definitions in dialect.defined {
        preprocessor.define_all(definitions)?;
    }
    for (name, text) in &settings.defines {
        if preprocessor.macros.define_text(name, text).is_err() {
            let message = format!("`-D {name}={text}` is no definition");
            let help = "write `-D NAME` or `-D NAME=TOKENS`";
            return Err(malformed(At::default(), message, help));
        }
    }
    preprocessor.file(0, settings)?;
    Ok(preprocessor.output)
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

struct Preprocessor<'p> {
    dialect: &'p Dialect,
    macros: Macros,
    sources: &'p mut Sources,
    /// How many files are being read.
    depth: usize,
    includes: usize,
    /// Files that say `#pragma once`.
    once: HashSet<u32>,
    output: Vec<Token>,
}

impl Preprocessor<'_> {
    fn define_all(&mut self, definitions: Definitions) -> Parsed<()> {
        definitions
            .iter()
            .try_for_each(|(name, text)| self.macros.define_text(name, text))
    }

    fn file(&mut self, file: u32, settings: &mut Settings<'_>) -> Parsed<()> {
        let text = self.sources.text(file);
        if text.len() > LONGEST {
            let at = At {
                file,
                ..At::default()
            };
            let message = format!(
                "this file has {} bytes; at most {LONGEST} are read",
                text.len()
            );
            let help = "split it, or leave out what is not needed";
            return Err(unsupported(at, message, help));
        }
        let tokens = (self.dialect.tokens)(&text, file)?;
        let begins = |token: &Token| token.first && token.is("#");
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut next = 0;
        while next < tokens.len() {
            let live = conditionals.last().is_none_or(|inner| inner.now);
            let start = next;
            if begins(&tokens[next]) {
                next += 1;
                while next < tokens.len() && !tokens[next].first {
                    next += 1;
                }
                self.directive(&tokens[start..next], live, &mut conditionals, settings)?;
                continue;
            }
            // What stands between two directives is expanded together: a call of a macro may span lines.
            while next < tokens.len() && !begins(&tokens[next]) {
                next += 1;
            }
            if live {
                let read = self.macros.expand(tokens[start..next].to_vec())?;
                read.iter().try_for_each(usable)?;
                self.output.extend(read);
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

    fn directive(
        &mut self,
        line: &[Token],
        live: bool,
        open: &mut Vec<Conditional>,
        settings: &mut Settings<'_>,
    ) -> Parsed<()> {
        let hash = line[0].at;
        let Some(word) = line.get(1) else {
            return Ok(());
        };
        let rest = &line[2..];
        let unopened = || {
            let message = format!("`#{}` without an `#if`", word.text);
            malformed(word.at, message, "remove it, or open it")
        };
        match &*word.text {
            "if" | "ifdef" | "ifndef" => {
                let now = live
                    && match &*word.text {
                        "if" => self.condition(word, rest)?,
                        "ifdef" => self.is_defined(word, rest)?,
                        _ => !self.is_defined(word, rest)?,
                    };
                if open.len() >= DEEPEST_CONDITIONS {
                    let message = "too many `#if` inside each other";
                    return Err(remark(hash, Code::NestingTooDeep, message, "flatten them"));
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
                let inner = open.last_mut().ok_or_else(unopened)?;
                if inner.last {
                    let help = "move it in front of the `#else`";
                    return Err(malformed(word.at, "`#elif` after `#else`", help));
                }
                inner.now = inner.outside && !inner.taken && self.condition(word, rest)?;
                inner.taken |= inner.now;
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
            "define" => self.macros.define(word.at, rest)?,
            "undef" => {
                let name = macro_name(word, rest)?;
                self.macros.undefine(&name.text);
            }
            "include" => self.include(word, rest, settings)?,
            "error" => {
                let said: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
                let message = format!("the program says `#error {}`", said.join(" "));
                return Err(malformed(
                    word.at,
                    message,
                    "define what it asks for with `-D`",
                ));
            }
            "pragma" if rest.first().is_some_and(|word| word.is("once")) => {
                self.once.insert(hash.file);
            }
            // What a preprocessor itself writes, and remarks for compilers.
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
                let message = format!(
                    "there is no directive {}",
                    shown(&format!("#{}", word.text))
                );
                return Err(malformed(word.at, message, help));
            }
        }
        Ok(())
    }

    fn is_defined(&self, word: &Token, rest: &[Token]) -> Parsed<bool> {
        Ok(self.macros.has(&macro_name(word, rest)?.text))
    }

    fn condition(&mut self, word: &Token, rest: &[Token]) -> Parsed<bool> {
        // `defined` comes before expansion, which would replace the name it asks for.
        let mut asked = Vec::new();
        let mut next = 0;
        while let Some(token) = rest.get(next) {
            if !token.is("defined") {
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
                let help = "write `defined(NAME)`";
                return Err(malformed(token.at, "`defined` needs a name", help));
            };
            let value = if self.macros.has(&name.text) {
                "1"
            } else {
                "0"
            };
            asked.push(Token::new(Kind::Number, value, token.at));
            next += if in_parentheses { 4 } else { 2 };
        }
        let expanded = self.macros.expand(asked)?;
        condition::holds(word.at, &expanded)
    }

    /// What a known header defines.
    fn header(&self, name: &str) -> Option<Definitions> {
        let is_defined = |name: &str| self.macros.has(name);
        (self.dialect.header)(name, &is_defined)
    }

    fn include(&mut self, word: &Token, rest: &[Token], settings: &mut Settings<'_>) -> Parsed<()> {
        let how = "write `#include \"FILE\"` or `#include <HEADER>`";
        let Some(file) = rest.first() else {
            return Err(malformed(word.at, "no file is named", how));
        };
        if file.is("<") {
            let inner = rest[1..].iter().take_while(|token| !token.is(">"));
            let name: String = inner.map(|token| &*token.text).collect();
            let place = rest.last().map_or(file.at, |last| file.at.to(last.at));
            return match self.header(&name) {
                Some(definitions) => self.define_all(definitions),
                None => {
                    let message =
                        format!("the header {} is not known", shown(&format!("<{name}>")));
                    Err(unsupported(place, message, self.dialect.unknown_header))
                }
            };
        }
        if file.kind != Kind::Text || rest.len() != 1 {
            return Err(unsupported(file.at, "the name of a file is expected", how));
        }
        let name = file.text.trim_matches('"').to_owned();
        self.includes += 1;
        if self.depth >= DEEPEST || self.includes > MOST_INCLUDES {
            let message = "too many files include each other";
            let help = "include fewer files; if one includes itself, stop it with `#ifndef`";
            return Err(unsupported(file.at, message, help));
        }
        // Beside the file that includes it, then among the headers, then beside the program.
        let beside = format!("{}{name}", self.sources.folder(word.at.file));
        let (name, text) = match (settings.include)(&beside) {
            Ok(text) => (beside, text),
            Err(why) => {
                if let Some(definitions) = self.header(&name) {
                    return self.define_all(definitions);
                }
                let found = match beside == name {
                    true => Err(why),
                    false => (settings.include)(&name),
                };
                let text = found.map_err(|why| {
                    malformed(
                        file.at,
                        format!("{} cannot be read: {why}", shown(&name)),
                        "check the file's name, from the folder of the file that includes it",
                    )
                })?;
                (name, text)
            }
        };
        // A file that says nothing costs time too.
        self.macros.count(text.len() / 2, file.at)?;
        let index = self.sources.add(&name, &text, file.at);
        let index = index
            .map_err(|large| unsupported(file.at, large.to_string(), "include fewer files"))?;
        if self.once.contains(&index) {
            return Ok(());
        }
        self.depth += 1;
        self.file(index, settings)?;
        self.depth -= 1;
        Ok(())
    }
}

/// Refuses what cannot be part of a program.
fn usable(token: &Token) -> Parsed<()> {
    if token.is("#") || token.is("##") {
        let message = format!("{} is out of place", token.shown());
        let help = "a directive stands first on its line; elsewhere `#` has no meaning";
        return Err(malformed(token.at, message, help));
    }
    match token.kind {
        Kind::Stray if token.text.contains(['"', '\'']) => {
            let message = "this quote is not closed on its line";
            Err(malformed(token.at, message, "close it"))
        }
        Kind::Stray => {
            let message = format!("`{}` has no meaning here", token.text.escape_debug());
            Err(remark(token.at, Code::BadCharacter, message, "remove it"))
        }
        _ => Ok(()),
    }
}

fn macro_name<'t>(word: &Token, rest: &'t [Token]) -> Parsed<&'t Token> {
    let name = rest.first().filter(|name| name.kind == Kind::Word);
    name.ok_or_else(|| {
        let message = format!("`#{}` needs a name", word.text);
        malformed(word.at, message, "write the macro's name after it")
    })
}
