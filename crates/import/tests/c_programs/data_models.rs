//! How wide types are: what the front end says about them in each data model is what gcc says.

use std::process::{Command, Stdio};

use threadwise::VerdictKind;
use threadwise_import::from_c::{DataModel, Integers, Reading};

use super::arithmetic::PATIENCE;
use super::{bring_as, checks};

/// What may hold in one data model and not in the other, and whether it does with 64 bits and with 32. Constant expressions, so that gcc can say.
const CLAIMS: &[(&str, bool, bool)] = &[
    ("sizeof(long) == 8", true, false),
    ("sizeof(long) == 4", false, true),
    ("sizeof(long long) == 8", true, true),
    ("sizeof(void *) == sizeof(long)", true, true),
    ("sizeof(size_t) == 8", true, false),
    ("sizeof(intptr_t) == 8", true, false),
    ("sizeof(int64_t) == 8", true, true),
    ("sizeof(int_fast32_t) == 4", false, true),
    ("sizeof(uintmax_t) == 8", true, true),
    ("sizeof(1L) == 8", true, false),
    ("sizeof(1LL) == 8", true, true),
    ("sizeof(2147483648) == 8", true, true),
    ("sizeof(2147483648L) == 8", true, true),
    ("sizeof(0x80000000) == 4", true, true),
    ("sizeof(0x80000000L) == 4", false, true),
    ("sizeof(4294967296UL) == 8", true, true),
    ("-1L < 1U", true, false),
    ("-1LL < 1U", true, true),
    ("-1L < 1UL", false, false),
    ("-1 < 0x80000000L", true, false),
    ("(long)4294967297LL == 1", false, true),
    ("(unsigned long)-1 == 4294967295U", false, true),
    ("(size_t)-1 > 4294967295U", true, false),
    ("LONG_MAX == 2147483647", false, true),
    ("LONG_MAX == 9223372036854775807LL", true, false),
    ("LONG_MIN < INT_MIN", true, false),
    ("1UL - 2 == 4294967295U", false, true),
];

/// What gcc says, if it is there and can.
fn by_gcc(claim: &str, flag: &str) -> Option<bool> {
    let says = |claim: &str| {
        let text = format!(
            "#define LONG_MAX __LONG_MAX__\n#define LONG_MIN (-LONG_MAX - 1)\n#define INT_MIN (-__INT_MAX__ - 1)\ntypedef __SIZE_TYPE__ size_t;\ntypedef long intptr_t;\ntypedef long long int64_t;\ntypedef long int_fast32_t;\ntypedef unsigned long long uintmax_t;\n_Static_assert({claim}, \"\");\n"
        );
        let mut gcc = Command::new("gcc");
        gcc.args([
            "-fsyntax-only",
            "-w",
            flag,
            "-ffreestanding",
            "-x",
            "c",
            "-",
        ]);
        let mut child = gcc
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        std::io::Write::write_all(&mut child.stdin.take()?, text.as_bytes()).ok()?;
        Some(child.wait().ok()?.success())
    };
    // One that cannot read even this says nothing.
    says("1")?.then(|| says(claim))?
}

#[test]
fn types_are_as_wide_as_in_gcc() {
    let mut asked = 0;
    for (claim, wide, narrow) in CLAIMS {
        for (data_model, flag, expected) in [
            (DataModel::Lp64, "-m64", *wide),
            (DataModel::Ilp32, "-m32", *narrow),
        ] {
            if let Some(theirs) = by_gcc(claim, flag) {
                assert_eq!(theirs, expected, "gcc {flag}: {claim}");
                asked += 1;
            }
            let text = format!(
                "#include <stdint.h>\n#include <limits.h>\n#include <assert.h>\nint main(void) {{ assert({claim}); return 0; }}\n"
            );
            let reading = Reading {
                integers: Integers::Machine,
                data_model,
            };
            // Numbers beyond 64 bits with a sign are refused.
            let ours = match bring_as("claim.c", &text, reading) {
                Ok(imported) => checks(&imported.text(), PATIENCE).unwrap().verdict,
                Err(message) => panic!("{data_model:?}: {claim}: {message}"),
            };
            let expected = match expected {
                true => VerdictKind::Proved,
                false => VerdictKind::Violated,
            };
            assert_eq!(ours, expected, "{data_model:?}: {claim}");
        }
    }
    match asked {
        0 => println!("gcc is not here: widths were not compared"),
        // One that knows both models, or 64 bits alone.
        _ => assert!(asked >= CLAIMS.len(), "gcc was asked {asked} times"),
    }
}

/// The macros that programs ask for.
#[test]
fn macros_are_those_of_the_machine() {
    let text = "#include <assert.h>\n#if defined(__LP64__) && !defined(__i386__)\nlong x = 2147483647;\n#elif __SIZEOF_POINTER__ == 4 && defined(__ILP32__)\nlong x = 1;\n#endif\nint main(void) { x++; assert(x > 2); return 0; }\n";
    for (data_model, expected) in [
        (DataModel::Lp64, VerdictKind::Proved),
        (DataModel::Ilp32, VerdictKind::Violated),
    ] {
        let reading = Reading {
            integers: Integers::Mathematical,
            data_model,
        };
        let imported = bring_as("macros.c", text, reading).unwrap();
        let found = checks(&imported.text(), PATIENCE).unwrap();
        assert_eq!(found.verdict, expected, "{data_model:?}");
    }
}

/// What overflows, and what messages call the type.
#[test]
fn long_overflows_where_it_is_narrow() {
    let text = "#include <assert.h>\nlong x = 2147483647; long long y = 9223372036854775806;\nint main(void) { x = x + 1; y = y + 1; return 0; }\n";
    let of = |data_model| {
        let reading = Reading {
            integers: Integers::Mathematical,
            data_model,
        };
        bring_as("overflow.c", text, reading).unwrap().text()
    };
    let wide = of(DataModel::Lp64);
    assert_eq!(
        checks(&wide, PATIENCE).unwrap().verdict,
        VerdictKind::Proved
    );
    let narrow = of(DataModel::Ilp32);
    assert_eq!(
        checks(&narrow, PATIENCE).unwrap().verdict,
        VerdictKind::Violated
    );
    assert!(narrow.contains("none of `int`"), "{narrow}");
}
