//@ expect checks: proved
// A variable of which each thread has one.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
__thread int own = 0;
void *t(void *a) { own++; assert(own == 1); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    own = 7;
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(own == 7);
}
