//! Expressions of the program as expressions of the model.
//!
//! Promela knows integers only; our language tells truth values from integers. So every expression can be either: a number
//! as a truth value is `n != 0`, a truth value as a number counts how often it is true in a range of one value.
//! Results that may leave 32 bits, or the type they are stored in, are wrapped; intervals say where that is not needed.

use super::build::*;
use super::declared::Declared;
use super::ir::*;
use super::ranges::{INT, Interval, exact, within};
use crate::from_promela::syntax::{At, Binary};
use crate::front::source::Sources;
use std::collections::BTreeMap;
use threadwise_lang::program as model;
use threadwise_lang::program::{
    ArithOp, CompareOp, ExprKind, ExprType, FoldKind, LocationId, Place, Scalar, SharedId, Span,
    VarRef,
};

/// Parts of a condition that is written twice: nested ones would grow without bounds.
const MAX_CONDITION: usize = 1000;

/// From where variables of processes are seen.
#[derive(Clone, Debug)]
pub(super) enum View {
    /// From the process itself.
    Own(TemplateId),
    /// From program text of another process: the process has this id.
    Other(TemplateId, Term),
    /// From a property.
    Property(TemplateId, Term),
    /// From a property that speaks of no process in particular.
    Nobody,
}

impl View {
    pub(super) fn template(&self) -> Option<TemplateId> {
        match self {
            View::Own(t) | View::Other(t, _) | View::Property(t, _) => Some(*t),
            View::Nobody => None,
        }
    }
}

/// Which control states others can see, and by which number.
pub(super) type Tracked = BTreeMap<(TemplateId, NodeId), i64>;

/// The control states at which steps begin.
pub(super) type Locations = BTreeMap<(TemplateId, NodeId), LocationId>;

pub(super) struct Terms<'p> {
    pub program: &'p Program,
    pub declared: &'p Declared,
    pub tracked: &'p Tracked,
    /// Inside the definition of "nothing can be executed".
    pub no_timeout: bool,
    pub locations: &'p Locations,
    pub sources: &'p Sources,
}

impl Terms<'_> {
    /// A place of the original.
    pub(super) fn span(&self, at: At) -> Span {
        self.sources.span(at)
    }

    /// A process of the model's, of a template that has any.
    pub(super) fn template(&self, id: TemplateId) -> Result<model::TemplateId> {
        match self.declared.templates[id.0] {
            Some(id) => Ok(id),
            None => {
                let template = &self.program.templates[id.0];
                let message = format!("`{}`, of which there is no process", template.original);
                refuse(template.at, message, "start one")
            }
        }
    }

    /// The id of the process of a view.
    pub(super) fn pid(&self, view: &View) -> Term {
        match view {
            View::Own(t) => match (&self.program.templates[t.0], self.declared.templates[t.0]) {
                (template, Some(id)) if !template.single() => Term::own(id, NOWHERE),
                (template, _) => int(template.pids.0),
            },
            View::Other(_, id) | View::Property(_, id) => id.clone(),
            View::Nobody => int(0),
        }
    }

    /// A process of a template as others see it: the only one, or the bound one.
    pub(super) fn some_pid(&self, id: TemplateId, bound_id: model::BoundId) -> Term {
        let template = &self.program.templates[id.0];
        match self.declared.templates[id.0] {
            Some(id) if !template.single() => {
                Term::new(ExprKind::Bound(bound_id), ExprType::Id(id), NOWHERE)
            }
            _ => int(template.pids.0),
        }
    }

    /// How a property names the process of a view.
    pub(super) fn process(&self, id: TemplateId, pid: Term) -> Option<Term> {
        (!self.program.templates[id.0].single()).then_some(pid)
    }

    /// Whether the process of a view has been started and is not gone.
    pub(super) fn is_there(&self, id: TemplateId, view: &View) -> Term {
        if !self.program.templates[id.0].run {
            truth(true)
        } else if self.program.ambiguous {
            self.value(self.of_process(self.declared.on[id.0], view))
        } else {
            greater(self.global(self.declared.nr_pr), self.pid(view))
        }
    }

    /// A shared variable that belongs to the process of the view.
    pub(super) fn of_process(&self, var: SharedId, view: &View) -> Place {
        let template = view
            .template()
            .filter(|t| !self.program.templates[t.0].single());
        let id = template.and_then(|t| self.declared.templates[t.0]);
        let indices = id
            .map(|id| self.pid(view).coerced(ExprType::Id(id)))
            .into_iter();
        self.shared(var, indices.collect())
    }

    pub(super) fn shared(&self, var: SharedId, indices: Vec<Term>) -> Place {
        Place {
            var: VarRef::Shared(var),
            indices,
            span: NOWHERE,
        }
    }

    /// A scalar that all share, read.
    pub(super) fn global(&self, var: SharedId) -> Term {
        self.value(self.shared(var, Vec::new()))
    }

    /// A variable of the original that all share.
    pub(super) fn shared_var(&self, var: VarId) -> Result<SharedId> {
        match self.declared.vars[var.0] {
            Some(VarRef::Shared(id)) => Ok(id),
            _ => {
                let var = &self.program.vars[var.0];
                let message = format!("`{}`, which nothing uses", var.name);
                refuse(var.at, message, "leave it out")
            }
        }
    }

    /// The value of a shared cell.
    pub(super) fn value(&self, place: Place) -> Term {
        let ty = match place.var {
            VarRef::Shared(id) => match self.declared.model.shared[id].scalar {
                Scalar::Bool => ExprType::Bool,
                _ => ExprType::Int,
            },
            VarRef::Local(_) => ExprType::Int,
        };
        Term::new(ExprKind::Read(place), ty, NOWHERE)
    }

    /// A cell that the process of the view itself writes.
    pub(super) fn target(&self, cell: &Cell, view: &View) -> Result<Place> {
        match self.cell(cell, view)?.kind {
            ExprKind::Read(place) => Ok(place),
            _ => refuse(
                cell.at,
                "an assignment to a variable of another process",
                "make it global",
            ),
        }
    }

    /// A cell, read.
    pub(super) fn cell(&self, cell: &Cell, view: &View) -> Result<Term> {
        let var = &self.program.vars[cell.var.0];
        let ty = match var.boolean {
            true => ExprType::Bool,
            false => ExprType::Int,
        };
        let mut indices = Vec::new();
        let own = match (var.owner, view, self.declared.vars[cell.var.0]) {
            (None, _, Some(own)) | (Some(_), View::Own(_), Some(own @ VarRef::Local(_))) => own,
            (Some(_), _, Some(VarRef::Shared(id))) => {
                indices = self.of_process(id, view).indices;
                VarRef::Shared(id)
            }
            (Some(t), View::Property(_, id), Some(VarRef::Local(var))) => {
                let template = self.template(t)?;
                let process = self.process(t, id.clone());
                let kind = ExprKind::Remote {
                    template,
                    process: process.map(|id| Box::new(id.coerced(ExprType::Id(template)))),
                    var,
                    indices: self.indices(cell, view)?,
                };
                return Ok(Term::new(kind, ty, NOWHERE));
            }
            _ if pid_only(&var.initial) => return self.stored(cell.var, &var.initial, view),
            _ => {
                return refuse(
                    cell.at,
                    "a local variable that other processes would have to see",
                    "make it global",
                );
            }
        };
        indices.extend(self.indices(cell, view)?);
        let place = Place {
            var: own,
            indices,
            span: NOWHERE,
        };
        Ok(Term::new(ExprKind::Read(place), ty, NOWHERE))
    }

    fn indices(&self, cell: &Cell, view: &View) -> Result<Vec<Term>> {
        let indices = cell.indices.iter();
        indices
            .map(|index| Ok(self.number(index, view)?.coerced(ExprType::Int)))
            .collect()
    }

    fn short(&self, term: Term, at: At) -> Result<Term> {
        if size(&term) > MAX_CONDITION {
            return refuse(
                at,
                "a conditional expression of this size",
                "use `if` instead",
            );
        }
        Ok(term)
    }

    /// A truth value as a number.
    pub(super) fn counted(&self, term: Term) -> Term {
        fold(FoldKind::Count, self.declared.once, range(0, 0), term)
    }

    pub(super) fn wrapped(&self, term: Term, value: Interval, kind: Interval) -> Term {
        if within(value, kind) {
            return term;
        }
        let (low, high) = kind;
        let size = high - low + 1;
        let from_low = match low {
            0 => term,
            1.. => minus(term, int(low)),
            _ => plus(term, int(-low)),
        };
        let mut result = modulo(from_low, size);
        if value.0 < low {
            result = modulo(plus(result, int(size)), size);
        }
        shifted(result, low)
    }

    /// An expression as a number.
    pub(super) fn number(&self, e: &Expr, view: &View) -> Result<Term> {
        let owner = view.template();
        Ok(match e {
            Expr::Num(n) => int(*n),
            Expr::Member(name, _) => {
                let mut members = self.program.members.iter();
                match members.position(|(n, ..)| n == name) {
                    Some(at) => call(self.declared.members[at], ExprType::Int),
                    None => int(e.number().unwrap_or(0)),
                }
            }
            Expr::Var(cell) => {
                let term = self.cell(cell, view)?;
                match self.program.vars[cell.var.0].boolean {
                    true => self.counted(term),
                    false => term,
                }
            }
            Expr::Chan(c) => self.channel_number(c, view)?,
            Expr::Pid(_) => self.pid(view),
            Expr::NrPr => self.global(self.declared.nr_pr),
            Expr::Length(c) => self.value(self.length(c, view)?),
            Expr::RemoteVar {
                template,
                index,
                cell,
                at,
            } if !self.program.vars[cell.var.0].boolean => {
                self.remote_variable(*template, index, cell, *at, view)?
            }
            Expr::Minus(inner) => {
                let (low, high) = self.program.interval(inner, owner);
                let term = self.number(inner, view)?.negative();
                self.wrapped(term, (-high, -low), INT)
            }
            Expr::Bin(op, a, b, at) if !self.program.truth(e) => {
                let ia = self.program.interval(a, owner);
                let ib = self.program.interval(b, owner);
                let (ta, tb) = (self.number(a, view)?, self.number(b, view)?);
                let plain = |op| ta.clone().arith(op, tb.clone());
                let term = match op {
                    Binary::Add => plain(ArithOp::Add),
                    Binary::Sub => plain(ArithOp::Sub),
                    Binary::Mul => plain(ArithOp::Mul),
                    Binary::Div => plain(ArithOp::Div),
                    Binary::Mod => plain(ArithOp::Rem),
                    _ => match (op, a.number()) {
                        // These may change sides, and a constant is simpler on the right.
                        (Binary::BitAnd | Binary::BitOr | Binary::BitXor, Some(mask)) => {
                            self.bits(*op, (&tb, ib), (&ta, ia), Some(mask), *at)?
                        }
                        _ => self.bits(*op, (&ta, ia), (&tb, ib), b.number(), *at)?,
                    },
                };
                self.wrapped(term, exact(*op, ia, ib), INT)
            }
            Expr::Cond(c, a, b, at) if !self.program.truth(e) => {
                if !is(&self.fails(a, view)?, false) || !is(&self.fails(b, view)?, false) {
                    return refuse(
                        *at,
                        "a conditional expression with an index, a division or a channel that may fail in a part that is not always evaluated",
                        "use `if` instead",
                    );
                }
                let (a, b) = (self.number(a, view)?, self.number(b, view)?);
                let c = self.short(self.truth(c, view)?, *at)?;
                let (yes, no) = (self.counted(c.clone()), self.counted(not(c)));
                plus(times(yes, a), times(no, b))
            }
            _ => {
                let term = self.truth(e, view)?;
                match term.kind {
                    ExprKind::Bool(value) => int(i64::from(value)),
                    _ => self.counted(term),
                }
            }
        })
    }

    /// An expression as a truth value.
    pub(super) fn truth(&self, e: &Expr, view: &View) -> Result<Term> {
        Ok(match e {
            Expr::Num(n) => truth(*n != 0),
            Expr::Var(cell) if self.program.vars[cell.var.0].boolean => self.cell(cell, view)?,
            Expr::RemoteVar {
                template,
                index,
                cell,
                at,
            } if self.program.vars[cell.var.0].boolean => {
                self.remote_variable(*template, index, cell, *at, view)?
            }
            Expr::RemoteLabel {
                template,
                index,
                label,
                at,
            } => self.remote_label(*template, index, label, *at, view)?,
            Expr::Timeout(_) if self.no_timeout => truth(false),
            Expr::Timeout(_) => call(self.declared.stuck, ExprType::Bool),
            Expr::Not(inner) => {
                let inner = self.truth(inner, view)?;
                match inner.kind {
                    ExprKind::Bool(value) => truth(!value),
                    _ => inner.negated(),
                }
            }
            Expr::Bin(op @ (Binary::And | Binary::Or), a, b, _) => {
                let list = self.chain(*op, [a, b], view)?;
                match op {
                    Binary::And => boolean(ExprKind::And(list)),
                    _ => boolean(ExprKind::Or(list)),
                }
            }
            Expr::Bin(op @ (Binary::Equal | Binary::NotEqual), a, b, _)
                if self.program.truth(a) && self.program.truth(b) =>
            {
                let same = *op == Binary::Equal;
                for (x, y) in [(a, b), (b, a)] {
                    if let Some(n) = x.number() {
                        return if (n != 0) == same {
                            self.truth(y, view)
                        } else {
                            self.truth(&Expr::Not(y.clone()), view)
                        };
                    }
                }
                let op = if same { CompareOp::Eq } else { CompareOp::Ne };
                self.truth(a, view)?.compare(op, self.truth(b, view)?)
            }
            Expr::Bin(op, a, b, _) if comparison(*op).is_some() => {
                let op = comparison(*op).unwrap_or(CompareOp::Eq);
                self.number(a, view)?.compare(op, self.number(b, view)?)
            }
            Expr::Cond(c, a, b, at) => {
                let c = self.short(self.truth(c, view)?, *at)?;
                let (a, b) = (self.truth(a, view)?, self.truth(b, view)?);
                let no = not(c.clone());
                c.and(a).or(no.and(b))
            }
            Expr::Full(c) => {
                self.buffered(c)?;
                is_number(self.living_length(c, view)?, self.class(c)?.capacity)
            }
            Expr::Empty(c) => {
                self.buffered(c)?;
                is_number(self.value(self.length(c, view)?), 0)
            }
            Expr::Poll {
                channel,
                random,
                patterns,
            } => {
                self.buffered(channel)?;
                self.receivable(channel, *random, patterns, true, view)?
            }
            _ => self.number(e, view)?.compare(CompareOp::Ne, int(0)),
        })
    }

    /// The operands of `a && b && c`, or of `a || b || c`.
    fn chain(&self, op: Binary, pair: [&Expr; 2], view: &View) -> Result<Vec<Term>> {
        let mut all = Vec::new();
        for e in pair {
            match e {
                Expr::Bin(same, a, b, _) if *same == op => {
                    all.extend(self.chain(op, [a, b], view)?)
                }
                _ => all.push(self.truth(e, view)?),
            }
        }
        Ok(all)
    }

    /// The process that `P[e]` or `P` means.
    fn remote_process(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        at: At,
    ) -> Result<i64> {
        let t = &self.program.templates[template.0];
        let id = match index {
            None => t.pids.0,
            Some(e) => match e.number() {
                Some(n) => n,
                None => {
                    return refuse(
                        at,
                        "a process that depends on a variable",
                        "write the pid as a constant",
                    );
                }
            },
        };
        if !t.present || id < t.pids.0 || id > t.pids.1 || self.program.ambiguous {
            return refuse(
                at,
                format!("this does not name one process of `{}`", t.original),
                format!("write its pid, between {} and {}", t.pids.0, t.pids.1),
            );
        }
        Ok(id)
    }

    /// Whether a process is at one of these locations.
    pub(super) fn at(&self, id: TemplateId, pid: Term, locations: Vec<LocationId>) -> Result<Term> {
        let (template, process) = (self.template(id)?, self.process(id, pid));
        Ok(Term::at(template, process, locations, NOWHERE))
    }

    /// `P[e]@label`.
    fn remote_label(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        label: &str,
        at: At,
        view: &View,
    ) -> Result<Term> {
        let id = self.remote_process(template, index, at)?;
        // In the text of a process: others are seen by what they share.
        if let View::Own(_) | View::Other(..) = view {
            return self.remote_in_text(label, (template, id, at), view);
        }
        let t = &self.program.templates[template.0];
        let here = |node: &Node| node.labels.iter().any(|l| l == label);
        let nodes = (0..t.nodes.len()).filter(|node| here(&t.nodes[*node]));
        let seen: Vec<LocationId> = nodes
            .filter_map(|node| self.locations.get(&(template, NodeId(node))).copied())
            .collect();
        match seen.as_slice() {
            [_] => {
                let there = self.at(template, int(id), seen)?;
                // Who is not there yet is at its first location.
                Ok(match t.run {
                    true => and(there, greater(self.global(self.declared.nr_pr), int(id))),
                    false => there,
                })
            }
            // The label is there, but no run ever gets to it.
            [] if t.marks.iter().any(|(mark, _)| mark == label) && !t.nodes.iter().any(here) => {
                Ok(truth(false))
            }
            _ => refuse(
                at,
                format!("no process of `{}` is ever seen at `{label}`", t.original),
                "put the label in front of a statement that takes a step, outside `atomic`",
            ),
        }
    }

    /// `P[e]:x`.
    fn remote_variable(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        cell: &Cell,
        at: At,
        view: &View,
    ) -> Result<Term> {
        let id = self.remote_process(template, index, at)?;
        if let View::Own(_) | View::Other(..) = view {
            return refuse(
                at,
                "a variable of another process in the text of a process",
                "make the variable global",
            );
        }
        let t = &self.program.templates[template.0];
        let var = &self.program.vars[cell.var.0];
        // For SPIN the variables of who is not there are zero.
        if (t.run || t.dies) && (var.initial.number() != Some(0) || var.list.is_some()) {
            return refuse(
                at,
                "a variable of a process that may not be there, and which begins with another value than zero",
                "use a global variable",
            );
        }
        self.cell(cell, &View::Property(template, int(id)))
    }

    /// `P[e]@label` in the text of another process.
    fn remote_in_text(
        &self,
        label: &str,
        (template, id, at): (TemplateId, i64, At),
        view: &View,
    ) -> Result<Term> {
        let t = &self.program.templates[template.0];
        // Within a step nobody says where it is itself.
        if view.template() == Some(template) {
            return refuse(
                at,
                format!("a label of `{}` in its own text", t.original),
                "let a global variable say where the process is",
            );
        }
        let mut seen = Vec::new();
        for (node, found) in t.nodes.iter().enumerate() {
            if !found.labels.iter().any(|l| l == label) {
                continue;
            }
            match self.is_at(template, NodeId(node), &View::Other(template, int(id))) {
                Some(there) => seen.push(there),
                None => {
                    return refuse(
                        at,
                        format!("the label `{label}`, which stands in a `d_step`"),
                        "put the label in front of a statement outside",
                    );
                }
            }
        }
        if seen.is_empty() && !t.marks.iter().any(|(mark, _)| mark == label) {
            return wrong(
                at,
                format!("`{}` has no label `{label}`", t.original),
                "name a label of the proctype",
            );
        }
        // If there is none, the label is there, but no run ever gets to it.
        Ok(or(seen))
    }

    /// Whether a process is at a control state that others see.
    pub(super) fn is_at(&self, template: TemplateId, node: NodeId, view: &View) -> Option<Term> {
        let number = *self.tracked.get(&(template, node))?;
        let place = self.of_process(self.declared.place[template.0], view);
        Some(is_number(self.value(place), number))
    }
}

/// A definition's value.
fn call(def: model::DefId, ty: ExprType) -> Term {
    Term::new(ExprKind::Call(def, Vec::new()), ty, NOWHERE)
}

/// How an operator compares numbers.
fn comparison(op: Binary) -> Option<CompareOp> {
    Some(match op {
        Binary::Equal => CompareOp::Eq,
        Binary::NotEqual => CompareOp::Ne,
        Binary::Less => CompareOp::Lt,
        Binary::LessEqual => CompareOp::Le,
        Binary::Greater => CompareOp::Gt,
        Binary::GreaterEqual => CompareOp::Ge,
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Mod
        | Binary::BitAnd
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::And
        | Binary::Or => return None,
    })
}

/// Whether an expression is made of numbers and the pid.
pub(super) fn pid_only(e: &Expr) -> bool {
    let mut only = true;
    e.walk(&mut |part| {
        only &= matches!(
            part,
            Expr::Num(_)
                | Expr::Member(..)
                | Expr::Pid(_)
                | Expr::Bin(..)
                | Expr::Minus(_)
                | Expr::Not(_)
        );
    });
    only
}
