//! Calls of functions of the program, which are inlined, and parts that are one step.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lang_c::ast::{
    BlockItem, CallExpression, DeclaratorKind, DerivedDeclarator, Expression, FunctionDefinition,
    ParameterDeclaration, Statement,
};
use lang_c::span::{Node, Span};
use lang_c::visit::Visit;

use super::super::functions::{Gives, Known, function};
use super::super::ir::{self, Code, Expr, StatementKind, VarKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::tidy;
use super::super::types::{IntType, Type};
use super::declare::{Owner, name_of};
use super::jumps::Jumps;
use super::library::Call;
use super::{Binding, Builder, DEEPEST_CALLS, Frame, Part, Touched, Value};

impl<'a> Builder<'a> {
    /// A call, whose result is used or not.
    pub(super) fn call(&mut self, call: &'a CallExpression, used: bool, at: At) -> Built<Value> {
        let name = match &call.callee.node {
            Expression::Identifier(name) if self.lookup(&name.node.name).is_none() => {
                name.node.name.clone()
            }
            _ => match self.rvalue(&call.callee)? {
                Value::Function(name) => name,
                _ => {
                    return unsupported(
                        at,
                        "which function this calls is not known",
                        "call it by its name",
                    );
                }
            },
        };
        let known = Call {
            name: &name,
            arguments: &call.arguments,
            used,
            at,
        };
        if self.is_library(&name)
            && let Some(value) = self.library(known)?
        {
            return Ok(value);
        }
        let arguments = match self.functions.contains_key(name.as_str()) {
            true => self.arguments(&call.arguments)?,
            false => Vec::new(),
        };
        self.call_by_name(&name, arguments, at)
    }

    /// A call of a function of the program.
    pub(super) fn call_by_name(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
        at: At,
    ) -> Built<Value> {
        let Some((&known, &function)) = self.functions.get_key_value(name) else {
            let message = format!("the function `{name}` has no body and is not known");
            return unsupported(at, message, "write its body, or leave the call out");
        };
        if self.frames.iter().any(|frame| frame.function == known) {
            let message = format!("`{name}` calls itself");
            return unsupported(at, message, "functions are inlined; use a loop instead");
        }
        if self.frames.len() >= DEEPEST_CALLS {
            return unsupported(
                at,
                "functions call one another too deeply",
                "call less deeply",
            );
        }
        if known.starts_with("__VERIFIER_atomic_") {
            return self.atomic_function(known, function, arguments, at);
        }
        self.inline(known, function, arguments, at)
    }

    /// The values of arguments, from left to right. gcc goes from right to left, so nothing may depend on it.
    pub(super) fn arguments(&mut self, arguments: &'a [Node<Expression>]) -> Built<Vec<Value>> {
        let mut values: Vec<Value> = Vec::new();
        let mut before: Vec<Touched> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let at = self.place_of(argument);
            let start = self.code.len();
            let value = self.rvalue(argument)?;
            let touched = self.touched(start, &value);
            for other in &before {
                self.independent(other, &touched, at)?;
            }
            before.push(touched);
            let last = position + 1 == arguments.len();
            let acts = arguments[position + 1..].iter().any(acts);
            values.push(match value {
                Value::Int(expr, ty) if !last && acts => {
                    let end = self.code.len();
                    Value::Int(self.settle_at(end, expr, ty, at), ty)
                }
                Value::Int(expr, ty) if !last && !self.in_step => {
                    Value::Int(self.settle(expr, ty, at), ty)
                }
                Value::Truth(expr) if !last => {
                    let end = self.code.len();
                    Value::Truth(self.settle_at(end, expr, IntType::INT, at))
                }
                other => other,
            });
        }
        Ok(values)
    }

    /// A function whose body is one step.
    fn atomic_function(
        &mut self,
        name: &'a str,
        function: &'a Node<FunctionDefinition>,
        arguments: Vec<Value>,
        at: At,
    ) -> Built<Value> {
        // The arguments are read before the step.
        let mut settled = Vec::new();
        for argument in arguments {
            settled.push(match argument {
                Value::Int(expr, ty) => Value::Int(self.settle(expr, ty, at), ty),
                Value::Truth(expr) => Value::Truth(self.settle(expr, IntType::INT, at)),
                other => other,
            });
        }
        let mut value = Value::Void;
        self.one_step(at, &mut |builder| {
            let result = builder.inline(name, function, settled.clone(), at)?;
            // The result is read in the same step.
            value = match result {
                Value::Int(expr, ty) => {
                    let end = builder.code.len();
                    Value::Int(builder.settle_at(end, expr, ty, at), ty)
                }
                Value::Truth(expr) => {
                    let end = builder.code.len();
                    Value::Truth(builder.settle_at(end, expr, IntType::INT, at))
                }
                other => other,
            };
            Ok(())
        })?;
        Ok(value)
    }

    /// The body of a function in the place of its call.
    pub(super) fn inline(
        &mut self,
        name: &'a str,
        function: &'a Node<FunctionDefinition>,
        arguments: Vec<Value>,
        at: At,
    ) -> Built<Value> {
        self.check_size(at)?;
        let place = self.place_of(function);
        let (base, _) = self.base_of(&function.node.specifiers, place)?;
        let result = self.result_type(base, function)?;
        let mut scope = HashMap::new();
        let parameters = parameters_of(function);
        if names_parameters(function) {
            let help = "write their types where they are listed";
            return unsupported(at, "a function whose parameters have no types", help);
        }
        if parameters.len() != arguments.len() && !parameters.is_empty() {
            let message = format!(
                "`{name}` has {} parameters, and {} arguments are given",
                parameters.len(),
                arguments.len()
            );
            return malformed(at, message, "give as many arguments as it has parameters");
        }
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            self.bind(name, function, parameter, argument, &mut scope, at)?;
        }
        let end = self.new_label(None);
        self.frames.push(Frame {
            function: name,
            scopes: vec![scope],
            result: result.clone(),
            end,
            variable: None,
            value: None,
            labels: HashMap::new(),
            wanted: HashMap::new(),
            met: HashSet::new(),
            jumps: Vec::new(),
            repeated: Vec::new(),
            leads: Vec::new(),
            exits: None,
        });
        let jumps = Jumps::of(&function.node.statement);
        if let Some((span, name)) = jumps.over() {
            let message =
                format!("a jump over the declaration of `{name}`, which has any value then");
            let help = "declare it in front of the jump, or put its uses into a block";
            return unsupported(self.places.at(span), message, help);
        }
        self.frame().repeated = jumps.repeated();
        self.frame().leads = jumps.leads();
        self.body(&function.node.statement)?;
        self.emit(at, StatementKind::Label(end));
        let Some(frame) = self.frames.pop() else {
            return Ok(Value::Void);
        };
        let missing = frame
            .wanted
            .iter()
            .filter(|(label, _)| !frame.met.contains(label));
        if let Some((_, (name, at))) = missing.min_by_key(|(_, (_, at))| at.start) {
            let message = format!("there is no label `{name}` that can be reached");
            return malformed(*at, message, "put the label into the same function");
        }
        Ok(match (frame.value, frame.variable, result) {
            (Some(value), _, _) => value,
            (None, Some(variable), Type::Int(int)) => Value::Int(Expr::load(variable), int.plain()),
            (None, None, Type::Int(int)) if !self.in_templates => {
                // It ends without `return`, so any value may come.
                self.arbitrary(int.plain(), at)
            }
            _ => Value::Void,
        })
    }

    fn result_type(&mut self, base: Type, function: &'a Node<FunctionDefinition>) -> Built<Type> {
        let mut ty = base;
        for derived in &function.node.declarator.node.derived {
            if let DerivedDeclarator::Pointer(_) = derived.node {
                ty = Type::Pointer(Box::new(ty));
            }
        }
        Ok(ty)
    }

    /// The body of a function; a `return` at its very end needs no jump.
    fn body(&mut self, statement: &'a Node<Statement>) -> Built<()> {
        let Statement::Compound(items) = &statement.node else {
            return self.statement(statement);
        };
        let Some((last, before)) = items.split_last() else {
            return Ok(());
        };
        let BlockItem::Statement(Node {
            node: Statement::Return(Some(value)),
            ..
        }) = &last.node
        else {
            return self.items(items);
        };
        self.items(before)?;
        let at = self.place_of(value);
        let (result, variable) = (self.frame().result.clone(), self.frame().variable);
        match (result, variable) {
            (Type::Int(int), None) => {
                let value = self.rvalue(value)?;
                let value = match value {
                    Value::Truth(truth) if int.bits >= 1 => Value::Truth(truth),
                    value => Value::Int(self.convert(value, int, at)?, int.plain()),
                };
                self.frame().value = Some(value);
                Ok(())
            }
            (Type::Pointer(_), None) if self.frames.len() > 1 => {
                let value = self.rvalue(value)?;
                let value = self.hold(value, at)?;
                self.frame().value = Some(value);
                Ok(())
            }
            _ => self.item(last),
        }
    }

    /// Gives a parameter its value.
    fn bind(
        &mut self,
        function_name: &'a str,
        function: &'a Node<FunctionDefinition>,
        parameter: &'a Node<ParameterDeclaration>,
        argument: Value,
        scope: &mut HashMap<String, Binding>,
        at: At,
    ) -> Built<()> {
        let place = self.place_of(parameter);
        let (base, _) = self.base_of(&parameter.node.specifiers, place)?;
        let Some(declarator) = &parameter.node.declarator else {
            return Ok(());
        };
        let ty = self.derived(base, &declarator.node)?;
        let Some(name) = name_of(&declarator.node) else {
            return Ok(());
        };
        let changes = super::loops::is_changed(&function.node.statement, name);
        let binding = match ty {
            Type::Int(int) => {
                let int = int.plain();
                let constant = match &argument {
                    Value::Int(Expr::Number(number), _) if !changes => Some(*number),
                    Value::Truth(Expr::Truth(truth)) if !changes => Some(i128::from(*truth)),
                    _ => None,
                };
                match constant {
                    Some(number) => {
                        let number = ir::wrapped(int, number);
                        Binding::Value(Value::Int(Expr::Number(number), int))
                    }
                    None => {
                        let part = self.own_part(
                            function_name,
                            name,
                            Type::Int(int),
                            parameter.span.start,
                            place,
                        )?;
                        self.store(&part, argument, at)?;
                        Binding::Object(part)
                    }
                }
            }
            Type::Pointer(_) | Type::Array(..) | Type::Function => {
                Binding::Value(self.hold(argument, at)?)
            }
            Type::Thread => {
                let (expr, ty) = self.as_int(argument, at)?;
                Binding::Value(self.hold(Value::Int(expr, ty), at)?)
            }
            Type::Struct(_) => {
                let part = self.own_part(function_name, name, ty, parameter.span.start, place)?;
                self.store(&part, argument, at)?;
                Binding::Object(part)
            }
            _ => {
                return unsupported(
                    place,
                    "a parameter of this type",
                    "use integers and pointers",
                );
            }
        };
        scope.insert(name.to_owned(), binding);
        Ok(())
    }

    /// An object of a function, which the process has once.
    fn own_part(
        &mut self,
        function: &'a str,
        name: &str,
        ty: Type,
        declared: usize,
        at: At,
    ) -> Built<Part> {
        let key = (self.process, function, declared);
        if let Some(part) = self.locals.get(&key) {
            return Ok(part.clone());
        }
        let wish = format!("{function}_{name}");
        let object = self.object(&ty, &wish, Owner::Process, at)?;
        let part = Part {
            ty,
            object: Rc::new(object),
            indices: Vec::new(),
        };
        self.locals.insert(key, part.clone());
        Ok(part)
    }

    /// Reads a part that is one step. Where it cannot be one, no other process moves from its beginning to its end.
    pub(super) fn one_step(
        &mut self,
        at: At,
        read: &mut dyn FnMut(&mut Self) -> Built<()>,
    ) -> Built<()> {
        self.one_step_or_stretch(at, read).map(|_| ())
    }

    /// The same, and whether it has become a stretch of steps.
    pub(super) fn one_step_or_stretch(
        &mut self,
        at: At,
        read: &mut dyn FnMut(&mut Self) -> Built<()>,
    ) -> Built<bool> {
        if self.in_step || self.in_exclusive {
            return read(self).map(|()| false);
        }
        let (frames, notes, mark) = (self.frames.len(), self.notes.len(), self.in_use);
        let (scopes, jumps) = match self.frames.last() {
            Some(frame) => (frame.scopes.len(), frame.jumps.len()),
            None => (0, 0),
        };
        let sites = self.threads.sites();
        self.in_step = true;
        let step = self.block(&mut *read);
        self.in_step = false;
        if let Ok(code) = step {
            let code = tidy::tidy(code, &self.model);
            let jumps = self.in_templates || leaves(&code, &self.exit_labels()).is_none();
            if sites == self.threads.sites() && is_one_step(&code, jumps, &self.model) {
                if !code.is_empty() {
                    self.emit(at, StatementKind::Atomic(code));
                }
                return Ok(false);
            }
        }
        // Again, as a stretch of steps.
        self.frames.truncate(frames);
        if let Some(frame) = self.frames.last_mut() {
            frame.scopes.truncate(scopes);
            frame.jumps.truncate(jumps);
        }
        self.notes.truncate(notes);
        self.threads.forget_since(sites);
        self.in_use = mark;
        self.in_exclusive = true;
        let code = self.block(&mut *read);
        self.in_exclusive = false;
        let code = tidy::tidy(code?, &self.model);
        if let Some(place) = leaves(&code, &self.exit_labels()) {
            let help = "an atomic part must be left at its end";
            return unsupported(place, "a jump out of an atomic part", help);
        }
        if self.model.exclusive.is_none() {
            let lock = self.shared_variable("atomic_part", VarKind::Mutex, Vec::new(), at);
            self.model.exclusive = Some(lock);
        }
        self.emit(at, StatementKind::Exclusive(true));
        self.code.extend(code);
        self.emit(at, StatementKind::Exclusive(false));
        Ok(true)
    }

    /// Where branches go that end the atomic part themselves.
    fn exit_labels(&self) -> Vec<ir::LabelId> {
        let exits = self.frames.last().and_then(|frame| frame.exits.as_ref());
        let found = exits.into_iter().flat_map(|exits| &exits.found);
        found.map(|exit| exit.label).collect()
    }

    /// A message that something cannot be part of one step.
    pub(super) fn not_in_step(&self, at: At) -> Built<()> {
        match self.in_step {
            true => unsupported(
                at,
                "this cannot be part of one step",
                "move it out of the atomic part",
            ),
            false => Ok(()),
        }
    }
}

/// Whether code can be one step: nothing waits after something was done.
fn is_one_step(code: &[ir::Statement], jumps: bool, model: &ir::Model) -> bool {
    let mut left = false;
    ir::for_statements(code, &mut |statement| {
        left |= matches!(statement.kind, StatementKind::Goto(_))
    });
    (jumps || !left) && done_after(code, false, model).is_some()
}

/// Whether something may have been done when the code has run; `None` if it cannot be one step.
fn done_after(code: &[ir::Statement], mut done: bool, model: &ir::Model) -> Option<bool> {
    for statement in code {
        let mut fails = false;
        statement.for_expressions(&mut |expr| fails |= !expr.cannot_fail(model));
        match &statement.kind {
            StatementKind::Await(_) | StatementKind::Lock(_) if done => return None,
            StatementKind::Await(_) => done |= fails,
            StatementKind::Lock(_)
            | StatementKind::Unlock(_)
            | StatementKind::Assign(..)
            | StatementKind::Havoc(_)
            | StatementKind::Start(_)
            | StatementKind::Initialised(_)
            | StatementKind::Assert(..) => done = true,
            StatementKind::Goto(_) => return Some(done),
            StatementKind::If(_, yes, no) => {
                done |= fails;
                let (yes, no) = (done_after(yes, done, model)?, done_after(no, done, model)?);
                done = yes || no;
            }
            StatementKind::Choose(blocks) => {
                let mut any = done;
                for block in blocks {
                    any |= done_after(block, done, model)?;
                }
                done = any;
            }
            _ => return None,
        }
    }
    Some(done)
}

/// The place of a jump that leaves the code, if there is one; it may go to these labels.
fn leaves(code: &Code, exits: &[ir::LabelId]) -> Option<At> {
    let mut labels = exits.to_vec();
    ir::for_statements(code, &mut |statement| match &statement.kind {
        StatementKind::Label(label) | StatementKind::Loop { head: label, .. } => {
            labels.push(*label)
        }
        _ => {}
    });
    let mut found = None;
    ir::for_statements(code, &mut |statement| match &statement.kind {
        StatementKind::Goto(label) if !labels.contains(label) => found = Some(statement.at),
        StatementKind::Return => found = Some(statement.at),
        _ => {}
    });
    found.or_else(|| breaks(code))
}

/// The place of a `break` out of the code.
fn breaks(code: &[ir::Statement]) -> Option<At> {
    code.iter().find_map(|statement| match &statement.kind {
        StatementKind::Break => Some(statement.at),
        StatementKind::Loop { .. } => None,
        other => other.blocks().into_iter().find_map(|block| breaks(block)),
    })
}

/// Whether a function lists its parameters without types, as in old C.
fn names_parameters(function: &Node<FunctionDefinition>) -> bool {
    let derived = &function.node.declarator.node.derived;
    derived
        .iter()
        .any(|part| matches!(&part.node, DerivedDeclarator::KRFunction(names) if !names.is_empty()))
}

/// The parameters of a function; none for `(void)`.
pub(super) fn parameters_of(
    function: &Node<FunctionDefinition>,
) -> Vec<&Node<ParameterDeclaration>> {
    let mut declarator = &function.node.declarator.node;
    loop {
        for derived in &declarator.derived {
            if let DerivedDeclarator::Function(function) = &derived.node {
                let parameters = &function.node.parameters;
                let void = matches!(parameters.as_slice(), [one] if one.node.declarator.is_none()
                    && one.node.specifiers.iter().any(|specifier| matches!(&specifier.node,
                        lang_c::ast::DeclarationSpecifier::TypeSpecifier(specifier)
                            if specifier.node == lang_c::ast::TypeSpecifier::Void)));
                return match void {
                    true => Vec::new(),
                    false => parameters.iter().collect(),
                };
            }
        }
        match &declarator.kind.node {
            DeclaratorKind::Declarator(inner) => declarator = &inner.node,
            _ => return Vec::new(),
        }
    }
}

/// Whether an expression may do something.
pub(super) fn acts(expression: &Node<Expression>) -> bool {
    let mut effects = Effects::default();
    effects.visit_expression(&expression.node, &expression.span);
    effects.acts
}

/// Whether an expression that is printed may do something or fail, other than by asking for something that can only be printed.
pub(super) fn matters(expression: &Node<Expression>) -> bool {
    let mut effects = Effects {
        printed: true,
        ..Effects::default()
    };
    effects.visit_expression(&expression.node, &expression.span);
    effects.acts || effects.fails
}

#[derive(Default)]
struct Effects {
    printed: bool,
    acts: bool,
    fails: bool,
}

impl<'ast> Visit<'ast> for Effects {
    fn visit_call_expression(&mut self, call: &'ast CallExpression, span: &'ast Span) {
        let asks = matches!(&call.callee.node, Expression::Identifier(name)
        if function(&name.node.name).is_some_and(|function| {
            matches!(function.does, Known::Asked | Known::Left(Gives::Time))
        }));
        self.acts |= !(self.printed && asks);
        lang_c::visit::visit_call_expression(self, call, span);
    }

    fn visit_unary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        use lang_c::ast::UnaryOperator as Op;
        match node.operator.node {
            Op::PostIncrement | Op::PostDecrement | Op::PreIncrement | Op::PreDecrement => {
                self.acts = true;
            }
            Op::Minus | Op::Indirection => self.fails = true,
            Op::Address | Op::Plus | Op::Complement | Op::Negate => {}
        }
        lang_c::visit::visit_unary_operator_expression(self, node, span);
    }

    fn visit_binary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::BinaryOperatorExpression,
        span: &'ast Span,
    ) {
        use lang_c::ast::BinaryOperator as Op;
        self.acts |= super::assign::compound(&node.operator.node).is_some();
        self.fails |= matches!(
            node.operator.node,
            Op::Index
                | Op::Multiply
                | Op::Divide
                | Op::Modulo
                | Op::Plus
                | Op::Minus
                | Op::ShiftLeft
                | Op::ShiftRight
        );
        lang_c::visit::visit_binary_operator_expression(self, node, span);
    }

    fn visit_statement(&mut self, node: &'ast Statement, span: &'ast Span) {
        // `({ .. })`
        self.acts = true;
        lang_c::visit::visit_statement(self, node, span);
    }
}
