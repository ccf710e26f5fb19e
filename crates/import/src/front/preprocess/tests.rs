//! Small texts, expanded as `cpp` does.

use super::{Dialect, Kind, Token, preprocess};
use crate::Settings;
use crate::front::remarks::Parsed;
use crate::front::source::{At, Sources};

/// Words, numbers and texts with white space around them, and single signs.
fn tokens(text: &str, file: u32) -> Parsed<Vec<Token>> {
    let mut out = Vec::new();
    for (line, content) in text.split_inclusive('\n').scan(0, |start, line| {
        *start += line.len();
        Some((*start - line.len(), line))
    }) {
        let (mut first, mut spaced, mut at) = (true, false, 0);
        while let Some(character) = content[at..].chars().next() {
            let rest = &content[at..];
            if character.is_whitespace() {
                (at, spaced) = (at + 1, true);
                continue;
            }
            let length = |wanted: fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
            let (kind, length) = match character {
                '"' => (Kind::Text, 2 + rest[1..].find('"').unwrap_or(0)),
                c if c.is_ascii_digit() => (Kind::Number, length(|c| c.is_ascii_digit())),
                c if c.is_alphabetic() || c == '_' => {
                    (Kind::Word, length(|c| c.is_alphanumeric() || c == '_'))
                }
                '@' => (Kind::Stray, 1),
                '.' if rest.starts_with("...") => (Kind::Sign, 3),
                c if "#|&<=".contains(c) && rest[1..].starts_with(c) => (Kind::Sign, 2),
                _ => (Kind::Sign, 1),
            };
            let place = At {
                file,
                start: (line + at) as u32,
                end: (line + at + length) as u32,
            };
            out.push(Token {
                first,
                spaced,
                ..Token::new(kind, &rest[..length], place)
            });
            (first, spaced, at) = (false, false, at + length);
        }
    }
    Ok(out)
}

const DIALECT: Dialect = Dialect {
    tokens,
    defined: &[&[("GIVEN", "7")]],
    header: |name, is_defined| match name {
        "known.h" if is_defined("OTHER") => Some(&[("FROM_HEADER", "9")]),
        "known.h" => Some(&[("FROM_HEADER", "8")]),
        _ => None,
    },
    unknown_header: "leave it out",
};

fn tried(text: &str) -> Result<String, (String, String)> {
    let files = [
        ("a.h", "#ifndef A\n#define A 1\n#include \"b.h\"\na\n#endif"),
        ("b.h", "#include \"a.h\"\nb"),
        ("once.h", "#pragma once\no"),
        ("again.h", "#include \"again.h\""),
        (
            "twice.h",
            "#ifndef N3\n#ifdef N2\n#define N3\n#elif defined(N1)\n#define N2\n#else\n#define N1\n#endif\n#include \"twice.h\"\n#endif",
        ),
    ];
    let mut include = |name: &str| match files.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok((*text).to_string()),
        None => Err("no such file".to_string()),
    };
    let mut settings = Settings {
        defines: vec![
            ("OUTSIDE".into(), "9".into()),
            ("F(x)".into(), "[x]".into()),
        ],
        include: &mut include,
    };
    let mut sources = Sources::new("test", text);
    match preprocess(&DIALECT, &mut sources, &mut settings) {
        Ok(tokens) => {
            let texts: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
            Ok(texts.join(" "))
        }
        Err(remark) => {
            assert!(remark.diagnostic.help.is_some(), "{remark:?}");
            let file = &sources.files()[remark.file].text;
            let span = remark.diagnostic.span;
            let place = file[span.start as usize..span.end as usize].to_string();
            Err((remark.diagnostic.message, place))
        }
    }
}

#[test]
fn macros_give_what_they_give_in_c() {
    for (text, expected) in [
        ("#define A b\n#define b A c\nA", "A c"),
        // The name of a macro with parameters may be the end of another's expansion.
        ("#define f(x) <x>\n#define g f\ng (1)", "< 1 >"),
        ("#define f(x) x f\nf(1)(2)", "1 f ( 2 )"),
        // The standard's own example of names that stay, and of those that do not.
        (
            "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define t(a) a\n\
             f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);",
            "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;",
        ),
        ("#define f(a, b) b a\nf((1, 2), [3)", "[ 3 ( 1 , 2 )"),
        ("#define none() 1\nnone() none", "1 none"),
        ("#define f(a) a a\nf()f(1\n2)", "1 2 1 2"),
        ("#define f (1)\nf(2)", "( 1 ) ( 2 )"),
        ("GIVEN OUTSIDE F(3)", "7 9 [ 3 ]"),
        ("#include <known.h>\nFROM_HEADER", "8"),
        ("#define OTHER\n#include <known.h>\nFROM_HEADER", "9"),
    ] {
        assert_eq!(tried(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn tokens_are_joined_and_quoted() {
    for (text, expected) in [
        (
            "#define NAME(a, n) a ## n\n#define n 5\nNAME(x, 1) NAME(x, n) NAME(, y) NAME(y,) NAME(,)",
            "x1 xn y y",
        ),
        (
            "#define J(a, b, c) a ## b ## c\nJ(1, 2, 3) J(x,,z) J(,,z) J(,y,)",
            "123 xz z y",
        ),
        ("#define A(b) p b ## x\nA()", "p x"),
        (
            "#define X 1\n#define S(a) #a\n#define T(a) S(a)\nS(X  +y) T(X) S(\"q\")",
            "\"X +y\" \"1\" \"\\\"q\\\"\"",
        ),
        (
            "#define V(a, ...) a: __VA_ARGS__\nV(1, 2, (3, 4)) V(1)",
            "1 : 2 , ( 3 , 4 ) 1 :",
        ),
        (
            "#define P(f, more...) p(f, ## more)\nP(1) P(1, 2, x)",
            "p ( 1 ) p ( 1 , 2 , x )",
        ),
        (
            "#define ALL(...) [__VA_ARGS__]\nALL() ALL(1, 2)",
            "[ ] [ 1 , 2 ]",
        ),
    ] {
        assert_eq!(tried(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn conditions_choose_what_is_read() {
    for (condition, expected) in [
        ("1 || 1 / 0", true),
        ("0 && 1 % 0", false),
        ("defined GIVEN && !defined(NOT)", true),
        ("GIVEN == 7 && NOT == 0", true),
        ("1 ? 0 : 1 / 0", false),
        ("-1 < 0", true),
        ("1 << 3 == 8", true),
        ("010 == 8", true),
        ("4294967295 > 0 && -1 < 4294967295", true),
    ] {
        let text = format!("#if {condition}\nyes\n#else\nno\n#endif");
        let read = if expected { "yes" } else { "no" };
        assert_eq!(tried(&text).as_deref(), Ok(read), "{condition}");
    }
    let chain = "#if 0\n@ 1\n#elif 0\n2\n#elif 1\n3\n#elif 1 / 0\n4\n#else\n5\n#endif";
    assert_eq!(tried(chain).as_deref(), Ok("3"));
    let inside = "#ifdef NOT\n#if 1 /\n@\n#else\n#error\n#endif\n#else\n6\n#endif";
    assert_eq!(tried(inside).as_deref(), Ok("6"));
}

#[test]
fn files_include_each_other() {
    assert_eq!(
        tried("#include \"a.h\"\n#include \"a.h\"").as_deref(),
        Ok("b a")
    );
    let once = "#include \"once.h\"\n#include \"once.h\"\nx";
    assert_eq!(tried(once).as_deref(), Ok("o x"));
    // A file may include itself as long as that ends.
    assert_eq!(tried("#include \"twice.h\"\nx").as_deref(), Ok("x"));
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (text, message, place) in [
        (
            "#define f(a) a\nf(1, 2)",
            "macro `f` takes 1 arguments, not 2",
            "f",
        ),
        (
            "#define f(a) a\nf(1",
            "the call of macro `f` is not closed",
            "f",
        ),
        ("#define f(a, a) a", "two parameters are named `a`", "a"),
        ("#define f(a,) a", "`,` cannot stand here", ","),
        ("#define f(..., a) a", "`,` cannot stand here", ","),
        ("#define f(a", "the macro's parameters have no end", "f"),
        ("#define f(a) #b", "`#` in a macro needs a parameter", "#"),
        ("#define f ## b", "`##` at an end of a macro", "##"),
        (
            "#define j(a, b) a ## b\nj(+, 1)",
            "`##` makes `+1` of two tokens",
            "j",
        ),
        ("x # y", "`#` is out of place", "#"),
        ("x @", "`@` has no meaning here", "@"),
        ("#if 1 / 0\n#endif", "this cannot be computed", "/"),
        ("#if 1 +\n#endif", "the condition is not complete", "if"),
        ("#if (1\n#endif", "this parenthesis is not closed", "("),
        ("#if 1 2\n#endif", "`2` was not expected here", "2"),
        ("#if 1", "this `#if` is never closed", "#"),
        ("#endif", "`#endif` without an `#if`", "endif"),
        ("#if 1\n#else\n#else\n#endif", "a second `#else`", "else"),
        (
            "#if 1\n#else\n#elif 1\n#endif",
            "`#elif` after `#else`",
            "elif",
        ),
        ("#error no no", "the program says `#error no no`", "error"),
        ("#defin x", "there is no directive `#defin`", "defin"),
        ("#include", "no file is named", "include"),
        (
            "#include <other.h>",
            "the header `<other.h>` is not known",
            "<other.h>",
        ),
        (
            "#include \"none.h\"",
            "`none.h` cannot be read: no such file",
            "\"none.h\"",
        ),
        (
            "#include \"again.h\"",
            "too many files include each other",
            "\"again.h\"",
        ),
    ] {
        let refused = (message.to_string(), place.to_string());
        assert_eq!(tried(text), Err(refused), "{text}");
    }
}

#[test]
fn a_few_lines_cannot_ask_for_too_much() {
    let doubled: String = (0..40)
        .map(|n| format!("#define m{} m{n} m{n}\n", n + 1))
        .collect();
    let (message, _) = tried(&format!("{doubled}m40")).unwrap_err();
    assert_eq!(message, "the macros expand to too much text");
    let deep = format!("#define f(a) a\n{}1{}", "f(".repeat(100), ")".repeat(100));
    assert_eq!(tried(&deep).unwrap_err().0, "macro calls nested too deeply");
    let condition = format!("#if {}1{}\n#endif", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(
        tried(&condition).unwrap_err().0,
        "the condition is nested too deeply"
    );
}
