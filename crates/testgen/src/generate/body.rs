//! Random bodies: labelled steps, alone or inside loops and branches.

use super::{Generator, MEMBERS, Scope, Ty};

/// Stands for a label in a `goto`, until all labels are known.
const SOMEWHERE: &str = "@";

impl Generator {
    /// The statements of a template.
    pub(super) fn body(&mut self, template: usize) -> String {
        let scope = Scope {
            own: Some(template),
            property: false,
            may_fail: !self.careful,
            bound: Vec::new(),
        };
        let mut sections = Vec::new();
        // A process begins at a plain label.
        sections.push(self.step(&scope, template, false));
        for _ in 0..1 + self.random.below(3) {
            let section = self.section(&scope, template, 1);
            sections.push(section);
        }
        if self.random.percent(25) {
            let value = self.value(&scope, Ty::Bool);
            if let (Some((cell, _)), Some(value)) =
                (self.cell(&scope.safe(), |ty| *ty == Ty::Bool), value)
            {
                self.templates[template]
                    .labels
                    .extend(["hop1".to_owned(), "hop2".to_owned()]);
                sections.push(format!("hop({cell}, {value});"));
            }
        }
        let text = sections.join("\n");
        let text = if self.random.percent(75) {
            format!("loop {{\n{text}\n}}\n")
        } else {
            format!("{text}\n")
        };
        self.aim(template, &text)
    }

    /// Now that the labels are known, the jumps get their targets.
    pub(super) fn aim(&mut self, template: usize, text: &str) -> String {
        let labels = self.templates[template].labels.clone();
        let mut parts = text.split(SOMEWHERE);
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            result.push_str(self.random.one(&labels).map_or("done", |label| label));
            result.push_str(part);
        }
        result
    }

    pub(super) fn label(&mut self, template: usize) -> String {
        self.loops = 0;
        let label = self.fresh("l");
        self.templates[template].labels.push(label.clone());
        label
    }

    /// Something that begins at a label.
    pub(super) fn section(&mut self, scope: &Scope, template: usize, depth: usize) -> String {
        if depth == 0 {
            return self.step(scope, template, false);
        }
        match self.random.below(16) {
            0 => {
                let label = self.label(template);
                let condition = self.boolean(scope, 1);
                let body = match self.random.below(2) {
                    // The way round passes the loop's own label.
                    0 => self.effects(scope, 1, true).join(" "),
                    _ => self.step(scope, template, true),
                };
                format!("{label}: while {condition} {{ {body} }}")
            }
            1 | 2 => self.counted(scope, template),
            3 | 4 => {
                let label = self.label(template);
                let condition = self.boolean(scope, 1);
                let yes = self.step(scope, template, false);
                let other = self.boolean(scope, 0);
                let second = self.step(scope, template, false);
                let rest = if self.random.percent(60) {
                    format!(" else {{ {} }}", self.effects(scope, 1, false).join(" "))
                } else {
                    String::new()
                };
                let tail = self.tail(scope);
                format!(
                    "{label}: if {condition} {{ {yes} }} else if {other} {{ {second} }}{rest} {tail}"
                )
            }
            5 => {
                let label = self.label(template);
                let first = self.step(scope, template, false);
                let second = self.step(scope, template, false);
                let tail = self.tail(scope);
                format!("{label}: choose {{ {first} }} or {{ {second} }} {tail}")
            }
            6 | 7 => {
                let step = self.step(scope, template, true);
                let condition = self.boolean(scope, 1);
                let before = if self.random.percent(50) {
                    format!("{}: ", self.label(template))
                } else {
                    String::new()
                };
                format!("{before}loop {{ {step} if {condition} {{ break; }} }}")
            }
            8..11 => self.critical(scope, template),
            11 => {
                let first = self.section(scope, template, depth - 1);
                let second = self.section(scope, template, depth - 1);
                format!("{first}\n{second}")
            }
            _ => self.step(scope, template, false),
        }
    }

    /// A `for` with labels inside.
    fn counted(&mut self, scope: &Scope, template: usize) -> String {
        let counter = self.fresh("c");
        let (domain, ty) = self.domain(false, false);
        let inner = scope.with(&counter, ty);
        let step = self.step(&inner, template, true);
        let leave = if self.random.percent(30) {
            format!("if {} {{ break; }}", self.boolean(&inner, 0))
        } else {
            String::new()
        };
        let before = if self.random.percent(50) {
            format!("{}: ", self.label(template))
        } else {
            String::new()
        };
        let tail = self.tail(scope);
        format!("{before}for {counter} in {domain} {{ {step} {leave} }} {tail}")
    }

    /// Statements that belong to the step that leaves a branch.
    fn tail(&mut self, scope: &Scope) -> String {
        if self.random.percent(30) {
            self.effects(scope, 1, false).join(" ")
        } else {
            String::new()
        }
    }

    /// A mutex, taken and given back.
    fn critical(&mut self, scope: &Scope, template: usize) -> String {
        let Some((mutex, _)) = self.cell_at_constants(Ty::Mutex) else {
            return self.step(scope, template, false);
        };
        let (a, b, c) = (
            self.label(template),
            self.label(template),
            self.label(template),
        );
        let inside = match self.assignment(scope) {
            Some(assignment) => assignment,
            None => "skip;".to_owned(),
        };
        if self.random.percent(50) {
            format!("{a}: lock {mutex}; {b}: {inside} {c}: unlock {mutex};")
        } else {
            let after = self.effects(scope, 1, false).join(" ");
            format!("{a}: lock {mutex}; {inside} {c}: unlock {mutex}; {b}: {after}")
        }
    }

    /// A cell that is the same whenever it is named: its indices are constants.
    fn cell_at_constants(&mut self, ty: Ty) -> Option<(String, Ty)> {
        let vars: Vec<super::Var> = self.shared.iter().filter(|v| v.ty == ty).cloned().collect();
        let var = self.random.one(&vars)?.clone();
        let mut text = var.name.clone();
        for dim in &var.dims {
            match dim {
                super::Dom::Range(lo, _) => text.push_str(&format!("[{lo}]")),
                super::Dom::Enum => text.push_str(&format!("[{}]", MEMBERS[0])),
                super::Dom::Template(_) => return None,
            }
        }
        Some((text, ty))
    }

    /// One labelled step.
    fn step(&mut self, scope: &Scope, template: usize, in_loop: bool) -> String {
        let label = self.label(template);
        let mut statements = Vec::new();
        if self.random.percent(15) {
            statements.push("stay;".to_owned());
        }
        if self.random.percent(45) {
            statements.push(self.blocking(scope, 1));
        }
        let number = usize::from(statements.is_empty()) + self.random.below(3);
        statements.extend(self.effects(scope, number, in_loop));
        if statements.is_empty() {
            statements.push("skip;".to_owned());
        }
        if !statements[0].starts_with("stay") && self.random.percent(10) {
            return format!("{label}: atomic {{ {} }}", statements.join(" "));
        }
        format!("{label}: {}", statements.join(" "))
    }

    /// A statement that may block, for the beginning of a step: whatever comes before an `await` in it
    /// neither writes nor can fail.
    fn blocking(&mut self, scope: &Scope, depth: usize) -> String {
        let safe = scope.safe();
        match self.random.below(if depth == 0 { 3 } else { 10 }) {
            0 | 1 => {
                let condition = self.likely(&safe);
                format!("await {condition};")
            }
            2 => {
                // The last `await` of a step may fail a check of its own.
                let condition = self.boolean(scope, 1);
                let effects = self.effects(scope, 1, false).join(" ");
                format!("await {condition}; {effects}")
            }
            3 | 4 => {
                let condition = self.boolean(&safe, 1);
                let yes = self.blocking(scope, depth - 1);
                let no = if self.random.percent(50) {
                    format!(" else {{ {} }}", self.effects(scope, 1, false).join(" "))
                } else {
                    String::new()
                };
                format!("if {condition} {{ {yes} }}{no}")
            }
            5 | 6 => {
                let first = self.blocking(scope, depth - 1);
                let second = if self.random.percent(60) {
                    self.blocking(scope, depth - 1)
                } else {
                    self.effects(scope, 1, false).join(" ")
                };
                format!("choose {{ {first} }} or {{ {second} }}")
            }
            7 => {
                let (domain, ty) = self.domain(false, true);
                let name = self.fresh("k");
                let inner = scope.with(&name, ty);
                let condition = self.likely(&inner.safe());
                let effects = self.effects(&inner, 1, false).join(" ");
                format!("choose {name} in {domain} {{ await {condition}; {effects} }}")
            }
            8 => {
                let (domain, ty) = self.domain(false, false);
                let name = self.fresh("k");
                let condition = self.likely(&safe.with(&name, ty));
                format!("for {name} in {domain} {{ await {condition}; }}")
            }
            _ => {
                let condition = self.likely(&safe);
                format!("pause({condition});")
            }
        }
    }

    /// A condition that holds more often than not, so that not everything stops.
    fn likely(&mut self, scope: &Scope) -> String {
        let (a, b) = (self.boolean(scope, 1), self.boolean(scope, 1));
        format!("({a} || {b})")
    }

    /// Statements that do not block.
    pub(super) fn effects(&mut self, scope: &Scope, number: usize, in_loop: bool) -> Vec<String> {
        (0..number)
            .map(|_| self.effect(scope, 1, in_loop))
            .collect()
    }

    fn effect(&mut self, scope: &Scope, depth: usize, in_loop: bool) -> String {
        if self.everybody
            && self.loops < 2
            && self.random.percent(40)
            && let Some(all) = self.for_everybody(scope)
        {
            return all;
        }
        let found = match self.random.below(if depth == 0 { 14 } else { 24 }) {
            0..4 => self.assignment(scope),
            4 => self.several(scope),
            5 => self.compare_and_swap(scope),
            6 => self.swap(scope),
            7 => self.fetch_and_add(scope),
            8 => self
                .cell(scope, |ty| {
                    !matches!(ty, Ty::Int | Ty::Mutex) && !matches!(ty, Ty::Id(_))
                })
                .map(|(cell, _)| format!("havoc {cell};")),
            9 => Some(if self.careful || self.random.percent(50) {
                format!("assert {};", self.truism(scope))
            } else {
                format!("assert {};", self.boolean(scope, 1))
            }),
            10 => {
                let target = self.assigned(scope);
                target.map(|(cell, value)| format!("set({cell}, {value});"))
            }
            11 => Some("skip;".to_owned()),
            12 => {
                let dynamic = (0..self.templates.len()).find(|t| self.grows(*t));
                dynamic.and_then(|t| self.start(scope, t))
            }
            13 => {
                let condition = self.boolean(scope, 0);
                let jump = match self.random.below(if in_loop { 3 } else { 2 }) {
                    0 => format!("goto {SOMEWHERE};"),
                    1 => "return;".to_owned(),
                    _ => "break;".to_owned(),
                };
                Some(format!("if {condition} {{ {jump} }}"))
            }
            14..18 => {
                let condition = self.boolean(scope, 1);
                let yes = self.effect(scope, depth - 1, in_loop);
                Some(match self.random.below(3) {
                    0 => format!("if {condition} {{ {yes} }}"),
                    1 => {
                        let no = self.effect(scope, depth - 1, in_loop);
                        format!("if {condition} {{ {yes} }} else {{ {no} }}")
                    }
                    _ => {
                        let other = self.boolean(scope, 0);
                        let second = self.effect(scope, depth - 1, in_loop);
                        let no = self.effect(scope, depth - 1, in_loop);
                        format!(
                            "if {condition} {{ {yes} }} else if {other} {{ {second} }} else {{ {no} }}"
                        )
                    }
                })
            }
            18 | 19 => {
                let a = self.effect(scope, depth - 1, in_loop);
                let b = self.effect(scope, depth - 1, in_loop);
                Some(format!("choose {{ {a} }} or {{ {b} }}"))
            }
            20 => {
                let (domain, ty) = self.domain(false, true);
                let name = self.fresh("k");
                let body = self.effect(&scope.with(&name, ty), depth - 1, in_loop);
                Some(format!("choose {name} in {domain} {{ {body} }}"))
            }
            21 | 22 => {
                let (domain, ty) = self.domain(false, false);
                let name = self.fresh("k");
                let inner = scope.with(&name, ty);
                let body = self.effect(&inner, depth - 1, true);
                let leave = if self.random.percent(30) {
                    format!("if {} {{ break; }}", self.boolean(&inner, 0))
                } else {
                    String::new()
                };
                Some(format!("for {name} in {domain} {{ {body} {leave} }}"))
            }
            _ => {
                if !self.careful && self.random.percent(60) {
                    self.cell(scope, |ty| *ty == Ty::Mutex)
                        .map(|(cell, _)| format!("unlock {cell};"))
                } else {
                    let body = self.effect(scope, depth - 1, in_loop);
                    Some(format!("atomic {{ {body} }}"))
                }
            }
        };
        found.unwrap_or_else(|| "skip;".to_owned())
    }

    fn assignment(&mut self, scope: &Scope) -> Option<String> {
        let (cell, value) = self.assigned(scope)?;
        Some(format!("{cell} := {value};"))
    }

    /// A place and a value for it.
    fn assigned(&mut self, scope: &Scope) -> Option<(String, String)> {
        let (cell, ty) = self.cell(scope, |ty| *ty != Ty::Mutex)?;
        let value = self.value_for(scope, ty, &cell)?;
        Some((cell, value))
    }

    /// A value that fits a cell; what the cell holds may be part of it.
    pub(super) fn value_for(&mut self, scope: &Scope, ty: Ty, cell: &str) -> Option<String> {
        match ty {
            Ty::Range(lo, hi) => Some(match self.random.below(5) {
                0 => self.random.between(lo, hi).to_string(),
                1 | 2 => format!("{lo} + (({cell} - {lo} + 1) % {})", hi - lo + 1),
                _ if self.careful || self.random.percent(60) => {
                    format!("max({lo}, min({hi}, {}))", self.integer(scope, 1))
                }
                _ => match self.random.below(3) {
                    0 => format!("{cell} + 1"),
                    1 => format!("{cell} - 1"),
                    _ => format!("{cell} + {}", self.integer(scope, 1)),
                },
            }),
            // Mostly bounded, or the number of states is not.
            Ty::Int => Some(match self.random.below(20) {
                0 if !self.careful => format!("{cell} * 4611686018427387904"),
                1 => format!("{cell} + 1"),
                _ => format!("({cell} + {}) % 3", self.integer(scope, 1)),
            }),
            _ => self.value(scope, ty),
        }
    }

    pub(super) fn value(&mut self, scope: &Scope, ty: Ty) -> Option<String> {
        match ty {
            Ty::Bool => Some(match self.random.below(4) {
                0 => "true".to_owned(),
                1 => "false".to_owned(),
                _ => self.boolean(scope, 1),
            }),
            Ty::Enum => Some(self.member(scope)),
            Ty::Id(template) => self.id(scope, template, true),
            Ty::Opt(template) => match self.id(scope, template, true) {
                Some(id) if self.random.percent(65) => Some(id),
                _ => Some("none".to_owned()),
            },
            Ty::Range(..) | Ty::Int => Some(self.integer(scope, 1)),
            Ty::Mutex => None,
        }
    }

    /// A process is started, if there are values for its parameters.
    fn start(&mut self, scope: &Scope, template: usize) -> Option<String> {
        let draft = self.templates[template].clone();
        let mut values = Vec::new();
        for var in &draft.locals[..draft.given] {
            let value = match var.ty {
                Ty::Range(lo, hi) if self.careful || self.random.percent(70) => {
                    format!("max({lo}, min({hi}, {}))", self.integer(scope, 1))
                }
                // Not a constant, which would be outside in every run.
                Ty::Range(..) => self.unsure(scope)?,
                Ty::Int => format!("({}) % 3", self.integer(scope, 1)),
                ty => self.value(scope, ty)?,
            };
            values.push(value);
        }
        Some(match values.is_empty() {
            true => format!("start {};", draft.name),
            false => format!("start {}({});", draft.name, values.join(", ")),
        })
    }

    /// Several places at once; two cells of one array may turn out to be the same.
    fn several(&mut self, scope: &Scope) -> Option<String> {
        let (first, value) = self.assigned(scope)?;
        let (second, other) = self.assigned(scope)?;
        let stem = |cell: &str| cell.split('[').next().unwrap_or_default().to_owned();
        if first == second || (self.careful && stem(&first) == stem(&second)) {
            return Some(format!("{first} := {value};"));
        }
        // The same constant indices in two ways of writing are found by nobody here: keep away.
        if stem(&first) == stem(&second)
            && (!first.contains('[') || !first.contains(char::is_alphabetic))
        {
            return Some(format!("{first} := {value};"));
        }
        Some(format!("{first}, {second} := {value}, {other};"))
    }

    fn compare_and_swap(&mut self, scope: &Scope) -> Option<String> {
        let (cell, ty) = self.cell(scope, |ty| !matches!(ty, Ty::Mutex))?;
        let old = match ty {
            Ty::Range(lo, hi) => self.random.between(lo, hi).to_string(),
            _ => self.value(scope, ty)?,
        };
        let new = self.value_for(scope, ty, &cell)?;
        let result = self
            .cell(scope, |ty| *ty == Ty::Bool)
            .filter(|(other, _)| *other != cell);
        Some(match result {
            Some((result, _)) if self.random.percent(70) => {
                format!("{result} := cas({cell}, {old}, {new});")
            }
            _ => format!("cas({cell}, {old}, {new});"),
        })
    }

    fn swap(&mut self, scope: &Scope) -> Option<String> {
        let (cell, ty) = self.cell(scope, |ty| !matches!(ty, Ty::Mutex))?;
        let value = self.value_for(scope, ty, &cell)?;
        let fits = |other: &Ty| match ty {
            // A careful program gives a value to a place of the very same range only.
            Ty::Range(..) => *other == ty || *other == Ty::Int,
            Ty::Id(t) => *other == ty || *other == Ty::Opt(t),
            _ => *other == ty,
        };
        let result = self.cell(scope, fits).filter(|(other, _)| *other != cell);
        Some(match result {
            Some((result, _)) => format!("{result} := swap({cell}, {value});"),
            None => format!("swap({cell}, {value});"),
        })
    }

    fn fetch_and_add(&mut self, scope: &Scope) -> Option<String> {
        let careful = self.careful;
        let (cell, ty) = self.cell(scope, |ty| match ty {
            Ty::Int => true,
            Ty::Range(..) => !careful,
            _ => false,
        })?;
        let amount = match ty {
            Ty::Int => format!("1 - ({cell} + 1) % 3"),
            _ => self.integer(scope, 0),
        };
        let result = self
            .cell(scope, |other| *other == ty || *other == Ty::Int)
            .filter(|(other, _)| *other != cell);
        Some(match result {
            Some((result, _)) => format!("{result} := fetch_add({cell}, {amount});"),
            None => format!("fetch_add({cell}, {amount});"),
        })
    }
}
