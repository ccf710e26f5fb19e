//! Which constructs of the table a program has, as far as its syntax tree tells.
//!
//! Every match here names all variants: a new one needs a row.

use std::collections::BTreeSet;

use super::table::Construct;
use crate::from_promela::syntax::{
    Binary, Declaration, Expr, ExprKind, Formula, FormulaKind, Initial, Pattern, Place, Promela,
    Statement, StatementKind, Type, Unary,
};

#[derive(Default)]
struct Met(BTreeSet<Construct>);

/// The constructs of a program.
pub(super) fn met(program: &Promela) -> BTreeSet<Construct> {
    let mut met = Met::default();
    for mtype in &program.mtypes {
        met.add(Construct::MtypeMembers);
        if mtype.set.is_some() {
            met.add(Construct::MtypeSet);
        }
    }
    for record in &program.records {
        met.add(Construct::Typedef);
        record
            .fields
            .iter()
            .for_each(|field| met.declaration(field));
    }
    program
        .globals
        .iter()
        .for_each(|global| met.declaration(global));
    for proctype in &program.proctypes {
        met.add(if proctype.is_init {
            Construct::Init
        } else {
            Construct::Proctype
        });
        if proctype.active.is_some() && !proctype.is_init {
            met.add(Construct::Active);
        }
        for parameter in &proctype.parameters {
            met.add(Construct::Parameter);
            met.declaration(parameter);
        }
        met.body(&proctype.body);
    }
    for claim in &program.claims {
        met.add(Construct::Never);
        met.body(&claim.body);
    }
    for ltl in &program.formulas {
        met.add(Construct::LtlUnit);
        met.formula(&ltl.formula);
    }
    met.0
}

impl Met {
    fn add(&mut self, construct: Construct) {
        self.0.insert(construct);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.kind(&declaration.kind);
        if declaration.hidden {
            self.add(Construct::Hidden);
        }
        if declaration.length.is_some() {
            self.add(Construct::Array);
        }
        match &declaration.initial {
            None => {}
            Some(Initial::Value(value)) => {
                self.add(Construct::InitialValue);
                self.expr(value);
            }
            Some(Initial::List(values)) => {
                self.add(Construct::InitialList);
                values.iter().for_each(|value| self.expr(value));
            }
            Some(Initial::Channel { capacity, fields }) => {
                self.add(Construct::ChannelInitial);
                if let ExprKind::Number(0) = capacity.kind {
                    self.add(Construct::Rendezvous);
                }
                fields.iter().for_each(|field| self.kind(field));
            }
        }
    }

    fn kind(&mut self, kind: &Type) {
        self.add(match kind {
            Type::Bit => Construct::Bit,
            Type::Bool => Construct::Bool,
            Type::Byte => Construct::Byte,
            Type::Pid => Construct::PidType,
            Type::Short => Construct::Short,
            Type::Int => Construct::Int,
            Type::Unsigned(_) => Construct::Unsigned,
            Type::Mtype(None) => Construct::MtypeType,
            Type::Mtype(Some(_)) => Construct::MtypeSet,
            Type::Chan => Construct::ChanType,
            Type::Record(_) => Construct::Typedef,
        });
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            for label in &statement.labels {
                self.add(Construct::Label);
                let special = [
                    ("end", Construct::EndLabel),
                    ("accept", Construct::AcceptLabel),
                    ("progress", Construct::ProgressLabel),
                ];
                for (prefix, construct) in special {
                    if label.text.starts_with(prefix) {
                        self.add(construct);
                    }
                }
            }
            self.statement(&statement.kind);
        }
    }

    fn statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Declare(declarations) => declarations
                .iter()
                .for_each(|declaration| self.declaration(declaration)),
            StatementKind::Assign(place, value) => {
                self.add(Construct::Assign);
                self.place(place);
                self.expr(value);
            }
            StatementKind::Add(place, _) => {
                self.add(Construct::Increment);
                self.place(place);
            }
            StatementKind::Test(value) => {
                self.add(Construct::Test);
                self.expr(value);
            }
            StatementKind::Assert(value) => {
                self.add(Construct::Assert);
                self.expr(value);
            }
            StatementKind::Print(values) => {
                self.add(Construct::Print);
                values.iter().for_each(|value| self.expr(value));
            }
            StatementKind::If(options) => {
                self.add(Construct::If);
                options.iter().for_each(|option| self.body(option));
            }
            StatementKind::Do(options) => {
                self.add(Construct::Do);
                options.iter().for_each(|option| self.body(option));
            }
            StatementKind::Else => self.add(Construct::Else),
            StatementKind::Break => self.add(Construct::Break),
            StatementKind::Goto(_) => self.add(Construct::Goto),
            StatementKind::Send {
                channel,
                sorted,
                values,
            } => {
                self.add(if *sorted {
                    Construct::SortedSend
                } else {
                    Construct::Send
                });
                self.place(channel);
                values.iter().for_each(|value| self.expr(value));
            }
            StatementKind::Receive {
                channel,
                random,
                copy,
                patterns,
            } => {
                self.add(match (random, copy) {
                    (false, false) => Construct::Receive,
                    (true, false) => Construct::RandomReceive,
                    (false, true) => Construct::CopyReceive,
                    (true, true) => Construct::RandomCopy,
                });
                self.place(channel);
                self.patterns(patterns);
            }
            StatementKind::Atomic(body) => {
                self.add(Construct::Atomic);
                self.body(body);
            }
            StatementKind::DStep(body) => {
                self.add(Construct::DStep);
                self.body(body);
            }
            StatementKind::Block(body) => {
                self.add(Construct::Block);
                self.body(body);
            }
            StatementKind::Unless(main, escape) => {
                self.add(Construct::Unless);
                self.body(main);
                self.body(escape);
            }
        }
    }

    fn patterns(&mut self, patterns: &[Pattern]) {
        for pattern in patterns {
            match pattern {
                Pattern::Store(place) => {
                    self.add(Construct::PatternVariable);
                    self.place(place);
                }
                Pattern::Equal(value) => {
                    let plain = matches!(value.kind, ExprKind::Number(_) | ExprKind::Member(_));
                    self.add(if plain {
                        Construct::PatternConstant
                    } else {
                        Construct::PatternEval
                    });
                    self.expr(value);
                }
                Pattern::Ignore => self.add(Construct::PatternIgnore),
            }
        }
    }

    fn place(&mut self, place: &Place) {
        self.add(Construct::Variable);
        for segment in &place.segments {
            if let Some(index) = &segment.index {
                self.expr(index);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(_) => self.add(Construct::Number),
            ExprKind::Member(_) => self.add(Construct::Member),
            ExprKind::Variable(place) => self.place(place),
            ExprKind::Unary(operator, inner) => {
                self.add(match operator {
                    Unary::Not => Construct::Not,
                    Unary::Minus => Construct::Minus,
                    Unary::Complement => Construct::Complement,
                });
                self.expr(inner);
            }
            ExprKind::Binary(operator, left, right) => {
                self.add(of_binary(*operator));
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(test, yes, no) => {
                self.add(Construct::Conditional);
                [test, yes, no].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Run { arguments, .. } => {
                self.add(Construct::Run);
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Length(channel) => self.asks(Construct::Length, channel),
            ExprKind::Full(channel) => self.asks(Construct::Full, channel),
            ExprKind::Empty(channel) => self.asks(Construct::Empty, channel),
            ExprKind::NotFull(channel) => self.asks(Construct::NotFull, channel),
            ExprKind::NotEmpty(channel) => self.asks(Construct::NotEmpty, channel),
            ExprKind::Poll {
                channel,
                random,
                patterns,
            } => {
                let construct = if *random {
                    Construct::RandomPoll
                } else {
                    Construct::Poll
                };
                self.asks(construct, channel);
                self.patterns(patterns);
            }
            ExprKind::Timeout => self.add(Construct::Timeout),
            ExprKind::NonProgress => self.add(Construct::NonProgress),
            ExprKind::Pid => self.add(Construct::Pid),
            ExprKind::NrPr => self.add(Construct::NrPr),
            ExprKind::Last => self.add(Construct::Last),
            ExprKind::Enabled(process) => {
                self.add(Construct::Enabled);
                self.expr(process);
            }
            ExprKind::PcValue(process) => {
                self.add(Construct::PcValue);
                self.expr(process);
            }
            ExprKind::RemoteLabel { index, .. } => {
                self.add(Construct::RemoteLabel);
                index.iter().for_each(|index| self.expr(index));
            }
            ExprKind::RemoteVariable { index, place, .. } => {
                self.add(Construct::RemoteVariable);
                index.iter().for_each(|index| self.expr(index));
                self.place(place);
            }
        }
    }

    fn asks(&mut self, construct: Construct, channel: &Place) {
        self.add(construct);
        self.place(channel);
    }

    fn formula(&mut self, formula: &Formula) {
        let (construct, parts): (_, Vec<&Formula>) = match &formula.kind {
            FormulaKind::Predicate(value) => {
                self.expr(value);
                (Construct::Predicate, Vec::new())
            }
            FormulaKind::Not(inner) => (Construct::NotFormula, vec![inner]),
            FormulaKind::Always(inner) => (Construct::Always, vec![inner]),
            FormulaKind::Eventually(inner) => (Construct::Eventually, vec![inner]),
            FormulaKind::Next(inner) => (Construct::Next, vec![inner]),
            FormulaKind::And(left, right) => (Construct::AndFormula, vec![left, right]),
            FormulaKind::Or(left, right) => (Construct::OrFormula, vec![left, right]),
            FormulaKind::Implies(left, right) => (Construct::Implies, vec![left, right]),
            FormulaKind::Equivalent(left, right) => (Construct::Equivalent, vec![left, right]),
            FormulaKind::Until(left, right) => (Construct::Until, vec![left, right]),
            FormulaKind::WeakUntil(left, right) => (Construct::WeakUntil, vec![left, right]),
            FormulaKind::Release(left, right) => (Construct::Release, vec![left, right]),
        };
        self.add(construct);
        parts.into_iter().for_each(|part| self.formula(part));
    }
}

fn of_binary(operator: Binary) -> Construct {
    match operator {
        Binary::Add => Construct::Add,
        Binary::Sub => Construct::Sub,
        Binary::Mul => Construct::Mul,
        Binary::Div => Construct::Div,
        Binary::Mod => Construct::Mod,
        Binary::BitAnd => Construct::BitAnd,
        Binary::BitOr => Construct::BitOr,
        Binary::BitXor => Construct::BitXor,
        Binary::ShiftLeft => Construct::ShiftLeft,
        Binary::ShiftRight => Construct::ShiftRight,
        Binary::And => Construct::And,
        Binary::Or => Construct::Or,
        Binary::Equal => Construct::Equal,
        Binary::NotEqual => Construct::NotEqual,
        Binary::Less => Construct::Less,
        Binary::LessEqual => Construct::LessEqual,
        Binary::Greater => Construct::Greater,
        Binary::GreaterEqual => Construct::GreaterEqual,
    }
}
