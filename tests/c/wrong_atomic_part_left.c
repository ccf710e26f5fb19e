//@ expect checks: violated
// The test and the count are two atomic parts, and between them it is closed.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int closed = 0, inside = 0, emptied = 0;

int enter(void) {
    __VERIFIER_atomic_begin();
    if (closed) {
        __VERIFIER_atomic_end();
        return -1;
    }
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    inside++;
    __VERIFIER_atomic_end();
    return 0;
}

void leave(void) {
    __VERIFIER_atomic_begin();
    inside--;
    __VERIFIER_atomic_end();
}

void *visitor(void *arg) {
    if (enter() == 0) {
        if (emptied)
            reach_error();
        leave();
    }
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, visitor, 0);
    pthread_create(&second, 0, visitor, 0);
    closed = 1;
    while (inside > 0)
        ;
    emptied = 1;
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
