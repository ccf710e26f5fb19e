//! Programs of templates: `thread[N] name { .. }`.
//!
//! Each statement is a step; expressions are evaluated in that step. Integers are mathematical. A variable without an initial value has any.

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::super::ir::{
    Arith, Code, Compare, Count, Expr, Parameter, ProcessId, Statement, StatementKind,
};
use super::super::parse::{Parsed, Template};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::tidy;
use super::super::types::IntType;
use super::{Builder, Value};
use crate::front::preprocess::{Kind, Token};

impl<'a> Builder<'a> {
    /// That a type can be used where integers have no bounds: in these programs, not if its values wrap around in C, or lie in a small range.
    pub(super) fn without_bounds(&self, ty: IntType, at: At) -> Built<()> {
        let without = ty.bits == 1 || ty.signed && ty.bits >= IntType::INT.bits;
        match without || !self.in_templates {
            true => Ok(()),
            false => unsupported(
                at,
                "a type of integers that wrap around or are small, in a program of templates",
                "integers have no bounds here: write `int`",
            ),
        }
    }

    pub(super) fn parameter_value(&self, name: &str, _at: At) -> Option<Value> {
        let position = self
            .model
            .parameters
            .iter()
            .position(|parameter| parameter.name == name)?;
        Some(Value::Int(Expr::Parameter(position), IntType::INT))
    }

    /// The parameter that an expression names.
    pub(super) fn parameter_named(&self, expression: &'a Node<Expression>) -> Option<usize> {
        match &expression.node {
            Expression::Identifier(name) => {
                let name = &name.node.name;
                self.model
                    .parameters
                    .iter()
                    .position(|parameter| parameter.name == *name)
            }
            _ => None,
        }
    }

    /// Declares the parameters: those that the program lists, and the sizes of its templates.
    pub(super) fn declare_parameters(&mut self, parsed: &'a Parsed) -> Built<()> {
        for parameter in &parsed.parameters {
            let name = parameter.name.text.to_string();
            let initial = match parameter.initial.as_deref() {
                None => None,
                Some(tokens) => match self.parameter_expr(tokens)? {
                    Expr::Number(number) => Some(number),
                    _ => {
                        return unsupported(
                            parameter.name.at,
                            "a default that is no number",
                            "write a number",
                        );
                    }
                },
            };
            self.model.parameters.push(Parameter {
                name,
                at: parameter.name.at,
                initial,
                conditions: Vec::new(),
            });
        }
        for (position, parameter) in parsed.parameters.iter().enumerate() {
            if let Some(condition) = &parameter.condition {
                let condition = self.parameter_expr(condition)?;
                self.model.parameters[position].conditions.push(condition);
            }
        }
        for template in &parsed.templates {
            for token in &template.size {
                let known = self
                    .model
                    .parameters
                    .iter()
                    .any(|parameter| parameter.name == *token.text);
                if token.kind == Kind::Word && !known {
                    self.model.parameters.push(Parameter {
                        name: token.text.to_string(),
                        at: token.at,
                        initial: None,
                        conditions: Vec::new(),
                    });
                }
            }
            // A size of which nothing is said is at least 1.
            if let [size] = template.size.as_slice()
                && let Some(position) = self
                    .model
                    .parameters
                    .iter()
                    .position(|p| p.name == *size.text)
                && self.model.parameters[position].conditions.is_empty()
            {
                let least = Expr::compare(Compare::Ge, Expr::Parameter(position), Expr::Number(1));
                self.model.parameters[position].conditions.push(least);
            }
        }
        Ok(())
    }

    /// An expression over parameters: sums, products and comparisons, joined by `&&`.
    fn parameter_expr(&self, tokens: &[Token]) -> Built<Expr> {
        let split = |marks: &[&str]| {
            let mut depth = 0;
            let mut found = None;
            for (position, token) in tokens.iter().enumerate() {
                depth += i32::from(token.is("(")) - i32::from(token.is(")"));
                if depth == 0 && position > 0 && marks.iter().any(|mark| token.is(mark)) {
                    found = Some(position);
                }
            }
            found
        };
        let first = tokens.first().map_or(At::default(), |token| token.at);
        if tokens.len() > 200 {
            return unsupported(first, "this expression is too long", "write a shorter one");
        }
        let both = |position: usize| -> Built<(Expr, Expr)> {
            Ok((
                self.parameter_expr(&tokens[..position])?,
                self.parameter_expr(&tokens[position + 1..])?,
            ))
        };
        if let Some(position) = split(&["&&"]) {
            let (left, right) = both(position)?;
            return Ok(left.and(right));
        }
        if let Some(position) = split(&["<", "<=", ">", ">=", "==", "!="]) {
            let (left, right) = both(position)?;
            let op = match &*tokens[position].text {
                "<" => Compare::Lt,
                "<=" => Compare::Le,
                ">" => Compare::Gt,
                ">=" => Compare::Ge,
                "==" => Compare::Eq,
                _ => Compare::Ne,
            };
            return Ok(Expr::compare(op, left, right));
        }
        for (marks, op) in [(["+", "-"], Arith::Add), (["*", "*"], Arith::Mul)] {
            if let Some(position) = split(&marks) {
                let (left, right) = both(position)?;
                let op = match tokens[position].is("-") {
                    true => Arith::Sub,
                    false => op,
                };
                return Ok(Expr::arith(op, left, right));
            }
        }
        match tokens {
            [open, inner @ .., close] if open.is("(") && close.is(")") => {
                self.parameter_expr(inner)
            }
            [minus, inner @ ..] if minus.is("-") && !inner.is_empty() => Ok(Expr::arith(
                Arith::Sub,
                Expr::Number(0),
                self.parameter_expr(inner)?,
            )),
            [one] if one.kind == Kind::Number => match super::super::constant::number(&one.text) {
                Some((number, _)) => Ok(Expr::Number(number)),
                None => malformed(one.at, "this is no integer", "write an integer"),
            },
            [one] if one.kind == Kind::Word => match self.parameter_value(&one.text, one.at) {
                Some(Value::Int(expr, _)) => Ok(expr),
                _ => malformed(
                    one.at,
                    format!("`{}` is no parameter", one.text),
                    "declare it with `param`",
                ),
            },
            _ => malformed(
                first,
                "an expression over parameters is expected",
                "write `N` or `N + 1`",
            ),
        }
    }

    pub(super) fn program_of_templates(&mut self, parsed: &'a Parsed) -> Built<()> {
        if self.functions.contains_key("main") {
            let help = "write threads either as templates or with `pthread_create`";
            return unsupported(
                parsed.templates[0].at,
                "templates in a program with `main`",
                help,
            );
        }
        if let Some(first) = self.initial.first() {
            return unsupported(
                first.at,
                "an initial value of this kind in a program of templates",
                "use integers",
            );
        }
        for template in &parsed.templates {
            let count = match template.size.as_slice() {
                [] if template.started => Count::Started,
                [] => Count::One,
                tokens => match self.parameter_expr(tokens)? {
                    Expr::Number(1) => Count::One,
                    size => Count::Parameter(size),
                },
            };
            self.begin_process(&template.name, template.at, count);
        }
        for (position, template) in parsed.templates.iter().enumerate() {
            self.enter_process(ProcessId(position));
            self.one_template(template)?;
        }
        Ok(())
    }

    fn one_template(&mut self, template: &'a Template) -> Built<()> {
        let Some((&name, &function)) = self.functions.get_key_value(template.function.as_str())
        else {
            return malformed(template.at, "this template has no body", "write it");
        };
        let body = self.block(|builder| {
            let end = builder.new_label(None);
            builder.threads.end = Some(end);
            builder.inline(name, function, Vec::new(), template.at)?;
            builder.emit(template.at, StatementKind::Label(end));
            Ok(())
        })?;
        let body = tidy::tidy(body, &self.model);
        let process = self.process;
        self.model.processes[process.0].body = stepwise(body);
        Ok(())
    }
}

impl<'a> Builder<'a> {
    /// `start name;`.
    pub(super) fn start_template(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        let name = match arguments.first().map(|argument| &argument.node) {
            Some(Expression::Identifier(name)) => &name.node.name,
            _ => return malformed(at, "a template is expected here", "write `start name;`"),
        };
        let found = self
            .model
            .processes
            .iter()
            .position(|process| process.wish == *name);
        match found {
            Some(position) if self.model.processes[position].count == Count::Started => {
                self.emit(at, StatementKind::Start(ProcessId(position)));
                Ok(Value::Void)
            }
            Some(_) => unsupported(
                at,
                format!("`{name}` is there from the beginning"),
                "write `thread[] name`",
            ),
            None => malformed(at, format!("there is no template `{name}`"), "declare it"),
        }
    }
}

/// Every statement of a template is a step, also one that touches nothing shared.
fn stepwise(code: Code) -> Code {
    let mut output = Vec::new();
    for Statement { at, kind } in code {
        let kind = match kind {
            StatementKind::Assign(..) | StatementKind::Havoc(_) | StatementKind::Assert(..) => {
                StatementKind::Atomic(vec![Statement { at, kind }])
            }
            StatementKind::If(..) | StatementKind::Loop { .. } => kind.with_inner(&mut stepwise),
            other => other,
        };
        output.push(Statement { at, kind });
    }
    output
}
