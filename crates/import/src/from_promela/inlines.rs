//! `inline f(a, b) { .. }`: the body is copied to each call as text, with the arguments in place of the parameters.
//!
//! As in SPIN, this happens before anything is known of what the text means: an argument is tokens, the body's own variables
//! may capture names of it, and what is declared inside stays inside, because the body comes with its braces. Each call has a
//! number, which its tokens carry: labels of the body belong to the call.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;

use super::lexer::{Kind, Token};
use super::remarks::{Parsed, malformed, related, remark, unsupported};
use super::syntax::At;
use crate::front::preprocess::MOST_TOKENS;

/// How deeply inlines may call each other. SPIN stops at 16.
const DEEPEST: usize = 40;

/// Signs that a statement may follow: with the end of a line in between, also those that end one.
const BEFORE_STATEMENT: &[&str] = &[";", "->", "{", "}", "::", ":", ")", "]", "++", "--"];

struct Inline {
    at: At,
    parameters: Vec<Arc<str>>,
    /// With its braces.
    body: Rc<[Token]>,
}

/// The tokens without inlines, and for each call the call that it stands in (0 for none), from call 1.
pub(crate) struct Expanded {
    pub tokens: Vec<Token>,
    pub within: Vec<u32>,
    pub names: HashMap<Arc<str>, At>,
}

struct Expander {
    inlines: HashMap<Arc<str>, Inline>,
    /// Inlines whose bodies are being copied.
    open: Vec<Arc<str>>,
    within: Vec<u32>,
    out: Vec<Token>,
    /// The line ended since the last token of the output.
    breaks: bool,
    /// Tokens that were looked at, also those that came to nothing.
    made: usize,
}

pub(crate) fn expand(tokens: &[Token]) -> Parsed<Expanded> {
    let mut expander = Expander {
        inlines: HashMap::new(),
        open: Vec::new(),
        within: vec![0],
        out: Vec::new(),
        breaks: false,
        made: 0,
    };
    expander.copy(tokens, 0, None)?;
    let names = expander
        .inlines
        .iter()
        .map(|(name, inline)| (name.clone(), inline.at))
        .collect();
    Ok(Expanded {
        tokens: expander.out,
        within: expander.within,
        names,
    })
}

/// Where the bracket at `from` is closed.
fn closed(tokens: &[Token], from: usize, open: &str, close: &str) -> Option<usize> {
    let mut inner = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(from) {
        if token.is(open) {
            inner += 1;
        } else if token.is(close) {
            inner = inner.checked_sub(1)?;
            if inner == 0 {
                return Some(index);
            }
        }
    }
    None
}

fn in_expression(name: &Token) -> Box<crate::Remark> {
    let help = "call an inline as a statement: `f(..)`, or `x = f(..)`";
    unsupported(
        name.at,
        format!("inline `{}` is called inside an expression", name.text),
        help,
    )
}

impl Expander {
    fn push(&mut self, mut token: Token) {
        token.breaks |= std::mem::take(&mut self.breaks);
        self.out.push(token);
    }

    /// Copies tokens to the output. `result` is the variable that `return` writes.
    fn copy(&mut self, tokens: &[Token], call: u32, result: Option<&[Token]>) -> Parsed<()> {
        let mut next = 0;
        while let Some(token) = tokens.get(next) {
            if token.is_word("inline") && call == 0 {
                next = self.definition(tokens, next)?;
                continue;
            }
            if token.is_word("return") {
                let Some(result) = result else {
                    let help = "`return` stands in an inline that is called as `x = f(..)`";
                    return Err(malformed(token.at, "nothing takes this result", help));
                };
                for part in result {
                    self.push(part.clone());
                }
                self.push(Token::sign(token.at, "=", call));
                next += 1;
                continue;
            }
            let called = token.kind == Kind::Word
                && self.inlines.contains_key(&token.text)
                && tokens.get(next + 1).is_some_and(|after| after.is("("));
            if called {
                next = self.call(tokens, next, call)?;
                continue;
            }
            self.push(token.clone());
            self.check_size(token.at)?;
            next += 1;
        }
        Ok(())
    }

    fn check_size(&self, at: At) -> Parsed<()> {
        if self.out.len().max(self.made / 4) > MOST_TOKENS {
            let help = format!("at most {MOST_TOKENS} tokens are made; call fewer inlines");
            return Err(remark(
                at,
                Code::ExpansionTooLarge,
                "the inlines expand to too much text",
                help,
            ));
        }
        Ok(())
    }

    fn definition(&mut self, tokens: &[Token], from: usize) -> Parsed<usize> {
        let wrong =
            |at: At, message: &str| Err(malformed(at, message, "write `inline NAME(A, B) { .. }`"));
        let Some(name) = tokens.get(from + 1).filter(|name| name.kind == Kind::Word) else {
            return wrong(tokens[from].at, "an inline needs a name");
        };
        if !tokens.get(from + 2).is_some_and(|token| token.is("(")) {
            return wrong(name.at, "an inline needs its parameters, in parentheses");
        }
        let Some(end) = closed(tokens, from + 2, "(", ")") else {
            return wrong(name.at, "the inline's parameters have no end");
        };
        let mut parameters = Vec::new();
        for (index, token) in tokens[from + 3..end].iter().enumerate() {
            let fits = if index % 2 == 0 {
                token.kind == Kind::Word
            } else {
                token.is(",")
            };
            if !fits {
                return wrong(token.at, "the parameters of an inline are names");
            }
            if index % 2 == 0 {
                parameters.push(token.text.clone());
            }
        }
        if !tokens.get(end + 1).is_some_and(|token| token.is("{")) {
            return wrong(name.at, "an inline needs its body, in braces");
        }
        let Some(last) = closed(tokens, end + 1, "{", "}") else {
            return wrong(tokens[end + 1].at, "the inline's body has no end");
        };
        if let Some(earlier) = self.inlines.get(&name.text) {
            let message = format!("a second inline named `{}`", name.text);
            let message = remark(name.at, Code::DeclaredTwice, message, "rename one of them");
            return Err(related(message, earlier.at, "the first"));
        }
        let inline = Inline {
            at: name.at,
            parameters,
            body: tokens[end + 1..=last].into(),
        };
        self.inlines.insert(name.text.clone(), inline);
        self.breaks = true;
        Ok(last + 1)
    }

    /// Copies a body for the call at `from`, and says where the text goes on.
    fn call(&mut self, tokens: &[Token], from: usize, outer: u32) -> Parsed<usize> {
        let name = &tokens[from];
        if self.open.contains(&name.text) {
            let message = format!("inline `{}` leads back to itself", name.text);
            return Err(remark(
                name.at,
                Code::RecursiveMacro,
                message,
                "use a proctype, or a loop",
            ));
        }
        if self.open.len() >= DEEPEST {
            return Err(remark(
                name.at,
                Code::NestingTooDeep,
                "inlines nested too deeply",
                "flatten them",
            ));
        }
        let Some(end) = closed(tokens, from + 1, "(", ")") else {
            return Err(malformed(
                name.at,
                "this call is not closed",
                "close it with `)`",
            ));
        };
        self.made += end - from;
        self.check_size(name.at)?;
        let mut arguments: Vec<Vec<Token>> = Vec::new();
        let mut inner = 0usize;
        for token in &tokens[from + 2..end] {
            if token.is("(") || token.is("[") || token.is("{") {
                inner += 1;
            } else if token.is(")") || token.is("]") || token.is("}") {
                inner = inner.saturating_sub(1);
            } else if token.is(",") && inner == 0 {
                if arguments.is_empty() {
                    arguments.push(Vec::new());
                }
                arguments.push(Vec::new());
                continue;
            }
            if arguments.is_empty() {
                arguments.push(Vec::new());
            }
            if let Some(last) = arguments.last_mut() {
                last.push(Token {
                    breaks: false,
                    ..token.clone()
                });
            }
        }
        // Looked up by the caller.
        let Some(inline) = self.inlines.get(&name.text) else {
            return Ok(end + 1);
        };
        if arguments.len() != inline.parameters.len() {
            let message = format!(
                "inline `{}` takes {} arguments, not {}",
                name.text,
                inline.parameters.len(),
                arguments.len()
            );
            let message = remark(
                name.at,
                Code::ArgumentCount,
                message,
                "give as many as it has parameters",
            );
            return Err(related(message, inline.at, "declared here"));
        }
        let call = self.within.len() as u32;
        let mut body = Vec::new();
        for token in inline.body.iter() {
            let parameter = inline
                .parameters
                .iter()
                .position(|name| *name == token.text && token.kind == Kind::Word);
            match parameter {
                Some(parameter) => {
                    let mut copied = arguments[parameter].clone();
                    if let Some(first) = copied.first_mut() {
                        first.breaks = token.breaks;
                    }
                    body.extend(copied);
                }
                None => body.push(Token {
                    call,
                    ..token.clone()
                }),
            }
            if body.len() > MOST_TOKENS {
                break;
            }
        }
        self.made += body.len();
        self.check_size(name.at)?;
        if body.len() > MOST_TOKENS {
            let help = format!("at most {MOST_TOKENS} tokens are made; call fewer inlines");
            return Err(remark(
                name.at,
                Code::ExpansionTooLarge,
                "the inlines expand to too much text",
                help,
            ));
        }
        self.within.push(outer);
        let result = match self.out.last() {
            Some(before) if before.is("=") => Some(self.target(name)?),
            Some(before)
                if before.kind == Kind::Sign && !BEFORE_STATEMENT.contains(&&*before.text) =>
            {
                return Err(in_expression(name));
            }
            _ => None,
        };
        body[0].opens_call = true;
        body[0].breaks = match result.as_ref().and_then(|target| target.first()) {
            Some(first) => first.breaks,
            None => name.breaks,
        };
        let result: Option<Vec<Token>> = result.map(|target| {
            target
                .into_iter()
                .map(|token| Token {
                    breaks: false,
                    ..token
                })
                .collect()
        });
        self.open.push(name.text.clone());
        self.copy(&body, call, result.as_deref())?;
        self.open.pop();
        Ok(end + 1)
    }

    /// Takes the variable of `x = f(..)` back from the output.
    fn target(&mut self, name: &Token) -> Parsed<Vec<Token>> {
        let wrong = || in_expression(name);
        self.out.pop();
        let mut start = self.out.len();
        loop {
            while start > 0 && self.out[start - 1].is("]") {
                let mut inner = 0usize;
                loop {
                    start = start.checked_sub(1).ok_or_else(wrong)?;
                    if self.out[start].is("]") {
                        inner += 1;
                    } else if self.out[start].is("[") {
                        inner -= 1;
                        if inner == 0 {
                            break;
                        }
                    }
                }
            }
            if start == 0 || self.out[start - 1].kind != Kind::Word {
                return Err(wrong());
            }
            start -= 1;
            if start > 0 && self.out[start - 1].is(".") {
                start -= 1;
                continue;
            }
            break;
        }
        Ok(self.out.split_off(start))
    }
}
