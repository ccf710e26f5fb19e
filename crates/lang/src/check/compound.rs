//! Records and queues: variables of several parts.
//!
//! The program behind the checker knows neither. A record becomes one variable for each of its fields, `r.a` and `r.b`; a queue becomes an array of
//! its places, `q`, and the number of its messages, `q.length`; an array of records is an array for each field. So every engine, every export and every
//! certificate has them at once, and traces name the parts as the text does. The messages of a queue stand in its first places, the oldest in place 0,
//! and all places behind them hold the least value of their type: one content is one state. Where the messages are ids, the places hold optional ids
//! and `none` behind the messages, since any id would single out a process.

use super::expr::{count, strip_parens};
use super::names::Target;
use super::*;
use crate::syntax::{exprs, names, span};

/// The greatest number of parts of one variable.
const MAX_PARTS: usize = 1_000;

/// A declared record.
pub(super) struct RecordDecl {
    pub(super) node: SyntaxNode,
    state: Lazy<()>,
    fields: Rc<Vec<Field>>,
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(super) struct Field {
    name: String,
    span: Span,
    ty: FullType,
}

impl Field {
    /// Whether a value of the record says what it is: mutexes begin free, and queues empty.
    fn has_value(&self) -> bool {
        !matches!(
            self.ty.element,
            Element::Scalar(Scalar::Mutex) | Element::Queue(..)
        )
    }
}

/// A variable of several parts.
pub(super) struct Compound {
    pub(super) name: String,
    pub(super) span: Span,
    /// Nothing if its declaration is wrong.
    ty: Option<FullType>,
    /// What it consists of. The key of a field is its path, `.a.b`; that of a queue's places is its own, and that of the number of its messages has `#` behind it.
    parts: BTreeMap<String, VarRef>,
}

/// A part of such a variable that has parts itself, or needs more indices.
#[derive(Clone, Debug)]
pub(super) struct Part {
    compound: usize,
    /// The process whose it is, where that is said: in properties.
    owner: Option<(TemplateId, Option<Box<Expr>>)>,
    path: String,
    /// Of what is left when the indices so far are given.
    pub(super) ty: FullType,
    indices: Vec<Expr>,
    /// Inside a message of a queue, which is read and not written.
    message: bool,
    pub(super) span: Span,
}

/// How a variable begins, as it is written.
#[derive(Clone)]
enum Begin {
    Any,
    Value(SyntaxNode),
    Unsaid,
}

/// A part of a variable while it is declared.
struct Laid {
    key: String,
    name: String,
    dims: Vec<Domain>,
    scalar: Scalar,
    initial: Initial,
}

impl Checker {
    // ---- declarations ----

    pub(super) fn declare_record(&mut self, item: &SyntaxNode) {
        if let Some(name) = names(item).next() {
            let index = self.records.len();
            self.records.push(RecordDecl {
                node: item.clone(),
                state: Lazy::Waiting,
                fields: Rc::default(),
            });
            self.declare_name(&name, Global::Record(index));
        }
    }

    /// The fields of a record; nothing if there is an error in it.
    pub(super) fn fields(&mut self, record: usize) -> Option<Rc<Vec<Field>>> {
        let node = self.records[record].node.clone();
        match &self.records[record].state {
            Lazy::Done(found) => {
                return found.as_ref().map(|()| self.records[record].fields.clone());
            }
            Lazy::Busy => {
                let at = names(&node).next().map_or(span(&node), |n| token_span(&n));
                let message = "a record cannot have itself as a part";
                let refused = Diagnostic::new(Code::RecursiveDefinition, at, message);
                self.report(refused.label("leads back to itself"));
                self.records[record].state = Lazy::Done(None);
                return None;
            }
            Lazy::Waiting => self.records[record].state = Lazy::Busy,
        }
        let mut fields: Vec<Field> = Vec::new();
        let mut sound = true;
        for group in node.children() {
            let ty = group.children().find(|n| n.kind().is_type());
            let ty = ty.and_then(|ty| self.ty(&ty));
            for name in names(&group) {
                let at = token_span(&name);
                if let Some(first) = fields.iter().find(|known| known.name == name.text()) {
                    let first = first.span;
                    self.declared_twice(name.text(), at, first);
                    sound = false;
                    continue;
                }
                let owner = names(&node).next().map(|name| token_span(&name));
                let kind = SymbolKind::Field;
                self.names
                    .declare(name.text(), at, kind, span(&node), owner);
                match &ty {
                    Some(ty) => fields.push(Field {
                        name: text(&name),
                        span: at,
                        ty: ty.clone(),
                    }),
                    None => sound = false,
                }
            }
        }
        if fields.is_empty() && sound {
            let at = names(&node).next().map_or(span(&node), |n| token_span(&n));
            let refused = Diagnostic::new(
                Code::TypeNotAllowed,
                at,
                "a record needs at least one field",
            );
            self.report(refused.label("no fields"));
            sound = false;
        }
        // One that leads back to itself was found while its fields were read.
        if self.records[record].state == Lazy::Done(None) {
            return None;
        }
        self.records[record].fields = Rc::new(fields);
        self.records[record].state = Lazy::Done(sound.then_some(()));
        sound.then(|| self.records[record].fields.clone())
    }

    pub(super) fn all_records(&mut self) {
        for record in 0..self.records.len() {
            self.fields(record);
        }
    }

    fn record_name(&self, record: usize) -> String {
        let name = names(&self.records[record].node).next();
        name.map_or_else(String::new, |name| text(&name))
    }

    /// `queue[K] of T`
    pub(super) fn queue_type(&mut self, node: &SyntaxNode) -> Option<FullType> {
        let capacity = exprs(node).next()?;
        let capacity = self.constant_bound(&capacity, &Scope::default());
        let message = node.children().find(|n| n.kind().is_type())?;
        let at = span(&message);
        let message = self.ty(&message)?;
        let capacity = capacity?;
        if literal(&capacity).is_some_and(|most| most < 1) {
            let refused = Diagnostic::new(
                Code::TypeNotAllowed,
                capacity.span,
                "a queue has room for at least one message",
            );
            self.report(refused.label("too few"));
            return None;
        }
        let plain = match self.scalars(&message)? {
            Ok(_) => message.dims.is_empty(),
            Err(_) => false,
        };
        if !plain {
            let refused = Diagnostic::new(
                Code::TypeNotAllowed,
                at,
                "a message is a single value, or a record of single values",
            );
            self.report(refused.label("no arrays, mutexes and queues"));
            return None;
        }
        Some(FullType {
            dims: Vec::new(),
            element: Element::Queue(capacity, Rc::new(message)),
        })
    }

    /// The single values that a value of a type consists of, with their paths; or what in it is none.
    fn scalars(&mut self, ty: &FullType) -> Option<Result<Vec<(String, Scalar)>, &'static str>> {
        let mut found = Vec::new();
        let why = self.scalars_in(ty, String::new(), &mut found)?;
        Some(why.map(|()| found))
    }

    fn scalars_in(
        &mut self,
        ty: &FullType,
        path: String,
        found: &mut Vec<(String, Scalar)>,
    ) -> Option<Result<(), &'static str>> {
        if !ty.dims.is_empty() {
            return Some(Err("an array"));
        }
        match &ty.element {
            Element::Scalar(Scalar::Mutex) => return Some(Err("a mutex")),
            Element::Queue(..) => return Some(Err("a queue")),
            Element::Scalar(scalar) => found.push((path, scalar.clone())),
            Element::Record(record) => {
                let fields = self.fields(*record)?;
                for field in fields.iter() {
                    let path = format!("{path}.{}", field.name);
                    if let Err(why) = self.scalars_in(&field.ty, path, found)? {
                        return Some(Err(why));
                    }
                    if found.len() > MAX_PARTS {
                        return Some(Err("too many parts"));
                    }
                }
            }
        }
        Some(Ok(()))
    }

    /// Whether a type, as written, has parts: a record, a queue, or an array of such.
    pub(super) fn has_parts(&self, node: &SyntaxNode, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let inner = || node.children().find(|n| n.kind().is_type());
        match node.kind() {
            SyntaxKind::TypeQueue => true,
            SyntaxKind::TypeArray => inner().is_some_and(|ty| self.has_parts(&ty, depth + 1)),
            SyntaxKind::TypeName => {
                let word = exprs(node).next().and_then(|name| names(&name).next());
                match word.and_then(|word| Some(self.globals.get(word.text())?.0)) {
                    Some(Global::Record(_)) => true,
                    Some(Global::Alias(index)) => {
                        let alias = &self.aliases[index].node;
                        let ty = alias.children().find(|n| n.kind().is_type());
                        ty.is_some_and(|ty| self.has_parts(&ty, depth + 1))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// A variable with parts whose declaration is not read yet.
    pub(super) fn new_compound(&mut self, name: &SyntaxToken) -> usize {
        self.compounds.push(Compound {
            name: text(name),
            span: token_span(name),
            ty: None,
            parts: BTreeMap::new(),
        });
        self.compounds.len() - 1
    }

    /// The parts of a variable become variables, of the whole program or of a template.
    pub(super) fn declare_parts(
        &mut self,
        compound: usize,
        item: &SyntaxNode,
        ty: Option<FullType>,
        template: Option<TemplateId>,
    ) {
        let Some(ty) = ty else { return };
        let (name, at) = (
            self.compounds[compound].name.clone(),
            self.compounds[compound].span,
        );
        let begin = match crate::syntax::child(item, SyntaxKind::Initial) {
            None => Begin::Unsaid,
            Some(node) if crate::syntax::token(&node, SyntaxKind::AnyKw).is_some() => Begin::Any,
            Some(node) => match exprs(&node).next() {
                Some(value) => Begin::Value(value),
                None => return,
            },
        };
        let mut laid = Vec::new();
        let site = Site::Initial(template);
        let whole = (name.as_str(), at);
        if self
            .lay_out(
                &ty,
                (String::new(), Vec::new()),
                begin,
                whole,
                site,
                &mut laid,
            )
            .is_none()
        {
            return;
        }
        for part in laid {
            let variable = Variable {
                name: part.name,
                dims: part.dims,
                scalar: part.scalar,
                initial: part.initial,
                loop_counter: false,
                span: at,
            };
            let var = match template {
                None => VarRef::Shared(self.program.shared.push(variable)),
                Some(id) => VarRef::Local(self.program.templates[id].locals.push(variable)),
            };
            self.compounds[compound].parts.insert(part.key, var);
        }
        self.compounds[compound].ty = Some(ty);
    }

    /// The parts of a type, under a path and below some dimensions.
    fn lay_out(
        &mut self,
        ty: &FullType,
        (path, mut dims): (String, Vec<Domain>),
        begin: Begin,
        whole: (&str, Span),
        site: Site,
        laid: &mut Vec<Laid>,
    ) -> Option<()> {
        dims.extend(ty.dims.iter().cloned());
        if laid.len() > MAX_PARTS {
            let message = format!("`{}` has more than {MAX_PARTS} parts", whole.0);
            let refused = Diagnostic::new(Code::ExpansionTooLarge, whole.1, message);
            self.report(refused.label("too many"));
            return None;
        }
        let (name, at) = (format!("{}{path}", whole.0), whole.1);
        match &ty.element {
            Element::Scalar(scalar) => {
                let initial = match (scalar.ty(), begin) {
                    (None, _) => Initial::Free,
                    (Some(_), Begin::Any) => Initial::Any,
                    (Some(_), Begin::Unsaid) => return self.unsaid(whole),
                    (Some(ty), Begin::Value(node)) => {
                        let value = self.expect_type(&node, ty, site, &Scope::default())?;
                        self.check_constant_range(&value, scalar);
                        Initial::Value(value)
                    }
                };
                laid.push(Laid {
                    key: path,
                    name,
                    dims,
                    scalar: scalar.clone(),
                    initial,
                });
            }
            Element::Record(record) => {
                let fields = self.fields(*record)?;
                let mut given = match &begin {
                    Begin::Value(node) => {
                        let values = self.constructed(node, *record, &Scope::default())?;
                        Some(values.into_iter())
                    }
                    _ => None,
                };
                let mut sound = Some(());
                for field in fields.iter() {
                    let begin = match &mut given {
                        Some(_) if !field.has_value() => Begin::Unsaid,
                        Some(given) => Begin::Value(given.next()?),
                        None => begin.clone(),
                    };
                    let path = format!("{path}.{}", field.name);
                    let below = (path, dims.clone());
                    let done = self.lay_out(&field.ty, below, begin, whole, site, laid);
                    sound = sound.and(done);
                    if let (None, true) = (done, given.is_none()) {
                        return None;
                    }
                }
                return sound;
            }
            Element::Queue(capacity, message) => {
                if let (Begin::Value(_) | Begin::Any, true) = (&begin, path.is_empty()) {
                    let refused = Diagnostic::new(
                        Code::MutexValue,
                        at,
                        format!(
                            "`{name}` is a queue, which begins empty and takes no initial value"
                        ),
                    );
                    self.report(refused.label("leave the value out"));
                    return None;
                }
                self.lay_out_queue((capacity, message), (&path, &name), &dims, at, laid)?;
            }
        }
        Some(())
    }

    fn lay_out_queue(
        &mut self,
        (capacity, message): (&Arc<Expr>, &FullType),
        (path, name): (&str, &str),
        dims: &[Domain],
        at: Span,
        laid: &mut Vec<Laid>,
    ) -> Option<()> {
        let number = |value| Arc::new(int(ExprKind::Int(value), at));
        let last = match literal(capacity) {
            Some(most) => number(most - 1),
            None => Arc::new(int(
                ExprKind::Arith(
                    ArithOp::Sub,
                    Box::new((**capacity).clone()),
                    Box::new(int(ExprKind::Int(1), at)),
                ),
                at,
            )),
        };
        let mut places = dims.to_vec();
        places.push(Domain::Range(number(0), last));
        let parts = self.scalars(message)?.ok()?;
        let taken = parts.iter().any(|(path, _)| path == ".length");
        for (part, scalar) in parts {
            let (scalar, least) = in_queue(&scalar, at)?;
            laid.push(Laid {
                key: format!("{path}{part}"),
                name: format!("{name}{part}"),
                dims: places.clone(),
                scalar,
                initial: Initial::Value(least),
            });
        }
        let length = if taken { "messages" } else { "length" };
        laid.push(Laid {
            key: format!("{path}#"),
            name: format!("{name}.{length}"),
            dims: dims.to_vec(),
            scalar: Scalar::Range(number(0), capacity.clone()),
            initial: Initial::Value(int(ExprKind::Int(0), at)),
        });
        Some(())
    }

    fn unsaid<T>(&mut self, (name, at): (&str, Span)) -> Option<T> {
        let message = format!("`{name}` has no initial value");
        let missing = Diagnostic::new(Code::MissingInitial, at, message);
        self.report(missing.label("how does it begin?").help(
            "write a value of the record, as in `= R(false, 0)`, or `= any` for every value of each field",
        ));
        None
    }

    // ---- values of records ----

    /// What a macro's parameter stands for, and where that is read.
    fn argument(&mut self, node: &SyntaxNode, scope: &Scope) -> (SyntaxNode, Scope) {
        let (mut node, mut scope) = (strip_parens(node), scope.clone());
        loop {
            let name = match node.kind() {
                SyntaxKind::NameExpr => names(&node).next(),
                _ => None,
            };
            let Some(name) = name.filter(|name| scope.lookup(name.text()).is_none()) else {
                return (node, scope);
            };
            let Some(frame) = scope.frame.clone() else {
                return (node, scope);
            };
            let Some((declared, argument)) = frame.args.get(name.text()) else {
                return (node, scope);
            };
            self.names.resolve(token_span(&name), *declared);
            node = strip_parens(argument);
            scope = frame.caller.clone();
        }
    }

    /// The type of what has parts, as far as the names in an expression tell it. It reports nothing: whoever reads the expression does.
    pub(super) fn shape(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
        depth: usize,
    ) -> Option<FullType> {
        if depth > crate::syntax::MAX_NESTING
            || self.compounds.is_empty() && self.records.is_empty()
        {
            return None;
        }
        let (node, scope) = self.argument(node, scope);
        let base = || exprs(&node).next();
        match node.kind() {
            SyntaxKind::NameExpr => {
                let name = names(&node).next()?;
                let compound = self.compound_named(name.text(), site, &scope)?;
                self.compounds[compound].ty.clone()
            }
            SyntaxKind::CallExpr => {
                let callee = names(&node).next()?;
                match self.globals.get(callee.text()).map(|g| g.0) {
                    Some(Global::Record(record)) => Some(FullType {
                        dims: Vec::new(),
                        element: Element::Record(record),
                    }),
                    _ if self.of_queues(callee.text()) && callee.text() == "peek" => {
                        let queue = self.shape(&base()?, site, &scope, depth + 1)?;
                        queue.message()
                    }
                    _ => None,
                }
            }
            SyntaxKind::IndexExpr => {
                let mut ty = self.shape(&base()?, site, &scope, depth + 1)?;
                if ty.dims.is_empty() {
                    return ty.message();
                }
                ty.dims.remove(0);
                Some(ty)
            }
            SyntaxKind::FieldExpr => {
                let field = names(&node).next()?;
                if let Some(template) = self.process_in(&base()?, &scope) {
                    let compound = *self.local_compounds[template].get(field.text())?;
                    return self.compounds[compound].ty.clone();
                }
                let whole = self.shape(&base()?, site, &scope, depth + 1)?;
                let Element::Record(record) = whole.element else {
                    return None;
                };
                let fields = self.fields(record)?;
                let found = fields.iter().find(|known| known.name == field.text())?;
                Some(found.ty.clone())
            }
            _ => None,
        }
    }

    /// The template of `P` or `P[i]`.
    fn process_in(&self, node: &SyntaxNode, scope: &Scope) -> Option<TemplateId> {
        let node = match node.kind() {
            SyntaxKind::IndexExpr => exprs(node).next()?,
            _ => node.clone(),
        };
        let name = names(&node).next()?;
        match self.globals.get(name.text())?.0 {
            Global::Template(id)
                if node.kind() == SyntaxKind::NameExpr && scope.lookup(name.text()).is_none() =>
            {
                Some(id)
            }
            _ => None,
        }
    }

    fn compound_named(&self, name: &str, site: Site, scope: &Scope) -> Option<usize> {
        if scope.lookup(name).is_some() {
            return None;
        }
        if let Site::Program(template) | Site::Initial(Some(template)) = site
            && scope.frame.is_none()
            && let Some(local) = self.local_compounds[template].get(name)
        {
            return Some(*local);
        }
        match self.globals.get(name)?.0 {
            Global::Compound(compound) => Some(compound),
            _ => None,
        }
    }

    /// The record that an expression is a value of.
    pub(super) fn record_of(
        &mut self,
        node: &SyntaxNode,
        site: Site,
        scope: &Scope,
    ) -> Option<usize> {
        match self.shape(node, site, scope, 0)? {
            FullType {
                dims,
                element: Element::Record(record),
            } if dims.is_empty() => Some(record),
            _ => None,
        }
    }

    /// The arguments of `R(a, b)`.
    fn constructed(
        &mut self,
        node: &SyntaxNode,
        record: usize,
        scope: &Scope,
    ) -> Option<Vec<SyntaxNode>> {
        let (node, _) = self.argument(node, scope);
        let callee = match node.kind() {
            SyntaxKind::CallExpr => names(&node).next(),
            _ => None,
        };
        let found = callee.as_ref().and_then(|callee| self.global(callee));
        let (Some(callee), Some(Global::Record(found))) = (callee, found) else {
            return self.no_record(span(&node), record);
        };
        if found != record {
            return self.no_record(span(&node), record);
        }
        let fields = self.fields(record)?;
        let values: Vec<SyntaxNode> = exprs(&node).collect();
        let wanted = fields.iter().filter(|field| field.has_value()).count();
        self.arity(&callee, values.len(), wanted)?;
        Some(values)
    }

    fn no_record<T>(&mut self, at: Span, record: usize) -> Option<T> {
        let name = self.record_name(record);
        let message = format!("expected a value of the record `{name}`");
        let refused = Diagnostic::new(Code::TypeMismatch, at, message);
        let fields = self.fields(record)?;
        let fields = fields.iter().filter(|field| field.has_value());
        let fields: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
        let help = format!(
            "write `{name}({})`, or a variable of this type",
            fields.join(", ")
        );
        self.report(refused.label("not of this type").help(help));
        None
    }

    /// The single values of a record as a whole, with their types; reports a record that cannot be taken as a whole.
    pub(super) fn whole(&mut self, record: usize, at: Span) -> Option<Vec<(String, Scalar)>> {
        let ty = FullType {
            dims: Vec::new(),
            element: Element::Record(record),
        };
        match self.scalars(&ty)? {
            Ok(scalars) => Some(scalars),
            Err(why) => {
                let name = self.record_name(record);
                let message = format!("a record `{name}` is used field by field");
                let refused = Diagnostic::new(Code::WholeRecord, at, message);
                self.report(refused.label(format!("has {why} in it")));
                None
            }
        }
    }

    /// The single values of a value of a record.
    pub(super) fn record_value(
        &mut self,
        node: &SyntaxNode,
        record: usize,
        site: Site,
        scope: &Scope,
    ) -> Option<Vec<Expr>> {
        let scalars = self.whole(record, span(node))?;
        let (inner, inner_scope) = self.argument(node, scope);
        let at = span(&inner);
        let constructor = inner.kind() == SyntaxKind::CallExpr
            && names(&inner).next().is_some_and(|callee| {
                let global = self.globals.get(callee.text()).map(|g| g.0);
                matches!(global, Some(Global::Record(_)))
            });
        if constructor {
            let given = self.constructed(&inner, record, &inner_scope)?;
            let fields = self.fields(record)?;
            let mut values = Vec::new();
            let mut sound = true;
            for (field, node) in fields.iter().zip(given) {
                let value = match &field.ty.element {
                    Element::Record(inner) => self.record_value(&node, *inner, site, &inner_scope),
                    Element::Scalar(scalar) => scalar.ty().and_then(|ty| {
                        let value = self.expect_type(&node, ty, site, &inner_scope)?;
                        self.check_constant_range(&value, scalar);
                        Some(vec![value])
                    }),
                    Element::Queue(..) => None,
                };
                sound &= value.is_some();
                values.extend(value.into_iter().flatten());
            }
            return sound.then_some(values);
        }
        if self.record_of(&inner, site, &inner_scope) != Some(record) {
            // Whatever is wrong with it is said first.
            let known = self.shape(&inner, site, &inner_scope, 0).is_some();
            if known || self.expr(&inner, None, site, &inner_scope).is_some() {
                return self.no_record(at, record);
            }
            return None;
        }
        let Target::Part(part) = self.target(&inner, None, site, &inner_scope)? else {
            return None;
        };
        let values = scalars.into_iter().map(|(path, scalar)| {
            let below = part.at(&path, scalar);
            self.part_value(below, site)
        });
        values.collect()
    }

    /// The cells of a record that is written.
    pub(super) fn record_cells(
        &mut self,
        node: &SyntaxNode,
        record: usize,
        site: Site,
        scope: &Scope,
    ) -> Option<Vec<(Place, Scalar)>> {
        let scalars = self.whole(record, span(node))?;
        let (inner, scope) = self.argument(node, scope);
        match self.target(&inner, None, site, &scope)? {
            Target::Part(part) if part.owner.is_none() && !part.message => {
                let cells = scalars.into_iter().map(|(path, scalar)| {
                    let var = *self.compounds[part.compound]
                        .parts
                        .get(&format!("{}{path}", part.path))?;
                    let place = Place {
                        var,
                        indices: part.indices.clone(),
                        span: part.span,
                    };
                    Some((place, scalar))
                });
                cells.collect()
            }
            _ => self.not_a_variable(span(node), "this"),
        }
    }

    /// `r == s`: all single values are equal.
    pub(super) fn same_record(
        &mut self,
        record: usize,
        operands: (&SyntaxNode, &SyntaxNode),
        at: Span,
        site: Site,
        scope: &Scope,
    ) -> Option<Expr> {
        let left = self.record_value(operands.0, record, site, scope);
        let right = self.record_value(operands.1, record, site, scope);
        let mut equal = Vec::new();
        for (left, right) in left?.into_iter().zip(right?) {
            let common = match (left.ty, right.ty) {
                (ExprType::Id(_), optional @ ExprType::OptId(_)) => optional,
                (ty, _) => ty,
            };
            let left = self.coerce(left, common, site)?;
            let right = self.coerce(right, common, site)?;
            let both = (Box::new(left), Box::new(right));
            equal.push(Expr {
                kind: ExprKind::Compare(CompareOp::Eq, both.0, both.1),
                ty: ExprType::Bool,
                span: at,
            });
        }
        Some(match equal.len() {
            1 => equal.remove(0),
            _ => Expr {
                kind: ExprKind::And(equal),
                ty: ExprType::Bool,
                span: at,
            },
        })
    }

    // ---- parts ----

    /// The whole variable.
    pub(super) fn whole_part(
        &mut self,
        compound: usize,
        owner: Option<(TemplateId, Option<Box<Expr>>)>,
        at: Span,
    ) -> Option<Part> {
        Some(Part {
            compound,
            owner,
            path: String::new(),
            ty: self.compounds[compound].ty.clone()?,
            indices: Vec::new(),
            message: false,
            span: at,
        })
    }

    /// A part with an index behind it.
    pub(super) fn part_index(
        &mut self,
        mut part: Part,
        (node, index): (&SyntaxNode, &SyntaxNode),
        site: Site,
        scope: &Scope,
    ) -> Option<Target> {
        part.span = span(node);
        if !part.ty.dims.is_empty() {
            let dim = part.ty.dims.remove(0);
            let index = self.expect_type(index, dim.ty(), site, scope)?;
            part.indices.push(index);
            return self.settled(part, site);
        }
        let Some(message) = part.ty.message() else {
            let refused = Diagnostic::new(
                Code::NotAnArray,
                span(node),
                "a record has fields, not indices",
            );
            self.report(refused.label("no array"));
            return None;
        };
        let index = self.expect_type(index, ExprType::Int, site, scope)?;
        let index = self.among_messages(&part, index, site)?;
        self.message(part, message, index, site)
    }

    fn message(
        &mut self,
        mut part: Part,
        message: FullType,
        index: Expr,
        site: Site,
    ) -> Option<Target> {
        part.indices.push(index);
        part.ty = message;
        part.message = true;
        self.settled(part, site)
    }

    /// The index of a message, which is checked to be one: of place `k` of `n` messages in a queue for at most `K`, `k` if `k < n`, and `k + K` otherwise.
    fn among_messages(&mut self, part: &Part, index: Expr, site: Site) -> Option<Expr> {
        let Element::Queue(capacity, _) = &part.ty.element else {
            return None;
        };
        let at = index.span;
        let arith = |op, a: Expr, b: Expr| int(ExprKind::Arith(op, Box::new(a), Box::new(b)), at);
        let number = |value| int(ExprKind::Int(value), at);
        let capacity = (**capacity).clone();
        let length = self.queue_length(part, site)?;
        let over = arith(ArithOp::Sub, index.clone(), length);
        let over = arith(ArithOp::Add, over, number(1));
        let over = arith(ArithOp::Max, over, number(0));
        let over = arith(ArithOp::Min, over, number(1));
        let far = arith(ArithOp::Mul, capacity, over);
        Some(arith(ArithOp::Add, index, far))
    }

    /// `peek(q)`: the oldest message. Of an empty queue there is none, and its index is -1.
    pub(super) fn oldest(&mut self, part: Part, at: Span, site: Site) -> Option<Target> {
        let message = part.ty.message()?;
        let length = self.queue_length(&part, site)?;
        let arith = |op, a: Expr, b: i64| {
            let b = int(ExprKind::Int(b), at);
            int(ExprKind::Arith(op, Box::new(a), Box::new(b)), at)
        };
        let index = arith(ArithOp::Sub, arith(ArithOp::Min, length, 1), 1);
        let part = Part { span: at, ..part };
        self.message(part, message, index, site)
    }

    /// A part with `.field` behind it.
    pub(super) fn part_field(
        &mut self,
        mut part: Part,
        node: &SyntaxNode,
        field: &SyntaxToken,
        site: Site,
    ) -> Option<Target> {
        if !part.ty.dims.is_empty() {
            return self.incomplete_part(&part);
        }
        let Element::Record(record) = part.ty.element else {
            let refused = Diagnostic::new(
                Code::UnknownField,
                token_span(field),
                "a queue has no fields",
            );
            let help = "what is known of a queue: `length(q)`, `empty(q)`, `full(q)`, `peek(q)` and `q[k]`";
            self.report(refused.label("not found").help(help));
            return None;
        };
        let fields = self.fields(record)?;
        let Some(found) = fields.iter().find(|known| known.name == field.text()) else {
            let what = format!("a field of `{}` called", self.record_name(record));
            let candidates: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
            self.unknown(Code::UnknownField, &what, field, candidates);
            return None;
        };
        self.names.resolve(token_span(field), found.span);
        part.path.push('.');
        part.path.push_str(&found.name);
        part.ty = found.ty.clone();
        part.span = span(node);
        self.settled(part, site)
    }

    /// An array of parts without its index.
    pub(super) fn incomplete_part<T>(&mut self, part: &Part) -> Option<T> {
        let name = &self.compounds[part.compound].name;
        let message = format!("`{name}{}` is an array and is used cell by cell", part.path);
        let refused = Diagnostic::new(Code::WholeArray, part.span, message);
        self.report(refused.label(format!(
            "{} more to give",
            count(part.ty.dims.len(), "index")
        )));
        None
    }

    /// Says that a single value is needed, and not a record or a queue.
    pub(super) fn not_single<T>(&mut self, part: &Part) -> Option<T> {
        if !part.ty.dims.is_empty() {
            return self.incomplete_part(part);
        }
        let name = format!("`{}{}`", self.compounds[part.compound].name, part.path);
        let (message, help) = match part.ty.element {
            Element::Queue(..) => (
                format!("{name} is a queue, not a single value"),
                "use `send`, `receive`, `length`, `empty`, `full`, `peek` and `q[k]`".to_owned(),
            ),
            _ => (
                format!("{name} is a record, not a single value"),
                "say which field; records as a whole are assigned, compared, sent and received"
                    .to_owned(),
            ),
        };
        self.report(
            Diagnostic::new(Code::WholeRecord, part.span, message)
                .label("several values")
                .help(help),
        );
        None
    }

    /// A part that is a single value is a cell, or a value.
    fn settled(&mut self, part: Part, site: Site) -> Option<Target> {
        if !matches!(part.ty.element, Element::Scalar(_)) {
            return Some(Target::Part(part));
        }
        if part.owner.is_none() && !part.message {
            let var = *self.compounds[part.compound].parts.get(&part.path)?;
            return Some(Target::Cell(Place {
                var,
                indices: part.indices,
                span: part.span,
            }));
        }
        if !part.ty.dims.is_empty() {
            return Some(Target::Part(part));
        }
        self.part_value(part, site).map(Target::Value)
    }

    /// A part that is a single value, read.
    fn part_value(&mut self, part: Part, site: Site) -> Option<Expr> {
        let Element::Scalar(scalar) = &part.ty.element else {
            return None;
        };
        let Some(ty) = scalar.ty() else {
            let refused = Diagnostic::new(Code::MutexValue, part.span, "a mutex is not a value");
            self.report(refused.label("cannot be read"));
            return None;
        };
        // Places of queues hold `none` where there is no message, so what is read there is an optional id.
        let held = match (part.message, ty) {
            (true, ExprType::Id(id)) => ExprType::OptId(id),
            _ => ty,
        };
        let var = *self.compounds[part.compound].parts.get(&part.path)?;
        Some(self.part_read(&part, var, held, site))
    }

    fn part_read(&mut self, part: &Part, var: VarRef, ty: ExprType, site: Site) -> Expr {
        let (indices, span) = (part.indices.clone(), part.span);
        let kind = match (&part.owner, var) {
            (Some((template, process)), VarRef::Local(var)) => {
                self.used.locals.insert((*template, var));
                ExprKind::Remote {
                    template: *template,
                    process: process.clone(),
                    var,
                    indices,
                }
            }
            _ => {
                let place = Place { var, indices, span };
                self.mark_read(&place, site);
                ExprKind::Read(place)
            }
        };
        Expr { kind, ty, span }
    }

    // ---- queues ----

    /// Whether a word is a function of queues here: a definition or macro of the program has its name for itself.
    pub(super) fn of_queues(&self, word: &str) -> bool {
        QUEUE_FUNCTIONS.contains(&word) && self.is_free(word)
    }

    /// Whether nothing of the program can be called by this name.
    pub(super) fn is_free(&self, word: &str) -> bool {
        !matches!(
            self.globals.get(word).map(|g| g.0),
            Some(Global::Def(_) | Global::Macro(_) | Global::Record(_))
        )
    }

    /// A queue.
    pub(super) fn queue(&mut self, node: &SyntaxNode, site: Site, scope: &Scope) -> Option<Part> {
        let (inner, scope) = self.argument(node, scope);
        let found = match inner.kind() {
            SyntaxKind::NameExpr | SyntaxKind::IndexExpr | SyntaxKind::FieldExpr => {
                Some(self.target(&inner, None, site, &scope)?)
            }
            _ => None,
        };
        if let Some(Target::Part(part)) = found {
            if !part.ty.dims.is_empty() {
                return self.incomplete_part(&part);
            }
            if let Element::Queue(..) = part.ty.element {
                return Some(part);
            }
        }
        let refused = Diagnostic::new(Code::NotAQueue, span(node), "this is not a queue");
        self.report(refused.label("expected a variable of type `queue[K] of T`"));
        None
    }

    /// The number of messages in a queue.
    pub(super) fn queue_length(&mut self, part: &Part, site: Site) -> Option<Expr> {
        let key = format!("{}#", part.path);
        let var = *self.compounds[part.compound].parts.get(&key)?;
        Some(self.part_read(part, var, ExprType::Int, site))
    }

    /// The parts of the places of a queue: their variables with the types of what they hold and of what a message has there.
    pub(super) fn queue_places(&mut self, part: &Part) -> Option<Vec<(VarRef, Scalar)>> {
        let message = part.ty.message()?;
        let scalars = self.scalars(&message)?.ok()?;
        let parts = scalars.into_iter().map(|(path, scalar)| {
            let key = format!("{}{path}", part.path);
            let var = self.compounds[part.compound].parts.get(&key)?;
            Some((*var, scalar))
        });
        parts.collect()
    }

    /// The place of the number of messages, and its indices, which all parts of the queue have.
    pub(super) fn length_place(&self, part: &Part) -> Option<Place> {
        let key = format!("{}#", part.path);
        Some(Place {
            var: *self.compounds[part.compound].parts.get(&key)?,
            indices: part.indices.clone(),
            span: part.span,
        })
    }

    /// All shared variables that hold messages.
    pub(super) fn message_variables(&self) -> BTreeSet<SharedId> {
        let mut found = BTreeSet::new();
        for compound in &self.compounds {
            let lengths = compound
                .parts
                .keys()
                .filter_map(|key| key.strip_suffix('#'));
            for path in lengths {
                let inside = format!("{path}.");
                let places = compound.parts.iter().filter(|(key, _)| {
                    *key == path || key.starts_with(&inside) && !key.ends_with('#')
                });
                found.extend(places.filter_map(|(_, var)| match var {
                    VarRef::Shared(id) => Some(*id),
                    VarRef::Local(_) => None,
                }));
            }
        }
        found
    }

    /// Variables with parts of which none is read; of the others all count as read.
    pub(super) fn unread_compounds(&mut self) -> Vec<(String, Span, &'static str)> {
        let mut unread = Vec::new();
        let owners: BTreeMap<usize, TemplateId> = self
            .local_compounds
            .iter_enumerated()
            .flat_map(|(id, known)| known.values().map(move |compound| (*compound, id)))
            .collect();
        for (index, compound) in self.compounds.iter().enumerate() {
            let owner = owners.get(&index);
            let mut read = compound.ty.is_none();
            for var in compound.parts.values() {
                read |= match (var, owner) {
                    (VarRef::Local(id), Some(owner)) => self.used.locals.contains(&(*owner, *id)),
                    (VarRef::Shared(id), _) => self.used.shared.contains(id),
                    _ => false,
                };
            }
            if !read {
                let what = if owner.is_some() { "local" } else { "shared" };
                unread.push((compound.name.clone(), compound.span, what));
            }
            for var in compound.parts.values() {
                match (var, owner) {
                    (VarRef::Local(id), Some(owner)) => {
                        self.used.locals.insert((*owner, *id));
                    }
                    (VarRef::Shared(id), _) => {
                        self.used.shared.insert(*id);
                    }
                    _ => {}
                }
            }
        }
        unread
    }
}

impl Part {
    /// A single value in it.
    fn at(&self, path: &str, scalar: Scalar) -> Part {
        Part {
            path: format!("{}{path}", self.path),
            ty: FullType {
                dims: Vec::new(),
                element: Element::Scalar(scalar),
            },
            ..self.clone()
        }
    }
}

impl FullType {
    /// What a message of a queue is.
    pub(super) fn message(&self) -> Option<FullType> {
        match &self.element {
            Element::Queue(_, message) if self.dims.is_empty() => Some((**message).clone()),
            _ => None,
        }
    }
}

/// An integer of a queue.
pub(super) fn int(kind: ExprKind, span: Span) -> Expr {
    Expr {
        kind,
        ty: ExprType::Int,
        span,
    }
}

/// What a place of a queue holds for a value of a type, and what it holds without a message.
pub(super) fn in_queue(scalar: &Scalar, at: Span) -> Option<(Scalar, Expr)> {
    let held = match scalar {
        Scalar::Id(id) => Scalar::OptId(*id),
        other => other.clone(),
    };
    let kind = match &held {
        Scalar::Bool => ExprKind::Bool(false),
        Scalar::Int => ExprKind::Int(0),
        Scalar::Range(lo, _) => return Some((held.clone(), (**lo).clone())),
        Scalar::Enum(_) => ExprKind::Member(0),
        Scalar::OptId(_) => ExprKind::None,
        Scalar::Id(_) | Scalar::Mutex => return None,
    };
    let ty = held.ty()?;
    Some((held, Expr { kind, ty, span: at }))
}
