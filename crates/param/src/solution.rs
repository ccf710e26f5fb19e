//! What a solver says that satisfies Horn clauses: for each predicate, a formula.
//!
//! The answer of a solver to `(check-sat)` and `(get-model)` is read as far as it is linear arithmetic without quantifiers. Nothing in it is trusted: whoever
//! reads it proves what it says. It comes from another program, so its size and its depth are limited.

use std::collections::HashMap;

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};

use crate::scope::Form;

/// What a solver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// The clauses can be satisfied: by these formulas, for predicates by name.
    Sat(HashMap<String, Linear>),
    /// They cannot.
    Unsat,
}

/// Why an answer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it says `unknown`")]
    Unknown,
    #[error("it says nothing that is an answer: `{0}`")]
    NoAnswer(String),
    #[error("its model cannot be read: {0}")]
    Syntax(&'static str),
    #[error("its model has `{0}`, which is not linear arithmetic")]
    Beyond(String),
    #[error("its model is too large")]
    TooLarge,
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

/// Parts of formulas that are made at most, and the depth that they may have.
const MOST: usize = 200_000;
const DEEPEST: usize = 400;

/// Reads an answer. `arguments` has the variables of each predicate.
pub(crate) fn read(
    answer: &str,
    arguments: &HashMap<String, Vec<Variable>>,
) -> Result<Said, Unusable> {
    let (first, rest) = answer
        .trim()
        .split_once('\n')
        .unwrap_or((answer.trim(), ""));
    match first.trim() {
        "sat" => {}
        "unsat" => return Ok(Said::Unsat),
        "unknown" | "timeout" => return Err(Unusable::Unknown),
        other => {
            let shown: String = other.chars().take(120).collect();
            return Err(Unusable::NoAnswer(shown));
        }
    }
    let mut found = HashMap::new();
    for definition in definitions(parse(rest)?)? {
        let [_, Node::Word(name), Node::List(parameters), _, body] = definition.as_slice() else {
            return Err(Unusable::Syntax("a definition of another form"));
        };
        let Some(variables) = arguments.get(name) else {
            return Err(Unusable::Syntax("a definition of another name"));
        };
        if parameters.len() != variables.len() {
            return Err(Unusable::Syntax("a predicate with other arguments"));
        }
        let mut reader = Reader::default();
        for (parameter, variable) in parameters.iter().zip(variables) {
            match parameter {
                Node::List(pair) => match pair.as_slice() {
                    [Node::Word(name), Node::Word(sort)] if sort == "Int" => {
                        let value = Value::number(Form::variable(*variable));
                        reader.names.push((name.clone(), value));
                    }
                    _ => return Err(Unusable::Syntax("an argument that is no integer")),
                },
                Node::Word(_) => return Err(Unusable::Syntax("an argument without a sort")),
            }
        }
        let formula = reader.truth(body)?;
        found.insert(name.clone(), formula);
    }
    Ok(Said::Sat(found))
}

/// A word, or a list in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Word(String),
    List(Vec<Node>),
}

/// The nodes of a text.
fn parse(text: &str) -> Result<Vec<Node>, Unusable> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '(' => {
                if open.len() > DEEPEST {
                    return Err(Unusable::TooLarge);
                }
                open.push(Vec::new());
            }
            ')' => {
                let done = open.pop().unwrap_or_default();
                let around = open.last_mut();
                let around = around.ok_or(Unusable::Syntax("one parenthesis too many"))?;
                around.push(Node::List(done));
            }
            ';' => while rest.next_if(|c| *c != '\n').is_some() {},
            c if c.is_whitespace() => {}
            c => {
                let mut word = String::new();
                if c == '|' {
                    while let Some(c) = rest.next_if(|c| *c != '|') {
                        word.push(c);
                    }
                    rest.next();
                } else {
                    word.push(c);
                    let ends = |c: &char| c.is_whitespace() || "();".contains(*c);
                    while let Some(c) = rest.next_if(|c| !ends(c)) {
                        word.push(c);
                    }
                }
                if let Some(around) = open.last_mut() {
                    around.push(Node::Word(word));
                }
            }
        }
    }
    match open.as_mut_slice() {
        [nodes] => Ok(std::mem::take(nodes)),
        _ => Err(Unusable::Syntax("it ends in the middle")),
    }
}

/// The definitions of a model: `((define-fun ..) ..)`, or `(model (define-fun ..) ..)`.
fn definitions(nodes: Vec<Node>) -> Result<Vec<Vec<Node>>, Unusable> {
    let [Node::List(members)] = nodes.as_slice() else {
        return Err(Unusable::Syntax("there is no model"));
    };
    let mut found = Vec::new();
    for member in members {
        match member {
            Node::List(parts) if parts.first() == Some(&Node::Word("define-fun".to_owned())) => {
                found.push(parts.clone());
            }
            Node::Word(word) if word == "model" => {}
            _ => return Err(Unusable::Syntax("there is something beside definitions")),
        }
    }
    Ok(found)
}

/// A formula, or a number that may depend on which formula holds.
#[derive(Clone, Debug)]
enum Value {
    Truth(Linear),
    Number(Vec<(Linear, Form)>),
}

impl Value {
    fn number(form: Form) -> Value {
        Value::Number(vec![(Linear::constant(true), form)])
    }
}

#[derive(Default)]
struct Reader {
    /// What names stand for, the innermost last.
    names: Vec<(String, Value)>,
    made: usize,
}

impl Reader {
    /// Counts what is made: names are put in, which can make much of little.
    fn make(&mut self, value: Value) -> Result<Value, Unusable> {
        self.made += match &value {
            Value::Truth(formula) => size(formula),
            Value::Number(cases) => cases.iter().map(|(formula, _)| 1 + size(formula)).sum(),
        };
        match self.made > MOST {
            true => Err(Unusable::TooLarge),
            false => Ok(value),
        }
    }

    fn truth(&mut self, node: &Node) -> Result<Linear, Unusable> {
        match self.value(node)? {
            Value::Truth(formula) => Ok(formula),
            Value::Number(_) => Err(Unusable::Syntax("a number where a formula belongs")),
        }
    }

    fn number(&mut self, node: &Node) -> Result<Vec<(Linear, Form)>, Unusable> {
        match self.value(node)? {
            Value::Number(cases) => Ok(cases),
            Value::Truth(_) => Err(Unusable::Syntax("a formula where a number belongs")),
        }
    }

    fn value(&mut self, node: &Node) -> Result<Value, Unusable> {
        let value = match node {
            Node::Word(word) => self.word(word)?,
            Node::List(parts) => match parts.split_first() {
                Some((Node::Word(operator), operands)) => self.apply(operator, operands)?,
                _ => return Err(Unusable::Syntax("a term of another form")),
            },
        };
        self.make(value)
    }

    fn word(&self, word: &str) -> Result<Value, Unusable> {
        if let Some((_, value)) = self.names.iter().rev().find(|(name, _)| name == word) {
            return Ok(value.clone());
        }
        match word {
            "true" => Ok(Value::Truth(Linear::constant(true))),
            "false" => Ok(Value::Truth(Linear::constant(false))),
            digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let number = digits.parse().map_err(|_| Overflow)?;
                Ok(Value::number(Form::number(number)))
            }
            other => Err(Unusable::Beyond(other.chars().take(40).collect())),
        }
    }

    fn apply(&mut self, operator: &str, operands: &[Node]) -> Result<Value, Unusable> {
        match (operator, operands) {
            ("let", [Node::List(bindings), body]) => {
                let before = self.names.len();
                let mut bound = Vec::new();
                for binding in bindings {
                    match binding {
                        Node::List(pair) => match pair.as_slice() {
                            [Node::Word(name), term] => {
                                bound.push((name.clone(), self.value(term)?));
                            }
                            _ => return Err(Unusable::Syntax("a binding of another form")),
                        },
                        Node::Word(_) => return Err(Unusable::Syntax("a binding without a term")),
                    }
                }
                self.names.extend(bound);
                let value = self.value(body);
                self.names.truncate(before);
                value
            }
            ("and" | "or", _) => {
                let members: Result<Vec<Linear>, Unusable> =
                    operands.iter().map(|node| self.truth(node)).collect();
                Ok(Value::Truth(match operator {
                    "and" => Linear::all(members?),
                    _ => Linear::any(members?),
                }))
            }
            ("not", [one]) => Ok(Value::Truth(self.truth(one)?.negation()?)),
            ("=>", [premises @ .., conclusion]) => {
                let mut members = Vec::new();
                for premise in premises {
                    members.push(self.truth(premise)?.negation()?);
                }
                members.push(self.truth(conclusion)?);
                Ok(Value::Truth(Linear::any(members)))
            }
            ("ite", [condition, yes, no]) => {
                let holds = self.truth(condition)?;
                let fails = holds.negation()?;
                match (self.value(yes)?, self.value(no)?) {
                    (Value::Truth(yes), Value::Truth(no)) => Ok(Value::Truth(Linear::any([
                        Linear::all([holds, yes]),
                        Linear::all([fails, no]),
                    ]))),
                    (Value::Number(yes), Value::Number(no)) => {
                        let yes = yes.into_iter().map(|case| (&holds, case));
                        let no = no.into_iter().map(|case| (&fails, case));
                        let cases = yes.chain(no).map(|(condition, (case, form))| {
                            (Linear::all([condition.clone(), case]), form)
                        });
                        Ok(Value::Number(cases.collect()))
                    }
                    _ => Err(Unusable::Syntax("a choice between a formula and a number")),
                }
            }
            ("=" | "distinct", [a, b]) => {
                let equal = match (self.value(a)?, self.value(b)?) {
                    (Value::Truth(a), Value::Truth(b)) => Linear::any([
                        Linear::all([a.clone(), b.clone()]),
                        Linear::all([a.negation()?, b.negation()?]),
                    ]),
                    (Value::Number(a), Value::Number(b)) => compare(&a, &b, &Form::equals)?,
                    _ => return Err(Unusable::Syntax("a comparison of a formula with a number")),
                };
                Ok(Value::Truth(match operator {
                    "=" => equal,
                    _ => equal.negation()?,
                }))
            }
            ("<=" | "<" | ">=" | ">", [a, b]) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Ok(Value::Truth(match operator {
                    "<=" => compare(&a, &b, &Form::at_most)?,
                    "<" => compare(&a, &b, &Form::less)?,
                    ">=" => compare(&b, &a, &Form::at_most)?,
                    _ => compare(&b, &a, &Form::less)?,
                }))
            }
            ("-", [one]) => {
                let zero = vec![(Linear::constant(true), Form::number(0))];
                let one = self.number(one)?;
                Ok(Value::Number(combine(&zero, &one, |a, b| a.plus(-1, b))?))
            }
            ("+" | "-", [first, rest @ ..]) => {
                let sign = if operator == "+" { 1 } else { -1 };
                let mut sum = self.number(first)?;
                for operand in rest {
                    let operand = self.number(operand)?;
                    sum = combine(&sum, &operand, |a, b| a.plus(sign, b))?;
                    self.make(Value::Number(sum.clone()))?;
                }
                Ok(Value::Number(sum))
            }
            ("*", [a, b]) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let product = |a: &Form, b: &Form| match (a.terms.as_slice(), b.terms.as_slice()) {
                    ([], _) => Ok(Form::default().plus(a.constant, b)?),
                    (_, []) => Ok(Form::default().plus(b.constant, a)?),
                    _ => Err(Unusable::Beyond("*".to_owned())),
                };
                Ok(Value::Number(combine(&a, &b, product)?))
            }
            (operator, _) => Err(Unusable::Beyond(operator.chars().take(40).collect())),
        }
    }
}

/// A comparison of two numbers, in whatever cases they are.
fn compare(
    a: &[(Linear, Form)],
    b: &[(Linear, Form)],
    how: &dyn Fn(&Form, &Form) -> Result<Linear, Overflow>,
) -> Result<Linear, Overflow> {
    let mut members = Vec::new();
    for (a_case, a) in a {
        for (b_case, b) in b {
            members.push(Linear::all([a_case.clone(), b_case.clone(), how(a, b)?]));
        }
    }
    Ok(Linear::any(members))
}

/// What two numbers make together, in whatever cases they are.
fn combine<E>(
    a: &[(Linear, Form)],
    b: &[(Linear, Form)],
    how: impl Fn(&Form, &Form) -> Result<Form, E>,
) -> Result<Vec<(Linear, Form)>, E> {
    let mut cases = Vec::new();
    for (a_case, a) in a {
        for (b_case, b) in b {
            cases.push((Linear::all([a_case.clone(), b_case.clone()]), how(a, b)?));
        }
    }
    Ok(cases)
}

fn size(formula: &Linear) -> usize {
    match formula {
        Linear::Atom(_) => 1,
        Linear::And(members) | Linear::Or(members) => 1 + members.iter().map(size).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> Result<Linear, Unusable> {
        let answer =
            format!("sat\n(\n  (define-fun |view/P.a| ((x!0 Int) (x!1 Int)) Bool\n    {body})\n)");
        let arguments = HashMap::from([("view/P.a".to_owned(), vec![5, 7])]);
        match read(&answer, &arguments)? {
            Said::Sat(found) => Ok(found["view/P.a"].clone()),
            Said::Unsat => panic!("{body}"),
        }
    }

    /// Whether a formula of variables 5 and 7 holds.
    fn holds(formula: &Linear, x: i64, y: i64) -> bool {
        let places = HashMap::from([(5, 0), (7, 1)]);
        crate::points::holds(formula, &places, &[x, y])
    }

    #[test]
    fn formulas_mean_what_they_say() {
        let values = || (-3..=3).flat_map(|x| (-3..=3).map(move |y| (x, y)));
        type Meaning = fn(i64, i64) -> bool;
        let cases: [(&str, Meaning); 9] = [
            ("true", |_, _| true),
            ("(and (<= x!0 1) (not (= x!1 2)))", |x, y| x <= 1 && y != 2),
            ("(=> (> x!0 0) (< x!1 0))", |x, y| x <= 0 || y < 0),
            (
                "(let ((a!1 (+ x!0 (* (- 2) x!1)))) (or (>= a!1 0) (distinct x!0 1)))",
                |x, y| x - 2 * y >= 0 || x != 1,
            ),
            ("(= (ite (<= x!0 0) (- x!0) x!0) x!1)", |x, y| x.abs() == y),
            (
                "(ite (= x!0 x!1) (<= x!0 0) (<= 1 (- x!0 x!1 1)))",
                |x, y| {
                    if x == y { x <= 0 } else { x - y > 1 }
                },
            ),
            ("(= (<= x!0 0) (<= x!1 0))", |x, y| (x <= 0) == (y <= 0)),
            ("(let ((a 1)) (let ((a x!0) (b a)) (= a b)))", |x, _| x == 1),
            ("(not (or))", |_, _| true),
        ];
        for (body, expected) in cases {
            let formula = said(body).unwrap();
            for (x, y) in values() {
                assert_eq!(holds(&formula, x, y), expected(x, y), "{body} at {x}, {y}");
            }
        }
    }

    #[test]
    fn what_is_not_linear_is_refused() {
        for body in [
            "(exists ((z Int)) (= x!0 z))",
            "(= (mod x!0 2) 0)",
            "(= (* x!0 x!1) 0)",
            "(P x!0)",
        ] {
            assert!(matches!(said(body), Err(Unusable::Beyond(_))), "{body}");
        }
        for body in [
            "(+ x!0 1)",
            "(and x!0)",
            "(ite true 1 true)",
            "((a))",
            "(<= x!0",
        ] {
            assert!(matches!(said(body), Err(Unusable::Syntax(_))), "{body}");
        }
        assert!(said("(<= x!0 9223372036854775808)").is_err());
    }

    #[test]
    fn what_grows_without_end_is_refused() {
        let mut body = "(<= x!0 x!1)".to_owned();
        for number in 0..60 {
            body = format!(
                "(let ((v{number} {body})) (or (and v{number} v{number}) (= v{number} true)))"
            );
        }
        assert_eq!(said(&body), Err(Unusable::TooLarge));
        let deep = format!("{}true{}", "(not ".repeat(10_000), ")".repeat(10_000));
        assert_eq!(said(&deep), Err(Unusable::TooLarge));
    }

    #[test]
    fn answers_without_a_model_are_told_apart() {
        let read = |answer: &str| read(answer, &HashMap::new());
        assert_eq!(read("unsat\n(error \"no model\")"), Ok(Said::Unsat));
        assert_eq!(read("unknown"), Err(Unusable::Unknown));
        assert!(matches!(
            read("(error \"what\")"),
            Err(Unusable::NoAnswer(_))
        ));
        assert!(matches!(read(""), Err(Unusable::NoAnswer(_))));
        assert!(matches!(read("sat\n"), Err(Unusable::Syntax(_))));
        assert_eq!(read("sat\n()"), Ok(Said::Sat(HashMap::new())));
    }
}
