//! The kinds of tokens and nodes of the syntax tree.

/// Defines [`SyntaxKind`] with the text of fixed tokens.
macro_rules! kinds {
    (
        trivia { $($trivia:ident)* }
        open { $($open:ident)* }
        punctuation { $($punct:ident $ptext:literal)* }
        keywords { $($keyword:ident $ktext:literal)* }
        nodes { $($node:ident)* }
    ) => {
        /// The kind of a token or a node. Nodes are named after the grammar in `docs/book/src/language.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the names are those of the grammar")]
        #[repr(u16)]
        pub enum SyntaxKind {
            $($trivia,)* $($open,)* $($punct,)* $($keyword,)* $($node,)*
        }

        impl SyntaxKind {
            const ALL: &'static [SyntaxKind] = &[
                $(SyntaxKind::$trivia,)* $(SyntaxKind::$open,)* $(SyntaxKind::$punct,)*
                $(SyntaxKind::$keyword,)* $(SyntaxKind::$node,)*
            ];

            /// Every kind there is.
            pub fn all() -> impl Iterator<Item = SyntaxKind> {
                SyntaxKind::ALL.iter().copied()
            }

            /// The keyword that a word is, if it is one.
            pub fn keyword(word: &str) -> Option<SyntaxKind> {
                match word { $($ktext => Some(SyntaxKind::$keyword),)* _ => None }
            }

            /// Whether it is a keyword.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(SyntaxKind::$keyword)|*)
            }

            /// The text of a token that has only one, for messages.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    $(SyntaxKind::$punct => Some($ptext),)*
                    $(SyntaxKind::$keyword => Some($ktext),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    trivia { Whitespace LineComment BlockComment }
    open { Name Number BadToken EndOfFile }
    punctuation {
        Semicolon ";" Comma "," Colon ":" Becomes ":=" Dot "." DotDot ".."
        LBracket "[" RBracket "]" LBrace "{" RBrace "}" LParen "(" RParen ")"
        Question "?" Equals "=" EqEq "==" NotEq "!=" Less "<" LessEq "<=" Greater ">" GreaterEq ">="
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Bang "!" AndAnd "&&" OrOr "||"
        Arrow "->" DoubleArrow "<->"
    }
    keywords {
        ParamKw "param" WhereKw "where" EnumKw "enum" RecordKw "record" TypeKw "type" SharedKw "shared" LocalKw "local"
        ProcessKw "process" OrderedKw "ordered" RingKw "ring" DefKw "def" MacroKw "macro"
        InvariantKw "invariant" DeadlockFreeKw "deadlock_free" FairnessKw "fairness"
        LivenessKw "liveness" ExceptionKw "exception" InitiallyKw "initially" UnderKw "under"
        UnconditionalKw "unconditional" WeakKw "weak" StrongKw "strong"
        BoolKw "bool" IntKw "int" MutexKw "mutex" ArrayKw "array" QueueKw "queue" OfKw "of"
        AnyKw "any" NoneKw "none" TrueKw "true" FalseKw "false"
        ForallKw "forall" ExistsKw "exists" CountKw "count" SumKw "sum" MinKw "min" MaxKw "max"
        InKw "in" AtKw "at"
        IfKw "if" ThenKw "then" ElseKw "else" ChooseKw "choose" OrKw "or" WhileKw "while" LoopKw "loop"
        ForKw "for" BreakKw "break" GotoKw "goto" ReturnKw "return" AwaitKw "await"
        AssertKw "assert" SkipKw "skip" StayKw "stay" HavocKw "havoc" AtomicKw "atomic"
        LockKw "lock" UnlockKw "unlock" StartKw "start"
    }
    nodes {
        File Error
        Param Enum Record RecordField Alias Shared Local Process ProcessIds ProcessParams Def DefParam Macro
        Invariant Deadlock Fairness FairList FairUnconditional FairWeak FairStrong Liveness Exception Initially
        TypeBool TypeInt TypeMutex TypeRange TypeName TypeArray TypeQueue
        Domain Initial Binders Group
        Block Label
        Assign Await Assert Skip Stay Havoc Lock Unlock Start Goto Break Return
        If Choose ChooseIn While Loop For Atomic CallStmt
        NumberExpr BoolExpr NoneExpr NameExpr CallExpr ParenExpr UnaryExpr BinaryExpr
        FoldExpr IndexExpr FieldExpr AtExpr
    }
}

impl SyntaxKind {
    /// Spaces and comments.
    pub fn is_trivia(self) -> bool {
        matches!(
            self,
            SyntaxKind::Whitespace | SyntaxKind::LineComment | SyntaxKind::BlockComment
        )
    }

    /// Whether an item begins with it.
    pub fn starts_item(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            ParamKw
                | EnumKw
                | RecordKw
                | TypeKw
                | SharedKw
                | ProcessKw
                | OrderedKw
                | RingKw
                | DefKw
                | MacroKw
                | InvariantKw
                | DeadlockFreeKw
                | FairnessKw
                | LivenessKw
                | ExceptionKw
                | InitiallyKw
        )
    }

    /// Whether only a statement begins with it.
    pub fn starts_statement(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            IfKw | ChooseKw
                | WhileKw
                | LoopKw
                | ForKw
                | BreakKw
                | GotoKw
                | ReturnKw
                | AwaitKw
                | AssertKw
                | SkipKw
                | StayKw
                | HavocKw
                | AtomicKw
                | LockKw
                | UnlockKw
                | StartKw
        )
    }

    /// Whether the node is an expression.
    pub fn is_expr(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            NumberExpr
                | BoolExpr
                | NoneExpr
                | NameExpr
                | CallExpr
                | ParenExpr
                | UnaryExpr
                | BinaryExpr
                | FoldExpr
                | IndexExpr
                | FieldExpr
                | AtExpr
        )
    }

    /// Whether the node is a type.
    pub fn is_type(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            TypeBool | TypeInt | TypeMutex | TypeRange | TypeName | TypeArray | TypeQueue
        )
    }

    /// Whether the node is a statement.
    pub fn is_statement(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            Assign
                | Await
                | Assert
                | Skip
                | Stay
                | Havoc
                | Lock
                | Unlock
                | Start
                | Goto
                | Break
                | Return
                | If
                | Choose
                | ChooseIn
                | While
                | Loop
                | For
                | Atomic
                | CallStmt
        )
    }
}

/// The language, for `rowan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Threadwise {}

impl rowan::Language for Threadwise {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::ALL[raw.0 as usize]
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}
