//! Random arithmetic compared with gcc: conversions, promotions, signs, wrap-around, and where a signed operation overflows.
//!
//! gcc compiles a program that evaluates each expression in a process of its own and prints the value, or that an operation overflowed. The same expressions become assertions of a program that
//! the front end brings over: those with a value must hold, all of them together; one that overflows must fail, and so must one that is compared with a value that it does not have.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use threadwise::VerdictKind;
use threadwise_import::from_c::Integers;

use super::damage::Numbers;
use super::{bring, checks};

/// The variables: their types, names and values.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("signed char", "c1", "-7"),
    ("unsigned char", "c2", "200"),
    ("short", "s1", "-300"),
    ("unsigned short", "s2", "60000"),
    ("int", "i1", "11"),
    ("int", "i2", "-2147483600"),
    ("int", "i3", "2147483000"),
    ("unsigned int", "u1", "5"),
    ("unsigned int", "u2", "4294967290u"),
    ("long", "l1", "-123456789"),
    ("_Bool", "b1", "1"),
];

const EXPRESSIONS: usize = 600;
/// So many go into one program.
const TOGETHER: usize = 10;
pub const PATIENCE: Duration = Duration::from_secs(900);

/// An expression, and the same for gcc. There every operation that may overflow is a statement of its own, so that gcc does not decide comparisons without it.
fn expression(numbers: &mut Numbers, depth: usize, narrow: bool) -> (String, String) {
    if depth == 0 || numbers.below(6) == 0 {
        let constants = [
            "0", "1", "2", "3", "100", "255", "65535", "7u", "'A'", "40000L",
        ];
        let leaf = match numbers.below(4) {
            0 => (*numbers.of(&constants)).to_owned(),
            _ => numbers.of(VARIABLES).1.to_owned(),
        };
        return (leaf.clone(), leaf);
    }
    let (left, right) = (
        expression(numbers, depth - 1, narrow),
        expression(numbers, depth - 1, narrow),
    );
    let number = *numbers.of(&["1", "2", "3", "7", "-2", "-5", "10u"]);
    let shift = numbers.below(8);
    let kind = numbers.below(16);
    let bits = *numbers.of(&["&", "|", "^"]);
    let comparison = *numbers.of(&["<", "<=", ">", ">=", "==", "!="]);
    let both = *numbers.of(&["&&", "||"]);
    let unary = *numbers.of(&["-", "~", "!"]);
    // What a conversion to a signed type does with a value that does not fit is up to the compiler: it wraps around on the machines that there are.
    let signed = *numbers.of(&["signed char", "short", "int"]);
    let unsigned = *numbers.of(&[
        "unsigned char",
        "unsigned short",
        "unsigned",
        "long",
        "_Bool",
    ]);
    let ty = match narrow && numbers.below(2) == 0 {
        true => signed,
        false => unsigned,
    };
    let text = |left: &str, right: &str| match kind {
        0 | 1 => format!("({left} + {right})"),
        2 | 3 => format!("({left} - {right})"),
        4 => format!("({left} * {number})"),
        5 => format!("({left} / {number})"),
        6 => format!("({left} % {number})"),
        7 => format!("({left} {bits} {right})"),
        8 => format!("((unsigned)({left}) << {shift})"),
        9 => format!("({left} >> {shift})"),
        10 => format!("({left} {comparison} {right})"),
        11 => format!("({left} {both} {right})"),
        12 => format!("({left} ? {right} : {number})"),
        13 => format!("({unary}({left}))"),
        _ => format!("(({ty})({left}))"),
    };
    let (ours, theirs) = (text(&left.0, &right.0), text(&left.1, &right.1));
    match kind {
        0..=4 | 13 => (ours, format!("({{ __auto_type t = {theirs}; t; }})")),
        _ => (ours, theirs),
    }
}

fn declarations() -> String {
    let each = VARIABLES
        .iter()
        .map(|(ty, name, value)| format!("{ty} {name} = {value};\n"));
    each.collect()
}

/// What gcc makes of expressions: their values; nothing for those in which a signed operation overflows.
fn by_gcc(name: &str, expressions: &[String], flags: &[&str]) -> Vec<Option<i64>> {
    let mut program = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n",
    );
    program.push_str(&declarations());
    for (number, expression) in expressions.iter().enumerate() {
        let _ = writeln!(
            program,
            "static long long e{number}(void) {{ return {expression}; }}"
        );
    }
    program.push_str("int main(void) {\n");
    for number in 0..expressions.len() {
        let _ = writeln!(
            program,
            "fflush(stdout); {{ pid_t p = fork(); if (p == 0) {{ printf(\"%lld\\n\", e{number}()); fflush(stdout); _exit(0); }}
            int s; waitpid(p, &s, 0); if (!WIFEXITED(s)) puts(\"overflow\"); }}"
        );
    }
    program.push_str("return 0; }\n");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&source, program).unwrap();
    let compiled = Command::new("gcc")
        .args(["-w", "-O0", "-o"])
        .arg(&binary)
        .args(flags)
        .arg(&source)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}");
    let output = Command::new(&binary).output().unwrap();
    let values: Vec<Option<i64>> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.parse().ok())
        .collect();
    assert_eq!(values.len(), expressions.len());
    values
}

/// What is found about assertions over the variables.
fn verdict(assertions: &[String], integers: Integers) -> Result<VerdictKind, String> {
    let mut text = String::from("#include <assert.h>\n");
    text.push_str(&declarations());
    text.push_str("int main(void) {\n");
    // Variables that nothing writes are constants, and computed with while the program is brought over; every other program writes them.
    if assertions.iter().map(String::len).sum::<usize>() % 2 == 0 {
        for (_, name, _) in VARIABLES {
            let _ = writeln!(text, "    {name} = {name};");
        }
    }
    for assertion in assertions {
        let _ = writeln!(text, "    assert({assertion});");
    }
    text.push_str("    return 0;\n}\n");
    let imported = bring("arithmetic.c", &text, integers)?;
    Ok(checks(&imported.text(), PATIENCE)?.verdict)
}

/// Whether a program is refused because it works on the bits of numbers beyond 32 bits.
fn is_too_large(message: &str) -> bool {
    let known = ["on the bits of large numbers", "does not fit 64 bits"];
    known.iter().any(|part| message.contains(part))
}

fn equation(expression: &str, value: i64) -> String {
    match value {
        i64::MIN => format!("{expression} == (-9223372036854775807L - 1)"),
        value => format!("{expression} == {value}L"),
    }
}

fn compare(name: &str, integers: Integers, narrow: bool, flags: &[&str]) {
    if Command::new("gcc").arg("--version").output().is_err() {
        println!("gcc is not here: arithmetic was not compared");
        return;
    }
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d ^ name.len() as u64);
    let (expressions, theirs): (Vec<String>, Vec<String>) = (0..EXPRESSIONS)
        .map(|_| {
            let depth = 1 + numbers.below(3);
            expression(&mut numbers, depth, narrow)
        })
        .unzip();
    let values = by_gcc(name, &theirs, flags);
    let (mut right, mut wrong_value, mut overflows, mut open, mut refused) = (0, 0, 0, 0, 0);
    let mut mistakes = Vec::new();
    let valued: Vec<String> = expressions
        .iter()
        .zip(&values)
        .filter_map(|(expression, value)| Some(equation(expression, (*value)?)))
        .collect();
    for group in valued.chunks(TOGETHER) {
        match verdict(group, integers) {
            Ok(VerdictKind::Proved) => right += group.len(),
            _ => {
                // One by one, to say which.
                for assertion in group {
                    match verdict(std::slice::from_ref(assertion), integers) {
                        Ok(VerdictKind::Proved) => right += 1,
                        Ok(VerdictKind::Unknown) => open += 1,
                        Err(message) if is_too_large(&message) => refused += 1,
                        other => mistakes.push(format!("{assertion}: {other:?}")),
                    }
                }
            }
        }
    }
    for (expression, value) in expressions.iter().zip(&values).step_by(4) {
        let Some(value) = value else { continue };
        let other = equation(expression, value.wrapping_add(1));
        match verdict(std::slice::from_ref(&other), integers) {
            Ok(VerdictKind::Violated) => wrong_value += 1,
            Ok(VerdictKind::Unknown) => open += 1,
            Err(message) if is_too_large(&message) => refused += 1,
            other => mistakes.push(format!("{expression} is not {value} alone: {other:?}")),
        }
    }
    let overflowing = expressions.iter().zip(&values);
    for (expression, _) in overflowing.filter(|(_, value)| value.is_none()) {
        match verdict(&[format!("({expression} == 0) || 1")], integers) {
            Ok(VerdictKind::Violated) => overflows += 1,
            Ok(VerdictKind::Unknown) => open += 1,
            Err(message) if is_too_large(&message) => refused += 1,
            other => mistakes.push(format!("{expression} overflows: {other:?}")),
        }
    }
    let summary = format!(
        "{right} right, {wrong_value} that differ, {overflows} overflows, {open} open, {refused} refused"
    );
    println!("{name}: {summary}");
    assert!(
        mistakes.is_empty(),
        "{name}: {summary}\n{}",
        mistakes.join("\n")
    );
    assert!(right >= 150 && wrong_value >= 30, "{name}: {summary}");
    assert!(open <= 10 && refused <= 50, "{name}: {summary}");
    assert_eq!(
        overflows > 5,
        integers == Integers::Mathematical,
        "{name}: {summary}"
    );
}

#[test]
fn machine_arithmetic_is_that_of_gcc() {
    compare("machine", Integers::Machine, true, &["-fwrapv"]);
}

#[test]
fn checked_arithmetic_is_that_of_gcc_and_overflows_are_found() {
    let trap = [
        "-fsanitize=signed-integer-overflow",
        "-fsanitize-undefined-trap-on-error",
    ];
    compare("checked", Integers::Mathematical, false, &trap);
}
