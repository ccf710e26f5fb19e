//! Calls of the library in random programs: for each function a rule that writes a call whose result is used, so that the program mostly goes on.

use super::generate::{Generator, Kind, Place};

/// Something that is declared if a program mentions it.
pub struct Object {
    /// How it is written where it is used.
    pub mentioned: &'static [&'static str],
    pub declaration: &'static str,
    /// What `main` does first, with a small number `$N`, or the number of threads `$P`.
    pub begin: &'static str,
}

const fn object(
    mentioned: &'static [&'static str],
    declaration: &'static str,
    begin: &'static str,
) -> Object {
    Object {
        mentioned,
        declaration,
        begin,
    }
}

pub const OBJECTS: &[Object] = &[
    object(
        &["&m)"],
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
        "",
    ),
    object(&["&mi"], "pthread_mutex_t mi;", ""),
    object(
        &["&rw)"],
        "pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;",
        "",
    ),
    object(&["&rwi"], "pthread_rwlock_t rwi;", ""),
    object(
        &["&sp)"],
        "pthread_spinlock_t sp;",
        "pthread_spin_init(&sp, 0);",
    ),
    object(&["&spi"], "pthread_spinlock_t spi;", ""),
    object(&["&sem"], "sem_t sem;", "sem_init(&sem, 0, $N);"),
    object(&["&si"], "sem_t si;", ""),
    object(
        &["&c)", "&c,"],
        "pthread_cond_t c = PTHREAD_COND_INITIALIZER;",
        "",
    ),
    object(&["&ci"], "pthread_cond_t ci;", ""),
    object(
        &["&bar"],
        "pthread_barrier_t bar;",
        "pthread_barrier_init(&bar, 0, $P);",
    ),
    object(&["&bi"], "pthread_barrier_t bi;", ""),
    object(
        &["&o,"],
        "pthread_once_t o = PTHREAD_ONCE_INIT;\nint begun;\nvoid begin(void) { begun++; }",
        "",
    ),
    object(&["&ai"], "_Atomic A ai = 1;", ""),
    object(&["&pi"], "A pi = 1;", ""),
    object(&["&af"], "atomic_flag af = ATOMIC_FLAG_INIT;", ""),
    object(&["&ab"], "_Bool ab;", ""),
    object(&["idle"], "void *idle(void *arg) { return 0; }", ""),
    object(&["&at"], "pthread_attr_t at;", ""),
    object(&["&ma"], "pthread_mutexattr_t ma;", ""),
    object(&["&ca"], "pthread_condattr_t ca;", ""),
];

/// Functions that give any value, with their types.
pub const INPUTS: &[(&str, &str)] = &[
    ("__VERIFIER_nondet_int", "int"),
    ("__VERIFIER_nondet_s32", "int"),
    ("nondet", "int"),
    ("nondet_int", "int"),
    ("__VERIFIER_nondet_uint", "unsigned"),
    ("__VERIFIER_nondet_unsigned", "unsigned"),
    ("__VERIFIER_nondet_u32", "unsigned"),
    ("__VERIFIER_nondet_unsigned_int", "unsigned"),
    ("__VERIFIER_nondet_bool", "_Bool"),
    ("__VERIFIER_nondet__Bool", "_Bool"),
    ("nondet_bool", "_Bool"),
    ("__VERIFIER_nondet_char", "char"),
    ("__VERIFIER_nondet_s8", "signed char"),
    ("__VERIFIER_nondet_uchar", "unsigned char"),
    ("__VERIFIER_nondet_u8", "unsigned char"),
    ("__VERIFIER_nondet_unsigned_char", "unsigned char"),
    ("__VERIFIER_nondet_short", "short"),
    ("__VERIFIER_nondet_s16", "short"),
    ("__VERIFIER_nondet_ushort", "unsigned short"),
    ("__VERIFIER_nondet_u16", "unsigned short"),
    ("__VERIFIER_nondet_long", "long"),
    ("__VERIFIER_nondet_longlong", "long long"),
    ("__VERIFIER_nondet_s64", "long long"),
];

/// How a call of a function is written.
#[derive(Clone, Copy)]
pub enum Rule {
    /// A call with a result, with a small value for `$e`.
    Gives(&'static str),
    /// A call without one.
    Does(&'static str),
    /// A call whose result may be one of several, whatever the state.
    Chooses(&'static str),
    /// By hand.
    Special(fn(&mut Generator, Place)),
    /// By hand, where `main` comes once.
    Straight(fn(&mut Generator)),
}

use Rule::{Chooses, Does, Gives, Special, Straight};

pub const RULES: &[(&str, Rule)] = &[
    (
        "pthread_mutex_lock",
        Special(|g, p| section(g, p, "pthread_mutex_", "m", "lock", "unlock", "trylock")),
    ),
    (
        "pthread_mutex_unlock",
        Special(|g, p| section(g, p, "pthread_mutex_", "m", "lock", "unlock", "trylock")),
    ),
    (
        "pthread_mutex_trylock",
        Special(|g, p| attempt(g, p, "pthread_mutex_trylock", "pthread_mutex_unlock", "m")),
    ),
    (
        "pthread_mutex_init",
        Straight(|g| {
            life(
                g,
                "pthread_mutex_init",
                "mi, 0",
                "pthread_mutex_trylock",
                "pthread_mutex_unlock",
                "pthread_mutex_destroy",
                "mi",
            )
        }),
    ),
    (
        "pthread_mutex_destroy",
        Straight(|g| {
            life(
                g,
                "pthread_mutex_init",
                "mi, 0",
                "pthread_mutex_lock",
                "pthread_mutex_unlock",
                "pthread_mutex_destroy",
                "mi",
            )
        }),
    ),
    (
        "pthread_spin_lock",
        Special(|g, p| section(g, p, "pthread_spin_", "sp", "lock", "unlock", "trylock")),
    ),
    (
        "pthread_spin_unlock",
        Special(|g, p| section(g, p, "pthread_spin_", "sp", "lock", "unlock", "trylock")),
    ),
    (
        "pthread_spin_trylock",
        Special(|g, p| attempt(g, p, "pthread_spin_trylock", "pthread_spin_unlock", "sp")),
    ),
    (
        "pthread_spin_init",
        Straight(|g| {
            life(
                g,
                "pthread_spin_init",
                "spi, 0",
                "pthread_spin_trylock",
                "pthread_spin_unlock",
                "pthread_spin_destroy",
                "spi",
            )
        }),
    ),
    (
        "pthread_spin_destroy",
        Straight(|g| {
            life(
                g,
                "pthread_spin_init",
                "spi, 0",
                "pthread_spin_lock",
                "pthread_spin_unlock",
                "pthread_spin_destroy",
                "spi",
            )
        }),
    ),
    (
        "pthread_rwlock_rdlock",
        Special(|g, p| {
            section(
                g,
                p,
                "pthread_rwlock_",
                "rw",
                "rdlock",
                "unlock",
                "trywrlock",
            )
        }),
    ),
    (
        "pthread_rwlock_wrlock",
        Special(|g, p| section(g, p, "pthread_rwlock_", "rw", "wrlock", "unlock", "wrlock")),
    ),
    (
        "pthread_rwlock_unlock",
        Special(|g, p| section(g, p, "pthread_rwlock_", "rw", "wrlock", "unlock", "rdlock")),
    ),
    (
        "pthread_rwlock_tryrdlock",
        Special(|g, p| {
            attempt(
                g,
                p,
                "pthread_rwlock_tryrdlock",
                "pthread_rwlock_unlock",
                "rw",
            )
        }),
    ),
    (
        "pthread_rwlock_trywrlock",
        Special(|g, p| {
            attempt(
                g,
                p,
                "pthread_rwlock_trywrlock",
                "pthread_rwlock_unlock",
                "rw",
            )
        }),
    ),
    (
        "pthread_rwlock_init",
        Straight(|g| {
            life(
                g,
                "pthread_rwlock_init",
                "rwi, 0",
                "pthread_rwlock_wrlock",
                "pthread_rwlock_unlock",
                "pthread_rwlock_destroy",
                "rwi",
            )
        }),
    ),
    (
        "pthread_rwlock_destroy",
        Straight(|g| {
            life(
                g,
                "pthread_rwlock_init",
                "rwi, 0",
                "pthread_rwlock_rdlock",
                "pthread_rwlock_unlock",
                "pthread_rwlock_destroy",
                "rwi",
            )
        }),
    ),
    (
        "pthread_cond_init",
        Straight(|g| {
            life(
                g,
                "pthread_cond_init",
                "ci, 0",
                "pthread_cond_signal",
                "pthread_cond_broadcast",
                "pthread_cond_destroy",
                "ci",
            )
        }),
    ),
    (
        "pthread_cond_destroy",
        Straight(|g| {
            life(
                g,
                "pthread_cond_init",
                "ci, 0",
                "pthread_cond_signal",
                "pthread_cond_broadcast",
                "pthread_cond_destroy",
                "ci",
            )
        }),
    ),
    (
        "pthread_cond_signal",
        Special(|g, p| announce(g, p, "pthread_cond_signal")),
    ),
    (
        "pthread_cond_broadcast",
        Special(|g, p| announce(g, p, "pthread_cond_broadcast")),
    ),
    ("pthread_cond_wait", Special(wait_for_condition)),
    ("sem_init", Straight(semaphore_of_its_own)),
    ("sem_destroy", Straight(semaphore_of_its_own)),
    (
        "sem_wait",
        Special(|g, p| {
            if !p.plain {
                g.line("sem_post(&sem);");
                g.result("sem_wait", "sem_wait(&sem)");
            }
        }),
    ),
    ("sem_trywait", Gives("sem_trywait(&sem)")),
    ("sem_post", Gives("sem_post(&sem)")),
    (
        "sem_getvalue",
        Special(|g, _| {
            let value = g.local("v", "int", "7");
            g.result("sem_getvalue", &format!("sem_getvalue(&sem, &{value})"));
            g.probe(value, false);
        }),
    ),
    ("pthread_barrier_init", Straight(barrier_of_its_own)),
    ("pthread_barrier_wait", Straight(barrier_of_its_own)),
    ("pthread_barrier_destroy", Straight(barrier_of_its_own)),
    (
        "pthread_once",
        Special(|g, p| {
            if !p.plain {
                g.result("pthread_once", "pthread_once(&o, begin)");
                g.probe("begun", false);
            }
        }),
    ),
    ("pthread_create", Straight(thread_of_its_own)),
    ("pthread_join", Straight(thread_of_its_own)),
    ("pthread_detach", Straight(thread_of_its_own)),
    (
        "pthread_attr_init",
        Straight(|g| {
            attributes(
                g,
                "pthread_attr_init(&at)",
                "pthread_attr_setdetachstate(&at, PTHREAD_CREATE_JOINABLE)",
                "pthread_attr_destroy(&at)",
            )
        }),
    ),
    (
        "pthread_attr_setdetachstate",
        Straight(|g| {
            attributes(
                g,
                "pthread_attr_init(&at)",
                "pthread_attr_setdetachstate(&at, PTHREAD_CREATE_JOINABLE)",
                "pthread_attr_destroy(&at)",
            )
        }),
    ),
    (
        "pthread_attr_destroy",
        Straight(|g| {
            attributes(
                g,
                "pthread_attr_init(&at)",
                "pthread_attr_setdetachstate(&at, PTHREAD_CREATE_JOINABLE)",
                "pthread_attr_destroy(&at)",
            )
        }),
    ),
    (
        "pthread_mutexattr_init",
        Straight(|g| {
            attributes(
                g,
                "pthread_mutexattr_init(&ma)",
                "pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_NORMAL)",
                "pthread_mutexattr_destroy(&ma)",
            )
        }),
    ),
    (
        "pthread_mutexattr_settype",
        Straight(|g| {
            attributes(
                g,
                "pthread_mutexattr_init(&ma)",
                "pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_DEFAULT)",
                "pthread_mutexattr_destroy(&ma)",
            )
        }),
    ),
    (
        "pthread_mutexattr_destroy",
        Straight(|g| {
            attributes(
                g,
                "pthread_mutexattr_init(&ma)",
                "pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_NORMAL)",
                "pthread_mutexattr_destroy(&ma)",
            )
        }),
    ),
    (
        "pthread_condattr_init",
        Straight(|g| {
            attributes(
                g,
                "pthread_condattr_init(&ca)",
                "",
                "pthread_condattr_destroy(&ca)",
            )
        }),
    ),
    (
        "pthread_condattr_destroy",
        Straight(|g| {
            attributes(
                g,
                "pthread_condattr_init(&ca)",
                "",
                "pthread_condattr_destroy(&ca)",
            )
        }),
    ),
    (
        "pthread_exit",
        Special(|g, p| leaving(g, p, "pthread_exit", "pthread_exit(0)")),
    ),
    ("exit", Special(|g, p| leaving(g, p, "exit", "exit(3)"))),
    ("_exit", Special(|g, p| leaving(g, p, "_exit", "_exit(0)"))),
    ("_Exit", Special(|g, p| leaving(g, p, "_Exit", "_Exit(1)"))),
    (
        "quick_exit",
        Special(|g, p| leaving(g, p, "quick_exit", "quick_exit(0)")),
    ),
    ("abort", Special(|g, p| leaving(g, p, "abort", "abort()"))),
    ("__VERIFIER_atomic_begin", Special(atomic_part)),
    ("__VERIFIER_atomic_end", Special(atomic_part)),
    (
        "malloc",
        Straight(|g| memory(g, "malloc", "malloc(sizeof(int))")),
    ),
    (
        "calloc",
        Straight(|g| memory(g, "calloc", "calloc(1, sizeof(int))")),
    ),
    (
        "free",
        Straight(|g| memory(g, "calloc", "calloc(1, sizeof(int))")),
    ),
    ("abs", Gives("abs($e)")),
    ("__builtin_expect", Gives("__builtin_expect($e, 0)")),
    ("printf", Chooses("printf(\"a%%b\\n\")")),
    ("fprintf", Chooses("fprintf(stderr, \"abc\")")),
    ("puts", Chooses("(puts(\"a\") >= -1)")),
    ("fputs", Chooses("(fputs(\"a\\n\", stdout) < 0)")),
    ("putchar", Chooses("putchar('a' + 256)")),
    ("putc", Chooses("putc($e, stdout)")),
    ("fputc", Chooses("fputc('\\n', stdout)")),
    ("fflush", Chooses("fflush(stdout)")),
    ("perror", Does("perror(\"a\")")),
    ("srand", Does("srand($e)")),
    ("srandom", Does("srandom($e)")),
    ("setbuf", Does("setbuf(stdout, 0)")),
    ("setvbuf", Does("setvbuf(stdout, 0, _IONBF, 0)")),
    ("write", Does("write(1, \"a\", 1)")),
    ("sleep", Gives("sleep(0)")),
    ("usleep", Gives("usleep(1)")),
    ("sched_yield", Gives("sched_yield()")),
    ("pthread_yield", Gives("pthread_yield()")),
    (
        "nanosleep",
        Special(|g, _| {
            g.choice();
            g.calls.insert("nanosleep");
            g.line("{");
            g.block(|g| {
                g.line("struct timespec pause = { 0, 1 };");
                g.probe("nanosleep(&pause, 0)", true);
            });
            g.line("}");
        }),
    ),
    ("time", Chooses("(time(0) > 3)")),
    ("rand", Chooses("(rand() > 5)")),
    ("random", Chooses("(random() < 5)")),
    (
        "__VERIFIER_nondet_int",
        Chooses("(__VERIFIER_nondet_int() > $e)"),
    ),
    (
        "__VERIFIER_nondet_s32",
        Chooses("(__VERIFIER_nondet_s32() < 2)"),
    ),
    ("nondet", Chooses("(nondet() == 0)")),
    ("nondet_int", Chooses("(nondet_int() >= $e)")),
    (
        "__VERIFIER_nondet_uint",
        Chooses("(__VERIFIER_nondet_uint() % 3u)"),
    ),
    (
        "__VERIFIER_nondet_unsigned",
        Chooses("(__VERIFIER_nondet_unsigned() > 3)"),
    ),
    (
        "__VERIFIER_nondet_u32",
        Chooses("(__VERIFIER_nondet_u32() & 1)"),
    ),
    (
        "__VERIFIER_nondet_unsigned_int",
        Chooses("(__VERIFIER_nondet_unsigned_int() < 3)"),
    ),
    (
        "__VERIFIER_nondet_bool",
        Chooses("__VERIFIER_nondet_bool()"),
    ),
    (
        "__VERIFIER_nondet__Bool",
        Chooses("__VERIFIER_nondet__Bool()"),
    ),
    ("nondet_bool", Chooses("nondet_bool()")),
    (
        "__VERIFIER_nondet_char",
        Chooses("(__VERIFIER_nondet_char() & 3)"),
    ),
    (
        "__VERIFIER_nondet_s8",
        Chooses("(__VERIFIER_nondet_s8() < 0)"),
    ),
    (
        "__VERIFIER_nondet_uchar",
        Chooses("(__VERIFIER_nondet_uchar() > 250)"),
    ),
    (
        "__VERIFIER_nondet_u8",
        Chooses("(__VERIFIER_nondet_u8() % 2)"),
    ),
    (
        "__VERIFIER_nondet_unsigned_char",
        Chooses("(__VERIFIER_nondet_unsigned_char() >= $e)"),
    ),
    (
        "__VERIFIER_nondet_short",
        Chooses("(__VERIFIER_nondet_short() < 0)"),
    ),
    (
        "__VERIFIER_nondet_s16",
        Chooses("(__VERIFIER_nondet_s16() == 1)"),
    ),
    (
        "__VERIFIER_nondet_ushort",
        Chooses("(__VERIFIER_nondet_ushort() & 1)"),
    ),
    (
        "__VERIFIER_nondet_u16",
        Chooses("(__VERIFIER_nondet_u16() > 2)"),
    ),
    (
        "__VERIFIER_nondet_long",
        Chooses("(__VERIFIER_nondet_long() == 2)"),
    ),
    (
        "__VERIFIER_nondet_longlong",
        Chooses("(__VERIFIER_nondet_longlong() > 1)"),
    ),
    (
        "__VERIFIER_nondet_s64",
        Chooses("(__VERIFIER_nondet_s64() < $e)"),
    ),
    ("assert", Does("assert(1)")),
    ("__VERIFIER_assert", Does("__VERIFIER_assert(1)")),
    (
        "reach_error",
        Special(|g, p| error(g, p, "reach_error", "reach_error()")),
    ),
    (
        "__VERIFIER_error",
        Special(|g, p| error(g, p, "__VERIFIER_error", "__VERIFIER_error()")),
    ),
    (
        "__assert_fail",
        Special(|g, p| error(g, p, "__assert_fail", "__assert_fail(\"\", \"\", 1, \"\")")),
    ),
    (
        "__assert",
        Special(|g, p| error(g, p, "__assert", "__assert(\"\", \"\", 1)")),
    ),
    (
        "__assert_rtn",
        Special(|g, p| error(g, p, "__assert_rtn", "__assert_rtn(\"\", \"\", 1, \"\")")),
    ),
    (
        "__assert_perror_fail",
        Special(|g, p| {
            error(
                g,
                p,
                "__assert_perror_fail",
                "__assert_perror_fail(1, \"\", 1, \"\")",
            )
        }),
    ),
    (
        "__builtin_unreachable",
        Special(|g, p| error(g, p, "__builtin_unreachable", "__builtin_unreachable()")),
    ),
    (
        "__VERIFIER_assume",
        Special(|g, p| assumption(g, p, "__VERIFIER_assume")),
    ),
    (
        "assume_abort_if_not",
        Special(|g, p| assumption(g, p, "assume_abort_if_not")),
    ),
    ("assume", Special(|g, p| assumption(g, p, "assume"))),
    (
        "__builtin_trap",
        Special(|g, p| leaving(g, p, "__builtin_trap", "__builtin_trap()")),
    ),
    ("strerror", Does("printf(\"%s\\n\", strerror(1))")),
    (
        "pthread_self",
        Does("printf(\"%lu\\n\", (unsigned long)pthread_self())"),
    ),
    ("getpid", Does("printf(\"%d\\n\", getpid())")),
    ("gettid", Does("printf(\"%d\\n\", gettid())")),
    ("clock", Does("printf(\"%ld\\n\", (long)clock())")),
    ("pthread_cond_timedwait", Special(wait_for_a_time)),
    (
        "pthread_attr_setstacksize",
        Straight(|g| {
            g.calls.insert("pthread_attr_setstacksize");
            g.line("pthread_attr_init(&at);");
            g.line("pthread_attr_setstacksize(&at, 65536);");
        }),
    ),
    ("atomic_load", Gives("atomic_load(&ai)")),
    (
        "atomic_load_explicit",
        Gives("atomic_load_explicit(&ai, memory_order_acquire)"),
    ),
    ("atomic_store", Does("atomic_store(&ai, $e)")),
    (
        "atomic_store_explicit",
        Does("atomic_store_explicit(&ai, $e, memory_order_release)"),
    ),
    ("atomic_init", Does("atomic_init(&ai, $e)")),
    ("atomic_exchange", Gives("atomic_exchange(&ai, $e)")),
    (
        "atomic_exchange_explicit",
        Gives("atomic_exchange_explicit(&ai, $e, memory_order_acq_rel)"),
    ),
    ("atomic_fetch_add", Gives("atomic_fetch_add(&ai, $e)")),
    (
        "atomic_fetch_add_explicit",
        Gives("atomic_fetch_add_explicit(&ai, $e, memory_order_relaxed)"),
    ),
    ("atomic_fetch_sub", Gives("atomic_fetch_sub(&ai, $e)")),
    (
        "atomic_fetch_sub_explicit",
        Gives("atomic_fetch_sub_explicit(&ai, $e, memory_order_relaxed)"),
    ),
    ("atomic_fetch_or", Gives("atomic_fetch_or(&ai, $e)")),
    (
        "atomic_fetch_or_explicit",
        Gives("atomic_fetch_or_explicit(&ai, $e, memory_order_seq_cst)"),
    ),
    ("atomic_fetch_and", Gives("atomic_fetch_and(&ai, $e)")),
    (
        "atomic_fetch_and_explicit",
        Gives("atomic_fetch_and_explicit(&ai, $e, memory_order_seq_cst)"),
    ),
    ("atomic_fetch_xor", Gives("atomic_fetch_xor(&ai, $e)")),
    (
        "atomic_fetch_xor_explicit",
        Gives("atomic_fetch_xor_explicit(&ai, $e, memory_order_seq_cst)"),
    ),
    (
        "atomic_compare_exchange_strong",
        Special(|g, _| exchange(g, "atomic_compare_exchange_strong", "(&ai, &$x, $e)", false)),
    ),
    (
        "atomic_compare_exchange_strong_explicit",
        Special(|g, _| {
            exchange(
                g,
                "atomic_compare_exchange_strong_explicit",
                "(&ai, &$x, $e, memory_order_acq_rel, memory_order_acquire)",
                false,
            )
        }),
    ),
    (
        "atomic_compare_exchange_weak",
        Special(|g, _| exchange(g, "atomic_compare_exchange_weak", "(&ai, &$x, $e)", true)),
    ),
    (
        "atomic_compare_exchange_weak_explicit",
        Special(|g, _| {
            exchange(
                g,
                "atomic_compare_exchange_weak_explicit",
                "(&ai, &$x, $e, memory_order_acq_rel, memory_order_acquire)",
                true,
            )
        }),
    ),
    (
        "__atomic_compare_exchange_n",
        Special(|g, _| {
            let weak = g.chance(2);
            let form = if weak {
                "(&pi, &$x, $e, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)"
            } else {
                "(&pi, &$x, $e, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)"
            };
            exchange(g, "__atomic_compare_exchange_n", form, weak);
        }),
    ),
    (
        "atomic_flag_test_and_set",
        Gives("atomic_flag_test_and_set(&af)"),
    ),
    (
        "atomic_flag_test_and_set_explicit",
        Gives("atomic_flag_test_and_set_explicit(&af, memory_order_acquire)"),
    ),
    ("atomic_flag_clear", Does("atomic_flag_clear(&af)")),
    (
        "atomic_flag_clear_explicit",
        Does("atomic_flag_clear_explicit(&af, memory_order_release)"),
    ),
    (
        "__atomic_test_and_set",
        Gives("__atomic_test_and_set(&ab, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_clear",
        Does("__atomic_clear(&ab, __ATOMIC_RELEASE)"),
    ),
    (
        "__atomic_load_n",
        Gives("__atomic_load_n(&pi, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_store_n",
        Does("__atomic_store_n(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_exchange_n",
        Gives("__atomic_exchange_n(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_fetch_add",
        Gives("__atomic_fetch_add(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_fetch_sub",
        Gives("__atomic_fetch_sub(&pi, $e, __ATOMIC_RELAXED)"),
    ),
    (
        "__atomic_fetch_or",
        Gives("__atomic_fetch_or(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_fetch_and",
        Gives("__atomic_fetch_and(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_fetch_xor",
        Gives("__atomic_fetch_xor(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_add_fetch",
        Gives("__atomic_add_fetch(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_sub_fetch",
        Gives("__atomic_sub_fetch(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_or_fetch",
        Gives("__atomic_or_fetch(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_and_fetch",
        Gives("__atomic_and_fetch(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_xor_fetch",
        Gives("__atomic_xor_fetch(&pi, $e, __ATOMIC_SEQ_CST)"),
    ),
    (
        "__sync_fetch_and_add",
        Gives("__sync_fetch_and_add(&pi, $e)"),
    ),
    (
        "__sync_fetch_and_sub",
        Gives("__sync_fetch_and_sub(&pi, $e)"),
    ),
    ("__sync_fetch_and_or", Gives("__sync_fetch_and_or(&pi, $e)")),
    (
        "__sync_fetch_and_and",
        Gives("__sync_fetch_and_and(&pi, $e)"),
    ),
    (
        "__sync_fetch_and_xor",
        Gives("__sync_fetch_and_xor(&pi, $e)"),
    ),
    (
        "__sync_add_and_fetch",
        Gives("__sync_add_and_fetch(&pi, $e)"),
    ),
    (
        "__sync_sub_and_fetch",
        Gives("__sync_sub_and_fetch(&pi, $e)"),
    ),
    ("__sync_or_and_fetch", Gives("__sync_or_and_fetch(&pi, $e)")),
    (
        "__sync_and_and_fetch",
        Gives("__sync_and_and_fetch(&pi, $e)"),
    ),
    (
        "__sync_xor_and_fetch",
        Gives("__sync_xor_and_fetch(&pi, $e)"),
    ),
    (
        "__sync_bool_compare_and_swap",
        Gives("__sync_bool_compare_and_swap(&pi, $e, 2)"),
    ),
    (
        "__sync_val_compare_and_swap",
        Gives("__sync_val_compare_and_swap(&pi, 1, $e)"),
    ),
    (
        "__sync_lock_test_and_set",
        Gives("__sync_lock_test_and_set(&pi, $e)"),
    ),
    ("__sync_lock_release", Does("__sync_lock_release(&pi)")),
    ("__sync_synchronize", Does("__sync_synchronize()")),
    (
        "atomic_thread_fence",
        Does("atomic_thread_fence(memory_order_seq_cst)"),
    ),
    (
        "atomic_signal_fence",
        Does("atomic_signal_fence(memory_order_seq_cst)"),
    ),
    (
        "__atomic_thread_fence",
        Does("__atomic_thread_fence(__ATOMIC_SEQ_CST)"),
    ),
    (
        "__atomic_signal_fence",
        Does("__atomic_signal_fence(__ATOMIC_SEQ_CST)"),
    ),
];

/// A call of some function.
pub fn statement(g: &mut Generator, place: Place) {
    // Locks and semaphores more often than each of many atomic operations; and a program with one run is to stay one.
    let mut rule = g.numbers.below(RULES.len());
    if g.chance(2) || (g.kind == Kind::One && matches!(RULES[rule].1, Chooses(_))) {
        rule = g.numbers.below(36);
    }
    one(g, rule, place);
}

/// A call of this function, if it can stand here.
pub fn one(g: &mut Generator, rule: usize, place: Place) {
    let (name, rule) = RULES[rule];
    match rule {
        Gives(form) => {
            let call = filled(g, form);
            g.result(name, &call);
        }
        Chooses(form) => {
            g.choice();
            let call = filled(g, form);
            g.result(name, &call);
        }
        Does(form) => {
            g.calls.insert(name);
            let call = filled(g, form);
            g.line(format!("{call};"));
        }
        Special(write) => write(g, place),
        Straight(write) if place.straight => write(g),
        Straight(_) => {}
    }
}

fn filled(g: &mut Generator, form: &str) -> String {
    match form.contains("$e") {
        true => form.replace("$e", &g.small(1)),
        false => form.to_owned(),
    }
}

/// The name of a function of the table.
fn known(name: &str) -> &'static str {
    let found = RULES.iter().find(|(known, _)| *known == name);
    found
        .unwrap_or_else(|| panic!("there is no rule for {name}"))
        .0
}

fn inside(place: Place) -> Place {
    Place {
        room: place.room.min(1),
        straight: false,
        plain: true,
    }
}

/// Takes a lock and releases it; in between somebody may try to take it.
fn section(
    g: &mut Generator,
    place: Place,
    family: &str,
    object: &str,
    lock: &str,
    unlock: &str,
    busy: &str,
) {
    if place.plain && !g.chance(8) {
        return;
    }
    let call = |name: &str| format!("{family}{name}(&{object})");
    g.result(known(&format!("{family}{lock}")), &call(lock));
    if g.chance(3) {
        g.result(known(&format!("{family}{busy}")), &call(busy));
    }
    g.statements(inside(place), 1);
    g.result(known(&format!("{family}{unlock}")), &call(unlock));
    if g.chance(30) {
        // Nobody holds it.
        g.result(known(&format!("{family}{unlock}")), &call(unlock));
    }
}

fn attempt(g: &mut Generator, place: Place, attempt: &str, unlock: &str, object: &str) {
    let result = g.local("r", "int", "9");
    g.calls.insert(known(attempt));
    g.line(format!("{result} = {attempt}(&{object});"));
    g.probe(result.clone(), false);
    g.line(format!("if ({result} == 0) {{"));
    g.block(|g| {
        if g.chance(3) {
            g.result(known(attempt), &format!("{attempt}(&{object})"));
        }
        g.statements(inside(place), 1);
        g.result(known(unlock), &format!("{unlock}(&{object})"));
    });
    g.line("}");
}

/// Makes something, uses it, and destroys it.
fn life(
    g: &mut Generator,
    init: &str,
    arguments: &str,
    first: &str,
    second: &str,
    destroy: &str,
    object: &str,
) {
    for _ in 0..1 + g.numbers.below(2) {
        g.result(known(init), &format!("{init}(&{arguments})"));
        g.result(known(first), &format!("{first}(&{object})"));
        let early = g.chance(20);
        if !early {
            g.result(known(second), &format!("{second}(&{object})"));
        }
        g.result(known(destroy), &format!("{destroy}(&{object})"));
    }
    if g.chance(20) {
        g.result(known(first), &format!("{first}(&{object})"));
    }
}

fn semaphore_of_its_own(g: &mut Generator) {
    let value = g.pick(&["0", "1", "2", "2147483647", "2147483648u"]);
    g.result("sem_init", &format!("sem_init(&si, 0, {value})"));
    if value != "2147483648u" {
        for _ in 0..2 {
            let name = known(g.pick(&["sem_trywait", "sem_post"]));
            g.result(name, &format!("{name}(&si)"));
        }
        g.result("sem_destroy", "sem_destroy(&si)");
    }
}

fn barrier_of_its_own(g: &mut Generator) {
    let count = g.pick(&["1", "1", "1", "0", "2147483647"]);
    g.result(
        "pthread_barrier_init",
        &format!("pthread_barrier_init(&bi, 0, {count})"),
    );
    if count == "1" || g.chance(8) {
        for _ in 0..1 + g.numbers.below(2) {
            g.result("pthread_barrier_wait", "pthread_barrier_wait(&bi)");
        }
        g.result("pthread_barrier_destroy", "pthread_barrier_destroy(&bi)");
    }
}

/// A thread that does nothing, and is joined or detached, once or too often.
fn thread_of_its_own(g: &mut Generator) {
    let handle = g.local("h", "pthread_t", "0");
    g.result(
        "pthread_create",
        &format!("pthread_create(&{handle}, 0, idle, 0)"),
    );
    let name = known(g.pick(&["pthread_join", "pthread_detach"]));
    let call = match name {
        "pthread_join" => format!("pthread_join({handle}, 0)"),
        _ => format!("pthread_detach({handle})"),
    };
    g.result(name, &call);
    if g.chance(10) {
        g.result(name, &call);
    }
}

fn attributes(g: &mut Generator, init: &str, set: &str, destroy: &str) {
    for call in [init, set, destroy] {
        if let Some((name, _)) = call.split_once('(') {
            g.result(known(name), call);
        }
    }
}

fn announce(g: &mut Generator, place: Place, name: &'static str) {
    let locks = !place.plain && g.chance(2);
    if locks {
        g.line("pthread_mutex_lock(&m);");
    }
    let target = g.target();
    g.line(format!("{target} = 1;"));
    g.result(name, &format!("{name}(&c)"));
    if locks {
        g.line("pthread_mutex_unlock(&m);");
    }
}

/// Waits for a variable, in a loop or not.
fn wait_for_condition(g: &mut Generator, place: Place) {
    if place.plain || g.kind != Kind::Threads {
        return;
    }
    g.calls.insert("pthread_cond_wait");
    let variable = g.target();
    let test = g.pick(&["while", "while", "if"]);
    g.line("pthread_mutex_lock(&m);");
    g.line(format!("{test} (!{variable}) {{"));
    g.block(|g| g.probe("pthread_cond_wait(&c, &m)", true));
    g.line("}");
    g.probe(variable, false);
    g.line("pthread_mutex_unlock(&m);");
}

fn leaving(g: &mut Generator, place: Place, name: &'static str, call: &str) {
    if place.plain {
        return;
    }
    g.calls.insert(name);
    let condition = g.condition();
    g.line(format!("if ({condition}) {call};"));
}

fn error(g: &mut Generator, place: Place, name: &'static str, call: &str) {
    if place.plain {
        return;
    }
    g.calls.insert(name);
    let variable = g.target();
    let number = g.pick(&["7", "-3", "4"]);
    g.line(format!("if ({variable} == {number}) {call};"));
}

fn assumption(g: &mut Generator, place: Place, name: &'static str) {
    if place.plain {
        return;
    }
    g.calls.insert(name);
    let condition = g.condition();
    g.line(format!("{name}({condition});"));
}

fn wait_for_a_time(g: &mut Generator, place: Place) {
    if place.plain {
        return;
    }
    g.calls.insert("pthread_cond_timedwait");
    g.choice();
    g.line("pthread_mutex_lock(&m);");
    g.line("{");
    g.block(|g| {
        g.line("struct timespec until = { 0, 0 };");
        g.line("pthread_cond_timedwait(&c, &m, &until);");
    });
    g.line("}");
    let target = g.target();
    g.probe(target, false);
    g.line("pthread_mutex_unlock(&m);");
}

fn atomic_part(g: &mut Generator, place: Place) {
    if place.plain {
        return;
    }
    g.calls
        .extend(["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"]);
    g.line("__VERIFIER_atomic_begin();");
    for _ in 0..2 {
        let (target, value) = (g.target(), g.second());
        g.line(format!("{target} = {value};"));
    }
    g.line("__VERIFIER_atomic_end();");
}

fn memory(g: &mut Generator, name: &'static str, call: &str) {
    g.calls.extend([name, "free"]);
    let value = g.small(1);
    g.line("{");
    g.block(|g| {
        g.line(format!("int *memory = {call};"));
        g.probe("(memory != 0)", false);
        if name == "malloc" {
            g.line(format!("*memory = {value};"));
        }
        g.line("(*memory)++;");
        g.probe("*memory", false);
        g.line("free(memory);");
    });
    g.line("}");
}

/// Compares and exchanges, with what is expected in a variable.
fn exchange(g: &mut Generator, name: &'static str, arguments: &str, weak: bool) {
    if weak {
        g.choice();
    }
    let expected = g.local("x", "A", "1");
    let arguments = arguments.replace("$x", &expected);
    let call = filled(g, &format!("{name}{arguments}"));
    g.result(name, &call);
    g.probe(expected, false);
}
