//! A small preprocessor: `#include`, `#define`, `#if`, and the line marks that a preprocessed file has.
//!
//! Headers of the system are not read: the front end knows their names, so an `#include <..>` of a known one gives nothing. Every token
//! keeps its place, and what a macro gives has the place of the macro's use, so that messages and traces speak of the file.
//! An expansion has a largest size, as a few lines of macros can ask for more tokens than there is memory.

use std::collections::HashMap;
use std::rc::Rc;

use super::condition;
use super::source::{At, Built, Sources, malformed, unsupported};
use super::tokens::{Kind, Token, tokens};
use crate::Settings;

/// How many tokens macros may give in all.
const MOST_TOKENS: usize = 1_000_000;
/// How deep files may include one another, and macros mention one another.
const DEEPEST: usize = 60;
/// How deep brackets may stand in one another.
const DEEPEST_BRACKETS: i64 = 150;
/// How many files may be included.
const MOST_FILES: usize = 200;

/// Headers whose names the front end knows.
const HEADERS: &[&str] = &[
    "pthread.h",
    "stdatomic.h",
    "assert.h",
    "stdlib.h",
    "stdio.h",
    "stdbool.h",
    "limits.h",
    "stdint.h",
    "inttypes.h",
    "semaphore.h",
    "string.h",
    "unistd.h",
    "errno.h",
    "stddef.h",
    "sched.h",
    "time.h",
    "sys/types.h",
    "threads.h",
    "math.h",
    "signal.h",
    "stdarg.h",
];

/// Macros that the known headers define, beside those of `stdbool.h`.
const KNOWN: &[(&str, &str)] = &[
    ("NULL", "((void*)0)"),
    ("INT_MAX", "2147483647"),
    ("INT_MIN", "(-2147483647-1)"),
    ("UINT_MAX", "4294967295U"),
    ("LONG_MAX", "9223372036854775807L"),
    ("LONG_MIN", "(-9223372036854775807L-1)"),
    ("LLONG_MAX", "9223372036854775807LL"),
    ("LLONG_MIN", "(-9223372036854775807LL-1)"),
    ("CHAR_MAX", "127"),
    ("CHAR_MIN", "(-128)"),
    ("SCHAR_MAX", "127"),
    ("SCHAR_MIN", "(-128)"),
    ("UCHAR_MAX", "255"),
    ("CHAR_BIT", "8"),
    ("SHRT_MAX", "32767"),
    ("SHRT_MIN", "(-32768)"),
    ("USHRT_MAX", "65535"),
    ("INT8_MAX", "127"),
    ("INT8_MIN", "(-128)"),
    ("UINT8_MAX", "255"),
    ("INT16_MAX", "32767"),
    ("INT16_MIN", "(-32768)"),
    ("UINT16_MAX", "65535"),
    ("INT32_MAX", "2147483647"),
    ("INT32_MIN", "(-2147483647-1)"),
    ("UINT32_MAX", "4294967295U"),
    ("INT64_MAX", "9223372036854775807L"),
    ("EXIT_SUCCESS", "0"),
    ("EXIT_FAILURE", "1"),
    ("ATOMIC_FLAG_INIT", "0"),
    ("EBUSY", "16"),
    ("EAGAIN", "11"),
    ("EINVAL", "22"),
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201112L"),
    ("__GNUC__", "12"),
    ("__ATOMIC_RELAXED", "0"),
    ("__ATOMIC_CONSUME", "1"),
    ("__ATOMIC_ACQUIRE", "2"),
    ("__ATOMIC_RELEASE", "3"),
    ("__ATOMIC_ACQ_REL", "4"),
    ("__ATOMIC_SEQ_CST", "5"),
    ("memory_order_relaxed", "0"),
    ("memory_order_consume", "1"),
    ("memory_order_acquire", "2"),
    ("memory_order_release", "3"),
    ("memory_order_acq_rel", "4"),
    ("memory_order_seq_cst", "5"),
];

#[derive(Clone, Debug)]
struct Macro {
    /// `None`: not like a function.
    parameters: Option<Vec<Rc<str>>>,
    /// The last parameter is `...`.
    variadic: bool,
    body: Rc<[Token]>,
}

/// The tokens of a program after preprocessing.
pub(crate) fn preprocess(sources: &mut Sources, settings: &mut Settings<'_>) -> Built<Vec<Token>> {
    let mut state = Preprocessor {
        macros: HashMap::new(),
        output: Vec::new(),
        made: 0,
    };
    for (name, text) in KNOWN {
        state.define_text(name, text)?;
    }
    state.define_text("ATOMIC_VAR_INIT(x)", "(x)")?;
    for (name, text) in &settings.defines {
        if state.define_text(name, text).is_err() {
            let at = At::default();
            let message = format!("`-D{name}={text}` is not a definition");
            return malformed(at, message, "write `-DNAME=VALUE`");
        }
    }
    state.file(0, sources, settings)?;
    Ok(state.output)
}

struct Preprocessor {
    macros: HashMap<Rc<str>, Macro>,
    output: Vec<Token>,
    /// How many tokens were made so far, whether they are still there or not.
    made: usize,
}

/// One open `#if`.
struct Condition {
    at: At,
    /// What follows is part of the program.
    active: bool,
    /// One of the branches was, or the whole is left out.
    settled: bool,
    otherwise: bool,
}

impl Preprocessor {
    fn define_text(&mut self, name: &str, text: &str) -> Built<()> {
        let line = tokens(&format!("{name} {text}"), 0)?;
        let mut line: Vec<Token> = line;
        for token in &mut line {
            token.at = At::default();
        }
        self.define(At::default(), &line)
    }

    fn file(&mut self, file: u32, sources: &mut Sources, settings: &mut Settings<'_>) -> Built<()> {
        let text = sources.text(file);
        let tokens = tokens(&text, file)?;
        let mut conditions: Vec<Condition> = Vec::new();
        let mut at = 0;
        // Tokens between two directives are expanded together: a call of a macro may span lines.
        let mut pending = Vec::new();
        while at < tokens.len() {
            if tokens[at].first && tokens[at].is("#") {
                self.flush(&mut pending)?;
                let mut end = at + 1;
                while end < tokens.len() && !tokens[end].first {
                    end += 1;
                }
                self.directive(
                    tokens[at].at,
                    &tokens[at + 1..end],
                    &mut conditions,
                    sources,
                    settings,
                )?;
                at = end;
                continue;
            }
            if conditions.last().is_none_or(|condition| condition.active) {
                pending.push(tokens[at].clone());
            }
            at += 1;
        }
        self.flush(&mut pending)?;
        match conditions.last() {
            None => Ok(()),
            Some(open) => malformed(open.at, "this `#if` is not closed", "add `#endif`"),
        }
    }

    fn flush(&mut self, pending: &mut Vec<Token>) -> Built<()> {
        let tokens = std::mem::take(pending);
        // Arguments within arguments are expanded by calls within calls.
        let mut depth = 0i64;
        for token in &tokens {
            depth = (depth + i64::from(token.is("(")) - i64::from(token.is(")"))).max(0);
            if depth > DEEPEST_BRACKETS {
                let help = "at most 150 brackets may stand in one another";
                return unsupported(token.at, "the program is nested too deeply", help);
            }
        }
        let expanded = self.expand(tokens, &mut Vec::new())?;
        self.output.extend(expanded);
        Ok(())
    }

    fn directive(
        &mut self,
        hash: At,
        line: &[Token],
        conditions: &mut Vec<Condition>,
        sources: &mut Sources,
        settings: &mut Settings<'_>,
    ) -> Built<()> {
        let Some(first) = line.first() else {
            return Ok(());
        };
        let active = conditions.last().is_none_or(|condition| condition.active);
        let rest = &line[1..];
        let at = hash.to(first.at);
        match &*first.text {
            "if" | "ifdef" | "ifndef" => {
                let holds = active && self.holds(at, &first.text, rest)?;
                conditions.push(Condition {
                    at,
                    active: holds,
                    settled: holds || !active,
                    otherwise: false,
                });
                match conditions.len() > DEEPEST {
                    true => unsupported(at, "too many `#if` in one another", "nest them less"),
                    false => Ok(()),
                }
            }
            "elif" | "else" => {
                let Some(open) = conditions.last_mut() else {
                    return malformed(at, "no `#if` is open here", "remove this line");
                };
                if open.otherwise {
                    return malformed(at, "this `#if` has an `#else` already", "remove one");
                }
                open.otherwise = &*first.text == "else";
                let settled = open.settled;
                let holds = !settled && (&*first.text == "else" || self.holds(at, "if", rest)?);
                if let Some(open) = conditions.last_mut() {
                    open.active = holds;
                    open.settled |= holds;
                }
                Ok(())
            }
            "endif" => match conditions.pop() {
                Some(_) => Ok(()),
                None => malformed(at, "no `#if` is open here", "remove this line"),
            },
            _ if !active => Ok(()),
            "define" => self.define(at, rest),
            "undef" => {
                if let Some(name) = rest.first() {
                    self.macros.remove(&name.text);
                }
                Ok(())
            }
            "include" => self.include(at, rest, sources, settings),
            "error" => {
                let text: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
                let message = format!("the program says `#error {}`", text.join(" "));
                malformed(at, message, "define what it asks for with `-D`")
            }
            "pragma" | "line" | "warning" | "ident" => Ok(()),
            _ if first.kind == Kind::Number => Ok(()),
            other => {
                let message = format!("`#{other}` is no directive that is known here");
                unsupported(at, message, "preprocess the file with `gcc -E` first")
            }
        }
    }

    fn holds(&mut self, at: At, kind: &str, rest: &[Token]) -> Built<bool> {
        if kind != "if" {
            let Some(name) = rest.first().filter(|token| token.kind == Kind::Name) else {
                return malformed(at, "a name is missing here", "write the name of a macro");
            };
            return Ok(self.macros.contains_key(&name.text) == (kind == "ifdef"));
        }
        // `defined` is about the name, not about what it stands for.
        let mut plain = Vec::new();
        let mut position = 0;
        while position < rest.len() {
            let token = &rest[position];
            if !token.is("defined") {
                plain.push(token.clone());
                position += 1;
                continue;
            }
            let bracket = rest.get(position + 1).is_some_and(|token| token.is("("));
            let name = rest.get(position + 1 + usize::from(bracket));
            let Some(name) = name.filter(|token| token.kind == Kind::Name) else {
                return malformed(token.at, "a name is missing here", "write `defined(NAME)`");
            };
            let is = self.macros.contains_key(&name.text);
            plain.push(Token {
                kind: Kind::Number,
                text: if is { "1".into() } else { "0".into() },
                ..token.clone()
            });
            position += if bracket { 4 } else { 2 };
        }
        let expanded = self.expand(plain, &mut Vec::new())?;
        condition::holds(at, &expanded)
    }

    fn define(&mut self, at: At, line: &[Token]) -> Built<()> {
        let Some(name) = line.first().filter(|token| token.kind == Kind::Name) else {
            return malformed(at, "a name is missing here", "write `#define NAME VALUE`");
        };
        let mut rest = &line[1..];
        let mut parameters = None;
        let mut variadic = false;
        if rest
            .first()
            .is_some_and(|token| token.is("(") && !token.spaced)
        {
            let mut names: Vec<Rc<str>> = Vec::new();
            let mut position = 1;
            loop {
                let Some(token) = rest.get(position) else {
                    return malformed(name.at, "the parameters do not end", "add `)`");
                };
                position += 1;
                if token.is(")") {
                    break;
                } else if token.is("...") {
                    variadic = true;
                    names.push("__VA_ARGS__".into());
                } else if token.kind == Kind::Name {
                    names.push(Rc::clone(&token.text));
                } else if !token.is(",") {
                    return malformed(token.at, "a parameter is expected", "write names");
                }
            }
            rest = &rest[position..];
            parameters = Some(names);
        }
        let body: Vec<Token> = rest.to_vec();
        self.macros.insert(
            Rc::clone(&name.text),
            Macro {
                parameters,
                variadic,
                body: body.into(),
            },
        );
        Ok(())
    }

    fn include(
        &mut self,
        at: At,
        rest: &[Token],
        sources: &mut Sources,
        settings: &mut Settings<'_>,
    ) -> Built<()> {
        let Some(first) = rest.first() else {
            return malformed(
                at,
                "no file is named",
                "write `#include <..>` or `#include \"..\"`",
            );
        };
        let place = at.to(rest.last().map_or(first.at, |last| last.at));
        if first.is("<") {
            let inner = rest[1..].iter().take_while(|token| !token.is(">"));
            let name: String = inner.map(|token| &*token.text).collect();
            if name == "stdbool.h" {
                self.define_text("bool", "_Bool")?;
                self.define_text("true", "1")?;
                self.define_text("false", "0")?;
            }
            if HEADERS.contains(&name.as_str()) {
                return Ok(());
            }
            let message = format!("the header <{name}> is not known");
            let help = "remove it if nothing of it is used, or include a file of your own with what is needed";
            return unsupported(place, message, help);
        }
        if first.kind != Kind::Text {
            return unsupported(
                place,
                "the name of a file is expected",
                "write it in quotes",
            );
        }
        let name = first.text.trim_matches('"').to_owned();
        if sources.depth(first.at.file) >= DEEPEST || sources.len() >= MOST_FILES {
            return unsupported(
                place,
                "files include one another too deeply",
                "include less",
            );
        }
        match (settings.include)(&name) {
            Ok(text) => {
                let file = sources.add(&name, &text, Some(place));
                self.file(file, sources, settings)
            }
            Err(cause) => {
                let message = format!("`{name}` cannot be read: {cause}");
                malformed(
                    place,
                    message,
                    "its place is relative to that of the program",
                )
            }
        }
    }

    /// Replaces macros. `active` are those being expanded, which are left alone inside themselves.
    fn expand(&mut self, tokens: Vec<Token>, active: &mut Vec<Rc<str>>) -> Built<Vec<Token>> {
        let mut output = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            at += 1;
            let found = match token.kind == Kind::Name && !active.contains(&token.text) {
                true => self.macros.get(&token.text).cloned(),
                false => None,
            };
            let Some(found) = found else {
                output.push(token.clone());
                continue;
            };
            if active.len() >= DEEPEST {
                let help = "macros may mention one another sixty deep";
                return unsupported(token.at, "macros mention one another too deeply", help);
            }
            let mut arguments = Vec::new();
            if found.parameters.is_some() {
                if !tokens.get(at).is_some_and(|next| next.is("(")) {
                    output.push(token.clone());
                    continue;
                }
                let (read, next) = call(token.at, &tokens, at)?;
                (arguments, at) = (read, next);
            }
            let made = self.substitute(token, &found, arguments, active)?;
            self.made += made.len();
            if self.made > MOST_TOKENS {
                let help = "a program may have a million tokens after its macros are expanded";
                return unsupported(token.at, "the macros expand to too much", help);
            }
            active.push(Rc::clone(&token.text));
            let made = self.expand(made, active)?;
            active.pop();
            output.extend(made);
        }
        Ok(output)
    }

    /// The body of a macro with its arguments.
    fn substitute(
        &mut self,
        used: &Token,
        found: &Macro,
        mut arguments: Vec<Vec<Token>>,
        active: &mut Vec<Rc<str>>,
    ) -> Built<Vec<Token>> {
        let none = Vec::new();
        let parameters = found.parameters.as_ref().unwrap_or(&none);
        if found.variadic && arguments.len() > parameters.len() {
            let fixed = parameters.len() - 1;
            let mut rest: Vec<Token> = Vec::new();
            for (position, argument) in arguments.drain(fixed..).enumerate() {
                if position > 0 {
                    rest.push(mark(",", used.at));
                }
                rest.extend(argument);
            }
            arguments.push(rest);
        }
        if found.variadic && arguments.len() + 1 == parameters.len() {
            arguments.push(Vec::new());
        }
        if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() != parameters.len() {
            let message = format!(
                "`{}` has {} parameters, and {} arguments are given",
                used.text,
                parameters.len(),
                arguments.len()
            );
            return malformed(
                used.at,
                message,
                "give as many arguments as it has parameters",
            );
        }
        let position_of = |token: &Token| {
            parameters
                .iter()
                .position(|name| *name == token.text && token.kind == Kind::Name)
        };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut made: Vec<Token> = Vec::new();
        let mut total = 0;
        let mut at = 0;
        while at < found.body.len() {
            let token = &found.body[at];
            let next = found.body.get(at + 1);
            if token.is("#")
                && found.parameters.is_some()
                && let Some(position) = next.and_then(&position_of)
            {
                let words: Vec<&str> = arguments[position].iter().map(|word| &*word.text).collect();
                let text = format!("{:?}", words.join(" "));
                made.push(Token {
                    kind: Kind::Text,
                    text: text.into(),
                    at: used.at,
                    first: false,
                    spaced: true,
                });
                at += 2;
                continue;
            }
            if token.is("##") {
                let right: Vec<Token> = match next {
                    None => Vec::new(),
                    Some(next) => match position_of(next) {
                        Some(position) => arguments[position].clone(),
                        None => vec![next.clone()],
                    },
                };
                at += 2;
                let mut right = right.into_iter();
                if let (Some(left), Some(first)) = (made.pop(), right.next()) {
                    let text = format!("{}{}", left.text, first.text);
                    let pasted = tokens(&text, used.at.file)?;
                    made.extend(pasted.into_iter().map(|token| Token {
                        at: used.at,
                        ..token
                    }));
                }
                made.extend(right);
                continue;
            }
            let pasted = next.is_some_and(|next| next.is("##"));
            match position_of(token) {
                Some(position) if pasted => made.extend(arguments[position].iter().cloned()),
                Some(position) => {
                    if expanded[position].is_none() {
                        let argument = arguments[position].clone();
                        expanded[position] = Some(self.expand(argument, active)?);
                    }
                    made.extend(expanded[position].iter().flatten().cloned());
                }
                None => made.push(Token {
                    at: used.at,
                    ..token.clone()
                }),
            }
            total = made.len().max(total);
            if total > MOST_TOKENS {
                let help = "a program may have a million tokens after its macros are expanded";
                return unsupported(used.at, "the macros expand to too much", help);
            }
            at += 1;
        }
        Ok(made)
    }
}

/// The arguments of a call of a macro, and the position behind it. `open` is the position of the bracket.
fn call(name: At, tokens: &[Token], open: usize) -> Built<(Vec<Vec<Token>>, usize)> {
    let mut arguments = vec![Vec::new()];
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().skip(open) {
        let opens = token.is("(") || token.is("[") || token.is("{");
        let closes = token.is(")") || token.is("]") || token.is("}");
        depth += i64::from(opens) - i64::from(closes);
        if depth == 0 {
            return Ok((arguments, position + 1));
        }
        let last = arguments.len() - 1;
        if token.is(",") && depth == 1 {
            arguments.push(Vec::new());
        } else if position != open {
            arguments[last].push(token.clone());
        }
    }
    malformed(name, "the arguments of this macro do not end", "add `)`")
}

fn mark(text: &str, at: At) -> Token {
    Token {
        kind: Kind::Mark,
        text: text.into(),
        at,
        first: false,
        spaced: false,
    }
}
