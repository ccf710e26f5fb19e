//@ expect checks: proved
// A lock made of compare-and-swap, in macros, for any number of threads.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
volatile unsigned value, m = 0;
void __VERIFIER_atomic_CAS(volatile unsigned *v, unsigned e, unsigned u, unsigned *r) {
    if (*v == e) {
        *v = u, *r = 1;
    } else {
        *r = 0;
    }
}
#define acquire(m, r) do { __VERIFIER_atomic_CAS(&m, 0, 1, &r); } while (r == 0)
#define release(m) do { assert(m == 1); m = 0; } while (0)
void *thr1(void *arg) {
    unsigned v, vn, casret, r = 0;
    acquire(m, r);
    value = 0;
    v = value;
    vn = v + 1;
    value = vn;
    assert(value > v);
    release(m);
    return 0;
}
int main() {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, thr1, 0);
    }
}
