//@ expect checks: proved
// Flags, fences and operations of stdatomic.h.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <stdatomic.h>
#include <stdbool.h>
atomic_int cnt = ATOMIC_VAR_INIT(0);
atomic_flag lock = ATOMIC_FLAG_INIT;
_Atomic _Bool ready;
int shared_value;
void *t(void *a) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
    shared_value++;
    atomic_flag_clear_explicit(&lock, memory_order_release);
    atomic_fetch_add_explicit(&cnt, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return 0;
}
int main(void) {
    pthread_t a, b;
    atomic_init(&ready, false);
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    atomic_store(&ready, true);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&cnt) == 2 && shared_value == 2 && ready);
}
