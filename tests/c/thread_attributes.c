//@ expect checks: proved
// Attributes that change nothing.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
int x;
void *f(void *a) { x = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
    pthread_create(&t, &attr, f, NULL);
    pthread_attr_destroy(&attr);
    pthread_join(t, NULL);
    assert(x == 1);
}
