//! Statements.

use lang_c::ast::{
    BlockItem, Expression, Label, LabeledStatement, Statement, SwitchStatement, UnaryOperator,
};
use lang_c::span::{Node, Span};

use super::super::ir::{self, Code, Compare, Expr, LabelId, Place, StatementKind, VarKind};
use super::super::parse::ATOMIC;
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{IntType, Type};
use super::{Builder, Exit, Exits, Jumps, Value};

impl<'a> Builder<'a> {
    pub(super) fn statement(&mut self, statement: &'a Node<Statement>) -> Built<()> {
        let at = self.place_of(statement);
        self.check_size(at)?;
        let mark = self.in_use;
        let times = self.times;
        if self.is_repeated(statement.span) {
            self.times = None;
        }
        let result = self.one_statement(statement, at);
        self.times = times;
        self.in_use = mark;
        result
    }

    /// Whether a `goto` of the function may lead back over this.
    fn is_repeated(&self, span: Span) -> bool {
        let within = |(begin, end): &(usize, usize)| *begin <= span.start && span.end <= *end;
        let frame = self.frames.last();
        frame.is_some_and(|frame| frame.repeated.iter().any(within))
    }

    /// Whether a `goto` leads into this from elsewhere in the function.
    pub(super) fn has_way_in(&self, span: Span) -> bool {
        let within = |other: &Span| span.start <= other.start && other.end <= span.end;
        let leads = self.frames.last().map(|frame| &frame.leads);
        leads.is_some_and(|leads| {
            let mut leads = leads.iter();
            leads.any(|(jump, label)| within(label) && !within(jump))
        })
    }

    /// Whether what nothing else leads to has to be read because a `goto` does.
    fn is_jumped_into(&self, span: Span) -> bool {
        !self.in_step && !self.in_exclusive && self.has_way_in(span)
    }

    fn one_statement(&mut self, statement: &'a Node<Statement>, at: At) -> Built<()> {
        match &statement.node {
            Statement::Labeled(labeled) => self.labeled(&labeled.node, at),
            Statement::Compound(items) => self.compound(items),
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(expression)) if self.in_templates => {
                self.one_step(at, &mut |builder| builder.effect(expression))
            }
            Statement::Expression(Some(expression)) => self.effect(expression),
            Statement::If(branch) => {
                let branch = &branch.node;
                let condition = self.condition(&branch.condition)?;
                if let Expr::Truth(truth) = condition {
                    let (yes, no) = (Some(&branch.then_statement), branch.else_statement.as_ref());
                    let (taken, other) = if truth { (yes, no) } else { (no, yes) };
                    if let Some(taken) = taken {
                        self.statement(taken)?;
                    }
                    return match other {
                        // Nothing else comes here.
                        Some(other) if self.is_jumped_into(other.span) => {
                            let after = self.new_label(None);
                            self.emit(at, StatementKind::Goto(after));
                            self.statement(other)?;
                            self.emit(at, StatementKind::Label(after));
                            Ok(())
                        }
                        _ => Ok(()),
                    };
                }
                let place = self.place_of(&branch.condition);
                let yes = self.block(|builder| builder.statement(&branch.then_statement))?;
                let no = match &branch.else_statement {
                    Some(other) => self.block(|builder| builder.statement(other))?,
                    None => Vec::new(),
                };
                self.emit(place, StatementKind::If(condition, yes, no));
                Ok(())
            }
            Statement::Switch(switch) => self.switch(&switch.node, at),
            Statement::While(node) => {
                let place = self.place_of(&node.node.expression);
                let outer = self.times.take();
                let condition = Some(&*node.node.expression);
                let result = self.repeat(condition, None, &node.node.statement, place, None);
                self.times = outer;
                result
            }
            Statement::DoWhile(node) => self.do_while(&node.node, at),
            Statement::For(node) => self.for_loop(&node.node, at),
            Statement::Goto(name) => {
                if self.in_step && !self.in_templates {
                    return unsupported(at, "a jump in a part that is one step", "use `if`");
                }
                let label = self.named_label(&name.node.name);
                self.frame()
                    .wanted
                    .insert(label, (name.node.name.clone(), at));
                self.emit(at, StatementKind::Goto(label));
                Ok(())
            }
            Statement::Continue => match self
                .frame()
                .jumps
                .iter()
                .rev()
                .find_map(|jumps| jumps.again)
            {
                Some(label) => {
                    self.emit(at, StatementKind::Goto(label));
                    Ok(())
                }
                None => malformed(at, "`continue` outside a loop", "remove it"),
            },
            Statement::Break => match self.frame().jumps.last().copied() {
                Some(Jumps { out: None, .. }) => {
                    self.emit(at, StatementKind::Break);
                    Ok(())
                }
                Some(Jumps {
                    out: Some(label), ..
                }) => {
                    self.emit(at, StatementKind::Goto(label));
                    Ok(())
                }
                None => malformed(at, "`break` outside a loop", "remove it"),
            },
            Statement::Return(value) => self.return_value(value.as_deref(), at),
            Statement::Asm(_) => unsupported(at, "inline assembly", "write it in C"),
        }
    }

    pub(super) fn named_label(&mut self, name: &str) -> LabelId {
        if let Some(label) = self.frame().labels.get(name) {
            return *label;
        }
        let label = self.new_label(Some(name.to_owned()));
        self.frame().labels.insert(name.to_owned(), label);
        label
    }

    fn labeled(&mut self, labeled: &'a LabeledStatement, at: At) -> Built<()> {
        match &labeled.label.node {
            Label::Identifier(name) if name.node.name == ATOMIC => {
                self.one_step(at, &mut |builder| builder.statement(&labeled.statement))
            }
            Label::Identifier(name) => {
                let label = self.named_label(&name.node.name);
                if !self.frame().met.insert(label) && !self.in_exclusive {
                    return malformed(at, "this label stands twice in its function", "rename one");
                }
                // A label that no `goto` names needs no place of its own.
                self.emit(at, StatementKind::Label(label));
                self.statement(&labeled.statement)
            }
            _ => {
                let help = "`case` may stand directly in the block of its `switch`";
                unsupported(at, "`case` within another statement", help)
            }
        }
    }

    /// A block with its own names.
    pub(super) fn compound(&mut self, items: &'a [Node<BlockItem>]) -> Built<()> {
        self.frame().scopes.push(std::collections::HashMap::new());
        let depth = self.frames.len();
        let result = self.items(items);
        if self.frames.len() == depth {
            self.frame().scopes.pop();
        }
        result
    }

    pub(super) fn items(&mut self, items: &'a [Node<BlockItem>]) -> Built<()> {
        let mut position = 0;
        while position < items.len() {
            let item = &items[position];
            position += 1;
            if calls(item, "__VERIFIER_atomic_begin") {
                let mut depth = 1;
                let end = items[position..].iter().position(|item| {
                    depth += i32::from(calls(item, "__VERIFIER_atomic_begin"));
                    depth -= i32::from(calls(item, "__VERIFIER_atomic_end"));
                    depth == 0
                });
                let at = self.place_of(item);
                let begin = self.functions.get("__VERIFIER_atomic_begin");
                if begin.or(self.functions.get("__VERIFIER_atomic_end")).is_some_and(|function| {
                    !matches!(&function.node.statement.node, Statement::Compound(items) if items.is_empty())
                }) {
                    let help = "declare it `extern`, without a body";
                    return unsupported(at, "an atomic part whose begin or end has a body", help);
                }
                let Some(end) = end else {
                    let help = "begin and end of an atomic part must stand in the same block";
                    return unsupported(at, "this atomic part does not end in its block", help);
                };
                let inner = &items[position..position + end];
                self.atomic_part(inner, at)?;
                position += end + 1;
                continue;
            }
            if calls(item, "__VERIFIER_atomic_end") && self.ends_early(&items[position..]) {
                return self.end_early(&items[position..], self.place_of(item));
            }
            self.item(item)?;
        }
        Ok(())
    }

    /// What stands between begin and end of an atomic part. Branches of it may end it and leave.
    fn atomic_part(&mut self, inner: &'a [Node<BlockItem>], at: At) -> Built<()> {
        let outer = self.frame().exits.take();
        let stretch = self.one_step_or_stretch(at, &mut |builder| {
            let frame = builder.frame();
            let depth = frame.jumps.len();
            frame.exits = Some(Exits {
                depth,
                found: Vec::new(),
            });
            builder.items(inner)
        })?;
        let exits = std::mem::replace(&mut self.frame().exits, outer);
        let exits = exits.map_or(Vec::new(), |exits| exits.found);
        if exits.is_empty() {
            return Ok(());
        }
        let after = self.new_label(None);
        self.emit(at, StatementKind::Goto(after));
        for exit in exits {
            self.emit(exit.at, StatementKind::Label(exit.label));
            if stretch {
                self.emit(exit.at, StatementKind::Exclusive(false));
            }
            let frame = self.frame();
            let scopes = std::mem::replace(&mut frame.scopes, exit.scopes);
            let jumps = std::mem::replace(&mut frame.jumps, exit.jumps);
            self.items(exit.rest)?;
            let frame = self.frame();
            frame.scopes = scopes;
            frame.jumps = jumps;
        }
        self.emit(at, StatementKind::Label(after));
        Ok(())
    }

    /// Whether what follows the end of the atomic part that is being read surely leaves it.
    fn ends_early(&self, rest: &[Node<BlockItem>]) -> bool {
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let Some(exits) = &frame.exits else {
            return false;
        };
        let Some(BlockItem::Statement(last)) = rest.last().map(|last| &last.node) else {
            return false;
        };
        let leaves = matches!(last.node, Statement::Return(_) | Statement::Goto(_));
        let turns = matches!(last.node, Statement::Break | Statement::Continue);
        // A loop or a `switch` in the part is not left by what belongs to it.
        match frame.jumps.len() == exits.depth {
            true => leaves || turns,
            false => leaves && rest.len() == 1,
        }
    }

    /// The end of an atomic part in a branch that leaves afterwards: what comes then is read when the part has been.
    fn end_early(&mut self, rest: &'a [Node<BlockItem>], at: At) -> Built<()> {
        let label = self.new_label(None);
        self.emit(at, StatementKind::Goto(label));
        let frame = self.frame();
        let exit = Exit {
            at,
            label,
            rest,
            scopes: frame.scopes.clone(),
            jumps: frame.jumps.clone(),
        };
        if let Some(exits) = &mut frame.exits {
            exits.found.push(exit);
        }
        Ok(())
    }

    pub(super) fn item(&mut self, item: &'a Node<BlockItem>) -> Built<()> {
        match &item.node {
            BlockItem::Declaration(declaration) => {
                let (mark, times) = (self.in_use, self.times);
                if self.is_repeated(item.span) {
                    self.times = None;
                }
                let result = self.local(declaration);
                self.times = times;
                self.in_use = mark;
                result
            }
            BlockItem::StaticAssert(asserted) => self.static_assert(asserted),
            BlockItem::Statement(statement) => self.statement(statement),
        }
    }

    /// Does what an expression does, and forgets its value.
    pub(super) fn effect(&mut self, expression: &'a Node<Expression>) -> Built<()> {
        let at = self.place_of(expression);
        match &expression.node {
            Expression::UnaryOperator(unary) => match unary.node.operator.node {
                UnaryOperator::PostIncrement => self
                    .increment(&unary.node.operand, 1, false, at)
                    .map(|_| ()),
                UnaryOperator::PostDecrement => self
                    .increment(&unary.node.operand, -1, false, at)
                    .map(|_| ()),
                _ => self.effect_of_value(expression, at),
            },
            Expression::Comma(parts) => {
                for part in parts.iter() {
                    self.effect(part)?;
                }
                Ok(())
            }
            Expression::Cast(cast) => self.effect(&cast.node.expression),
            Expression::Call(call) => self.call(&call.node, false, at).map(|_| ()),
            Expression::Conditional(conditional) => {
                let node = &conditional.node;
                let value = self.rvalue(&node.condition)?;
                let condition = self.as_truth(value, at)?;
                let (yes, no) = (&node.then_expression, &node.else_expression);
                if let Expr::Truth(truth) = condition {
                    return self.effect(if truth { yes } else { no });
                }
                let yes = self.block(|builder| builder.effect(yes))?;
                let no = self.block(|builder| builder.effect(no))?;
                self.emit(at, StatementKind::If(condition, yes, no));
                Ok(())
            }
            _ => self.effect_of_value(expression, at),
        }
    }

    fn effect_of_value(&mut self, expression: &'a Node<Expression>, at: At) -> Built<()> {
        let value = self.rvalue(expression)?;
        // A value that is not used may still fail: a division, an index. What is stored, or given by a call, has been computed already.
        let computes = match &expression.node {
            Expression::BinaryOperator(binary) => {
                super::assign::compound(&binary.node.operator.node).is_none()
            }
            Expression::UnaryOperator(unary) => matches!(
                unary.node.operator.node,
                UnaryOperator::Minus
                    | UnaryOperator::Plus
                    | UnaryOperator::Complement
                    | UnaryOperator::Negate
                    | UnaryOperator::Indirection
            ),
            Expression::Member(_) => true,
            _ => false,
        };
        let value = match value {
            Value::Int(expr, ty) => Some((expr, ty)),
            Value::Truth(expr) => Some((expr, IntType::INT)),
            _ => None,
        };
        if let Some((expr, ty)) = value
            && computes
            && !expr.cannot_fail(&self.model)
        {
            let position = self.code.len();
            self.settle_at(position, expr, ty, at);
        }
        Ok(())
    }

    /// A condition. What it reads of shared variables may stay in it.
    pub(super) fn condition(&mut self, expression: &'a Node<Expression>) -> Built<Expr> {
        let at = self.place_of(expression);
        if self.in_templates {
            // The test is one step.
            let outer = std::mem::replace(&mut self.in_step, true);
            let position = self.code.len();
            let truth = self.truth_of(expression);
            self.in_step = outer;
            let acts = self.code[position..]
                .iter()
                .any(|statement| self.is_step(statement));
            return match acts {
                true => unsupported(at, "a condition that does something", "do it before"),
                false => truth,
            };
        }
        let truth = self.truth_of(expression)?;
        Ok(match self.guarded && !self.in_step && !self.in_exclusive {
            true => self.settle(truth, IntType::INT, at),
            false => truth,
        })
    }

    pub(super) fn truth_of(&mut self, expression: &'a Node<Expression>) -> Built<Expr> {
        let at = self.place_of(expression);
        match &expression.node {
            // Which number it is does not matter.
            Expression::Call(call) if self.calls_arbitrary(&call.node) => {
                let variable = self.temporary(VarKind::Truth, at);
                self.emit(at, StatementKind::Havoc(Place::of(variable)));
                Ok(Expr::load(variable))
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Negate =>
            {
                Ok(self.truth_of(&unary.node.operand)?.not())
            }
            _ => {
                let value = self.rvalue(expression)?;
                self.as_truth(value, at)
            }
        }
    }

    fn return_value(&mut self, value: Option<&'a Node<Expression>>, at: At) -> Built<()> {
        let result = self.frame().result.clone();
        match value {
            None => {}
            Some(value) => {
                let place = self.place_of(value);
                match result {
                    Type::Int(int) => {
                        let value = self.rvalue(value)?;
                        let variable = self.result_variable(int, at);
                        let part = super::Part {
                            ty: Type::Int(int.plain()),
                            object: std::rc::Rc::new(super::Object::Variable(variable)),
                            indices: Vec::new(),
                        };
                        self.store(&part, value, place)?;
                    }
                    // What a thread returns is not used; see `pthread_join`.
                    Type::Pointer(_) if self.frames.len() == 1 => {
                        self.effect(value)?;
                    }
                    Type::Void => {
                        self.effect(value)?;
                    }
                    _ => {
                        return unsupported(
                            at,
                            "a function that returns this",
                            "return an integer",
                        );
                    }
                }
            }
        }
        let end = self.frame().end;
        self.emit(at, StatementKind::Goto(end));
        Ok(())
    }

    pub(super) fn result_variable(&mut self, ty: IntType, at: At) -> ir::VarId {
        if let Some(variable) = self.frame().variable {
            return variable;
        }
        let function = self.frame().function;
        let key = (self.process, function, usize::MAX);
        let variable = match self
            .locals
            .get(&key)
            .map(|part| std::rc::Rc::clone(&part.object))
        {
            Some(object) => match *object {
                super::Object::Variable(variable) => variable,
                _ => self.local_variable("result", VarKind::Int(ty.plain()), at),
            },
            None => {
                let wish = format!("{function}_result");
                let variable = self.local_variable(&wish, VarKind::Int(ty.plain()), at);
                self.locals.insert(
                    key,
                    super::Part {
                        ty: Type::Int(ty.plain()),
                        object: std::rc::Rc::new(super::Object::Variable(variable)),
                        indices: Vec::new(),
                    },
                );
                variable
            }
        };
        self.frame().variable = Some(variable);
        variable
    }

    /// `({ .. })`: the value of its last statement.
    pub(super) fn statement_value(&mut self, statement: &'a Node<Statement>) -> Built<Value> {
        let at = self.place_of(statement);
        let Statement::Compound(items) = &statement.node else {
            self.statement(statement)?;
            return Ok(Value::Void);
        };
        let Some((last, before)) = items.split_last() else {
            return Ok(Value::Void);
        };
        self.frame().scopes.push(std::collections::HashMap::new());
        self.items(before)?;
        let value = match &last.node {
            BlockItem::Statement(Node {
                node: Statement::Expression(Some(expression)),
                ..
            }) => self.rvalue(expression)?,
            _ => {
                self.item(last)?;
                Value::Void
            }
        };
        // Its variables end here, so the value must not be one of them.
        let value = match value {
            Value::Int(expr, ty) => {
                let position = self.code.len();
                Value::Int(self.settle_at(position, expr, ty, at), ty)
            }
            other => other,
        };
        self.frame().scopes.pop();
        Ok(value)
    }

    fn switch(&mut self, switch: &'a SwitchStatement, at: At) -> Built<()> {
        let value = self.rvalue(&switch.expression)?;
        let (expr, ty) = self.as_int(value, at)?;
        let ty = ty.promoted();
        let simple = matches!(&expr, Expr::Number(_))
            || matches!(&expr, Expr::Load(place) if place.indices.is_empty() && !self.model.is_shared(place.var));
        let selector = match simple {
            true => expr,
            false => {
                let position = self.code.len();
                self.settle_at(position, expr, ty, at)
            }
        };
        let Statement::Compound(items) = &switch.statement.node else {
            return unsupported(
                at,
                "a `switch` without a block",
                "write `switch (e) { .. }`",
            );
        };
        let mut cases = std::collections::BTreeSet::new();
        let end = self.new_label(None);
        self.frame().scopes.push(std::collections::HashMap::new());
        self.frame().jumps.push(Jumps {
            out: Some(end),
            again: None,
        });
        // Groups of statements, each with the values that lead to it.
        let mut groups: Vec<(Option<Expr>, bool, Code)> = Vec::new();
        for item in items {
            let mut item_statement = match &item.node {
                BlockItem::Statement(statement) => Some(statement),
                _ => None,
            };
            let mut condition: Option<Expr> = None;
            let mut default = false;
            let mut is_case = false;
            while let Some(Node {
                node: Statement::Labeled(labeled),
                ..
            }) = item_statement
            {
                let test = match &labeled.node.label.node {
                    Label::Case(value) => {
                        let number = self.constant(value)?;
                        if !cases.insert(ir::wrapped(ty, number)) {
                            let at = self.place_of(value);
                            return malformed(
                                at,
                                "this case is there already",
                                "remove one of them",
                            );
                        }
                        Some(Expr::compare(
                            Compare::Eq,
                            selector.clone(),
                            Expr::Number(ir::wrapped(ty, number)),
                        ))
                    }
                    Label::CaseRange(range) => {
                        let low = ir::wrapped(ty, self.constant(&range.node.low)?);
                        let high = ir::wrapped(ty, self.constant(&range.node.high)?);
                        let above = Expr::compare(Compare::Ge, selector.clone(), Expr::Number(low));
                        let below =
                            Expr::compare(Compare::Le, selector.clone(), Expr::Number(high));
                        Some(above.and(below))
                    }
                    Label::Default => {
                        default = true;
                        None
                    }
                    Label::Identifier(_) => break,
                };
                is_case = true;
                if let Some(test) = test {
                    condition = Some(match condition {
                        Some(before) => before.or(test),
                        None => test,
                    });
                }
                item_statement = Some(&labeled.node.statement);
            }
            if is_case {
                groups.push((condition, default, Vec::new()));
            }
            let code = self.block(|builder| match item_statement {
                Some(statement) => builder.statement(statement),
                None => builder.item(item),
            })?;
            match groups.last_mut() {
                Some((_, _, group)) => group.extend(code),
                None if code.is_empty() => {}
                None => {
                    let place = self.place_of(item);
                    return unsupported(place, "a statement in front of all cases", "move it out");
                }
            }
        }
        self.frame().jumps.pop();
        self.frame().scopes.pop();
        self.write_switch(groups, end, at);
        self.emit(at, StatementKind::Label(end));
        Ok(())
    }

    /// Chains of `if` where each case leaves the switch, and jumps otherwise.
    fn write_switch(&mut self, groups: Vec<(Option<Expr>, bool, Code)>, end: LabelId, at: At) {
        let count = groups.len();
        let leaves = |position: usize, code: &Code| {
            position + 1 == count
                || matches!(
                    code.last().map(|last| &last.kind),
                    Some(StatementKind::Goto(_))
                )
        };
        let chained = groups
            .iter()
            .enumerate()
            .all(|(position, (_, _, code))| leaves(position, code));
        if chained {
            let mut rest: Code = Vec::new();
            if let Some((_, _, code)) = groups.iter().find(|(_, default, _)| *default) {
                rest = code.clone();
            }
            for (condition, default, code) in groups.into_iter().rev() {
                if let (Some(condition), false) = (condition, default) {
                    let place = code.first().map_or(at, |first| first.at);
                    let kind = StatementKind::If(condition, code, rest);
                    rest = vec![ir::Statement { at: place, kind }];
                }
            }
            self.code.extend(rest);
            return;
        }
        let labels: Vec<LabelId> = groups.iter().map(|_| self.new_label(None)).collect();
        let mut otherwise = end;
        for ((condition, default, _), label) in groups.iter().zip(&labels) {
            if *default {
                otherwise = *label;
            }
            if let Some(condition) = condition {
                let jump = ir::Statement::new(at, StatementKind::Goto(*label));
                self.emit(
                    at,
                    StatementKind::If(condition.clone(), vec![jump], Vec::new()),
                );
            }
        }
        self.emit(at, StatementKind::Goto(otherwise));
        for ((_, _, code), label) in groups.into_iter().zip(labels) {
            self.emit(at, StatementKind::Label(label));
            self.code.extend(code);
        }
    }
}

/// Whether an item is a call of this function, and nothing else.
fn calls(item: &Node<BlockItem>, name: &str) -> bool {
    let BlockItem::Statement(Node {
        node: Statement::Expression(Some(expression)),
        ..
    }) = &item.node
    else {
        return false;
    };
    let Expression::Call(call) = &expression.node else {
        return false;
    };
    matches!(&call.node.callee.node, Expression::Identifier(callee) if callee.node.name == name)
}
