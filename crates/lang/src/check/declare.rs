//! Declarations: what a file's names stand for, and the types of its variables.

use super::*;
use crate::names::in_directive;
use crate::syntax::{child, exprs, names, span, token, tokens};

impl Checker {
    /// Registers every declaration, then checks parameters, types, variables and templates' heads.
    pub(super) fn declare(&mut self, file: &SyntaxNode) {
        let mut variables = Vec::new();
        for item in file.children() {
            match item.kind() {
                SyntaxKind::Param => self.declare_param(&item),
                SyntaxKind::Enum => self.declare_enum(&item),
                SyntaxKind::Record => self.declare_record(&item),
                SyntaxKind::Alias => {
                    if let Some(name) = names(&item).next() {
                        let index = self.aliases.len();
                        self.aliases.push(AliasDecl {
                            node: item.clone(),
                            state: Lazy::Waiting,
                            ty: None,
                        });
                        self.declare_name(&name, Global::Alias(index));
                    }
                }
                SyntaxKind::Shared => variables.push(item.clone()),
                SyntaxKind::Process => self.declare_template(&item),
                SyntaxKind::Def => self.declare_def(&item),
                SyntaxKind::Macro => self.declare_macro(&item),
                SyntaxKind::Error => {}
                _ => {}
            }
        }
        self.directives(file);
        // Shared variables come after templates, whose ids their types mention.
        let mut initials = Vec::new();
        let mut compounds = Vec::new();
        for item in &variables {
            let ty = item.children().find(|n| n.kind().is_type());
            if ty.is_some_and(|ty| self.has_parts(&ty, 0)) {
                for name in names(item) {
                    let compound = self.new_compound(&name);
                    self.declare_name(&name, Global::Compound(compound));
                    compounds.push((compound, item.clone()));
                }
                continue;
            }
            for variable in self.variables(item) {
                let token = variable.1;
                let id = self.program.shared.push(variable.0);
                self.declare_name(&token, Global::Shared(id));
                initials.push((id, item.clone()));
            }
        }
        self.params(file);
        self.template_heads();
        for index in 0..self.aliases.len() {
            self.alias(index);
        }
        self.all_records();
        for (id, item) in initials {
            let ty = self.variable_type(&item);
            let name = self.program.shared[id].name.clone();
            let at = self.program.shared[id].span;
            if let Some(FullType {
                dims,
                element: Element::Scalar(scalar),
            }) = ty
            {
                let initial = self.initial(&item, &scalar, Site::Initial(None), &name, at);
                let variable = &mut self.program.shared[id];
                variable.dims = dims;
                variable.scalar = scalar;
                variable.initial = initial.unwrap_or(Initial::Any);
            } else {
                self.broken_shared.insert(id);
            }
        }
        for (compound, item) in compounds {
            let ty = self.variable_type(&item);
            self.declare_parts(compound, &item, ty, None);
        }
    }

    fn directives(&mut self, file: &SyntaxNode) {
        for element in file.descendants_with_tokens() {
            let Some(token) = element.into_token() else {
                continue;
            };
            if token.kind() == SyntaxKind::LineComment
                && let Some(rest) = token.text().strip_prefix("//@")
            {
                let at = token_span(&token);
                for (kind, range) in in_directive(token.text()) {
                    let word = token.text()[range.clone()].to_owned();
                    let used = Span {
                        start: at.start + range.start as u32,
                        end: at.start + range.end as u32,
                    };
                    self.in_directives.push((kind, word, used));
                }
                self.program.directives.push(Directive {
                    text: rest.trim().to_owned(),
                    span: at,
                });
            }
        }
    }

    pub(super) fn declare_name(&mut self, name: &SyntaxToken, global: Global) {
        let word = name.text();
        let at = token_span(name);
        // Only what is called can be taken for a built-in function.
        if matches!(global, Global::Def(_) | Global::Macro(_)) && BUILT_IN.contains(&word) {
            return self.report(
                Diagnostic::new(
                    Code::ReservedName,
                    at,
                    format!("`{word}` is a built-in function"),
                )
                .label("choose another name"),
            );
        }
        if let Some((_, first)) = self.globals.get(word) {
            let first = *first;
            return self.declared_twice(word, at, first);
        }
        let kind = match global {
            Global::Param(_) => SymbolKind::Param,
            Global::Enum(_) => SymbolKind::Enum,
            Global::Member(..) => SymbolKind::Member,
            Global::Alias(_) => SymbolKind::Type,
            Global::Shared(_) | Global::Compound(_) => SymbolKind::Shared,
            Global::Record(_) => SymbolKind::Type,
            Global::Template(_) => SymbolKind::Process,
            Global::Def(_) => SymbolKind::Def,
            Global::Macro(_) => SymbolKind::Macro,
        };
        let owner = match global {
            Global::Member(id, _) => Some(self.program.enums[id].span),
            _ => None,
        };
        self.names.declare(word, at, kind, EVERYWHERE, owner);
        self.globals.insert(word.to_owned(), (global, at));
    }

    pub(super) fn declared_twice(&mut self, word: &str, at: Span, first: Span) {
        self.report(
            Diagnostic::new(
                Code::DeclaredTwice,
                at,
                format!("`{word}` is declared twice"),
            )
            .label("the second declaration")
            .related(first, "the first declaration"),
        );
    }

    fn declare_param(&mut self, item: &SyntaxNode) {
        if let Some(name) = names(item).next() {
            let id = self.program.params.push(Param {
                name: text(&name),
                default: None,
                constraint: None,
                span: token_span(&name),
            });
            self.declare_name(&name, Global::Param(id));
        }
    }

    fn params(&mut self, file: &SyntaxNode) {
        let mut id = ParamId::from_usize(0);
        for item in file.children().filter(|n| n.kind() == SyntaxKind::Param) {
            if names(&item).next().is_none() {
                continue;
            }
            let scope = Scope::default();
            if let Some(node) = child(&item, SyntaxKind::Initial)
                && let Some(node) = exprs(&node).next()
                && let Some(value) = self.expect_type(&node, ExprType::Int, Site::Constant, &scope)
            {
                if let Some((later, at)) = first_param_from(&value, id) {
                    let name = self.program.params[later].name.clone();
                    self.report(
                        Diagnostic::new(
                            Code::NotConstant,
                            at,
                            format!("a default cannot use `{name}`"),
                        )
                        .label("only parameters declared before this one"),
                    );
                }
                self.program.params[id].default = Some(value);
            }
            if let Some(node) = exprs(&item).next() {
                self.program.params[id].constraint =
                    self.expect_type(&node, ExprType::Bool, Site::Constant, &scope);
            }
            id += 1;
        }
        // Mentioning a parameter in its own `where` is no use of it.
        let names: Vec<String> = self.program.params.iter().map(|p| p.name.clone()).collect();
        for name in names {
            self.used.globals.remove(&name);
        }
    }

    fn declare_enum(&mut self, item: &SyntaxNode) {
        let mut tokens = names(item);
        let Some(name) = tokens.next() else { return };
        let members: Vec<SyntaxToken> = tokens.collect();
        let id = self.program.enums.push(Enum {
            name: text(&name),
            members: members.iter().map(text).collect(),
            span: token_span(&name),
        });
        self.declare_name(&name, Global::Enum(id));
        if members.is_empty() {
            self.report(
                Diagnostic::new(
                    Code::TypeNotAllowed,
                    token_span(&name),
                    "an enumeration needs at least one member",
                )
                .label("no members"),
            );
        }
        for (position, member) in members.iter().enumerate() {
            self.declare_name(member, Global::Member(id, position as u32));
        }
    }

    fn declare_def(&mut self, item: &SyntaxNode) {
        let Some(name) = names(item).next() else {
            return;
        };
        let id = self.program.defs.push(Def {
            name: text(&name),
            params: Vec::new(),
            body: Expr {
                kind: ExprKind::Bool(true),
                ty: ExprType::Bool,
                span: token_span(&name),
            },
            span: token_span(&name),
        });
        self.def_nodes.push(item.clone());
        self.def_states.push(Lazy::Waiting);
        self.def_facts.push(DefFacts::default());
        self.declare_name(&name, Global::Def(id));
    }

    fn declare_macro(&mut self, item: &SyntaxNode) {
        let mut tokens = names(item);
        let Some(name) = tokens.next() else { return };
        let mut params: Vec<SyntaxToken> = Vec::new();
        for param in tokens {
            if params.iter().any(|known| known.text() == param.text()) {
                self.declared_twice(param.text(), token_span(&param), token_span(&param));
            }
            let (at, scope) = (token_span(&param), span(item));
            let kind = SymbolKind::MacroParam;
            self.names.declare(param.text(), at, kind, scope, None);
            params.push(param);
        }
        let index = self.macros.len();
        self.macros.push(MacroDecl {
            node: item.clone(),
            params,
            called: false,
        });
        self.declare_name(&name, Global::Macro(index));
    }

    fn declare_template(&mut self, item: &SyntaxNode) {
        let Some(name) = names(item).next() else {
            return;
        };
        let order = if token(item, SyntaxKind::OrderedKw).is_some() {
            IdOrder::Ordered
        } else if token(item, SyntaxKind::RingKw).is_some() {
            IdOrder::Ring
        } else {
            IdOrder::Unordered
        };
        let ids = child(item, SyntaxKind::ProcessIds);
        let instances = match &ids {
            None => Instances::Single,
            // A range is filled in with the templates' heads, when parameters are known.
            Some(_) => Instances::Dynamic,
        };
        let own_id = ids.and_then(|ids| names(&ids).next());
        if let Some(own) = &own_id {
            let (at, owner) = (token_span(own), token_span(&name));
            let kind = SymbolKind::OwnId;
            self.names
                .declare(own.text(), at, kind, span(item), Some(owner));
        }
        let id_name = own_id.map(|name| text(&name));
        let id = self.program.templates.push(Template {
            name: text(&name),
            id_name,
            order,
            instances,
            locals: IndexVec::new(),
            locations: IndexVec::new(),
            entry: LocationId::from_usize(0),
            body: Vec::new(),
            span: token_span(&name),
        });
        self.template_nodes.push(item.clone());
        self.local_names.push(BTreeMap::new());
        self.local_compounds.push(BTreeMap::new());
        self.labels.push(BTreeMap::new());
        self.declare_name(&name, Global::Template(id));
    }

    /// Ranges of ids, and local variables.
    fn template_heads(&mut self) {
        for id in self.template_nodes.indices() {
            let node = self.template_nodes[id].clone();
            if let Some(ids) = child(&node, SyntaxKind::ProcessIds)
                && let Some(domain) = child(&ids, SyntaxKind::Domain)
            {
                let scope = Scope::default();
                match self.domain(&domain, Site::Constant, &scope) {
                    Some(Domain::Range(lo, hi)) => {
                        self.program.templates[id].instances =
                            Instances::Range((*lo).clone(), (*hi).clone());
                    }
                    Some(_) => self.report(
                        Diagnostic::new(
                            Code::TypeNotAllowed,
                            span(&domain),
                            "the ids of a template are a range of integers",
                        )
                        .label("write for example `1..N`"),
                    ),
                    None => {}
                }
            }
            if self.program.templates[id].order != IdOrder::Unordered
                && !matches!(self.program.templates[id].instances, Instances::Range(..))
                && child(&node, SyntaxKind::ProcessIds)
                    .is_none_or(|ids| child(&ids, SyntaxKind::Domain).is_none())
            {
                let at = self.program.templates[id].span;
                self.report(
                    Diagnostic::new(
                        Code::TypeNotAllowed,
                        at,
                        "only a template with a range of ids can be `ordered` or a `ring`",
                    )
                    .label("this one has no range"),
                );
            }
        }
        // Locals may have ids of any template as values, so all ranges come first.
        for id in self.template_nodes.indices() {
            let node = self.template_nodes[id].clone();
            if let Some(params) = child(&node, SyntaxKind::ProcessParams) {
                self.process_params(id, &params);
            }
            for item in node.children().filter(|n| n.kind() == SyntaxKind::Local) {
                self.declare_locals(id, &node, &item);
            }
        }
    }

    /// What processes of a template are given when they are started.
    fn process_params(&mut self, id: TemplateId, params: &SyntaxNode) {
        if !matches!(self.program.templates[id].instances, Instances::Dynamic) {
            let message = "the processes of this template are not started by anybody";
            let refused = Diagnostic::new(Code::StartNotDynamic, span(params), message);
            let help = "only a template that begins empty, `process Child[](..)`, takes arguments; give a local variable an initial value instead";
            self.report(refused.label("nobody gives these values").help(help));
            return;
        }
        let node = self.template_nodes[id].clone();
        for item in params
            .children()
            .filter(|n| n.kind() == SyntaxKind::DefParam)
        {
            self.declare_locals(id, &node, &item);
        }
    }

    /// The variables of a `local` declaration, or a parameter of a template.
    fn declare_locals(&mut self, id: TemplateId, node: &SyntaxNode, item: &SyntaxNode) {
        let given = item.kind() == SyntaxKind::DefParam;
        let parts = item.children().find(|n| n.kind().is_type());
        let parts = parts.is_some_and(|ty| self.has_parts(&ty, 0));
        let mut ty = self.variable_type(item);
        if given && !ty.as_ref().is_none_or(is_single_value) {
            let at = item.children().find(|n| n.kind().is_type());
            let at = at.map_or(span(item), |ty| span(&ty));
            let message = "a parameter of a template is a single value";
            let refused = Diagnostic::new(Code::TypeNotAllowed, at, message);
            self.report(refused.label("no array, record, queue or mutex"));
            ty = None;
        }
        for (mut variable, name) in self.variables(item) {
            if self.local_clashes(id, &name) {
                continue;
            }
            let owner = self.program.templates[id].span;
            let kind = SymbolKind::Local;
            self.names
                .declare(&variable.name, variable.span, kind, span(node), Some(owner));
            if parts && !given {
                let compound = self.new_compound(&name);
                self.local_compounds[id].insert(variable.name.clone(), compound);
                self.declare_parts(compound, item, ty.clone(), Some(id));
                continue;
            }
            if let Some(FullType {
                dims,
                element: Element::Scalar(scalar),
            }) = ty.clone()
            {
                let site = Site::Initial(Some(id));
                let at = variable.span;
                variable.initial = match given {
                    true => Initial::Given,
                    false => self
                        .initial(item, &scalar, site, &variable.name, at)
                        .unwrap_or(Initial::Any),
                };
                variable.dims = dims;
                variable.scalar = scalar;
            }
            if given {
                variable.initial = Initial::Given;
            }
            let name = variable.name.clone();
            let local = self.program.templates[id].locals.push(variable);
            if ty.is_none() {
                self.broken_locals.insert((id, local));
            }
            self.local_names[id].insert(name, local);
        }
    }

    /// Whether the name of a local variable is taken.
    fn local_clashes(&mut self, id: TemplateId, name: &SyntaxToken) -> bool {
        let clash = self.local_names[id]
            .get(name.text())
            .map(|other| self.program.templates[id].locals[*other].span)
            .or_else(|| {
                let known = self.local_compounds[id].get(name.text())?;
                Some(self.compounds[*known].span)
            })
            .or_else(|| self.own_id_span(id, name.text()))
            .or_else(|| self.globals.get(name.text()).map(|(_, first)| *first));
        if let Some(first) = clash {
            self.declared_twice(name.text(), token_span(name), first);
        }
        clash.is_some()
    }

    /// The name of the template's own id, if it has one.
    pub(super) fn own_id(&self, template: TemplateId) -> Option<SyntaxToken> {
        let ids = child(&self.template_nodes[template], SyntaxKind::ProcessIds)?;
        names(&ids).next()
    }

    /// Where the template's own id is named, if that is its name.
    pub(super) fn own_id_span(&self, template: TemplateId, name: &str) -> Option<Span> {
        (self.program.templates[template].id_name.as_deref() == Some(name))
            .then(|| child(&self.template_nodes[template], SyntaxKind::ProcessIds))
            .flatten()
            .map(|ids| span(&ids))
    }

    /// The variables of a `shared` or `local` declaration, their types still open.
    fn variables(&mut self, item: &SyntaxNode) -> Vec<(Variable, SyntaxToken)> {
        names(item)
            .map(|name| {
                let variable = Variable {
                    name: text(&name),
                    dims: Vec::new(),
                    scalar: Scalar::Bool,
                    initial: Initial::Any,
                    loop_counter: false,
                    span: token_span(&name),
                };
                (variable, name)
            })
            .collect()
    }

    fn variable_type(&mut self, item: &SyntaxNode) -> Option<FullType> {
        let node = item.children().find(|n| n.kind().is_type())?;
        self.ty(&node)
    }

    fn initial(
        &mut self,
        item: &SyntaxNode,
        scalar: &Scalar,
        site: Site,
        name: &str,
        at: Span,
    ) -> Option<Initial> {
        let written = child(item, SyntaxKind::Initial);
        let expected = scalar.ty();
        match (written, expected) {
            (None, None) => Some(Initial::Free),
            (Some(node), None) => {
                self.report(
                    Diagnostic::new(
                        Code::MutexValue,
                        span(&node),
                        "a mutex begins free and takes no initial value",
                    )
                    .label("leave this out"),
                );
                None
            }
            (None, Some(expected)) => {
                let example = match expected {
                    ExprType::Bool => "= false",
                    ExprType::Int => "= 0",
                    ExprType::OptId(_) => "= none",
                    ExprType::Enum(_) | ExprType::Id(_) => "= any",
                };
                self.report(
                    Diagnostic::new(
                        Code::MissingInitial,
                        at,
                        format!("`{name}` has no initial value"),
                    )
                    .label("how does it begin?")
                    .help(format!(
                        "write for example `{example}`, or `= any` for every value of the type"
                    )),
                );
                None
            }
            (Some(node), Some(expected)) => {
                if token(&node, SyntaxKind::AnyKw).is_some() {
                    return Some(Initial::Any);
                }
                let value = exprs(&node).next()?;
                let value = self.expect_type(&value, expected, site, &Scope::default())?;
                self.check_constant_range(&value, scalar);
                Some(Initial::Value(value))
            }
        }
    }

    // ---- types ----

    fn alias(&mut self, index: usize) -> Option<FullType> {
        match self.aliases[index].state {
            Lazy::Done(_) => return self.aliases[index].ty.clone(),
            Lazy::Busy => {
                let node = self.aliases[index].node.clone();
                if let Some(name) = names(&node).next() {
                    self.report(
                        Diagnostic::new(
                            Code::RecursiveDefinition,
                            token_span(&name),
                            format!("the type `{}` leads back to itself", name.text()),
                        )
                        .label("defined in terms of itself"),
                    );
                }
                self.aliases[index].state = Lazy::Done(None);
                return None;
            }
            Lazy::Waiting => {}
        }
        self.aliases[index].state = Lazy::Busy;
        let node = self.aliases[index].node.clone();
        let ty = node
            .children()
            .find(|n| n.kind().is_type())
            .and_then(|node| self.ty(&node));
        self.aliases[index].state = Lazy::Done(None);
        self.aliases[index].ty = ty.clone();
        ty
    }

    /// A type as written.
    pub(super) fn ty(&mut self, node: &SyntaxNode) -> Option<FullType> {
        self.deeper(span(node), |checker| checker.type_inside(node))
    }

    fn type_inside(&mut self, node: &SyntaxNode) -> Option<FullType> {
        let plain = |scalar| {
            Some(FullType {
                dims: Vec::new(),
                element: Element::Scalar(scalar),
            })
        };
        let scope = Scope::default();
        match node.kind() {
            SyntaxKind::TypeBool => plain(Scalar::Bool),
            SyntaxKind::TypeInt => plain(Scalar::Int),
            SyntaxKind::TypeMutex => plain(Scalar::Mutex),
            SyntaxKind::TypeRange => {
                let mut bounds = exprs(node);
                let (lo, hi) = (bounds.next()?, bounds.next()?);
                let lo = self.constant_bound(&lo, &scope);
                let hi = self.constant_bound(&hi, &scope);
                plain(Scalar::Range(lo?, hi?))
            }
            SyntaxKind::TypeArray => {
                let domain = child(node, SyntaxKind::Domain)?;
                let domain = self.domain(&domain, Site::Constant, &scope);
                let element = node.children().find(|n| n.kind().is_type())?;
                let element = self.ty(&element)?;
                let mut dims = vec![domain?];
                dims.extend(element.dims);
                Some(FullType {
                    dims,
                    element: element.element,
                })
            }
            SyntaxKind::TypeQueue => self.queue_type(node),
            _ => self.named_type(node),
        }
    }

    fn named_type(&mut self, node: &SyntaxNode) -> Option<FullType> {
        let optional = token(node, SyntaxKind::Question).is_some();
        let name = match names(node).next() {
            Some(name) => name,
            None => {
                let inner = exprs(node).next()?;
                if inner.kind() != SyntaxKind::NameExpr {
                    self.report(
                        Diagnostic::new(Code::UnknownType, span(node), "this is not a type")
                            .label("expected a type")
                            .help("a range is written `lo..hi`"),
                    );
                    return None;
                }
                names(&inner).next()?
            }
        };
        let plain = |scalar| {
            Some(FullType {
                dims: Vec::new(),
                element: Element::Scalar(scalar),
            })
        };
        let found = self.global(&name);
        if optional && !matches!(found, Some(Global::Template(_)) | None) {
            self.report(
                Diagnostic::new(Code::TypeNotAllowed, span(node), "only ids can be optional")
                    .label(format!("`{}` is no process template", name.text())),
            );
            return None;
        }
        match found {
            Some(Global::Enum(id)) => plain(Scalar::Enum(id)),
            Some(Global::Alias(index)) => self.alias(index),
            Some(Global::Record(record)) => {
                self.fields(record)?;
                Some(FullType {
                    dims: Vec::new(),
                    element: Element::Record(record),
                })
            }
            Some(Global::Template(id)) => {
                self.ids_allowed(id, token_span(&name), "have ids as values")?;
                plain(if optional {
                    Scalar::OptId(id)
                } else {
                    Scalar::Id(id)
                })
            }
            Some(_) => {
                self.report(
                    Diagnostic::new(
                        Code::UnknownType,
                        token_span(&name),
                        format!("`{}` is not a type", name.text()),
                    )
                    .label("expected a type"),
                );
                None
            }
            None => {
                self.unknown_type(&name);
                None
            }
        }
    }

    /// Single processes have no ids, and those of a dynamic template cannot be enumerated.
    fn ids_allowed(&mut self, id: TemplateId, at: Span, what: &str) -> Option<()> {
        let reason = match self.program.templates[id].instances {
            Instances::Range(..) => return Some(()),
            Instances::Single => "a single process, which has no ids",
            Instances::Dynamic
                if child(&self.template_nodes[id], SyntaxKind::ProcessIds)
                    .is_some_and(|ids| child(&ids, SyntaxKind::Domain).is_some()) =>
            {
                // Its range was wrong, and that was reported.
                return None;
            }
            Instances::Dynamic => "a dynamic template, whose processes have no fixed ids",
        };
        let name = self.program.templates[id].name.clone();
        self.report(
            Diagnostic::new(
                Code::TypeNotAllowed,
                at,
                format!("`{name}` cannot {what}: it is {reason}"),
            )
            .label("not possible here"),
        );
        None
    }

    fn unknown_type(&mut self, name: &SyntaxToken) {
        if let Some(ours) = crate::syntax::foreign_type(name.text()) {
            let message = format!("the type `{}` is not declared", name.text());
            let found = Diagnostic::new(Code::UnknownType, token_span(name), message);
            let found = found.label(format!("`{ours}` here")).fix(ours);
            return self.report(match ours {
                "int" => found.help(
                    "`int` is without bounds; with a range such as `0..255` instances are finite",
                ),
                _ => found.help(format!("write `{ours}`")),
            });
        }
        let candidates = self.names_of(|global| {
            matches!(
                global,
                Global::Enum(_) | Global::Alias(_) | Global::Record(_) | Global::Template(_)
            )
        });
        self.unknown(Code::UnknownType, "the type", name, candidates);
    }

    pub(super) fn names_of(&self, wanted: impl Fn(&Global) -> bool) -> Vec<String> {
        if self.crowded() {
            return Vec::new();
        }
        self.globals
            .iter()
            .filter(|(_, (global, _))| wanted(global))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// `lo..hi`, an enumeration, a template, or an alias of a range.
    pub(super) fn domain(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<Domain> {
        let mut parts = exprs(node);
        let first = parts.next()?;
        if tokens(node).any(|token| token.kind() == SyntaxKind::DotDot) {
            let second = parts.next()?;
            let lo = self.constant_bound(&first, scope);
            let hi = self.constant_bound(&second, scope);
            return Some(Domain::Range(lo?, hi?));
        }
        let name = match first.kind() {
            SyntaxKind::NameExpr => names(&first).next()?,
            _ => {
                let found = Diagnostic::new(
                    Code::UnknownType,
                    span(&first),
                    "expected a range `lo..hi`, an enumeration or a process template",
                );
                let found = found.label("not a set");
                let size = tokens(&first)
                    .next()
                    .filter(|_| first.kind() == SyntaxKind::NumberExpr);
                let size = size.and_then(|token| token.text().parse::<u32>().ok());
                self.report(match size.filter(|size| *size > 0) {
                    Some(size) => found
                        .help(format!(
                            "for {size} values write `0..{0}` or `1..{size}`",
                            size - 1
                        ))
                        .fix(format!("0..{}", size - 1)),
                    None => found.help("write for example `0..3`"),
                });
                return None;
            }
        };
        match self.global(&name) {
            Some(Global::Enum(id)) => Some(Domain::Enum(id)),
            Some(Global::Template(id)) => {
                let dynamic_in_property =
                    matches!(site, Site::Property | Site::Fairness | Site::Def(_))
                        && matches!(self.program.templates[id].instances, Instances::Dynamic);
                if !dynamic_in_property {
                    self.ids_allowed(id, token_span(&name), "be ranged over")?;
                } else if let Site::Def(def) = site {
                    self.property_only(def, Code::ForeignLocal, token_span(&name));
                }
                Some(Domain::Template(id))
            }
            Some(Global::Alias(index)) => match self.alias(index)? {
                FullType {
                    dims,
                    element: Element::Scalar(Scalar::Range(lo, hi)),
                } if dims.is_empty() => Some(Domain::Range(lo, hi)),
                FullType {
                    dims,
                    element: Element::Scalar(Scalar::Enum(id)),
                } if dims.is_empty() => Some(Domain::Enum(id)),
                FullType {
                    dims,
                    element: Element::Scalar(Scalar::Id(id)),
                } if dims.is_empty() => Some(Domain::Template(id)),
                _ => {
                    self.report(
                        Diagnostic::new(
                            Code::TypeNotAllowed,
                            token_span(&name),
                            format!("`{}` cannot be ranged over", name.text()),
                        )
                        .label("not a range, an enumeration or ids"),
                    );
                    None
                }
            },
            Some(found) => {
                let word = name.text();
                let message = format!("`{word}` is not a set of values");
                let refused = Diagnostic::new(Code::UnknownType, token_span(&name), message)
                    .label("expected a range `lo..hi`, an enumeration or a process template");
                self.report(match found {
                    Global::Param(_) => refused
                        .help(format!(
                            "for {word} values write `0..{word} - 1` or `1..{word}`"
                        ))
                        .fix(format!("1..{word}")),
                    _ => refused,
                });
                None
            }
            None => {
                self.unknown_type(&name);
                None
            }
        }
    }

    /// A bound is looked at wherever something has its type, so it must be short.
    pub(super) fn constant_bound(&mut self, node: &SyntaxNode, scope: &Scope) -> Option<Arc<Expr>> {
        let bound = self.expect_type(node, ExprType::Int, Site::Constant, scope)?;
        let mut size = 0;
        bound.walk(&mut |_| size += 1);
        if size > MAX_BOUND {
            self.report(
                Diagnostic::new(
                    Code::ExpansionTooLarge,
                    bound.span,
                    format!("a bound with {size} numbers and operators; it can have {MAX_BOUND}"),
                )
                .label("too long")
                .help("write its value, or make it the default of a parameter: `param N = ..`"),
            );
            return None;
        }
        Some(Arc::new(bound))
    }
}

/// Whether a variable of the type is one cell that takes a value.
fn is_single_value(ty: &FullType) -> bool {
    ty.dims.is_empty() && matches!(&ty.element, Element::Scalar(scalar) if scalar.ty().is_some())
}

/// The first mention of a parameter that is not declared before `limit`.
fn first_param_from(value: &Expr, limit: ParamId) -> Option<(ParamId, Span)> {
    let mut found = None;
    value.walk(&mut |e| {
        if let ExprKind::Param(id) = e.kind
            && id >= limit
            && found.is_none()
        {
            found = Some((id, e.span));
        }
    });
    found
}
