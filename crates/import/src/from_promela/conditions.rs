//! The conditions of `#if`: integer expressions, in which a name that is no macro is 0.

use threadwise_lang::diagnostics::Code;

use super::lexer::{Kind, Token};
use super::remarks::{Parsed, malformed, remark};
use super::syntax::At;

/// Whether a condition holds. `at` is the place of its directive.
pub(crate) fn holds(at: At, tokens: &[Token]) -> Parsed<bool> {
    let mut reader = Reader {
        at,
        tokens,
        next: 0,
        depth: 0,
    };
    let value = reader.choice(true)?;
    match reader.tokens.get(reader.next) {
        Some(token) => Err(malformed(
            token.at,
            format!("{} was not expected here", token.shown()),
            "end the line",
        )),
        None => Ok(value != 0),
    }
}

struct Reader<'t> {
    at: At,
    tokens: &'t [Token],
    next: usize,
    depth: usize,
}

/// Operators from those that bind least to those that bind most.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn take(&mut self, signs: &[&str]) -> Option<String> {
        let token = self.tokens.get(self.next)?;
        if token.kind == Kind::Sign && signs.contains(&&*token.text) {
            self.next += 1;
            return Some(token.text.to_string());
        }
        None
    }

    /// `live` is false in what `&&`, `||` and `?` leave out, where a division by zero does not matter.
    fn choice(&mut self, live: bool) -> Parsed<i64> {
        self.depth += 1;
        if self.depth > 200 {
            return Err(remark(
                self.at,
                Code::NestingTooDeep,
                "the condition is nested too deeply",
                "simplify it",
            ));
        }
        let mut value = self.level(0, live)?;
        if self.take(&["?"]).is_some() {
            let yes = self.choice(live && value != 0)?;
            if self.take(&[":"]).is_none() {
                return Err(malformed(
                    self.at,
                    "`?` without `:`",
                    "write `CONDITION ? A : B`",
                ));
            }
            let no = self.choice(live && value == 0)?;
            value = if value != 0 { yes } else { no };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn level(&mut self, level: usize, live: bool) -> Parsed<i64> {
        let Some(signs) = LEVELS.get(level) else {
            return self.unary(live);
        };
        let mut left = self.level(level + 1, live)?;
        while let Some(sign) = self.take(signs) {
            let needed = match &*sign {
                "&&" => left != 0,
                "||" => left == 0,
                _ => true,
            };
            let right = self.level(level + 1, live && needed)?;
            left = match &*sign {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(right as u32),
                ">>" => left.wrapping_shr(right as u32),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 && live => {
                    return Err(malformed(
                        self.at,
                        "this condition divides by zero",
                        "mend the condition",
                    ));
                }
                _ if right == 0 => 0,
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Parsed<i64> {
        // A chain of operators is read without recursion.
        let mut signs = Vec::new();
        while let Some(sign) = self.take(&["!", "!!", "-", "--", "~", "+"]) {
            signs.push(sign);
        }
        let mut value = self.primary(live)?;
        for sign in signs.iter().rev() {
            value = match &**sign {
                "!" => i64::from(value == 0),
                "!!" => i64::from(value != 0),
                "-" => value.wrapping_neg(),
                "~" => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Parsed<i64> {
        let Some(token) = self.tokens.get(self.next) else {
            return Err(malformed(
                self.at,
                "the condition is not complete",
                "write an expression of numbers and macros",
            ));
        };
        self.next += 1;
        if token.is("(") {
            let value = self.choice(live)?;
            if self.take(&[")"]).is_none() {
                return Err(malformed(
                    token.at,
                    "this parenthesis is not closed",
                    "close it",
                ));
            }
            return Ok(value);
        }
        match token.kind {
            Kind::Word => Ok(0),
            Kind::Number => {
                let octal = token.text.len() > 1 && token.text.starts_with('0');
                let value = i64::from_str_radix(&token.text, if octal { 8 } else { 10 });
                value.map_err(|_| {
                    malformed(
                        token.at,
                        format!("{} is no number that can be read", token.shown()),
                        "use a smaller decimal number",
                    )
                })
            }
            _ => Err(malformed(
                token.at,
                format!("{} cannot stand in a condition", token.shown()),
                "use numbers, names and operators",
            )),
        }
    }
}
