//! Declarations: the variables of the program and of its functions, and their initial values.

use std::rc::Rc;

use lang_c::ast::{
    Declaration, Declarator, DeclaratorKind, Designator, Expression, Initializer,
    InitializerListItem,
};
use lang_c::span::Node;

use super::super::ir::{Expr, Place, StatementKind, VarKind, Variable};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{IntType, Type};
use super::{Binding, Builder, Object, Part, Value};

/// How many cells an initial value may give one by one.
const MOST_CELLS: usize = 4096;
/// How many variables and cells a declaration may make.
const MOST_FIELDS: usize = 4096;

/// The name that a declarator declares.
pub(super) fn name_of(declarator: &Declarator) -> Option<&str> {
    match &declarator.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some(&name.node.name),
        DeclaratorKind::Declarator(inner) => name_of(&inner.node),
    }
}

/// A variable outside of functions of which each thread has one.
#[derive(Clone)]
pub(super) struct OfThreads<'a> {
    name: &'a str,
    ty: Type,
    initializer: Option<&'a Node<Initializer>>,
    at: At,
}

/// Who has an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Shared,
    Process,
}

impl<'a> Builder<'a> {
    /// A declaration outside of functions.
    pub(super) fn global(&mut self, declaration: &'a Node<Declaration>) -> Built<()> {
        let at = self.place_of(declaration);
        let (base, storage) = self.base_of(&declaration.node.specifiers, at)?;
        for declared in &declaration.node.declarators {
            let place = self.place_of(&declared.node.declarator);
            let declarator = &declared.node.declarator.node;
            let ty = self.derived(base.clone(), declarator)?;
            let Some(name) = name_of(declarator) else {
                continue;
            };
            if storage.typedef {
                self.typedefs.insert(name.to_owned(), ty);
                continue;
            }
            if ty == Type::Function {
                continue;
            }
            let initializer = declared.node.initializer.as_ref();
            let ty = sized(ty, initializer.map(|initializer| &initializer.node));
            if storage.of_thread {
                let unset = Binding::Unset(Type::Other("a variable of each thread"));
                self.globals.insert(name.to_owned(), unset);
                self.of_threads.push(OfThreads {
                    name,
                    ty,
                    initializer,
                    at: place,
                });
                continue;
            }
            match storage.external && initializer.is_none() {
                true if !self.globals.contains_key(name) => {
                    self.undefined.insert(name.to_owned());
                }
                true => {}
                false => {
                    self.undefined.remove(name);
                }
            }
            if initializer.is_some() && !self.initialised.insert(name.to_owned()) {
                let message = format!("`{name}` has two initial values");
                return malformed(place, message, "remove one of them");
            }
            // A second declaration of one variable.
            let known = match self.globals.get(name) {
                Some(Binding::Object(part)) => Some(part.clone()),
                Some(Binding::Value(_)) if initializer.is_none() => continue,
                _ => None,
            };
            if let Some(part) = &known {
                match initializer {
                    None => continue,
                    Some(initializer) if part.ty == ty => {
                        self.initialise(part, initializer, Owner::Shared)?;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            if let (Type::Int(int), Some(initializer)) = (&ty, initializer)
                && let Initializer::Expression(value) = &initializer.node
                && !self.in_templates
                && self.never_written(name)
            {
                // It is a constant, whether or not it is called one.
                let number = super::super::ir::wrapped(*int, self.constant(value)?);
                let value = Value::Int(Expr::Number(number), int.plain());
                self.globals.insert(name.to_owned(), Binding::Value(value));
                continue;
            }
            if let (Type::Pointer(_), Some(initializer)) = (&ty, initializer)
                && self.never_written(name)
                && let Some(value) = self.fixed_pointer(&initializer.node)
            {
                self.globals.insert(name.to_owned(), Binding::Value(value));
                continue;
            }
            let binding = match self.object(&ty, name, Owner::Shared, place) {
                Ok(object) => Binding::Object(Part {
                    ty,
                    object: Rc::new(object),
                    indices: Vec::new(),
                }),
                // It is an error only if it is used.
                Err(_) => Binding::Unset(ty),
            };
            if let (Binding::Object(part), Some(initializer)) = (&binding, initializer) {
                self.initialise(part, initializer, Owner::Shared)?;
            } else if let (Binding::Object(part), true) = (&binding, self.in_templates) {
                // A template's variable without a value has any.
                if let Object::Variable(id) = *part.object {
                    self.model.variables[id.0].initial = None;
                }
            }
            self.globals.insert(name.to_owned(), binding);
        }
        Ok(())
    }

    /// Gives the process that is being read its own of the variables that each thread has.
    pub(super) fn own_variables(&mut self) -> Built<()> {
        for variable in self.of_threads.clone() {
            let OfThreads {
                name,
                ty,
                initializer,
                at,
            } = variable;
            let number = match initializer.map(|initializer| &initializer.node) {
                None => 0,
                Some(Initializer::Expression(value)) => self.constant(value)?,
                Some(Initializer::List(_)) => {
                    let message = "an initial value of a variable of each thread";
                    return unsupported(at, message, "give it a number, or set it by a statement");
                }
            };
            let object = self.object(&ty, name, Owner::Process, at)?;
            if let (Type::Int(int), Object::Variable(var)) = (&ty, &object) {
                let number = super::super::ir::wrapped(*int, number);
                self.model.variables[var.0].initial = Some(number);
            }
            let part = Part {
                ty,
                object: Rc::new(object),
                indices: Vec::new(),
            };
            self.globals.insert(name.to_owned(), Binding::Object(part));
        }
        Ok(())
    }

    /// Whether no function may write a variable of this name.
    fn never_written(&self, name: &str) -> bool {
        !self.written.contains(name)
    }

    /// The variables of an object of a type.
    pub(super) fn object(&mut self, ty: &Type, name: &str, owner: Owner, at: At) -> Built<Object> {
        let mut made = 0;
        self.object_part(ty, name, owner, &mut Vec::new(), &mut made, at)
    }

    fn object_part(
        &mut self,
        ty: &Type,
        name: &str,
        owner: Owner,
        dims: &mut Vec<u32>,
        made: &mut usize,
        at: At,
    ) -> Built<Object> {
        *made += 1;
        if *made > MOST_FIELDS || dims.len() > 8 {
            return unsupported(at, "this object is too large", "make it smaller");
        }
        let kind = match ty {
            Type::Int(int) => {
                self.without_bounds(*int, at)?;
                VarKind::Int(*int)
            }
            Type::Thread => VarKind::Int(IntType::LONG_LONG),
            Type::Semaphore => VarKind::Int(IntType::UNSIGNED),
            Type::ReadWriteLock => VarKind::Int(IntType::INT),
            Type::Mutex => VarKind::Mutex,
            Type::Condition | Type::Attributes => return Ok(Object::Nothing),
            Type::Array(inner, size) => {
                let Some(size) = size else {
                    return match **inner {
                        // Handles that nothing waits for.
                        Type::Thread => Ok(Object::Nothing),
                        _ => unsupported(at, "an array of unknown size", "write its size"),
                    };
                };
                let cells: u64 = dims.iter().map(|dim| u64::from(*dim)).product();
                if cells.saturating_mul(u64::from(*size)) > 1_000_000 {
                    return unsupported(at, "this array is too large", "make it smaller");
                }
                dims.push(*size);
                let object = self.object_part(inner, name, owner, dims, made, at);
                dims.pop();
                return object;
            }
            Type::Struct(number) => {
                let fields = self.structs[*number].clone();
                let mut parts = Vec::new();
                for (field, ty) in fields {
                    let object = match self.object_part(
                        &ty,
                        &format!("{name}_{field}"),
                        owner,
                        dims,
                        made,
                        at,
                    ) {
                        Ok(object) => object,
                        // It is an error only if it is used.
                        Err(_) => Object::Nothing,
                    };
                    parts.push((field, object));
                }
                return Ok(Object::Fields(parts));
            }
            Type::Barrier => {
                let mut parts = Vec::new();
                for field in ["needed", "arrived", "leaving"] {
                    let ty = Type::Int(IntType::INT);
                    let name = format!("{name}_{field}");
                    let object = self.object_part(&ty, &name, owner, dims, made, at)?;
                    parts.push((field.to_owned(), object));
                }
                return Ok(Object::Fields(parts));
            }
            Type::Pointer(_) => {
                let help = "a pointer may be a parameter, or a variable of a function that is set once to `&x`";
                return unsupported(at, "a pointer in memory", help);
            }
            Type::Function => {
                let help = "call the function by its name";
                return unsupported(at, "a pointer to a function", help);
            }
            Type::Void => return malformed(at, "an object cannot be `void`", "give it a type"),
            Type::Other(what) => {
                let help = "use integers, arrays and structs of them, and what <pthread.h> has";
                return unsupported(at, format!("{what} is not supported"), help);
            }
        };
        let owner = match owner {
            Owner::Shared => None,
            Owner::Process => Some(self.process),
        };
        let id = self.new_variable(Variable {
            wish: name.to_owned(),
            owner,
            kind,
            dims: dims.clone(),
            from_one: false,
            initial: Some(0),
            parameter: None,
            range: None,
            choices: None,
            at,
        });
        Ok(Object::Variable(id))
    }

    /// Gives an object its initial value.
    pub(super) fn initialise(
        &mut self,
        part: &Part,
        initializer: &'a Node<Initializer>,
        owner: Owner,
    ) -> Built<()> {
        let at = self.place_of(initializer);
        if let (
            Object::Variable(id),
            Type::Int(int),
            Initializer::Expression(value),
            Owner::Shared,
        ) = (&*part.object, &part.ty, &initializer.node, owner)
        {
            if let Some(parameter) = self.parameter_named(value) {
                self.model.variables[id.0].parameter = Some(parameter);
                return Ok(());
            }
            if self.is_arbitrary(value) {
                self.model.variables[id.0].initial = None;
                return Ok(());
            }
            let number = self.constant(value)?;
            self.model.variables[id.0].initial = Some(super::super::ir::wrapped(*int, number));
            return Ok(());
        }
        let mut cells = Vec::new();
        self.cells(part, &initializer.node, at, &mut cells)?;
        if let Owner::Process = owner {
            // What the list does not mention is 0.
            let mut zero = Vec::new();
            self.number_cells(part, &mut zero, at)?;
            zero.retain(|place| !cells.iter().any(|(other, _)| other == place));
            cells.extend(zero.into_iter().map(|place| (place, Expr::Number(0))));
        }
        let code = self.block(|builder| {
            for (place, value) in cells {
                builder.emit(at, StatementKind::Assign(place, value));
            }
            Ok(())
        })?;
        match owner {
            Owner::Shared => {
                let zero = |statement: &super::super::ir::Statement| {
                    matches!(statement.kind, StatementKind::Assign(_, Expr::Number(0)))
                };
                self.initial
                    .extend(code.into_iter().filter(|statement| !zero(statement)));
            }
            Owner::Process => self.code.extend(code),
        }
        Ok(())
    }

    /// The cells that an initial value gives, with their values.
    fn cells(
        &mut self,
        part: &Part,
        initializer: &'a Initializer,
        at: At,
        cells: &mut Vec<(Place, Expr)>,
    ) -> Built<()> {
        if cells.len() > MOST_CELLS {
            return unsupported(at, "this list is too long", "give less values");
        }
        match (&part.ty, initializer) {
            (Type::Int(int), Initializer::Expression(value)) => {
                let Object::Variable(var) = *part.object else {
                    return Ok(());
                };
                let number = self.rvalue(value)?;
                let value = self.convert(number, *int, at)?;
                cells.push((
                    Place {
                        var,
                        indices: part.indices.clone(),
                    },
                    value,
                ));
                Ok(())
            }
            (Type::Int(_), Initializer::List(items)) => match items.as_slice() {
                [] => Ok(()),
                [item] => self.cells(part, &item.node.initializer.node, at, cells),
                _ => malformed(at, "too many values", "give one"),
            },
            // What these begin with is what they have anyway.
            (
                Type::Mutex
                | Type::Condition
                | Type::ReadWriteLock
                | Type::Attributes
                | Type::Barrier,
                _,
            ) => self.default_initial(initializer, at),
            (Type::Array(..) | Type::Struct(_), Initializer::List(items)) => {
                self.list(part, items, at, cells)
            }
            (Type::Array(..), Initializer::Expression(_)) => {
                unsupported(at, "an array that begins as a text", "give numbers")
            }
            (Type::Struct(_), Initializer::Expression(value)) => match self.rvalue(value)? {
                Value::Struct(from) => {
                    let (mut source, mut target) = (Vec::new(), Vec::new());
                    self.all_cells(&from, &mut source, at)?;
                    self.all_cells(part, &mut target, at)?;
                    for ((from, _), (to, _)) in source.into_iter().zip(target) {
                        cells.push((to, Expr::Load(from)));
                    }
                    Ok(())
                }
                _ => malformed(at, "a struct is expected here", "give a list of values"),
            },
            (Type::Thread, Initializer::Expression(value)) => match self.constant(value)? {
                0 => Ok(()),
                _ => unsupported(at, "a handle that is a number", "use `pthread_create`"),
            },
            (Type::Pointer(_), _) => unsupported(at, "a pointer in memory", "use an index instead"),
            _ => unsupported(
                at,
                "this initial value is not supported",
                "set it by a statement",
            ),
        }
    }

    /// Checks that an object begins as all of its type do.
    fn default_initial(&mut self, initializer: &'a Initializer, at: At) -> Built<()> {
        let plain = match initializer {
            Initializer::List(items) => self.is_zero_list(items),
            Initializer::Expression(value) => match &value.node {
                Expression::Identifier(name) => matches!(
                    name.node.name.as_str(),
                    "PTHREAD_MUTEX_INITIALIZER"
                        | "PTHREAD_COND_INITIALIZER"
                        | "PTHREAD_RWLOCK_INITIALIZER"
                        | "PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP"
                ),
                _ => false,
            },
        };
        match plain {
            true => Ok(()),
            false => unsupported(
                at,
                "this initial value is not known",
                "use `PTHREAD_MUTEX_INITIALIZER`",
            ),
        }
    }

    /// Whether a list has no number but 0: the plain objects begin so.
    fn is_zero_list(&mut self, items: &'a [Node<InitializerListItem>]) -> bool {
        items.iter().all(|item| match &item.node.initializer.node {
            Initializer::List(items) => self.is_zero_list(items),
            Initializer::Expression(value) => matches!(self.constant(value), Ok(0)),
        })
    }

    fn list(
        &mut self,
        part: &Part,
        items: &'a [Node<InitializerListItem>],
        at: At,
        cells: &mut Vec<(Place, Expr)>,
    ) -> Built<()> {
        let mut next = 0;
        for item in items {
            let place = self.place_of(item);
            match item.node.designation.as_slice() {
                [] => {}
                [one] => match (&one.node, &part.ty) {
                    (Designator::Index(index), Type::Array(..)) => {
                        next = self.constant(index)? as usize
                    }
                    (Designator::Member(name), Type::Struct(number)) => {
                        let fields = &self.structs[*number];
                        let found = fields
                            .iter()
                            .position(|(field, _)| *field == name.node.name);
                        match found {
                            Some(position) => next = position,
                            None => {
                                return malformed(
                                    place,
                                    "there is no such field",
                                    "check its name",
                                );
                            }
                        }
                    }
                    _ => {
                        return unsupported(
                            place,
                            "this designation is not supported",
                            "give all values in order",
                        );
                    }
                },
                _ => {
                    return unsupported(
                        place,
                        "this designation is not supported",
                        "give all values in order",
                    );
                }
            }
            let inner = match &part.ty {
                Type::Array(inner, size) => {
                    if size.is_some_and(|size| next >= size as usize) {
                        return malformed(place, "there are too many values", "give less");
                    }
                    let mut indices = part.indices.clone();
                    indices.push(Expr::Number(next as i128));
                    Part {
                        ty: (**inner).clone(),
                        object: Rc::clone(&part.object),
                        indices,
                    }
                }
                _ => match self.field_at(part, next) {
                    Some(part) => part,
                    None => return malformed(place, "there are too many values", "give less"),
                },
            };
            // Braces may be left out in C; here they may not, as it is easily wrong.
            if matches!(inner.ty, Type::Array(..) | Type::Struct(_))
                && matches!(item.node.initializer.node, Initializer::Expression(_))
                && !matches!(inner.ty, Type::Struct(_))
            {
                let help = "write the values of each row in braces of their own";
                return unsupported(place, "an inner list without braces", help);
            }
            self.cells(&inner, &item.node.initializer.node, at, cells)?;
            next += 1;
        }
        Ok(())
    }

    /// The field of a struct at a position.
    pub(super) fn field_at(&self, part: &Part, position: usize) -> Option<Part> {
        let (Type::Struct(number), Object::Fields(fields)) = (&part.ty, &*part.object) else {
            return None;
        };
        let (_, object) = fields.get(position)?;
        let (_, ty) = self.structs[*number].get(position)?;
        Some(Part {
            ty: ty.clone(),
            object: Rc::new(object.clone()),
            indices: part.indices.clone(),
        })
    }

    /// All integer cells of an object, each with 0.
    pub(super) fn all_cells(
        &mut self,
        part: &Part,
        cells: &mut Vec<(Place, Expr)>,
        at: At,
    ) -> Built<()> {
        if cells.len() > MOST_CELLS {
            return unsupported(
                at,
                "this object is too large to be copied",
                "make it smaller",
            );
        }
        match (&part.ty, &*part.object) {
            (Type::Int(_) | Type::Thread, Object::Variable(var)) => {
                cells.push((
                    Place {
                        var: *var,
                        indices: part.indices.clone(),
                    },
                    Expr::Number(0),
                ));
                Ok(())
            }
            (Type::Array(inner, Some(size)), _) => {
                for index in 0..*size {
                    let mut indices = part.indices.clone();
                    indices.push(Expr::Number(i128::from(index)));
                    let cell = Part {
                        ty: (**inner).clone(),
                        object: Rc::clone(&part.object),
                        indices,
                    };
                    self.all_cells(&cell, cells, at)?;
                }
                Ok(())
            }
            (Type::Struct(_), Object::Fields(fields)) => {
                for position in 0..fields.len() {
                    if let Some(field) = self.field_at(part, position) {
                        self.all_cells(&field, cells, at)?;
                    }
                }
                Ok(())
            }
            _ => unsupported(
                at,
                "this object cannot be copied",
                "copy its fields one by one",
            ),
        }
    }

    /// A declaration within a function.
    pub(super) fn local(&mut self, declaration: &'a Node<Declaration>) -> Built<()> {
        let at = self.place_of(declaration);
        let (base, storage) = self.base_of(&declaration.node.specifiers, at)?;
        for declared in &declaration.node.declarators {
            let place = self.place_of(declared);
            let declarator = &declared.node.declarator.node;
            let ty = self.derived(base.clone(), declarator)?;
            let Some(name) = name_of(declarator) else {
                continue;
            };
            if storage.typedef {
                self.local_typedef(name, ty, place)?;
                continue;
            }
            if ty == Type::Function || storage.external {
                continue;
            }
            if storage.of_thread {
                let help = "use a local variable, and pass it on";
                return unsupported(place, "a variable of each thread", help);
            }
            let initializer = declared.node.initializer.as_ref();
            let ty = sized(ty, initializer.map(|initializer| &initializer.node));
            if let (Type::Pointer(_), Some(scope)) = (&ty, self.frame().scopes.last_mut()) {
                // Its own initial value may ask for the size of what it points to.
                scope.insert(name.to_owned(), Binding::Unset(ty.clone()));
            }
            let binding = match &ty {
                Type::Pointer(_) => match initializer.map(|initializer| &initializer.node) {
                    None => Binding::Unset(ty),
                    Some(Initializer::Expression(value)) => {
                        let value = self.rvalue(value)?;
                        Binding::Value(self.hold(value, place)?)
                    }
                    Some(Initializer::List(_)) => {
                        return unsupported(place, "a pointer to a list", "declare an array");
                    }
                },
                _ => self.local_object(
                    name,
                    ty,
                    storage.fixed,
                    declared.span.start,
                    initializer,
                    place,
                )?,
            };
            if let Some(scope) = self.frame().scopes.last_mut() {
                scope.insert(name.to_owned(), binding);
            }
        }
        Ok(())
    }

    /// A type that a function names. Names of types are known everywhere, so no two may be the same.
    fn local_typedef(&mut self, name: &str, ty: Type, at: At) -> Built<()> {
        match self.typedefs.insert(name.to_owned(), ty.clone()) {
            Some(other) if other != ty => {
                unsupported(at, "another type of the same name", "rename one of them")
            }
            _ => Ok(()),
        }
    }

    fn local_object(
        &mut self,
        name: &str,
        ty: Type,
        fixed: bool,
        declared: usize,
        initializer: Option<&'a Node<Initializer>>,
        at: At,
    ) -> Built<Binding> {
        let function = self.frame().function;
        let outer = self.frames.len() == 1;
        let escapes = function == "main" && self.escaping.contains(name);
        let synchronises = self.synchronises(&ty);
        let shared = fixed || escapes || (synchronises && function == "main");
        // All processes have the same `static` variable.
        let process = match shared {
            true => super::ProcessId(usize::MAX),
            false => self.process,
        };
        let wish = match outer || escapes {
            true => name.to_owned(),
            false => format!("{function}_{name}"),
        };
        let owner = match shared {
            true => Owner::Shared,
            false => Owner::Process,
        };
        let known = self.locals.get(&(process, function, declared)).cloned();
        let new = known.is_none();
        let part = match known {
            Some(part) => part,
            None => {
                let object = self.object(&ty, &wish, owner, at)?;
                let part = Part {
                    ty,
                    object: Rc::new(object),
                    indices: Vec::new(),
                };
                self.locals
                    .insert((process, function, declared), part.clone());
                part
            }
        };
        if let (true, true, Object::Variable(id), Type::Int(_)) = (
            self.in_templates && new,
            self.code.is_empty() && outer,
            &*part.object,
            &part.ty,
        ) {
            // Variables in front of a template begin with their values.
            let number = match initializer.map(|initializer| &initializer.node) {
                None => Some(None),
                Some(Initializer::Expression(value)) if self.is_arbitrary(value) => Some(None),
                Some(Initializer::Expression(value)) => self.constant(value).ok().map(Some),
                Some(Initializer::List(_)) => None,
            };
            if let Some(number) = number {
                self.model.variables[id.0].initial = number;
                return Ok(Binding::Object(part));
            }
        }
        match initializer {
            Some(initializer) if fixed => {
                if new {
                    self.initialise(&part, initializer, Owner::Shared)?;
                }
            }
            Some(initializer) => match (&part.ty, &initializer.node) {
                (Type::Int(_), Initializer::Expression(value)) => {
                    let value = self.rvalue(value)?;
                    self.store(&part, value, at)?;
                }
                _ => self.initialise(&part, initializer, Owner::Process)?,
            },
            None if fixed => {}
            None => {
                self.begin_with_any(&part, at)?;
                self.begin_unprepared(&part, name, at);
            }
        }
        Ok(Binding::Object(part))
    }

    /// Whether processes can wait for one another by an object of a type.
    fn synchronises(&self, ty: &Type) -> bool {
        match ty {
            Type::Mutex | Type::Semaphore | Type::ReadWriteLock | Type::Barrier => true,
            Type::Array(inner, _) => self.synchronises(inner),
            Type::Struct(number) => {
                let fields = &self.structs[*number];
                fields.iter().any(|(_, ty)| self.synchronises(ty))
            }
            _ => false,
        }
    }

    /// A variable of a function that is declared without a value has any.
    pub(super) fn begin_with_any(&mut self, part: &Part, at: At) -> Built<()> {
        if let (Type::Int(int), Object::Variable(var)) = (&part.ty, &*part.object)
            && !self.model.is_shared(*var)
        {
            // An input of its own: which of its values matter is found out later.
            if let Value::Int(any, _) = self.arbitrary(int.plain(), at) {
                self.emit(at, StatementKind::Assign(Place::of(*var), any));
            }
            return Ok(());
        }
        let mut cells = Vec::new();
        self.number_cells(part, &mut cells, at)?;
        let mut code = Vec::new();
        for place in cells {
            let kind = StatementKind::Havoc(place);
            code.push(super::Statement { at, kind });
        }
        if code.is_empty() {
            return Ok(());
        }
        self.statements += code.len();
        match self.is_own(&part.object) {
            true => self.code.extend(code),
            // Others cannot have seen it yet.
            false => self.step(code, at),
        }
        Ok(())
    }

    /// The cells of an object that hold numbers of the program.
    fn number_cells(&mut self, part: &Part, cells: &mut Vec<Place>, at: At) -> Built<()> {
        if cells.len() > MOST_CELLS {
            let help = "make it smaller, or declare it outside of functions";
            return unsupported(at, "this object of a function is too large", help);
        }
        match (&part.ty, &*part.object) {
            (Type::Int(_), Object::Variable(var)) => {
                cells.push(Place {
                    var: *var,
                    indices: part.indices.clone(),
                });
            }
            (Type::Array(inner, Some(size)), _) => {
                for index in 0..*size {
                    let mut indices = part.indices.clone();
                    indices.push(Expr::Number(i128::from(index)));
                    let cell = Part {
                        ty: (**inner).clone(),
                        object: Rc::clone(&part.object),
                        indices,
                    };
                    let before = cells.len();
                    self.number_cells(&cell, cells, at)?;
                    if cells.len() == before {
                        break;
                    }
                }
            }
            (Type::Struct(_), Object::Fields(fields)) => {
                for position in 0..fields.len() {
                    if let Some(field) = self.field_at(part, position) {
                        self.number_cells(&field, cells, at)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// An array whose size its initial value says.
fn sized(ty: Type, initializer: Option<&Initializer>) -> Type {
    match (ty, initializer) {
        (Type::Array(inner, None), Some(Initializer::List(items)))
            if items.iter().all(|item| item.node.designation.is_empty()) && !items.is_empty() =>
        {
            Type::Array(inner, Some(items.len() as u32))
        }
        (ty, _) => ty,
    }
}
