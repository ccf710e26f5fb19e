//! What a witness needs to know about the text of a C program: which function a line is in, which global variables are integers, and where mutexes are locked.
//!
//! The front end knows C; this only looks at words, on a text from which comments, strings and directives were taken out. Where words do not settle a question the answer is no, and
//! a witness then says less.

use std::collections::BTreeSet;

use threadwise_lang::program::{self as lang, Block, Instances, StmtKind};
use threadwise_lang::source::SourceLines;

use super::{ASSERT, REACH_ERROR};
use crate::foreign::for_statements;
use crate::session::Session;

/// A program with what was found in its text.
pub(crate) struct Program<'a> {
    file: &'a str,
    text: &'a str,
    words: Vec<Word<'a>>,
    functions: Vec<Function<'a>>,
    globals: Vec<Global<'a>>,
    /// The templates of the model with their labels.
    pub(crate) templates: Vec<Template>,
}

/// A word or a sign.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    /// The line, from 1.
    line: u32,
    /// The column in characters, from 1.
    column: u32,
}

#[derive(Debug)]
struct Function<'a> {
    name: &'a str,
    first: u32,
    last: u32,
}

#[derive(Debug)]
struct Global<'a> {
    name: &'a str,
    /// Whether it is of a type whose values compare with all others as numbers do.
    plain: bool,
}

/// A template of the model.
pub(crate) struct Template {
    pub(crate) name: String,
    /// Whether it is one process.
    pub(crate) single: bool,
    /// The labels with the lines of the program that they come from.
    pub(crate) labels: Vec<(String, Option<u32>)>,
}

/// Words of a type that do not say which.
const QUALIFIERS: [&str; 5] = ["static", "volatile", "const", "_Atomic", "extern"];
/// Words of integer types whose values are all within those of `int`.
const PLAIN: [&str; 13] = [
    "int",
    "short",
    "char",
    "signed",
    "bool",
    "_Bool",
    "atomic_int",
    "atomic_bool",
    "int8_t",
    "int16_t",
    "int32_t",
    "uint8_t",
    "uint16_t",
];
/// Words of the other integer types whose values are all within those of `long long`.
const WIDE: [&str; 5] = ["unsigned", "uint32_t", "atomic_uint", "int64_t", "long"];

impl<'a> Program<'a> {
    pub(crate) fn of(session: &'a Session) -> Program<'a> {
        let mut program = Program::new(session.name(), session.source());
        // Where the front end has joined steps under a mutex, facts about what it protects hold between these steps only, and C has places inside.
        if let Some(model) = session.program() {
            let mut joined = false;
            for template in &model.templates {
                for_statements(&template.body, &mut |stmt| {
                    joined |= stmt.label.is_none() && matches!(stmt.kind, StmtKind::Lock(_));
                });
            }
            if !joined {
                program.templates = templates(model);
            }
        }
        program
    }

    /// A program without a model.
    pub(crate) fn new(file: &'a str, text: &'a str) -> Program<'a> {
        let mut program = Program {
            file,
            text,
            words: words(text),
            functions: Vec::new(),
            globals: Vec::new(),
            templates: Vec::new(),
        };
        program.read_declarations();
        program
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Whether a word is on a line.
    pub(crate) fn mentions(&self, line: u32, word: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|w| w.line == line && w.text == word)
    }

    /// Whether a word is anywhere.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w.text == word)
    }

    /// The function that a line is in.
    pub(crate) fn function(&self, line: u32) -> Option<&'a str> {
        let mut functions = self.functions.iter();
        let around = functions.find(|f| f.first <= line && line <= f.last)?;
        Some(around.name)
    }

    /// Whether there is a function with this name.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.functions.iter().any(|f| f.name == name)
    }

    /// Whether the model has the body of a function once, as far as words tell: it is `main`, it is called in one place of such a function, or it is what the threads of one template
    /// execute. What is written once has a label wherever one can be; of a second copy some statements may be left out.
    pub(crate) fn is_once(&self, function: &str) -> bool {
        self.is_once_within(function, 20)
    }

    fn is_once_within(&self, function: &str, depth: usize) -> bool {
        if function == "main" {
            return true;
        }
        let (mut callers, mut threads) = (Vec::new(), 0);
        for (place, word) in self.words.iter().enumerate() {
            let around = self.function(word.line);
            if word.text != function || around.is_none() || around == Some(function) {
                continue;
            }
            let called = self.words.get(place + 1).is_some_and(|w| w.text == "(");
            match (called, around) {
                (true, Some(caller)) => callers.push(caller),
                _ => threads += 1,
            }
        }
        let copies = self.templates.iter().filter(|template| {
            let rest = template.name.strip_prefix(function);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '_'))
        });
        match (callers.as_slice(), threads) {
            ([], _) => copies.count() == 1,
            ([caller], 0) => depth > 0 && self.is_once_within(caller, depth - 1),
            _ => false,
        }
    }

    /// What the competition calls the property that the checks imply.
    pub(crate) fn specification(&self) -> &'static str {
        match self.has("reach_error") {
            true => REACH_ERROR,
            false => ASSERT,
        }
    }

    /// A global integer variable in an expression; with a conversion if it might not compare as numbers do.
    pub(crate) fn global(&self, name: &str, arithmetic: bool) -> Option<String> {
        let mut all = self.globals.iter().filter(|global| global.name == name);
        let global = all.next()?;
        if all.next().is_some() {
            return None;
        }
        Some(match global.plain && !arithmetic {
            true => name.to_owned(),
            false => format!("(long long){name}"),
        })
    }

    /// The lines where a mutex is locked (`true`) and unlocked, if these, its initialisation and its declaration are all that is said about it.
    pub(crate) fn locking(&self, mutex: &str) -> Option<Vec<(u32, bool)>> {
        let mut lines = Vec::new();
        for (place, word) in self.words.iter().enumerate() {
            if word.text != mutex {
                continue;
            }
            let before = |back: usize| {
                let word = place.checked_sub(back).and_then(|at| self.words.get(at));
                word.map_or("", |word| word.text)
            };
            let after = self.words.get(place + 1).map_or("", |word| word.text);
            match (before(3), before(2), before(1), after) {
                ("pthread_mutex_lock", "(", "&", ")") => lines.push((word.line, true)),
                ("pthread_mutex_unlock", "(", "&", ")") => lines.push((word.line, false)),
                ("pthread_mutex_init", "(", "&", ",") => {}
                ("pthread_mutex_destroy", "(", "&", ")") => {}
                (_, _, "pthread_mutex_t" | ",", "=" | "," | ";")
                    if self.function(word.line).is_none() => {}
                _ => return None,
            }
        }
        lines.dedup();
        // Two on one line could not be told apart.
        let mut only: Vec<u32> = lines.iter().map(|(line, _)| *line).collect();
        only.dedup();
        (!lines.is_empty() && only.len() == lines.len()).then_some(lines)
    }

    /// If a line has `__VERIFIER_nondet_..()` once: the column of the closing parenthesis.
    pub(crate) fn input(&self, line: u32) -> Option<u32> {
        let mut on_line = self.words.iter().filter(|w| w.line == line);
        let called = |word: &&Word<'a>| word.text.starts_with("__VERIFIER_nondet_");
        on_line.by_ref().find(called)?;
        let (open, close) = (on_line.next()?, on_line.next()?);
        let alone = (open.text, close.text) == ("(", ")") && !on_line.any(|word| called(&word));
        alone.then_some(close.column)
    }

    /// Functions and global variables.
    fn read_declarations(&mut self) {
        let mut declaration: Vec<Word<'a>> = Vec::new();
        let (mut braces, mut open_function): (usize, Option<(&'a str, u32)>) = (0, None);
        for word in std::mem::take(&mut self.words) {
            match word.text {
                "{" => {
                    if braces == 0 {
                        open_function = function_name(&declaration).map(|name| (name, word.line));
                        if let (Some((_, first)), Some(word)) =
                            (&mut open_function, declaration.first())
                        {
                            *first = word.line;
                        }
                    }
                    braces += 1;
                }
                "}" => {
                    braces = braces.saturating_sub(1);
                    if braces == 0
                        && let Some((name, first)) = open_function.take()
                    {
                        let last = word.line;
                        self.functions.push(Function { name, first, last });
                        declaration.clear();
                    }
                }
                ";" if braces == 0 => {
                    self.read_globals(&declaration);
                    declaration.clear();
                }
                _ if braces == 0 => declaration.push(word),
                _ => {}
            }
            self.words.push(word);
        }
    }

    /// The variables of a declaration, if they are integers.
    fn read_globals(&mut self, declaration: &[Word<'a>]) {
        let integer = |word: &str| {
            QUALIFIERS.contains(&word) || PLAIN.contains(&word) || WIDE.contains(&word)
        };
        let types = declaration.iter().take_while(|word| integer(word.text));
        let types: Vec<&str> = types.map(|word| word.text).collect();
        let long = types.contains(&"long");
        if types.iter().all(|word| QUALIFIERS.contains(word))
            || (long && types.contains(&"unsigned"))
        {
            return;
        }
        let plain = !types.iter().any(|word| WIDE.contains(word));
        let mut names = Vec::new();
        let (mut depth, mut expected) = (0usize, true);
        for word in &declaration[types.len()..] {
            match word.text {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "," if depth == 0 => expected = true,
                // A pointer, or a function.
                "*" if expected => return,
                text if expected && depth == 0 => match is_name(text) {
                    true => {
                        names.push(text);
                        expected = false;
                    }
                    false => return,
                },
                _ => {}
            }
        }
        let is_function = declaration
            .get(types.len() + 1)
            .is_some_and(|w| w.text == "(");
        if !is_function {
            let globals = names.into_iter().map(|name| Global { name, plain });
            self.globals.extend(globals);
        }
    }
}

/// The name of the function that a declaration before `{` begins.
fn function_name<'a>(declaration: &[Word<'a>]) -> Option<&'a str> {
    if declaration.iter().any(|word| word.text == "=") {
        return None;
    }
    let pairs = declaration.iter().zip(declaration.iter().skip(1));
    let mut depth = 0usize;
    for (word, after) in pairs {
        match word.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "__attribute__" => {}
            text if depth == 0 && is_name(text) && after.text == "(" => return Some(text),
            _ => {}
        }
    }
    None
}

fn is_name(word: &str) -> bool {
    let mut characters = word.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The words and signs of a C text, without comments, strings, characters and directives.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut line, mut column) = (1, 1);
    let mut rest = text;
    let mut line_begins = true;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            '#' if line_begins => directive(rest),
            '"' | '\'' => literal(rest, first),
            c if c.is_ascii_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let text = &rest[..end.unwrap_or(rest.len())];
                words.push(Word { text, line, column });
                text.len()
            }
            c if c.is_whitespace() => c.len_utf8(),
            c => {
                let text = &rest[..c.len_utf8()];
                words.push(Word { text, line, column });
                text.len()
            }
        };
        for c in rest[..length].chars() {
            match c {
                '\n' => (line, column, line_begins) = (line + 1, 1, true),
                c => {
                    column += 1;
                    line_begins &= c.is_whitespace();
                }
            }
        }
        rest = &rest[length..];
    }
    words
}

/// How long a directive is: to the end of the line that does not end in a backslash.
fn directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // The line's end is not part of it.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// How long a string or a character is.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The templates of the program. A label has a line only if that line's statement begins with a label wherever it occurs in the program: otherwise a process may be about to execute the
/// statement without being at one of its labels.
fn templates(program: &lang::Program) -> Vec<Template> {
    let lines = program.source.lines();
    let mut passed = Passed::default();
    let declared = program.params.iter().map(|param| param.span);
    let declared = declared.chain(program.shared.iter().map(|variable| variable.span));
    declared.for_each(|span| passed.comes_to(lines.line(span), false));
    for template in &program.templates {
        passed.comes_to(lines.line(template.span), false);
        let locals = template.locals.iter().map(|variable| variable.span);
        locals.for_each(|span| passed.comes_to(lines.line(span), false));
        passed.block(&template.body, &lines);
    }
    let each = program.templates.iter().map(|template| {
        let labels = template.locations.iter_enumerated();
        let labels = labels.filter(|(id, _)| *id != template.done());
        let usable = |line: &u32| !passed.unusable.contains(line);
        Template {
            name: template.name.clone(),
            single: matches!(template.instances, Instances::Single),
            labels: labels
                .map(|(_, label)| {
                    let line = Some(lines.line(label.span)).filter(usable);
                    (label.name.clone(), line)
                })
                .collect(),
        }
    });
    each.collect()
}

/// The lines that the text of a program comes from, in the order of that text.
#[derive(Default)]
struct Passed {
    before: Option<u32>,
    /// Lines with something that has no label.
    unusable: BTreeSet<u32>,
}

impl Passed {
    fn comes_to(&mut self, line: u32, labelled: bool) {
        if self.before != Some(line) && !labelled {
            self.unusable.insert(line);
        }
        self.before = Some(line);
    }

    fn block(&mut self, block: &Block, lines: &SourceLines<'_>) {
        for stmt in block {
            let line = lines.line(stmt.span);
            self.comes_to(line, stmt.label.is_some());
            for inner in stmt.kind.parts().blocks {
                if !inner.is_empty() {
                    self.block(inner, lines);
                    self.comes_to(line, false);
                }
            }
        }
    }
}
