//! Small systems, built by hand: the engine is tested here without the front end.
#![allow(dead_code)]

use index_vec::IndexVec;
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind, LocationId, Span, TemplateId};
use threadwise_model::system::*;

pub fn c(value: i64) -> Expr {
    Expr::Const(value)
}
pub fn not(e: Expr) -> Expr {
    Expr::Not(Box::new(e))
}
pub fn cmp(op: CompareOp, a: Expr, b: Expr) -> Expr {
    Expr::Compare(op, Box::new(a), Box::new(b))
}
pub fn eq(a: Expr, b: Expr) -> Expr {
    cmp(CompareOp::Eq, a, b)
}
pub fn ne(a: Expr, b: Expr) -> Expr {
    cmp(CompareOp::Ne, a, b)
}
pub fn lt(a: Expr, b: Expr) -> Expr {
    cmp(CompareOp::Lt, a, b)
}
pub fn arith(op: ArithOp, a: Expr, b: Expr) -> Expr {
    Expr::Arith(op, Box::new(a), Box::new(b))
}
pub fn add(a: Expr, b: Expr) -> Expr {
    arith(ArithOp::Add, a, b)
}
pub fn fold(kind: FoldKind, bound: u32, hi: i64, body: Expr) -> Expr {
    Expr::Fold {
        kind,
        bound,
        lo: 0,
        hi,
        body: Box::new(body),
    }
}
pub fn place(var: VarId, process: Option<Expr>, offset: Option<Expr>) -> Place {
    Place {
        var,
        process,
        offset,
    }
}
pub fn load(place: Place) -> Expr {
    Expr::Load(Box::new(place))
}

/// One template `P` over shared variables and locals.
pub struct Builder {
    pub n: u32,
    vars: IndexVec<VarId, SystemVar>,
    cells: u32,
    steps: Vec<(usize, usize, Step)>,
    locations: usize,
    pc: VarId,
    pub properties: Vec<SystemProperty>,
}

impl Builder {
    /// `shared`: length (0 for a scalar), domain, initial values; `locals`: domain and initial value.
    pub fn new(
        n: u32,
        locations: usize,
        shared: &[(u32, CellDomain, CellInitial)],
        locals: &[(CellDomain, i64)],
    ) -> Builder {
        let mut vars = IndexVec::new();
        let mut cells = 0;
        for (len, domain, initial) in shared {
            let dims = match len {
                0 => vec![],
                _ => vec![Dim {
                    size: *len,
                    kind: DimKind::Range(0),
                }],
            };
            let len = (*len).max(1);
            vars.push(SystemVar {
                name: format!("g{}", vars.len()),
                scope: Scope::Shared,
                dims,
                domain: *domain,
                initial: initial.clone(),
                first: CellId::from_raw(cells),
                len,
                stride: 0,
            });
            cells += len;
        }
        let template = TemplateId::from_raw(0);
        let stride = 1 + locals.len() as u32;
        let pc = VarId::from_usize(vars.len());
        let mut local = |name: String, domain, initial, at| {
            vars.push(SystemVar {
                name,
                scope: Scope::Local(template),
                dims: vec![],
                domain,
                initial: CellInitial::Value(c(initial)),
                first: CellId::from_raw(cells + at),
                len: 1,
                stride,
            });
        };
        local("pc".to_owned(), CellDomain::Location(template), 0, 0);
        for (at, (domain, initial)) in locals.iter().enumerate() {
            local(format!("l{at}"), *domain, *initial, at as u32 + 1);
        }
        let properties = vec![
            SystemProperty {
                name: "checks".into(),
                kind: SystemPropertyKind::Checks,
                ids: IdUse::default(),
            },
            SystemProperty {
                name: "deadlock_free".into(),
                kind: SystemPropertyKind::DeadlockFree,
                ids: IdUse::default(),
            },
        ];
        Builder {
            n,
            vars,
            cells: cells + n * stride,
            steps: vec![],
            locations,
            pc,
            properties,
        }
    }

    pub fn shared(&self, number: u32) -> VarId {
        VarId::from_raw(number)
    }
    pub fn local(&self, number: u32) -> VarId {
        VarId::from_raw(self.pc.raw() + 1 + number)
    }
    pub fn pc_of(&self, process: Expr) -> Expr {
        load(place(self.pc, Some(process), None))
    }

    pub fn step(
        &mut self,
        from: usize,
        to: usize,
        clauses: Vec<Clause>,
        updates: Vec<(Place, Expr)>,
    ) -> &mut Step {
        let step = Step {
            from: LocationId::from_usize(from),
            to: LocationId::from_usize(to),
            rest: false,
            choices: vec![],
            clauses,
            updates: updates
                .into_iter()
                .map(|(cell, value)| Update { cell, value })
                .collect(),
            starts: vec![],
            span: Span::default(),
        };
        self.steps.push((from, to, step));
        &mut self.steps.last_mut().unwrap().2
    }

    pub fn rest(&mut self, at: usize) {
        self.step(at, at, vec![], vec![]).rest = true;
    }

    pub fn invariant(&mut self, name: &str, expr: Expr) {
        self.properties.push(SystemProperty {
            name: name.into(),
            kind: SystemPropertyKind::Invariant(expr),
            ids: IdUse::default(),
        });
    }

    /// No two processes at the given locations.
    pub fn mutex(&mut self, critical: &[usize]) {
        let last = i64::from(self.n) - 1;
        let inside = |b: &Builder, bound| {
            Expr::Or(
                critical
                    .iter()
                    .map(|&l| eq(b.pc_of(Expr::Bound(bound)), c(l as i64)))
                    .collect(),
            )
        };
        let both = Expr::And(vec![inside(self, 0), inside(self, 1)]);
        let body = Expr::Or(vec![eq(Expr::Bound(0), Expr::Bound(1)), not(both)]);
        self.invariant(
            "mutex",
            fold(
                FoldKind::Forall,
                0,
                last,
                fold(FoldKind::Forall, 1, last, body),
            ),
        );
    }

    pub fn build(self) -> System {
        let mut steps: IndexVec<LocationId, Vec<Step>> =
            (0..=self.locations).map(|_| vec![]).collect();
        for (from, _, step) in self.steps {
            steps[LocationId::from_usize(from)].push(step);
        }
        let mut locations: IndexVec<LocationId, String> =
            (0..self.locations).map(|l| format!("l{l}")).collect();
        locations.push("done".into());
        let mut templates = IndexVec::new();
        templates.push(SystemTemplate {
            name: "P".into(),
            count: self.n,
            first: ProcessId::from_raw(0),
            lowest_id: 1,
            single: false,
            dynamic: false,
            locations,
            entry: LocationId::from_raw(0),
            pc: self.pc,
            symmetry: TemplateSymmetry::Full,
            steps,
        });
        System {
            params: vec![("N".into(), i64::from(self.n))],
            enums: Vec::new(),
            templates,
            vars: self.vars,
            cells: self.cells as usize,
            properties: self.properties,
        }
    }
}

fn value(v: i64) -> CellInitial {
    CellInitial::Value(c(v))
}
fn guard(e: Expr) -> Clause {
    Clause::Guard(e)
}

/// idle, request, critical, leave around one bit; `m` counts entries modulo it.
pub fn mux_sem(n: u32, m: Option<i64>) -> System {
    let locals: &[_] = match m {
        Some(m) => &[(CellDomain::Range(0, m - 1), 0)],
        None => &[],
    };
    let mut b = Builder::new(n, 4, &[(0, CellDomain::Bool, value(1))], locals);
    let x = || place(VarId::from_raw(0), None, None);
    b.rest(0);
    b.step(0, 1, vec![], vec![]);
    let mut updates = vec![(x(), c(0))];
    if let Some(m) = m {
        let counter = || place(b.local(0), Some(Expr::Own), None);
        updates.push((
            counter(),
            arith(ArithOp::Rem, add(load(counter()), c(1)), c(m)),
        ));
    }
    b.step(1, 2, vec![guard(load(x()))], updates);
    b.step(2, 3, vec![], vec![]);
    b.step(3, 0, vec![], vec![(x(), c(1))]);
    b.mutex(&[2, 3]);
    b.build()
}

/// Peterson's lock as in the model library.
pub fn peterson(n: u32) -> System {
    let top = i64::from(n);
    let id = CellDomain::Range(0, top - 1);
    let shared = [
        (n, CellDomain::Range(0, top), value(0)),
        (n, id, CellInitial::Any),
    ];
    let mut b = Builder::new(n, 7, &shared, &[]);
    let y = |i: Expr| place(VarId::from_raw(0), None, Some(i));
    let s = |l: Expr| place(VarId::from_raw(1), None, Some(arith(ArithOp::Sub, l, c(1))));
    let own = || load(y(Expr::Own));
    b.rest(0);
    b.step(0, 1, vec![], vec![]);
    b.step(
        1,
        2,
        vec![],
        vec![(y(Expr::Own), c(1)), (s(c(1)), Expr::Own)],
    );
    let below = lt(own(), c(top));
    b.step(2, 3, vec![guard(below.clone())], vec![]);
    b.step(2, 5, vec![guard(not(below))], vec![]);
    let others = Expr::Or(vec![
        eq(Expr::Bound(0), Expr::Own),
        lt(load(y(Expr::Bound(0))), own()),
    ]);
    let go = Expr::Or(vec![
        ne(load(s(own())), Expr::Own),
        fold(FoldKind::Forall, 0, top - 1, others),
    ]);
    b.step(3, 4, vec![guard(go)], vec![]);
    let next = || add(own(), c(1));
    b.step(
        4,
        2,
        vec![],
        vec![(y(Expr::Own), next()), (s(next()), Expr::Own)],
    );
    b.step(5, 6, vec![], vec![]);
    b.step(6, 0, vec![], vec![(y(Expr::Own), c(0))]);
    b.mutex(&[5, 6]);
    b.build()
}

/// Lamport's bakery with numbers up to `n`.
pub fn bakery(n: u32) -> System {
    let top = i64::from(n);
    let mut b = Builder::new(n, 5, &[(n, CellDomain::Range(0, top), value(0))], &[]);
    let y = |i: Expr| place(VarId::from_raw(0), None, Some(i));
    let highest = || fold(FoldKind::Max, 0, top - 1, load(y(Expr::Bound(0))));
    b.rest(0);
    b.step(0, 1, vec![], vec![]);
    b.step(
        1,
        2,
        vec![guard(lt(highest(), c(top)))],
        vec![(y(Expr::Own), add(highest(), c(1)))],
    );
    let body = Expr::Or(vec![
        eq(Expr::Bound(0), Expr::Own),
        eq(load(y(Expr::Bound(0))), c(0)),
        lt(load(y(Expr::Own)), load(y(Expr::Bound(0)))),
    ]);
    b.step(
        2,
        3,
        vec![guard(fold(FoldKind::Forall, 0, top - 1, body))],
        vec![],
    );
    b.step(3, 4, vec![], vec![]);
    b.step(4, 0, vec![], vec![(y(Expr::Own), c(0))]);
    b.mutex(&[3, 4]);
    b.build()
}
