//! Semicolons that may be left out.
//!
//! Since its version 6.3 SPIN takes the end of a line as a semicolon wherever a statement can end, unless a parenthesis is
//! open. It decides by the token before, not by what follows: `x = a` on one line and `- b` on the next are two statements.
//! Reading them as one would give the program another meaning, so the same rule is followed here to the letter.

use std::collections::HashSet;
use std::sync::Arc;

use super::lexer::{Kind, Token};
use super::syntax::At;

/// Words after which a body in braces follows.
const HEADS: &[&str] = &[
    "proctype",
    "D_proctype",
    "init",
    "never",
    "trace",
    "notrace",
    "typedef",
];

pub(crate) fn add(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    // Names of records and of processes end no statement either.
    let mut others: HashSet<Arc<str>> = HashSet::new();
    let (mut braces, mut parentheses) = (0usize, 0usize);
    let (mut head, mut inside) = (false, false);
    for token in tokens {
        if let Some(last) = out.last() {
            let ends = match last.kind {
                Kind::Sign => ["}", ")", "]", "++", "--"].contains(&&*last.text),
                Kind::Word => !super::words::is_open(&last.text) && !others.contains(&last.text),
                Kind::Number | Kind::Character => true,
                Kind::Text | Kind::Stray => false,
            };
            let by_line = token.breaks && inside && parentheses == 0 && ends;
            let goes_on = token.is(";") || token.is("->") || token.is_word("unless");
            let by_brace = last.is("}")
                && !token.is("}")
                && !token.is(",")
                && !token.is(")")
                && !token.is("::");
            let by_else = last.is_word("else");
            if (by_line || by_brace || by_else) && !goes_on {
                let at = At {
                    start: last.at.end,
                    ..last.at
                };
                let call = token.call;
                out.push(Token::sign(at, ";", call));
            }
        }
        match &*token.text {
            _ if token.kind == Kind::Word => {
                let before = out.last();
                if before.is_some_and(|before| {
                    ["typedef", "proctype", "D_proctype"]
                        .iter()
                        .any(|w| before.is_word(w))
                }) {
                    others.insert(token.text.clone());
                }
                head |= braces == 0 && HEADS.contains(&&*token.text);
            }
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            "{" => {
                if braces == 0 {
                    inside = head;
                    head = false;
                    parentheses = 0;
                }
                braces += 1;
            }
            "}" => {
                braces = braces.saturating_sub(1);
                inside &= braces > 0;
            }
            _ => {}
        }
        out.push(token);
    }
    out
}
