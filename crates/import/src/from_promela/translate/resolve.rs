//! From names to numbers: declarations become variables and channels, expressions speak of these.

use super::fold::fold;
use super::ir::*;
use super::ranges::converted;
use crate::from_promela::syntax::{
    self, At, Binary, ExprKind, Initial, Pattern, Promela, StatementKind, Type, Unary,
};
use std::collections::BTreeMap;

/// Elements of one variable, records taken apart.
const MAX_CELLS: i64 = 4096;
/// Variables of a program.
const MAX_VARS: usize = 4096;

/// What a name, with the names of fields behind it, stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    Var(VarId),
    Chan(ChanId),
}

type Key = (Option<TemplateId>, u32, String);

pub(super) struct Resolver<'p> {
    pub source: &'p Promela,
    pub program: Program,
    names: BTreeMap<Key, Meaning>,
    /// Variables that are records, with the name of their type.
    records: BTreeMap<Key, String>,
    pub members: BTreeMap<String, i64>,
    pub template_of: BTreeMap<String, TemplateId>,
}

/// A declaration, or a field of a record that is declared.
struct Part {
    owner: Option<TemplateId>,
    scope: u32,
    /// The name with those of the records around it.
    path: String,
    /// The dimensions of the records around it.
    outer: Vec<(i64, i64)>,
    parameter: bool,
    /// How many records are around it.
    depth: usize,
}

/// A scalar of a record, with the indices that lead to it.
type Leaf = (Meaning, Vec<Expr>);

impl<'p> Resolver<'p> {
    /// Declares everything; bodies come later.
    pub(super) fn new(source: &'p Promela) -> Result<Self> {
        let mut resolver = Resolver {
            source,
            program: Program::default(),
            names: BTreeMap::new(),
            records: BTreeMap::new(),
            members: BTreeMap::new(),
            template_of: BTreeMap::new(),
        };
        resolver.number_members();
        for declaration in &source.globals {
            resolver.declare(None, declaration, false)?;
        }
        for (at, proctype) in source.proctypes.iter().enumerate() {
            let id = TemplateId(at);
            if resolver
                .template_of
                .insert(proctype.name.text.clone(), id)
                .is_some()
            {
                return wrong(
                    proctype.name.at,
                    format!("the proctype `{}` is declared twice", proctype.name.text),
                    "give one of them another name",
                );
            }
            let active = match &proctype.active {
                Some(count) => resolver.constant(count)?,
                None => i64::from(proctype.is_init),
            };
            if !(0..=255).contains(&active) {
                return wrong(
                    proctype.at,
                    "there can be at most 255 processes",
                    "use a smaller number",
                );
            }
            resolver.program.templates.push(Template {
                at: proctype.at,
                name: proctype.name.text.clone(),
                original: proctype.name.text.clone(),
                parameters: Vec::new(),
                locals: Vec::new(),
                nodes: Vec::new(),
                entry: NodeId(0),
                marks: Vec::new(),
                active,
                pids: (0, 0),
                first: 0,
                run: false,
                times: None,
                dies: false,
                present: true,
            });
            for parameter in &proctype.parameters {
                if matches!(parameter.kind, Type::Record(_)) || parameter.length.is_some() {
                    return refuse(
                        parameter.at,
                        "a parameter that is a record or an array",
                        "pass its fields one by one, or use a global variable",
                    );
                }
                let meaning = resolver.declare(Some(id), parameter, true)?;
                let parameter = match meaning {
                    Some(Meaning::Var(v)) => Parameter::Var(v),
                    Some(Meaning::Chan(c)) => Parameter::Chan(c),
                    None => return refuse(parameter.at, "this parameter", "use a scalar"),
                };
                resolver.program.templates[at].parameters.push(parameter);
            }
            for statement in &proctype.body {
                resolver.declare_within(id, statement, 0)?;
            }
        }
        Ok(resolver)
    }

    /// Members are numbered from the last to the first, from 1, in each set.
    fn number_members(&mut self) {
        let mut sets: Vec<(Option<String>, Vec<String>)> = Vec::new();
        for list in &self.source.mtypes {
            let set = list.set.as_ref().map(|name| name.text.clone());
            let members = list.members.iter().map(|name| name.text.clone());
            match sets.iter_mut().find(|(name, _)| *name == set) {
                // A later list of the same set is put in front of what is there already.
                Some((_, all)) => {
                    let later: Vec<_> = members.collect();
                    all.splice(0..0, later);
                }
                None => sets.push((set, members.collect())),
            }
        }
        for (_, members) in sets {
            let count = members.len() as i64;
            for (at, member) in members.into_iter().enumerate() {
                self.members.insert(member.clone(), count - at as i64);
                self.program
                    .members
                    .push((member.clone(), count - at as i64, member));
            }
        }
    }

    fn declare_within(
        &mut self,
        owner: TemplateId,
        statement: &syntax::Statement,
        depth: usize,
    ) -> Result<()> {
        if depth > 250 {
            return refuse(
                statement.at,
                "statements nested this deeply",
                "use fewer levels",
            );
        }
        let all = |resolver: &mut Self, body: &[syntax::Statement]| -> Result<()> {
            for inner in body {
                resolver.declare_within(owner, inner, depth + 1)?;
            }
            Ok(())
        };
        match &statement.kind {
            StatementKind::Declare(declarations) => {
                for declaration in declarations {
                    self.declare(Some(owner), declaration, false)?;
                }
                Ok(())
            }
            StatementKind::If(options) | StatementKind::Do(options) => {
                options.iter().try_for_each(|option| all(self, option))
            }
            StatementKind::Atomic(body)
            | StatementKind::DStep(body)
            | StatementKind::Block(body) => all(self, body),
            StatementKind::Unless(a, b) => {
                all(self, a)?;
                all(self, b)
            }
            StatementKind::Assign(..)
            | StatementKind::Add(..)
            | StatementKind::Test(_)
            | StatementKind::Assert(_)
            | StatementKind::Print(_)
            | StatementKind::Else
            | StatementKind::Break
            | StatementKind::Goto(_)
            | StatementKind::Send { .. }
            | StatementKind::Receive { .. } => Ok(()),
        }
    }

    /// Declares a variable. One in the middle of a body is set by a step there, which the tree has; until then it is zero.
    fn declare(
        &mut self,
        owner: Option<TemplateId>,
        declaration: &syntax::Declaration,
        parameter: bool,
    ) -> Result<Option<Meaning>> {
        let whole = Part {
            owner,
            scope: declaration.scope,
            path: declaration.name.text.clone(),
            outer: Vec::new(),
            parameter,
            depth: 0,
        };
        self.declare_part(declaration, &whole)
    }

    fn declare_part(
        &mut self,
        declaration: &syntax::Declaration,
        part: &Part,
    ) -> Result<Option<Meaning>> {
        if part.depth > 20 || self.program.vars.len() > MAX_VARS {
            return refuse(
                declaration.at,
                "a program with this many variables",
                "use smaller records and arrays",
            );
        }
        let dims = self.dimensions(declaration, part)?;
        let scope = part.owner.map_or(0, |_| part.scope);
        let key = (part.owner, scope, part.path.clone());
        if let Type::Record(record) = &declaration.kind {
            return self.declare_record(declaration, record, (part, dims), key);
        }
        if declaration.hidden {
            return refuse(
                declaration.at,
                "a hidden variable, of which SPIN keeps one value for all states",
                "leave `hidden` out",
            );
        }
        let (initial, list) = self.initial(declaration, part, &dims)?;
        let lone =
            declaration.length.is_some() && matches!(declaration.kind, Type::Bit | Type::Bool);
        let kind = if lone { &Type::Byte } else { &declaration.kind };
        let name = part.path.replace('.', "_");
        let at = declaration.name.at;
        let new = Var {
            owner: part.owner,
            initial,
            list,
            shared: part.parameter,
            parameter: part.parameter,
            lone,
            ..Var::added(at, name.clone(), kind.clone(), dims.clone())
        };
        let meaning = if declaration.kind == Type::Chan {
            let channel = self.channel_of(declaration)?;
            let var = channel.is_none().then(|| self.add(new));
            self.program.chans.push(ChanDecl {
                at,
                name,
                owner: part.owner,
                lengths: dims.iter().map(|d| d.1 + 1).collect(),
                channel,
                var,
                parameter: part.parameter,
            });
            Meaning::Chan(ChanId(self.program.chans.len() - 1))
        } else {
            if let Type::Unsigned(bits) = declaration.kind
                && !(1..=31).contains(&bits)
            {
                return refuse(
                    declaration.at,
                    "an unsigned variable of this many bits",
                    "use between 1 and 31 bits",
                );
            }
            Meaning::Var(self.add(new))
        };
        self.names.insert(key, meaning);
        Ok(Some(meaning))
    }

    /// The dimensions of what is declared, with those of the records around it.
    fn dimensions(
        &self,
        declaration: &syntax::Declaration,
        part: &Part,
    ) -> Result<Vec<(i64, i64)>> {
        let mut dims = part.outer.clone();
        if let Some(length) = &declaration.length {
            let length = self.constant(length)?;
            if length < 1 {
                return wrong(
                    declaration.at,
                    "an array needs at least one element",
                    "give a positive length",
                );
            }
            dims.push((0, length - 1));
        }
        let cells = dims.iter().try_fold(1i64, |n, (low, high)| {
            n.checked_mul(high - low + 1).filter(|n| *n <= MAX_CELLS)
        });
        match cells {
            Some(_) => Ok(dims),
            None => refuse(
                declaration.at,
                format!("`{}` has more than {MAX_CELLS} elements", part.path),
                "use a smaller array",
            ),
        }
    }

    fn declare_record(
        &mut self,
        declaration: &syntax::Declaration,
        name: &str,
        (part, dims): (&Part, Vec<(i64, i64)>),
        key: Key,
    ) -> Result<Option<Meaning>> {
        let source = self.source;
        let Some(record) = source.records.iter().find(|r| r.name.text == name) else {
            return wrong(
                declaration.at,
                format!("there is no type `{name}`"),
                "declare it with `typedef` first",
            );
        };
        if let Some(initial) = &declaration.initial {
            let at = match initial {
                Initial::Value(e) => e.at,
                Initial::List(_) | Initial::Channel { .. } => declaration.at,
            };
            return refuse(
                at,
                "an initial value of a whole record",
                "set the fields one by one",
            );
        }
        self.records.insert(key, record.name.text.clone());
        for field in &record.fields {
            let inner = Part {
                owner: part.owner,
                scope: part.scope,
                path: format!("{}.{}", part.path, field.name.text),
                outer: dims.clone(),
                parameter: false,
                depth: part.depth + 1,
            };
            self.declare_part(field, &inner)?;
        }
        Ok(None)
    }

    /// The initial value of what is declared, and those of its elements where they differ.
    fn initial(
        &self,
        declaration: &syntax::Declaration,
        part: &Part,
        dims: &[(i64, i64)],
    ) -> Result<(Expr, Option<Vec<i64>>)> {
        let values = match &declaration.initial {
            None | Some(Initial::Channel { .. }) => return Ok((Expr::Num(0), None)),
            Some(Initial::Value(value)) => return Ok((self.expr(value, part.owner)?, None)),
            Some(Initial::List(values)) => values,
        };
        let mut numbers = Vec::new();
        for value in values {
            numbers.push(converted(&declaration.kind, self.constant(value)?));
        }
        let length = dims.last().map_or(1, |d| d.1 - d.0 + 1);
        if !part.outer.is_empty() || numbers.len() as i64 > length {
            return refuse(
                declaration.at,
                "initial values of arrays inside records, or more of them than elements",
                "set the elements by assignments, in an `atomic` sequence of `init`",
            );
        }
        if numbers.len() as i64 != length {
            return refuse(
                declaration.at,
                "fewer initial values than elements",
                "write a value for each element",
            );
        }
        let first = Expr::Num(numbers.first().copied().unwrap_or(0));
        let differ = numbers.windows(2).any(|w| w[0] != w[1]);
        Ok((first, differ.then_some(numbers)))
    }

    /// The channel that a declaration of type `chan` makes.
    fn channel_of(&self, declaration: &syntax::Declaration) -> Result<Option<(i64, Vec<Type>)>> {
        match &declaration.initial {
            Some(Initial::Channel { capacity, fields }) => {
                let capacity = self.constant(capacity)?;
                if !(0..=255).contains(&capacity) {
                    return wrong(
                        declaration.at,
                        "a channel holds between 0 and 255 messages",
                        "use such a number",
                    );
                }
                let fields = self.flat_fields(fields, declaration.at, 0)?;
                Ok(Some((capacity, fields)))
            }
            Some(Initial::Value(e)) => refuse(
                e.at,
                "a channel variable with another channel as its initial value",
                "assign it in a statement",
            ),
            _ => Ok(None),
        }
    }

    fn add(&mut self, var: Var) -> VarId {
        let id = VarId(self.program.vars.len());
        if let Some(owner) = var.owner {
            self.program.templates[owner.0].locals.push(id);
        }
        self.program.vars.push(var);
        id
    }

    /// The types of the fields of a message, records taken apart.
    fn flat_fields(&self, fields: &[Type], at: At, depth: usize) -> Result<Vec<Type>> {
        let mut flat = Vec::new();
        for field in fields {
            match field {
                Type::Record(name) => {
                    for (_, _, kind) in self.leaves_of(name, at, depth + 1)? {
                        flat.push(kind);
                    }
                }
                other => flat.push(other.clone()),
            }
            if flat.len() > 32 || depth > 10 {
                return refuse(at, "messages of this many fields", "use at most 32 fields");
            }
        }
        Ok(flat)
    }

    /// The scalars of a record type: the names that lead to each, the indices on the way, and its type.
    fn leaves_of(
        &self,
        record: &str,
        at: At,
        depth: usize,
    ) -> Result<Vec<(String, Vec<i64>, Type)>> {
        let mut leaves = Vec::new();
        let Some(record) = self.source.records.iter().find(|r| r.name.text == record) else {
            return wrong(
                at,
                format!("there is no type `{record}`"),
                "declare it with `typedef` first",
            );
        };
        for field in &record.fields {
            let inner = match &field.kind {
                Type::Record(name) if depth < 10 => self.leaves_of(name, at, depth + 1)?,
                other => vec![(String::new(), Vec::new(), other.clone())],
            };
            let length = field
                .length
                .as_ref()
                .map(|e| self.constant(e))
                .transpose()?;
            for index in 0..length.unwrap_or(1) {
                for (path, indices, kind) in &inner {
                    let mut all: Vec<i64> = length.map(|_| index).into_iter().collect();
                    all.extend(indices);
                    leaves.push((format!(".{}{path}", field.name.text), all, kind.clone()));
                }
                if leaves.len() > 32 {
                    return refuse(at, "messages of this many fields", "use at most 32 fields");
                }
            }
        }
        Ok(leaves)
    }

    /// The scalars of a variable that is a record; nothing if it is none.
    fn leaves(
        &self,
        place: &syntax::Place,
        owner: Option<TemplateId>,
    ) -> Result<Option<Vec<Leaf>>> {
        let path: Vec<&str> = place
            .segments
            .iter()
            .map(|s| s.name.text.as_str())
            .collect();
        let path = path.join(".");
        let Some(first) = place.segments.first() else {
            return Ok(None);
        };
        let key = match first.scope {
            Some(scope) => (owner, scope, path.clone()),
            None => (None, 0, path.clone()),
        };
        let Some(record) = self.records.get(&key) else {
            return Ok(None);
        };
        let mut outer = Vec::new();
        for segment in &place.segments {
            if let Some(index) = &segment.index {
                outer.push(self.expr(index, owner)?);
            }
        }
        let mut all = Vec::new();
        for (rest, indices, _) in self.leaves_of(record, place.at, 0)? {
            let Some(meaning) = self.lookup(owner, first, &format!("{path}{rest}")) else {
                return refuse(
                    place.at,
                    "this record in a message",
                    "send the fields one by one",
                );
            };
            let dims = match meaning {
                Meaning::Var(v) => self.program.vars[v.0].dims.len(),
                Meaning::Chan(c) => self.program.chans[c.0].lengths.len(),
            };
            let mut full = outer.clone();
            full.extend(indices.into_iter().map(Expr::Num));
            if full.len() != dims {
                return wrong(
                    place.at,
                    "the wrong number of indices",
                    "write an index for each array",
                );
            }
            all.push((meaning, full));
        }
        Ok(Some(all))
    }

    /// The values of a message: a record gives those of its fields.
    pub(super) fn values(
        &self,
        values: &[syntax::Expr],
        owner: Option<TemplateId>,
    ) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        for value in values {
            if let ExprKind::Variable(place) = &value.kind
                && let Some(leaves) = self.leaves(place, owner)?
            {
                all.extend(leaves.into_iter().map(|(meaning, indices)| match meaning {
                    Meaning::Var(var) => Expr::Var(Cell {
                        var,
                        indices,
                        at: place.at,
                    }),
                    Meaning::Chan(decl) => Expr::Chan(ChanRef {
                        at: place.at,
                        decl,
                        indices,
                    }),
                }));
                continue;
            }
            all.push(self.expr(value, owner)?);
        }
        Ok(all)
    }

    /// The value of an expression that is known.
    pub(super) fn constant(&self, expr: &syntax::Expr) -> Result<i64> {
        let value = self.expr(expr, None)?;
        match fold(&value).number() {
            Some(n) if i64::from(i32::MIN) <= n && n <= i64::from(u32::MAX) => Ok(n),
            _ => refuse(
                expr.at,
                "this must be a constant",
                "write a number, or a macro that stands for one",
            ),
        }
    }

    fn lookup(
        &self,
        owner: Option<TemplateId>,
        first: &syntax::Segment,
        path: &str,
    ) -> Option<Meaning> {
        let key = match first.scope {
            Some(scope) => (owner, scope, path.to_string()),
            None => (None, 0, path.to_string()),
        };
        self.names.get(&key).copied()
    }

    /// What a place stands for, with its indices.
    pub(super) fn place(
        &self,
        place: &syntax::Place,
        owner: Option<TemplateId>,
    ) -> Result<(Meaning, Vec<Expr>)> {
        let path: Vec<&str> = place
            .segments
            .iter()
            .map(|s| s.name.text.as_str())
            .collect();
        let path = path.join(".");
        let Some(first) = place.segments.first() else {
            return wrong(place.at, "a name is missing", "write one");
        };
        let Some(meaning) = self.lookup(owner, first, &path) else {
            return wrong(
                place.at,
                format!("`{path}` is no variable that can be used here"),
                "use a declared scalar, an element of an array or a field of a record; whole records cannot be used",
            );
        };
        let mut indices = Vec::new();
        for segment in &place.segments {
            if let Some(index) = &segment.index {
                indices.push(self.expr(index, owner)?);
            }
        }
        let dims = match meaning {
            Meaning::Var(v) => self.program.vars[v.0].dims.len(),
            Meaning::Chan(c) => self.program.chans[c.0].lengths.len(),
        };
        if indices.len() != dims {
            return wrong(
                place.at,
                format!("`{path}` needs {dims} indices, here are {}", indices.len()),
                "write an index for each array, and none for a scalar",
            );
        }
        Ok((meaning, indices))
    }

    /// A place that can be written.
    pub(super) fn cell(&self, place: &syntax::Place, owner: Option<TemplateId>) -> Result<Cell> {
        let (meaning, indices) = self.place(place, owner)?;
        let var = match meaning {
            Meaning::Var(v) => v,
            Meaning::Chan(c) => match self.program.chans[c.0].var {
                Some(v) => v,
                None => {
                    return refuse(
                        place.at,
                        "a declared channel that is replaced by another",
                        "use a variable `chan x;` for what changes",
                    );
                }
            },
        };
        Ok(Cell {
            var,
            indices,
            at: place.at,
        })
    }

    pub(super) fn channel(
        &self,
        place: &syntax::Place,
        owner: Option<TemplateId>,
    ) -> Result<ChanRef> {
        match self.place(place, owner)? {
            (Meaning::Chan(decl), indices) => Ok(ChanRef {
                at: place.at,
                decl,
                indices,
            }),
            _ => wrong(
                place.at,
                "this is no channel",
                "use a variable of type `chan`",
            ),
        }
    }

    pub(super) fn patterns(
        &self,
        patterns: &[Pattern],
        owner: Option<TemplateId>,
    ) -> Result<Vec<Match>> {
        let mut all = Vec::new();
        for pattern in patterns {
            match pattern {
                Pattern::Ignore => all.push(Match::Ignore),
                Pattern::Equal(e) => all.push(Match::Equal(fold(&self.expr(e, owner)?))),
                Pattern::Store(place) => {
                    let leaves = match self.leaves(place, owner)? {
                        Some(leaves) => leaves,
                        None => vec![self.place(place, owner)?],
                    };
                    for (meaning, indices) in leaves {
                        all.push(match meaning {
                            Meaning::Var(var) => Match::Store(Cell {
                                var,
                                indices,
                                at: place.at,
                            }),
                            Meaning::Chan(decl) => match self.program.chans[decl.0].var {
                                Some(var) => Match::StoreChan(
                                    Cell {
                                        var,
                                        indices: indices.clone(),
                                        at: place.at,
                                    },
                                    ChanRef {
                                        at: place.at,
                                        decl,
                                        indices,
                                    },
                                ),
                                None => {
                                    return refuse(
                                        place.at,
                                        "a declared channel that is replaced by another",
                                        "use a variable `chan x;` for what changes",
                                    );
                                }
                            },
                        });
                    }
                }
            }
        }
        Ok(all)
    }

    fn remote(&self, name: &syntax::Name) -> Result<TemplateId> {
        match self.template_of.get(&name.text) {
            Some(id) => Ok(*id),
            None => wrong(
                name.at,
                format!("there is no proctype `{}`", name.text),
                "name a declared proctype",
            ),
        }
    }

    pub(super) fn expr(&self, expr: &syntax::Expr, owner: Option<TemplateId>) -> Result<Expr> {
        let at = expr.at;
        let boxed = |e: &syntax::Expr| -> Result<Box<Expr>> { Ok(Box::new(self.expr(e, owner)?)) };
        Ok(match &expr.kind {
            ExprKind::Number(n) => Expr::Num(*n),
            ExprKind::Member(name) => match self.members.get(name) {
                Some(n) => Expr::Member(name.clone(), *n),
                None => {
                    return wrong(
                        at,
                        format!("there is no mtype `{name}`"),
                        "declare it in an `mtype` list",
                    );
                }
            },
            ExprKind::Variable(place) => match self.place(place, owner)? {
                (Meaning::Var(var), indices) => Expr::Var(Cell { var, indices, at }),
                (Meaning::Chan(decl), indices) => Expr::Chan(ChanRef { at, decl, indices }),
            },
            ExprKind::Unary(Unary::Not, e) => Expr::Not(boxed(e)?),
            ExprKind::Unary(Unary::Minus, e) => fold(&Expr::Minus(boxed(e)?)),
            ExprKind::Unary(Unary::Complement, e) => fold(&Expr::Bin(
                Binary::Sub,
                Box::new(fold(&Expr::Minus(boxed(e)?))),
                Box::new(Expr::Num(1)),
                at,
            )),
            ExprKind::Binary(op, a, b) => fold(&Expr::Bin(*op, boxed(a)?, boxed(b)?, at)),
            ExprKind::Conditional(c, a, b) => Expr::Cond(boxed(c)?, boxed(a)?, boxed(b)?, at),
            ExprKind::Run { .. } => {
                return refuse(
                    at,
                    "`run` inside an expression",
                    "let `run` stand alone, or be all of the right side of an assignment",
                );
            }
            ExprKind::Length(c) => Expr::Length(self.channel(c, owner)?),
            ExprKind::Full(c) => Expr::Full(self.channel(c, owner)?),
            ExprKind::Empty(c) => Expr::Empty(self.channel(c, owner)?),
            ExprKind::NotFull(c) => Expr::Not(Box::new(Expr::Full(self.channel(c, owner)?))),
            ExprKind::NotEmpty(c) => Expr::Not(Box::new(Expr::Empty(self.channel(c, owner)?))),
            ExprKind::Poll {
                channel,
                random,
                patterns,
            } => Expr::Poll {
                channel: self.channel(channel, owner)?,
                random: *random,
                patterns: self.patterns(patterns, owner)?,
            },
            ExprKind::Timeout => Expr::Timeout(at),
            ExprKind::Pid => {
                if owner.is_none() {
                    return refuse(at, "`_pid` outside a process", "use it in a proctype");
                }
                Expr::Pid(at)
            }
            ExprKind::NrPr => Expr::NrPr,
            ExprKind::NonProgress => {
                return refuse(at, "`np_`", "use labels that begin `progress` instead");
            }
            ExprKind::Last => {
                return refuse(
                    at,
                    "`_last`",
                    "leave it out, or keep it in a variable of your own",
                );
            }
            ExprKind::Enabled(process) => {
                self.expr(process, owner)?;
                return refuse(
                    at,
                    "`enabled`",
                    "write the condition of the statement instead",
                );
            }
            ExprKind::PcValue(process) => {
                self.expr(process, owner)?;
                return refuse(at, "`pc_value`", "use a label, `P@label`");
            }
            ExprKind::RemoteLabel {
                process,
                index,
                label,
            } => Expr::RemoteLabel {
                template: self.remote(process)?,
                index: index.as_deref().map(boxed).transpose()?,
                label: label.text.clone(),
                at,
            },
            ExprKind::RemoteVariable {
                process,
                index,
                place,
            } => {
                let template = self.remote(process)?;
                let path: Vec<&str> = place
                    .segments
                    .iter()
                    .map(|s| s.name.text.as_str())
                    .collect();
                let path = path.join(".");
                let found: Vec<Meaning> = self
                    .names
                    .iter()
                    .filter(|((o, _, p), _)| *o == Some(template) && *p == path)
                    .map(|(_, m)| *m)
                    .collect();
                let [Meaning::Var(var)] = found[..] else {
                    return refuse(
                        place.at,
                        format!("`{path}` is not one variable of `{}`", process.text),
                        "name a scalar that the proctype declares once",
                    );
                };
                let mut indices = Vec::new();
                for segment in &place.segments {
                    if let Some(index) = &segment.index {
                        indices.push(self.expr(index, owner)?);
                    }
                }
                if indices.len() != self.program.vars[var.0].dims.len() {
                    return wrong(
                        place.at,
                        "the wrong number of indices",
                        "write an index for each array",
                    );
                }
                Expr::RemoteVar {
                    template,
                    index: index.as_deref().map(boxed).transpose()?,
                    cell: Cell { var, indices, at },
                    at,
                }
            }
        })
    }
}
