//@ expect checks: proved
// The two counters of a ticket lock: between its two steps, a thread knows that more were taken than served.
extern void abort(void);
void reach_error() { abort(); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>

int taken = 0, served = 0;

void *customer(void *arg) {
    __VERIFIER_atomic_begin();
    taken++;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    if (!(taken > served)) {
        reach_error();
    }
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    served++;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t t;
    while (__VERIFIER_nondet_int()) {
        pthread_create(&t, 0, customer, 0);
    }
    return 0;
}
