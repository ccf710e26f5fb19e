//@ expect checks: proved
// A driver that is stopped while any number of threads may use it: `pending` counts them, and whoever makes it 0 lets the stop go on.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>

int pending = 1;
int stopping = 0, event = 0, stopped = 0;

int __VERIFIER_atomic_enter(void) {
    if (stopping) {
        return -1;
    }
    pending = pending + 1;
    return 0;
}

void __VERIFIER_atomic_leave(void) {
    pending = pending - 1;
    if (pending == 0) {
        event = 1;
    }
}

void *add(void *arg) {
    int status = __VERIFIER_atomic_enter();
    if (status == 0) {
        if (stopped) {
            reach_error();
        }
        __VERIFIER_atomic_leave();
    }
    return 0;
}

void *stop(void *arg) {
    stopping = 1;
    __VERIFIER_atomic_leave();
    __VERIFIER_assume(event);
    stopped = 1;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, stop, 0);
    while (__VERIFIER_nondet_int()) {
        pthread_create(&t, 0, add, 0);
    }
    return 0;
}
