//! The functions that programs may call without a body, in one table: what each does here, how many arguments it has, and a program that shows it.
//!
//! A call is looked up here and nowhere else, and what is not here is refused where it is called. A function is modelled with all its effects and with the results that the standard and glibc give, or
//! it is refused, or the table says which runs are left out and why that is sound. A test runs every example, and compares it with what gcc makes of it.

use lang_c::ast::BinaryOperator;

/// What is done about a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It means what it means in C.
    Translated,
    /// A program with it is refused, with the place.
    Refused,
    /// It does not mean all that it means in C. Why verdicts are right all the same is said with it.
    Approximated,
}

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Assert,
    /// A place that must not be reached: what is wrong then.
    Error(&'static str),
    Assume,
    /// The run ends.
    Stop,
    /// The begin or the end of an atomic part, which are read where blocks are.
    AtomicPart,
    Expect,
    Abs,
    /// Any value of a type.
    Input(Input),
    /// Any value of `int` that is not negative, as a `long` or not.
    Natural {
        long: bool,
    },
    /// It prints or waits, so that only its result may matter.
    Left(Gives),
    /// What it gives may only be printed.
    Asked,
    Allocate,
    Release,
    Mutex(Mutex),
    /// Condition variables have no state.
    Condition,
    Wait {
        timed: bool,
    },
    Semaphore(Semaphore),
    ReadWrite(ReadWrite),
    Barrier(Barrier),
    /// Attributes are those that objects have anyway.
    Attributes,
    MutexKind,
    DetachState,
    StackSize,
    Once,
    Create,
    Join,
    Detach,
    Exit,
    /// An operation, and how many arguments come before the memory orders.
    Atomic(Operation, usize),
    /// Not supported: what to do instead.
    Refused(&'static str),
}

/// The types of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Int,
    Unsigned,
    Bool,
    Char,
    UnsignedChar,
    Short,
    UnsignedShort,
    Long,
    UnsignedLong,
    LongLong,
}

/// The result of a function that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    Nothing,
    Zero,
    ZeroOr(i128),
    /// As many characters as the format has that stands at this position, or less than 0.
    Printed(usize),
    /// What is not negative, or -1.
    Natural,
    /// The character that is printed, or -1.
    Character,
    /// 0; where it waits for a second or longer, 0 or -1.
    Microseconds,
    /// Any value of `long`.
    Time,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutex {
    Init,
    SpinInit,
    Destroy,
    Lock,
    Unlock,
    Try,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Semaphore {
    Init,
    Destroy,
    Wait,
    Try,
    Post,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadWrite {
    Init,
    Destroy,
    Read,
    Write,
    TryRead,
    TryWrite,
    Unlock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    Init,
    Destroy,
    Wait,
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Load,
    Store,
    Exchange,
    /// The operator, and whether the result is the old value.
    Change(Change, bool),
    /// Compare and exchange through a pointer to what is expected. It may fail for no reason, or an argument says whether.
    Compare(Weak),
    /// gcc's older form, which gives the old value, or whether it did something.
    Swap {
        truth: bool,
    },
    Fence,
    TestAndSet,
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Sub,
    Or,
    And,
    Xor,
}

impl Change {
    pub(crate) fn operator(self) -> BinaryOperator {
        match self {
            Change::Add => BinaryOperator::Plus,
            Change::Sub => BinaryOperator::Minus,
            Change::Or => BinaryOperator::BitwiseOr,
            Change::And => BinaryOperator::BitwiseAnd,
            Change::Xor => BinaryOperator::BitwiseXor,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weak {
    Never,
    Always,
    Argument,
}

/// Functions that are alike.
pub struct Function {
    /// How they are called.
    pub names: &'static [&'static str],
    /// The fewest and the most arguments.
    pub(crate) arguments: (usize, usize),
    pub(crate) does: Known,
    /// What is done about them.
    pub treatment: Treatment,
    /// What they mean here, or what to do instead, for people.
    pub meaning: &'static str,
    /// A program that calls all of them.
    pub example: &'static str,
}

/// Any number of further arguments.
const MORE: usize = usize::MAX;

/// The function of a name.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|row| row.names.contains(&name))
}

const fn translated(
    names: &'static [&'static str],
    arguments: (usize, usize),
    does: Known,
    meaning: &'static str,
    example: &'static str,
) -> Function {
    Function {
        names,
        arguments,
        does,
        treatment: Treatment::Translated,
        meaning,
        example,
    }
}

const fn approximated(
    names: &'static [&'static str],
    arguments: (usize, usize),
    does: Known,
    meaning: &'static str,
    example: &'static str,
) -> Function {
    Function {
        treatment: Treatment::Approximated,
        ..translated(names, arguments, does, meaning, example)
    }
}

/// Known, so that the message can say what to do instead.
const fn refused(
    names: &'static [&'static str],
    instead: &'static str,
    example: &'static str,
) -> Function {
    Function {
        treatment: Treatment::Refused,
        ..translated(names, (0, MORE), Known::Refused(instead), instead, example)
    }
}

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    translated(
        &["assert", "__VERIFIER_assert"],
        (1, 1),
        Known::Assert,
        "a check",
        "extern void __VERIFIER_assert(int); int x = 1; int main(void) { assert(x == 1); __VERIFIER_assert(x); }",
    ),
    translated(
        &["reach_error", "__VERIFIER_error"],
        (0, 0),
        Known::Error("the error is reached"),
        "a check that fails, whatever the function's body does",
        "void reach_error(void); void __VERIFIER_error(void); int x; int main(void) { if (x) reach_error(); if (x) __VERIFIER_error(); }",
    ),
    translated(
        &[
            "__assert_fail",
            "__assert",
            "__assert_rtn",
            "__assert_perror_fail",
        ],
        (0, MORE),
        Known::Error(""),
        "a check that fails: what `assert` becomes in preprocessed files",
        "int x; int main(void) { if (x) { __assert_fail(\"\", \"\", 1, \"\"); __assert(\"\", \"\", 1); __assert_rtn(\"\", \"\", 1, \"\"); __assert_perror_fail(1, \"\", 1, \"\"); } }",
    ),
    translated(
        &["assume_abort_if_not", "__VERIFIER_assume", "assume"],
        (1, 1),
        Known::Assume,
        "the process goes on only if its argument holds; a body that does something else counts instead",
        "int x; int main(void) { __VERIFIER_assume(x); assume_abort_if_not(x); assume(x); assert(0); }",
    ),
    approximated(
        &[
            "abort",
            "exit",
            "_exit",
            "_Exit",
            "quick_exit",
            "__builtin_trap",
        ],
        (0, 1),
        Known::Stop,
        "the process goes no further, and others go on: each of their runs is one of the program in which this process has not come here yet, so the same failures can be reached",
        "int x; int main(void) { if (x == 1) abort(); if (x == 2) exit(1); if (x == 3) _exit(1); if (x == 4) _Exit(1); if (x == 5) quick_exit(1); if (x == 6) __builtin_trap(); if (x == 0) exit(0); assert(0); }",
    ),
    translated(
        &["__builtin_unreachable"],
        (0, 0),
        Known::Error("a place that must not be reached is reached"),
        "a check that fails",
        "int x; int main(void) { if (x) __builtin_unreachable(); }",
    ),
    translated(
        &["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"],
        (0, 0),
        Known::AtomicPart,
        "what stands between them is one step, or steps during which no other process moves; they stand in one block",
        "int x; void *f(void *a) { __VERIFIER_atomic_begin(); x++; x++; __VERIFIER_atomic_end(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); __VERIFIER_atomic_begin(); assert(x != 1); __VERIFIER_atomic_end(); }",
    ),
    translated(
        &["__builtin_expect"],
        (2, 2),
        Known::Expect,
        "its first argument, as a `long`",
        "int x = -1; int main(void) { if (__builtin_expect(x > 0, 0)) assert(0); assert(__builtin_expect(x, 1) < 1u); }",
    ),
    translated(
        &["abs"],
        (1, 1),
        Known::Abs,
        "the value without its sign; a check fails for the least `int`",
        "int x = -3; int main(void) { assert(abs(x) == 3); assert(abs(4294967295L) == 1); }",
    ),
    translated(
        &[
            "__VERIFIER_nondet_int",
            "__VERIFIER_nondet_s32",
            "nondet",
            "nondet_int",
        ],
        (0, 0),
        Known::Input(Input::Int),
        "any value of `int`",
        "int main(void) { int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_s32(), c = nondet(), d = nondet_int(); if (a < 9) assert(a <= 8); }",
    ),
    translated(
        &[
            "__VERIFIER_nondet_uint",
            "__VERIFIER_nondet_unsigned",
            "__VERIFIER_nondet_u32",
            "__VERIFIER_nondet_unsigned_int",
        ],
        (0, 0),
        Known::Input(Input::Unsigned),
        "any value of `unsigned`",
        "int main(void) { unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_unsigned(), c = __VERIFIER_nondet_u32(), d = __VERIFIER_nondet_unsigned_int(); assert(a >= 0); }",
    ),
    translated(
        &[
            "__VERIFIER_nondet_bool",
            "__VERIFIER_nondet__Bool",
            "nondet_bool",
        ],
        (0, 0),
        Known::Input(Input::Bool),
        "0 or 1",
        "int main(void) { int a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet__Bool(), c = nondet_bool(); assert(a == 0 || a == 1); }",
    ),
    translated(
        &["__VERIFIER_nondet_char", "__VERIFIER_nondet_s8"],
        (0, 0),
        Known::Input(Input::Char),
        "any value of `char`",
        "int main(void) { int a = __VERIFIER_nondet_char(), b = __VERIFIER_nondet_s8(); assert(a >= -128 && b <= 127); }",
    ),
    translated(
        &[
            "__VERIFIER_nondet_uchar",
            "__VERIFIER_nondet_u8",
            "__VERIFIER_nondet_unsigned_char",
        ],
        (0, 0),
        Known::Input(Input::UnsignedChar),
        "any value of `unsigned char`",
        "int main(void) { int a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_u8(), c = __VERIFIER_nondet_unsigned_char(); assert(a >= 0 && b <= 255); }",
    ),
    translated(
        &["__VERIFIER_nondet_short", "__VERIFIER_nondet_s16"],
        (0, 0),
        Known::Input(Input::Short),
        "any value of `short`",
        "int main(void) { int a = __VERIFIER_nondet_short(), b = __VERIFIER_nondet_s16(); assert(a >= -32768 && b <= 32767); }",
    ),
    translated(
        &["__VERIFIER_nondet_ushort", "__VERIFIER_nondet_u16"],
        (0, 0),
        Known::Input(Input::UnsignedShort),
        "any value of `unsigned short`",
        "int main(void) { int a = __VERIFIER_nondet_ushort(), b = __VERIFIER_nondet_u16(); assert(a >= 0 && b <= 65535); }",
    ),
    translated(
        &["__VERIFIER_nondet_long"],
        (0, 0),
        Known::Input(Input::Long),
        "any value of `long`",
        "int main(void) { long a = __VERIFIER_nondet_long(); if (a < 7) assert(a <= 6); }",
    ),
    translated(
        &["__VERIFIER_nondet_longlong", "__VERIFIER_nondet_s64"],
        (0, 0),
        Known::Input(Input::LongLong),
        "any value of `long long`",
        "int main(void) { long long a = __VERIFIER_nondet_longlong(), b = __VERIFIER_nondet_s64(); if (a < 7) assert(a <= 6); }",
    ),
    Function {
        treatment: Treatment::Refused,
        ..translated(
            &["__VERIFIER_nondet_ulong", "__VERIFIER_nondet_size_t"],
            (0, 0),
            Known::Input(Input::UnsignedLong),
            "refused where `long` has 64 bits; any value of `unsigned long` where it has 32",
            "int main(void) { unsigned long a = __VERIFIER_nondet_ulong(); /*!*/\n a = __VERIFIER_nondet_size_t(); }",
        )
    },
    refused(
        &["__VERIFIER_nondet_ulonglong", "__VERIFIER_nondet_u64"],
        "use `__VERIFIER_nondet_uint`",
        "int main(void) { unsigned long long a = __VERIFIER_nondet_u64(); /*!*/\n a = __VERIFIER_nondet_ulonglong(); }",
    ),
    refused(
        &[
            "__VERIFIER_nondet_pointer",
            "__VERIFIER_nondet_float",
            "__VERIFIER_nondet_double",
            "__VERIFIER_nondet_pchar",
        ],
        "use an input that is an integer",
        "int main(void) { int a = __VERIFIER_nondet_float(); /*!*/\n a = __VERIFIER_nondet_double(); __VERIFIER_nondet_pointer(); __VERIFIER_nondet_pchar(); }",
    ),
    translated(
        &["rand"],
        (0, 0),
        Known::Natural { long: false },
        "any value from 0 to `RAND_MAX`",
        "int main(void) { int a = rand(); assert(a >= 0); }",
    ),
    translated(
        &["random"],
        (0, 0),
        Known::Natural { long: true },
        "any value from 0 to 2147483647, as a `long`",
        "int main(void) { long a = random(); assert(a >= 0); }",
    ),
    approximated(
        &["printf"],
        (1, MORE),
        Known::Left(Gives::Printed(0)),
        "left out, with a note. The format is a text without `%n`, so nothing is written but the output; its arguments are evaluated as far as they do something or may fail. The result is the number of characters, or -1, if the format has no conversions, and otherwise may not be used",
        "int x = 1; int main(void) { int n = printf(\"ab\\n\"); assert(n == 3 || n == -1); printf(\"%d\\n\", x++); assert(x == 2); }",
    ),
    approximated(
        &["fprintf"],
        (2, MORE),
        Known::Left(Gives::Printed(1)),
        "left out as `printf` is",
        "int main(void) { int n = fprintf(stderr, \"%%\\n\"); assert(n == 2 || n == -1); }",
    ),
    approximated(
        &["puts", "fputs"],
        (1, 2),
        Known::Left(Gives::Natural),
        "left out, with a note; the result is any number that is not negative, or -1",
        "int main(void) { assert(puts(\"a\") >= -1); assert(fputs(\"a\\n\", stdout) >= -1); }",
    ),
    approximated(
        &["putchar", "putc", "fputc"],
        (1, 2),
        Known::Left(Gives::Character),
        "left out, with a note; the result is the character as an `unsigned char`, or -1",
        "int main(void) { int a = putchar('a'), b = putc('\\n', stdout), c = fputc(266, stdout); assert(a == 97 || a == -1); assert(b == 10 || b == -1); assert(c == 10 || c == -1); }",
    ),
    approximated(
        &["fflush"],
        (1, 1),
        Known::Left(Gives::ZeroOr(-1)),
        "left out, with a note; the result is 0 or -1",
        "int main(void) { int a = fflush(stdout); assert(a == 0 || a == -1); }",
    ),
    approximated(
        &["perror", "srand", "srandom", "setbuf"],
        (1, 2),
        Known::Left(Gives::Nothing),
        "left out, with a note; whatever `srand` is given, `rand` gives any value",
        "int main(void) { srand(1); srandom(1); setbuf(stdout, 0); perror(\"a\"); assert(1); }",
    ),
    approximated(
        &["write", "setvbuf"],
        (3, 4),
        Known::Left(Gives::Unknown),
        "left out, with a note; its result may not be used",
        "int main(void) { setvbuf(stdout, 0, _IONBF, 0); write(1, \"a\\n\", 2); assert(1); }",
    ),
    approximated(
        &["sleep"],
        (1, 1),
        Known::Left(Gives::Zero),
        "left out, with a note: a process may take any time for a step anyway. The result is 0, since only a handler of a signal makes it another, and programs with one are refused",
        "int main(void) { assert(sleep(0) == 0); }",
    ),
    approximated(
        &["usleep"],
        (1, 1),
        Known::Left(Gives::Microseconds),
        "left out as `sleep` is; the result may also be -1 if it waits for a second or longer, or it is not known how long",
        "int main(void) { assert(usleep(1) == 0); }",
    ),
    approximated(
        &["nanosleep"],
        (2, 2),
        Known::Left(Gives::ZeroOr(-1)),
        "left out as `sleep` is; the second argument is `NULL`. The result is 0 or -1",
        "int main(void) { struct timespec t = {0, 1}; int a = nanosleep(&t, 0); assert(a == 0 || a == -1); }",
    ),
    approximated(
        &["sched_yield", "pthread_yield"],
        (0, 0),
        Known::Left(Gives::Zero),
        "left out: any process may move next anyway. The result is 0",
        "int main(void) { assert(sched_yield() == 0); assert(pthread_yield() == 0); }",
    ),
    approximated(
        &["time"],
        (1, 1),
        Known::Left(Gives::Time),
        "the argument is `NULL`; the result is any value, which C leaves open",
        "int main(void) { long t = time(0); if (t > 3) assert(t >= 4); }",
    ),
    approximated(
        &["strerror", "pthread_self", "getpid", "gettid", "clock"],
        (0, 1),
        Known::Asked,
        "may be printed, and is left out with what prints it; every other use is refused",
        "int main(void) { printf(\"%s %lu %d %d %ld\\n\", strerror(1), (unsigned long)pthread_self(), getpid(), gettid(), clock()); assert(1); }",
    ),
    approximated(
        &["malloc", "calloc"],
        (1, 2),
        Known::Allocate,
        "a new object of a known type, where it is known how often this happens. It always succeeds: a verdict is about runs in which there is memory enough",
        "int main(void) { int *p = malloc(sizeof(int)); *p = 1; int *q = calloc(2, sizeof(int)); assert(q[1] + *p == 1); }",
    ),
    approximated(
        &["free"],
        (1, 1),
        Known::Release,
        "left out, with a note: that memory is used or released again afterwards is not noticed, and no verdict is about it",
        "int main(void) { int *p = malloc(sizeof(int)); *p = 1; assert(*p == 1); free(p); }",
    ),
    refused(
        &[
            "realloc",
            "alloca",
            "reallocarray",
            "aligned_alloc",
            "posix_memalign",
        ],
        "declare a variable or an array instead",
        "int main(void) { realloc(0, 1); /*!*/\n alloca(1); reallocarray(0, 1, 1); aligned_alloc(1, 1); posix_memalign(0, 1, 1); }",
    ),
    refused(
        &[
            "memset", "memcpy", "memmove", "strcpy", "strcmp", "strlen", "sprintf", "snprintf",
        ],
        "write a loop instead",
        "int x[2]; int main(void) { memset(x, 0, 8); /*!*/\n memcpy(x, x, 1); memmove(x, x, 1); strcpy(0, 0); strcmp(0, 0); strlen(0); sprintf(0, 0); snprintf(0, 0, 0); }",
    ),
    refused(
        &[
            "setjmp",
            "longjmp",
            "signal",
            "sigaction",
            "fork",
            "system",
            "atexit",
        ],
        "leave it out",
        "int main(void) { signal(1, 0); /*!*/\n setjmp(0); longjmp(0, 1); sigaction(1, 0, 0); fork(); system(0); atexit(0); }",
    ),
    translated(
        &["pthread_mutex_init"],
        (2, 2),
        Known::Mutex(Mutex::Init),
        "the result is 0; a check fails if somebody holds the mutex. The attribute is `NULL`, or one that changes nothing",
        "pthread_mutex_t m; int main(void) { assert(pthread_mutex_init(&m, 0) == 0); }",
    ),
    translated(
        &["pthread_mutex_destroy"],
        (1, 1),
        Known::Mutex(Mutex::Destroy),
        "the result is 0; a check fails if somebody holds the mutex, and if it is used afterwards before it is initialised again",
        "pthread_mutex_t m; int main(void) { assert(pthread_mutex_destroy(&m) == 0); }",
    ),
    translated(
        &["pthread_mutex_lock"],
        (1, 1),
        Known::Mutex(Mutex::Lock),
        "waits until the mutex is free, and takes it; the result is 0. Locking it twice blocks the thread for ever",
        "pthread_mutex_t m; int main(void) { assert(pthread_mutex_lock(&m) == 0); }",
    ),
    translated(
        &["pthread_mutex_unlock"],
        (1, 1),
        Known::Mutex(Mutex::Unlock),
        "the result is 0; a check fails if the thread does not hold the mutex",
        "pthread_mutex_t m; int main(void) { pthread_mutex_lock(&m); assert(pthread_mutex_unlock(&m) == 0); assert(pthread_mutex_trylock(&m) == 0); }",
    ),
    translated(
        &["pthread_mutex_trylock"],
        (1, 1),
        Known::Mutex(Mutex::Try),
        "0, or `EBUSY` if somebody holds it, the thread itself included",
        "pthread_mutex_t m; int main(void) { assert(pthread_mutex_trylock(&m) == 0); assert(pthread_mutex_trylock(&m) == EBUSY); }",
    ),
    translated(
        &["pthread_spin_init"],
        (2, 2),
        Known::Mutex(Mutex::SpinInit),
        "as a mutex",
        "pthread_spinlock_t s; int main(void) { assert(pthread_spin_init(&s, 0) == 0); }",
    ),
    translated(
        &["pthread_spin_destroy"],
        (1, 1),
        Known::Mutex(Mutex::Destroy),
        "as a mutex",
        "pthread_spinlock_t s; int main(void) { pthread_spin_init(&s, 0); assert(pthread_spin_destroy(&s) == 0); }",
    ),
    translated(
        &["pthread_spin_lock"],
        (1, 1),
        Known::Mutex(Mutex::Lock),
        "as a mutex",
        "pthread_spinlock_t s; int main(void) { pthread_spin_init(&s, 0); assert(pthread_spin_lock(&s) == 0); }",
    ),
    translated(
        &["pthread_spin_unlock"],
        (1, 1),
        Known::Mutex(Mutex::Unlock),
        "as a mutex",
        "pthread_spinlock_t s; int main(void) { pthread_spin_init(&s, 0); pthread_spin_lock(&s); assert(pthread_spin_unlock(&s) == 0); assert(pthread_spin_trylock(&s) == 0); }",
    ),
    translated(
        &["pthread_spin_trylock"],
        (1, 1),
        Known::Mutex(Mutex::Try),
        "as a mutex",
        "pthread_spinlock_t s; int main(void) { pthread_spin_init(&s, 0); assert(pthread_spin_trylock(&s) == 0); assert(pthread_spin_trylock(&s) == EBUSY); }",
    ),
    approximated(
        &[
            "pthread_cond_init",
            "pthread_cond_destroy",
            "pthread_cond_signal",
            "pthread_cond_broadcast",
        ],
        (1, 2),
        Known::Condition,
        "nothing; the result is 0. A wait may end at any time, as POSIX allows, so a signal makes nothing possible that is not anyway",
        "pthread_cond_t c; int main(void) { assert(pthread_cond_init(&c, 0) == 0); assert(pthread_cond_signal(&c) == 0); assert(pthread_cond_broadcast(&c) == 0); assert(pthread_cond_destroy(&c) == 0); }",
    ),
    approximated(
        &["pthread_cond_wait"],
        (2, 2),
        Known::Wait { timed: false },
        "releases the mutex and takes it again; the result is 0. A check fails if the thread does not hold the mutex. That it may end at any time is what POSIX allows",
        "pthread_cond_t c; pthread_mutex_t m; int x; void *f(void *a) { pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); while (!x) assert(pthread_cond_wait(&c, &m) == 0); assert(x == 1); pthread_mutex_unlock(&m); }",
    ),
    approximated(
        &["pthread_cond_timedwait"],
        (3, 3),
        Known::Wait { timed: true },
        "as `pthread_cond_wait`; its result may not be used, since the time is not known",
        "pthread_cond_t c; pthread_mutex_t m; int x = 1; int main(void) { struct timespec t = {0, 0}; pthread_mutex_lock(&m); pthread_cond_timedwait(&c, &m, &t); assert(x); }",
    ),
    translated(
        &["sem_init"],
        (3, 3),
        Known::Semaphore(Semaphore::Init),
        "0, or -1 if the value is larger than `SEM_VALUE_MAX`, and then nothing is done",
        "sem_t s; unsigned v = 2147483648u; int main(void) { assert(sem_init(&s, 0, 1) == 0); assert(sem_init(&s, 0, v) == -1); v = 3; assert(sem_wait(&s) == 0); assert(sem_init(&s, 0, v) == 0); }",
    ),
    approximated(
        &["sem_destroy"],
        (1, 1),
        Known::Semaphore(Semaphore::Destroy),
        "nothing, as in glibc; the result is 0",
        "sem_t s; int main(void) { sem_init(&s, 0, 1); assert(sem_destroy(&s) == 0); }",
    ),
    translated(
        &["sem_wait"],
        (1, 1),
        Known::Semaphore(Semaphore::Wait),
        "waits until the value is positive; the result is 0, since only a handler of a signal makes it another",
        "sem_t s; int main(void) { sem_init(&s, 0, 1); assert(sem_wait(&s) == 0); }",
    ),
    translated(
        &["sem_trywait"],
        (1, 1),
        Known::Semaphore(Semaphore::Try),
        "0, or -1 if the value is 0",
        "sem_t s; int main(void) { sem_init(&s, 0, 1); assert(sem_trywait(&s) == 0); assert(sem_trywait(&s) == -1); }",
    ),
    translated(
        &["sem_post"],
        (1, 1),
        Known::Semaphore(Semaphore::Post),
        "0, or -1 if the value is `SEM_VALUE_MAX`, and then nothing is done. Where there is any number of threads, that it is so large is not considered, and a note says so",
        "sem_t s; int main(void) { sem_init(&s, 0, 2147483646); assert(sem_post(&s) == 0); assert(sem_post(&s) == -1); int v; sem_getvalue(&s, &v); assert(v == 2147483647); }",
    ),
    translated(
        &["sem_getvalue"],
        (2, 2),
        Known::Semaphore(Semaphore::Value),
        "gives the value; the result is 0",
        "sem_t s; int main(void) { int v; sem_init(&s, 0, 2); assert(sem_getvalue(&s, &v) == 0); assert(v == 2); }",
    ),
    translated(
        &["pthread_rwlock_init"],
        (2, 2),
        Known::ReadWrite(ReadWrite::Init),
        "the result is 0; a check fails if somebody holds the lock. The attribute is `NULL`",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_init(&l, 0) == 0); }",
    ),
    translated(
        &["pthread_rwlock_destroy"],
        (1, 1),
        Known::ReadWrite(ReadWrite::Destroy),
        "nothing, as in glibc; the result is 0. A check fails if somebody holds the lock",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_destroy(&l) == 0); }",
    ),
    translated(
        &["pthread_rwlock_rdlock"],
        (1, 1),
        Known::ReadWrite(ReadWrite::Read),
        "waits while somebody writes; the result is 0, or at once `EDEADLK` if the thread itself writes",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_rdlock(&l) == 0); assert(pthread_rwlock_rdlock(&l) == 0); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_wrlock(&l); assert(pthread_rwlock_rdlock(&l) == EDEADLK); }",
    ),
    translated(
        &["pthread_rwlock_wrlock"],
        (1, 1),
        Known::ReadWrite(ReadWrite::Write),
        "waits while somebody has it; the result is 0, or at once `EDEADLK` if the thread itself writes",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_wrlock(&l) == 0); assert(pthread_rwlock_wrlock(&l) == EDEADLK); }",
    ),
    translated(
        &["pthread_rwlock_tryrdlock"],
        (1, 1),
        Known::ReadWrite(ReadWrite::TryRead),
        "0, or `EBUSY`",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_tryrdlock(&l) == 0); pthread_rwlock_unlock(&l); pthread_rwlock_wrlock(&l); assert(pthread_rwlock_tryrdlock(&l) == EBUSY); }",
    ),
    translated(
        &["pthread_rwlock_trywrlock"],
        (1, 1),
        Known::ReadWrite(ReadWrite::TryWrite),
        "0, or `EBUSY`",
        "pthread_rwlock_t l; int main(void) { assert(pthread_rwlock_trywrlock(&l) == 0); assert(pthread_rwlock_trywrlock(&l) == EBUSY); }",
    ),
    translated(
        &["pthread_rwlock_unlock"],
        (1, 1),
        Known::ReadWrite(ReadWrite::Unlock),
        "the result is 0; a check fails if nobody has the lock, or another thread writes",
        "pthread_rwlock_t l; int main(void) { pthread_rwlock_wrlock(&l); assert(pthread_rwlock_unlock(&l) == 0); assert(pthread_rwlock_tryrdlock(&l) == 0); }",
    ),
    translated(
        &["pthread_barrier_init"],
        (3, 3),
        Known::Barrier(Barrier::Init),
        "0, or `EINVAL` if the number is 0 or 2147483647 and above, and then nothing is done; a check fails if somebody waits there. The attribute is `NULL`",
        "pthread_barrier_t b; int main(void) { assert(pthread_barrier_init(&b, 0, 0) == EINVAL); assert(pthread_barrier_init(&b, 0, 1) == 0); assert(pthread_barrier_init(&b, 0, 2147483647) == EINVAL); }",
    ),
    translated(
        &["pthread_barrier_destroy"],
        (1, 1),
        Known::Barrier(Barrier::Destroy),
        "waits until all have left the last round; the result is 0. A check fails if somebody waits for others to come, or if it is used afterwards before it is initialised again",
        "pthread_barrier_t b; int main(void) { pthread_barrier_init(&b, 0, 1); assert(pthread_barrier_destroy(&b) == 0); }",
    ),
    translated(
        &["pthread_barrier_wait"],
        (1, 1),
        Known::Barrier(Barrier::Wait),
        "goes on when enough have come; the result is `PTHREAD_BARRIER_SERIAL_THREAD` for the last one, and 0 for the others. A check fails if the barrier is not initialised",
        "pthread_barrier_t b; int main(void) { pthread_barrier_init(&b, 0, 1); assert(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD); }",
    ),
    approximated(
        &[
            "pthread_attr_init",
            "pthread_attr_destroy",
            "pthread_mutexattr_init",
            "pthread_mutexattr_destroy",
            "pthread_condattr_init",
            "pthread_condattr_destroy",
        ],
        (1, 1),
        Known::Attributes,
        "nothing; the result is 0. What would make attributes change something is refused",
        "int main(void) { pthread_attr_t a; pthread_mutexattr_t m; pthread_condattr_t c; assert(pthread_attr_init(&a) == 0); assert(pthread_attr_destroy(&a) == 0); assert(pthread_mutexattr_init(&m) == 0); assert(pthread_mutexattr_destroy(&m) == 0); assert(pthread_condattr_init(&c) == 0); assert(pthread_condattr_destroy(&c) == 0); }",
    ),
    translated(
        &["pthread_mutexattr_settype"],
        (2, 2),
        Known::MutexKind,
        "the plain kinds, `PTHREAD_MUTEX_NORMAL`, `_DEFAULT` and `_TIMED_NP`; the result is 0. Other kinds are refused",
        "int main(void) { pthread_mutexattr_t m; pthread_mutexattr_init(&m); assert(pthread_mutexattr_settype(&m, PTHREAD_MUTEX_NORMAL) == 0); }",
    ),
    translated(
        &["pthread_attr_setdetachstate"],
        (2, 2),
        Known::DetachState,
        "`PTHREAD_CREATE_JOINABLE`, which threads are anyway, and the result is 0; or `PTHREAD_CREATE_DETACHED` in programs that neither join nor detach threads",
        "int main(void) { pthread_attr_t a; pthread_attr_init(&a); assert(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE) == 0); }",
    ),
    approximated(
        &["pthread_attr_setstacksize"],
        (2, 2),
        Known::StackSize,
        "nothing: stacks are large enough in the runs that a verdict is about. The result may not be used",
        "int main(void) { pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536); assert(1); }",
    ),
    translated(
        &["pthread_once"],
        (2, 2),
        Known::Once,
        "the first one calls the function, all others wait until it has ended; the result is 0",
        "pthread_once_t o = PTHREAD_ONCE_INIT; int x; void f(void) { x++; } int main(void) { assert(pthread_once(&o, f) == 0); assert(pthread_once(&o, f) == 0); assert(x == 1); }",
    ),
    approximated(
        &["pthread_create"],
        (4, 4),
        Known::Create,
        "makes a thread; the result is 0. It always succeeds: a verdict is about runs in which there are resources enough",
        "int x; void *f(void *a) { x = 1; return 0; } int main(void) { pthread_t t; assert(pthread_create(&t, 0, f, 0) == 0); assert(x == 0 || x == 1); }",
    ),
    translated(
        &["pthread_join"],
        (2, 2),
        Known::Join,
        "waits for the end of the thread; the result is 0. A check fails if the thread has been joined or detached, or is the one that waits. What it returned is not used",
        "int x; void *f(void *a) { x = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(pthread_join(t, 0) == 0); assert(x == 1); }",
    ),
    translated(
        &["pthread_detach"],
        (1, 1),
        Known::Detach,
        "the result is 0; a check fails if the thread has been joined or detached",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(pthread_detach(t) == 0); }",
    ),
    translated(
        &["pthread_exit"],
        (1, 1),
        Known::Exit,
        "the thread ends",
        "int x; void *f(void *a) { pthread_exit(0); x = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(x == 0); pthread_exit(0); }",
    ),
    refused(
        &["pthread_equal"],
        "give each thread a number as its argument, and compare these",
        "int main(void) { pthread_t t, u; pthread_equal(t, u); /*!*/\n }",
    ),
    translated(
        &["atomic_load", "atomic_load_explicit"],
        (1, 2),
        Known::Atomic(Operation::Load, 1),
        ATOMIC,
        "_Atomic int x = 2; int main(void) { assert(atomic_load(&x) == 2 && atomic_load_explicit(&x, memory_order_seq_cst) == 2); }",
    ),
    translated(
        &["__atomic_load_n"],
        (2, 2),
        Known::Atomic(Operation::Load, 1),
        ATOMIC,
        "int x = 2; int main(void) { assert(__atomic_load_n(&x, __ATOMIC_SEQ_CST) == 2); }",
    ),
    translated(
        &["atomic_store", "atomic_store_explicit", "atomic_init"],
        (2, 3),
        Known::Atomic(Operation::Store, 2),
        ATOMIC,
        "_Atomic int x; int main(void) { atomic_init(&x, 1); atomic_store(&x, x + 2); assert(x == 3); atomic_store_explicit(&x, 4, memory_order_seq_cst); assert(x == 4); }",
    ),
    translated(
        &["__atomic_store_n"],
        (3, 3),
        Known::Atomic(Operation::Store, 2),
        ATOMIC,
        "int x; int main(void) { __atomic_store_n(&x, 4, __ATOMIC_SEQ_CST); assert(x == 4); }",
    ),
    translated(
        &["atomic_exchange", "atomic_exchange_explicit"],
        (2, 3),
        Known::Atomic(Operation::Exchange, 2),
        ATOMIC,
        "_Atomic int x = 1; int main(void) { assert(atomic_exchange(&x, 2) == 1); assert(atomic_exchange_explicit(&x, 3, memory_order_seq_cst) == 2 && x == 3); }",
    ),
    translated(
        &["__atomic_exchange_n", "__sync_lock_test_and_set"],
        (2, 3),
        Known::Atomic(Operation::Exchange, 2),
        ATOMIC,
        "int x = 1; int main(void) { assert(__atomic_exchange_n(&x, 2, __ATOMIC_SEQ_CST) == 1); assert(__sync_lock_test_and_set(&x, 3) == 2 && x == 3); }",
    ),
    translated(
        &[
            "atomic_compare_exchange_strong",
            "atomic_compare_exchange_strong_explicit",
        ],
        (3, 5),
        Known::Atomic(Operation::Compare(Weak::Never), 3),
        ATOMIC,
        "_Atomic int x = 1; int main(void) { int e = 1; assert(atomic_compare_exchange_strong(&x, &e, 2)); assert(!atomic_compare_exchange_strong_explicit(&x, &e, 3, memory_order_seq_cst, memory_order_seq_cst)); assert(e == 2 && x == 2); }",
    ),
    translated(
        &[
            "atomic_compare_exchange_weak",
            "atomic_compare_exchange_weak_explicit",
        ],
        (3, 5),
        Known::Atomic(Operation::Compare(Weak::Always), 3),
        "one step, sequentially consistent whatever the memory order, which draws a note; it may fail for no reason",
        "_Atomic int x = 1; int main(void) { int e = 1; if (!atomic_compare_exchange_weak(&x, &e, 2)) assert(e == 1 && x == 1); e = 5; assert(!atomic_compare_exchange_weak_explicit(&x, &e, 3, memory_order_seq_cst, memory_order_seq_cst)); }",
    ),
    translated(
        &["__atomic_compare_exchange_n"],
        (6, 6),
        Known::Atomic(Operation::Compare(Weak::Argument), 3),
        "one step, sequentially consistent whatever the memory order, which draws a note; if the argument `weak` may be true, it may fail for no reason",
        "int x = 1; int main(void) { int e = 1; assert(__atomic_compare_exchange_n(&x, &e, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); assert(x == 2); }",
    ),
    translated(
        &["__sync_bool_compare_and_swap"],
        (3, MORE),
        Known::Atomic(Operation::Swap { truth: true }, 3),
        ATOMIC,
        "int x = 1; int main(void) { assert(__sync_bool_compare_and_swap(&x, 1, 2)); assert(!__sync_bool_compare_and_swap(&x, 1, 3)); assert(x == 2); }",
    ),
    translated(
        &["__sync_val_compare_and_swap"],
        (3, MORE),
        Known::Atomic(Operation::Swap { truth: false }, 3),
        ATOMIC,
        "int x = 1; int main(void) { assert(__sync_val_compare_and_swap(&x, 1, 2) == 1); assert(__sync_val_compare_and_swap(&x, 1, 3) == 2); assert(x == 2); }",
    ),
    translated(
        &["atomic_fetch_add", "atomic_fetch_add_explicit"],
        (2, 3),
        Known::Atomic(Operation::Change(Change::Add, true), 2),
        WRAPS,
        "_Atomic int x = 2147483647; int main(void) { assert(atomic_fetch_add(&x, 1) == 2147483647); assert(atomic_fetch_add_explicit(&x, 1, memory_order_seq_cst) == -2147483647 - 1); }",
    ),
    translated(
        &["atomic_fetch_sub", "atomic_fetch_sub_explicit"],
        (2, 3),
        Known::Atomic(Operation::Change(Change::Sub, true), 2),
        WRAPS,
        "_Atomic int x = 3; int main(void) { assert(atomic_fetch_sub(&x, 1) == 3); assert(atomic_fetch_sub_explicit(&x, 1, memory_order_seq_cst) == 2); assert(x == 1); }",
    ),
    translated(
        &["atomic_fetch_or", "atomic_fetch_or_explicit"],
        (2, 3),
        Known::Atomic(Operation::Change(Change::Or, true), 2),
        ATOMIC,
        "_Atomic int x = 1; int main(void) { assert(atomic_fetch_or(&x, 2) == 1); assert(atomic_fetch_or_explicit(&x, 4, memory_order_seq_cst) == 3); assert(x == 7); }",
    ),
    translated(
        &["atomic_fetch_and", "atomic_fetch_and_explicit"],
        (2, 3),
        Known::Atomic(Operation::Change(Change::And, true), 2),
        ATOMIC,
        "_Atomic int x = 7; int main(void) { assert(atomic_fetch_and(&x, 6) == 7); assert(atomic_fetch_and_explicit(&x, 3, memory_order_seq_cst) == 6); assert(x == 2); }",
    ),
    translated(
        &["atomic_fetch_xor", "atomic_fetch_xor_explicit"],
        (2, 3),
        Known::Atomic(Operation::Change(Change::Xor, true), 2),
        ATOMIC,
        "_Atomic int x = 7; int main(void) { assert(atomic_fetch_xor(&x, 6) == 7); assert(atomic_fetch_xor_explicit(&x, 3, memory_order_seq_cst) == 1); assert(x == 2); }",
    ),
    translated(
        &["__atomic_fetch_add", "__sync_fetch_and_add"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Add, true), 2),
        WRAPS,
        "int x = 1; int main(void) { assert(__atomic_fetch_add(&x, 2, __ATOMIC_SEQ_CST) == 1); assert(__sync_fetch_and_add(&x, 2) == 3); assert(x == 5); }",
    ),
    translated(
        &["__atomic_fetch_sub", "__sync_fetch_and_sub"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Sub, true), 2),
        WRAPS,
        "unsigned x = 1; int main(void) { assert(__atomic_fetch_sub(&x, 2, __ATOMIC_SEQ_CST) == 1); assert(__sync_fetch_and_sub(&x, 1) == 4294967295u); }",
    ),
    translated(
        &["__atomic_fetch_or", "__sync_fetch_and_or"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Or, true), 2),
        ATOMIC,
        "int x = 1; int main(void) { assert(__atomic_fetch_or(&x, 2, __ATOMIC_SEQ_CST) == 1); assert(__sync_fetch_and_or(&x, 4) == 3); assert(x == 7); }",
    ),
    translated(
        &["__atomic_fetch_and", "__sync_fetch_and_and"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::And, true), 2),
        ATOMIC,
        "int x = 7; int main(void) { assert(__atomic_fetch_and(&x, 6, __ATOMIC_SEQ_CST) == 7); assert(__sync_fetch_and_and(&x, 3) == 6); assert(x == 2); }",
    ),
    translated(
        &["__atomic_fetch_xor", "__sync_fetch_and_xor"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Xor, true), 2),
        ATOMIC,
        "int x = 7; int main(void) { assert(__atomic_fetch_xor(&x, 6, __ATOMIC_SEQ_CST) == 7); assert(__sync_fetch_and_xor(&x, 3) == 1); assert(x == 2); }",
    ),
    translated(
        &["__atomic_add_fetch", "__sync_add_and_fetch"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Add, false), 2),
        WRAPS,
        "int x = 1; int main(void) { assert(__atomic_add_fetch(&x, 2, __ATOMIC_SEQ_CST) == 3); assert(__sync_add_and_fetch(&x, 2) == 5); }",
    ),
    translated(
        &["__atomic_sub_fetch", "__sync_sub_and_fetch"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Sub, false), 2),
        WRAPS,
        "int x = 5; int main(void) { assert(__atomic_sub_fetch(&x, 2, __ATOMIC_SEQ_CST) == 3); assert(__sync_sub_and_fetch(&x, 2) == 1); }",
    ),
    translated(
        &["__atomic_or_fetch", "__sync_or_and_fetch"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Or, false), 2),
        ATOMIC,
        "int x = 1; int main(void) { assert(__atomic_or_fetch(&x, 2, __ATOMIC_SEQ_CST) == 3); assert(__sync_or_and_fetch(&x, 4) == 7); }",
    ),
    translated(
        &["__atomic_and_fetch", "__sync_and_and_fetch"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::And, false), 2),
        ATOMIC,
        "int x = 7; int main(void) { assert(__atomic_and_fetch(&x, 6, __ATOMIC_SEQ_CST) == 6); assert(__sync_and_and_fetch(&x, 3) == 2); }",
    ),
    translated(
        &["__atomic_xor_fetch", "__sync_xor_and_fetch"],
        (2, MORE),
        Known::Atomic(Operation::Change(Change::Xor, false), 2),
        ATOMIC,
        "int x = 7; int main(void) { assert(__atomic_xor_fetch(&x, 6, __ATOMIC_SEQ_CST) == 1); assert(__sync_xor_and_fetch(&x, 3) == 2); }",
    ),
    translated(
        &[
            "atomic_flag_test_and_set",
            "atomic_flag_test_and_set_explicit",
        ],
        (1, 2),
        Known::Atomic(Operation::TestAndSet, 1),
        ATOMIC,
        "atomic_flag f = ATOMIC_FLAG_INIT; int main(void) { assert(!atomic_flag_test_and_set(&f)); assert(atomic_flag_test_and_set_explicit(&f, memory_order_seq_cst)); }",
    ),
    translated(
        &["__atomic_test_and_set"],
        (2, 2),
        Known::Atomic(Operation::TestAndSet, 1),
        ATOMIC,
        "_Bool f; int main(void) { assert(!__atomic_test_and_set(&f, __ATOMIC_SEQ_CST)); assert(f); }",
    ),
    translated(
        &["atomic_flag_clear", "atomic_flag_clear_explicit"],
        (1, 2),
        Known::Atomic(Operation::Clear, 1),
        ATOMIC,
        "atomic_flag f = ATOMIC_FLAG_INIT; int main(void) { atomic_flag_test_and_set(&f); atomic_flag_clear(&f); assert(!atomic_flag_test_and_set(&f)); atomic_flag_clear_explicit(&f, memory_order_seq_cst); assert(!atomic_flag_test_and_set(&f)); }",
    ),
    translated(
        &["__atomic_clear", "__sync_lock_release"],
        (1, MORE),
        Known::Atomic(Operation::Clear, 1),
        ATOMIC,
        "_Bool f = 1; int x = 1; int main(void) { __atomic_clear(&f, __ATOMIC_SEQ_CST); __sync_lock_release(&x); assert(!f && !x); }",
    ),
    approximated(
        &[
            "atomic_thread_fence",
            "atomic_signal_fence",
            "__atomic_thread_fence",
            "__atomic_signal_fence",
            "__sync_synchronize",
        ],
        (0, 1),
        Known::Atomic(Operation::Fence, 0),
        "nothing: memory is sequentially consistent",
        "int x; int main(void) { atomic_thread_fence(memory_order_seq_cst); atomic_signal_fence(memory_order_seq_cst); __atomic_thread_fence(__ATOMIC_SEQ_CST); __atomic_signal_fence(__ATOMIC_SEQ_CST); __sync_synchronize(); assert(x == 0); }",
    ),
];

const ATOMIC: &str =
    "one step, sequentially consistent whatever the memory order, which draws a note";
const WRAPS: &str = "one step, sequentially consistent whatever the memory order, which draws a note; the value wraps around";
