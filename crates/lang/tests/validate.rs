//! The validator accepts what the checker makes, and refuses a seeded fault of every rule.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use threadwise_lang::program::*;
use threadwise_lang::validate::{Rule, validate};

#[test]
fn the_model_library_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for folder in ["models", "models/any", "tests/any", "tests/any/protocols"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder of models") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|end| end != "tw") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("readable");
            if let Some(program) = threadwise_lang::check(&text).program {
                assert_eq!(validate(&program), Ok(()), "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 60, "only {count} models");
}

/// A bit of everything.
const MODEL: &str = "\
param N = 3 where N >= 2;
enum Phase { idle, busy }
shared turn: P? = none;
shared phase: array[P] of Phase = idle;
shared table: array[0..1] of 0..9 = 0;
shared flag: bool = any;
shared m: mutex;
def low(x: int) = x < 5;
def calm = !flag && low(table[0]);
def there(i: P) = P[i] at {b, done};
process P[i: 1..N] {
    local rounds: 0..9 = 0;
    a: await turn == none && calm;
    b: atomic { turn := i; phase[i] := busy; }
    c: for k in 0..1 {
        d: table[k] := k;
        e: lock m;
    }
    for j in 0..1 { rounds := j; }
    f: while rounds < 3 {
        g: if flag { break; } else { rounds := rounds + 1; }
    }
    goto a;
}
ordered process Q[q: 1..2] {
    local next_one: Q = 1;
    x: next_one, flag := q, q > 1;
    y: start Child;
    z: stay;
}
process Child[] { go: unlock m; }
process Main { local seen: bool = false; s: seen := cas(flag, true, false); t: havoc table[1]; }
fairness fair: weak forall i in P: !enabled(P[i], a) || taken(P[i], a);
invariant inv: forall i, k in P: there(i) -> P[k].rounds < 9;
liveness live under fair: forall i in P: G (P[i] at a -> F P[i] at b) && !(Main at s);
exception { flag; }
";

fn model() -> Program {
    let checked = threadwise_lang::check(MODEL);
    checked
        .program
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

const P: usize = 0;
const Q: usize = 1;
const MAIN: usize = 3;

fn body(program: &mut Program, template: usize) -> &mut Block {
    &mut program.templates[template].body
}

/// The expression of the invariant.
fn invariant(program: &mut Program) -> &mut Expr {
    match &mut program.properties[0].kind {
        PropertyKind::Invariant(value) => value,
        other => panic!("{other:?}"),
    }
}

fn int(value: i64) -> Expr {
    Expr::int(value, Span::default())
}

fn truth() -> Expr {
    Expr::truth(true, Span::default())
}

fn assign(stmt: &mut Stmt) -> (&mut Vec<Place>, &mut Vec<Expr>) {
    match &mut stmt.kind {
        StmtKind::Assign(places, values) => (places, values),
        other => panic!("{other:?}"),
    }
}

/// The statements of the atomic block of `P`.
fn atomic(program: &mut Program) -> &mut Block {
    match &mut body(program, P)[1].kind {
        StmtKind::Group { body, .. } => body,
        other => panic!("{other:?}"),
    }
}

/// The loop of `P` whose counter is a local.
fn labelled(program: &mut Program) -> (&mut LocalId, &mut Domain, &mut Block) {
    match &mut body(program, P)[2].kind {
        StmtKind::ForLabelled(counter, domain, block) => (counter, domain, block),
        other => panic!("{other:?}"),
    }
}

type Fault = (&'static str, Rule, fn(&mut Program));

/// Faults, each with the rule that it breaks.
const FAULTS: &[Fault] = &[
    ("a parameter that is none", Rule::Id, |p| {
        p.params[0].default = Some(Expr::param(ParamId::new(7), Span::default()));
    }),
    ("a jump to nowhere", Rule::Label, |p| {
        body(p, P)[5].kind = StmtKind::Goto(LocationId::new(99));
    }),
    ("a jump to the end", Rule::Label, |p| {
        body(p, P)[5].kind = StmtKind::Goto(p.templates[P].done());
    }),
    ("a shared variable that is none", Rule::Id, |p| {
        assign(&mut atomic(p)[0]).0[0].var = VarRef::Shared(SharedId::new(99));
    }),
    ("a member that is none", Rule::Id, |p| {
        assign(&mut atomic(p)[1]).1[0].kind = ExprKind::Member(2);
    }),
    ("a location that is none", Rule::Id, |p| {
        let ExprKind::At { locations, .. } = &mut p.defs[2].body.kind else {
            panic!();
        };
        locations.push(LocationId::new(99));
    }),
    ("a fairness that is none", Rule::Id, |p| {
        let PropertyKind::Liveness { under, .. } = &mut p.properties[1].kind else {
            panic!();
        };
        under.push(FairnessId::new(3));
    }),
    ("two variables of one name", Rule::Name, |p| {
        p.shared[0].name = "flag".to_owned();
    }),
    ("a keyword as a name", Rule::Name, |p| {
        p.shared[0].name = "await".to_owned();
    }),
    ("a local with the name of a parameter", Rule::Name, |p| {
        p.templates[P].locals[0].name = "N".to_owned();
    }),
    ("two labels of one name", Rule::Name, |p| {
        p.templates[P].locations[0].name = "b".to_owned();
    }),
    (
        "a property named like the built-in checks",
        Rule::Name,
        |p| {
            p.properties[0].name = "checks".to_owned();
        },
    ),
    ("a number as a truth value", Rule::Type, |p| {
        body(p, P)[0].kind = StmtKind::Await(int(1));
    }),
    ("a type that the parts do not give", Rule::Type, |p| {
        p.defs[0].body.ty = ExprType::Int;
    }),
    ("a missing coercion", Rule::Type, |p| {
        let (_, values) = assign(&mut atomic(p)[0]);
        let ExprKind::IdToOpt(inner) = &values[0].kind else {
            panic!();
        };
        values[0] = (**inner).clone();
    }),
    ("an order on truth values", Rule::Type, |p| {
        let less = ExprKind::Compare(CompareOp::Lt, Box::new(truth()), Box::new(truth()));
        body(p, P)[0].kind = StmtKind::Await(Expr::new(less, ExprType::Bool, Span::default()));
    }),
    ("a mutex that is read", Rule::Type, |p| {
        let place = Place {
            var: VarRef::Shared(SharedId::new(4)),
            indices: Vec::new(),
            span: Span::default(),
        };
        let read = Expr::new(ExprKind::Read(place), ExprType::Bool, Span::default());
        body(p, P)[0].kind = StmtKind::Await(read);
    }),
    ("a number as an id that has no order", Rule::Order, |p| {
        assign(&mut atomic(p)[0]).1[0] = int(1).coerced(ExprType::OptId(TemplateId::new(P)));
    }),
    ("an id without order as a number", Rule::Order, |p| {
        let own = Expr::own(TemplateId::new(P), Span::default());
        body(p, P)[0].kind = StmtKind::Await(own.compare(CompareOp::Lt, int(3)));
    }),
    ("a loop through ids without order", Rule::Order, |p| {
        *labelled(p).1 = Domain::Template(TemplateId::new(P));
    }),
    (
        "a default that uses its own parameter",
        Rule::Constant,
        |p| {
            p.params[0].default = Some(Expr::param(ParamId::new(0), Span::default()));
        },
    ),
    ("an initial value that reads", Rule::Constant, |p| {
        let (_, values) = assign(&mut body(p, Q)[0]);
        let ExprKind::Compare(..) = &values[1].kind else {
            panic!();
        };
        let place = Place {
            var: VarRef::Shared(SharedId::new(3)),
            indices: Vec::new(),
            span: Span::default(),
        };
        let read = Expr::new(ExprKind::Read(place), ExprType::Bool, Span::default());
        p.shared[3].initial = Initial::Value(read);
    }),
    (
        "a bound variable outside of its quantifier",
        Rule::Scope,
        |p| {
            let bound = ExprKind::Bound(BoundId::new(0));
            let value = Expr::new(bound, ExprType::Int, Span::default());
            *invariant(p) = value.compare(CompareOp::Eq, int(1));
        },
    ),
    ("one variable bound twice", Rule::Scope, |p| {
        let twice = invariant(p).clone();
        *invariant(p) = twice.clone().and(twice);
    }),
    ("an own id outside of processes", Rule::Scope, |p| {
        let own = || Expr::own(TemplateId::new(P), Span::default());
        *invariant(p) = own().compare(CompareOp::Eq, own());
    }),
    ("a local in a property", Rule::Scope, |p| {
        let place = Place {
            var: VarRef::Local(LocalId::new(0)),
            indices: Vec::new(),
            span: Span::default(),
        };
        let read = Expr::new(ExprKind::Read(place), ExprType::Int, Span::default());
        *invariant(p) = read.compare(CompareOp::Eq, int(1));
    }),
    ("a location in a program", Rule::Site, |p| {
        let main = TemplateId::new(MAIN);
        let at = Expr::at(main, None, vec![LocationId::new(0)], Span::default());
        body(p, P)[0].kind = StmtKind::Await(at);
    }),
    ("a step in an invariant", Rule::Site, |p| {
        let main = TemplateId::new(MAIN);
        *invariant(p) = Expr::taken(main, None, LocationId::new(0), Span::default());
    }),
    (
        "a definition about processes in a program",
        Rule::Site,
        |p| {
            let own = Expr::own(TemplateId::new(P), Span::default());
            let call = ExprKind::Call(DefId::new(2), vec![own]);
            body(p, P)[0].kind = StmtKind::Await(Expr::new(call, ExprType::Bool, Span::default()));
        },
    ),
    ("an index too few", Rule::Indices, |p| {
        assign(&mut atomic(p)[1]).0[0].indices.clear();
    }),
    ("a loop's counter that is written", Rule::Write, |p| {
        let counter = *labelled(p).0;
        let (places, _) = assign(&mut labelled(p).2[0]);
        places[0].var = VarRef::Local(counter);
        places[0].indices.clear();
    }),
    ("a cell that is written twice", Rule::Write, |p| {
        let (places, values) = assign(&mut atomic(p)[0]);
        places.push(places[0].clone());
        values.push(values[0].clone());
    }),
    ("a lock of what is no mutex", Rule::Write, |p| {
        let (places, _) = assign(&mut atomic(p)[0]);
        let place = places[0].clone();
        body(p, P)[0].kind = StmtKind::Lock(place);
    }),
    ("a label that stands twice", Rule::Label, |p| {
        body(p, P)[5].label = Some(LocationId::new(0));
    }),
    ("a label that stands nowhere", Rule::Label, |p| {
        body(p, P)[1].label = None;
    }),
    ("a label inside of one step", Rule::Label, |p| {
        let label = body(p, P)[1].label.take();
        atomic(p)[0].label = label;
    }),
    ("labels in another order", Rule::Label, |p| {
        body(p, P)[0].label = Some(LocationId::new(1));
        body(p, P)[1].label = Some(LocationId::new(0));
    }),
    ("another beginning", Rule::Flow, |p| {
        p.templates[P].entry = LocationId::new(1);
    }),
    ("a wait in the middle of a step", Rule::Flow, |p| {
        let wait = StmtKind::Await(truth());
        atomic(p).push(Stmt::new(wait, Span::default()));
    }),
    ("a loop without a label", Rule::Flow, |p| {
        let endless = StmtKind::Loop(vec![Stmt::new(StmtKind::Skip, Span::default())]);
        body(p, P).insert(3, Stmt::new(endless, Span::default()));
    }),
    ("a stay behind something", Rule::Flow, |p| {
        let stay = Stmt::new(StmtKind::Stay, Span::default());
        body(p, P).insert(2, stay);
    }),
    ("a break outside of loops", Rule::Loop, |p| {
        body(p, P)[5].kind = StmtKind::Break;
    }),
    ("a counter of another range", Rule::Loop, |p| {
        *labelled(p).1 = Domain::Range(Arc::new(int(0)), Arc::new(int(2)));
    }),
    ("a counter of no loop", Rule::Loop, |p| {
        let counter = Variable {
            name: "unused".to_owned(),
            ..p.templates[P].locals[1].clone()
        };
        p.templates[P].locals.push(counter);
    }),
    ("definitions in a circle", Rule::Recursion, |p| {
        let call = ExprKind::Call(DefId::new(1), Vec::new());
        p.defs[0].body = Expr::new(call, ExprType::Bool, Span::default());
    }),
    ("too many levels", Rule::Depth, |p| {
        let mut deep = truth();
        for _ in 0..400 {
            deep = deep.negated();
        }
        *invariant(p) = deep;
    }),
    ("a conjunction of one", Rule::Form, |p| {
        let one = ExprKind::And(vec![truth()]);
        *invariant(p) = Expr::new(one, ExprType::Bool, Span::default());
    }),
    ("a start of what runs from the beginning", Rule::Form, |p| {
        body(p, Q)[1].kind = StmtKind::Start(TemplateId::new(P), Vec::new());
    }),
    (
        "an argument for a process that takes none",
        Rule::Form,
        |p| {
            let empty = p.templates.iter_enumerated();
            let mut empty = empty.filter(|(_, t)| matches!(t.instances, Instances::Dynamic));
            let (id, _) = empty.next().unwrap();
            body(p, Q)[1].kind = StmtKind::Start(id, vec![truth()]);
        },
    ),
    (
        "a parameter of what runs from the beginning",
        Rule::Form,
        |p| {
            p.templates[P].locals[0].initial = Initial::Given;
        },
    ),
    ("a process without its index", Rule::Form, |p| {
        let at = Expr::at(
            TemplateId::new(P),
            None,
            vec![LocationId::new(0)],
            Span::default(),
        );
        *invariant(p) = at;
    }),
    ("an argument too few", Rule::Form, |p| {
        let call = ExprKind::Call(DefId::new(0), Vec::new());
        *invariant(p) = Expr::new(call, ExprType::Bool, Span::default());
    }),
    ("more places than values", Rule::Form, |p| {
        assign(&mut body(p, Q)[0]).1.pop();
    }),
    ("ids of a single process", Rule::Form, |p| {
        p.shared[0].scalar = Scalar::OptId(TemplateId::new(MAIN));
    }),
    ("a mutex with a value", Rule::Form, |p| {
        p.shared[4].initial = Initial::Any;
    }),
    ("a constant outside of its range", Rule::Range, |p| {
        p.shared[2].initial = Initial::Value(int(10));
    }),
];

#[test]
fn a_seeded_fault_of_every_rule_is_refused() {
    assert_eq!(validate(&model()), Ok(()));
    for (what, rule, fault) in FAULTS {
        let mut program = model();
        fault(&mut program);
        let found = validate(&program).err().map(|invalid| invalid.rule);
        assert_eq!(found, Some(*rule), "{what}");
    }
}
