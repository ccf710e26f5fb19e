//! Loops, and how often they run.

use std::collections::{HashMap, HashSet};

use lang_c::ast::{
    BinaryOperator, BlockItem, DoWhileStatement, Expression, ForInitializer, ForStatement,
    Initializer, Statement, UnaryOperator,
};
use lang_c::span::{Node, Span};
use lang_c::visit::Visit;

use super::super::ir::{self, Code, Expr, StatementKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::Type;
use super::{Binding, Builder, Jumps, Object, Value};

/// How many rounds of a loop may be written out in a part that is one step.
const MOST_ROUNDS: u64 = 64;

impl<'a> Builder<'a> {
    /// A loop with its test in front.
    pub(super) fn repeat(
        &mut self,
        condition: Option<&'a Node<Expression>>,
        step: Option<&'a Node<Expression>>,
        body: &'a Node<Statement>,
        at: At,
        rounds: Option<u64>,
    ) -> Built<()> {
        if self.in_step {
            return unsupported(
                at,
                "a loop in a part that is one step",
                "use a constant number of rounds",
            );
        }
        let head = self.new_label(None);
        if let Some(rounds) = rounds {
            self.model.rounds.insert(head, rounds);
        }
        let mut test = Expr::Truth(true);
        let before = self.block(|builder| {
            if let Some(condition) = condition {
                test = builder.condition(condition)?;
            }
            Ok(())
        })?;
        let again = match step {
            Some(_) => self.new_label(None),
            None => head,
        };
        self.frame().jumps.push(Jumps {
            out: None,
            again: Some(again),
        });
        let mut inner = self.block(|builder| builder.statement(body))?;
        self.frame().jumps.pop();
        if let Some(step) = step {
            let place = self.place_of(step);
            inner.push(ir::Statement::new(place, StatementKind::Label(again)));
            let mark = self.in_use;
            inner.extend(self.block(|builder| builder.effect(step))?);
            self.in_use = mark;
        }
        let plain = before.is_empty() && test.shared_reads(&self.model) <= 1;
        if plain && inner.is_empty() && test != Expr::Truth(true) {
            // Waiting for something is no work.
            self.emit(at, StatementKind::Await(test.not()));
            return Ok(());
        }
        if test == Expr::Truth(false) && !self.has_way_in(body.span) {
            return Ok(());
        }
        let (condition, body) = match plain {
            true => ((test != Expr::Truth(true)).then_some(test), inner),
            false => {
                let mut code = before;
                leave_unless(&mut code, test, at);
                code.extend(inner);
                (None, code)
            }
        };
        self.emit(
            at,
            StatementKind::Loop {
                head,
                condition,
                body,
            },
        );
        Ok(())
    }

    pub(super) fn do_while(&mut self, node: &'a DoWhileStatement, at: At) -> Built<()> {
        if self.in_step {
            return unsupported(
                at,
                "a loop in a part that is one step",
                "use a constant number of rounds",
            );
        }
        let (head, again) = (self.new_label(None), self.new_label(None));
        self.frame().jumps.push(Jumps {
            out: None,
            again: Some(again),
        });
        let outer = self.times;
        if !is_zero(&node.expression.node) {
            self.times = None;
        }
        let mut body = self.block(|builder| builder.statement(&node.statement))?;
        self.times = outer;
        self.frame().jumps.pop();
        let place = self.place_of(&node.expression);
        body.push(ir::Statement::new(place, StatementKind::Label(again)));
        let mut test = Expr::Truth(true);
        body.extend(self.block(|builder| {
            test = builder.condition(&node.expression)?;
            Ok(())
        })?);
        leave_unless(&mut body, test, place);
        self.emit(
            at,
            StatementKind::Loop {
                head,
                condition: None,
                body,
            },
        );
        Ok(())
    }

    pub(super) fn for_loop(&mut self, node: &'a ForStatement, at: At) -> Built<()> {
        self.frame().scopes.push(std::collections::HashMap::new());
        match &node.initializer.node {
            ForInitializer::Empty => {}
            ForInitializer::StaticAssert(asserted) => {
                let place = self.place_of(asserted);
                return malformed(
                    place,
                    "an assertion as the beginning of a loop",
                    "move it out",
                );
            }
            ForInitializer::Expression(expression) => self.effect(expression)?,
            ForInitializer::Declaration(declaration) => self.local(declaration)?,
        }
        // Who jumps into a loop does not begin with its first round.
        let rounds = match self.has_way_in(node.statement.span) {
            true => None,
            false => self.rounds(node),
        };
        if self.in_step {
            let result = self.written_out(node, rounds, at);
            self.frame().scopes.pop();
            return result;
        }
        let place = node
            .condition
            .as_ref()
            .map_or(at, |condition| self.place_of(condition));
        let outer = self.times;
        let most = match (outer, rounds) {
            (None, _) => None,
            (Some(_), None) => self.rounds_by_handles(node),
            (Some(_), Some(rounds)) => Some(rounds),
        };
        self.times = match (outer, most) {
            (Some(outer), Some(most)) => outer.checked_mul(most),
            _ => None,
        };
        let counting = match (outer, rounds) {
            (Some(1), Some(_)) => self.counting_variable(node),
            _ => None,
        };
        let outside = std::mem::replace(&mut self.counting, counting);
        let condition = node.condition.as_deref();
        let result = self.repeat(
            condition,
            node.step.as_deref(),
            &node.statement,
            place,
            rounds,
        );
        self.counting = outside;
        self.times = outer;
        self.frame().scopes.pop();
        result
    }

    /// A loop in a part that is one step: each round is written out.
    fn written_out(&mut self, node: &'a ForStatement, rounds: Option<u64>, at: At) -> Built<()> {
        let Some(rounds) = rounds.filter(|rounds| *rounds <= MOST_ROUNDS) else {
            return unsupported(
                at,
                "a loop in a part that is one step",
                "use a constant number of rounds",
            );
        };
        for _ in 0..rounds {
            let mut jumps = false;
            self.frame().jumps.push(Jumps {
                out: None,
                again: None,
            });
            let code = self.block(|builder| builder.statement(&node.statement))?;
            self.frame().jumps.pop();
            ir::for_statements(&code, &mut |statement| {
                jumps |= matches!(statement.kind, StatementKind::Break);
            });
            if jumps {
                return unsupported(
                    at,
                    "a loop in a part that is one step",
                    "do not use `break` in it",
                );
            }
            self.code.extend(code);
            if let Some(step) = &node.step {
                self.effect(step)?;
            }
        }
        Ok(())
    }

    /// The variable that counts the rounds of a loop with a known number of them.
    fn counting_variable(&mut self, node: &'a ForStatement) -> Option<ir::VarId> {
        let (name, _) = self.first_value(&node.initializer.node)?;
        match self.lookup(&name)? {
            Binding::Object(part) => match &*part.object {
                Object::Variable(var) if part.indices.is_empty() => Some(*var),
                _ => None,
            },
            _ => None,
        }
    }

    /// How often `for (i = 0; i < 3; i++)` and the like run at most.
    fn rounds(&mut self, node: &'a ForStatement) -> Option<u64> {
        let (name, first) = self.first_value(&node.initializer.node)?;
        let Expression::BinaryOperator(test) = &node.condition.as_ref()?.node else {
            return None;
        };
        let (left, right) = (&test.node.lhs, &test.node.rhs);
        if !is_name(&left.node, &name) {
            return None;
        }
        let limit = self.constant(right).ok()?;
        let by = self.step_of(&node.step.as_ref()?.node, &name)?;
        // Nobody else may change it.
        let ty = match self.lookup(&name)? {
            Binding::Object(part) => match (&*part.object, &part.ty) {
                (Object::Variable(var), Type::Int(ty)) if !self.model.is_shared(*var) => *ty,
                _ => return None,
            },
            _ => return None,
        };
        if changed(&node.statement, &name) || self.is_pointed_to(&name) {
            return None;
        }
        let span = match (&test.node.operator.node, by > 0) {
            (BinaryOperator::Less, true) => limit - first,
            (BinaryOperator::LessOrEqual, true) => limit - first + 1,
            (BinaryOperator::Greater, false) => first - limit,
            (BinaryOperator::GreaterOrEqual, false) => first - limit + 1,
            (BinaryOperator::NotEquals, true) if by == 1 && limit >= first => limit - first,
            _ => return None,
        };
        let rounds = (span.max(0) + by.abs() - 1) / by.abs();
        // It must not leave its type on the way, nor become another number by the comparison.
        let last = first + rounds * by;
        let stays = ty.least() <= first.min(last) && first.max(last) <= ty.greatest();
        let signed = ty.promoted().signed && self.is_signed(right);
        let natural = first.min(last).min(limit) >= 0;
        match stays && (signed || natural) {
            true => u64::try_from(rounds).ok(),
            false => None,
        }
    }

    /// How often `for (i = 0; ..; i++)` can go on if each round makes a thread whose handle is `handles[i]`: the index fails where the array ends.
    fn rounds_by_handles(&mut self, node: &'a ForStatement) -> Option<u64> {
        let (name, first) = self.first_value(&node.initializer.node)?;
        let by = self.step_of(&node.step.as_ref()?.node, &name)?;
        let own = match self.lookup(&name)? {
            Binding::Object(part) => match (&*part.object, &part.ty) {
                (Object::Variable(var), Type::Int(_)) => !self.model.is_shared(*var),
                _ => false,
            },
            _ => false,
        };
        if first < 0 || by < 1 || !own || changed(&node.statement, &name) {
            return None;
        }
        if self.is_pointed_to(&name) {
            return None;
        }
        let mut handles = Handles {
            index: &name,
            array: None,
            declared: Vec::new(),
            skips: false,
        };
        handles.round(&node.statement);
        let Handles { declared, .. } = &handles;
        let array = handles
            .array
            .as_ref()
            .filter(|array| !declared.contains(array))?;
        if handles.skips || declared.contains(&name) {
            return None;
        }
        match self.lookup(array)? {
            Binding::Object(part) => match (&*part.object, &part.ty) {
                (Object::Variable(_), Type::Array(inner, Some(size)))
                    if **inner == Type::Thread && part.indices.is_empty() =>
                {
                    // In the last of them the index fails.
                    Some(u64::from(*size) + 1)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the function that is being read takes the address of a variable of this name.
    fn is_pointed_to(&self, name: &str) -> bool {
        let function = self.frames.last().map(|frame| frame.function);
        let function = function.and_then(|name| self.functions.get(name));
        function.is_none_or(|function| {
            let mut addresses = Addresses { name, taken: false };
            let statement = &function.node.statement;
            addresses.visit_statement(&statement.node, &statement.span);
            addresses.taken
        })
    }

    /// Whether an expression has a signed type, or a truth value.
    fn is_signed(&mut self, expression: &'a Node<Expression>) -> bool {
        let mut signed = false;
        let read = self.block(|builder| {
            signed = match builder.rvalue(expression)? {
                Value::Int(_, ty) => ty.promoted().signed,
                Value::Truth(_) => true,
                _ => false,
            };
            Ok(())
        });
        read.is_ok() && signed
    }

    /// The variable that a loop begins with, and its first value.
    fn first_value(&mut self, initializer: &'a ForInitializer) -> Option<(String, i128)> {
        match initializer {
            ForInitializer::Expression(expression) => {
                let Expression::BinaryOperator(binary) = &expression.node else {
                    return None;
                };
                let Expression::Identifier(name) = &binary.node.lhs.node else {
                    return None;
                };
                match binary.node.operator.node {
                    BinaryOperator::Assign => Some((
                        name.node.name.clone(),
                        self.constant(&binary.node.rhs).ok()?,
                    )),
                    _ => None,
                }
            }
            ForInitializer::Declaration(declaration) => {
                let [declared] = declaration.node.declarators.as_slice() else {
                    return None;
                };
                let name = super::declare::name_of(&declared.node.declarator.node)?;
                match &declared.node.initializer.as_ref()?.node {
                    Initializer::Expression(value) => {
                        Some((name.to_owned(), self.constant(value).ok()?))
                    }
                    Initializer::List(_) => None,
                }
            }
            _ => None,
        }
    }

    /// By how much a step changes a variable.
    fn step_of(&mut self, step: &'a Expression, name: &str) -> Option<i128> {
        match step {
            Expression::UnaryOperator(unary) if is_name(&unary.node.operand.node, name) => {
                match unary.node.operator.node {
                    UnaryOperator::PostIncrement | UnaryOperator::PreIncrement => Some(1),
                    UnaryOperator::PostDecrement | UnaryOperator::PreDecrement => Some(-1),
                    _ => None,
                }
            }
            Expression::BinaryOperator(binary) if is_name(&binary.node.lhs.node, name) => {
                let by = self.constant(&binary.node.rhs).ok()?;
                match binary.node.operator.node {
                    BinaryOperator::AssignPlus if by != 0 => Some(by),
                    BinaryOperator::AssignMinus if by != 0 => Some(-by),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn leave_unless(code: &mut Code, test: Expr, at: At) {
    if test != Expr::Truth(true) {
        let leave = ir::Statement::new(at, StatementKind::Break);
        code.push(ir::Statement::new(
            at,
            StatementKind::If(test.not(), vec![leave], Vec::new()),
        ));
    }
}

fn is_zero(expression: &Expression) -> bool {
    matches!(expression, Expression::Constant(constant)
        if matches!(&constant.node, lang_c::ast::Constant::Integer(integer) if &*integer.number == "0" || integer.number.is_empty()))
}

fn is_name(expression: &Expression, name: &str) -> bool {
    matches!(expression, Expression::Identifier(found) if found.node.name == name)
}

/// Whether a statement may change a variable of this name, or takes its address.
fn changed(statement: &Node<Statement>, name: &str) -> bool {
    let mut names = HashSet::new();
    written_names(statement, &mut names);
    names.contains(name)
}

/// Adds the names of variables that a statement may change, or takes the addresses of.
pub(super) fn written_names(statement: &Node<Statement>, names: &mut HashSet<String>) {
    let mut add = |name: &str| {
        names.insert(name.to_owned());
    };
    Changes { add: &mut add }.visit_statement(&statement.node, &statement.span);
}

/// Counts how often each name is assigned to, or its address taken.
pub(super) fn count_writes(statement: &Node<Statement>, counts: &mut HashMap<String, usize>) {
    let mut add = |name: &str| *counts.entry(name.to_owned()).or_default() += 1;
    Changes { add: &mut add }.visit_statement(&statement.node, &statement.span);
}

/// The array that each round of a loop puts a handle into, at the index that counts the rounds.
struct Handles<'n> {
    index: &'n str,
    array: Option<String>,
    /// The names that the body declares.
    declared: Vec<String>,
    /// Some of the body may be jumped over.
    skips: bool,
}

impl Handles<'_> {
    fn round(&mut self, body: &Node<Statement>) {
        self.visit_statement(&body.node, &body.span);
        let items: Vec<&Node<Statement>> = match &body.node {
            Statement::Compound(items) => items
                .iter()
                .filter_map(|item| match &item.node {
                    BlockItem::Statement(statement) => Some(statement),
                    _ => None,
                })
                .collect(),
            _ => vec![body],
        };
        for item in items {
            match &item.node {
                Statement::Expression(Some(expression)) => self.always(&expression.node),
                Statement::If(branch) => self.always(&branch.node.condition.node),
                _ => {}
            }
        }
    }

    /// Looks through what is evaluated whenever the expression is.
    fn always(&mut self, expression: &Expression) {
        match expression {
            Expression::Call(call) => {
                let creates = matches!(&call.node.callee.node, Expression::Identifier(name)
                    if name.node.name == "pthread_create");
                if let (true, Some(handle)) = (creates, call.node.arguments.first()) {
                    self.handle(&handle.node);
                }
            }
            Expression::BinaryOperator(binary) => {
                self.always(&binary.node.lhs.node);
                let logical = matches!(
                    binary.node.operator.node,
                    BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
                );
                if !logical {
                    self.always(&binary.node.rhs.node);
                }
            }
            Expression::UnaryOperator(unary) => self.always(&unary.node.operand.node),
            Expression::Cast(cast) => self.always(&cast.node.expression.node),
            _ => {}
        }
    }

    /// `&array[index]` or `array + index`.
    fn handle(&mut self, expression: &Expression) {
        let (sum, operator) = match expression {
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Address =>
            {
                (&unary.node.operand.node, BinaryOperator::Index)
            }
            other => (other, BinaryOperator::Plus),
        };
        if let Expression::BinaryOperator(binary) = sum
            && binary.node.operator.node == operator
            && is_name(&binary.node.rhs.node, self.index)
            && let Expression::Identifier(array) = &binary.node.lhs.node
        {
            self.array = Some(array.node.name.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Handles<'_> {
    fn visit_statement(&mut self, node: &'ast Statement, span: &'ast Span) {
        // A label may be jumped to from elsewhere.
        self.skips |= matches!(
            node,
            Statement::Continue | Statement::Goto(_) | Statement::Labeled(_)
        );
        lang_c::visit::visit_statement(self, node, span);
    }

    fn visit_declarator(&mut self, node: &'ast lang_c::ast::Declarator, span: &'ast Span) {
        self.declared
            .extend(super::declare::name_of(node).map(str::to_owned));
        lang_c::visit::visit_declarator(self, node, span);
    }
}

/// Whether the address of a variable of a name is taken.
struct Addresses<'n> {
    name: &'n str,
    taken: bool,
}

impl<'ast> Visit<'ast> for Addresses<'_> {
    fn visit_unary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        self.taken |=
            node.operator.node == UnaryOperator::Address && is_name(&node.operand.node, self.name);
        lang_c::visit::visit_unary_operator_expression(self, node, span);
    }
}

struct Changes<'n> {
    add: &'n mut dyn FnMut(&str),
}

impl Changes<'_> {
    fn add(&mut self, expression: &Expression) {
        if let Expression::Identifier(name) = expression {
            (self.add)(&name.node.name);
        }
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_unary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        let writes = !matches!(
            node.operator.node,
            UnaryOperator::Indirection
                | UnaryOperator::Plus
                | UnaryOperator::Minus
                | UnaryOperator::Complement
                | UnaryOperator::Negate
        );
        if writes {
            self.add(&node.operand.node);
        }
        lang_c::visit::visit_unary_operator_expression(self, node, span);
    }

    fn visit_binary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::BinaryOperatorExpression,
        span: &'ast Span,
    ) {
        if super::assign::compound(&node.operator.node).is_some() {
            self.add(&node.lhs.node);
        }
        lang_c::visit::visit_binary_operator_expression(self, node, span);
    }
}

/// Whether a function's body may change a variable of this name, or takes its address.
pub(super) fn is_changed(statement: &Node<Statement>, name: &str) -> bool {
    changed(statement, name)
}
