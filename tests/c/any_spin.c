//@ expect checks: proved
// A spin lock of atomic functions around two writes.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
#include <pthread.h>

int x = 1;
int m = 0;

void __VERIFIER_atomic_acquire(void) {
    __VERIFIER_assume(m == 0);
    m = 1;
}

void __VERIFIER_atomic_release(void) {
    __VERIFIER_assume(m == 1);
    m = 0;
}

void *thr(void *arg) {
    __VERIFIER_atomic_acquire();
    x = 0;
    x = 1;
    if (!(x >= 1)) {
        reach_error();
    }
    __VERIFIER_atomic_release();
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, thr, 0);
    }
}
