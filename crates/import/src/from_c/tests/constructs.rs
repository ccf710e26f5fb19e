//! The table has a row for every variant of the syntax tree, for every type of headers, and for nothing twice.

use std::collections::BTreeSet;

use lang_c::ast::*;
use lang_c::span::Span;
use lang_c::visit::{self, Visit};

use self::table::{OF_HEADERS, PREAMBLE, SYNTAX};
use crate::Settings;
use crate::from_c::functions::{FUNCTIONS, Treatment};
use crate::from_c::types::DataModel;
use crate::from_c::{lexer, parse};
use crate::front::preprocess::preprocess;
use crate::front::source::Sources;

// What is done about each row is for the tests beside the table.
#[allow(dead_code)]
#[path = "../../../tests/tables/c.rs"]
mod table;

/// The variants that were met.
#[derive(Default)]
struct Met(BTreeSet<&'static str>);

/// For each kind of node, the names of all its variants, and which one a node is. The match has no default, so no variant can be forgotten.
macro_rules! variants {
    ($($kind:ident by $visit:ident: $($variant:ident $({ $($dots:tt)* })? $(( $($inner:tt)* ))?),+;)*) => {
        const ALL: &[&str] = &[$($(concat!(stringify!($kind), "::", stringify!($variant)),)+)*];

        impl<'ast> Visit<'ast> for Met {
            $(fn $visit(&mut self, node: &'ast $kind, span: &'ast Span) {
                self.0.insert(match node {
                    $($kind::$variant $(( $($inner)* ))? => concat!(stringify!($kind), "::", stringify!($variant)),)+
                });
                visit::$visit(self, node, span);
            })*
        }
    };
}

variants! {
    Constant by visit_constant: Integer(_), Float(_), Character(_);
    IntegerBase by visit_integer_base: Decimal, Octal, Hexadecimal, Binary;
    IntegerSize by visit_integer_size: Int, Long, LongLong;
    FloatBase by visit_float_base: Decimal, Hexadecimal;
    FloatFormat by visit_float_format: Float, Double, LongDouble, TS18661Format(_);
    Expression by visit_expression: Identifier(_), Constant(_), StringLiteral(_), GenericSelection(_), Member(_), Call(_), CompoundLiteral(_), SizeOfTy(_), SizeOfVal(_), AlignOf(_), UnaryOperator(_), Cast(_), BinaryOperator(_), Conditional(_), Comma(_), OffsetOf(_), VaArg(_), Statement(_);
    MemberOperator by visit_member_operator: Direct, Indirect;
    GenericAssociation by visit_generic_association: Type(_), Default(_);
    UnaryOperator by visit_unary_operator: PostIncrement, PostDecrement, PreIncrement, PreDecrement, Address, Indirection, Plus, Minus, Complement, Negate;
    BinaryOperator by visit_binary_operator: Index, Multiply, Divide, Modulo, Plus, Minus, ShiftLeft, ShiftRight, Less, Greater, LessOrEqual, GreaterOrEqual, Equals, NotEquals, BitwiseAnd, BitwiseXor, BitwiseOr, LogicalAnd, LogicalOr, Assign, AssignMultiply, AssignDivide, AssignModulo, AssignPlus, AssignMinus, AssignShiftLeft, AssignShiftRight, AssignBitwiseAnd, AssignBitwiseXor, AssignBitwiseOr;
    OffsetMember by visit_offset_member: Member(_), IndirectMember(_), Index(_);
    DeclarationSpecifier by visit_declaration_specifier: StorageClass(_), TypeSpecifier(_), TypeQualifier(_), Function(_), Alignment(_), Extension(_);
    StorageClassSpecifier by visit_storage_class_specifier: Typedef, Extern, Static, ThreadLocal, Auto, Register;
    TypeSpecifier by visit_type_specifier: Void, Char, Short, Int, Long, Float, Double, Signed, Unsigned, Bool, Complex, Atomic(_), Struct(_), Enum(_), TypedefName(_), TypeOf(_), TS18661Float(_);
    StructKind by visit_struct_kind: Struct, Union;
    StructDeclaration by visit_struct_declaration: Field(_), StaticAssert(_);
    SpecifierQualifier by visit_specifier_qualifier: TypeSpecifier(_), TypeQualifier(_), Extension(_);
    TypeQualifier by visit_type_qualifier: Const, Restrict, Volatile, Nonnull, NullUnspecified, Nullable, Atomic;
    FunctionSpecifier by visit_function_specifier: Inline, Noreturn;
    AlignmentSpecifier by visit_alignment_specifier: Type(_), Constant(_);
    DeclaratorKind by visit_declarator_kind: Abstract, Identifier(_), Declarator(_);
    DerivedDeclarator by visit_derived_declarator: Pointer(_), Array(_), Function(_), KRFunction(_), Block(_);
    PointerQualifier by visit_pointer_qualifier: TypeQualifier(_), Extension(_);
    ArraySize by visit_array_size: Unknown, VariableUnknown, VariableExpression(_), StaticExpression(_);
    Ellipsis by visit_ellipsis: Some, None;
    Initializer by visit_initializer: Expression(_), List(_);
    Designator by visit_designator: Index(_), Member(_), Range(_);
    Statement by visit_statement: Labeled(_), Compound(_), Expression(_), If(_), Switch(_), While(_), DoWhile(_), For(_), Goto(_), Continue, Break, Return(_), Asm(_);
    Label by visit_label: Identifier(_), Case(_), CaseRange(_), Default;
    ForInitializer by visit_for_initializer: Empty, Expression(_), Declaration(_), StaticAssert(_);
    BlockItem by visit_block_item: Declaration(_), StaticAssert(_), Statement(_);
    ExternalDeclaration by visit_external_declaration: Declaration(_), StaticAssert(_), FunctionDefinition(_);
    Extension by visit_extension: Attribute(_), AsmLabel(_), AvailabilityAttribute(_);
    AsmStatement by visit_asm_statement: GnuBasic(_), GnuExtended(_);
    TypeOf by visit_type_of: Expression(_), Type(_);
}

/// Variants that no text leads to: what they stand for is taken out of the text before, or the parser reads it only for another compiler.
const NEVER: &[&str] = &[
    "AsmStatement::GnuBasic",
    "DeclarationSpecifier::Extension",
    "DeclarationSpecifier::Function",
    "DerivedDeclarator::Block",
    "Extension::AsmLabel",
    "Extension::Attribute",
    "Extension::AvailabilityAttribute",
    "FunctionSpecifier::Inline",
    "FunctionSpecifier::Noreturn",
    "PointerQualifier::Extension",
    "SpecifierQualifier::Extension",
    "TypeQualifier::Nonnull",
    "TypeQualifier::NullUnspecified",
    "TypeQualifier::Nullable",
    "TypeQualifier::Restrict",
];

/// The variants of a program, if it can be parsed.
fn met(text: &str) -> Option<BTreeSet<&'static str>> {
    let mut sources = Sources::new("example.c", text);
    let mut include = |_: &str| Err(String::new());
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut include,
    };
    let dialect = lexer::dialect(DataModel::Lp64);
    let tokens = preprocess(&dialect, &mut sources, &mut settings).ok()?;
    let parsed = parse::parse(tokens).ok()?;
    let mut met = Met::default();
    for item in &parsed.unit.0 {
        if parsed.places.is_program(item.span) {
            met.visit_external_declaration(&item.node, &item.span);
        }
    }
    Some(met.0)
}

#[test]
fn every_variant_of_the_syntax_has_one_row_whose_example_shows_it() {
    let mut rows: Vec<&str> = Vec::new();
    let mut missing = Vec::new();
    for row in SYNTAX {
        rows.extend(row.variants);
        let Some(met) = met(&format!("{PREAMBLE}{}\n", row.example)) else {
            // What cannot even be read is refused, as another test checks.
            assert!(row.variants.is_empty(), "{} cannot be parsed", row.name);
            continue;
        };
        let unseen = row.variants.iter().filter(|name| !met.contains(*name));
        missing.extend(unseen.map(|name| format!("{}: no {name}", row.name)));
        let never = NEVER.iter().filter(|name| met.contains(*name));
        missing.extend(never.map(|name| format!("{}: {name}", row.name)));
    }
    assert!(missing.is_empty(), "{missing:#?}");
    rows.extend(NEVER);
    rows.sort_unstable();
    let mut all = ALL.to_vec();
    all.sort_unstable();
    assert_eq!(rows, all);
}

#[test]
fn every_type_of_headers_has_a_row() {
    let rows = SYNTAX.iter().filter(|row| row.area == OF_HEADERS);
    let names: BTreeSet<&str> = rows
        .flat_map(|row| row.name.split(", "))
        .map(|name| name.trim_matches('`'))
        .collect();
    for name in parse::TYPE_NAMES {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn no_function_has_two_rows() {
    let mut names: Vec<&str> = FUNCTIONS
        .iter()
        .flat_map(|row| row.names)
        .copied()
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(SYNTAX.len() + FUNCTIONS.len() > 150);
}

/// The values of macros are those of gcc, as far as they are integers.
#[test]
fn macros_have_the_values_of_gcc() {
    // Versions may differ, and this one is a list in braces.
    let other = [
        "__GNUC__",
        "__GNUC_MINOR__",
        "__GNUC_PATCHLEVEL__",
        "__STDC_VERSION__",
        "ATOMIC_FLAG_INIT",
    ];
    let mut text = String::from(PREAMBLE);
    text.push_str("#include <limits.h>\n#include <stdint.h>\n");
    let mut count = 0;
    let headers = ["errno.h", "pthread.h", "semaphore.h", "stdio.h", "stdlib.h"];
    let dialect = lexer::dialect(DataModel::Lp64);
    let of_headers = headers
        .iter()
        .filter_map(|name| (dialect.header)(name, &|_| false));
    for (name, value) in dialect.defined.iter().copied().chain(of_headers).flatten() {
        if name.contains('(') || value.contains("void") || name == value || other.contains(name) {
            continue;
        }
        text.push_str(&format!(
            "_Static_assert(({name}) == ({value}), \"{name}\");\n"
        ));
        count += 1;
    }
    assert!(count > 60, "{count}");
    let folder = std::env::temp_dir().join(format!("threadwise-macros-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("macros.c");
    std::fs::write(&file, text).unwrap();
    let mut gcc = std::process::Command::new("gcc");
    let output = gcc.args(["-fsyntax-only", "-w"]).arg(&file).output();
    std::fs::remove_dir_all(&folder).unwrap();
    match output {
        Ok(output) => {
            let messages = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{messages}");
        }
        Err(_) => println!("gcc is not here: macros were not compared"),
    }
}
