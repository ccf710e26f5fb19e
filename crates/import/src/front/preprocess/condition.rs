//! The conditions of `#if`: integer expressions, in which a name that is no macro is 0.

use threadwise_lang::diagnostics::Code;

use super::constant;
use super::{Kind, Token};
use crate::front::remarks::{Parsed, malformed, remark, unsupported};
use crate::front::source::At;

/// How deep brackets may stand in one another.
const DEEPEST: usize = 200;

/// Whether a condition holds. `at` is the place of its directive.
pub(super) fn holds(at: At, tokens: &[Token]) -> Parsed<bool> {
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

impl<'t> Reader<'t> {
    fn take(&mut self, signs: &[&str]) -> Option<&'t Token> {
        let tokens = self.tokens;
        let found = tokens.get(self.next)?;
        let fits = found.kind == Kind::Sign && signs.contains(&&*found.text);
        self.next += usize::from(fits);
        fits.then_some(found)
    }

    /// `live` is false in what `&&`, `||` and `?` leave out, where a division by zero does not matter.
    fn choice(&mut self, live: bool) -> Parsed<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = "the condition is nested too deeply";
            return Err(remark(
                self.at,
                Code::NestingTooDeep,
                message,
                "simplify it",
            ));
        }
        let mut value = self.level(0, live)?;
        if let Some(mark) = self.take(&["?"]) {
            let yes = self.choice(live && value != 0)?;
            if self.take(&[":"]).is_none() {
                let help = "write `CONDITION ? A : B`";
                return Err(malformed(mark.at, "`?` without `:`", help));
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
            let needed = match &*sign.text {
                "&&" => left != 0,
                "||" => left == 0,
                _ => true,
            };
            let right = self.level(level + 1, live && needed)?;
            left = match apply(&sign.text, left, right) {
                Some(value) => value,
                None if !live => 0,
                None => {
                    let help = "use smaller numbers, and do not divide by 0";
                    return Err(malformed(sign.at, "this cannot be computed", help));
                }
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Parsed<i64> {
        // A chain of operators is read without recursion. Promela reads `!!` as one sign, which it is not here.
        let mut signs = Vec::new();
        while let Some(sign) = self.take(&["!", "!!", "-", "~", "+"]) {
            signs.push(sign);
        }
        let mut value = self.primary(live)?;
        for sign in signs.iter().rev() {
            value = match &*sign.text {
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
            let help = "write an expression of numbers and macros";
            return Err(malformed(self.at, "the condition is not complete", help));
        };
        self.next += 1;
        if token.is("(") {
            let value = self.choice(live)?;
            return match self.take(&[")"]) {
                Some(_) => Ok(value),
                None => Err(malformed(
                    token.at,
                    "this parenthesis is not closed",
                    "close it",
                )),
            };
        }
        let value = match token.kind {
            Kind::Word => Some(0),
            Kind::Number => match constant::number(&token.text) {
                // All numbers have 64 bits here, so only the suffix makes one unsigned.
                Some(_) if token.text.contains(['u', 'U']) => {
                    let message =
                        "an unsigned number in a condition, which makes all numbers there unsigned";
                    return Err(unsupported(token.at, message, "write it without `u`"));
                }
                Some((value, _)) => i64::try_from(value).ok(),
                None => None,
            },
            Kind::Character => {
                constant::character(&token.text).and_then(|value| i64::try_from(value).ok())
            }
            _ => None,
        };
        value.ok_or_else(|| {
            let message = format!("{} cannot stand in a condition", token.shown());
            malformed(token.at, message, "use numbers, names and operators")
        })
    }
}

/// `None` where the preprocessor's numbers, which have 64 bits, do not suffice.
fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |holds: bool| Some(i64::from(holds));
    let shift = u32::try_from(right).ok().filter(|&shift| shift < 64);
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        "<=" => truth(left <= right),
        ">" => truth(left > right),
        ">=" => truth(left >= right),
        "<<" => Some(left.wrapping_shl(shift?)),
        ">>" => Some(left >> shift?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}
