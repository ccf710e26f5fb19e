//! Builds programs without text: for front ends of other languages.
//!
//! A [`Builder`] takes declarations in the order in which they are to be written, and gives ids. Expressions are made with the methods of
//! [`Expr`], which put coercions in where two types meet; whatever names a variable comes from the builder, which knows the variable's type. Labels may be
//! declared in any order, for jumps forwards; [`Builder::finish`] numbers them as they stand. Nothing is checked on the way: what was built is
//! a program if [`validate`](crate::validate()) says so.

use std::collections::BTreeMap;

use crate::print::{Item, Layout};
use crate::program::*;

/// A program that grows.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    program: Program,
    layout: Layout,
}

/// A program that was built, and how it is written.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: Program,
    /// The order of its items in a text, and the comments.
    pub layout: Layout,
}

/// Whose variables can be named: those of a template, in its body, or of none.
pub type Owner = Option<TemplateId>;

impl Builder {
    /// A program without anything.
    pub fn new() -> Self {
        Builder::default()
    }

    /// What there is so far; labels are not in order yet.
    pub fn program(&self) -> &Program {
        &self.program
    }

    // ---- layout ----

    /// A comment on a line of its own, in front of what comes next.
    pub fn comment(&mut self, text: &str) {
        self.layout.add(Item::Comment(format!(" {text}")));
    }

    /// An empty line, in front of what comes next.
    pub fn blank(&mut self) {
        self.layout.add(Item::Blank);
    }

    /// A comment behind what was declared last.
    pub fn remark(&mut self, text: &str) {
        if let Some((_, comment)) = self.layout.items.last_mut() {
            *comment = Some(text.to_owned());
        }
    }

    /// Writes atomic blocks of one simple statement on one line.
    pub fn short_atomic(&mut self) {
        self.layout.short_atomic = true;
    }

    // ---- declarations ----

    /// A parameter.
    pub fn param(&mut self, param: Param) -> ParamId {
        let id = self.program.params.push(param);
        self.layout.add(Item::Param(id));
        id
    }

    /// An enumeration.
    pub fn enumeration(&mut self, name: &str, members: Vec<String>, span: Span) -> EnumId {
        let name = name.to_owned();
        let id = self.program.enums.push(Enum {
            name,
            members,
            span,
        });
        self.layout.add(Item::Enum(id));
        id
    }

    /// A shared variable.
    pub fn shared(&mut self, variable: Variable) -> SharedId {
        let id = self.program.shared.push(variable);
        self.layout.add(Item::Shared(id));
        id
    }

    /// A template without variables and statements. `id_name` is what a process calls itself, if it is one of several.
    pub fn template(
        &mut self,
        name: &str,
        order: IdOrder,
        id_name: Option<&str>,
        instances: Instances,
        span: Span,
    ) -> TemplateId {
        let done = Location {
            name: "done".to_owned(),
            span,
        };
        let id = self.program.templates.push(Template {
            name: name.to_owned(),
            id_name: id_name.map(str::to_owned),
            order,
            instances,
            locals: Default::default(),
            // The end comes first until the labels are in order.
            locations: [done].into_iter().collect(),
            entry: LocationId::new(0),
            body: Vec::new(),
            span,
        });
        self.layout.add(Item::Template(id));
        id
    }

    /// A variable of a template's processes.
    pub fn local(&mut self, template: TemplateId, variable: Variable) -> LocalId {
        self.program.templates[template].locals.push(variable)
    }

    /// A label of a template, to be put in front of one of its statements.
    pub fn label(&mut self, template: TemplateId, name: &str, span: Span) -> LocationId {
        let name = name.to_owned();
        let location = Location { name, span };
        self.program.templates[template].locations.push(location)
    }

    /// Where a template's processes are that have ended.
    pub fn done(&self) -> LocationId {
        LocationId::new(0)
    }

    /// The statements of a template.
    pub fn body(&mut self, template: TemplateId, body: Block) {
        self.program.templates[template].body = body;
    }

    /// A bound variable that ranges over a domain: one for each quantifier, loop or choice.
    pub fn bound(&mut self, name: &str, domain: &Domain) -> BoundId {
        self.program.bounds.push(Bound {
            name: name.to_owned(),
            ty: domain.ty(),
        })
    }

    /// A definition.
    pub fn def(&mut self, name: &str, params: Vec<BoundId>, body: Expr, span: Span) -> DefId {
        let id = self.program.defs.push(Def {
            name: name.to_owned(),
            params,
            body,
            span,
        });
        self.layout.add(Item::Def(id));
        id
    }

    /// A fairness assumption.
    pub fn fairness(
        &mut self,
        name: &str,
        alternatives: Vec<Vec<FairnessTerm>>,
        span: Span,
    ) -> FairnessId {
        let id = self.program.fairness.push(Fairness {
            name: name.to_owned(),
            alternatives,
            span,
        });
        self.layout.add(Item::Fairness(id));
        id
    }

    /// A property.
    pub fn property(&mut self, name: &str, kind: PropertyKind, span: Span) {
        let item = Item::Property(self.program.properties.len());
        self.program.properties.push(Property {
            name: name.to_owned(),
            kind,
            span,
        });
        self.layout.add(item);
    }

    // ---- what names a variable ----

    fn variable(&self, var: VarRef, owner: Owner) -> Option<&Variable> {
        match (var, owner) {
            (VarRef::Shared(id), _) => self.program.shared.get(id),
            (VarRef::Local(id), Some(template)) => self.program.templates[template].locals.get(id),
            (VarRef::Local(_), None) => None,
        }
    }

    /// A cell of a variable; its indices are made to fit the array.
    pub fn place(&self, owner: Owner, var: VarRef, indices: Vec<Expr>, span: Span) -> Place {
        let dims = self.variable(var, owner).map_or(&[][..], |v| &v.dims);
        Place {
            var,
            indices: fitted(indices, dims),
            span,
        }
    }

    /// The value of a cell.
    pub fn read(&self, owner: Owner, place: Place) -> Expr {
        let ty = self.place_type(owner, &place);
        let span = place.span;
        Expr::new(ExprKind::Read(place), ty, span)
    }

    /// The type of a cell; that of a mutex is not asked for.
    pub fn place_type(&self, owner: Owner, place: &Place) -> ExprType {
        let variable = self.variable(place.var, owner);
        variable
            .and_then(|v| v.scalar.ty())
            .unwrap_or(ExprType::Bool)
    }

    /// A bound variable's value.
    pub fn value_of(&self, bound: BoundId, span: Span) -> Expr {
        Expr::new(ExprKind::Bound(bound), self.program.bounds[bound].ty, span)
    }

    /// A definition's value.
    pub fn call(&self, def: DefId, args: Vec<Expr>, span: Span) -> Expr {
        let known = &self.program.defs[def];
        let params = known.params.iter();
        let args = args
            .into_iter()
            .zip(params)
            .map(|(arg, param)| arg.coerced(self.program.bounds[*param].ty))
            .collect();
        Expr::new(ExprKind::Call(def, args), known.body.ty, span)
    }

    /// `P[j].v[..]`: a local variable of some process, in a property.
    pub fn remote(
        &self,
        template: TemplateId,
        process: Option<Expr>,
        var: LocalId,
        indices: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let variable = &self.program.templates[template].locals[var];
        let ty = variable.scalar.ty().unwrap_or(ExprType::Bool);
        let kind = ExprKind::Remote {
            template,
            process: as_process(process, template),
            var,
            indices: fitted(indices, &variable.dims),
        };
        Expr::new(kind, ty, span)
    }

    /// `place := value`, the value made to fit.
    pub fn assign(&self, owner: Owner, place: Place, value: Expr, span: Span) -> Stmt {
        let value = value.coerced(self.place_type(owner, &place));
        Stmt::new(StmtKind::Assign(vec![place], vec![value]), span)
    }

    // ---- the end ----

    /// The program, with labels numbered as they stand.
    pub fn finish(mut self) -> Built {
        let mut orders: Vec<BTreeMap<LocationId, LocationId>> = Vec::new();
        for template in &mut self.program.templates {
            let mut placed = Vec::new();
            placed_labels(&template.body, &mut placed);
            let all = template.locations.indices();
            let missing: Vec<LocationId> = all.skip(1).filter(|id| !placed.contains(id)).collect();
            placed.extend(missing);
            placed.push(LocationId::new(0));
            let order = placed.iter().enumerate();
            orders.push(
                order
                    .map(|(new, old)| (*old, LocationId::new(new)))
                    .collect(),
            );
            template.locations = placed
                .iter()
                .map(|old| template.locations[*old].clone())
                .collect();
        }
        self.program
            .renumber_locations(&|template, old| orders[template.index()].get(&old).copied());
        for template in &mut self.program.templates {
            if let Some(entry) = crate::check::entry_label(&template.body) {
                template.entry = entry;
            }
        }
        Built {
            program: self.program,
            layout: self.layout,
        }
    }
}

/// The labels of a block, in order.
fn placed_labels(block: &Block, into: &mut Vec<LocationId>) {
    for stmt in block {
        into.extend(stmt.label);
        for inner in stmt.kind.parts().blocks {
            placed_labels(inner, into);
        }
    }
}

fn fitted(indices: Vec<Expr>, dims: &[Domain]) -> Vec<Expr> {
    let mut dims = dims.iter();
    let fit = |index: Expr| match dims.next() {
        Some(dim) => index.coerced(dim.ty()),
        None => index,
    };
    indices.into_iter().map(fit).collect()
}

fn as_process(process: Option<Expr>, template: TemplateId) -> Option<Box<Expr>> {
    process.map(|id| Box::new(id.coerced(ExprType::Id(template))))
}

impl Domain {
    /// The type of what ranges over it.
    pub fn ty(&self) -> ExprType {
        match self {
            Domain::Range(..) => ExprType::Int,
            Domain::Enum(id) => ExprType::Enum(*id),
            Domain::Template(id) => ExprType::Id(*id),
        }
    }
}

impl Scalar {
    /// The type of a cell as an expression; a mutex has none.
    pub fn ty(&self) -> Option<ExprType> {
        Some(match self {
            Scalar::Bool => ExprType::Bool,
            Scalar::Int | Scalar::Range(..) => ExprType::Int,
            Scalar::Enum(id) => ExprType::Enum(*id),
            Scalar::Id(id) => ExprType::Id(*id),
            Scalar::OptId(id) => ExprType::OptId(*id),
            Scalar::Mutex => return None,
        })
    }
}

impl Span {
    /// From the beginning of this place to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end.max(self.start),
        }
    }
}

impl Stmt {
    /// A statement without a label.
    pub fn new(kind: StmtKind, span: Span) -> Stmt {
        Stmt {
            label: None,
            kind,
            span,
            note: None,
        }
    }

    /// The statement behind a label.
    pub fn labelled(self, label: LocationId) -> Stmt {
        let label = Some(label);
        Stmt { label, ..self }
    }

    /// The statement with a note.
    pub fn noted(self, note: Note) -> Stmt {
        let note = Some(note);
        Stmt { note, ..self }
    }
}

impl Expr {
    /// An expression of a type.
    pub fn new(kind: ExprKind, ty: ExprType, span: Span) -> Expr {
        Expr { kind, ty, span }
    }

    /// A number, as the parser reads it: a negative one is a negated one.
    pub fn int(number: i64, span: Span) -> Expr {
        let plain = |number| Expr::new(ExprKind::Int(number), ExprType::Int, span);
        match number.checked_neg() {
            Some(positive) if number < 0 => plain(positive).negative(),
            _ => plain(number),
        }
    }

    /// `true` or `false`.
    pub fn truth(truth: bool, span: Span) -> Expr {
        Expr::new(ExprKind::Bool(truth), ExprType::Bool, span)
    }

    /// A member of an enumeration.
    pub fn member(of: EnumId, position: u32, span: Span) -> Expr {
        Expr::new(ExprKind::Member(position), ExprType::Enum(of), span)
    }

    /// A parameter's value.
    pub fn param(id: ParamId, span: Span) -> Expr {
        Expr::new(ExprKind::Param(id), ExprType::Int, span)
    }

    /// The own id of a process of a template.
    pub fn own(template: TemplateId, span: Span) -> Expr {
        Expr::new(ExprKind::Own, ExprType::Id(template), span)
    }

    /// Whether a mutex is held.
    pub fn locked(place: Place) -> Expr {
        let span = place.span;
        Expr::new(ExprKind::Locked(place), ExprType::Bool, span)
    }

    /// `P[j] at {..}`
    pub fn at(
        template: TemplateId,
        process: Option<Expr>,
        locations: Vec<LocationId>,
        span: Span,
    ) -> Expr {
        let kind = ExprKind::At {
            template,
            process: as_process(process, template),
            locations,
        };
        Expr::new(kind, ExprType::Bool, span)
    }

    /// `enabled(P[j], l)`
    pub fn enabled(
        template: TemplateId,
        process: Option<Expr>,
        location: LocationId,
        span: Span,
    ) -> Expr {
        let kind = ExprKind::Enabled {
            template,
            process: as_process(process, template),
            location,
        };
        Expr::new(kind, ExprType::Bool, span)
    }

    /// `taken(P[j], l)`
    pub fn taken(
        template: TemplateId,
        process: Option<Expr>,
        location: LocationId,
        span: Span,
    ) -> Expr {
        let kind = ExprKind::Taken {
            template,
            process: as_process(process, template),
            location,
        };
        Expr::new(kind, ExprType::Bool, span)
    }

    /// `!e`
    pub fn negated(self) -> Expr {
        let span = self.span;
        Expr::new(ExprKind::Not(Box::new(self)), ExprType::Bool, span)
    }

    /// `-e`
    pub fn negative(self) -> Expr {
        let span = self.span;
        let inner = self.coerced(ExprType::Int);
        Expr::new(ExprKind::Neg(Box::new(inner)), ExprType::Int, span)
    }

    /// `a && b`; a chain grows on the left.
    pub fn and(self, right: Expr) -> Expr {
        let span = self.span.to(right.span);
        let list = match self.kind {
            ExprKind::And(mut list) => {
                list.push(right);
                list
            }
            _ => vec![self, right],
        };
        Expr::new(ExprKind::And(list), ExprType::Bool, span)
    }

    /// `a || b`; a chain grows on the left.
    pub fn or(self, right: Expr) -> Expr {
        let span = self.span.to(right.span);
        let list = match self.kind {
            ExprKind::Or(mut list) => {
                list.push(right);
                list
            }
            _ => vec![self, right],
        };
        Expr::new(ExprKind::Or(list), ExprType::Bool, span)
    }

    /// `a -> b`
    pub fn implies(self, right: Expr) -> Expr {
        let span = self.span.to(right.span);
        let kind = ExprKind::Implies(Box::new(self), Box::new(right));
        Expr::new(kind, ExprType::Bool, span)
    }

    /// `a <-> b`
    pub fn iff(self, right: Expr) -> Expr {
        let span = self.span.to(right.span);
        let kind = ExprKind::Iff(Box::new(self), Box::new(right));
        Expr::new(kind, ExprType::Bool, span)
    }

    /// A comparison. An id and a number compare as numbers, an id and an optional id as optional ids.
    pub fn compare(self, op: CompareOp, right: Expr) -> Expr {
        use ExprType::*;
        let span = self.span.to(right.span);
        let common = match (self.ty, right.ty) {
            _ if !matches!(op, CompareOp::Eq | CompareOp::Ne) => Int,
            (a, b) if a == b => a,
            (Id(_), OptId(b)) | (OptId(b), Id(_) | Int) | (Int, OptId(b)) => OptId(b),
            (Id(_), Int) | (Int, Id(_)) => Int,
            (a, _) => a,
        };
        let (left, right) = (self.coerced(common), right.coerced(common));
        let kind = ExprKind::Compare(op, Box::new(left), Box::new(right));
        Expr::new(kind, Bool, span)
    }

    /// Arithmetic.
    pub fn arith(self, op: ArithOp, right: Expr) -> Expr {
        let span = self.span.to(right.span);
        let (left, right) = (self.coerced(ExprType::Int), right.coerced(ExprType::Int));
        let kind = ExprKind::Arith(op, Box::new(left), Box::new(right));
        Expr::new(kind, ExprType::Int, span)
    }

    /// A quantifier or an aggregate over a domain.
    pub fn fold(kind: FoldKind, var: BoundId, domain: Domain, body: Expr, span: Span) -> Expr {
        let (inner, ty) = kind.types();
        let kind = ExprKind::Fold {
            kind,
            var,
            domain,
            body: Box::new(body.coerced(inner)),
        };
        Expr::new(kind, ty, span)
    }

    /// The expression as one of another type; where there is no such coercion it stays as it is.
    pub fn coerced(self, wanted: ExprType) -> Expr {
        use ExprType::*;
        let span = self.span;
        let wrap = |kind: fn(Box<Expr>) -> ExprKind, inner: Expr, ty| {
            Expr::new(kind(Box::new(inner)), ty, span)
        };
        match (self.ty, wanted) {
            (Id(a), OptId(b)) if a == b => wrap(ExprKind::IdToOpt, self, wanted),
            (OptId(a), Id(b)) if a == b => wrap(ExprKind::OptToId, self, wanted),
            (Int, Id(_)) => wrap(ExprKind::IntToId, self, wanted),
            (Int, OptId(template)) => {
                let id = wrap(ExprKind::IntToId, self, Id(template));
                wrap(ExprKind::IdToOpt, id, wanted)
            }
            (Id(_), Int) => wrap(ExprKind::IdToInt, self, wanted),
            _ => self,
        }
    }
}

impl FoldKind {
    /// The type of what is gone through, and of the result.
    pub fn types(self) -> (ExprType, ExprType) {
        match self {
            FoldKind::Forall | FoldKind::Exists => (ExprType::Bool, ExprType::Bool),
            FoldKind::Count => (ExprType::Bool, ExprType::Int),
            FoldKind::Sum | FoldKind::Min | FoldKind::Max => (ExprType::Int, ExprType::Int),
        }
    }
}

/// Formulas: what has no temporal operator is one predicate, as the parser reads it.
impl Ltl {
    /// `!f`
    pub fn negated(self) -> Ltl {
        match self {
            Ltl::State(value) => Ltl::State(value.negated()),
            formula => Ltl::Not(Box::new(formula)),
        }
    }

    /// `f && g`; a chain grows on the left.
    pub fn and(self, right: Ltl) -> Ltl {
        match (self, right) {
            (Ltl::State(a), Ltl::State(b)) => Ltl::State(a.and(b)),
            (left, right) => Ltl::And(joined(left, right, Expr::and, |formula| match formula {
                Ltl::And(list) => Ok(list),
                other => Err(other),
            })),
        }
    }

    /// `f || g`; a chain grows on the left.
    pub fn or(self, right: Ltl) -> Ltl {
        match (self, right) {
            (Ltl::State(a), Ltl::State(b)) => Ltl::State(a.or(b)),
            (left, right) => Ltl::Or(joined(left, right, Expr::or, |formula| match formula {
                Ltl::Or(list) => Ok(list),
                other => Err(other),
            })),
        }
    }

    /// `f -> g`
    pub fn implies(self, right: Ltl) -> Ltl {
        match (self, right) {
            (Ltl::State(a), Ltl::State(b)) => Ltl::State(a.implies(b)),
            (left, right) => Ltl::Implies(Box::new(left), Box::new(right)),
        }
    }

    /// `f <-> g`
    pub fn iff(self, right: Ltl) -> Ltl {
        match (self, right) {
            (Ltl::State(a), Ltl::State(b)) => Ltl::State(a.iff(b)),
            (left, right) => Ltl::Iff(Box::new(left), Box::new(right)),
        }
    }

    /// `G f`
    pub fn globally(self) -> Ltl {
        Ltl::Globally(Box::new(self))
    }

    /// `F f`
    pub fn finally(self) -> Ltl {
        Ltl::Finally(Box::new(self))
    }

    /// `X f`
    pub fn next(self) -> Ltl {
        Ltl::Next(Box::new(self))
    }

    /// `f U g`
    pub fn until(self, right: Ltl) -> Ltl {
        Ltl::Until(Box::new(self), Box::new(right))
    }

    /// `f R g`
    pub fn release(self, right: Ltl) -> Ltl {
        Ltl::Release(Box::new(self), Box::new(right))
    }

    /// `f W g`
    pub fn weak_until(self, right: Ltl) -> Ltl {
        Ltl::WeakUntil(Box::new(self), Box::new(right))
    }
}

/// A chain and one more formula; predicates that stand side by side become one.
fn joined(
    left: Ltl,
    right: Ltl,
    join: fn(Expr, Expr) -> Expr,
    chain: fn(Ltl) -> Result<Vec<Ltl>, Ltl>,
) -> Vec<Ltl> {
    let mut list = chain(left).unwrap_or_else(|single| vec![single]);
    match (list.pop(), right) {
        (Some(Ltl::State(a)), Ltl::State(b)) => list.push(Ltl::State(join(a, b))),
        (last, right) => {
            list.extend(last);
            list.push(right);
        }
    }
    list
}
