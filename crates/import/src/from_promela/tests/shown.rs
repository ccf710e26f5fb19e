//! The tree as text, fully parenthesised, to compare with. A local variable is followed by the number of its scope.

use std::fmt::Write as _;

use crate::from_promela::syntax::{
    Binary, Expr, ExprKind, Formula, FormulaKind, Pattern, Place, Statement, StatementKind, Unary,
};

pub(super) fn place(place: &Place) -> String {
    let mut out = String::new();
    for (number, segment) in place.segments.iter().enumerate() {
        let _ = write!(
            out,
            "{}{}",
            if number == 0 { "" } else { "." },
            segment.name.text
        );
        if let (0, Some(scope)) = (number, segment.scope) {
            let _ = write!(out, "'{scope}");
        }
        if let Some(index) = &segment.index {
            let _ = write!(out, "[{}]", expr(index));
        }
    }
    out
}

pub(super) fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Number(number) => number.to_string(),
        ExprKind::Member(name) => name.clone(),
        ExprKind::Variable(variable) => place(variable),
        ExprKind::Unary(operator, inner) => {
            let sign = match operator {
                Unary::Not => "!",
                Unary::Minus => "-",
                Unary::Complement => "~",
            };
            format!("{sign}{}", expr(inner))
        }
        ExprKind::Binary(operator, left, right) => {
            let sign = match operator {
                Binary::Add => "+",
                Binary::Sub => "-",
                Binary::Mul => "*",
                Binary::Div => "/",
                Binary::Mod => "%",
                Binary::BitAnd => "&",
                Binary::BitOr => "|",
                Binary::BitXor => "^",
                Binary::ShiftLeft => "<<",
                Binary::ShiftRight => ">>",
                Binary::And => "&&",
                Binary::Or => "||",
                Binary::Equal => "==",
                Binary::NotEqual => "!=",
                Binary::Less => "<",
                Binary::LessEqual => "<=",
                Binary::Greater => ">",
                Binary::GreaterEqual => ">=",
            };
            format!("({} {sign} {})", expr(left), expr(right))
        }
        ExprKind::Conditional(condition, yes, no) => {
            format!("({} -> {} : {})", expr(condition), expr(yes), expr(no))
        }
        ExprKind::Run { name, arguments } => format!("run {}({})", name.text, exprs(arguments)),
        ExprKind::Length(channel) => format!("len({})", place(channel)),
        ExprKind::Full(channel) => format!("full({})", place(channel)),
        ExprKind::Empty(channel) => format!("empty({})", place(channel)),
        ExprKind::NotFull(channel) => format!("nfull({})", place(channel)),
        ExprKind::NotEmpty(channel) => format!("nempty({})", place(channel)),
        ExprKind::Poll {
            channel,
            random,
            patterns,
        } => {
            format!(
                "{}{}[{}]",
                place(channel),
                if *random { "??" } else { "?" },
                all(patterns)
            )
        }
        ExprKind::Timeout => "timeout".to_string(),
        ExprKind::NonProgress => "np_".to_string(),
        ExprKind::Pid => "_pid".to_string(),
        ExprKind::NrPr => "_nr_pr".to_string(),
        ExprKind::Last => "_last".to_string(),
        ExprKind::Enabled(process) => format!("enabled({})", expr(process)),
        ExprKind::PcValue(process) => format!("pc_value({})", expr(process)),
        ExprKind::RemoteLabel {
            process,
            index,
            label,
        } => {
            let index = index
                .as_ref()
                .map_or(String::new(), |index| format!("[{}]", expr(index)));
            format!("{}{index}@{}", process.text, label.text)
        }
        ExprKind::RemoteVariable {
            process,
            index,
            place: variable,
        } => {
            let index = index
                .as_ref()
                .map_or(String::new(), |index| format!("[{}]", expr(index)));
            format!("{}{index}:{}", process.text, place(variable))
        }
    }
}

pub(super) fn exprs(values: &[Expr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn all(patterns: &[Pattern]) -> String {
    let one = |pattern: &Pattern| match pattern {
        Pattern::Store(variable) => place(variable),
        Pattern::Equal(value) => format!("={}", expr(value)),
        Pattern::Ignore => "_".to_string(),
    };
    patterns.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn statements(body: &[Statement]) -> String {
    body.iter().map(statement).collect::<Vec<_>>().join("; ")
}

fn statement(of: &Statement) -> String {
    let options = |options: &[Vec<Statement>]| {
        options
            .iter()
            .map(|option| format!(":: {}", statements(option)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let labels: String = of
        .labels
        .iter()
        .map(|label| format!("{}: ", label.text))
        .collect();
    let kind = match &of.kind {
        StatementKind::Declare(declarations) => {
            let names = declarations
                .iter()
                .map(|one| format!("{}'{}", one.name.text, one.scope))
                .collect::<Vec<_>>();
            format!("var {}", names.join(", "))
        }
        StatementKind::Assign(to, value) => format!("{} = {}", place(to), expr(value)),
        StatementKind::Add(to, by) => format!("{} += {by}", place(to)),
        StatementKind::Test(value) => expr(value),
        StatementKind::Assert(value) => format!("assert {}", expr(value)),
        StatementKind::Print(_) => "print".to_string(),
        StatementKind::If(all) => format!("if {} fi", options(all)),
        StatementKind::Do(all) => format!("do {} od", options(all)),
        StatementKind::Else => "else".to_string(),
        StatementKind::Break => "break".to_string(),
        StatementKind::Goto(label) => format!("goto {}", label.text),
        StatementKind::Send {
            channel,
            sorted,
            values,
        } => {
            format!(
                "{}{}{}",
                place(channel),
                if *sorted { "!!" } else { "!" },
                exprs(values)
            )
        }
        StatementKind::Receive {
            channel,
            random,
            copy,
            patterns,
        } => {
            let sign = if *random { "??" } else { "?" };
            let (open, close) = if *copy { ("<", ">") } else { ("", "") };
            format!("{}{sign}{open}{}{close}", place(channel), all(patterns))
        }
        StatementKind::Atomic(body) => format!("atomic {{ {} }}", statements(body)),
        StatementKind::DStep(body) => format!("d_step {{ {} }}", statements(body)),
        StatementKind::Block(body) => format!("{{ {} }}", statements(body)),
        StatementKind::Unless(main, escape) => {
            format!("({} unless {})", statements(main), statements(escape))
        }
    };
    labels + &kind
}

pub(super) fn formula(of: &Formula) -> String {
    let two = |left: &Formula, sign: &str, right: &Formula| {
        format!("({} {sign} {})", formula(left), formula(right))
    };
    match &of.kind {
        FormulaKind::Predicate(value) => format!("<{}>", expr(value)),
        FormulaKind::Not(inner) => format!("!{}", formula(inner)),
        FormulaKind::Always(inner) => format!("[]{}", formula(inner)),
        FormulaKind::Eventually(inner) => format!("<>{}", formula(inner)),
        FormulaKind::Next(inner) => format!("X{}", formula(inner)),
        FormulaKind::And(left, right) => two(left, "&&", right),
        FormulaKind::Or(left, right) => two(left, "||", right),
        FormulaKind::Implies(left, right) => two(left, "->", right),
        FormulaKind::Equivalent(left, right) => two(left, "<->", right),
        FormulaKind::Until(left, right) => two(left, "U", right),
        FormulaKind::WeakUntil(left, right) => two(left, "W", right),
        FormulaKind::Release(left, right) => two(left, "V", right),
    }
}
