//! Templates and statements as text.

use super::Printer;
use crate::program::*;

impl Printer<'_> {
    pub(super) fn template(&mut self, id: TemplateId) {
        let template = &self.names.program.templates[id];
        let order = match template.order {
            IdOrder::Unordered => "",
            IdOrder::Ordered => "ordered ",
            IdOrder::Ring => "ring ",
        };
        let ids = match &template.instances {
            Instances::Single => String::new(),
            Instances::Dynamic => "[]".to_owned(),
            Instances::Range(lo, hi) => {
                let range = self.names.range(lo, hi);
                format!("[{}: {range}]", template.id_name.as_deref().unwrap_or(""))
            }
        };
        let parameters: Vec<String> = template
            .parameters()
            .map(|(_, local)| format!("{}: {}", local.name, self.names.scalar(&local.scalar)))
            .collect();
        let parameters = match parameters.is_empty() {
            true => String::new(),
            false => format!("({})", parameters.join(", ")),
        };
        self.line(&format!(
            "{order}process {}{ids}{parameters} {{",
            template.name
        ));
        self.names.template = Some(id);
        let declared = |v: &&Variable| !v.loop_counter && !matches!(v.initial, Initial::Given);
        for local in template.locals.iter().filter(declared) {
            self.variable("local", local);
        }
        self.block(&template.body);
        self.names.template = None;
        self.line("}");
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        if let (Some(label), Some(id)) = (stmt.label, self.names.template) {
            let name = &self.names.program.templates[id].locations[label].name;
            self.text.push_str(&format!("{name}: "));
        }
        match self.simple(&stmt.kind) {
            Some(text) => self.line(&format!("{text};")),
            None => self.structure(stmt),
        }
        let note = match &stmt.note {
            Some(Note::Fails(meaning)) => format!("fails: {meaning}"),
            Some(Note::Wide(advice)) => format!("many values: {advice}"),
            None => return,
        };
        self.comment_behind(&note);
    }

    /// A statement without statements inside.
    fn simple(&mut self, kind: &StmtKind) -> Option<String> {
        let program = self.names.program;
        let names = &mut self.names;
        Some(match kind {
            StmtKind::Assign(places, values) => {
                let places: Vec<String> = places.iter().map(|place| names.place(place)).collect();
                format!("{} := {}", places.join(", "), names.values(values))
            }
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                let (old, new) = (names.whole(old), names.whole(new));
                let call = format!("cas({}, {old}, {new})", names.place(place));
                self.with_result(result.as_ref(), call)
            }
            StmtKind::Swap {
                result,
                place,
                value,
            } => {
                let call = format!("swap({}, {})", names.place(place), names.whole(value));
                self.with_result(result.as_ref(), call)
            }
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => {
                let call = format!("fetch_add({}, {})", names.place(place), names.whole(amount));
                self.with_result(result.as_ref(), call)
            }
            StmtKind::Await(condition) => format!("await {}", names.whole(condition)),
            StmtKind::Assert(condition) => format!("assert {}", names.whole(condition)),
            StmtKind::Skip => "skip".to_owned(),
            StmtKind::Stay => "stay".to_owned(),
            StmtKind::Havoc(places) => {
                let places: Vec<String> = places.iter().map(|place| names.place(place)).collect();
                format!("havoc {}", places.join(", "))
            }
            StmtKind::Lock(place) => format!("lock {}", names.place(place)),
            StmtKind::Unlock(place) => format!("unlock {}", names.place(place)),
            StmtKind::Start(id, values) => {
                let values: Vec<String> = values.iter().map(|value| names.whole(value)).collect();
                let values = match values.is_empty() {
                    true => String::new(),
                    false => format!("({})", values.join(", ")),
                };
                format!("start {}{values}", program.templates[*id].name)
            }
            StmtKind::Goto(label) => {
                let template = &program.templates[names.template?];
                format!("goto {}", template.locations[*label].name)
            }
            StmtKind::Break => "break".to_owned(),
            StmtKind::Return => "return".to_owned(),
            _ => return None,
        })
    }

    fn with_result(&mut self, result: Option<&Place>, call: String) -> String {
        match result {
            Some(place) => format!("{} := {call}", self.names.place(place)),
            None => call,
        }
    }

    fn structure(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches, otherwise) => {
                for (position, (condition, block)) in branches.iter().enumerate() {
                    let word = if position == 0 { "if" } else { "} else if" };
                    let condition = self.names.whole(condition);
                    self.line(&format!("{word} {condition} {{"));
                    self.block(block);
                }
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.block(otherwise);
                }
                self.line("}");
            }
            StmtKind::Choose(blocks) => {
                for (position, block) in blocks.iter().enumerate() {
                    self.line(if position == 0 { "choose {" } else { "} or {" });
                    self.block(block);
                }
                self.line("}");
            }
            StmtKind::While(condition, block) => {
                let condition = self.names.whole(condition);
                self.braced(&format!("while {condition}"), block);
            }
            StmtKind::Loop(block) => self.braced("loop", block),
            StmtKind::ChooseIn(var, domain, block) => self.over("choose", *var, domain, block),
            StmtKind::For(var, domain, block) => self.over("for", *var, domain, block),
            StmtKind::ForLabelled(counter, domain, block) => {
                let program = self.names.program;
                let Some(template) = self.names.template else {
                    return;
                };
                let name = &program.templates[template].locals[*counter].name;
                let domain = self.names.domain(domain);
                self.names.count(name);
                self.braced(&format!("for {name} in {domain}"), block);
                self.names.unbind();
            }
            StmtKind::Group { atomic: true, body } => self.atomic(body),
            StmtKind::Group {
                atomic: false,
                body,
            } => self.group(stmt, body),
            _ => {}
        }
    }

    fn braced(&mut self, head: &str, block: &Block) {
        self.line(&format!("{head} {{"));
        self.block(block);
        self.line("}");
    }

    fn over(&mut self, word: &str, var: BoundId, domain: &Domain, block: &Block) {
        let domain = self.names.domain(domain);
        let name = self.names.bind(var);
        self.braced(&format!("{word} {name} in {domain}"), block);
        self.names.unbind();
    }

    fn atomic(&mut self, body: &Block) {
        if self.layout.short_atomic
            && let [only] = body.as_slice()
            && only.note.is_none()
            && let Some(text) = self.simple(&only.kind)
        {
            return self.line(&format!("atomic {{ {text}; }}"));
        }
        self.braced("atomic", body);
    }

    /// What a macro expanded to. The label in front of it is that of its first statement, if that has none.
    fn group(&mut self, stmt: &Stmt, body: &Block) {
        if stmt.label.is_some() && begins_unlabelled(body) != Some(true) {
            self.line("skip;");
        }
        self.block(body);
    }
}

/// Whether the first statement of a block has no label; nothing if there is no statement in it.
fn begins_unlabelled(block: &Block) -> Option<bool> {
    block
        .iter()
        .find_map(|stmt| match (&stmt.label, &stmt.kind) {
            (Some(_), _) => Some(false),
            (
                None,
                StmtKind::Group {
                    atomic: false,
                    body,
                },
            ) => begins_unlabelled(body),
            (None, _) => Some(true),
        })
}
