//! What is proved does not depend on how an invariant is spelled.

use std::collections::BTreeMap;

use threadwise_lang::print::{Layout, print};
use threadwise_lang::program::{
    BoundId, CompareOp, Domain, Expr, ExprKind, ExprType, FoldKind, Program, PropertyKind,
};
use threadwise_lang::rewrite::Rewrite;
use threadwise_param::engine::Way;
use threadwise_testgen::{library, library_for_all, variants_for_all};

use super::common::{Verdict, decide, program};

/// How often an engine may ask whether to stop. Another spelling has other questions, so there is room.
const BUDGET: u64 = 20_000;

/// A way to spell an invariant.
type Spelling = fn(&Program, &Expr) -> Expr;

const SPELLINGS: &[(&str, Spelling)] = &[
    ("negations in front of comparisons", |program, expr| {
        pushed(program, expr, true)
    }),
    ("the negation of the dual", |program, expr| {
        not(pushed(program, expr, false))
    }),
    (
        "inner quantifiers as negations of others",
        |program, expr| nested(&inlined(program, expr), 0),
    ),
    ("contrapositions", |program, expr| {
        contraposed(&inlined(program, expr))
    }),
    ("quantifiers the other way round", |program, expr| {
        swapped(&inlined(program, expr))
    }),
    ("numbers for quantifiers over labels", |program, expr| {
        counted(&inlined(program, expr))
    }),
    ("an equivalence with what is true", |program, expr| {
        let truth = bool_of(ExprKind::Bool(true), expr);
        bool_of(ExprKind::Iff(Box::new(expr.clone()), Box::new(truth)), expr)
            .map(|e| inlined(program, &e))
    }),
];

trait Map: Sized {
    fn map<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}

impl Map for Expr {}

fn bool_of(kind: ExprKind, like: &Expr) -> Expr {
    Expr {
        kind,
        ty: ExprType::Bool,
        span: like.span,
    }
}

fn not(expr: Expr) -> Expr {
    let like = expr.clone();
    bool_of(ExprKind::Not(Box::new(expr)), &like)
}

/// The same with another expression for each part.
fn with_parts(expr: &Expr, part: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    let mut new = expr.clone();
    match &mut new.kind {
        ExprKind::Not(a) => **a = part(a),
        ExprKind::And(members) | ExprKind::Or(members) => {
            members.iter_mut().for_each(|member| *member = part(member));
        }
        ExprKind::Implies(a, b) | ExprKind::Iff(a, b) => {
            **a = part(a);
            **b = part(b);
        }
        ExprKind::Fold {
            kind: FoldKind::Forall | FoldKind::Exists,
            body,
            ..
        } => **body = part(body),
        _ => {}
    }
    new
}

/// Definitions in place of their calls.
fn inlined(program: &Program, expr: &Expr) -> Expr {
    if let ExprKind::Call(def, arguments) = &expr.kind {
        let def = &program.defs[*def];
        let arguments = def.params.iter().copied().zip(arguments.iter().cloned());
        let arguments: BTreeMap<BoundId, Expr> = arguments.collect();
        return inlined(program, &substituted(program, &def.body, &arguments));
    }
    with_parts(expr, &mut |part| inlined(program, part))
}

fn substituted(program: &Program, expr: &Expr, arguments: &BTreeMap<BoundId, Expr>) -> Expr {
    struct Replace<'a>(&'a BTreeMap<BoundId, Expr>);
    impl Rewrite for Replace<'_> {
        fn expr(&mut self, value: &mut Expr) {
            if let ExprKind::Bound(bound) = &value.kind
                && let Some(argument) = self.0.get(bound)
            {
                *value = argument.clone();
            }
        }
    }
    let mut alone = Program {
        properties: program.properties[..1].to_vec(),
        defs: Default::default(),
        templates: Default::default(),
        ..program.clone()
    };
    alone.properties[0].kind = PropertyKind::Invariant(expr.clone());
    alone.rewrite(&mut Replace(arguments));
    match alone.properties.remove(0).kind {
        PropertyKind::Invariant(expr) => expr,
        other => panic!("{other:?}"),
    }
}

/// An expression, or its negation, with `not` in front of comparisons alone.
fn pushed(program: &Program, expr: &Expr, holds: bool) -> Expr {
    let same = |part: &Expr| pushed(program, part, holds);
    let kind = match &expr.kind {
        ExprKind::Call(..) => return pushed(program, &inlined(program, expr), holds),
        ExprKind::Not(a) => return pushed(program, a, !holds),
        ExprKind::And(members) if holds => ExprKind::And(members.iter().map(same).collect()),
        ExprKind::And(members) => ExprKind::Or(members.iter().map(same).collect()),
        ExprKind::Or(members) if holds => ExprKind::Or(members.iter().map(same).collect()),
        ExprKind::Or(members) => ExprKind::And(members.iter().map(same).collect()),
        ExprKind::Implies(a, b) => {
            let parts = vec![pushed(program, a, !holds), same(b)];
            match holds {
                true => ExprKind::Or(parts),
                false => ExprKind::And(parts),
            }
        }
        ExprKind::Iff(a, b) => {
            let way = |a_holds, b_holds| {
                let parts = vec![pushed(program, a, a_holds), pushed(program, b, b_holds)];
                bool_of(ExprKind::Or(parts), expr)
            };
            ExprKind::And(vec![way(true, !holds), way(false, holds)])
        }
        ExprKind::Fold {
            kind: kind @ (FoldKind::Forall | FoldKind::Exists),
            var,
            domain,
            body,
        } => ExprKind::Fold {
            kind: match (*kind == FoldKind::Forall) == holds {
                true => FoldKind::Forall,
                false => FoldKind::Exists,
            },
            var: *var,
            domain: domain.clone(),
            body: Box::new(same(body)),
        },
        ExprKind::Compare(op, a, b) if !holds => {
            ExprKind::Compare(op.negated(), a.clone(), b.clone())
        }
        _ if holds => return expr.clone(),
        _ => return not(expr.clone()),
    };
    bool_of(kind, expr)
}

/// Quantifiers inside of others as negations of the dual.
fn nested(expr: &Expr, depth: usize) -> Expr {
    let inner = usize::from(matches!(expr.kind, ExprKind::Fold { .. }));
    let mut new = with_parts(expr, &mut |part| nested(part, depth + inner));
    let ExprKind::Fold { kind, body, .. } = &mut new.kind else {
        return new;
    };
    let dual = match kind {
        FoldKind::Forall if depth > 0 => FoldKind::Exists,
        FoldKind::Exists if depth > 0 => FoldKind::Forall,
        _ => return new,
    };
    *kind = dual;
    **body = not((**body).clone());
    not(new)
}

/// Whether its value is asked for only where something else makes sure that there is one.
fn is_guarded(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= match &part.kind {
            ExprKind::OptToId(_) => true,
            // An index that is computed may be outside.
            ExprKind::Read(place) => place
                .indices
                .iter()
                .any(|index| index.ty == ExprType::Int && !matches!(index.kind, ExprKind::Int(_))),
            _ => false,
        };
    });
    found
}

fn contraposed(expr: &Expr) -> Expr {
    let new = with_parts(expr, &mut contraposed);
    match new.kind {
        // The order in which they are looked at matters.
        _ if is_guarded(expr) => expr.clone(),
        ExprKind::Implies(a, b) => bool_of(
            ExprKind::Implies(Box::new(not(*b)), Box::new(not(*a))),
            expr,
        ),
        ExprKind::Or(mut members) => {
            members.reverse();
            bool_of(ExprKind::Or(members), expr)
        }
        kind => bool_of(kind, expr),
    }
}

/// Quantifiers of a kind that follow each other, in the other order.
fn swapped(expr: &Expr) -> Expr {
    if let ExprKind::Fold {
        kind: outer,
        var,
        domain,
        body,
    } = &expr.kind
        && let ExprKind::Fold {
            kind: inner,
            var: second,
            domain: of_second,
            body: innermost,
        } = &body.kind
        && outer == inner
        && matches!(outer, FoldKind::Forall | FoldKind::Exists)
    {
        let fold = |var, domain: &Domain, body| ExprKind::Fold {
            kind: *outer,
            var,
            domain: domain.clone(),
            body: Box::new(body),
        };
        let body = bool_of(fold(*var, domain, swapped(innermost)), expr);
        return bool_of(fold(*second, of_second, body), expr);
    }
    with_parts(expr, &mut swapped)
}

/// Whether an expression asks for labels of a process alone.
fn about_labels(expr: &Expr, of: BoundId) -> bool {
    match &expr.kind {
        ExprKind::At {
            process: Some(process),
            ..
        } => process.kind == ExprKind::Bound(of),
        ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Implies(..) => {
            let mut all = true;
            expr.children(&mut |child| all &= about_labels(child, of));
            all
        }
        _ => false,
    }
}

fn counted(expr: &Expr) -> Expr {
    let new = with_parts(expr, &mut counted);
    let ExprKind::Fold {
        kind,
        var,
        domain: domain @ Domain::Template(_),
        body,
    } = &new.kind
    else {
        return new;
    };
    if !about_labels(body, *var) {
        return new;
    }
    let (op, number, body) = match kind {
        FoldKind::Exists => (CompareOp::Ge, 1, body.clone()),
        FoldKind::Forall => (CompareOp::Eq, 0, Box::new(not((**body).clone()))),
        _ => return new,
    };
    let int = |kind| Expr {
        kind,
        ty: ExprType::Int,
        span: expr.span,
    };
    let count = int(ExprKind::Fold {
        kind: FoldKind::Count,
        var: *var,
        domain: domain.clone(),
        body,
    });
    let number = int(ExprKind::Int(number));
    bool_of(
        ExprKind::Compare(op, Box::new(count), Box::new(number)),
        expr,
    )
}

/// A verdict and what it is about.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved(..) => "proved for all values",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The verdicts of a program with all its invariants spelled in some way; `None` if that changes nothing.
fn respelled(program: &Program, spelling: Spelling) -> Option<String> {
    let mut new = program.clone();
    let mut changed = false;
    for property in &mut new.properties {
        if let PropertyKind::Invariant(expr) = &mut property.kind {
            let spelled = spelling(program, expr);
            changed |= spelled != *expr;
            *expr = spelled;
        }
    }
    changed.then(|| print(&new, &Layout::of(&new)))
}

#[test]
fn equivalent_spellings_have_the_same_verdicts() {
    let (mut spellings, mut proofs) = (BTreeMap::new(), 0);
    // Proofs of others take longer than a test may.
    let quick = ["mux_sem", "test_and_set", "dekker", "readers_writers"];
    let library = library().into_iter();
    let library = library.filter(|(name, _)| quick.iter().any(|quick| name.starts_with(quick)));
    let every = library_for_all().into_iter().chain(variants_for_all());
    for (name, text) in every.chain(library) {
        let Some(original) = program(&text) else {
            continue;
        };
        let mut plain = None;
        for (way, spelling) in SPELLINGS {
            let Some(spelled) = respelled(&original, *spelling) else {
                continue;
            };
            let asked = |text| decide(Way::COUNTER, text, BUDGET);
            let plain = plain.get_or_insert_with(|| asked(&text).expect("evidence"));
            let verdicts = asked(&spelled).unwrap_or_else(|e| panic!("{name}: {e}\n{spelled}"));
            for (property, verdict) in &verdicts {
                let (was, is) = (word(&plain[property]), word(verdict));
                assert_eq!(was, is, "{name}, {property}, {way}: {verdict:?}\n{spelled}");
                proofs += usize::from(is.starts_with("proved"));
            }
            *spellings.entry(*way).or_insert(0) += 1;
        }
    }
    println!("{spellings:?}, {proofs} proofs");
    assert_eq!(spellings.len(), SPELLINGS.len(), "{spellings:?}");
    assert!(
        spellings.values().all(|programs| *programs >= 3),
        "{spellings:?}"
    );
    assert!(proofs >= 100, "{proofs}");
}

/// Ways to say what a lock is for, some of which say more.
#[test]
fn a_lock_is_proved_in_all_words() {
    let invariants = [
        "forall i, j in P: i != j -> !(P[i] at b && P[j] at b)",
        "forall i, j in P: i == j || !(P[i] at b) || !(P[j] at b)",
        "forall i in P: P[i] at b -> (forall j in P: j != i -> !(P[j] at b))",
        "!(exists i, j in P: i != j && P[i] at b && P[j] at b)",
        "forall j in P: !(exists i in P: i != j && P[i] at b && P[j] at b)",
        "(count i in P: P[i] at b) <= 1",
        "(exists i in P: P[i] at b) -> l",
        "!l -> (forall i in P: !(P[i] at b))",
        "l -> (exists i in P: P[i] at b)",
        "l <-> (exists i in P: P[i] at b)",
        "l == !(forall i in P: P[i] at a)",
        "(exists i in P: P[i] at b) <-> (count i in P: P[i] at b) == 1",
    ];
    let mut text = "param N = 2 where N >= 1; shared l: bool = false;
process P[i: 1..N] { loop { a: atomic { await !l; l := true; } b: l := false; } }
"
    .to_owned();
    for (number, invariant) in invariants.iter().enumerate() {
        text += &format!("invariant p{number}: {invariant};\n");
    }
    let verdicts = decide(Way::COUNTER, &text, BUDGET).expect("evidence");
    for (property, verdict) in &verdicts {
        assert_eq!(word(verdict), "proved for all values", "{property}");
    }
    assert_eq!(verdicts.len(), invariants.len() + 1);
}

/// Two processes that are not the same come one before the other.
#[test]
fn the_order_of_processes_need_not_be_mentioned() {
    for compared in ["i != j", "i < j", "j < i"] {
        let text = format!(
            "param N = 3 where N >= 1;
shared flag: array[P] of bool = false;
ordered process P[i: 1..N] {{ loop {{
    idle: atomic {{ await forall j in P: j <= i || !flag[j]; flag[i] := true; }}
    wait: await forall j in P: j >= i || !flag[j];
    inside: flag[i] := false;
}} }}
invariant mutex: forall i, j in P: {compared} -> !(P[i] at inside && P[j] at inside);
"
        );
        let verdicts = decide(Way::COUNTER, &text, BUDGET).expect("evidence");
        let verdict = word(&verdicts["mutex"]);
        assert_eq!(verdict, "proved for all values", "{compared}");
    }
}
