//@ expect checks: proved
// Something that is done once.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
pthread_once_t once = PTHREAD_ONCE_INIT;
int inits = 0;
static void init(void) { inits++; }
void *t(void *a) { pthread_once(&once, init); assert(inits == 1); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
