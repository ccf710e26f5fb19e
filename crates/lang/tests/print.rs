//! A program that is printed and read again is the same program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use threadwise_lang::build::{Builder, Built};
use threadwise_lang::print::{Layout, plain, print};
use threadwise_lang::program::*;
use threadwise_lang::validate::validate;
use threadwise_testgen::generate::{generate, generate_live, generate_sharp};
use threadwise_testgen::{parametric, sweep};

fn texts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["models", "models/any", "tests/any", "tests/any/protocols"];
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).expect("a folder of models") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "tw") {
                let text = fs::read_to_string(&path).expect("readable");
                found.push((path, text));
            }
        }
    }
    assert!(found.len() >= 60, "only {} models", found.len());
    found
}

/// The program without what a text cannot give back: places, macros as groups, and names of bound variables.
fn essence(mut program: Program) -> Program {
    program.map_spans(&mut |_| Span::default());
    program.source = Arc::default();
    for template in &mut program.templates {
        flatten(&mut template.body);
    }
    for bound in &mut program.bounds {
        bound.name.clear();
    }
    program
}

fn flatten(block: &mut Block) {
    let mut flat = Block::new();
    for mut stmt in std::mem::take(block) {
        match &mut stmt.kind {
            StmtKind::Group {
                atomic: false,
                body,
            } => {
                flatten(body);
                let mut body = std::mem::take(body);
                match (stmt.label, body.first_mut()) {
                    (Some(label), Some(first)) if first.label.is_none() => {
                        first.label = Some(label);
                    }
                    (Some(_), _) => {
                        stmt.kind = StmtKind::Skip;
                        flat.push(stmt);
                    }
                    (None, _) => {}
                }
                flat.extend(body);
                continue;
            }
            StmtKind::If(branches, otherwise) => {
                branches.iter_mut().for_each(|(_, block)| flatten(block));
                flatten(otherwise);
            }
            StmtKind::Choose(blocks) => blocks.iter_mut().for_each(flatten),
            StmtKind::While(_, block)
            | StmtKind::Loop(block)
            | StmtKind::ChooseIn(_, _, block)
            | StmtKind::For(_, _, block)
            | StmtKind::ForLabelled(_, _, block)
            | StmtKind::Group { body: block, .. } => flatten(block),
            _ => {}
        }
        flat.push(stmt);
    }
    *block = flat;
}

/// Prints and reads a program, and gives what was printed; `None` if the text is no program.
fn comes_back(name: &str, text: &str) -> Option<String> {
    let program = threadwise_lang::check(text).program?;
    assert_eq!(validate(&program), Ok(()), "{name}");
    let printed = print(&program, &Layout::of(&program));
    let formatted = threadwise_lang::format(&printed);
    assert_eq!(formatted.as_ref(), Ok(&printed), "{name} is not formatted");
    let again = threadwise_lang::check(&printed);
    let Some(again) = again.program else {
        panic!("{name}: {:?}\n{printed}", again.diagnostics);
    };
    let program = plain(&program).into_owned();
    let (was, is) = (essence(program), essence(again));
    if was != is {
        let (was, is) = (format!("{was:#?}"), format!("{is:#?}"));
        let first = was.lines().zip(is.lines()).position(|(a, b)| a != b);
        let around = |text: &str| {
            let lines = text.lines().skip(first.unwrap_or(0).saturating_sub(6));
            lines.take(14).collect::<Vec<_>>().join("\n")
        };
        panic!(
            "{name} changed:\n{printed}\nwas:\n{}\nis:\n{}",
            around(&was),
            around(&is)
        );
    }
    Some(printed)
}

#[test]
fn the_model_library_comes_back() {
    for (path, text) in texts() {
        comes_back(&path.display().to_string(), &text);
    }
}

#[test]
fn random_programs_come_back() {
    // What the programs must have between them for this to say something.
    let mut wanted = vec![
        "atomic {", "choose", "havoc", "await", "assert", "while", "if ", "else", "goto", "start",
        "array[", "forall", "exists", "count", "max ", "min ", "->", "<->", " / ", " % ", "!(",
        "none", "= any", "fair", "liveness",
    ];
    let count = sweep::programs(60);
    let generators: [fn(u64) -> String; 4] = [
        generate,
        generate_sharp,
        generate_live,
        parametric::generate,
    ];
    for (number, generator) in generators.iter().enumerate() {
        let mut programs = 0;
        for seed in 0..count {
            let text = generator(seed);
            let Some(printed) = comes_back(&format!("{number}, {seed}"), &text) else {
                continue;
            };
            programs += 1;
            wanted.retain(|words| !printed.contains(words));
        }
        assert!(
            2 * programs > count,
            "only {programs} of generator {number}"
        );
    }
    assert!(wanted.is_empty(), "none has {wanted:?}");
}

#[test]
fn brackets_stay_where_they_mean_something() {
    let text = "\
param N = 2;
shared a, b, c: bool = false;
shared x, y, z: int = 0;
process P { l: skip; }
process Q[i: 1..N] { l: skip; }
def d1 = x - (y - z) + x * (y + z) / (x * y) - -z;
def d2 = (a -> b) -> c -> a;
def d3 = !(a && b) || (a || b) && !(!c);
def d4 = (x < 1) == (y < 2) && (a <-> (b <-> c)) && ((a && b) && c);
def d5 = -(x + 1) * (-x) - (-9223372036854775808) + min(x, max(y, z));
def d6 = (forall i in Q: a) -> exists i, j in Q, k in 1..2: i != j && k < 2 || a;
def d7 = sum i in Q: (count j in Q: a) + (max k in 0..1: k * x);
fairness f: weak (forall i in Q: taken(Q[i], l)), strong forall i in Q: if a then taken(P, l) or unconditional;
liveness l1 under f: G (a -> F (b U (c W !(G a)))) && ((a && b) R c || X a) -> (F a <-> G b);
liveness l2: forall i in Q: F (exists j in Q: G F (Q[i] at l)) && !(P at done);
";
    comes_back("brackets", text);
}

/// A program made with the builder is the one that its text says.
#[test]
fn a_built_program_comes_back() {
    let at = Span { start: 3, end: 5 };
    let mut builder = Builder::new();
    builder.comment("Made by hand.");
    builder.blank();
    let number = |value| Arc::new(Expr::int(value, at));
    let count = builder.shared(Variable {
        name: "count_of".to_owned(),
        dims: vec![Domain::Range(number(1), number(2))],
        scalar: Scalar::Range(number(-1), number(3)),
        initial: Initial::Value(Expr::int(-1, at)),
        loop_counter: false,
        span: at,
    });
    builder.remark("how many");
    builder.blank();
    let instances = Instances::Range(Expr::int(1, at), Expr::int(2, at));
    let process = builder.template("P", IdOrder::Ordered, Some("i"), instances, at);
    let owner = Some(process);
    // Declared in another order than placed.
    let last = builder.label(process, "last", at);
    let first = builder.label(process, "first", at);
    let own = || Expr::own(process, at);
    let place = || builder.place(owner, VarRef::Shared(count), vec![own()], at);
    let more = builder
        .read(owner, place())
        .arith(ArithOp::Add, Expr::int(1, at));
    let body = vec![
        Stmt::new(
            StmtKind::Await(own().compare(CompareOp::Gt, Expr::int(0, at))),
            at,
        )
        .labelled(first),
        builder
            .assign(owner, place(), more, at)
            .labelled(last)
            .noted(Note::Fails("too many".to_owned())),
        Stmt::new(StmtKind::Goto(first), at),
    ];
    builder.body(process, body);
    builder.blank();
    let domain = Domain::Template(process);
    let bound = builder.bound("j", &domain);
    let ended = Expr::at(
        process,
        Some(builder.value_of(bound, at)),
        vec![builder.done(), last],
        at,
    );
    let some = Expr::fold(FoldKind::Exists, bound, domain, ended.negated(), at);
    builder.property("some", PropertyKind::Invariant(some), at);
    let Built { program, layout } = builder.finish();
    let text = print(&program, &layout);
    insta::assert_snapshot!(text, @r"
    // Made by hand.

    shared count_of: array[1..2] of -1..3 = -1; // how many

    ordered process P[i: 1..2] {
        first: await i > 0;
        last:  count_of[i] := count_of[i] + 1; // fails: too many
        goto first;
    }

    invariant some: exists j in P: !(P[j] at {last, done});
    ");
    let read = threadwise_lang::check(&text);
    let mut read = read.program.expect("a program");
    // A text says nothing about what failing means.
    read.templates[process].body[1].note = program.templates[process].body[1].note.clone();
    assert_eq!(essence(program), essence(read));
}
