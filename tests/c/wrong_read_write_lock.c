//@ expect checks: violated
// As read_write_lock.c, but the writer does not wait for readers.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>

int w = 0, r = 0, x, y;

void __VERIFIER_atomic_take_write_lock(void) {
    __VERIFIER_assume(w == 0);
    w = 1;
}

void __VERIFIER_atomic_take_read_lock(void) {
    __VERIFIER_assume(w == 0);
    r = r + 1;
}

void *writer(void *arg) {
    __VERIFIER_atomic_take_write_lock();
    x = 3;
    w = 0;
    return 0;
}

void *reader(void *arg) {
    __VERIFIER_atomic_take_read_lock();
    y = x;
    if (y != x) {
        reach_error();
    }
    __VERIFIER_atomic_begin();
    r = r - 1;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, 0, writer, 0);
    pthread_create(&t2, 0, reader, 0);
    return 0;
}
