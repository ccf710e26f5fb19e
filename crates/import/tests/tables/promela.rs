//! The table of constructs: everything that Promela has, and what is done about it.
//!
//! Each construct is a row, and every variant of the syntax tree leads to one (`tests/met.rs`), so that a new one does not compile
//! without a decision. Tests go through the table: what is translated occurs in the model of `tests/promela` that the row names, which
//! is compared with SPIN; what is refused has a program that must be refused at the place that `/*!*/` marks, with advice; what is
//! approximated has a program that must be accepted; every word of the language stands in some row. The page of the book about
//! constructs is made from the table.

/// What is done about a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It means what it means for SPIN.
    Translated {
        /// The model of `tests/promela` that has it.
        model: &'static str,
        /// What shows it in the text of the model; empty where the syntax tree does.
        text: &'static str,
    },
    /// A program with it is refused: the program, with the place marked.
    Refused(&'static str),
    /// SPIN refuses it as well: a program, with the place marked.
    Foreign(&'static str),
    /// It does not mean all that it means for SPIN.
    Approximated {
        /// Why verdicts are right all the same, or what differs.
        why: &'static str,
        /// A program with it.
        program: &'static str,
    },
}

const fn translated(model: &'static str, text: &'static str) -> Treatment {
    Treatment::Translated { model, text }
}

const fn refused(program: &'static str) -> Treatment {
    Treatment::Refused(program)
}

const fn foreign(program: &'static str) -> Treatment {
    Treatment::Foreign(program)
}

const fn approximated(why: &'static str, program: &'static str) -> Treatment {
    Treatment::Approximated { why, program }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which construct it is.
    pub construct: Construct,
    /// What kind of construct it is.
    pub area: &'static str,
    /// How it is written.
    pub written: &'static str,
    /// What is done about it.
    pub treatment: Treatment,
}

/// What marks the place of a refusal: it is behind.
pub const MARK: &str = "/*!*/";

macro_rules! constructs {
    ($($area:literal { $($name:ident $written:literal = $treatment:expr;)* })*) => {
        /// A construct of Promela; [`ROWS`] says how it is written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Construct { $($($name,)*)* }

        /// All rows, in the order of the page.
        pub const ROWS: &[Row] = &[$($(Row {
            construct: Construct::$name,
            area: $area,
            written: $written,
            treatment: $treatment,
        },)*)*];
    };
}

#[rustfmt::skip]
constructs! {
    "Preprocessor and inlines" {
        Comment "`/* .. */`, `// ..`" = translated("peterson.pml", "// ");
        Define "`#define N 4`, `#define f(x) ..`, `-D`" = translated("macros.pml", "#define MAX(a, b)");
        Undefine "`#undef`" = translated("macros.pml", "#undef STEP");
        Condition "`#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`, `defined`" = translated("macros.pml", "#ifdef SIZE");
        ErrorDirective "`#error`" = translated("macros.pml", "#error SIZE");
        LineDirective "`#line`, `#ident`, `#warning`, `#pragma`" = approximated("They say something to a compiler or a reader, and nothing about the program.", "#ident \"row\"\n#line 7 \"row.pml\"\nbyte x; active proctype P() { x = 1 }");
        IncludeFile "`#include \"FILE\"`" = translated("included_turns.pml", "#include \"turns.h\"");
        IncludeSystem "`#include <FILE>`" = refused("#include /*!*/<stdio.h>\nactive proctype P() { skip }");
        Inline "`inline f(a, b) { .. }`" = translated("inlines.pml", "inline ");
        InlineResult "`return e` in an inline, `x = f(..)`" = translated("inline_results.pml", "return ");
    }
    "Types and declarations" {
        Bit "`bit`" = translated("peterson.pml", "");
        Bool "`bool`" = translated("anderson_lock.pml", "");
        Byte "`byte`" = translated("peterson.pml", "");
        PidType "`pid`" = translated("run_parameters.pml", "");
        Short "`short`" = translated("arrays.pml", "");
        Int "`int`" = translated("wide_integers.pml", "");
        Unsigned "`unsigned x : n`" = translated("ticket_lock.pml", "");
        MtypeType "`mtype x`" = translated("mtype_messages.pml", "");
        MtypeMembers "`mtype = { a, b }`" = translated("mtype_messages.pml", "");
        MtypeSet "`mtype:set`, for members and variables" = translated("two_phase_commit.pml", "");
        ChanType "`chan x`: a channel that is held" = translated("channel_passing.pml", "");
        Typedef "`typedef R { .. }`, `r.f`" = translated("records.pml", "");
        RecordParameter "a record or an array as parameter" = refused("typedef R { byte a }; proctype P(R /*!*/r) { skip } init { skip }");
        RecordInitial "an initial value of a whole record" = refused("typedef R { byte a }; R r = /*!*/1; active proctype P() { skip }");
        Array "`x[n]`" = translated("arrays.pml", "");
        InitialValue "`= e`: an initial value" = translated("arrays.pml", "");
        InitialList "`= { 1, 2, 3 }`" = translated("arrays.pml", "");
        ShortList "`= { .. }` with fewer values than elements" = refused("byte /*!*/a[3] = { 1, 2 }; active proctype P() { skip }");
        ChannelInitial "`= [n] of { .. }`" = translated("alternating_bit.pml", "");
        UnsignedField "`unsigned` as a field of a message" = foreign("chan c = [1] of { /*!*/unsigned }; active proctype P() { skip }");
        HeldInitial "a channel variable with another channel as its initial value" = refused("chan c = [1] of { byte }; active proctype P() { chan x = /*!*/c; x ! 1 }");
        LateDeclaration "a declaration behind a statement" = translated("late_declarations.pml", "byte late = x + 1;");
        Hidden "`hidden`" = refused("hidden byte /*!*/x; active proctype P() { x = 1 }");
        Show "`show`" = approximated("It asks the simulator to print changes.", "show byte x; active proctype P() { x = 1 }");
        Local "`local` in front of a variable" = approximated("It allows SPIN to leave out interleavings, on the word of the author that one process alone uses the variable. All are looked at here.", "local byte x; active proctype P() { x = 1 }");
        Exclusive "`xr`, `xs`" = approximated("They allow SPIN to leave out interleavings, on the word of the author. All are looked at here. A note says so.", "chan c = [1] of { byte }; active proctype P() { xs c; xr c; c ! 1; c ? _ }");
    }
    "Processes and properties" {
        Proctype "`proctype P(..) { .. }`" = translated("accept_labels.pml", "");
        Active "`active`, `active [n]`" = translated("accept_labels.pml", "");
        Parameter "parameters: `byte a; chan c, d`" = translated("run_parameters.pml", "");
        Init "`init { .. }`" = translated("run_in_turn.pml", "");
        DProctype "`D_proctype`" = refused("/*!*/D_proctype P() { skip }");
        Provided "`provided (e)`" = refused("byte x; active proctype P() /*!*/provided (x > 0) { skip }");
        Priority "`priority n`" = refused("active proctype P() /*!*/priority 2 { skip }");
        Never "`never { .. }`: tests and assertions, no cycle through several states" = translated("never_claim.pml", "");
        NeverCycle "`never` with a cycle through several states" = refused("byte x; active proctype P() { x = 1 }\nnever { /*!*/A: if :: x == 1 -> goto B :: else -> goto A fi; B: if :: x == 0 -> goto A :: else -> goto B fi }");
        NeverEnd "an `end` label in `never`" = refused("byte x; active proctype P() { x = 1 }\nnever { /*!*/end: x == 3 }");
        NeverStatement "other statements in `never`" = refused("byte x; active proctype P() { x = 1 }\nnever { /*!*/x = 2 }");
        Trace "`trace { .. }`" = refused("chan c = [1] of { byte };\n/*!*/trace { c ! 1 }\nactive proctype P() { c ! 1 }");
        Notrace "`notrace { .. }`" = refused("chan c = [1] of { byte };\n/*!*/notrace { c ! 1 }\nactive proctype P() { c ! 1 }");
        LtlUnit "`ltl f { .. }`" = translated("ltl_until.pml", "");
        EndLabel "labels `end..`" = translated("end_labels.pml", "");
        AcceptLabel "labels `accept..`" = translated("accept_labels.pml", "");
        ProgressLabel "labels `progress..`" = translated("progress_labels.pml", "");
        AcceptWithFormula "labels `accept..` in a program with a formula or a claim" = approximated("The formula, or the claim, is what is asked, and its verdict is right. SPIN also reports cycles through such labels on the way; without the formula they are checked here, too. A note says so.", "byte x; active proctype P() { accept: do :: x = 1 - x od }\nltl f { [] (x < 2) }");
    }
    "Statements" {
        Assign "`x = e`" = translated("accept_labels.pml", "");
        Increment "`x++`, `x--`" = translated("accept_labels.pml", "");
        Test "an expression as a statement; `skip`" = translated("accept_labels.pml", "");
        Assert "`assert(e)`" = translated("alternating_bit.pml", "");
        Print "`printf`, `printm`" = approximated("What is printed is not kept, as in SPIN's verifier. It is a step that changes nothing; what is printed is evaluated, which may fail a check.", "mtype = { red }; byte x; active proctype P() { printf(\"%d\\n\", x); printm(red) }");
        If "`if :: .. fi`" = translated("alternating_bit.pml", "");
        Do "`do :: .. od`" = translated("accept_labels.pml", "");
        Else "`else`" = translated("else_with_io.pml", "");
        ElseInside "`else` inside the first statement of an option that is not the last" = refused("byte x; active proctype P() { if :: { if :: x == 1 -> x = 2 :: /*!*/else -> x = 4 fi } :: x == 2 -> x = 3 fi }");
        Break "`break`" = translated("arrays.pml", "");
        Goto "`goto L`" = translated("gotos.pml", "");
        JumpDStep "`goto` into or out of `d_step`" = foreign("byte x; active proctype P() { L: x = 1; d_step { x = 1; goto /*!*/L } }");
        Label "`L:`" = translated("gotos.pml", "");
        LabelBrace "a label behind an opening brace" = foreign("byte x; active proctype P() { { /*!*/L: x = 1 } }");
        Send "`c ! a, b`, `c ! m(a, b)`" = translated("producer_consumer.pml", "");
        SortedSend "`c !! a`" = translated("sorted_numbers.pml", "");
        Receive "`c ? a, b`, `c ? m(a, b)`" = translated("producer_consumer.pml", "");
        RandomReceive "`c ?? a`" = translated("copied_messages.pml", "");
        CopyReceive "`c ? <a>`" = translated("copied_messages.pml", "");
        RandomCopy "`c ?? <a>`" = translated("copied_messages.pml", "");
        OddRendezvous "`??` and `?<..>` on a rendezvous channel" = refused("chan c = [0] of { byte }; byte x; active proctype P() { /*!*/c ? <x> } active proctype Q() { c ! 1 }");
        Rendezvous "`chan c = [0] of ..`: a rendezvous" = translated("rendezvous_atomic.pml", "");
        RendezvousDStep "a rendezvous as the first statement of `d_step`" = translated("d_step_rendezvous.pml", "d_step {\n\t\tc ? n, by;");
        RendezvousInDStep "a rendezvous inside `d_step`" = refused("chan c = [0] of { byte }; byte x; active proctype P() { d_step { x = 1; /*!*/c ? x } } active proctype Q() { c ! 1 }");
        ChoiceInDStep "`!!`, or `??` with a constant, inside `d_step`" = refused("chan c = [2] of { byte }; byte x; active proctype P() { d_step { x = 1; /*!*/c !! x } }");
        PatternVariable "a field of a receive: a variable" = translated("alternating_bit.pml", "");
        PatternConstant "a field of a receive: a number, a member of an mtype" = translated("alternating_bit.pml", "");
        PatternEval "`eval(e)`" = translated("eval_patterns.pml", "");
        PatternIgnore "`_` as a field of a receive" = translated("alternating_bit.pml", "");
        WriteIgnored "`_ = e`" = refused("byte x; active proctype P() { /*!*/_ = x }");
        ReceiveItself "a receive that stores into the index of its channel" = refused("chan q[2] = [1] of { byte }; byte i; active proctype P() { /*!*/q[i] ? i }");
        Atomic "`atomic { .. }`" = translated("rendezvous_atomic.pml", "");
        DStep "`d_step { .. }`" = translated("d_steps.pml", "");
        Block "`{ .. }`" = translated("jumps_in_blocks.pml", "");
        Unless "`unless`" = translated("unless_interrupt.pml", "");
        NestedUnless "`unless` inside `unless`" = refused("byte x; active proctype P() { { x = 0; /*!*/{ x = 1 } unless { x == 2 } } unless { x == 3 } }");
        UnlessInAtomic "`unless` inside `atomic` or `d_step`" = refused("byte x; active proctype P() { atomic { x = 0; /*!*/{ x = 1 } unless { x == 2 } } }");
        UnlessFirst "`unless` as the first statement of an option, or behind `unless`" = refused("byte x; active proctype P() { do :: /*!*/{ x = 1 } unless { x == 2 } od }");
        UnlessElse "`else`, or a jump, behind `unless`" = refused("byte x; active proctype P() { { x = 1; x = 2 } unless { if :: x == 5 -> x = 2 :: /*!*/else fi } }");
        ForRange "`for (i : a .. b) { .. }`" = translated("select_for.pml", "for (i : ");
        ForArray "`for (i in a) { .. }` of an array" = translated("labelled_loops.pml", "for (i in a)");
        ForChannel "`for (m in c) { .. }` of a channel" = refused("typedef M { byte x }; chan c = [1] of { M }; M m; active proctype P() { for (m in /*!*/c) { skip } }");
        SelectDigits "`select (x : 1 .. 4)`, two numbers at most 32 apart: one step" = translated("select_for.pml", "select (x : 2 .. 5)");
        SelectLoop "`select (x : a .. b)` otherwise: a loop that counts" = translated("select_bounds.pml", "select (y : x .. x + 1)");
        Separator "`;`, `->`, and the end of a line" = translated("bakery.pml", " -> ");
        SetPriority "`set_priority(p, n)`" = refused("active proctype P() { /*!*/set_priority(0, 1) }");
        CCode "`c_code { .. }`" = refused("active proctype P() { /*!*/c_code { x = 1; } }");
        CDecl "`c_decl`, `c_state`, `c_track`" = refused("/*!*/c_decl { int x; }\nactive proctype P() { skip }");
    }
    "Expressions" {
        Number "numbers and characters" = translated("accept_labels.pml", "");
        Truth "`true`, `false`" = translated("ltl_words.pml", "true");
        Member "a member of an mtype" = translated("mtype_messages.pml", "");
        Variable "`x`, `a[i]`, `r.f`" = translated("accept_labels.pml", "");
        Not "`!`" = translated("bakery.pml", "");
        Minus "unary `-`" = translated("bit_masks.pml", "");
        Complement "`~`" = translated("bit_masks.pml", "");
        Add "`+`" = translated("alternating_bit.pml", "");
        Sub "`-`" = translated("alternating_bit.pml", "");
        Mul "`*`" = translated("included_turns.pml", "");
        Div "`/`" = translated("conditional.pml", "");
        Mod "`%`" = translated("alternating_bit.pml", "");
        BitAnd "`&`" = translated("bit_masks.pml", "");
        BitOr "`\\|`" = translated("bit_masks.pml", "");
        BitXor "`^`" = translated("bit_masks.pml", "");
        ShiftLeft "`<<`" = translated("conditional.pml", "");
        ShiftRight "`>>`" = translated("bit_masks.pml", "");
        WideBits "operators on bits of numbers that may be negative or large, without a constant" = refused("int x, y; active proctype P() { x = -5; y = /*!*/x ^ y; x = y }");
        And "`&&`" = translated("arrays.pml", "");
        Or "`\\|\\|`" = translated("bakery.pml", "");
        Equal "`==`" = translated("alternating_bit.pml", "");
        NotEqual "`!=`" = translated("arrays.pml", "");
        Less "`<`" = translated("accept_labels.pml", "");
        LessEqual "`<=`" = translated("arrays.pml", "");
        Greater "`>`" = translated("arrays.pml", "");
        GreaterEqual "`>=`" = translated("bakery.pml", "");
        Conditional "`(c -> a : b)`" = translated("arrays.pml", "");
        ConditionalFails "`(c -> a : b)` inside an expression, where `a` or `b` may fail" = refused("byte a[2], i, x; active proctype P() { x = 1 + /*!*/(i < 2 -> a[i] : 0) }\nactive proctype Q() { i = 3 }");
        Run "`run P(..)`, `x = run P(..)`" = translated("run_parameters.pml", "");
        RunInside "`run` inside an expression" = refused("byte x; proctype Q() { skip } init { x = 1 + /*!*/run Q() }");
        RunInDStep "`run` inside `d_step`" = foreign("byte x; proctype Q() { skip } init { d_step { x = 1; /*!*/run Q(); x = 2 } }");
        RunWithout "`run` without a bound on how often" = refused("proctype Q() { skip } init { do :: /*!*/run Q() od }");
        Length "`len(c)`" = translated("copied_messages.pml", "");
        Full "`full(c)`" = translated("go_back_n.pml", "");
        Empty "`empty(c)`" = translated("channel_matrix.pml", "");
        NotFull "`nfull(c)`" = translated("go_back_n.pml", "");
        NotEmpty "`nempty(c)`" = translated("wrong_polling.pml", "");
        AskRendezvous "`len`, `full`, `empty`, `?[..]` of a rendezvous channel" = refused("chan c = [0] of { byte }; byte x; active proctype P() { x = len(/*!*/c); c ? x } active proctype Q() { c ! 1 }");
        Poll "`c ? [..]`" = translated("polling.pml", "");
        RandomPoll "`c ?? [..]`" = translated("sorted_queue.pml", "");
        ChannelNumber "a channel as a number" = refused("chan c = [1] of { byte }; byte x; active proctype P() { /*!*/x = c }");
        Timeout "`timeout`" = translated("timeouts.pml", "");
        Pid "`_pid`" = translated("arrays.pml", "");
        NrPr "`_nr_pr`" = translated("process_numbers.pml", "");
        NrPrWithClaim "`_nr_pr` in a program with a formula or a claim" = approximated("It is the number of the program's processes: what is said is about the program as it runs by itself. While SPIN checks a claim it counts that as one more process, so verdicts may differ. A note says so.", "byte x; active proctype P() { x = _nr_pr }\nltl f { [] (x < 2) }");
        RemoteLabel "`P@label`, `P[n]@label`" = translated("ltl_remote.pml", "");
        RemoteVariable "`P:x`, `P[n]:x` in a formula or a claim" = translated("ltl_remote.pml", "");
        RemoteInText "`P:x` in the text of a process" = refused("byte y; active proctype P() { byte x; x = 1 } active proctype Q() { y = /*!*/P:x }");
        RemoteInDStep "`P@label` inside `d_step`" = foreign("byte x; active proctype P() { L: x = 1 } active proctype Q() { d_step { x = 1; /*!*/P@L; x = 2 } }");
        RemoteComputed "`P[e]@label` with an expression" = refused("byte i; active proctype P() { L: i = 1 } active proctype Q() { /*!*/P[i]@L }");
        NonProgress "`np_`" = refused("byte x; active proctype P() { x = 1 }\nnever { do :: /*!*/np_ od }");
        Last "`_last`" = refused("active proctype P() { /*!*/_last == 0 }");
        Enabled "`enabled(p)`" = refused("active proctype P() { /*!*/enabled(0) }");
        PcValue "`pc_value(p)`" = refused("active proctype P() { /*!*/pc_value(0) == 1 }");
        GetPriority "`get_priority(p)`, `_priority`" = refused("active proctype P() { /*!*/get_priority(0) == 1 }");
        CExpr "`c_expr { .. }`" = refused("active proctype P() { /*!*/c_expr { x == 1 } }");
        Stdin "`STDIN`" = refused("byte x; active proctype P() { /*!*/STDIN ? x }");
        Fails "an index outside its array, a division by zero, no channel, in a statement" = translated("wrong_division.pml", " / ");
        FailsInFormula "the same in a formula" = approximated("The formula counts as violated, so nothing is proved that does not hold; SPIN complains only if it happens to evaluate that part.", "byte a[2], i; active proctype P() { i = 1 }\nltl f { [] (a[i] == 0) }");
    }
    "Formulas" {
        Predicate "an expression" = translated("dekker.pml", "");
        NotFormula "`!`" = translated("ltl_until.pml", "");
        AndFormula "`&&`" = translated("ltl_until.pml", "");
        OrFormula "`\\|\\|`" = translated("ltl_words.pml", "");
        Implies "`->`, `implies`" = translated("ltl_first_process.pml", "");
        Equivalent "`<->`, `equivalent`" = translated("ltl_until.pml", "");
        Always "`[]`, `always`" = translated("dekker.pml", "");
        Eventually "`<>`, `eventually`" = translated("dining_philosophers.pml", "");
        Until "`U`, `until`, `stronguntil`" = translated("ltl_until.pml", "");
        WeakUntil "`W`, `weakuntil`" = translated("ltl_until.pml", "");
        Release "`V`, `release`" = translated("ltl_until.pml", "");
        Next "`X`, `next`" = approximated("It is about the next state that SPIN stores, which is exact. Builds of SPIN without the operator are common, so tests compare it with what follows from its meaning instead.", "byte x; active proctype P() { x = 1 }\nltl f { X (x == 1) }");
        TemporalOperand "a temporal operator as an operand of a comparison" = refused("byte x; active proctype P() { x = 1 }\nltl f { [] x /*!*/== 1 }");
    }
}
