//! Names: what `x`, `x[e]`, `P[j].v` and `P[j] at l` stand for, and who may say them.

use super::compound::Part;
use super::expr::{count, temporal_outside};
use super::stmt::MAX_EXPANDED;
use super::*;
use crate::diagnostics::Fix;
use crate::syntax::{exprs, names, span};

/// One link of `base[e].v at l`.
enum Link {
    Index(SyntaxNode, SyntaxNode),
    Field(SyntaxNode, SyntaxToken),
    At(SyntaxNode, Vec<SyntaxToken>),
}

/// What a name with its indices stands for, before it is used as a value or a place.
pub(super) enum Target {
    /// A cell, possibly with indices missing.
    Cell(Place),
    /// Some value.
    Value(Expr),
    /// A record, a queue, or an array with indices missing.
    Part(Part),
}

impl Checker {
    /// A name with its indices, fields and locations.
    pub(super) fn target(
        &mut self,
        node: &SyntaxNode,
        hint: Option<ExprType>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let mut links = Vec::new();
        let mut base = node.clone();
        loop {
            let inner = exprs(&base).next();
            match base.kind() {
                SyntaxKind::IndexExpr => {
                    links.push(Link::Index(base.clone(), exprs(&base).nth(1)?))
                }
                SyntaxKind::FieldExpr => {
                    links.push(Link::Field(base.clone(), names(&base).next()?))
                }
                SyntaxKind::AtExpr => links.push(Link::At(base.clone(), names(&base).collect())),
                _ => break,
            }
            base = inner?;
        }
        links.reverse();
        if base.kind() == SyntaxKind::NameExpr
            && let Some(name) = names(&base).next()
        {
            if scope.lookup(name.text()).is_none()
                && let Some(Global::Template(id)) = self.globals.get(name.text()).map(|g| g.0)
            {
                self.global(&name);
                return self.process(id, &base, links, site, scope);
            }
            let hint = hint.filter(|_| links.is_empty());
            let first = self.name(&name, hint, site, scope)?;
            return self.links(first, links, site, scope);
        }
        if base.kind() == SyntaxKind::CallExpr
            && let Some(callee) = names(&base).next()
            && callee.text() == "peek"
            && self.of_queues("peek")
        {
            let args: Vec<SyntaxNode> = exprs(&base).collect();
            self.arity(&callee, args.len(), 1)?;
            let queue = self.queue(&args[0], site, scope)?;
            let first = self.oldest(queue, span(&base), site)?;
            return self.links(first, links, site, scope);
        }
        if links.is_empty() {
            return None;
        }
        // A literal, a call or the like, with an index behind it.
        let value = self.expr(&base, hint, site, scope)?;
        self.links(Target::Value(value), links, site, scope)
    }

    /// Applies indices to a variable.
    fn links(
        &mut self,
        first: Target,
        links: Vec<Link>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let mut target = first;
        for link in links {
            target = match (target, link) {
                (Target::Cell(mut place), Link::Index(node, index)) => {
                    let variable = self.variable(&place.var, site)?;
                    let name = variable.name.clone();
                    let Some(dim) = variable.dims.get(place.indices.len()).cloned() else {
                        self.report(
                            Diagnostic::new(
                                Code::NotAnArray,
                                span(&node),
                                format!("too many indices for `{name}`"),
                            )
                            .label(match place.indices.len() {
                                0 => "it is not an array".to_owned(),
                                n => format!("it takes {}", count(n, "index")),
                            }),
                        );
                        return None;
                    };
                    let index = self.expect_type(&index, dim.ty(), site, scope)?;
                    place.indices.push(index);
                    place.span = span(&node);
                    Target::Cell(place)
                }
                (Target::Part(part), Link::Index(node, index)) => {
                    self.part_index(part, (&node, &index), site, scope)?
                }
                (Target::Part(part), Link::Field(node, field)) => {
                    self.part_field(part, &node, &field, site)?
                }
                (Target::Value(value), Link::Index(node, _)) => {
                    self.report(
                        Diagnostic::new(Code::NotAnArray, span(&node), "only arrays have indices")
                            .label(format!("this is {}", self.show(value.ty))),
                    );
                    return None;
                }
                (_, Link::Field(node, _) | Link::At(node, _)) => {
                    self.report(
                        Diagnostic::new(
                            Code::NotAProcess,
                            span(&node),
                            "`.` and `at` speak of a process",
                        )
                        .label("what stands before it is no process")
                        .help("write `P[i] at label` or `P[i].variable`"),
                    );
                    return None;
                }
            };
        }
        Some(target)
    }

    /// A name that is no process template.
    fn name(
        &mut self,
        token: &SyntaxToken,
        hint: Option<ExprType>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let at = token_span(token);
        let word = token.text();
        let value = |kind, ty| Some(Target::Value(Expr { kind, ty, span: at }));
        if let Some(frame) = &scope.frame
            && scope.lookup(word).is_none()
            && let Some((declared, argument)) = frame.args.get(word)
        {
            let frame = Rc::clone(frame);
            self.names.resolve(at, *declared);
            // By name: each use reads the argument again, and macros inside macros multiply that.
            self.expanded += 1;
            if self.expanded > MAX_EXPANDED {
                self.expansion_too_large(at);
                return None;
            }
            return match argument.kind() {
                SyntaxKind::NameExpr | SyntaxKind::IndexExpr | SyntaxKind::FieldExpr => {
                    self.target(argument, hint, site, &frame.caller)
                }
                _ => self
                    .expr(argument, hint, site, &frame.caller)
                    .map(Target::Value),
            };
        }
        if let Some(inner) = scope.lookup(word) {
            let declared = match (inner, site) {
                (Inner::Bound(id), _) => Some(self.bound_spans[id]),
                (Inner::Counter(id), Site::Program(template)) => {
                    Some(self.program.templates[template].locals[id].span)
                }
                _ => None,
            };
            if let Some(declared) = declared {
                self.names.resolve(at, declared);
            }
            if site == Site::Constant {
                return self.not_constant(at, word);
            }
            return match inner {
                Inner::Bound(id) => value(ExprKind::Bound(id), self.program.bounds[id].ty),
                Inner::Counter(id) => Some(Target::Cell(Place {
                    var: VarRef::Local(id),
                    indices: Vec::new(),
                    span: at,
                })),
            };
        }
        let owner = match site {
            Site::Program(template) | Site::Initial(Some(template)) => Some(template),
            _ => None,
        };
        // A macro does not see its caller's locals.
        if let Some(template) = owner.filter(|_| scope.frame.is_none()) {
            if self.program.templates[template].id_name.as_deref() == Some(word) {
                if let Some(declared) = self.own_id(template) {
                    self.names.resolve(at, token_span(&declared));
                }
                return value(ExprKind::Own, ExprType::Id(template));
            }
            if let Some(compound) = self.local_compounds[template].get(word).copied() {
                self.names.resolve(at, self.compounds[compound].span);
                if let Site::Initial(_) = site {
                    return self.initial_not_constant(at, word);
                }
                return self.whole_part(compound, None, at).map(Target::Part);
            }
            // A loop's counter is known only inside the loop.
            let locals = &self.program.templates[template].locals;
            let local = self.local_names[template]
                .get(word)
                .copied()
                .filter(|id| !locals[*id].loop_counter);
            if let Some(id) = local {
                self.names.resolve(at, locals[id].span);
                if self.broken_locals.contains(&(template, id)) {
                    return None;
                }
                if let Site::Initial(_) = site {
                    return self.initial_not_constant(at, word);
                }
                return Some(Target::Cell(Place {
                    var: VarRef::Local(id),
                    indices: Vec::new(),
                    span: at,
                }));
            }
        }
        match self.global(token) {
            Some(Global::Param(id)) => value(ExprKind::Param(id), ExprType::Int),
            Some(Global::Member(id, position)) => {
                value(ExprKind::Member(position), ExprType::Enum(id))
            }
            Some(Global::Shared(id)) if self.broken_shared.contains(&id) => None,
            Some(Global::Shared(id)) => match site {
                Site::Constant => self.not_constant(at, word),
                Site::Initial(_) => self.initial_not_constant(at, word),
                _ => Some(Target::Cell(Place {
                    var: VarRef::Shared(id),
                    indices: Vec::new(),
                    span: at,
                })),
            },
            Some(Global::Compound(compound)) => match site {
                Site::Constant => self.not_constant(at, word),
                Site::Initial(_) => self.initial_not_constant(at, word),
                _ => self.whole_part(compound, None, at).map(Target::Part),
            },
            Some(Global::Def(id)) => self.call_def(id, Vec::new(), at, site).map(Target::Value),
            Some(
                Global::Enum(_)
                | Global::Alias(_)
                | Global::Record(_)
                | Global::Macro(_)
                | Global::Template(_),
            ) => {
                self.report(
                    Diagnostic::new(Code::NotAValue, at, format!("`{word}` is not a value"))
                        .label("a type, a template or a macro"),
                );
                None
            }
            None => {
                self.unknown_name(token, hint, site, scope);
                None
            }
        }
    }

    pub(super) fn not_constant<T>(&mut self, at: Span, word: &str) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::NotConstant,
                at,
                format!("`{word}` cannot be used here"),
            )
            .label("only numbers and parameters")
            .help("bounds, defaults and `where` are fixed before the program runs"),
        );
        None
    }

    fn initial_not_constant<T>(&mut self, at: Span, word: &str) -> Option<T> {
        self.report(
            Diagnostic::new(
                Code::InitialNotConstant,
                at,
                format!("an initial value cannot read `{word}`"),
            )
            .label("a variable")
            .help("initial values use numbers, parameters, members of enumerations and the own id"),
        );
        None
    }

    fn unknown_name(
        &mut self,
        token: &SyntaxToken,
        hint: Option<ExprType>,
        site: Site,
        scope: &Scope,
    ) {
        let word = token.text();
        let at = token_span(token);
        if let Site::Program(template) = site
            && scope.frame.is_none()
            && !self.undeclared.insert((word.to_owned(), template))
        {
            return;
        }
        if self.crowded() {
            return self.unknown(Code::UnknownName, "the name", token, []);
        }
        let owners: Vec<String> = self
            .program
            .templates
            .iter_enumerated()
            .filter(|(id, _)| {
                self.local_names[*id].contains_key(word)
                    || self.local_compounds[*id].contains_key(word)
            })
            .map(|(_, template)| template.name.clone())
            .collect();
        if let (Some(owner), false) = (owners.first(), matches!(site, Site::Constant)) {
            let (code, help) = match site {
                Site::Program(_) if scope.frame.is_some() => (
                    Code::UnknownName,
                    "a macro does not see its caller's locals: pass it as an argument".to_owned(),
                ),
                Site::Program(_) => (
                    Code::ForeignLocal,
                    format!("other processes read it, so declare it `shared {word}: ..`"),
                ),
                _ => (
                    Code::LocalInProperty,
                    format!("say whose it is: `{owner}[i].{word}`"),
                ),
            };
            return self.report(
                Diagnostic::new(code, at, format!("`{word}` is local to `{owner}`"))
                    .label("not visible here")
                    .help(help),
            );
        }
        if matches!(word, "G" | "F" | "X" | "U" | "R" | "W") {
            return self.report(temporal_outside(at, word));
        }
        // Where only parameters can stand, nothing else is meant.
        let mut candidates: Vec<String> = self.names_of(|global| match site {
            Site::Constant => matches!(global, Global::Param(_) | Global::Def(_)),
            _ => !matches!(global, Global::Macro(_)),
        });
        candidates.extend(scope.inner.iter().map(|(name, _)| name.clone()));
        candidates.extend(["true", "false", "none"].map(str::to_owned));
        if let Site::Program(template) = site {
            let template = &self.program.templates[template];
            candidates.extend(template.locals.iter().map(|local| local.name.clone()));
            candidates.extend(template.id_name.clone());
        }
        let before = self.diagnostics.len();
        self.unknown(Code::UnknownName, "the name", token, candidates);
        let (help, declaration) = match (site, hint) {
            (Site::Constant, _) => (
                format!("declare it: `param {word} = 2;`"),
                Some(format!("param {word} = 2;\n")),
            ),
            (Site::Program(_), Some(ExprType::Bool)) => (
                format!(
                    "declare it: `shared {word}: bool = false;` before the process, or `local` in it"
                ),
                Some(format!("shared {word}: bool = false;\n")),
            ),
            (Site::Program(_), _) => (
                format!(
                    "declare it, for example `shared {word}: 0..3 = 0;` before the process, or `local` in it"
                ),
                None,
            ),
            (Site::Initial(_), _) => (format!("declare it: `param {word} = 2;`"), None),
            _ => (
                format!("declare it: `shared {word}: ..;`, or bind it: `forall {word} in ..`"),
                None,
            ),
        };
        let first = self.file.as_ref().and_then(|file| file.children().next());
        if let Some(said) = self.diagnostics.get_mut(before)
            && said.help.is_none()
        {
            said.help = Some(help);
            if let (Some(text), Some(first)) = (declaration, first) {
                let start = span(&first).start;
                let place = Span { start, end: start };
                said.fix = Some(Fix { span: place, text });
            }
        }
    }

    // ---- processes in properties ----

    /// `P[j] at l`, `P[j].v[..]`, `Server at l`, `Server.v`.
    fn process(
        &mut self,
        template: TemplateId,
        base: &SyntaxNode,
        links: Vec<Link>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        let name = self.program.templates[template].name.clone();
        let single = matches!(
            self.program.templates[template].instances,
            Instances::Single
        );
        let mut links = links.into_iter();
        let mut next = links.next();
        let mut whole = span(base);
        let mut id = None;
        if let Some(Link::Index(node, index)) = &next {
            whole = span(node);
            if single {
                let message = format!("`{name}` is a single process and has no index");
                let refused = Diagnostic::new(Code::NotAnArray, whole, message);
                return self.refuse(refused.label("leave the index out"));
            }
            // Whether this may be said at all comes first: an index that is wrong here need not be fixed.
            let index = index.clone();
            next = links.next();
            if let Some(Link::At(node, _) | Link::Field(node, _)) = &next {
                self.visible(&next, span(node), site)?;
            }
            let index = self.expect_type(&index, ExprType::Id(template), site, scope)?;
            id = Some(Box::new(index));
        }
        let Some(link) = next else {
            let index = if single { "" } else { "[i]" };
            let message = format!("`{name}` is a process, not a value");
            let refused = Diagnostic::new(Code::NotAValue, whole, message).label("say what of it");
            let help = format!("`{name}{index} at label` or `{name}{index}.variable`");
            return self.refuse(refused.help(help));
        };
        if id.is_none() && !single {
            let message = format!("`{name}` is a template: say which process");
            let refused = Diagnostic::new(Code::NotAProcess, whole, message);
            let help = format!("`{name}[i]`, under `forall i in {name}:` or `exists i in {name}:`");
            return self.refuse(refused.label("needs an index").help(help));
        }
        let link = Some(link);
        let at = match &link {
            Some(Link::At(node, _) | Link::Field(node, _) | Link::Index(node, _)) => span(node),
            None => whole,
        };
        self.visible(&link, at, site)?;
        match link? {
            Link::At(node, labels) => {
                if links.next().is_some() {
                    let message = "this is a truth value";
                    let refused = Diagnostic::new(Code::NotAnArray, span(&node), message);
                    return self.refuse(refused.label("nothing can follow it"));
                }
                self.process_at(template, id, &node, &labels)
                    .map(Target::Value)
            }
            Link::Field(node, field) => {
                let links = links.collect();
                self.process_field(template, id, (&node, &field), links, site, scope)
            }
            Link::Index(node, _) => {
                let message = "a process has one index";
                let refused = Diagnostic::new(Code::NotAnArray, span(&node), message);
                self.refuse(refused.label("a second index"))
            }
        }
    }

    fn refuse<T>(&mut self, why: Diagnostic) -> Option<T> {
        self.report(why);
        None
    }

    /// `P[j] at {l, m}`
    fn process_at(
        &mut self,
        template: TemplateId,
        process: Option<Box<Expr>>,
        node: &SyntaxNode,
        labels: &[SyntaxToken],
    ) -> Option<Expr> {
        let found: Vec<Option<LocationId>> = labels
            .iter()
            .map(|label| self.location(template, label))
            .collect();
        let mut locations: Vec<LocationId> = found.into_iter().collect::<Option<_>>()?;
        locations.sort();
        locations.dedup();
        Some(Expr {
            kind: ExprKind::At {
                template,
                process,
                locations,
            },
            ty: ExprType::Bool,
            span: span(node),
        })
    }

    /// `P[j].v[..]`; `links` is what follows the variable's name.
    fn process_field(
        &mut self,
        template: TemplateId,
        process: Option<Box<Expr>>,
        (node, field): (&SyntaxNode, &SyntaxToken),
        links: Vec<Link>,
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        if let Some(compound) = self.local_compounds[template].get(field.text()).copied() {
            self.names
                .resolve(token_span(field), self.compounds[compound].span);
            let owner = Some((template, process));
            let part = self.whole_part(compound, owner, span(node))?;
            return self.links(Target::Part(part), links, site, scope);
        }
        let (var, local) = self.local_of(template, field)?;
        let mut whole = span(node);
        let mut indices = Vec::new();
        for link in links {
            match (link, local.dims.get(indices.len()).cloned()) {
                (Link::Index(node, index), Some(dim)) => {
                    whole = span(&node);
                    let ty = dim.ty();
                    indices.push(self.expect_type(&index, ty, site, scope)?);
                }
                (Link::Index(node, _) | Link::At(node, _) | Link::Field(node, _), _) => {
                    let message = format!("`{}` has no more indices", local.name);
                    let refused = Diagnostic::new(Code::NotAnArray, span(&node), message);
                    return self.refuse(refused.label("nothing more can follow"));
                }
            }
        }
        if indices.len() < local.dims.len() {
            let message = format!("`{}` is an array and is used cell by cell", local.name);
            let refused = Diagnostic::new(Code::WholeArray, whole, message);
            return self.refuse(refused.label("an index is missing"));
        }
        let Some(ty) = local.scalar.ty() else {
            let refused = Diagnostic::new(Code::MutexValue, whole, "a mutex is not a value");
            return self.refuse(refused.label("cannot be read"));
        };
        Some(Target::Value(Expr {
            kind: ExprKind::Remote {
                template,
                process,
                var,
                indices,
            },
            ty,
            span: whole,
        }))
    }

    /// The local variable of a template that a name stands for; nothing if there is none, or its declaration is broken.
    fn local_of(
        &mut self,
        template: TemplateId,
        field: &SyntaxToken,
    ) -> Option<(LocalId, Variable)> {
        let Some(&var) = self.local_names[template].get(field.text()) else {
            if self.labels[template].contains_key(field.text()) {
                let label = field.text();
                let at = token_span(field);
                let dot = Span {
                    start: at.start - 1,
                    ..at
                };
                let message = format!("`{label}` is a label, not a variable");
                let found = Diagnostic::new(Code::UnknownLocal, at, message);
                let name = &self.program.templates[template].name;
                let help = format!("write `{name}[i] at {label}`");
                return self.refuse(
                    found
                        .label("a label")
                        .help(help)
                        .fix_at(dot, format!(" at {label}")),
                );
            }
            let template = &self.program.templates[template];
            let locals = template.locals.iter();
            let candidates: Vec<String> = locals.map(|local| local.name.clone()).collect();
            let what = format!("a local variable of `{}` called", template.name);
            self.unknown(Code::UnknownLocal, &what, field, candidates);
            return None;
        };
        let local = self.program.templates[template].locals[var].clone();
        self.names.resolve(token_span(field), local.span);
        if self.broken_locals.contains(&(template, var)) {
            return None;
        }
        self.used.locals.insert((template, var));
        Some((var, local))
    }

    /// Whether this site may speak of other processes.
    fn visible(&mut self, link: &Option<Link>, at: Span, site: Site) -> Option<()> {
        let location = matches!(link, Some(Link::At(..)));
        let code = if location {
            Code::LocationInProgram
        } else {
            Code::ForeignLocal
        };
        match site {
            Site::Property | Site::Fairness => Some(()),
            Site::Def(def) => {
                // The index alone says nothing: the link behind it is what counts.
                if !matches!(link, Some(Link::Index(..))) {
                    self.property_only(def, code, at);
                }
                Some(())
            }
            _ => {
                if matches!(link, Some(Link::Index(..))) {
                    return Some(());
                }
                let (message, help) = if location {
                    (
                        "program text cannot ask where a process is",
                        "set a shared variable there, and read that",
                    )
                } else {
                    (
                        "program text cannot read another process's local variable",
                        "declare it `shared`, as an array over the template if each process has its own",
                    )
                };
                self.report(
                    Diagnostic::new(code, at, message)
                        .label("belongs in properties")
                        .help(help),
                );
                None
            }
        }
    }

    /// Remembers that a definition says something that only properties may say.
    pub(super) fn property_only(&mut self, def: DefId, code: Code, at: Span) {
        self.def_facts[def].property_only.get_or_insert((code, at));
    }

    /// A label of a template, also of one whose body is not checked yet.
    pub(super) fn location(
        &mut self,
        template: TemplateId,
        label: &SyntaxToken,
    ) -> Option<LocationId> {
        // A definition may be looked at before any body, for an initial value. It does not belong there, but it has to be read.
        self.template_locations(template);
        let template_done = self.program.templates[template].done();
        let found = match label.text() {
            "done" => Some(template_done),
            word => self.labels[template].get(word).copied(),
        };
        if let Some(found) = found.filter(|found| *found != template_done) {
            let declared = self.program.templates[template].locations[found].span;
            self.names.resolve(token_span(label), declared);
        }
        if found.is_none() {
            let name = self.program.templates[template].name.clone();
            let what = format!("a label of `{name}` called");
            let labels: Vec<String> = self.labels[template].keys().cloned().collect();
            self.unknown(Code::UnknownLabel, &what, label, labels);
        }
        found
    }
}

impl Scope {
    pub(super) fn lookup(&self, name: &str) -> Option<Inner> {
        self.inner
            .iter()
            .rev()
            .find(|(inner, _)| inner == name)
            .map(|(_, inner)| *inner)
    }
}
