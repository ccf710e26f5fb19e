//! From tokens to syntax trees, by the parser of the crate `lang-c`.
//!
//! The parser gets a text that is written from the tokens, with a few type names in front of it, and its places are led back to those of the
//! tokens. It calls itself for what is nested, so how deep a program nests is counted first.
//!
//! Programs of templates are C but for three things, which are written as C can say them: `thread[N] name { .. }` becomes a function,
//! `atomic { .. }` a labelled block, and `param N;` is taken out.

use std::collections::HashSet;

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use lang_c::span::Span;

use super::source::{At, Built, malformed, unsupported};
use crate::front::preprocess::{Kind, Token};

/// How deep brackets may stand in one another.
const DEEPEST: usize = 100;
/// How many operators and keywords may stand between two semicolons or braces: each can be a level of the tree.
const LONGEST: usize = 1000;
/// How many `else` a function may have: in a chain each is a level of the tree.
const MOST_ELSE: usize = 400;

/// The label of a block that is one step.
pub(crate) const ATOMIC: &str = "__threadwise_atomic";
/// What starts a thread of a template.
pub(crate) const START: &str = "__threadwise_start";
/// What the name of a template's function begins with.
pub(crate) const TEMPLATE: &str = "__threadwise_template_";

/// Type names that headers declare. What they mean is said where types are read.
pub(crate) const TYPE_NAMES: &[&str] = &[
    "pthread_t",
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_attr_t",
    "pthread_mutexattr_t",
    "pthread_condattr_t",
    "pthread_rwlock_t",
    "pthread_rwlockattr_t",
    "pthread_spinlock_t",
    "pthread_barrier_t",
    "pthread_barrierattr_t",
    "pthread_once_t",
    "pthread_key_t",
    "sem_t",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "intmax_t",
    "uintmax_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "int_fast8_t",
    "int_fast16_t",
    "int_fast32_t",
    "uint_fast8_t",
    "uint_fast16_t",
    "uint_fast32_t",
    "int_least8_t",
    "int_least16_t",
    "int_least32_t",
    "uint_least8_t",
    "uint_least16_t",
    "uint_least32_t",
    "atomic_int",
    "atomic_uint",
    "atomic_bool",
    "atomic_char",
    "atomic_schar",
    "atomic_uchar",
    "atomic_short",
    "atomic_ushort",
    "atomic_long",
    "atomic_ulong",
    "atomic_llong",
    "atomic_ullong",
    "atomic_size_t",
    "atomic_intptr_t",
    "atomic_uintptr_t",
    "atomic_flag",
    "memory_order",
    "FILE",
    "va_list",
    "time_t",
    "useconds_t",
    "pid_t",
    "off_t",
    "mtx_t",
    "cnd_t",
    "thrd_t",
    "once_flag",
];

/// One `thread[..] name { .. }`.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub at: At,
    pub name: String,
    /// The tokens between the brackets, which say how many threads there are; none for one thread.
    pub size: Vec<Token>,
    /// `thread[]`: none at first.
    pub started: bool,
    /// The function that has its body.
    pub function: String,
}

/// One `param N = 2 where N >= 1;`.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: Token,
    pub initial: Option<Vec<Token>>,
    pub condition: Option<Vec<Token>>,
}

/// A program as a tree.
pub(crate) struct Parsed {
    pub unit: TranslationUnit,
    pub templates: Vec<Template>,
    pub parameters: Vec<Parameter>,
    pub places: Places,
}

/// Leads places of the parser's text back to the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Where each token begins in the text, and its place.
    pieces: Vec<(usize, At)>,
}

impl Places {
    /// Whether a place is one of the program, not of the names in front of it.
    pub fn is_program(&self, span: Span) -> bool {
        self.pieces
            .first()
            .is_some_and(|(start, _)| span.start >= *start)
    }

    pub fn at(&self, span: Span) -> At {
        let piece = |offset: usize| {
            let position = self.pieces.partition_point(|(start, _)| *start <= offset);
            self.pieces
                .get(position.saturating_sub(1))
                .map_or(At::default(), |(_, at)| *at)
        };
        let first = piece(span.start);
        first.to(piece(span.end.saturating_sub(1).max(span.start)))
    }
}

/// Refuses tokens that nest too deeply for what follows.
pub(crate) fn check_nesting(tokens: &[Token]) -> Built<()> {
    let mut open: Vec<&Token> = Vec::new();
    let mut operators = 0;
    let mut alternatives = 0;
    for token in tokens {
        match (token.kind, &*token.text) {
            (Kind::Sign, "(" | "[" | "{") => {
                open.push(token);
                if open.len() > DEEPEST {
                    let help = format!("at most {DEEPEST} brackets may stand in one another");
                    return unsupported(token.at, "the program is nested too deeply", help);
                }
            }
            (Kind::Sign, ")" | "]" | "}") => {
                let pair = match &*token.text {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                if open.pop().is_none_or(|open| !open.is(pair)) {
                    let message = format!("`{}` closes nothing", token.text);
                    return malformed(token.at, message, "open and close brackets in pairs");
                }
            }
            _ => {}
        }
        if open.is_empty() {
            alternatives = 0;
        }
        match (token.kind, &*token.text) {
            (Kind::Sign, ";" | "{" | "}") => operators = 0,
            (Kind::Sign, ",") => {}
            (Kind::Sign, _) => operators += 1,
            (Kind::Word, "else") => alternatives += 1,
            (
                Kind::Word,
                "if" | "while" | "for" | "do" | "switch" | "case" | "sizeof" | "struct",
            ) => {
                operators += 1;
            }
            _ => {}
        }
        if operators > LONGEST || alternatives > MOST_ELSE {
            let help = "break it into several statements or functions";
            return unsupported(token.at, "this is too long to be read", help);
        }
    }
    match open.last() {
        None => Ok(()),
        Some(open) => {
            let message = format!("`{}` is never closed", open.text);
            malformed(open.at, message, "open and close brackets in pairs")
        }
    }
}

/// Reads the tokens of a program.
pub(crate) fn parse(tokens: Vec<Token>) -> Built<Parsed> {
    check_nesting(&tokens)?;
    check_names(&tokens)?;
    let tokens = without_attributes(tokens)?;
    let (tokens, templates, parameters) = take_templates(tokens)?;
    let mut text = String::new();
    for name in TYPE_NAMES {
        text.push_str("typedef int ");
        text.push_str(name);
        text.push_str(";\n");
    }
    let mut places = Places::default();
    let dollar = dollar(&tokens);
    for token in &tokens {
        if token.kind == Kind::Sign && token.text.starts_with('#') {
            return malformed(
                token.at,
                "`#` is not expected here",
                "directives begin their line",
            );
        }
        places.pieces.push((text.len(), token.at));
        match (token.kind, &*token.text) {
            (Kind::Word, "__thread") => text.push_str("_Thread_local"),
            (Kind::Word, name) => text.push_str(&name.replace('$', &dollar)),
            (_, other) => text.push_str(other),
        }
        text.push(if token.is(";") { '\n' } else { ' ' });
    }
    let config = Config {
        cpp_command: String::new(),
        cpp_options: Vec::new(),
        flavor: Flavor::GnuC11,
    };
    match parse_preprocessed(&config, text) {
        Ok(parsed) => Ok(Parsed {
            unit: parsed.unit,
            templates,
            parameters,
            places,
        }),
        Err(error) => {
            let at = match places.pieces.is_empty() {
                true => At::default(),
                false => places.at(Span {
                    start: error.offset,
                    end: error.offset + 1,
                }),
            };
            let help = "this does not read as C; a macro or type of a header that is not known can be the cause";
            malformed(at, "something else was expected here", help)
        }
    }
}

/// What stands for `$` in names, which compilers allow and the parser does not, so that no two names become one.
fn dollar(tokens: &[Token]) -> String {
    let names = |with: bool| {
        let names = tokens.iter().filter(|token| token.kind == Kind::Word);
        names.filter(move |token| token.text.contains('$') == with)
    };
    let plain: HashSet<&str> = names(false).map(|token| &*token.text).collect();
    let mut stands = String::from("__");
    while names(true).any(|token| plain.contains(&*token.text.replace('$', &stands))) {
        stands.push('S');
    }
    stands
}

/// Attributes that say nothing about what a program does: hints for warnings, for the optimiser, and for where things are put.
pub(crate) const ATTRIBUTES: &[&str] = &[
    "access",
    "aligned",
    "alloc_size",
    "always_inline",
    "artificial",
    "cold",
    "const",
    "deprecated",
    "externally_visible",
    "fallthrough",
    "flatten",
    "format",
    "format_arg",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "noclone",
    "noinline",
    "nonnull",
    "nonstring",
    "noreturn",
    "nothrow",
    "optimize",
    "packed",
    "pure",
    "returns_nonnull",
    "section",
    "sentinel",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
    "weak",
];

/// Names that other verifiers give a meaning to begin with these.
const OF_OTHERS: &[&str] = &["__CPROVER", "__ESBMC"];

/// Refuses names, also those of labels, that other verifiers give a meaning to.
fn check_names(tokens: &[Token]) -> Built<()> {
    for token in tokens.iter().filter(|token| token.kind == Kind::Word) {
        if OF_OTHERS.iter().any(|start| token.text.starts_with(start)) {
            let message = format!(
                "`{}`, which another verifier gives a meaning to",
                token.text
            );
            let help = "use POSIX threads, `assert` and the functions `__VERIFIER_..`";
            return unsupported(token.at, message, help);
        }
    }
    Ok(())
}

/// Where the brackets close that open at a position.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        if depth == 0 {
            return position;
        }
    }
    tokens.len() - 1
}

/// Refuses attributes that may change what a program does. `tokens` are those between the outer brackets.
fn check_attributes(tokens: &[Token]) -> Built<()> {
    let mut position = 0;
    while position < tokens.len() {
        let token = &tokens[position];
        if token.is("(") || token.is(")") || token.is(",") {
            position += 1;
            continue;
        }
        let plain = token.text.trim_matches('_');
        if !ATTRIBUTES.contains(&plain) {
            let message = format!("the attribute `{}` is not supported", token.text);
            return unsupported(token.at, message, "write what it does in C");
        }
        // What an attribute is given.
        position = match tokens.get(position + 1) {
            Some(next) if next.is("(") => closing(tokens, position + 1) + 1,
            _ => position + 1,
        };
    }
    Ok(())
}

/// Whether the brackets that have just been closed are those of `if (..)` and the like, and not of a declarator.
fn tests(tokens: &[Token]) -> bool {
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().rev() {
        depth += i32::from(token.is(")")) - i32::from(token.is("("));
        if depth == 0 {
            let before = position.checked_sub(1).map(|before| &tokens[before]);
            return before.is_some_and(|word| {
                ["if", "while", "for", "switch"]
                    .iter()
                    .any(|text| word.is(text))
            });
        }
    }
    false
}

/// Takes out what compilers add to C for themselves. What would change the meaning of a program is refused.
fn without_attributes(tokens: Vec<Token>) -> Built<Vec<Token>> {
    let mut output: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let next_opens = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let attribute = token.is("__attribute__") || token.is("__attribute");
        let label = (token.is("__asm__") || token.is("asm") || token.is("__asm"))
            && output.last().is_some_and(|last| last.is(")"))
            && !tests(&output);
        if (attribute || label) && next_opens {
            let end = closing(&tokens, at + 1);
            if attribute {
                check_attributes(&tokens[at + 2..end])?;
            }
            at = end + 1;
            continue;
        }
        at += 1;
        match &*token.text {
            "__extension__" | "__restrict" | "__restrict__" | "restrict" | "__inline"
            | "__inline__" | "inline" | "_Noreturn" | "__volatile__" | "__volatile" | "__const"
            | "__signed__"
                if token.kind == Kind::Word => {}
            _ => output.push(token.clone()),
        }
    }
    Ok(output)
}

type Taken = (Vec<Token>, Vec<Template>, Vec<Parameter>);

/// Writes what only programs of templates have as C.
fn take_templates(tokens: Vec<Token>) -> Built<Taken> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(text));
    let mut level = 0i32;
    let mut found = false;
    for (at, token) in tokens.iter().enumerate() {
        level += i32::from(token.is("{")) - i32::from(token.is("}"));
        let begins = is(at + 1, "[") || (is(at + 2, "{") && tokens[at + 1].kind == Kind::Word);
        found |= level == 0 && token.is("thread") && begins;
    }
    if !found {
        return Ok((tokens, Vec::new(), Vec::new()));
    }
    let mut output = Vec::new();
    let (mut templates, mut parameters) = (Vec::new(), Vec::new());
    let (mut at, mut depth) = (0, 0usize);
    let word = |text: &str, like: &Token| Token {
        kind: match text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            true => Kind::Word,
            false => Kind::Sign,
        },
        text: text.into(),
        ..like.clone()
    };
    while at < tokens.len() {
        let token = &tokens[at];
        if depth == 0 && token.is("thread") {
            let mut next = at + 1;
            let mut size = Vec::new();
            let started = is(next, "[") && is(next + 1, "]");
            if is(next, "[") {
                next += 1;
                while next < tokens.len() && !is(next, "]") {
                    size.push(tokens[next].clone());
                    next += 1;
                }
                next += 1;
            }
            let name = tokens.get(next).filter(|token| token.kind == Kind::Word);
            let (Some(name), true) = (name, is(next + 1, "{") || is(next + 1, "(")) else {
                let help = "a template is written `thread[N] name { .. }`";
                return malformed(token.at, "this is no template", help);
            };
            let function = format!("{TEMPLATE}{}", name.text);
            for text in ["void", &function, "(", "void", ")"] {
                output.push(word(text, name));
            }
            templates.push(Template {
                at: token.at.to(name.at),
                name: name.text.to_string(),
                size,
                started,
                function,
            });
            at = next + 1;
            if is(at, "(") {
                match is(at + 1, ")") && is(at + 2, "{") {
                    true => at += 2,
                    false => {
                        let help = "write `thread[N] name { .. }`";
                        return unsupported(name.at, "a template has no parameters", help);
                    }
                }
            }
            continue;
        }
        if depth == 0 && (token.is("param") || token.is("parameter")) {
            let mut end = at + 1;
            while end < tokens.len() && !is(end, ";") {
                end += 1;
            }
            parameters.extend(read_parameters(token, &tokens[at + 1..end])?);
            at = end + 1;
            continue;
        }
        let plain = match &*token.text {
            "bool" => Some("_Bool"),
            "true" => Some("1"),
            "false" => Some("0"),
            _ => None,
        };
        if let (Some(plain), Kind::Word) = (plain, token.kind) {
            let mut word = word(plain, token);
            if plain.starts_with(|c: char| c.is_ascii_digit()) {
                word.kind = Kind::Number;
            }
            output.push(word);
            at += 1;
            continue;
        }
        // Any choice.
        if token.is("(") && is(at + 1, "*") && is(at + 2, ")") {
            for text in ["(", "__VERIFIER_nondet_bool", "(", ")", ")"] {
                output.push(word(text, token));
            }
            at += 3;
            continue;
        }
        if token.is("start") && is(at + 2, ";") && tokens[at + 1].kind == Kind::Word {
            for text in [START, "(", &*tokens[at + 1].text, ")", ";"] {
                output.push(word(text, token));
            }
            at += 3;
            continue;
        }
        if token.is("atomic") && is(at + 1, "{") {
            output.push(word(ATOMIC, token));
            output.push(word(":", token));
            at += 1;
            continue;
        }
        depth += usize::from(token.is("{"));
        depth = depth.saturating_sub(usize::from(token.is("}")));
        output.push(token.clone());
        at += 1;
    }
    Ok((output, templates, parameters))
}

/// `N, M` or `N = 2 where N >= 1`, with or without a type in front.
fn read_parameters(word: &Token, line: &[Token]) -> Built<Vec<Parameter>> {
    let help = "write `param N;`, `param N, M;` or `param N = 2 where N >= 1;`";
    let line = match line {
        [first, rest @ ..] if first.is("int") => rest,
        _ => line,
    };
    let mut found: Vec<Parameter> = Vec::new();
    let mut rest = line;
    loop {
        let [name, after @ ..] = rest else {
            return malformed(word.at, "a name is missing here", help);
        };
        if name.kind != Kind::Word {
            return malformed(name.at, "a name is expected here", help);
        }
        let end = after.iter().position(|token| token.is(","));
        let (own, others) = match end {
            None => (after, None),
            Some(end) => (&after[..end], Some(&after[end + 1..])),
        };
        let condition = own.iter().position(|token| token.is("where"));
        let (initial, condition) = match condition {
            None => (own, None),
            Some(position) => (&own[..position], Some(own[position + 1..].to_vec())),
        };
        let initial = match initial {
            [] => None,
            [equal, value @ ..] if equal.is("=") && !value.is_empty() => Some(value.to_vec()),
            [other, ..] => return malformed(other.at, "`;` is expected here", help),
        };
        found.push(Parameter {
            name: name.clone(),
            initial,
            condition,
        });
        match others {
            None => return Ok(found),
            Some(others) => rest = others,
        }
    }
}
