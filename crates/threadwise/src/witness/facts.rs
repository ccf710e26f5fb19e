//! Facts of a proof as expressions of C. What C cannot say about global variables and ghosts alone is no expression.

use super::program::Program;

/// How deep the parentheses of a fact may be nested.
const DEPTH: usize = 100;

/// A fact in C, where it can be said. `ghost` names the variable that tells whether a mutex is locked.
pub(crate) fn in_c(
    fact: &str,
    program: &Program<'_>,
    ghost: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    let mut reader = Reader {
        words: words(fact)?,
        at: 0,
        depth: 0,
        program,
        ghost,
    };
    let expression = reader.iff()?;
    (reader.at == reader.words.len()).then_some(expression.text)
}

/// The mutex of a fact that says that this process holds it.
pub(crate) fn held<'f>(fact: &'f str, process: &str) -> Option<&'f str> {
    let mutex = fact.strip_prefix(process)?.strip_prefix(" holds ")?;
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!mutex.is_empty() && mutex.chars().all(name)).then_some(mutex)
}

/// An expression of C, and whether it stands by itself beside any operator.
struct Expression {
    text: String,
    atom: bool,
}

impl Expression {
    fn atom(text: impl Into<String>) -> Option<Expression> {
        Some(Expression {
            text: text.into(),
            atom: true,
        })
    }

    fn operand(self) -> String {
        match self.atom {
            true => self.text,
            false => format!("({})", self.text),
        }
    }
}

struct Reader<'r, 'a> {
    words: Vec<&'r str>,
    at: usize,
    depth: usize,
    program: &'r Program<'a>,
    ghost: &'r mut dyn FnMut(&str) -> Option<String>,
}

impl<'r> Reader<'r, '_> {
    fn peek(&self) -> &'r str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += usize::from(found);
        found
    }

    fn iff(&mut self) -> Option<Expression> {
        let mut left = self.implies()?;
        while self.eat("<->") {
            let right = self.implies()?;
            // Both are made 0 or 1, since C compares numbers.
            let text = format!("!{} == !{}", wrapped(left), wrapped(right));
            left = Expression { text, atom: false };
        }
        Some(left)
    }

    fn implies(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let left = self.joined(0)?;
        if !self.eat("->") {
            self.depth -= 1;
            return Some(left);
        }
        let right = self.implies()?;
        self.depth -= 1;
        Some(Expression {
            text: format!("!{} || {}", wrapped(left), right.operand()),
            atom: false,
        })
    }

    /// `||` and, more tightly, `&&`.
    fn joined(&mut self, level: usize) -> Option<Expression> {
        let Some(operator) = ["||", "&&"].get(level) else {
            return self.comparison();
        };
        let mut parts = vec![self.joined(level + 1)?];
        while self.eat(operator) {
            parts.push(self.joined(level + 1)?);
        }
        if parts.len() == 1 {
            return parts.pop();
        }
        let parts: Vec<String> = parts.into_iter().map(Expression::operand).collect();
        Some(Expression {
            text: parts.join(&format!(" {operator} ")),
            atom: false,
        })
    }

    fn comparison(&mut self) -> Option<Expression> {
        let begin = self.at;
        let left = self.sum(false)?;
        let operator = self.peek();
        if !["==", "!=", "<", "<=", ">", ">="].contains(&operator) {
            return Some(left);
        }
        self.at += 1;
        let right = self.sum(false)?;
        let end = self.at;
        // With a sum on either side, both are read again as wide numbers, so that nothing overflows.
        let operands = self.words[begin..end].windows(2);
        let arithmetic = operands.into_iter().any(|pair| {
            let operand = !["==", "!=", "<", "<=", ">", ">=", "(", "!", "-"].contains(&pair[0]);
            ["+", "*"].contains(&pair[1]) || (pair[1] == "-" && operand)
        });
        let (left, right) = match arithmetic {
            false => (left, right),
            true => {
                self.at = begin;
                let left = self.sum(true)?;
                self.at += 1;
                (left, self.sum(true)?)
            }
        };
        Some(Expression {
            text: format!("{} {operator} {}", left.operand(), right.operand()),
            atom: false,
        })
    }

    fn sum(&mut self, wide: bool) -> Option<Expression> {
        let mut left = self.product(wide)?;
        while ["+", "-"].contains(&self.peek()) {
            let operator = self.peek();
            self.at += 1;
            let right = self.product(wide)?;
            left = Expression {
                text: format!("{} {operator} {}", left.operand(), right.operand()),
                atom: false,
            };
        }
        Some(left)
    }

    fn product(&mut self, wide: bool) -> Option<Expression> {
        let mut left = self.unary(wide)?;
        // A divisor might be 0 where the fact is not evaluated, so divisions are left out.
        while self.peek() == "*" {
            self.at += 1;
            let right = self.unary(wide)?;
            left = Expression {
                text: format!("{} * {}", left.operand(), right.operand()),
                atom: false,
            };
        }
        Some(left)
    }

    fn unary(&mut self, wide: bool) -> Option<Expression> {
        let operator = self.peek();
        if !["!", "-"].contains(&operator) {
            return self.primary(wide);
        }
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        self.at += 1;
        let operand = self.unary(wide)?;
        self.depth -= 1;
        Expression::atom(format!("{operator}{}", wrapped(operand)))
    }

    fn primary(&mut self, wide: bool) -> Option<Expression> {
        let word = self.peek();
        self.at += 1;
        match word {
            "(" => {
                let inner = self.iff()?;
                self.eat(")").then_some(inner)
            }
            "true" => Expression::atom("1"),
            "false" => Expression::atom("0"),
            "locked" => {
                if !self.eat("(") {
                    return None;
                }
                let mutex = self.peek();
                self.at += 1;
                let ghost = (self.ghost)(mutex)?;
                self.eat(")").then_some(())?;
                Expression::atom(ghost)
            }
            word if word.starts_with(|c: char| c.is_ascii_digit()) => {
                // Greater numbers would need a type of their own.
                word.parse::<i32>().ok()?;
                Expression::atom(word)
            }
            word if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                let mut text = self.program.global(word, wide)?;
                while self.eat("[") {
                    let index = self.peek();
                    index.parse::<i32>().ok()?;
                    self.at += 1;
                    self.eat("]").then_some(())?;
                    text.push_str(&format!("[{index}]"));
                }
                // `P at l`, `P.x`, `f(..)`: not about variables of C.
                let after = self.peek();
                let ends = after.is_empty() || !after.starts_with(|c: char| c.is_alphabetic());
                (ends && after != "(").then_some(())?;
                Expression::atom(text)
            }
            _ => None,
        }
    }
}

fn wrapped(expression: Expression) -> String {
    expression.operand()
}

/// The words and signs of a fact; nothing if there is one that C has no counterpart of.
fn words(fact: &str) -> Option<Vec<&str>> {
    const SIGNS: [&str; 21] = [
        "<->", "->", "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!",
        "(", ")", "[", "]", ",",
    ];
    let mut words = Vec::new();
    let mut rest = fact.trim_start();
    while !rest.is_empty() {
        let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let length = match name {
            Some(0) => SIGNS.iter().find(|sign| rest.starts_with(**sign))?.len(),
            Some(length) => length,
            None => rest.len(),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Some(words)
}
