//! Single expressions about the states of a program.

use threadwise_lang::check_expression;
use threadwise_lang::program::{ExprType, Span};

const LOCK: &str = "\
param N = 2 where N >= 1;
enum Colour { red, green }
shared x: 0..9 = 0;
shared hue: Colour = red;
shared last: P? = none;
process P[i: 1..N] {
    local tries: 0..9 = 0;
    idle: x := x + 1;
    busy: tries := 1;
}
def inside(i: P) = P[i] at busy;
invariant low: x < 9;
";

#[test]
fn expressions_of_every_type() {
    let ty = |text: &str| check_expression(LOCK, text).unwrap().value.ty;
    assert_eq!(ty("x + N * 2"), ExprType::Int);
    assert_eq!(ty("exists i in P: inside(i) && i != 2"), ExprType::Bool);
    assert_eq!(ty("P[1].tries > 3 // a comment"), ExprType::Bool);
    assert!(matches!(ty("hue"), ExprType::Enum(_)));
    assert!(matches!(ty("last"), ExprType::OptId(_)));
}

#[test]
fn what_is_no_expression_is_refused_with_its_place() {
    let refused = |text: &str| check_expression(LOCK, text).unwrap_err();
    let unknown = refused("1 + y");
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert_eq!(unknown[0].span, Span { start: 4, end: 5 });
    assert!(unknown[0].message.contains("`y`"), "{unknown:?}");
    for text in [
        "",
        "x +",
        "x; invariant other: true",
        "x;\nshared y: bool = true",
        "true; process Q { a: skip; }",
        "x := 1",
        "G x > 0",
        "taken(P[1], idle)",
        "tries",
        "1 + true",
        "\u{0}\u{1b}",
        "/* never closed",
    ] {
        let diagnostics = refused(text);
        assert!(!diagnostics.is_empty(), "{text}");
        for diagnostic in diagnostics {
            assert!(diagnostic.span.end as usize <= text.len(), "{text}");
        }
    }
    let deep = "(".repeat(100_000) + "x" + &")".repeat(100_000);
    assert!(!refused(&deep).is_empty());
}

#[test]
fn optional_ids_of_ordered_templates_are_numbers() {
    let text = |order: &str| {
        format!(
            "shared last: P? = none; {order} P[i: 1..3] {{ a: last := i; }} invariant low: last != none;"
        )
    };
    for order in ["ordered process", "ring process"] {
        for expression in [
            "last < 2",
            "1 <= last + 1",
            "exists i in P: last >= i",
            "last > last",
        ] {
            let found = check_expression(&text(order), expression);
            assert_eq!(found.unwrap().value.ty, ExprType::Bool, "{expression}");
        }
        let found = check_expression(&text(order), "none < 2").unwrap_err();
        assert_eq!(found[0].code.as_str(), "E0220");
    }
    let found = check_expression(&text("process"), "last < 2").unwrap_err();
    assert_eq!(found[0].code.as_str(), "E0205");
}
