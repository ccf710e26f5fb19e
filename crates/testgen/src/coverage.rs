//! What random programs exercise: the constructs of each, read off the checked form, and figures over many of
//! them that say whether a comparison on them is worth something.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_lang::program::{
    ArithOp, Block, Domain, Expr, ExprKind, FoldKind, IdOrder, Initial, Instances, Program,
    PropertyKind, Scalar, StmtKind, TemplateId, Variable,
};
use threadwise_lang::rounds;
use threadwise_model::instance::Instance;
use threadwise_model::optimise::Optimised;
use threadwise_model::symmetry::generators;
use threadwise_model::system::System;

/// Every kind of statement.
const STATEMENTS: &[&str] = &[
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
const OTHERS: &[&str] = &[
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
#[derive(Debug, Default)]
struct Coverage {
    constructs: BTreeSet<&'static str>,
    /// A step can block after a choice between branches.
    blocking_in_branch: bool,
}

impl Coverage {
    fn of(program: &Program) -> Coverage {
        let mut coverage = Coverage::default();
        for var in &program.shared {
            coverage.variable(var);
        }
        for def in &program.defs {
            coverage.expr(&def.body);
        }
        for template in &program.templates {
            coverage.note(match (&template.instances, template.order) {
                (Instances::Single, _) => "single",
                (Instances::Dynamic, _) => "dynamic",
                (_, IdOrder::Unordered) => "unordered",
                (_, IdOrder::Ordered) => "ordered",
                (_, IdOrder::Ring) => "ring",
            });
            for var in template.locals.iter().filter(|var| !var.loop_counter) {
                coverage.note("local");
                if !var.dims.is_empty() {
                    coverage.note("local array");
                }
                coverage.variable(var);
            }
            coverage.block(&template.body, false);
        }
        for predicate in &program.initially {
            coverage.note("initially");
            coverage.expr(predicate);
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

    fn note(&mut self, construct: &'static str) {
        self.constructs.insert(construct);
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
            Initial::Free | Initial::Given => {}
        }
    }

    fn block(&mut self, block: &Block, in_branch: bool) {
        for stmt in block {
            self.note(match &stmt.kind {
                StmtKind::Assign(places, _) if places.len() > 1 => "assign several",
                StmtKind::Assign(..) => "assign",
                StmtKind::Cas { .. } => "cas",
                StmtKind::Swap { .. } => "swap",
                StmtKind::FetchAdd { .. } => "fetch_add",
                StmtKind::Await(_) => "await",
                StmtKind::Assert(_) => "assert",
                StmtKind::Skip => "skip",
                StmtKind::Stay => "stay",
                StmtKind::Havoc(_) => "havoc",
                StmtKind::Lock(_) => "lock",
                StmtKind::Unlock(_) => "unlock",
                StmtKind::Start(..) => "start",
                StmtKind::Goto(_) => "goto",
                StmtKind::Break => "break",
                StmtKind::Return => "return",
                StmtKind::If(..) => "if",
                StmtKind::Choose(_) => "choose",
                StmtKind::ChooseIn(..) => "choose in",
                StmtKind::While(..) => "while",
                StmtKind::Loop(_) => "loop",
                StmtKind::For(..) => "for",
                StmtKind::ForLabelled(..) => "for with labels",
                StmtKind::Group { atomic: true, .. } => "atomic",
                StmtKind::Group { .. } => "macro",
            });
            match &stmt.kind {
                StmtKind::If(branches, _) if branches.len() > 1 => self.note("else if"),
                StmtKind::Await(_) | StmtKind::Lock(_) => self.blocking_in_branch |= in_branch,
                StmtKind::Start(_, values) if !values.is_empty() => {
                    self.note("start with arguments");
                }
                StmtKind::ChooseIn(_, domain, _)
                | StmtKind::For(_, domain, _)
                | StmtKind::ForLabelled(_, domain, _) => self.domain(domain),
                _ => {}
            }
            let parts = stmt.kind.parts();
            let indices = parts.places.iter().flat_map(|place| &place.indices);
            for expr in indices.chain(parts.exprs) {
                self.expr(expr);
                // Program text asks where processes are in no other way.
                let mut asks = false;
                expr.walk(&mut |part| asks |= matches!(part.kind, ExprKind::At { .. }));
                if asks {
                    self.note("ended");
                }
            }
            for inner in parts.blocks {
                let in_branch = match &stmt.kind {
                    // A branch that begins at a label is a step of its own.
                    StmtKind::If(..) | StmtKind::Choose(_) | StmtKind::ChooseIn(..) => {
                        inner.first().is_some_and(|first| first.label.is_none())
                    }
                    _ => in_branch,
                };
                self.block(inner, in_branch);
            }
        }
    }

    fn domain(&mut self, domain: &Domain) {
        self.note(match domain {
            Domain::Range(..) => "quantifier over range",
            Domain::Enum(_) => "quantifier over enum",
            Domain::Template(_) => "quantifier over ids",
        });
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let ExprKind::Fold { domain, .. } = &part.kind {
                self.domain(domain);
            }
            self.constructs.extend(name_of(&part.kind));
        });
    }
}

/// What an expression is called in the lists above, if it is in them.
fn name_of(kind: &ExprKind) -> Option<&'static str> {
    Some(match kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Member(_)
        | ExprKind::None
        | ExprKind::Param(_)
        | ExprKind::Bound(_)
        | ExprKind::Read(_)
        | ExprKind::IdToOpt(_)
        | ExprKind::Enabled { .. }
        | ExprKind::Taken { .. } => return None,
        ExprKind::Own => "own id",
        ExprKind::Locked(_) => "locked",
        ExprKind::Remote { .. } => "remote",
        ExprKind::At { .. } => "at",
        ExprKind::IntToId(_) => "number to id",
        ExprKind::IdToInt(_) => "id to number",
        ExprKind::OptToId(_) => "optional id as id",
        ExprKind::Around { .. } => "next or prev",
        ExprKind::Not(_) => "not",
        ExprKind::Neg(_) => "negation",
        ExprKind::And(_) => "and",
        ExprKind::Or(_) => "or",
        ExprKind::Implies(..) => "implies",
        ExprKind::Iff(..) => "iff",
        ExprKind::Compare(..) => "compare",
        ExprKind::Arith(op, ..) => match op {
            ArithOp::Add => "+",
            ArithOp::Sub => "-",
            ArithOp::Mul => "*",
            ArithOp::Div => "/",
            ArithOp::Rem => "%",
            ArithOp::Min => "min",
            ArithOp::Max => "max",
        },
        ExprKind::Fold { kind, .. } => match kind {
            FoldKind::Forall => "forall",
            FoldKind::Exists => "exists",
            FoldKind::Count => "count",
            FoldKind::Sum => "sum",
            FoldKind::Min => "min over",
            FoldKind::Max => "max over",
        },
        ExprKind::Call(..) => "call",
    })
}

/// What the loops of a program are like whose rounds do not influence one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForEverybody {
    /// Over templates whose ids have no order.
    pub unordered: usize,
    /// Over others.
    pub ordered: usize,
    /// With an `if` inside.
    pub conditional: usize,
    /// With a loop inside.
    pub nested: usize,
    /// With an `assert` inside.
    pub asserting: usize,
    /// Loops over processes whose rounds may influence one another.
    pub dependent: usize,
}

impl ForEverybody {
    /// The loops of a program.
    pub fn of(program: &Program) -> ForEverybody {
        let mut found = ForEverybody::default();
        for (own, template) in program.templates.iter_enumerated() {
            found.block(program, own, &template.body);
        }
        found
    }

    /// Adds what another program has.
    pub fn add(&mut self, other: &ForEverybody) {
        self.unordered += other.unordered;
        self.ordered += other.ordered;
        self.conditional += other.conditional;
        self.nested += other.nested;
        self.asserting += other.asserting;
        self.dependent += other.dependent;
    }

    fn block(&mut self, program: &Program, own: TemplateId, block: &Block) {
        for stmt in block {
            if let StmtKind::For(bound, Domain::Template(over), body) = &stmt.kind {
                let independent = rounds::independent(program, own, *bound, *over, body).is_ok();
                let unordered = program.templates[*over].order == IdOrder::Unordered;
                self.dependent += usize::from(!independent);
                self.unordered += usize::from(independent && unordered);
                self.ordered += usize::from(independent && !unordered);
                if independent {
                    let has = |wanted: fn(&StmtKind) -> bool| usize::from(contains(body, wanted));
                    self.conditional += has(|kind| matches!(kind, StmtKind::If(..)));
                    self.nested += has(|kind| matches!(kind, StmtKind::For(..)));
                    self.asserting += has(|kind| matches!(kind, StmtKind::Assert(_)));
                }
            }
            for inner in stmt.kind.parts().blocks {
                self.block(program, own, inner);
            }
        }
    }
}

/// Whether a block contains a statement, at any depth.
fn contains(block: &Block, wanted: fn(&StmtKind) -> bool) -> bool {
    block.iter().any(|stmt| {
        let parts = stmt.kind.parts();
        wanted(&stmt.kind) || parts.blocks.iter().any(|inner| contains(inner, wanted))
    })
}

/// What is to be known of a program beside how the forms of it compare.
#[derive(Debug)]
pub struct Sample {
    coverage: Coverage,
    states: u64,
    violated: bool,
    symmetric: bool,
    discharging: bool,
}

impl Sample {
    /// A program of which so many states were compared; whether a property of it is violated.
    pub fn new(instance: &Instance, system: &System, states: u64, violated: bool) -> Sample {
        let mut properties = system.properties.iter();
        Sample {
            coverage: Coverage::of(instance.program()),
            states,
            violated,
            symmetric: properties.any(|property| !generators(system, property).is_empty()),
            discharging: !Optimised::new(system).claims().discharged.is_empty(),
        }
    }
}

/// Figures over many programs.
#[derive(Debug, Default)]
pub struct Quality {
    constructs: BTreeMap<&'static str, usize>,
    states: Vec<u64>,
    violated: usize,
    blocking_in_branches: usize,
    symmetric: usize,
    discharging: usize,
}

impl Quality {
    /// The figures of these programs.
    pub fn of(samples: impl IntoIterator<Item = Sample>) -> Quality {
        let mut quality = Quality::default();
        for sample in samples {
            for construct in sample.coverage.constructs {
                *quality.constructs.entry(construct).or_default() += 1;
            }
            quality.states.push(sample.states);
            quality.violated += usize::from(sample.violated);
            quality.blocking_in_branches += usize::from(sample.coverage.blocking_in_branch);
            quality.symmetric += usize::from(sample.symmetric);
            quality.discharging += usize::from(sample.discharging);
        }
        quality.states.sort_unstable();
        quality
    }

    /// How many programs there are.
    pub fn programs(&self) -> usize {
        self.states.len()
    }

    /// Prints which part of the programs has each kind of statement, and panics if one of them is rarer than
    /// this (in percent). Those in `without` need not occur.
    pub fn assert_statements(&self, least: f64, without: &[&str]) {
        self.assert_common(STATEMENTS, least, without);
    }

    /// The same for what only some generators make: arguments of processes that are started, waiting for their end, and conditions on initial states.
    pub fn assert_started(&self, least: f64) {
        let names = ["start with arguments", "ended", "initially"];
        self.assert_common(&names, least, &[]);
    }

    /// The same for everything that can occur, statements or not.
    pub fn assert_constructs(&self, least: f64, without: &[&str]) {
        self.assert_common(&[STATEMENTS, OTHERS].concat(), least, without);
    }

    fn assert_common(&self, names: &[&str], least: f64, without: &[&str]) {
        let mut low = Vec::new();
        for name in names.iter().filter(|name| !without.contains(name)) {
            let count = self.constructs.get(name).copied().unwrap_or(0);
            let share = 100.0 * count as f64 / self.programs().max(1) as f64;
            println!("{name:28} {share:5.1}%");
            if share < least {
                low.push(*name);
            }
        }
        assert!(low.is_empty(), "rarer than {least}%: {}", low.join(", "));
    }

    /// Prints the figures, and panics if one of them is too low. Of the constructs, those in `without` need not
    /// occur.
    pub fn assert(&self, without: &[&str]) {
        let programs = self.programs();
        assert!(programs > 0, "no programs");
        let share = |n: usize| 100.0 * n as f64 / programs as f64;
        let median = self.states[programs / 2];
        println!("{programs} programs, median {median} states");
        let mut low = Vec::new();
        let mut figure = |name: &str, count: usize, least: f64| {
            println!("{name:28} {:5.1}%", share(count));
            if share(count) < least {
                low.push(format!("{name}: {count} of {programs}, less than {least}%"));
            }
        };
        figure("violated", self.violated, 25.0);
        figure("not violated", programs - self.violated, 25.0);
        figure("blocking inside branches", self.blocking_in_branches, 20.0);
        figure("with symmetry", self.symmetric, 20.0);
        figure("with discharged checks", self.discharging, 20.0);
        let statements = STATEMENTS.iter().map(|name| (name, 5.0));
        let others = OTHERS.iter().map(|name| (name, 2.0));
        for (name, least) in statements.chain(others) {
            if !without.contains(name) {
                figure(name, self.constructs.get(name).copied().unwrap_or(0), least);
            }
        }
        assert!(low.is_empty(), "{}", low.join("\n"));
        assert!(median >= 200, "the median is {median} states");
    }
}
