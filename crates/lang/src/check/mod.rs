//! Names, types and control flow: the syntax tree becomes a [`Program`].
//!
//! Declarations are collected first, so their order in the file does not matter. Every later
//! function returns `None` where it has reported an error already: one mistake, one message.

mod assign;
mod beside;
mod bounds;
mod calls;
mod compound;
mod declare;
mod expr;
mod flow;
mod follow;
mod held;
mod messages;
mod names;
mod property;
mod stmt;
mod touches;
mod unused;

use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::names::{EVERYWHERE, Record, SymbolKind};
use crate::program::*;
use crate::source::SourceMap;
use crate::syntax::{SyntaxKind, SyntaxNode, SyntaxToken, span, token_span};
use index_vec::IndexVec;

pub(crate) use bounds::{is_constant, literal};
pub(crate) use flow::{check_template, entry_label};
pub use flow::{control_flow, next_labels};
pub(crate) use stmt::{same_cell, same_value};

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// How deep expressions and blocks may be, with macros and definitions expanded.
pub(crate) const MAX_DEPTH: usize = 300;

/// How many numbers, parameters and operators the bound of a range may consist of.
pub(crate) const MAX_BOUND: usize = 200;

/// After this many errors the rest is not shown.
const MAX_ERRORS: usize = 100;

/// Names that are built in.
const BUILT_IN: &[&str] = &[
    "cas",
    "swap",
    "fetch_add",
    "next",
    "prev",
    "locked",
    "enabled",
    "taken",
];

/// Names of the functions of queues, where the program does not give them to definitions or macros.
const QUEUE_FUNCTIONS: [&str; 6] = ["send", "receive", "length", "empty", "full", "peek"];

/// The names of functions that a program may give to definitions and macros of its own.
pub fn free_functions() -> &'static [&'static str] {
    &[
        "send", "receive", "length", "empty", "full", "peek", "ended",
    ]
}

/// The names of the built-in functions.
pub fn built_in() -> &'static [&'static str] {
    BUILT_IN
}

/// Checks a parsed file.
pub(crate) fn check(tree: &SyntaxNode, syntax_errors: Vec<Diagnostic>) -> crate::Checked {
    let mut checker = Checker::default();
    let clean_syntax = syntax_errors.is_empty();
    checker.file = Some(tree.clone());
    checker.declare(tree);
    checker.check_bodies();
    let mut diagnostics = syntax_errors;
    follow::without_consequences(tree, &diagnostics, &mut checker.diagnostics);
    diagnostics.append(&mut checker.diagnostics);
    let has_errors = !clean_syntax || diagnostics.iter().any(|d| d.severity() == Severity::Error);
    let mut program = (!has_errors).then_some(checker.program);
    if let Some(program) = &mut program {
        program.source = Arc::new(SourceMap::of("", &tree.text().to_string()));
    }
    // Warnings about a program that is wrong anyway are noise.
    if has_errors {
        diagnostics.retain(|d| d.severity() == Severity::Error);
    }
    // A stable order, with what was found first at a place in front.
    diagnostics.sort_by_key(|d| d.span.start);
    if has_errors {
        // Warnings are all kept: a program that has many is accepted all the same, and whoever
        // denies one must find it.
        limit_errors(&mut diagnostics);
    }
    crate::Checked {
        program,
        diagnostics,
        names: checker.names.finish(),
    }
}

/// Checks the expression of an invariant that is not part of the file, whatever its type.
pub(crate) fn expression(
    tree: &SyntaxNode,
    invariant: &SyntaxNode,
) -> Result<crate::Watched, Vec<Diagnostic>> {
    let mut checker = Checker {
        file: Some(tree.clone()),
        ..Checker::default()
    };
    checker.declare(tree);
    checker.check_bodies();
    // What is wrong with the file, if anything is, was said when it was checked.
    checker.diagnostics.clear();
    let node = crate::syntax::exprs(invariant).next();
    let value = node.and_then(|node| checker.expr(&node, None, Site::Property, &Scope::default()));
    let mut diagnostics = checker.diagnostics;
    diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error);
    match value {
        Some(value) if diagnostics.is_empty() => Ok(crate::Watched {
            program: checker.program,
            value,
        }),
        _ => Err(diagnostics),
    }
}

fn limit_errors(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() <= MAX_ERRORS {
        return;
    }
    let hidden = diagnostics.len() - MAX_ERRORS;
    diagnostics.truncate(MAX_ERRORS);
    let last = diagnostics[MAX_ERRORS - 1].span;
    diagnostics.push(
        Diagnostic::new(
            Code::TooManyErrors,
            last,
            format!("{hidden} more messages are not shown"),
        )
        .label("the last one shown is here")
        .help("fix the first ones: later ones often follow from them"),
    );
}

/// What a global name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    Param(ParamId),
    Enum(EnumId),
    Member(EnumId, u32),
    Alias(usize),
    Shared(SharedId),
    /// A variable with parts.
    Compound(usize),
    Record(usize),
    Template(TemplateId),
    Def(DefId),
    Macro(usize),
}

/// What a name inside an expression or block stands for.
#[derive(Clone, Copy, Debug)]
enum Inner {
    Bound(BoundId),
    Counter(LocalId),
}

/// The names in scope besides the global ones and the process's own.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Innermost last.
    inner: Vec<(String, Inner)>,
    /// Inside a macro: its arguments, and the scope of the call.
    frame: Option<Rc<Frame>>,
}

/// A macro's arguments: by name, so each use resolves the argument again in the caller's scope.
#[derive(Debug)]
struct Frame {
    /// The macro, to notice when it leads back to itself.
    body: SyntaxNode,
    /// Where each parameter is declared, and its argument.
    args: BTreeMap<String, (Span, SyntaxNode)>,
    caller: Scope,
}

/// Where an expression stands, which decides what it may mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// Bounds, defaults, `where`: parameters only.
    Constant,
    /// Initial values: parameters, and in a local the own id.
    Initial(Option<TemplateId>),
    /// The body of a template.
    Program(TemplateId),
    /// A definition: anything but locals; what only properties may say is remembered.
    Def(DefId),
    /// Invariants and exceptions.
    Property,
    /// Fairness and liveness.
    Fairness,
}

/// A declaration that is checked when first needed.
#[derive(Clone, Debug, PartialEq)]
enum Lazy<T> {
    Waiting,
    Busy,
    Done(Option<T>),
}

/// The parts of a type.
#[derive(Clone, Debug)]
struct FullType {
    dims: Vec<Domain>,
    element: Element,
}

/// What is left of a type when all indices are given.
#[derive(Clone, Debug)]
enum Element {
    Scalar(Scalar),
    Record(usize),
    /// The greatest number of messages, and what a message is.
    Queue(Arc<Expr>, Rc<FullType>),
}

struct AliasDecl {
    node: SyntaxNode,
    state: Lazy<()>,
    ty: Option<FullType>,
}

struct MacroDecl {
    node: SyntaxNode,
    params: Vec<SyntaxToken>,
    /// Whether a call was read, and so its body.
    called: bool,
}

#[derive(Default)]
struct DefFacts {
    /// The first thing in it that only properties may say.
    property_only: Option<(Code, Span)>,
    /// The first thing in it that only fairness and liveness may say.
    fairness_only: Option<Span>,
    /// How deep its expression is, calls included.
    height: usize,
}

/// What is used, for the warnings.
#[derive(Default)]
struct Used {
    globals: BTreeSet<String>,
    shared: BTreeSet<SharedId>,
    locals: BTreeSet<(TemplateId, LocalId)>,
    fairness: BTreeSet<FairnessId>,
}

#[derive(Default)]
struct Checker {
    file: Option<SyntaxNode>,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    globals: BTreeMap<String, (Global, Span)>,
    aliases: Vec<AliasDecl>,
    records: Vec<compound::RecordDecl>,
    compounds: Vec<compound::Compound>,
    /// For each template, its local variables with parts, by name.
    local_compounds: IndexVec<TemplateId, BTreeMap<String, usize>>,
    /// For each `send` and `receive`, the numbers of messages that it changes.
    operations: BTreeMap<Span, BTreeSet<SharedId>>,
    macros: Vec<MacroDecl>,
    def_nodes: IndexVec<DefId, SyntaxNode>,
    def_states: IndexVec<DefId, Lazy<()>>,
    def_facts: IndexVec<DefId, DefFacts>,
    template_nodes: IndexVec<TemplateId, SyntaxNode>,
    /// What each bound variable ranges over; absent for definitions' parameters.
    bound_domains: IndexVec<BoundId, Option<Domain>>,
    /// Where each bound variable is declared.
    bound_spans: IndexVec<BoundId, Span>,
    fairness_names: BTreeMap<String, FairnessId>,
    /// For each template, its labels and its local variables by name.
    labels: IndexVec<TemplateId, BTreeMap<String, LocationId>>,
    local_names: IndexVec<TemplateId, BTreeMap<String, LocalId>>,
    /// For each template and name, the last number that a loop's counter of this name was given.
    loops_named: BTreeMap<(TemplateId, String), usize>,
    /// For each macro, whether it contains a label, once that is known.
    macro_labels: BTreeMap<usize, bool>,
    /// Variables whose type is wrong: what is said about them would only repeat it.
    broken_shared: BTreeSet<SharedId>,
    broken_locals: BTreeSet<(TemplateId, LocalId)>,
    /// Names that were reported as not declared, each once for a process.
    undeclared: BTreeSet<(String, TemplateId)>,
    /// How deep the checker is in what it reads.
    depth: usize,
    /// Whether a statement of the template that is being checked was left out for an error.
    incomplete: bool,
    /// Statements made by macro expansion so far.
    expanded: usize,
    used: Used,
    /// The names in directives: the kind, the name and its place.
    in_directives: Vec<(SymbolKind, String, Span)>,
    names: Record,
}

/// Of a process with so many labels all are named where one is not found.
const FEW_LABELS: usize = 12;

impl Checker {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// So many errors that nobody will see another: no more work goes into good messages.
    fn crowded(&self) -> bool {
        self.diagnostics.len() > 2 * MAX_ERRORS
    }

    /// Enters one more level of nesting, if there are any left. Whatever is behind the checker
    /// recurses over what it makes, so macros, definitions and types count where they are used.
    fn deeper<T>(&mut self, at: Span, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.report(
                Diagnostic::new(
                    Code::NestingTooDeep,
                    at,
                    format!(
                        "more than {MAX_DEPTH} levels of nesting, macros and definitions included"
                    ),
                )
                .label("too deep here")
                .help("a macro or a definition adds its own levels where it is used: let fewer of them build on one another"),
            );
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Looks a global name up, and counts it as used.
    fn global(&mut self, token: &SyntaxToken) -> Option<Global> {
        let name = token.text();
        let (global, declared) = *self.globals.get(name)?;
        self.names.resolve(token_span(token), declared);
        if !self.used.globals.contains(name) {
            self.used.globals.insert(name.to_owned());
        }
        Some(global)
    }

    /// A bound variable, which is known inside a node.
    fn new_bound(
        &mut self,
        name: &SyntaxToken,
        ty: ExprType,
        domain: Option<Domain>,
        kind: SymbolKind,
        node: &SyntaxNode,
    ) -> BoundId {
        let at = token_span(name);
        self.names.declare(name.text(), at, kind, span(node), None);
        self.bound_domains.push(domain);
        self.bound_spans.push(at);
        self.program.bounds.push(Bound {
            name: text(name),
            ty,
        })
    }

    /// A type in words.
    fn show(&self, ty: ExprType) -> String {
        match ty {
            ExprType::Bool => "a truth value".to_owned(),
            ExprType::Int => "an integer".to_owned(),
            ExprType::Enum(id) => format!("a member of `{}`", self.program.enums[id].name),
            ExprType::Id(id) => format!("an id of `{}`", self.program.templates[id].name),
            ExprType::OptId(id) => {
                format!("an optional id of `{}`", self.program.templates[id].name)
            }
        }
    }

    fn unknown(
        &mut self,
        code: Code,
        what: &str,
        token: &SyntaxToken,
        candidates: impl IntoIterator<Item = String>,
    ) {
        let name = token.text();
        let mut diagnostic = Diagnostic::new(
            code,
            token_span(token),
            format!("{what} `{name}` is not declared"),
        )
        .label("not found");
        let declared = match code {
            Code::UnknownType => Some(format!(
                "declare it: `enum {name} {{ .. }}` or `type {name} = ..;`"
            )),
            Code::UnknownFunction if what.ends_with("macro") => {
                Some(format!("declare it: `macro {name}(..) {{ .. }}`"))
            }
            Code::UnknownFunction => Some(format!("declare it: `def {name}(..) = ..;`")),
            _ => None,
        };
        if !self.crowded() {
            let candidates: Vec<String> = candidates.into_iter().collect();
            if let Some(similar) = crate::suggest::closest(name, candidates.iter().cloned()) {
                diagnostic = diagnostic
                    .help(format!("did you mean `{similar}`?"))
                    .fix(similar);
            } else if code == Code::UnknownLabel && (1..=FEW_LABELS).contains(&candidates.len()) {
                diagnostic = diagnostic.help(format!("the labels: {}", candidates.join(", ")));
            } else if let Some(declared) = declared {
                diagnostic = diagnostic.help(declared);
            }
        }
        self.report(diagnostic);
    }

    fn check_bodies(&mut self) {
        for id in self.template_nodes.indices() {
            self.template_locations(id);
        }
        for id in self.definition_order() {
            self.def(id);
        }
        for id in self.template_nodes.indices() {
            self.template_body(id);
        }
        // Of a text with errors warnings are not shown.
        if self
            .diagnostics
            .iter()
            .all(|d| d.severity() != Severity::Error)
        {
            self.warn_coarse();
        }
        self.properties();
        self.warn_unused();
        self.names_beside();
    }
}

/// The text of a name.
fn text(token: &SyntaxToken) -> String {
    token.text().to_owned()
}

/// The block directly in a node.
fn block_of(node: &SyntaxNode) -> Option<SyntaxNode> {
    crate::syntax::child(node, SyntaxKind::Block)
}
