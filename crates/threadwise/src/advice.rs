//! What to try when a search reached a limit: only what can help with this model.
//!
//! A model whose states never end is not helped by more time or memory, so what may make them
//! endless is named first: integers without bounds that are written, and processes that are
//! started again and again. Both are guesses from the text: they may name something that is
//! bounded in fact, so they are advice and never part of a verdict.

use threadwise_lang::program::{
    Block, Place, Program, Scalar, Stmt, StmtKind, TemplateId, VarRef, Variable,
};

use crate::plan::Plan;
use crate::registry::chosen;
use crate::report::Kind;

/// What to try for properties of a kind, given what would raise the limit itself.
pub(crate) fn after_limit(program: &Program, plan: &Plan, kind: Kind, raise: &str) -> String {
    let mut ways = vec![raise.to_owned()];
    for option in chosen(plan.engine, kind).options {
        let helps = option.remedy.is_some_and(|helps| helps(program));
        if helps && !plan.options.engine_options.has(option) {
            ways.push(format!("--{}", option.name));
        }
    }
    ways.push("another --engine".to_owned());
    if plan.is_sweep() {
        ways.push("fewer instances".to_owned());
    }
    if !program.params.is_empty() {
        ways.push("smaller parameters".to_owned());
    }
    let last = ways.pop().unwrap_or_default();
    let ways = match ways.as_slice() {
        [] => last,
        [one] => format!("{one} or {last}"),
        more => format!("{}, or {last}", more.join(", ")),
    };
    match endless(program) {
        Some(cause) => format!("{cause}; otherwise try {ways}"),
        None => format!("try {ways}"),
    }
}

/// What may give a model infinitely many states.
pub(crate) fn endless(program: &Program) -> Option<String> {
    let mut found = Found::default();
    for (template, text) in program.templates.iter_enumerated() {
        let mut visitor = Visitor {
            program,
            template,
            found: &mut found,
            jumps: jumps(&text.body),
        };
        visitor.block(&text.body, false);
    }
    if let Some(name) = found.unbounded {
        return Some(format!(
            "`{name}` is an `int` without bounds: give it a range"
        ));
    }
    let name = &program.templates[found.started?].name;
    Some(format!(
        "`{name}` is started again and again: let only so many be started"
    ))
}

/// The first of each cause.
#[derive(Default)]
struct Found {
    unbounded: Option<String>,
    started: Option<TemplateId>,
}

struct Visitor<'a> {
    program: &'a Program,
    template: TemplateId,
    found: &'a mut Found,
    /// Whether the template has a `goto`, which may be a loop.
    jumps: bool,
}

impl Visitor<'_> {
    fn block(&mut self, block: &Block, again: bool) {
        for stmt in block {
            self.stmt(stmt, again);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, again: bool) {
        match &stmt.kind {
            StmtKind::Assign(places, _) | StmtKind::Havoc(places) => {
                places.iter().for_each(|place| self.written(place));
            }
            StmtKind::Cas { result, place, .. }
            | StmtKind::Swap { result, place, .. }
            | StmtKind::FetchAdd { result, place, .. } => {
                self.written(place);
                result.iter().for_each(|place| self.written(place));
            }
            StmtKind::Start(started, _) if again || self.jumps || *started == self.template => {
                self.found.started.get_or_insert(*started);
            }
            StmtKind::While(_, body) | StmtKind::Loop(body) => self.block(body, true),
            _ => {
                for body in bodies(&stmt.kind) {
                    self.block(body, again);
                }
            }
        }
    }

    fn written(&mut self, place: &Place) {
        let variable: &Variable = match place.var {
            VarRef::Shared(shared) => &self.program.shared[shared],
            VarRef::Local(local) => &self.program.templates[self.template].locals[local],
        };
        if matches!(variable.scalar, Scalar::Int) && self.found.unbounded.is_none() {
            self.found.unbounded = Some(variable.name.clone());
        }
    }
}

/// The blocks inside a statement.
fn bodies(kind: &StmtKind) -> Vec<&Block> {
    match kind {
        StmtKind::If(branches, otherwise) => {
            let branches = branches.iter().map(|(_, body)| body);
            branches.chain([otherwise]).collect()
        }
        StmtKind::Choose(bodies) => bodies.iter().collect(),
        StmtKind::ChooseIn(_, _, body)
        | StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::For(_, _, body)
        | StmtKind::ForLabelled(_, _, body)
        | StmtKind::Group { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

fn jumps(block: &Block) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::Goto(_)) || bodies(&stmt.kind).into_iter().any(jumps)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Options;
    use threadwise_engine::EngineOptions;

    fn advice(text: &str, options: &Options) -> String {
        let checked = threadwise_lang::check(text);
        let program = checked
            .program
            .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let plan = Plan::new(&program, options).unwrap();
        after_limit(&program, &plan, Kind::Invariant, "more")
    }

    #[test]
    fn only_what_can_help_is_advised() {
        let plain = Options::default();
        let text = "shared x: 0..2 = 0;\nprocess P { a: x := 1; }\n";
        assert_eq!(advice(text, &plain), "try more or another --engine");
        let text = "param N = 2;\nprocess P[i: 1..N] { a: skip; }\n";
        assert_eq!(
            advice(text, &plain),
            "try more, --symmetry, another --engine, or smaller parameters"
        );
        let symmetry = Options {
            engine_options: EngineOptions::default().flag("symmetry"),
            ..plain.clone()
        };
        assert_eq!(
            advice(text, &symmetry),
            "try more, another --engine, or smaller parameters"
        );
    }

    #[test]
    fn what_may_be_endless_is_named() {
        let plain = Options::default();
        let text = "shared c: int = 0;\nprocess P { loop { a: c := c + 1; } }\n";
        assert!(advice(text, &plain).starts_with("`c` is an `int` without bounds"));
        let once = "process C[] { a: skip; }\nprocess P { a: start C; }\n";
        assert!(advice(once, &plain).starts_with("try"));
        for body in ["loop { a: start C; }", "a: start C; goto a;"] {
            let text = format!("process C[] {{ a: skip; }}\nprocess P {{ {body} }}\n");
            assert!(advice(&text, &plain).starts_with("`C` is started again and again"));
        }
    }
}
