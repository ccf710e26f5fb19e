//! Errors and warnings: plain data here, drawn over the source by the `render` module.

use crate::program::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is not accepted.
    Error,
    /// The program is accepted, unless `--deny` names the warning.
    Warning,
}

/// One message about one place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which of the messages it is.
    pub code: Code,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// The cause, written at the place; may be empty.
    pub label: String,
    /// Other places that matter, each with what it has to do with it.
    pub related: Vec<(Span, String)>,
    /// What to do next.
    pub help: Option<String>,
    /// A change of the text that would fix it, where one is likely to be meant: an editor offers it.
    pub fix: Option<Fix>,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced; may be empty.
    pub span: Span,
    /// What is written instead.
    pub text: String,
}

impl Diagnostic {
    /// A message with its place; the rest is added with the methods below.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Adds the cause.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Adds what to do next.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what the text at the place should be.
    pub fn fix(self, text: impl Into<String>) -> Self {
        let span = self.span;
        self.fix_at(span, text)
    }

    /// Adds what the text at another place should be.
    pub fn fix_at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix {
            span,
            text: text.into(),
        });
        self
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Defines [`Code`] with its printed form, a name for `--deny`, and what it is about.
macro_rules! codes {
    ($($name:ident $code:literal $slug:literal $about:literal;)*) => {
        /// The messages threadwise can give, one code each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $about] $name,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The printed form: `E0101`, `W0001`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// A name in words, which `--deny` takes for warnings.
            pub fn slug(self) -> &'static str {
                match self { $(Code::$name => $slug,)* }
            }

            /// What it is about, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Code::$name => $about,)* }
            }
        }
    };
}

impl Code {
    /// Codes that begin with `W` are warnings.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('W') {
            Severity::Warning
        } else {
            Severity::Error
        }
    }
}

codes! {
    // Text and syntax.
    BadCharacter "E0001" "bad-character" "A character that no token begins with.";
    UnterminatedComment "E0002" "unterminated-comment" "A block comment without its end.";
    NumberTooLarge "E0003" "number-too-large" "A number that does not fit 64 bits.";
    UnexpectedToken "E0004" "unexpected-token" "Something else was expected here.";
    MissingSemicolon "E0005" "missing-semicolon" "A statement or declaration without its semicolon.";
    NestingTooDeep "E0006" "nesting-too-deep" "Expressions or blocks nested too deeply.";
    KeywordAsName "E0007" "keyword-as-name" "A keyword where a name belongs.";
    ComparisonChain "E0008" "comparison-chain" "`a < b < c` compares a truth value.";
    AssignmentOperator "E0009" "assignment-operator" "`=` where `:=` or `==` belongs.";
    TooManyErrors "E0010" "too-many-errors" "The rest of the errors is not shown.";
    UnclosedBrace "E0011" "unclosed-brace" "A brace that is never closed.";

    // Names.
    UnknownName "E0101" "unknown-name" "A name that is not declared.";
    DeclaredTwice "E0102" "declared-twice" "Two declarations of one name.";
    UnknownLabel "E0103" "unknown-label" "A label that the process does not have.";
    LabelTwice "E0104" "label-twice" "Two labels of one name in a process.";
    ReservedName "E0105" "reserved-name" "A built-in name, declared.";
    UnknownType "E0106" "unknown-type" "A type that is not declared.";
    NotAProcess "E0107" "not-a-process" "A process template was expected.";
    UnknownLocal "E0108" "unknown-local" "A local variable that the template does not have.";
    UnknownFairness "E0109" "unknown-fairness" "A fairness declaration that does not exist.";
    RecursiveDefinition "E0110" "recursive-definition" "A definition or alias that leads back to itself.";
    RecursiveMacro "E0111" "recursive-macro" "A macro that leads back to itself.";
    ArgumentCount "E0112" "argument-count" "The wrong number of arguments.";
    NotAVariable "E0113" "not-a-variable" "A write to something that is no variable.";
    UnknownFunction "E0114" "unknown-function" "A definition or macro that does not exist.";
    NotAValue "E0115" "not-a-value" "A type, template or macro where a value belongs.";
    ExpansionTooLarge "E0116" "expansion-too-large" "Macros, definitions or loops that expand to too much.";
    UnknownField "E0117" "unknown-field" "A field that a record does not have.";

    // Types.
    TypeMismatch "E0201" "type-mismatch" "A value of another type was expected.";
    UnlikeOperands "E0202" "unlike-operands" "Two values that cannot be compared.";
    NotAnArray "E0203" "not-an-array" "An index on something that is no array.";
    WholeArray "E0204" "whole-array" "An array used without an index.";
    UnorderedIds "E0205" "unordered-ids" "Order or arithmetic on ids of an unordered template.";
    LiteralId "E0206" "literal-id" "A literal id of an unordered template in program text.";
    NotARing "E0207" "not-a-ring" "`next` or `prev` on ids of a template that is no ring.";
    NotConstant "E0208" "not-constant" "A bound or default that depends on more than parameters.";
    MissingInitial "E0209" "missing-initial" "A variable without an initial value.";
    InitialNotConstant "E0210" "initial-not-constant" "An initial value that depends on variables.";
    PlaceCount "E0211" "place-count" "An assignment with unequal numbers of places and values.";
    SameCellTwice "E0212" "same-cell-twice" "The same cell twice in one assignment.";
    PrimitivePosition "E0213" "primitive-position" "An atomic primitive inside an expression.";
    DefParameterType "E0214" "def-parameter-type" "A definition's parameter of a type that is not allowed there.";
    MutexValue "E0215" "mutex-value" "A mutex used as a value.";
    TypeNotAllowed "E0216" "type-not-allowed" "A type that cannot be used here.";
    NotAMutex "E0217" "not-a-mutex" "`lock` or `unlock` of something that is no mutex.";
    UnorderedFor "E0218" "unordered-for" "`for` over the ids of an unordered template.";
    OutOfRange "E0219" "out-of-range" "A constant outside the type it is stored in.";
    BareNone "E0220" "bare-none" "`none` where no optional id is expected.";
    NotAQueue "E0221" "not-a-queue" "An operation of queues on something that is no queue.";
    WholeRecord "E0222" "whole-record" "A record or a queue where a single value is expected.";

    // Control flow.
    NoEntryLabel "E0301" "no-entry-label" "A process that does not begin at a label.";
    CycleWithoutLabel "E0302" "cycle-without-label" "A loop with a way round that passes no label.";
    AwaitAfterWrite "E0303" "await-after-write" "`await` after a write or a check of the same step.";
    StayNotFirst "E0304" "stay-not-first" "`stay` that is not first in its step.";
    BreakOutsideLoop "E0305" "break-outside-loop" "`break` outside a loop.";
    LabelInside "E0306" "label-inside" "A label inside a block that is one step.";
    StartNotDynamic "E0307" "start-not-dynamic" "`start` of a template that is not dynamic.";

    // Who sees what.
    ForeignLocal "E0401" "foreign-local" "Program text that reads another process's local variable.";
    LocationInProgram "E0402" "location-in-program" "Program text that asks where a process is.";
    TemporalOutside "E0403" "temporal-outside" "A temporal operator where only state predicates belong.";
    FairnessOnly "E0404" "fairness-only" "`enabled` or `taken` outside fairness and liveness.";
    LocalInProperty "E0405" "local-in-property" "A local variable in a property without its process.";

    // Instances.
    ParameterWithoutValue "E0501" "parameter-without-value" "A parameter with neither default nor `--set`.";
    UnknownParameter "E0502" "unknown-parameter" "`--set` of a parameter that the model does not have.";
    WhereViolated "E0503" "where-violated" "Parameter values that `where` excludes.";
    EmptyType "E0504" "empty-type" "A variable whose type has no values.";
    InitialOutOfRange "E0505" "initial-out-of-range" "An initial value outside its type.";
    TooLarge "E0506" "too-large" "An instance with too many cells or processes.";
    ConstantFails "E0507" "constant-fails" "A constant expression that overflows or divides by zero.";
    TooManyPaths "E0508" "too-many-paths" "A step with too many paths.";
    NoInitialState "E0509" "no-initial-state" "Values of the parameters with which no state satisfies `initially`.";

    // Programs of other languages.
    ForeignSyntax "E0601" "foreign-syntax" "A program of another language that is not well-formed.";
    Unsupported "E0602" "unsupported" "Something of another language that cannot be brought over.";

    // Warnings.
    CoarseStep "W0001" "coarse-step" "A step that touches shared memory more than once.";
    UnusedVariable "W0002" "unused-variable" "A variable that is never read.";
    UnreachableLabel "W0003" "unreachable-label" "A label that control never reaches.";
    TrivialInvariant "W0004" "trivial-invariant" "An invariant that holds by the types alone.";
    UnusedDefinition "W0005" "unused-definition" "A definition, macro, type, enumeration, parameter or fairness that is never used.";
    LeftOut "W0006" "left-out" "Something of another language that is left out, because it changes nothing that is checked.";
}
