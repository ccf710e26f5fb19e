//! What a program exercises, read off the checked form.

use std::collections::BTreeSet;

use threadwise_lang::program::{
    ArithOp, Block, Domain, Expr, ExprKind, FoldKind, IdOrder, Initial, Instances, Place, Program,
    PropertyKind, Scalar, StmtKind, Variable,
};

/// Every kind of statement.
pub const STATEMENTS: &[&str] = &[
    "assign",
    "assign several",
    "cas",
    "swap",
    "fetch_add",
    "await",
    "assert",
    "skip",
    "stay",
    "havoc",
    "lock",
    "unlock",
    "start",
    "goto",
    "break",
    "return",
    "if",
    "else if",
    "choose",
    "choose in",
    "while",
    "loop",
    "for",
    "for with labels",
    "atomic",
    "macro",
];

/// Everything else that should occur now and then.
pub const OTHERS: &[&str] = &[
    "type bool",
    "type int",
    "type range",
    "type enum",
    "type id",
    "type optional id",
    "type mutex",
    "array over range",
    "array over enum",
    "array over ids",
    "array of two dimensions",
    "initial any",
    "local",
    "local array",
    "unordered",
    "ordered",
    "ring",
    "single",
    "dynamic",
    "quantifier over range",
    "quantifier over enum",
    "quantifier over ids",
    "forall",
    "exists",
    "count",
    "sum",
    "min over",
    "max over",
    "+",
    "-",
    "*",
    "/",
    "%",
    "min",
    "max",
    "negation",
    "and",
    "or",
    "implies",
    "iff",
    "not",
    "compare",
    "locked",
    "call",
    "own id",
    "id to number",
    "number to id",
    "optional id as id",
    "next or prev",
    "at",
    "remote",
    "invariant",
    "deadlock_free",
    "liveness",
];

/// What a program exercises.
#[derive(Default)]
pub struct Coverage {
    pub constructs: BTreeSet<String>,
    pub blocking_in_branch: bool,
}

/// What this program exercises.
pub fn of(program: &Program) -> Coverage {
    let mut coverage = Coverage::default();
    for var in &program.shared {
        coverage.variable(var);
    }
    for def in &program.defs {
        coverage.expr(&def.body);
    }
    for template in &program.templates {
        let form = match (&template.instances, template.order) {
            (Instances::Single, _) => "single",
            (Instances::Dynamic, _) => "dynamic",
            (_, IdOrder::Unordered) => "unordered",
            (_, IdOrder::Ordered) => "ordered",
            (_, IdOrder::Ring) => "ring",
        };
        coverage.note(form);
        for var in template.locals.iter().filter(|var| !var.loop_counter) {
            coverage.note("local");
            if !var.dims.is_empty() {
                coverage.note("local array");
            }
            coverage.variable(var);
        }
        coverage.block(&template.body, false);
    }
    for property in &program.properties {
        match &property.kind {
            PropertyKind::Invariant(expr) => {
                coverage.note("invariant");
                coverage.expr(expr);
            }
            PropertyKind::DeadlockFree => coverage.note("deadlock_free"),
            PropertyKind::Liveness { .. } => coverage.note("liveness"),
        }
    }
    coverage
}

impl Coverage {
    fn note(&mut self, construct: &str) {
        if !self.constructs.contains(construct) {
            self.constructs.insert(construct.to_owned());
        }
    }

    fn variable(&mut self, var: &Variable) {
        self.note(match var.scalar {
            Scalar::Bool => "type bool",
            Scalar::Int => "type int",
            Scalar::Range(..) => "type range",
            Scalar::Enum(_) => "type enum",
            Scalar::Id(_) => "type id",
            Scalar::OptId(_) => "type optional id",
            Scalar::Mutex => "type mutex",
        });
        for dim in &var.dims {
            self.note(match dim {
                Domain::Range(..) => "array over range",
                Domain::Enum(_) => "array over enum",
                Domain::Template(_) => "array over ids",
            });
        }
        if var.dims.len() == 2 {
            self.note("array of two dimensions");
        }
        match &var.initial {
            Initial::Any => self.note("initial any"),
            Initial::Value(expr) => self.expr(expr),
            Initial::Free => {}
        }
    }

    fn place(&mut self, place: &Place) {
        place.indices.iter().for_each(|e| self.expr(e));
    }

    fn block(&mut self, block: &Block, in_branch: bool) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Assign(places, values) => {
                    self.note(if places.len() > 1 {
                        "assign several"
                    } else {
                        "assign"
                    });
                    places.iter().for_each(|p| self.place(p));
                    values.iter().for_each(|e| self.expr(e));
                }
                StmtKind::Cas {
                    result,
                    place,
                    old,
                    new,
                } => {
                    self.note("cas");
                    result.iter().for_each(|p| self.place(p));
                    self.place(place);
                    self.expr(old);
                    self.expr(new);
                }
                StmtKind::Swap {
                    result,
                    place,
                    value,
                } => {
                    self.note("swap");
                    result.iter().for_each(|p| self.place(p));
                    self.place(place);
                    self.expr(value);
                }
                StmtKind::FetchAdd {
                    result,
                    place,
                    amount,
                } => {
                    self.note("fetch_add");
                    result.iter().for_each(|p| self.place(p));
                    self.place(place);
                    self.expr(amount);
                }
                StmtKind::Await(e) => {
                    self.note("await");
                    self.blocking_in_branch |= in_branch;
                    self.expr(e);
                }
                StmtKind::Assert(e) => {
                    self.note("assert");
                    self.expr(e);
                }
                StmtKind::Skip => self.note("skip"),
                StmtKind::Stay => self.note("stay"),
                StmtKind::Havoc(places) => {
                    self.note("havoc");
                    places.iter().for_each(|p| self.place(p));
                }
                StmtKind::Lock(place) => {
                    self.note("lock");
                    self.blocking_in_branch |= in_branch;
                    self.place(place);
                }
                StmtKind::Unlock(place) => {
                    self.note("unlock");
                    self.place(place);
                }
                StmtKind::Start(_) => self.note("start"),
                StmtKind::Goto(_) => self.note("goto"),
                StmtKind::Break => self.note("break"),
                StmtKind::Return => self.note("return"),
                StmtKind::If(branches, otherwise) => {
                    self.note("if");
                    if branches.len() > 1 {
                        self.note("else if");
                    }
                    for (condition, body) in branches {
                        self.expr(condition);
                        self.block(body, self.in_step(body, in_branch));
                    }
                    self.block(otherwise, true);
                }
                StmtKind::Choose(blocks) => {
                    self.note("choose");
                    blocks
                        .iter()
                        .for_each(|b| self.block(b, self.in_step(b, in_branch)));
                }
                StmtKind::ChooseIn(_, domain, body) => {
                    self.note("choose in");
                    self.domain(domain);
                    self.block(body, true);
                }
                StmtKind::While(condition, body) => {
                    self.note("while");
                    self.expr(condition);
                    self.block(body, in_branch);
                }
                StmtKind::Loop(body) => {
                    self.note("loop");
                    self.block(body, in_branch);
                }
                StmtKind::For(_, domain, body) => {
                    self.note("for");
                    self.domain(domain);
                    self.block(body, in_branch);
                }
                StmtKind::ForLabelled(_, domain, body) => {
                    self.note("for with labels");
                    self.domain(domain);
                    self.block(body, in_branch);
                }
                StmtKind::Group { atomic, body } => {
                    self.note(if *atomic { "atomic" } else { "macro" });
                    self.block(body, in_branch);
                }
            }
        }
    }

    /// Whether a block continues the step in which it is chosen: it does not begin at a label.
    fn in_step(&self, block: &Block, _around: bool) -> bool {
        block.first().is_some_and(|stmt| stmt.label.is_none())
    }

    fn domain(&mut self, domain: &Domain) {
        self.note(match domain {
            Domain::Range(..) => "quantifier over range",
            Domain::Enum(_) => "quantifier over enum",
            Domain::Template(_) => "quantifier over ids",
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Member(_)
            | ExprKind::None
            | ExprKind::Param(_) => {}
            ExprKind::Bound(_) => {}
            ExprKind::Own => self.note("own id"),
            ExprKind::Read(place) => self.place(place),
            ExprKind::Locked(place) => {
                self.note("locked");
                self.place(place);
            }
            ExprKind::Remote {
                process, indices, ..
            } => {
                self.note("remote");
                process.iter().for_each(|e| self.expr(e));
                indices.iter().for_each(|e| self.expr(e));
            }
            ExprKind::At { process, .. } => {
                self.note("at");
                process.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Enabled { .. } | ExprKind::Taken { .. } => {}
            ExprKind::IntToId(e) => {
                self.note("number to id");
                self.expr(e);
            }
            ExprKind::IdToInt(e) => {
                self.note("id to number");
                self.expr(e);
            }
            ExprKind::IdToOpt(e) => self.expr(e),
            ExprKind::OptToId(e) => {
                self.note("optional id as id");
                self.expr(e);
            }
            ExprKind::Around { id, .. } => {
                self.note("next or prev");
                self.expr(id);
            }
            ExprKind::Not(e) => {
                self.note("not");
                self.expr(e);
            }
            ExprKind::Neg(e) => {
                self.note("negation");
                self.expr(e);
            }
            ExprKind::And(es) => {
                self.note("and");
                es.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Or(es) => {
                self.note("or");
                es.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Implies(a, b) => {
                self.note("implies");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Iff(a, b) => {
                self.note("iff");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Compare(_, a, b) => {
                self.note("compare");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Arith(op, a, b) => {
                self.note(match op {
                    ArithOp::Add => "+",
                    ArithOp::Sub => "-",
                    ArithOp::Mul => "*",
                    ArithOp::Div => "/",
                    ArithOp::Rem => "%",
                    ArithOp::Min => "min",
                    ArithOp::Max => "max",
                });
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Fold {
                kind, domain, body, ..
            } => {
                self.note(match kind {
                    FoldKind::Forall => "forall",
                    FoldKind::Exists => "exists",
                    FoldKind::Count => "count",
                    FoldKind::Sum => "sum",
                    FoldKind::Min => "min over",
                    FoldKind::Max => "max over",
                });
                self.domain(domain);
                self.expr(body);
            }
            ExprKind::Call(_, arguments) => {
                self.note("call");
                arguments.iter().for_each(|e| self.expr(e));
            }
        }
    }
}
