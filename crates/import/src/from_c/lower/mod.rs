//! From syntax trees to processes.
//!
//! Functions are inlined: a process is the body of its thread's function with the bodies of those it calls in their places. As nothing
//! is recursive, a function has at most one frame in a process, so its variables are there once. Pointers exist only while a program is
//! brought over: each stands for a place that is known where it is used.
//!
//! Every read and every write of a shared variable is a step of its own. An expression may keep one read of a shared variable within
//! it, if nothing shared is touched after it; all other reads are stored in temporary variables first, from left to right.

mod assign;
mod atomics;
mod call;
mod declare;
mod expression;
mod jumps;
mod library;
mod loops;
mod memory;
mod operators;
mod read_types;
mod statement;
mod synchronise;
mod templates;
mod threads;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use lang_c::ast::{BlockItem, Expression, ExternalDeclaration, FunctionDefinition};
use lang_c::span::{Node, Span};
use threadwise_lang::diagnostics::Code as MessageCode;

use super::Reading;
use super::ir::{
    Code, Expr, Label, LabelId, Model, Place, ProcessId, Statement, StatementKind, VarId, VarKind,
    Variable,
};
use super::parse::{Parsed, Places};
use super::source::{At, Built, malformed, unsupported};
use super::types::{IntType, Type};
use crate::Remark;
use crate::front::remarks::remark;

/// How many statements a program may have when all functions are inlined.
const MOST_STATEMENTS: usize = 20_000;
/// How deep functions may call one another.
const DEEPEST_CALLS: usize = 60;

/// What a program became, and what was left out of it.
pub(crate) struct Lowered {
    pub model: Model,
    pub notes: Vec<Remark>,
}

/// Brings a program over.
pub(crate) fn lower(parsed: &Parsed, reading: Reading) -> Built<Lowered> {
    let first = lower_once(parsed, reading, false)?;
    match first.model.exclusive {
        None => Ok(first),
        // Others have to wait while a process is in such a stretch.
        Some(_) => lower_once(parsed, reading, true),
    }
}

fn lower_once(parsed: &Parsed, reading: Reading, guarded: bool) -> Built<Lowered> {
    let mut builder = Builder::new(&parsed.places, reading);
    builder.guarded = guarded;
    builder.in_templates = !parsed.templates.is_empty();
    if builder.in_templates {
        builder.declare_parameters(parsed)?;
    }
    builder.declare_all(parsed)?;
    match parsed.templates.is_empty() {
        true => builder.program()?,
        false => builder.program_of_templates(parsed)?,
    }
    Ok(Lowered {
        model: builder.model,
        notes: builder.notes,
    })
}

/// An object in memory: its variables, one for each field.
#[derive(Clone, Debug, PartialEq)]
enum Object {
    Variable(VarId),
    Fields(Vec<(String, Object)>),
    /// It has no state.
    Nothing,
}

/// An object, or a part of one: what is left of its type when the indices are applied.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    ty: Type,
    object: Rc<Object>,
    indices: Vec<Expr>,
}

/// Where a pointer points: to a part, or to an element of a part that is an array.
#[derive(Clone, Debug, PartialEq)]
struct Pointer {
    part: Part,
    element: Option<Expr>,
}

/// The value of an expression.
#[derive(Clone, Debug)]
enum Value {
    Int(Expr, IntType),
    /// A truth value, which C takes for an `int`.
    Truth(Expr),
    Pointer(Pointer),
    Struct(Part),
    Function(String),
    Text,
    Void,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    Object(Part),
    /// A parameter or a pointer that has one value as long as it lives.
    Value(Value),
    /// A pointer that has no value yet.
    Unset(Type),
    Number(i128),
}

/// A function that is being inlined.
struct Frame<'a> {
    function: &'a str,
    scopes: Vec<HashMap<String, Binding>>,
    /// What it returns.
    result: Type,
    /// Where `return` goes.
    end: LabelId,
    /// The variable that holds what it returns, if more than one `return` sets it.
    variable: Option<VarId>,
    /// The value of the one `return` at its end.
    value: Option<Value>,
    labels: HashMap<String, LabelId>,
    /// Labels that a `goto` names and that were not met yet.
    wanted: HashMap<LabelId, (String, At)>,
    met: HashSet<LabelId>,
    /// Where `break` and `continue` go.
    jumps: Vec<Jumps>,
    /// Stretches of the text that a `goto` may lead back over.
    repeated: Vec<(usize, usize)>,
    /// Where its jumps are, and the labels that they lead to.
    leads: Vec<(Span, Span)>,
    /// Branches that end the atomic part that is being read, and leave.
    exits: Option<Exits<'a>>,
}

/// The branches that end an atomic part, and leave.
struct Exits<'a> {
    /// How many loops and `switch` statements there are around the part.
    depth: usize,
    found: Vec<Exit<'a>>,
}

/// A branch that ends an atomic part, and leaves.
struct Exit<'a> {
    at: At,
    label: LabelId,
    /// What it does before it leaves.
    rest: &'a [Node<BlockItem>],
    scopes: Vec<HashMap<String, Binding>>,
    jumps: Vec<Jumps>,
}

/// What `break` and `continue` do.
#[derive(Clone, Copy, Debug)]
struct Jumps {
    /// `None`: it leaves a loop.
    out: Option<LabelId>,
    again: Option<LabelId>,
}

pub(crate) struct Builder<'a> {
    places: &'a Places,
    reading: Reading,
    functions: HashMap<&'a str, &'a Node<FunctionDefinition>>,
    structs: Vec<Vec<(String, Type)>>,
    /// Which struct a tag stands for, and where that is defined.
    tags: HashMap<String, (usize, usize)>,
    /// Enumerations with a tag, of which some have negative members.
    enumerations: HashMap<String, (IntType, usize)>,
    typedefs: HashMap<String, Type>,
    globals: HashMap<String, Binding>,
    /// Those that are declared `extern`, and not defined so far.
    undefined: HashSet<String>,
    /// Those with an initial value of their own.
    initialised: HashSet<String>,
    /// The names of variables that some function may write.
    written: HashSet<String>,
    /// How often functions assign to variables of these names, or take their addresses.
    assigned: HashMap<String, usize>,
    /// How many blocks what is being read is in.
    depth: usize,
    /// Variables outside of functions of which each thread has one.
    of_threads: Vec<declare::OfThreads<'a>>,
    /// Assignments that give arrays and structs their initial values, for the beginning of `main`.
    initial: Code,
    frames: Vec<Frame<'a>>,
    model: Model,
    code: Code,
    process: ProcessId,
    temporaries: Vec<VarId>,
    in_use: usize,
    /// The variables of functions, by process, function and where they are declared.
    locals: HashMap<(ProcessId, &'a str, usize), Part>,
    /// How often what is being read can happen at most, in one process; `None` if that is not known.
    times: Option<u64>,
    /// The variable that counts the rounds of the loop that is being read, if that happens once and nothing else changes it.
    counting: Option<VarId>,
    /// What is being read is part of one step.
    in_step: bool,
    /// What is being read is part of a stretch during which no other process moves.
    in_exclusive: bool,
    /// Names of variables of `main` whose addresses threads get.
    escaping: BTreeSet<String>,
    threads: threads::Threads,
    prepared: synchronise::Prepared,
    notes: Vec<Remark>,
    statements: usize,
    in_templates: bool,
    /// Other processes may have to wait for a stretch during which they do not move, so nothing shared is read in conditions.
    guarded: bool,
}

impl<'a> Builder<'a> {
    fn new(places: &'a Places, reading: Reading) -> Self {
        Builder {
            places,
            reading,
            functions: HashMap::new(),
            structs: Vec::new(),
            tags: HashMap::new(),
            enumerations: HashMap::new(),
            typedefs: HashMap::new(),
            globals: HashMap::new(),
            written: HashSet::new(),
            assigned: HashMap::new(),
            of_threads: Vec::new(),
            depth: 0,
            initial: Vec::new(),
            frames: Vec::new(),
            model: Model::default(),
            code: Vec::new(),
            process: ProcessId(0),
            temporaries: Vec::new(),
            in_use: 0,
            locals: HashMap::new(),
            times: Some(1),
            counting: None,
            in_step: false,
            in_exclusive: false,
            escaping: BTreeSet::new(),
            threads: threads::Threads::default(),
            prepared: synchronise::Prepared::default(),
            undefined: HashSet::new(),
            initialised: HashSet::new(),
            notes: Vec::new(),
            statements: 0,
            in_templates: false,
            guarded: false,
        }
    }

    fn declare_all(&mut self, parsed: &'a Parsed) -> Built<()> {
        // Of <time.h>.
        let long = Type::Int(self.reading.data_model.long());
        let fields = ["tv_sec", "tv_nsec"].map(|field| (field.to_owned(), long.clone()));
        self.structs.push(fields.into());
        self.tags.insert("timespec".to_owned(), (0, usize::MAX));
        // Functions first: they may be used before they stand.
        for item in &parsed.unit.0 {
            if let ExternalDeclaration::FunctionDefinition(function) = &item.node
                && let Some(name) = declare::name_of(&function.node.declarator.node)
            {
                if self.functions.insert(name, function).is_some() {
                    let at = self.at(function.span);
                    let message = format!("`{name}` has two bodies");
                    return malformed(at, message, "remove one of them");
                }
                loops::written_names(&function.node.statement, &mut self.written);
                loops::count_writes(&function.node.statement, &mut self.assigned);
            }
        }
        for item in &parsed.unit.0 {
            match &item.node {
                _ if !self.places.is_program(item.span) => {}
                ExternalDeclaration::Declaration(declaration) => self.global(declaration)?,
                ExternalDeclaration::FunctionDefinition(function) => {
                    // Types may be declared in it.
                    self.base_of(&function.node.specifiers, self.at(function.span))
                        .ok();
                }
                ExternalDeclaration::StaticAssert(asserted) => self.static_assert(asserted)?,
            }
        }
        for name in std::mem::take(&mut self.undefined) {
            let ty = Type::Other("a variable that is declared, and defined nowhere");
            self.globals.insert(name, Binding::Unset(ty));
        }
        self.statements = 0;
        Ok(())
    }

    fn at(&self, span: Span) -> At {
        self.places.at(span)
    }

    fn place_of<T>(&self, node: &Node<T>) -> At {
        self.places.at(node.span)
    }

    fn emit(&mut self, at: At, kind: StatementKind) {
        self.statements += 1;
        self.code.push(Statement { at, kind });
    }

    /// Refuses a program that gets too large.
    fn check_size(&mut self, at: At) -> Built<()> {
        self.statements += 1;
        match self.statements > MOST_STATEMENTS {
            true => {
                let help = format!(
                    "functions are inlined at every call; {MOST_STATEMENTS} statements are allowed in all"
                );
                unsupported(at, "the program gets too large", help)
            }
            false => Ok(()),
        }
    }

    fn note(&mut self, at: At, message: impl Into<String>, help: impl Into<String>) {
        self.notes
            .push(*remark(at, MessageCode::LeftOut, message, help));
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Reads something into code of its own.
    fn block(&mut self, read: impl FnOnce(&mut Self) -> Built<()>) -> Built<Code> {
        let outer = std::mem::take(&mut self.code);
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        let inner = std::mem::replace(&mut self.code, outer);
        result.map(|()| inner)
    }

    fn new_label(&mut self, wish: Option<String>) -> LabelId {
        self.model.labels.push(Label { wish });
        LabelId(self.model.labels.len() - 1)
    }

    fn new_variable(&mut self, variable: Variable) -> VarId {
        self.model.variables.push(variable);
        VarId(self.model.variables.len() - 1)
    }

    /// A variable of the process that nothing in the program is called like.
    fn local_variable(&mut self, wish: &str, kind: VarKind, at: At) -> VarId {
        let owner = Some(self.process);
        self.new_variable(Variable {
            wish: wish.to_owned(),
            owner,
            kind,
            dims: Vec::new(),
            from_one: false,
            initial: Some(0),
            parameter: None,
            range: None,
            choices: None,
            at,
        })
    }

    fn shared_variable(&mut self, wish: &str, kind: VarKind, dims: Vec<u32>, at: At) -> VarId {
        self.new_variable(Variable {
            wish: wish.to_owned(),
            owner: None,
            kind,
            dims,
            from_one: false,
            initial: Some(0),
            parameter: None,
            range: None,
            choices: None,
            at,
        })
    }

    /// A temporary variable, until the statement that is being read ends.
    fn temporary(&mut self, kind: VarKind, at: At) -> VarId {
        let free = self.temporaries[self.in_use..]
            .iter()
            .position(|id| self.model.variable(*id).kind == kind);
        match free {
            Some(position) => {
                self.temporaries.swap(self.in_use, self.in_use + position);
            }
            None => {
                let wish = match kind {
                    VarKind::Truth => "holds",
                    _ => "value",
                };
                let id = self.local_variable(wish, kind, at);
                self.temporaries.insert(self.in_use, id);
            }
        }
        self.in_use += 1;
        self.temporaries[self.in_use - 1]
    }

    fn kind_of(&self, expr: &Expr, ty: IntType) -> VarKind {
        match is_truth(expr, &self.model) {
            true => VarKind::Truth,
            false => VarKind::Int(ty.plain()),
        }
    }

    /// An expression whose value stays what it is now. `position` is where in the code it was evaluated.
    fn settle_at(&mut self, position: usize, expr: Expr, ty: IntType, at: At) -> Expr {
        if matches!(expr, Expr::Number(_) | Expr::Truth(_)) {
            return expr;
        }
        let kind = self.kind_of(&expr, ty);
        let variable = self.temporary(kind, at);
        self.statements += 1;
        let kind = StatementKind::Assign(Place::of(variable), expr);
        self.code.insert(position, Statement { at, kind });
        Expr::load(variable)
    }

    /// The same, if the expression reads shared variables.
    fn settle(&mut self, expr: Expr, ty: IntType, at: At) -> Expr {
        match expr.shared_reads(&self.model) {
            0 => expr,
            _ => self.settle_at(self.code.len(), expr, ty, at),
        }
    }

    /// Keeps what was evaluated at a position of the code from being changed by what was emitted since, and by a read
    /// of shared variables that is still to come.
    fn keep(&mut self, position: usize, value: Value, later: bool, at: At) -> Value {
        let (expr, ty) = match &value {
            Value::Int(expr, ty) => (expr, *ty),
            Value::Truth(expr) => (expr, IntType::INT),
            _ => return value,
        };
        let since = &self.code[position..];
        let mut written = Vec::new();
        let mut steps = later;
        super::ir::for_statements(since, &mut |statement| {
            written.extend(statement.written());
            steps |= self.is_step(statement);
        });
        let mut changes = false;
        expr.for_places(&mut |place| changes |= written.contains(&place.var));
        let shared = expr.shared_reads(&self.model) > 0;
        let keep = changes || (shared && steps && !self.in_step);
        if !keep {
            return value;
        }
        let kept = self.settle_at(position, expr.clone(), ty, at);
        match value {
            Value::Truth(_) => Value::Truth(kept),
            _ => Value::Int(kept, ty),
        }
    }

    /// What was read and written since a position of the code, and is read by a value: variables that the program has a name for here. Those of functions that were inlined are others at each call.
    fn touched(&self, position: usize, value: &Value) -> Touched {
        let mut touched = Touched::default();
        let read = |expr: &Expr, reads: &mut BTreeSet<VarId>| {
            expr.for_places(&mut |place| {
                reads.insert(place.var);
            });
        };
        super::ir::for_statements(&self.code[position..], &mut |statement| {
            statement.for_expressions(&mut |expr| read(expr, &mut touched.reads));
            touched.writes.extend(statement.written());
            touched.synchronises |= self.is_seen_by_others(statement);
        });
        if let Value::Int(expr, _) | Value::Truth(expr) = value {
            read(expr, &mut touched.reads);
        }
        touched.reads.retain(|var| self.has_name(*var));
        touched.writes.retain(|var| self.has_name(*var));
        touched
    }

    fn has_name(&self, var: VarId) -> bool {
        fn has(object: &Object, var: VarId) -> bool {
            match object {
                Object::Variable(own) => *own == var,
                Object::Fields(fields) => fields.iter().any(|(_, object)| has(object, var)),
                Object::Nothing => false,
            }
        }
        let scopes = self
            .frames
            .last()
            .into_iter()
            .flat_map(|frame| &frame.scopes);
        let mut bindings = scopes.flat_map(|scope| scope.values());
        let named = bindings
            .any(|binding| matches!(binding, Binding::Object(part) if has(&part.object, var)));
        let variable = self.model.variable(var);
        named || variable.owner.is_none() && variable.kind != VarKind::Mutex
    }

    /// Whether other threads may tell when a statement happens, or the statement waits for them.
    fn is_seen_by_others(&self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Lock(_)
            | StatementKind::Unlock(_)
            | StatementKind::Start(_)
            | StatementKind::Create { .. }
            | StatementKind::Join(_)
            | StatementKind::Exclusive(_) => true,
            StatementKind::Await(condition) => condition.shared_reads(&self.model) > 0,
            StatementKind::Atomic(code) => {
                let mut shared = false;
                super::ir::for_statements(code, &mut |inner| {
                    let written = inner.written();
                    shared |= written.is_some_and(|var| self.model.variable(var).owner.is_none());
                    inner.for_expressions(&mut |expr| {
                        shared |= expr.shared_reads(&self.model) > 0;
                    });
                });
                shared
            }
            StatementKind::Assign(place, _) | StatementKind::Havoc(place) => {
                self.is_atomic_variable(place.var)
            }
            StatementKind::Assert(..)
            | StatementKind::If(..)
            | StatementKind::Loop { .. }
            | StatementKind::Break
            | StatementKind::Goto(_)
            | StatementKind::Label(_)
            | StatementKind::Return
            | StatementKind::Choose(_)
            | StatementKind::Detach(_)
            | StatementKind::Initialised(_) => false,
        }
    }

    fn is_atomic_variable(&self, var: VarId) -> bool {
        matches!(self.model.variable(var).kind, VarKind::Int(int) if int.atomic)
    }

    /// Refuses arguments of which one synchronises with other threads, and the other touches what these touch; or that read two atomic variables. Which comes first may matter then, too.
    fn independent(&self, one: &Touched, other: &Touched, at: At) -> Built<()> {
        self.ordered(one, other, at)?;
        let shared = |touched: &Touched| {
            let mut vars = touched.reads.union(&touched.writes);
            touched.synchronises || vars.any(|var| self.model.variable(*var).owner.is_none())
        };
        let atomic = |touched: &Touched| {
            touched
                .reads
                .iter()
                .any(|var| self.is_atomic_variable(*var))
        };
        let clash = one.synchronises && shared(other)
            || other.synchronises && shared(one)
            || atomic(one) && atomic(other);
        if clash { open_order(at) } else { Ok(()) }
    }

    /// Refuses an expression whose parts touch the same variable so that it matters which comes first: C leaves that open.
    fn ordered(&self, one: &Touched, other: &Touched, at: At) -> Built<()> {
        let clash = one
            .writes
            .iter()
            .find(|var| other.reads.contains(var) || other.writes.contains(var));
        match clash.or_else(|| other.writes.intersection(&one.reads).next()) {
            None => Ok(()),
            Some(var) => {
                let name = &self.model.variable(*var).wish;
                let message =
                    format!("parts of this touch `{name}`, and C leaves open which does so first");
                unsupported(at, message, "write several statements")
            }
        }
    }

    /// Refuses a value that was evaluated at a position of the code and reads what has been written since. What the left operand of an operator does comes first in gcc, too, but variables in it are read
    /// when the right operand has been evaluated.
    fn undisturbed(&self, position: usize, value: &Value, at: At) -> Built<()> {
        let read = self.touched(self.code.len(), value);
        let done = Touched {
            reads: BTreeSet::new(),
            ..self.touched(position, &Value::Void)
        };
        self.ordered(&done, &read, at)?;
        let shared = |var: &VarId| {
            self.model.variable(*var).owner.is_none() && !self.is_atomic_variable(*var)
        };
        if done.synchronises && read.reads.iter().any(shared) {
            return open_order(at);
        }
        Ok(())
    }

    /// Whether a statement has to begin a step.
    fn is_step(&self, statement: &Statement) -> bool {
        begins_step(statement, &self.model)
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        let scopes = self.frames.last().map(|frame| frame.scopes.iter().rev());
        let local = scopes.and_then(|mut scopes| scopes.find_map(|scope| scope.get(name)));
        local.or_else(|| self.globals.get(name))
    }

    /// The value of an expression that must be known without running the program.
    fn constant(&mut self, expression: &'a Node<Expression>) -> Built<i128> {
        let at = self.place_of(expression);
        let mut value = None;
        let code = self.block(|builder| {
            value = Some(builder.rvalue(expression)?);
            Ok(())
        })?;
        let number = match value {
            Some(Value::Int(Expr::Number(number), _)) => Some(number),
            Some(Value::Truth(Expr::Truth(truth))) => Some(i128::from(truth)),
            _ => None,
        };
        match number {
            Some(number) if code.is_empty() => Ok(number),
            _ => unsupported(
                at,
                "a constant is expected here",
                "write a number, or an expression of numbers",
            ),
        }
    }
}

/// Variables that a part of an expression reads and writes.
#[derive(Default)]
struct Touched {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    synchronises: bool,
}

fn open_order(at: At) -> Built<()> {
    let message =
        "parts of this touch what other threads see, and C leaves open which does so first";
    unsupported(at, message, "write several statements")
}

/// Whether an expression is a truth value.
pub(crate) fn is_truth(expr: &Expr, model: &Model) -> bool {
    match expr {
        Expr::Truth(_)
        | Expr::Not(_)
        | Expr::Compare(..)
        | Expr::And(..)
        | Expr::Or(..)
        | Expr::Locked(_) => true,
        Expr::Load(place) => model.variable(place.var).kind == VarKind::Truth,
        _ => false,
    }
}

/// Whether a statement has to begin a step: it touches what is shared, or may wait.
pub(crate) fn begins_step(statement: &Statement, model: &Model) -> bool {
    let mut shared = statement.written().is_some_and(|var| model.is_shared(var));
    statement.for_expressions(&mut |expr| shared |= expr.shared_reads(model) > 0);
    shared
        || matches!(
            statement.kind,
            StatementKind::Await(_)
                | StatementKind::Loop { .. }
                | StatementKind::Atomic(_)
                | StatementKind::Lock(_)
                | StatementKind::Unlock(_)
                | StatementKind::Start(_)
                | StatementKind::Create { .. }
                | StatementKind::Join(_)
                | StatementKind::Detach(_)
                | StatementKind::Initialised(_)
                | StatementKind::Exclusive(_)
                | StatementKind::Label(_)
        )
}
