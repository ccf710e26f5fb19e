//@ expect checks: proved
// A parent starts children, as many as it likes, and waits until all have reported: then none is at work.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>
#include <stdatomic.h>

atomic_int active = 0, ended = 0;

void *child(void *arg) {
    active++;
    active--;
    ended++;
    return 0;
}

int main(void) {
    pthread_t t;
    int started = 0;
    while (__VERIFIER_nondet_int()) {
        started++;
        pthread_create(&t, 0, child, 0);
    }
    __VERIFIER_assume(ended == started);
    if (active != 0) {
        reach_error();
    }
    return 0;
}
