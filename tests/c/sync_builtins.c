//@ expect checks: proved
// The operations of gcc.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
int lock = 0, n = 0;
void *t(void *a) {
    while (__sync_lock_test_and_set(&lock, 1)) {
    }
    int k = n;
    n = k + 1;
    __sync_lock_release(&lock);
    __sync_fetch_and_add(&n, 1);
    while (!__sync_bool_compare_and_swap(&lock, 0, 1)) { }
    __sync_synchronize();
    lock = 0;
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    pthread_join(a, 0);
    assert(n == 2);
}
