//! Random expressions.

use super::{Dom, Form, Generator, MEMBERS, Scope, Ty, Var};

impl Generator {
    /// The variables that can be read or written here.
    pub(super) fn visible(&self, scope: &Scope) -> Vec<Var> {
        let mut vars = self.shared.clone();
        if let Some(own) = scope.own {
            vars.extend(self.templates[own].locals.iter().cloned());
        }
        vars.retain(|var| !self.hidden.contains(&var.name));
        vars
    }

    /// A cell of a variable of a wanted type.
    pub(super) fn cell(
        &mut self,
        scope: &Scope,
        wanted: impl Fn(&Ty) -> bool,
    ) -> Option<(String, Ty)> {
        let vars: Vec<Var> = self
            .visible(scope)
            .into_iter()
            .filter(|v| wanted(&v.ty))
            .collect();
        let var = self.random.one(&vars)?.clone();
        let mut text = var.name.clone();
        for dim in &var.dims {
            text.push_str(&format!("[{}]", self.index(scope, *dim)?));
        }
        Some((text, var.ty))
    }

    pub(super) fn index(&mut self, scope: &Scope, dim: Dom) -> Option<String> {
        match dim {
            Dom::Enum => Some(self.member(scope)),
            Dom::Template(template) => self.id(scope, template, true),
            Dom::Range(lo, hi) => {
                if scope.may_fail
                    && self.random.percent(40)
                    && let Some(value) = self.unsure(scope)
                {
                    return Some(value);
                }
                let inside: Vec<String> = scope
                    .bound
                    .iter()
                    .filter(|(_, ty)| matches!(ty, Ty::Range(l, h) if *l >= lo && *h <= hi))
                    .map(|(name, _)| name.clone())
                    .chain(
                        self.visible(scope)
                            .into_iter()
                            .filter(|v| {
                                v.dims.is_empty()
                                    && matches!(v.ty, Ty::Range(l, h) if l >= lo && h <= hi)
                            })
                            .map(|v| v.name),
                    )
                    .collect();
                match self.random.one(&inside) {
                    Some(name) if self.random.percent(70) => Some(name.clone()),
                    _ => Some(self.random.between(lo, hi).to_string()),
                }
            }
        }
    }

    /// An integer that depends on a variable, so that nobody can tell its value beforehand.
    pub(super) fn unsure(&mut self, scope: &Scope) -> Option<String> {
        let vars: Vec<String> = self
            .visible(scope)
            .into_iter()
            .filter(|v| v.dims.is_empty())
            .map(|v| (v.name, v.ty))
            .chain(scope.bound.iter().cloned())
            .filter(|(_, ty)| matches!(ty, Ty::Range(..) | Ty::Int))
            .map(|(name, _)| name)
            .collect();
        let var = self.random.one(&vars)?.clone();
        Some(match self.random.below(4) {
            0 => var,
            1 => format!("{var} + 1"),
            2 => format!("{var} - 1"),
            _ => format!("{var} + {}", self.integer(scope, 0)),
        })
    }

    pub(super) fn member(&mut self, scope: &Scope) -> String {
        let bound: Vec<String> = scope
            .bound
            .iter()
            .filter(|(_, ty)| *ty == Ty::Enum)
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(name) = self.random.one(&bound)
            && self.random.percent(50)
        {
            return name.clone();
        }
        let plain: Vec<String> = self
            .visible(scope)
            .into_iter()
            .filter(|v| v.ty == Ty::Enum && v.dims.is_empty())
            .map(|v| v.name)
            .collect();
        match self.random.one(&plain) {
            Some(name) if self.random.percent(50) => name.clone(),
            _ => MEMBERS[self.random.below(3)].to_owned(),
        }
    }

    /// An id of a template, where there is one to be had. Literals only where the context wants an id.
    pub(super) fn id(&mut self, scope: &Scope, template: usize, literals: bool) -> Option<String> {
        let draft = self.templates[template].clone();
        let mut options: Vec<String> = Vec::new();
        if scope.own == Some(template) && !matches!(draft.form, Form::Single | Form::Dynamic) {
            options.extend(["me".to_owned(), "me".to_owned()]);
        }
        for (name, ty) in &scope.bound {
            if *ty == Ty::Id(template) {
                options.extend([name.clone(), name.clone()]);
            }
        }
        for var in self.visible(scope) {
            if var.dims.is_empty() && var.ty == Ty::Id(template) {
                options.push(var.name);
            }
        }
        if draft.form == Form::Ring
            && let Some(id) = self.random.one(&options).cloned()
        {
            options.push(format!("next({id})"));
            options.push(format!("prev({id})"));
        }
        for var in self.visible(scope) {
            if scope.may_fail && var.dims.is_empty() && var.ty == Ty::Opt(template) {
                options.push(var.name);
            }
        }
        let countable = matches!(draft.form, Form::Ordered | Form::Ring);
        if literals
            && draft.count > 0
            && (countable || (scope.property && draft.form == Form::Unordered))
        {
            options.push(self.random.between(1, draft.count).to_string());
        }
        if literals
            && scope.may_fail
            && countable
            && !scope.property
            && let Some(number) = self.unsure(scope)
        {
            options.push(number);
        }
        self.random.one(&options).cloned()
    }

    /// A domain for a bound variable, with the variable's type. Templates that grow are for properties only,
    /// unordered ones not for loops.
    pub(super) fn domain(&mut self, property: bool, any_template: bool) -> (String, Ty) {
        let templates: Vec<usize> = (0..self.templates.len())
            .filter(|t| match self.templates[*t].form {
                Form::Single => false,
                Form::Dynamic => property,
                Form::Unordered => any_template,
                Form::Ordered | Form::Ring => true,
            })
            .collect();
        match (self.random.below(4), self.random.one(&templates)) {
            (0, _) => ("Colour".to_owned(), Ty::Enum),
            (1 | 2, Some(template)) => (self.templates[*template].name.clone(), Ty::Id(*template)),
            _ => {
                let lo = self.random.between(0, 1);
                // Now and then there is nothing in it.
                let hi = if self.random.percent(4) {
                    lo - 1
                } else {
                    lo + self.random.between(0, 2)
                };
                (format!("{lo}..{hi}"), Ty::Range(lo, hi))
            }
        }
    }

    /// An argument for a definition.
    fn argument(&mut self, scope: &Scope, ty: Ty) -> Option<String> {
        match ty {
            Ty::Bool => Some(self.boolean(scope, 0)),
            Ty::Enum => Some(self.member(scope)),
            Ty::Id(template) => self.id(scope, template, false),
            _ => Some(self.integer(scope, 0)),
        }
    }

    fn call(&mut self, scope: &Scope, result: Ty) -> Option<String> {
        let defs: Vec<super::Def> = self
            .defs
            .iter()
            .filter(|def| def.result == result && (scope.property || !def.property))
            .filter(|def| !self.hidden.iter().any(|name| def.body.contains(name)))
            .cloned()
            .collect();
        // In a careful program definitions cannot fail; elsewhere they can.
        if !scope.may_fail && !self.careful {
            return None;
        }
        let def = self.random.one(&defs)?.clone();
        let mut arguments = Vec::new();
        for param in &def.params {
            arguments.push(self.argument(scope, *param)?);
        }
        Some(format!("{}({})", def.name, arguments.join(", ")))
    }

    /// A quantified expression: `word k in D: body`.
    fn quantified(&mut self, scope: &Scope, word: &str, depth: usize, boolean: bool) -> String {
        let (domain, ty) = self.domain(scope.property, true);
        let name = self.fresh("k");
        let inner = scope.with(&name, ty);
        let body = if boolean {
            self.boolean(&inner, depth)
        } else {
            self.integer(&inner, depth)
        };
        format!("({word} {name} in {domain}: {body})")
    }

    /// A truth value.
    pub(super) fn boolean(&mut self, scope: &Scope, depth: usize) -> String {
        if self.sharp && depth > 0 && self.random.percent(25) {
            let sharp = self.truths(scope, 2);
            let rest = self.boolean_in_brackets(scope, depth - 1);
            return format!("({sharp} && {rest})");
        }
        let simple = depth == 0;
        let choice = self.random.below(if simple { 8 } else { 20 });
        let deeper = depth.saturating_sub(1);
        let found = match choice {
            0..3 => self.cell(scope, |ty| *ty == Ty::Bool).map(|(text, _)| text),
            3..5 => {
                let (a, b) = (self.integer(scope, 0), self.integer(scope, 0));
                let op = ["==", "!=", "<", "<=", ">", ">="][self.random.below(6)];
                Some(format!("({a} {op} {b})"))
            }
            5 => {
                let (a, b) = (self.member(scope), self.member(scope));
                // Two constants would be a claim about nothing.
                let cell = self.cell(scope, |ty| *ty == Ty::Enum).map(|(text, _)| text);
                let op = if self.random.percent(50) { "==" } else { "!=" };
                Some(format!("({} {op} {b})", cell.unwrap_or(a)))
            }
            6 => self.id_comparison(scope),
            7 => {
                if self.random.percent(40) {
                    self.cell(scope, |ty| *ty == Ty::Mutex)
                        .map(|(text, _)| format!("locked({text})"))
                } else if scope.property {
                    self.location(scope)
                } else if let Some(dynamic) = self.waited_for(scope) {
                    Some(format!("ended({})", self.templates[dynamic].name))
                } else {
                    self.id_comparison(scope)
                }
            }
            8 => Some(format!("!{}", self.boolean_in_brackets(scope, deeper))),
            9..12 => {
                let op = if self.random.percent(50) { "&&" } else { "||" };
                let a = self.boolean_in_brackets(scope, deeper);
                let b = self.boolean_in_brackets(scope, deeper);
                Some(if self.random.percent(25) {
                    let c = self.boolean_in_brackets(scope, 0);
                    format!("({a} {op} {b} {op} {c})")
                } else {
                    format!("({a} {op} {b})")
                })
            }
            12 | 13 => {
                let op = if self.random.percent(70) { "->" } else { "<->" };
                let a = self.boolean_in_brackets(scope, deeper);
                let b = self.boolean_in_brackets(scope, deeper);
                Some(format!("({a} {op} {b})"))
            }
            14 | 15 => {
                let word = if self.random.percent(50) {
                    "forall"
                } else {
                    "exists"
                };
                Some(self.quantified(scope, word, deeper, true))
            }
            16 => self.call(scope, Ty::Bool),
            17 if scope.property => self.location(scope),
            _ => {
                let (a, b) = (self.integer(scope, deeper), self.integer(scope, deeper));
                let op = ["==", "!=", "<", "<=", ">", ">="][self.random.below(6)];
                Some(format!("({a} {op} {b})"))
            }
        };
        found.unwrap_or_else(|| {
            let a = self.integer(scope, 0);
            format!("({a} < {})", self.random.between(0, 2))
        })
    }

    fn boolean_in_brackets(&mut self, scope: &Scope, depth: usize) -> String {
        format!("({})", self.boolean(scope, depth))
    }

    /// A template that grows, whose processes the text of another one may ask about.
    fn waited_for(&mut self, scope: &Scope) -> Option<usize> {
        scope.own?;
        let dynamic = (0..self.templates.len()).find(|t| self.grows(*t));
        dynamic.filter(|_| self.random.percent(60))
    }

    fn id_comparison(&mut self, scope: &Scope) -> Option<String> {
        let ids = self.id_templates();
        let template = *self.random.one(&ids)?;
        let op = if self.random.percent(50) { "==" } else { "!=" };
        if let Some((cell, _)) = self.cell(scope, |ty| *ty == Ty::Opt(template))
            && self.random.percent(60)
        {
            let other = match self.random.below(2) {
                0 => None,
                _ => self.id(&scope.safe(), template, false),
            };
            return Some(format!(
                "({cell} {op} {})",
                other.unwrap_or("none".to_owned())
            ));
        }
        let a = self.id(&scope.safe(), template, false)?;
        let b = self.id(&scope.safe(), template, false)?;
        Some(format!("({a} {op} {b})"))
    }

    /// Where a process is, or what a local variable of it holds.
    fn location(&mut self, scope: &Scope) -> Option<String> {
        let template = self.random.below(self.templates.len());
        let draft = self.templates[template].clone();
        let (process, prefix) = match draft.form {
            Form::Single => (draft.name.clone(), None),
            _ => match self.id(scope, template, true) {
                Some(id) => (format!("{}[{id}]", draft.name), None),
                None => {
                    let name = self.fresh("k");
                    let word = if self.random.percent(50) {
                        "forall"
                    } else {
                        "exists"
                    };
                    (
                        format!("{}[{name}]", draft.name),
                        Some(format!("{word} {name} in {}: ", draft.name)),
                    )
                }
            },
        };
        let local = match self.random.one(&draft.locals).cloned() {
            Some(var) if self.random.percent(50) => {
                let mut text = format!("{process}.{}", var.name);
                let mut complete = true;
                for dim in &var.dims {
                    match self.index(scope, *dim) {
                        Some(index) => text.push_str(&format!("[{index}]")),
                        None => complete = false,
                    }
                }
                complete.then_some((text, var.ty))
            }
            _ => None,
        };
        let claim = match local {
            Some((cell, ty)) => match ty {
                Ty::Bool => cell,
                Ty::Range(..) | Ty::Int => format!("{cell} <= {}", self.random.between(0, 3)),
                Ty::Enum => format!("{cell} != {}", MEMBERS[self.random.below(3)]),
                Ty::Opt(_) => format!("{cell} == none"),
                _ => format!("{cell} == {cell}"),
            },
            None => {
                let (a, b) = (self.some_label(template), self.some_label(template));
                if a == b || self.random.percent(50) {
                    format!("{process} at {a}")
                } else {
                    format!("{process} at {{{a}, {b}}}")
                }
            }
        };
        Some(match prefix {
            Some(prefix) => format!("({prefix}{claim})"),
            None => format!("({claim})"),
        })
    }

    /// An integer.
    pub(super) fn integer(&mut self, scope: &Scope, depth: usize) -> String {
        let simple = depth == 0;
        let deeper = depth.saturating_sub(1);
        let choice = self.random.below(if simple { 6 } else { 14 });
        let found = match choice {
            0..4 => self
                .cell(scope, |ty| matches!(ty, Ty::Range(..) | Ty::Int))
                .map(|(text, _)| text),
            4 => {
                let numbers: Vec<String> = scope
                    .bound
                    .iter()
                    .filter(|(_, ty)| {
                        matches!(ty, Ty::Range(..) | Ty::Int)
                            || matches!(ty, Ty::Id(t) if self.templates[*t].form == Form::Ordered)
                    })
                    .map(|(name, _)| name.clone())
                    .collect();
                match self.random.one(&numbers) {
                    Some(name) => Some(name.clone()),
                    None if scope
                        .own
                        .is_some_and(|own| self.templates[own].form == Form::Ordered) =>
                    {
                        Some("me".to_owned())
                    }
                    None => None,
                }
            }
            6..9 => {
                let op = ["+", "-", "+", "*"][self.random.below(4)];
                Some(format!(
                    "({} {op} {})",
                    self.integer(scope, deeper),
                    self.integer(scope, 0)
                ))
            }
            9 => {
                let a = self.integer(scope, deeper);
                if scope.may_fail
                    && let Some(divisor) = self.unsure(scope)
                {
                    let op = if self.random.percent(50) { "/" } else { "%" };
                    Some(format!("({a} {op} ({divisor}))"))
                } else {
                    let op = if self.random.percent(50) { "/" } else { "%" };
                    Some(format!("({a} {op} {})", self.random.between(2, 3)))
                }
            }
            10 => {
                let word = if self.random.percent(50) {
                    "min"
                } else {
                    "max"
                };
                Some(format!(
                    "{word}({}, {})",
                    self.integer(scope, deeper),
                    self.integer(scope, 0)
                ))
            }
            11 => {
                let word = if self.random.percent(50) || !scope.may_fail {
                    ["count", "sum"][self.random.below(2)]
                } else {
                    ["min", "max"][self.random.below(2)]
                };
                Some(self.quantified(scope, word, deeper, word == "count"))
            }
            12 => self.call(scope, Ty::Int),
            13 => Some(format!("(-{})", self.integer(scope, 0))),
            _ => None,
        };
        found.unwrap_or_else(|| match self.random.below(8) {
            0 => "N".to_owned(),
            _ => self.random.between(0, 3).to_string(),
        })
    }

    /// Something that is always true, though it takes a look at the state.
    pub(super) fn truism(&mut self, scope: &Scope) -> String {
        let scope = &scope.safe();
        match self.cell(scope, |ty| matches!(ty, Ty::Range(..))) {
            Some((cell, Ty::Range(lo, hi))) => {
                if self.random.percent(50) {
                    format!("({cell} <= {hi} + 1)")
                } else {
                    format!("({cell} >= {lo} && {cell} < {hi} + 2)")
                }
            }
            _ => {
                let condition = self.boolean(scope, 1);
                format!("({condition} || !({condition}))")
            }
        }
    }
}
