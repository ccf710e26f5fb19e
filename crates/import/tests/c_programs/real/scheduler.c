// Runs programs of C for real, under a scheduler that switches threads at random.
//
// One thread runs at a time: the one that has the turn. Before each access to memory, each atomic operation and each call of the thread library it may hand the turn on, so runs are
// interleavings of accesses, sequentially consistent, and one seed gives one run. gcc puts the calls in: `-fsanitize=thread` before accesses and in place of atomic operations, where this file
// stands in for its library; `-fsanitize-coverage=trace-pc` into every block, to count steps; `-finstrument-functions` where functions begin. Functions that could block are
// replaced (names.h) by the same with a time limit that has passed, so that the real library does the work and says what the result is; who would have to wait gives the turn away.
//
// Each run is a process of its own. It ends with 0; with FAILED if a check fails, or by a signal; or with NOTHING if it goes no further: an assumption fails, all threads wait, there are too many steps.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 71, NOTHING = 72, MOST_STEPS = 20000, MOST_HANDOVERS = 2000, MOST_THREADS = 40, MOST_LOCKS = 64, PROBES = 64, VALUES = 6 };

// What the test writes about the programs that are linked.
struct program {
    int (*main)(int, char **);
    void *const *atomic; // functions that are one step
    void *const *error;  // functions that must not be called
};
extern const struct program programs[];

struct probe {
    int count;
    long values[VALUES + 1];
};

static struct shared {
    char why[100];
    struct probe probes[PROBES];
} *shared;

static struct thread {
    int finished, blocked, woken, go;
    int gone; // joined or detached
    long priority;
    void *waits;
    pthread_t handle;
    void *(*function)(void *);
    void *argument;
} threads[MOST_THREADS];
static int thread_count;
static __thread int self;
static __thread int atomic_depth;
static const struct program *running;
static pthread_key_t ending;
static uint64_t state;
static long steps, handovers;
static unsigned period;
static int by_priority, spurious;

static unsigned random_below(unsigned bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state * 0x2545F4914F6CDD1DULL) >> 33) % bound;
}

static void nothing(void) { _exit(NOTHING); }

static void fail(const char *why) {
    strncpy(shared->why, why, sizeof shared->why - 1);
    _exit(FAILED);
}

// The turn.

static void wait_for_turn(void) {
    while (__atomic_load_n(&threads[self].go, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, &threads[self].go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    threads[self].go = 0;
}

static int pick(void) {
    int ready[MOST_THREADS], count = 0, best = -1;
    for (int at = 0; at < thread_count; at++) {
        if (threads[at].finished || threads[at].blocked) continue;
        ready[count++] = at;
        if (best < 0 || threads[at].priority > threads[best].priority) best = at;
    }
    if (count == 0) nothing();
    return by_priority ? best : ready[random_below(count)];
}

static void give_turn_to(int next) {
    __atomic_store_n(&threads[next].go, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &threads[next].go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void hand_on(void) {
    int next = pick();
    handovers++;
    if (next == self) return;
    give_turn_to(next);
    wait_for_turn();
}

static void count_step(void) {
    if (++steps > MOST_STEPS || handovers > MOST_HANDOVERS) nothing();
}

static void maybe_hand_on(void) {
    if (running == NULL || atomic_depth > 0) return;
    count_step();
    if (random_below(period) != 0) return;
    if (by_priority) threads[self].priority = -handovers;
    hand_on();
}

// Whoever waits looks again.
static void wake_all(void) {
    for (int at = 0; at < thread_count; at++) threads[at].blocked = 0;
}

static void block(void) {
    if (atomic_depth > 0) nothing();
    count_step();
    threads[self].blocked = 1;
    hand_on();
}

// Threads.

static void end_thread(void *unused) {
    threads[self].finished = 1;
    wake_all();
    for (int at = 0; at < thread_count; at++)
        if (!threads[at].finished) {
            give_turn_to(pick());
            return;
        }
}

static void *start(void *number) {
    self = (int)(long)number;
    pthread_setspecific(ending, &threads[self]);
    wait_for_turn();
    return threads[self].function(threads[self].argument);
}

int real_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    maybe_hand_on();
    if (thread_count == MOST_THREADS) nothing();
    int at = thread_count;
    threads[at] = (struct thread){.function = function, .argument = argument, .priority = (long)random_below(1000)};
    int result = pthread_create(handle, attributes, start, (void *)(long)at);
    if (result == 0) {
        threads[at].handle = *handle;
        thread_count++;
    }
    maybe_hand_on();
    return result;
}

static const struct timespec PASSED = {0, 0};

// Handles are used again, so it is the last one that has it.
static struct thread *thread_of(pthread_t handle) {
    for (int at = thread_count - 1; at >= 0; at--)
        if (pthread_equal(threads[at].handle, handle)) return &threads[at];
    return NULL;
}

int real_join(pthread_t handle, void **value) {
    maybe_hand_on();
    struct thread *other = thread_of(handle);
    if (other == NULL || other->gone || other == &threads[self]) fail("a thread is joined that cannot be");
    for (;;) {
        int result = pthread_timedjoin_np(handle, value, &PASSED);
        // It has done everything, and is about to end.
        if (result == ETIMEDOUT && other->finished) result = pthread_join(handle, value);
        if (result == 0) {
            if (other->gone) fail("a thread is joined twice");
            other->gone = 1;
        }
        if (result != ETIMEDOUT) return result;
        block();
    }
}

int real_detach(pthread_t handle) {
    maybe_hand_on();
    struct thread *other = thread_of(handle);
    if (other == NULL || other->gone) fail("a thread is detached that cannot be");
    other->gone = 1;
    return pthread_detach(handle);
}

void real_pthread_exit(void *value) {
    maybe_hand_on();
    pthread_exit(value);
}

// Mutexes and spin locks, with who holds them.

static struct lock {
    const volatile void *address;
    int readers, writer, destroyed;
} locks[MOST_LOCKS];

static struct lock *lock_of(const volatile void *address) {
    for (int at = 0; at < MOST_LOCKS; at++) {
        if (locks[at].address == NULL) locks[at].address = address;
        if (locks[at].address == address) return &locks[at];
    }
    nothing();
    return NULL;
}

static void check_usable(const volatile void *address) {
    if (lock_of(address)->destroyed) fail("a lock is used that was destroyed");
}

static void note_taken(const volatile void *address) {
    lock_of(address)->writer = self + 1;
}

static void note_released(const volatile void *address) {
    struct lock *lock = lock_of(address);
    check_usable(address);
    if (lock->writer != self + 1) fail("a lock is released that the thread does not hold");
    lock->writer = 0;
    wake_all();
}

static void begin_or_end(const volatile void *address, int end) {
    struct lock *lock = lock_of(address);
    if (end) check_usable(address);
    if (lock->writer != 0 || lock->readers != 0) fail("a lock is initialised or destroyed that somebody holds");
    lock->destroyed = end;
}

static int lock_mutex(pthread_mutex_t *mutex) {
    for (;;) {
        check_usable(mutex);
        int result = pthread_mutex_timedlock(mutex, &PASSED);
        if (result == 0) note_taken(mutex);
        if (result != ETIMEDOUT) return result;
        block();
    }
}

int real_mutex_lock(pthread_mutex_t *mutex) {
    maybe_hand_on();
    return lock_mutex(mutex);
}

int real_mutex_trylock(pthread_mutex_t *mutex) {
    maybe_hand_on();
    check_usable(mutex);
    int result = pthread_mutex_trylock(mutex);
    if (result == 0) note_taken(mutex);
    return result;
}

int real_mutex_unlock(pthread_mutex_t *mutex) {
    maybe_hand_on();
    note_released(mutex);
    return pthread_mutex_unlock(mutex);
}

int real_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    maybe_hand_on();
    begin_or_end(mutex, 0);
    return pthread_mutex_init(mutex, attributes);
}

int real_mutex_destroy(pthread_mutex_t *mutex) {
    maybe_hand_on();
    begin_or_end(mutex, 1);
    return pthread_mutex_destroy(mutex);
}

int real_spin_lock(pthread_spinlock_t *lock) {
    maybe_hand_on();
    check_usable(lock);
    while (pthread_spin_trylock(lock) != 0) block();
    note_taken(lock);
    return 0;
}

int real_spin_trylock(pthread_spinlock_t *lock) {
    maybe_hand_on();
    check_usable(lock);
    int result = pthread_spin_trylock(lock);
    if (result == 0) note_taken(lock);
    return result;
}

int real_spin_unlock(pthread_spinlock_t *lock) {
    maybe_hand_on();
    note_released(lock);
    return pthread_spin_unlock(lock);
}

int real_spin_init(pthread_spinlock_t *lock, int shared) {
    maybe_hand_on();
    begin_or_end(lock, 0);
    return pthread_spin_init(lock, shared);
}

int real_spin_destroy(pthread_spinlock_t *lock) {
    maybe_hand_on();
    begin_or_end(lock, 1);
    return pthread_spin_destroy(lock);
}

// Read-write locks.

static int note_rwlock(pthread_rwlock_t *rwlock, int result, int writes) {
    struct lock *lock = lock_of(rwlock);
    if (result != 0) return result;
    if (writes) lock->writer = self + 1;
    else lock->readers++;
    return 0;
}

int real_rwlock_rdlock(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    for (;;) {
        int result = pthread_rwlock_timedrdlock(rwlock, &PASSED);
        if (result != ETIMEDOUT) return note_rwlock(rwlock, result, 0);
        block();
    }
}

int real_rwlock_wrlock(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    for (;;) {
        int result = pthread_rwlock_timedwrlock(rwlock, &PASSED);
        if (result != ETIMEDOUT) return note_rwlock(rwlock, result, 1);
        block();
    }
}

int real_rwlock_tryrdlock(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    return note_rwlock(rwlock, pthread_rwlock_tryrdlock(rwlock), 0);
}

int real_rwlock_trywrlock(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    return note_rwlock(rwlock, pthread_rwlock_trywrlock(rwlock), 1);
}

int real_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attributes) {
    maybe_hand_on();
    begin_or_end(rwlock, 0);
    return pthread_rwlock_init(rwlock, attributes);
}

int real_rwlock_destroy(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    begin_or_end(rwlock, 0); // it can still be used, in this library
    return pthread_rwlock_destroy(rwlock);
}

int real_rwlock_unlock(pthread_rwlock_t *rwlock) {
    maybe_hand_on();
    struct lock *lock = lock_of(rwlock);
    if (lock->writer != self + 1 && lock->readers == 0) fail("a lock is released that the thread does not hold");
    if (lock->writer != 0) lock->writer = 0;
    else lock->readers--;
    wake_all();
    return pthread_rwlock_unlock(rwlock);
}

// Condition variables. Half of the runs wake threads that nobody signals, as POSIX allows.

int real_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    maybe_hand_on();
    if (atomic_depth > 0) nothing();
    note_released(mutex);
    pthread_mutex_unlock(mutex);
    threads[self].waits = condition;
    threads[self].woken = spurious && random_below(3) == 0;
    while (!threads[self].woken) block();
    hand_on();
    threads[self].waits = NULL;
    return lock_mutex(mutex);
}

int real_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    maybe_hand_on();
    if (atomic_depth > 0) nothing();
    note_released(mutex);
    pthread_mutex_unlock(mutex);
    hand_on();
    int result = lock_mutex(mutex);
    return result != 0 ? result : random_below(2) == 0 ? ETIMEDOUT : 0;
}

static void wake(pthread_cond_t *condition, int all) {
    int waiting[MOST_THREADS], count = 0;
    for (int at = 0; at < thread_count; at++)
        if (threads[at].waits == condition && !threads[at].woken) waiting[count++] = at;
    if (count == 0) return;
    int one = waiting[random_below(count)];
    for (int at = 0; at < count; at++)
        if (all || waiting[at] == one) threads[waiting[at]].woken = 1;
    wake_all();
}

int real_cond_signal(pthread_cond_t *condition) {
    maybe_hand_on();
    wake(condition, 0);
    return pthread_cond_signal(condition);
}

int real_cond_broadcast(pthread_cond_t *condition) {
    maybe_hand_on();
    wake(condition, 1);
    return pthread_cond_broadcast(condition);
}

// Semaphores.

int real_sem_wait(sem_t *semaphore) {
    maybe_hand_on();
    for (;;) {
        int result = sem_trywait(semaphore);
        if (result == 0 || errno != EAGAIN) return result;
        block();
    }
}

int real_sem_trywait(sem_t *semaphore) {
    maybe_hand_on();
    return sem_trywait(semaphore);
}

int real_sem_post(sem_t *semaphore) {
    maybe_hand_on();
    wake_all();
    return sem_post(semaphore);
}

int real_sem_init(sem_t *semaphore, int shared, unsigned value) {
    maybe_hand_on();
    wake_all();
    return sem_init(semaphore, shared, value);
}

int real_sem_getvalue(sem_t *semaphore, int *value) {
    maybe_hand_on();
    return sem_getvalue(semaphore, value);
}

int real_sem_destroy(sem_t *semaphore) {
    maybe_hand_on();
    return sem_destroy(semaphore);
}

// Barriers: there is no wait with a time limit, so waiting is done here. As in the library, the last one to come is told so.

static struct barrier {
    pthread_barrier_t *address;
    unsigned needed, come, round;
} barriers[MOST_LOCKS];

static struct barrier *barrier_of(pthread_barrier_t *address) {
    for (int at = 0; at < MOST_LOCKS; at++) {
        if (barriers[at].address == NULL) barriers[at].address = address;
        if (barriers[at].address == address) return &barriers[at];
    }
    nothing();
    return NULL;
}

int real_barrier_init(pthread_barrier_t *address, const pthread_barrierattr_t *attributes, unsigned count) {
    maybe_hand_on();
    int result = pthread_barrier_init(address, attributes, count);
    if (barrier_of(address)->come != 0) fail("a barrier is initialised where somebody waits");
    if (result == 0) *barrier_of(address) = (struct barrier){.address = address, .needed = count};
    return result;
}

int real_barrier_wait(pthread_barrier_t *address) {
    maybe_hand_on();
    struct barrier *barrier = barrier_of(address);
    if (barrier->needed == 0) fail("a barrier is used that is not initialised");
    unsigned round = barrier->round;
    int last = ++barrier->come == barrier->needed;
    if (last) {
        barrier->come = 0;
        barrier->round++;
        wake_all();
    }
    while (barrier->round == round) block();
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int real_barrier_destroy(pthread_barrier_t *address) {
    maybe_hand_on();
    struct barrier *barrier = barrier_of(address);
    if (barrier->needed == 0 || barrier->come != 0) fail("a barrier is destroyed that is not initialised, or where somebody waits");
    barrier->needed = 0;
    return pthread_barrier_destroy(address);
}

// Once.

static pthread_once_t *doing[MOST_THREADS];

int real_once(pthread_once_t *control, void (*function)(void)) {
    maybe_hand_on();
    for (int at = 0; at < MOST_THREADS; at++)
        while (doing[at] == control && at != self) block();
    pthread_once_t *before = doing[self];
    doing[self] = control;
    int result = pthread_once(control, function);
    doing[self] = before;
    wake_all();
    return result;
}

// What waits for time to pass.

int real_yield(void) {
    maybe_hand_on();
    return sched_yield();
}

int real_usleep(unsigned long time) {
    maybe_hand_on();
    return usleep(0);
}

unsigned real_sleep(unsigned time) {
    maybe_hand_on();
    return sleep(0);
}

int real_nanosleep(const struct timespec *time, struct timespec *left) {
    maybe_hand_on();
    return random_below(4) == 0 ? -1 : nanosleep(&PASSED, left);
}

// What prints may fail.

static int printed(int result) { return random_below(4) == 0 ? -1 : result; }
int real_printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = vprintf(format, arguments);
    va_end(arguments);
    return printed(result);
}
int real_fprintf(FILE *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = vfprintf(file, format, arguments);
    va_end(arguments);
    return printed(result);
}
int real_puts(const char *text) { return printed(random_below(2) == 0 ? puts(text) : (int)random_below(9)); }
int real_fputs(const char *text, FILE *file) { return printed(fputs(text, file)); }
int real_putchar(int character) { return printed(putchar(character)); }
int real_putc(int character, FILE *file) { return printed(putc(character, file)); }
int real_fputc(int character, FILE *file) { return printed(fputc(character, file)); }
int real_fflush(FILE *file) { return printed(fflush(file)); }
time_t real_time(time_t *place) { return (time_t)(random_below(2) == 0 ? time(place) : (long)random_below(9)); }

// Memory begins with anything.
void *real_malloc(size_t size) {
    unsigned char *memory = malloc(size);
    for (size_t at = 0; memory != NULL && at < size; at++) memory[at] = (unsigned char)(random_below(2) ? random_below(4) : random_below(256));
    return memory;
}

// Ends.

void real_exit(int status) { _exit(0); }
void real_abort(void) { nothing(); }
void real_assert_fail(const char *assertion, const char *file, unsigned line, const char *function) { fail(assertion); }
void real_assert(const char *assertion, const char *file, int line) { fail(assertion); }
void real_assert_rtn(const char *function, const char *file, int line, const char *assertion) { fail(assertion); }
void real_assert_perror_fail(int number, const char *file, unsigned line, const char *function) { fail("assert_perror"); }
void real_unreachable(void) { fail("a place that must not be reached is reached"); }
__attribute__((weak)) void assume(int condition) { if (!condition) nothing(); }
__attribute__((weak)) void reach_error(void) { fail("the error is reached"); }
__attribute__((weak)) void __VERIFIER_error(void) { fail("the error is reached"); }
__attribute__((weak)) void __VERIFIER_assert(int condition) { if (!condition) fail("__VERIFIER_assert"); }
__attribute__((weak)) void __VERIFIER_assume(int condition) { if (!condition) nothing(); }
__attribute__((weak)) void assume_abort_if_not(int condition) { if (!condition) nothing(); }

void __VERIFIER_atomic_begin(void) {
    maybe_hand_on();
    atomic_depth++;
}
void __VERIFIER_atomic_end(void) { atomic_depth--; }

// Inputs: small ones mostly.
static long input(void) {
    maybe_hand_on();
    switch (random_below(8)) {
    case 0: return (long)(state * 0x9E3779B97F4A7C15ULL);
    case 1: return (long)random_below(200) - 100;
    case 2: return -1;
    default: return random_below(6);
    }
}
#define INPUT(type, name) type name(void) { return (type)input(); }
INPUT(int, __VERIFIER_nondet_int) INPUT(int, __VERIFIER_nondet_s32) INPUT(int, nondet) INPUT(int, nondet_int)
INPUT(unsigned, __VERIFIER_nondet_uint) INPUT(unsigned, __VERIFIER_nondet_unsigned)
INPUT(unsigned, __VERIFIER_nondet_u32) INPUT(unsigned, __VERIFIER_nondet_unsigned_int)
INPUT(char, __VERIFIER_nondet_char) INPUT(signed char, __VERIFIER_nondet_s8)
INPUT(unsigned char, __VERIFIER_nondet_uchar) INPUT(unsigned char, __VERIFIER_nondet_u8) INPUT(unsigned char, __VERIFIER_nondet_unsigned_char)
INPUT(short, __VERIFIER_nondet_short) INPUT(short, __VERIFIER_nondet_s16)
INPUT(unsigned short, __VERIFIER_nondet_ushort) INPUT(unsigned short, __VERIFIER_nondet_u16)
INPUT(long, __VERIFIER_nondet_long) INPUT(long long, __VERIFIER_nondet_longlong) INPUT(long long, __VERIFIER_nondet_s64)
#define CHOICE(name) _Bool name(void) { maybe_hand_on(); return random_below(2); }
CHOICE(__VERIFIER_nondet_bool) CHOICE(__VERIFIER_nondet__Bool) CHOICE(nondet_bool)
int real_rand(void) { return (int)(input() & 0x7fffffff); }
long real_random(void) { return input() & 0x7fffffff; }

// A value at a place of the program, for assertions that are made of what is seen.
void probe(int number, long value) {
    struct probe *probe = &shared->probes[number];
    for (int at = 0; at < probe->count && at < VALUES; at++)
        if (probe->values[at] == value) return;
    if (probe->count < VALUES) probe->values[probe->count] = value;
    if (probe->count <= VALUES) probe->count++;
}

// What gcc calls.

void __sanitizer_cov_trace_pc(void) { if (running != NULL) count_step(); }
static int is_one_of(void *function, void *const *list) {
    for (; list != NULL && *list != NULL; list++)
        if (*list == function) return 1;
    return 0;
}
void __cyg_profile_func_enter(void *function, void *site) {
    if (running == NULL) return;
    if (is_one_of(function, running->error)) fail("the error is reached");
    if (is_one_of(function, running->atomic)) __VERIFIER_atomic_begin();
}
void __cyg_profile_func_exit(void *function, void *site) {
    if (running != NULL && is_one_of(function, running->atomic)) __VERIFIER_atomic_end();
}
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **pointer, void *value) {}
#define ACCESS(name) void __tsan_##name(void *address) { maybe_hand_on(); }
ACCESS(read1) ACCESS(read2) ACCESS(read4) ACCESS(read8) ACCESS(read16)
ACCESS(write1) ACCESS(write2) ACCESS(write4) ACCESS(write8) ACCESS(write16)
ACCESS(unaligned_read2) ACCESS(unaligned_read4) ACCESS(unaligned_read8) ACCESS(unaligned_read16)
ACCESS(unaligned_write2) ACCESS(unaligned_write4) ACCESS(unaligned_write8) ACCESS(unaligned_write16)
ACCESS(volatile_read1) ACCESS(volatile_read2) ACCESS(volatile_read4) ACCESS(volatile_read8)
ACCESS(volatile_write1) ACCESS(volatile_write2) ACCESS(volatile_write4) ACCESS(volatile_write8)
void __tsan_read_range(void *address, unsigned long size) { maybe_hand_on(); }
void __tsan_write_range(void *address, unsigned long size) { maybe_hand_on(); }
void __tsan_atomic_thread_fence(int order) { maybe_hand_on(); }
void __tsan_atomic_signal_fence(int order) { maybe_hand_on(); }

#define CHANGE(bits, type, name) \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order) { \
        maybe_hand_on(); \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST); \
    }
#define ATOMIC(bits, type) \
    CHANGE(bits, type, fetch_add) CHANGE(bits, type, fetch_sub) CHANGE(bits, type, fetch_and) \
    CHANGE(bits, type, fetch_or) CHANGE(bits, type, fetch_xor) CHANGE(bits, type, fetch_nand) \
    type __tsan_atomic##bits##_load(volatile type *at, int order) { \
        maybe_hand_on(); \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
        maybe_hand_on(); \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST); \
    } \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) { \
        maybe_hand_on(); \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, int failed) { \
        maybe_hand_on(); \
        return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    } \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type value, int order, int failed) { \
        maybe_hand_on(); \
        if (random_below(6) == 0) { \
            *expected = __atomic_load_n(at, __ATOMIC_SEQ_CST); \
            return 0; \
        } \
        return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    } \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, int failed) { \
        maybe_hand_on(); \
        __atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    }
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)

// Runs.

static void begin(uint64_t seed) {
    static const unsigned periods[] = {1, 2, 2, 3, 4, 6, 12, 30};
    state = (seed + 1) * 0x9E3779B97F4A7C15ULL;
    for (int at = 0; at < 4; at++) random_below(2);
    period = periods[random_below(sizeof periods / sizeof *periods)];
    by_priority = random_below(3) == 0;
    spurious = random_below(2);
    threads[0] = (struct thread){.handle = pthread_self(), .priority = (long)random_below(1000)};
    thread_count = 1;
    pthread_key_create(&ending, end_thread);
    pthread_setspecific(ending, &threads[0]);
    // For what makes no steps.
    struct rlimit seconds = {5, 5};
    setrlimit(RLIMIT_CPU, &seconds);
    alarm(60);
}

// PROGRAM FIRST-SEED RUNS STOP-AT-FAILURE: prints how many runs ended, how many went no further, how many failed, then the seed of the first that failed and why, and what was probed.
int main(int count, char **arguments) {
    if (count != 5) return 2;
    const struct program *program = &programs[atoi(arguments[1])];
    uint64_t first = strtoull(arguments[2], NULL, 10);
    int runs = atoi(arguments[3]), stop = atoi(arguments[4]);
    int ended = 0, went_no_further = 0, failed = 0;
    uint64_t failing = 0;
    char why[120] = "";
    cpu_set_t all, one;
    // The turn is handed on faster within one processor.
    if (sched_getaffinity(0, sizeof all, &all) == 0) {
        int which = (int)(first % (unsigned)CPU_COUNT(&all));
        CPU_ZERO(&one);
        for (int at = 0; at < CPU_SETSIZE; at++)
            if (CPU_ISSET(at, &all) && which-- == 0) CPU_SET(at, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    for (int run = 0; run < runs; run++) {
        pid_t child = fork();
        if (child < 0) return 2;
        if (child == 0) {
            int null = open("/dev/null", O_RDWR);
            for (int at = 0; at < 3; at++) dup2(null, at);
            begin(first + run);
            running = program;
            program->main(1, arguments);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child) return 2;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (code == NOTHING || code == -SIGALRM || code == -SIGXCPU || code == -SIGKILL) went_no_further++;
        else if (code >= 0 && code != FAILED) ended++;
        else {
            if (failed++ == 0) {
                failing = first + run;
                if (code == FAILED) strcpy(why, shared->why);
                else snprintf(why, sizeof why, "signal %d", -code);
            }
            if (stop) break;
        }
    }
    printf("%d %d %d\n%llu %s\n", ended, went_no_further, failed, (unsigned long long)failing, why);
    for (int number = 0; number < PROBES; number++) {
        struct probe *probe = &shared->probes[number];
        printf("%d", probe->count);
        for (int at = 0; at < probe->count && at < VALUES; at++) printf(" %ld", probe->values[at]);
        printf("\n");
    }
    return 0;
}
