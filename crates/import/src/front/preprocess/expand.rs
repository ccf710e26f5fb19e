//! Macros.
//!
//! A macro is switched off while its own expansion is read again, and its name met then stays a name for good.
//! So every expansion ends, but it may be exponentially long: the tokens made are counted, and past a limit refused.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;

use super::{Kind, Token};
use crate::front::remarks::{Parsed, malformed, remark, unsupported};
use crate::front::source::At;

/// How many tokens a program may come to.
pub(crate) const MOST_TOKENS: usize = 1_000_000;
/// How deeply calls of macros may stand in arguments of macros.
const DEEPEST: usize = 60;

struct Macro {
    /// `None`: without parentheses.
    parameters: Option<Vec<Arc<str>>>,
    /// The last parameter takes all arguments that are left.
    variadic: bool,
    body: Vec<Token>,
}

impl Macro {
    fn parameter(&self, token: &Token) -> Option<usize> {
        let parameters = self.parameters.as_deref().unwrap_or_default();
        parameters
            .iter()
            .position(|parameter| *parameter == token.text && token.kind == Kind::Word)
    }
}

/// One level of tokens still to be read: the text itself, or the expansion of a macro.
struct Pending {
    tokens: Vec<Token>,
    next: usize,
    of: Option<Arc<str>>,
}

pub(super) struct Macros {
    tokens: fn(&str, u32) -> Parsed<Vec<Token>>,
    known: HashMap<Arc<str>, Rc<Macro>>,
    /// Macros whose expansion is being read.
    disabled: HashSet<Arc<str>>,
    /// How many tokens were made, whether they are still there or not.
    made: usize,
    /// The line ended since the last token of the output.
    breaks: bool,
}

impl Macros {
    pub(super) fn new(tokens: fn(&str, u32) -> Parsed<Vec<Token>>) -> Macros {
        Macros {
            tokens,
            known: HashMap::new(),
            disabled: HashSet::new(),
            made: 0,
            breaks: true,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    pub(super) fn undefine(&mut self, name: &str) {
        self.known.remove(name);
    }

    /// Takes a definition that stands in no file: a name, or a name with parameters, and what it stands for.
    pub(super) fn define_text(&mut self, name: &str, text: &str) -> Parsed<()> {
        let here = At::default();
        let mut line = (self.tokens)(name, 0)?;
        let touches = line.get(1).is_some_and(|open| open.is("(") && !open.spaced);
        let closed = line.last().is_some_and(|last| last.is(")"));
        if line.len() != 1 && !(touches && closed) {
            return Err(malformed(here, "this is no name", "write a name"));
        }
        let mut body = (self.tokens)(text, 0)?;
        if let Some(first) = body.first_mut() {
            first.spaced = true;
        }
        line.extend(body);
        for token in &mut line {
            (token.at, token.first) = (here, false);
        }
        self.define(here, &line)
    }

    /// Takes what stands behind `#define`.
    pub(super) fn define(&mut self, at: At, line: &[Token]) -> Parsed<()> {
        let Some(name) = line.first().filter(|name| name.kind == Kind::Word) else {
            let help = "write `#define NAME TOKENS`";
            return Err(malformed(at, "`#define` needs a name", help));
        };
        let mut body = &line[1..];
        let (mut parameters, mut variadic) = (None, false);
        // Only a parenthesis that touches the name opens parameters.
        if body
            .first()
            .is_some_and(|open| open.is("(") && !open.spaced)
        {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                let message = "the macro's parameters have no end";
                return Err(malformed(name.at, message, "close them with `)`"));
            };
            let names;
            (names, variadic) = parameter_names(&body[1..close])?;
            parameters = Some(names);
            body = &body[close + 1..];
        }
        let made = Macro {
            parameters,
            variadic,
            body: body.to_vec(),
        };
        for (position, token) in body.iter().enumerate() {
            let next = body.get(position + 1);
            if token.is("##") && (position == 0 || next.is_none()) {
                let help = "it joins the token in front of it with the one behind it";
                return Err(malformed(token.at, "`##` at an end of a macro", help));
            }
            let stringizes = token.is("#") && made.parameters.is_some();
            if stringizes && next.and_then(|next| made.parameter(next)).is_none() {
                let message = "`#` in a macro needs a parameter";
                return Err(malformed(token.at, message, "write `#PARAMETER`"));
            }
        }
        self.known.insert(Arc::clone(&name.text), Rc::new(made));
        Ok(())
    }

    /// Counts tokens that are made.
    pub(super) fn count(&mut self, tokens: usize, at: At) -> Parsed<()> {
        self.made += tokens;
        if self.made <= 4 * MOST_TOKENS {
            return Ok(());
        }
        let message = "the macros expand to too much text";
        let help = format!("at most about {MOST_TOKENS} tokens are made; simplify the macros");
        Err(remark(at, Code::ExpansionTooLarge, message, help))
    }

    /// Tokens with macros expanded.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) -> Parsed<Vec<Token>> {
        self.expand_inside(tokens, 0)
    }

    /// `depth` counts the calls that this is an argument of.
    fn expand_inside(&mut self, tokens: Vec<Token>, depth: usize) -> Parsed<Vec<Token>> {
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut pending = vec![Pending {
            tokens,
            next: 0,
            of: None,
        }];
        while let Some(mut token) = self.next(&mut pending) {
            let found = if token.kind == Kind::Word && !token.frozen {
                self.known.get(&token.text).cloned()
            } else {
                None
            };
            if let Some(found) = found {
                if self.disabled.contains(&token.text) {
                    token.frozen = true;
                } else if let Some(made) = self.call(&found, &token, &mut pending, depth)? {
                    self.breaks |= token.first;
                    self.count(made.len() + 1, token.at)?;
                    self.disabled.insert(Arc::clone(&token.text));
                    pending.push(Pending {
                        tokens: made,
                        next: 0,
                        of: Some(token.text),
                    });
                    continue;
                }
            }
            token.first |= std::mem::take(&mut self.breaks);
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
        let Some(parameters) = &found.parameters else {
            return self.substitute(found, name, &[], depth).map(Some);
        };
        let opens = pending
            .iter()
            .rev()
            .find_map(|level| level.tokens.get(level.next));
        if !opens.is_some_and(|token| token.is("(")) {
            return Ok(None);
        }
        self.next(pending);
        let fixed = if found.variadic {
            parameters.len() - 1
        } else {
            usize::MAX
        };
        let mut arguments = self.arguments(name, pending, fixed)?;
        if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if found.variadic && arguments.len() == fixed {
            arguments.push(Vec::new());
        }
        if arguments.len() != parameters.len() {
            let message = format!(
                "macro {} takes {} arguments, not {}",
                name.shown(),
                parameters.len(),
                arguments.len()
            );
            let help = "give as many as its `#define` has";
            return Err(remark(name.at, Code::ArgumentCount, message, help));
        }
        if depth >= DEEPEST {
            let message = "macro calls nested too deeply";
            return Err(remark(
                name.at,
                Code::NestingTooDeep,
                message,
                "flatten them",
            ));
        }
        self.substitute(found, name, &arguments, depth).map(Some)
    }

    /// The arguments of a call, whose opening parenthesis was read. A comma behind the first `fixed` of them is part of the last one.
    fn arguments(
        &mut self,
        name: &Token,
        pending: &mut Vec<Pending>,
        fixed: usize,
    ) -> Parsed<Vec<Vec<Token>>> {
        let mut arguments = Vec::new();
        let mut last = Vec::new();
        let mut inner = 0usize;
        while let Some(mut token) = self.next(pending) {
            self.count(1, name.at)?;
            if token.is(")") && inner == 0 {
                arguments.push(last);
                return Ok(arguments);
            } else if token.is("(") {
                inner += 1;
            } else if token.is(")") {
                inner -= 1;
            } else if token.is(",") && inner == 0 && arguments.len() < fixed {
                arguments.push(std::mem::take(&mut last));
                continue;
            }
            token.spaced |= token.first;
            token.first = false;
            last.push(token);
        }
        let message = format!("the call of macro {} is not closed", name.shown());
        let help = "close it with `)`, with no directive in between";
        Err(malformed(name.at, message, help))
    }

    /// The body of a macro with its arguments.
    fn substitute(
        &mut self,
        found: &Macro,
        name: &Token,
        arguments: &[Vec<Token>],
        depth: usize,
    ) -> Parsed<Vec<Token>> {
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut made: Vec<Token> = Vec::new();
        // `##` was read; the part in front of it was empty.
        let (mut joins, mut empty) = (false, false);
        let mut body = found.body.iter().peekable();
        while let Some(token) = body.next() {
            if token.is("##") {
                joins = true;
                continue;
            }
            let stringized = body
                .next_if(|_| token.is("#") && found.parameters.is_some())
                .and_then(|parameter| found.parameter(parameter));
            let joins_next = body.peek().is_some_and(|next| next.is("##"));
            let parameter = found.parameter(token);
            let mut part = match (stringized, parameter) {
                (Some(parameter), _) => vec![stringize(&arguments[parameter], name.at)],
                (None, Some(parameter)) if joins || joins_next => arguments[parameter].clone(),
                (None, Some(parameter)) => match &expanded[parameter] {
                    Some(tokens) => tokens.clone(),
                    None => {
                        let tokens = self.argument(&arguments[parameter], depth)?;
                        expanded[parameter].insert(tokens).clone()
                    }
                },
                (None, None) => vec![Token {
                    at: name.at,
                    first: false,
                    ..token.clone()
                }],
            };
            self.count(part.len(), name.at)?;
            if std::mem::take(&mut joins) {
                let rest = found.variadic && parameter.is_some_and(|p| p + 1 == arguments.len());
                let after_comma = made.last().is_some_and(|left| left.is(","));
                match (made.pop(), part.first()) {
                    // A comma in front of the arguments that are left goes with them.
                    (Some(_), None) if rest && after_comma => {}
                    (Some(comma), Some(_)) if rest && after_comma => made.push(comma),
                    (Some(left), Some(right)) if !empty => {
                        part[0] = self.joined(&left, right, name.at)?;
                    }
                    (left, _) => made.extend(left),
                }
                empty &= part.is_empty();
            } else {
                empty = part.is_empty();
            }
            made.extend(part);
        }
        Ok(made)
    }

    /// An argument with its own macros expanded.
    fn argument(&mut self, tokens: &[Token], depth: usize) -> Parsed<Vec<Token>> {
        // What breaks the line inside an argument is no end of a line of the program.
        let outer = std::mem::take(&mut self.breaks);
        let mut tokens = self.expand_inside(tokens.to_vec(), depth + 1)?;
        self.breaks = outer;
        for token in &mut tokens {
            token.first = false;
        }
        Ok(tokens)
    }

    /// Two tokens as one.
    fn joined(&self, left: &Token, right: &Token, at: At) -> Parsed<Token> {
        let text = format!("{}{}", left.text, right.text);
        match (self.tokens)(&text, at.file).as_deref() {
            Ok([one]) if one.kind != Kind::Stray => Ok(Token {
                at,
                first: false,
                spaced: left.spaced,
                ..one.clone()
            }),
            _ => {
                let message = format!("`##` makes {} of two tokens", super::shown(&text));
                let help = "join what makes one name, number or operator";
                Err(malformed(at, message, help))
            }
        }
    }
}

/// An argument as a text.
fn stringize(tokens: &[Token], at: At) -> Token {
    let mut text = String::from("\"");
    for (position, token) in tokens.iter().enumerate() {
        if position > 0 && token.spaced {
            text.push(' ');
        }
        let quoted = matches!(token.kind, Kind::Text | Kind::Character);
        for character in token.text.chars() {
            if quoted && matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
        }
    }
    text.push('"');
    Token::new(Kind::Text, &text, at)
}

/// The parameters of a macro, and whether the last takes all arguments that are left.
fn parameter_names(tokens: &[Token]) -> Parsed<(Vec<Arc<str>>, bool)> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut variadic = false;
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        let misplaced = |token: &Token| {
            let message = format!("{} cannot stand here", token.shown());
            let help = "a macro's parameters are names with commas between them";
            Err(unsupported(token.at, message, help))
        };
        let name: Arc<str> = match token.kind {
            Kind::Word => Arc::clone(&token.text),
            _ if token.is("...") => "__VA_ARGS__".into(),
            _ => return misplaced(token),
        };
        if names.contains(&name) {
            let message = format!("two parameters are named {}", token.shown());
            let help = "rename one of them";
            return Err(remark(token.at, Code::DeclaredTwice, message, help));
        }
        names.push(name);
        variadic = token.is("...");
        if let Some(dots) = rest.first().filter(|dots| dots.is("...") && !variadic) {
            (variadic, rest) = (dots.is("..."), &rest[1..]);
        }
        match rest.split_first() {
            None => break,
            Some((comma, after)) if comma.is(",") && !after.is_empty() && !variadic => rest = after,
            Some((other, _)) => return misplaced(other),
        }
    }
    Ok((names, variadic))
}
