//! Types and declarators.

use lang_c::ast::{
    ArraySize, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, EnumType,
    SpecifierQualifier, StaticAssert, StorageClassSpecifier, StructDeclaration, StructKind,
    StructType, TypeName, TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::Node;

use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{IntType, Type, known};
use super::{Binding, Builder};

/// What specifiers say beside the type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Storage {
    pub typedef: bool,
    pub external: bool,
    pub fixed: bool,
    pub of_thread: bool,
}

impl<'a> Builder<'a> {
    /// The type that the specifiers of a declaration give, and what else they say.
    pub(super) fn base_of(
        &mut self,
        specifiers: &'a [Node<DeclarationSpecifier>],
        at: At,
    ) -> Built<(Type, Storage)> {
        let mut storage = Storage::default();
        let (mut types, mut atomic) = (Vec::new(), false);
        for specifier in specifiers {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => storage.typedef = true,
                    StorageClassSpecifier::Extern => storage.external = true,
                    StorageClassSpecifier::Static => storage.fixed = true,
                    StorageClassSpecifier::ThreadLocal => storage.of_thread = true,
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                },
                DeclarationSpecifier::TypeSpecifier(specifier) => types.push(specifier),
                DeclarationSpecifier::TypeQualifier(qualifier) => {
                    atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                DeclarationSpecifier::Function(_)
                | DeclarationSpecifier::Alignment(_)
                | DeclarationSpecifier::Extension(_) => {}
            }
        }
        Ok((self.type_of(&types, atomic, at)?, storage))
    }

    fn base_of_name(&mut self, specifiers: &'a [Node<SpecifierQualifier>], at: At) -> Built<Type> {
        let (mut types, mut atomic) = (Vec::new(), false);
        for specifier in specifiers {
            match &specifier.node {
                SpecifierQualifier::TypeSpecifier(specifier) => types.push(specifier),
                SpecifierQualifier::TypeQualifier(qualifier) => {
                    atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                SpecifierQualifier::Extension(_) => {}
            }
        }
        self.type_of(&types, atomic, at)
    }

    fn type_of(
        &mut self,
        specifiers: &[&'a Node<TypeSpecifier>],
        atomic: bool,
        at: At,
    ) -> Built<Type> {
        let (mut bits, mut longs, mut signed, mut int) = (None, 0, None, false);
        let mut other = None;
        for specifier in specifiers {
            match &specifier.node {
                TypeSpecifier::Void => other = Some(Type::Void),
                TypeSpecifier::Char => bits = Some(8),
                TypeSpecifier::Short => bits = Some(16),
                TypeSpecifier::Int => int = true,
                TypeSpecifier::Long => longs += 1,
                TypeSpecifier::Signed => signed = Some(true),
                TypeSpecifier::Unsigned => signed = Some(false),
                TypeSpecifier::Bool => other = Some(Type::Int(IntType::BOOL)),
                TypeSpecifier::Float
                | TypeSpecifier::Double
                | TypeSpecifier::Complex
                | TypeSpecifier::TS18661Float(_) => {
                    other = Some(Type::Other("a floating-point number"));
                }
                TypeSpecifier::Atomic(name) => {
                    other = Some(atomically(self.type_name(name)?, true));
                }
                TypeSpecifier::Struct(definition) => other = Some(self.structure(definition)?),
                TypeSpecifier::Enum(definition) => {
                    other = Some(Type::Int(self.enumeration(definition)?));
                }
                TypeSpecifier::TypedefName(name) => {
                    let name = &name.node.name;
                    // A preprocessed file says how the library makes its types, which does not matter.
                    let library = ["pthread_", "sem_t", "atomic_flag", "FILE"]
                        .iter()
                        .any(|start| name.starts_with(start));
                    let own = self.typedefs.get(name).cloned();
                    let named = match library {
                        true => known(name, self.reading.data_model).or(own),
                        false => own.or_else(|| known(name, self.reading.data_model)),
                    };
                    other = Some(match named {
                        Some(named) => named,
                        None => {
                            let message = format!("the type `{name}` is not known");
                            return unsupported(at, message, "declare it with `typedef`");
                        }
                    });
                }
                TypeSpecifier::TypeOf(node) => {
                    other = Some(match &node.node {
                        TypeOf::Type(name) => self.type_name(name)?,
                        TypeOf::Expression(_) => Type::Other("the type of an expression"),
                    });
                }
            }
        }
        let plain = match other {
            Some(Type::Other(_)) | None
                if longs == 0 && bits.is_none() && signed.is_none() && !int =>
            {
                match other {
                    Some(other) => other,
                    // As in old C.
                    None => Type::Int(IntType::INT),
                }
            }
            Some(other) => other,
            None => {
                let bits = match (bits, longs) {
                    (Some(bits), _) => bits,
                    (None, 0) => 32,
                    (None, 1) => self.reading.data_model.word(),
                    (None, _) => 64,
                };
                Type::Int(IntType::new(bits, signed.unwrap_or(true)))
            }
        };
        Ok(atomically(plain, atomic))
    }

    /// A type as it stands in a cast.
    pub(super) fn type_name(&mut self, name: &'a Node<TypeName>) -> Built<Type> {
        let at = self.place_of(name);
        let base = self.base_of_name(&name.node.specifiers, at)?;
        match &name.node.declarator {
            None => Ok(base),
            Some(declarator) => self.derived(base, &declarator.node),
        }
    }

    /// The type that a declarator makes of a base type.
    pub(super) fn derived(&mut self, base: Type, declarator: &'a Declarator) -> Built<Type> {
        let mut ty = base;
        // Pointers bind last, so they come first from the inside.
        for derived in &declarator.derived {
            if let DerivedDeclarator::Pointer(_) = derived.node {
                ty = Type::Pointer(Box::new(ty));
            }
        }
        for derived in declarator.derived.iter().rev() {
            match &derived.node {
                DerivedDeclarator::Pointer(_) => {}
                DerivedDeclarator::Array(array) => {
                    let size = match &array.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => None,
                        ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => {
                            let place = self.place_of(size);
                            match self.constant(size) {
                                Ok(size @ 1..=1_000_000) => Some(size as u32),
                                Ok(_) => {
                                    let help = "an array has between 1 and 1000000 elements here";
                                    return unsupported(place, "an array of this size", help);
                                }
                                Err(_) if matches!(ty, Type::Thread) => None,
                                Err(_) => {
                                    let help = "the size of an array must be a constant";
                                    return unsupported(place, "an array of variable size", help);
                                }
                            }
                        }
                    };
                    ty = Type::Array(Box::new(ty), size);
                }
                DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_) => {
                    ty = Type::Function;
                }
                DerivedDeclarator::Block(_) => ty = Type::Other("a block"),
            }
        }
        match &declarator.kind.node {
            DeclaratorKind::Declarator(inner) => self.derived(ty, &inner.node),
            _ => Ok(ty),
        }
    }

    fn structure(&mut self, definition: &'a Node<StructType>) -> Built<Type> {
        let at = self.place_of(definition);
        let definition = &definition.node;
        if definition.kind.node == StructKind::Union {
            return Ok(Type::Other("a union"));
        }
        let tag = definition
            .identifier
            .as_ref()
            .map(|name| name.node.name.clone());
        let Some(declarations) = &definition.declarations else {
            let number = tag.and_then(|tag| self.tags.get(&tag).copied());
            let unknown = Type::Other("a struct without a definition");
            return Ok(number.map_or(unknown, |(number, _)| Type::Struct(number)));
        };
        let place = declarations.first().map_or(0, |first| first.span.start);
        if let Some((known, defined)) = tag.as_ref().and_then(|tag| self.tags.get(tag).copied())
            && defined != usize::MAX
        {
            // A function that is inlined again, or another struct of the same name.
            return match defined == place {
                true => Ok(Type::Struct(known)),
                false => unsupported(at, "another struct of the same name", "rename one of them"),
            };
        }
        let mut fields = Vec::new();
        for declaration in declarations {
            let field = match &declaration.node {
                StructDeclaration::Field(field) => field,
                StructDeclaration::StaticAssert(asserted) => {
                    self.static_assert(asserted)?;
                    continue;
                }
            };
            let base = self.base_of_name(&field.node.specifiers, at)?;
            for declarator in &field.node.declarators {
                if declarator.node.bit_width.is_some() {
                    fields.push((String::new(), Type::Other("a bit field")));
                    continue;
                }
                let Some(declarator) = &declarator.node.declarator else {
                    continue;
                };
                let ty = self.derived(base.clone(), &declarator.node)?;
                let name = super::declare::name_of(&declarator.node).unwrap_or_default();
                fields.push((name.to_owned(), ty));
            }
            if field.node.declarators.is_empty() {
                fields.push((String::new(), Type::Other("a field without a name")));
            }
        }
        self.structs.push(fields);
        let number = self.structs.len() - 1;
        if let Some(tag) = tag {
            self.tags.insert(tag, (number, place));
        }
        Ok(Type::Struct(number))
    }

    /// Refuses a program that a compiler refuses. An assertion that cannot be evaluated here holds in every program that compiles.
    pub(super) fn static_assert(&mut self, asserted: &'a Node<StaticAssert>) -> Built<()> {
        match self.constant(&asserted.node.expression) {
            Ok(0) => malformed(
                self.place_of(asserted),
                "this does not hold",
                "change one of them",
            ),
            _ => Ok(()),
        }
    }

    /// The type of an enumeration: that of gcc, which has a sign if some member needs it.
    fn enumeration(&mut self, definition: &'a Node<EnumType>) -> Built<IntType> {
        let at = self.place_of(definition);
        let definition = &definition.node;
        let tag = definition
            .identifier
            .as_ref()
            .map(|tag| tag.node.name.clone());
        let Some(first) = definition.enumerators.first() else {
            let known = tag.and_then(|tag| self.enumerations.get(&tag).copied());
            return match known {
                Some((ty, _)) => Ok(ty),
                None => unsupported(at, "an enumeration without members", "define it before"),
            };
        };
        let place = first.span.start;
        let known = tag.as_ref().and_then(|tag| self.enumerations.get(tag));
        if known.is_some_and(|(_, defined)| *defined != place) {
            let message = "another enumeration of the same name";
            return unsupported(at, message, "rename one of them");
        }
        let (mut next, mut ty) = (0, IntType::UNSIGNED);
        for member in &definition.enumerators {
            let place = self.place_of(member);
            if let Some(value) = &member.node.expression {
                next = self.constant(value)?;
            }
            if !(IntType::INT.least()..=IntType::INT.greatest()).contains(&next) {
                return malformed(place, "this does not fit an `int`", "use a smaller number");
            }
            if next < 0 {
                ty = IntType::INT;
            }
            let name = member.node.identifier.node.name.clone();
            let binding = Binding::Number(next);
            match self
                .frames
                .last_mut()
                .and_then(|frame| frame.scopes.last_mut())
            {
                Some(scope) => scope.insert(name, binding),
                None => self.globals.insert(name, binding),
            };
            next += 1;
        }
        if let Some(tag) = tag {
            self.enumerations.insert(tag, (ty, place));
        }
        Ok(ty)
    }
}

fn atomically(ty: Type, atomic: bool) -> Type {
    match ty {
        Type::Int(int) => Type::Int(IntType {
            atomic: int.atomic || atomic,
            ..int
        }),
        other => other,
    }
}
