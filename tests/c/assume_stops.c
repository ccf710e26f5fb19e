//@ expect checks: proved
// A run whose assumption fails ends: what stands behind it is never reached, and no other thread matters any more.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int cond);
extern _Bool __VERIFIER_nondet_bool(void);
#include <pthread.h>

int x = 0;

void *set(void *arg) {
    x = 1;
    __VERIFIER_assume(x != 1);
    reach_error();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    if (__VERIFIER_nondet_bool()) {
        pthread_join(t, 0);
        reach_error();
    }
    return 0;
}
