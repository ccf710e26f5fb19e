//! Which declaration a name means.
//!
//! SPIN reads a program once, from the top: a name must be declared before it is used. Each pair of braces in a process is a
//! scope, and a declaration lasts to the end of its scope. One thing is unusual: where a name is visible, it cannot be
//! declared again, neither in a scope further in nor in a process if it is a variable of the program.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use threadwise_lang::diagnostics::Code;
use threadwise_lang::suggest::closest;

use super::remarks::{Parsed, related, remark, unsupported};
use super::syntax::{At, Declaration, Expr, Name, Type};

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub at: At,
    pub kind: Type,
    /// How many elements, of an array.
    pub length: Option<Expr>,
    /// A number that it starts with, which SPIN takes where a constant belongs.
    pub start: Option<i64>,
}

impl Known {
    pub(crate) fn of(declaration: &Declaration, start: Option<i64>) -> Known {
        Known {
            at: declaration.name.at,
            kind: declaration.kind.clone(),
            length: declaration.length.clone(),
            start,
        }
    }

    pub(crate) fn array(&self) -> bool {
        self.length.is_some()
    }
}

/// What a name is, beside a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    Member,
    Record,
    Process,
    Inline,
}

impl Other {
    fn shown(self) -> &'static str {
        match self {
            Other::Member => "a member of an mtype",
            Other::Record => "a type",
            Other::Process => "a proctype",
            Other::Inline => "an inline",
        }
    }
}

/// Names that always mean something.
pub(crate) const BUILT_IN: &[&str] = &["_", "_pid", "_nr_pr", "_last", "_priority"];

#[derive(Default)]
pub(crate) struct Scopes {
    globals: BTreeMap<String, Known>,
    others: HashMap<String, (Other, At)>,
    fields: HashMap<String, BTreeMap<String, Known>>,
    /// The scopes that are open, with their numbers.
    open: Vec<(u32, BTreeMap<String, Known>)>,
    next: u32,
    /// All variables of the current process, with their scopes.
    seen: Vec<(String, u32, Known)>,
}

impl Scopes {
    pub(crate) fn new(inlines: &HashMap<Arc<str>, At>) -> Scopes {
        let others = inlines
            .iter()
            .map(|(name, at)| (name.to_string(), (Other::Inline, *at)))
            .collect();
        Scopes {
            others,
            ..Scopes::default()
        }
    }

    pub(crate) fn enter(&mut self) {
        self.open.push((self.next, BTreeMap::new()));
        self.next += 1;
    }

    pub(crate) fn leave(&mut self) {
        self.open.pop();
    }

    pub(crate) fn in_process(&self) -> bool {
        !self.open.is_empty()
    }

    /// The number of the innermost scope.
    pub(crate) fn current(&self) -> u32 {
        self.open.last().map_or(0, |(number, _)| *number)
    }

    /// Ends a process, and gives its variables.
    pub(crate) fn finish_process(&mut self) -> Vec<(String, u32, Known)> {
        self.open.clear();
        self.next = 0;
        std::mem::take(&mut self.seen)
    }

    /// What a name means, if it is a variable: its scope, `None` for one of the program.
    pub(crate) fn variable(&self, name: &str) -> Option<(Option<u32>, &Known)> {
        for (number, names) in self.open.iter().rev() {
            if let Some(known) = names.get(name) {
                return Some((Some(*number), known));
            }
        }
        self.globals.get(name).map(|known| (None, known))
    }

    pub(crate) fn is_global(&self, name: &str) -> bool {
        self.globals.contains_key(name)
    }

    pub(crate) fn is_other(&self, name: &str, other: Other) -> bool {
        self.others
            .get(name)
            .is_some_and(|(found, _)| *found == other)
    }

    pub(crate) fn declare_other(&mut self, name: &Name, other: Other) -> Parsed<()> {
        self.check_free(name)?;
        self.others.insert(name.text.clone(), (other, name.at));
        Ok(())
    }

    /// Declares a variable in the innermost scope.
    pub(crate) fn declare(&mut self, name: &Name, known: Known) -> Parsed<()> {
        self.check_free(name)?;
        match self.open.last_mut() {
            Some((number, names)) => {
                self.seen.push((name.text.clone(), *number, known.clone()));
                names.insert(name.text.clone(), known);
            }
            None => {
                self.globals.insert(name.text.clone(), known);
            }
        }
        Ok(())
    }

    pub(crate) fn declare_record(&mut self, name: &Name, fields: &[Declaration]) -> Parsed<()> {
        let mut known: BTreeMap<String, Known> = BTreeMap::new();
        for field in fields {
            if let Some(earlier) = known.insert(field.name.text.clone(), Known::of(field, None)) {
                let message = format!("a second field `{}` in `{}`", field.name.text, name.text);
                let message = remark(
                    field.name.at,
                    Code::DeclaredTwice,
                    message,
                    "rename one of them",
                );
                return Err(related(message, earlier.at, "the first"));
            }
        }
        self.fields.insert(name.text.clone(), known);
        Ok(())
    }

    fn check_free(&self, name: &Name) -> Parsed<()> {
        let twice = |earlier: At, what: &str| {
            let message = format!("`{}` is declared already, as {what}", name.text);
            let help =
                "rename one of them: in Promela a name that is visible cannot be declared again";
            Err(related(
                remark(name.at, Code::DeclaredTwice, message, help),
                earlier,
                "declared here",
            ))
        };
        if name.text == "STDIN" {
            let help = "model what is read with `select` or `if`";
            return Err(unsupported(
                name.at,
                "reading from `STDIN` is not supported",
                help,
            ));
        }
        if BUILT_IN.contains(&&*name.text) {
            let message = format!("`{}` is a name of the language", name.text);
            return Err(remark(
                name.at,
                Code::ReservedName,
                message,
                "choose another name",
            ));
        }
        if let Some((other, at)) = self.others.get(&name.text) {
            return twice(*at, other.shown());
        }
        match self.variable(&name.text) {
            Some((_, known)) => twice(known.at, "a variable"),
            None => Ok(()),
        }
    }

    /// A field of a record.
    pub(crate) fn field(&self, record: &str, name: &Name) -> Parsed<&Known> {
        let fields = self.fields.get(record);
        if let Some(known) = fields.and_then(|fields| fields.get(&name.text)) {
            return Ok(known);
        }
        let close = closest(
            &name.text,
            fields.into_iter().flat_map(|fields| fields.keys().cloned()),
        );
        let help = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("see the typedef of `{record}`"),
        };
        Err(remark(
            name.at,
            Code::UnknownName,
            format!("`{record}` has no field `{}`", name.text),
            help,
        ))
    }

    /// The message about a name that means no variable.
    pub(crate) fn unknown(&self, name: &Name) -> Box<crate::Remark> {
        if let Some((other, at)) = self.others.get(&name.text) {
            let message = format!("`{}` is {}, not a variable", name.text, other.shown());
            return related(
                remark(name.at, Code::NotAValue, message, "write a variable"),
                *at,
                "declared here",
            );
        }
        if self.seen.iter().any(|(seen, _, _)| *seen == name.text) {
            let message = format!("`{}` is declared in a block that has ended", name.text);
            let help = "a declaration lasts to the end of its braces: move it further out";
            return remark(name.at, Code::UnknownName, message, help);
        }
        let local = self.open.iter().flat_map(|(_, names)| names.keys());
        let members = self
            .others
            .iter()
            .filter(|(_, (other, _))| *other == Other::Member)
            .map(|(name, _)| name);
        let candidates = local.chain(self.globals.keys()).chain(members).cloned();
        let loops = ["while", "repeat", "loop", "until", "switch"];
        let help = match closest(&name.text, candidates) {
            _ if loops.contains(&name.text.as_str()) => {
                "loops and cases are written `do :: x < 3 -> .. :: else -> break od`".to_string()
            }
            Some(close) => format!("did you mean `{close}`?"),
            None => "declare it, above its first use".to_string(),
        };
        remark(
            name.at,
            Code::UnknownName,
            format!("`{}` is not declared", name.text),
            help,
        )
    }
}
