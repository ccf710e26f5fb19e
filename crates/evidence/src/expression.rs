//! Expressions of the language as text that is put together, with parentheses where they are needed.

/// An expression of the language. How tightly it binds is kept, for parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// Binds more tightly than what stands around it.
    Atom(String),
    /// A comparison; only its negation needs parentheses.
    Comparison(String),
    /// `!a`
    Not(Box<Expression>),
    /// `a && b`
    And(Vec<Expression>),
    /// `a || b`
    Or(Vec<Expression>),
    /// `a -> b`
    Implies(Box<Expression>, Box<Expression>),
    /// `a <-> b`
    Iff(Box<Expression>, Box<Expression>),
    /// `forall j in P`, `count i in P` and so on, with its body.
    Quantified(String, Box<Expression>),
}

impl Expression {
    /// All of these.
    pub fn and(parts: Vec<Expression>) -> Expression {
        let mut parts: Vec<Expression> = parts
            .into_iter()
            .flat_map(|part| match part {
                Expression::And(parts) => parts,
                part => vec![part],
            })
            .collect();
        match parts.len() {
            0 => Expression::Atom("true".to_owned()),
            1 => parts.remove(0),
            _ => Expression::And(parts),
        }
    }

    /// One of these.
    pub fn or(parts: Vec<Expression>) -> Expression {
        let mut parts: Vec<Expression> = parts
            .into_iter()
            .flat_map(|part| match part {
                Expression::Or(parts) => parts,
                part => vec![part],
            })
            .collect();
        match parts.len() {
            0 => Expression::Atom("false".to_owned()),
            1 => parts.remove(0),
            _ => Expression::Or(parts),
        }
    }

    /// How long it is: in words and signs, so that it does not matter how long names are.
    pub fn length(&self) -> usize {
        length(&self.to_string())
    }

    fn tightness(&self) -> u8 {
        match self {
            Expression::Atom(_) | Expression::Not(_) => 6,
            Expression::Comparison(_) => 5,
            Expression::And(_) => 4,
            Expression::Or(_) => 3,
            Expression::Implies(..) => 2,
            Expression::Iff(..) => 1,
            Expression::Quantified(..) => 0,
        }
    }

    fn within(&self, tightness: u8) -> String {
        if self.tightness() < tightness {
            format!("({self})")
        } else {
            self.to_string()
        }
    }
}

/// How many words and signs a text has.
pub fn length(text: &str) -> usize {
    let kind = |sign: char| (sign.is_alphanumeric() || sign == '_', sign.is_whitespace());
    let mut before = (false, true);
    let mut length = 0;
    for sign in text.chars() {
        let now = kind(sign);
        length += usize::from(now != before && !now.1);
        before = now;
    }
    length
}

impl std::fmt::Display for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = |parts: &[Expression], tightness: u8, between: &str| {
            let parts: Vec<String> = parts.iter().map(|part| part.within(tightness)).collect();
            parts.join(between)
        };
        match self {
            Expression::Atom(text) | Expression::Comparison(text) => f.write_str(text),
            Expression::Not(inner) => write!(f, "!{}", inner.within(6)),
            Expression::And(parts) => f.write_str(&joined(parts, 5, " && ")),
            // `&&` binds more tightly than `||`, but readers should not need to know.
            Expression::Or(parts) => f.write_str(&joined(parts, 5, " || ")),
            Expression::Implies(left, right) => {
                write!(f, "{} -> {}", left.within(3), right.within(2))
            }
            Expression::Iff(left, right) => write!(f, "{} <-> {}", left.within(2), right.within(2)),
            Expression::Quantified(head, body) => write!(f, "{head}: {body}"),
        }
    }
}
