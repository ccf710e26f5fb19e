//! Warnings about what is declared and never used.

use super::*;

impl Checker {
    pub(super) fn warn_unused(&mut self) {
        // A program with errors uses less than it seems to.
        if self
            .diagnostics
            .iter()
            .any(|d| d.severity() == Severity::Error)
        {
            return;
        }
        let mut found = Vec::new();
        for (name, at, what) in self.unread_compounds() {
            found.push(never_read(&name, at, what));
        }
        for (id, variable) in self.program.shared.iter_enumerated() {
            if !self.used.shared.contains(&id) {
                found.push(never_read(&variable.name, variable.span, "shared"));
            }
        }
        for (template, declared) in self.program.templates.iter_enumerated() {
            for (id, variable) in declared.locals.iter_enumerated() {
                if !self.used.locals.contains(&(template, id)) {
                    found.push(never_read(&variable.name, variable.span, "local"));
                }
            }
        }
        for (name, (global, at)) in &self.globals {
            let what = match global {
                Global::Param(_) => "parameter",
                Global::Enum(_) => "enumeration",
                Global::Alias(_) => "type",
                Global::Record(_) => "record",
                Global::Def(_) => "definition",
                Global::Macro(_) => "macro",
                Global::Member(..)
                | Global::Shared(_)
                | Global::Compound(_)
                | Global::Template(_) => continue,
            };
            let member_used = |id: &EnumId| {
                self.program.enums[*id]
                    .members
                    .iter()
                    .any(|member| self.used.globals.contains(member))
            };
            let used = self.used.globals.contains(name)
                || matches!(global, Global::Enum(id) if member_used(id));
            if !used {
                found.push(never_used(what, name, *at));
            }
        }
        for (id, fairness) in self.program.fairness.iter_enumerated() {
            if !self.used.fairness.contains(&id) {
                found.push(never_used("fairness", &fairness.name, fairness.span));
            }
        }
        self.diagnostics.extend(found);
    }
}

fn never_read(name: &str, at: Span, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnusedVariable,
        at,
        format!("the {what} variable `{name}` is never read"),
    )
    .label("nothing depends on it")
}

fn never_used(what: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnusedDefinition,
        at,
        format!("the {what} `{name}` is never used"),
    )
    .label("declared here")
}
