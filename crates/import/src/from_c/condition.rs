//! The value of an expression behind `#if`.

use super::constant;
use super::source::{At, Built, malformed, unsupported};
use super::tokens::{Kind, Token};

/// How deep brackets may stand in one another.
const DEEPEST: usize = 100;

/// Whether the expression is not zero. Macros are expanded already; names that are left are 0.
pub(crate) fn holds(at: At, tokens: &[Token]) -> Built<bool> {
    let mut reader = Reader {
        at,
        tokens,
        position: 0,
        depth: 0,
    };
    let value = reader.conditional()?;
    match reader.tokens.get(reader.position) {
        None => Ok(value != 0),
        Some(token) => malformed(token.at, "the condition should end here", "remove the rest"),
    }
}

struct Reader<'a> {
    at: At,
    tokens: &'a [Token],
    position: usize,
    depth: usize,
}

/// Binary operators, loosest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn next_is(&mut self, text: &str) -> bool {
        let is = self
            .tokens
            .get(self.position)
            .is_some_and(|token| token.is(text));
        self.position += usize::from(is);
        is
    }

    fn conditional(&mut self) -> Built<i128> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return unsupported(
                self.at,
                "the condition is nested too deeply",
                "nest it less",
            );
        }
        let mut value = self.level(0)?;
        if self.next_is("?") {
            let yes = self.conditional()?;
            if !self.next_is(":") {
                return malformed(self.at, "`:` is missing", "write `a ? b : c`");
            }
            let no = self.conditional()?;
            value = if value != 0 { yes } else { no };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn level(&mut self, level: usize) -> Built<i128> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.level(level + 1)?;
        while let Some(token) = self.tokens.get(self.position) {
            let Some(operator) = operators.iter().find(|operator| token.is(operator)) else {
                break;
            };
            self.position += 1;
            let right = self.level(level + 1)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None => {
                    let message = "this cannot be computed";
                    return malformed(
                        token.at,
                        message,
                        "use smaller numbers, and do not divide by 0",
                    );
                }
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Built<i128> {
        let mut signs = Vec::new();
        while let Some(token) = self.tokens.get(self.position) {
            match &*token.text {
                "!" | "-" | "+" | "~" if token.kind == Kind::Mark => signs.push(token.clone()),
                _ => break,
            }
            self.position += 1;
        }
        let mut value = self.primary()?;
        for sign in signs.iter().rev() {
            value = match &*sign.text {
                "!" => i128::from(value == 0),
                "-" => -value,
                "~" => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Built<i128> {
        let Some(token) = self.tokens.get(self.position) else {
            return malformed(self.at, "the condition does not end", "complete it");
        };
        self.position += 1;
        match token.kind {
            Kind::Number => match constant::number(&token.text) {
                Some((_, literal)) if literal.unsigned => unsupported(
                    token.at,
                    "an unsigned number in a condition, which makes all numbers there unsigned",
                    "write it without `u`",
                ),
                Some((value, _)) => Ok(value),
                None => malformed(token.at, "this is no integer", "write an integer"),
            },
            Kind::Character => match constant::character(&token.text) {
                Some(value) => Ok(value),
                None => unsupported(token.at, "this character is not known", "write its number"),
            },
            Kind::Name => Ok(0),
            _ if token.is("(") => {
                let value = self.conditional()?;
                match self.next_is(")") {
                    true => Ok(value),
                    false => malformed(token.at, "this bracket is not closed", "add `)`"),
                }
            }
            _ => malformed(
                token.at,
                "a value is expected here",
                "write a number or a name",
            ),
        }
    }
}

fn apply(operator: &str, left: i128, right: i128) -> Option<i128> {
    let truth = |holds: bool| Some(i128::from(holds));
    let value = match operator {
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
        "<<" if (0..64).contains(&right) => left.checked_mul(1 << right),
        ">>" if (0..64).contains(&right) => Some(left >> right),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    };
    value.filter(|value| value.unsigned_abs() < 1 << 70)
}
