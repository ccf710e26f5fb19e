//@ expect checks: proved
// A lock for readers and writers from two variables and atomic functions, as the lectures have it.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
#include <pthread.h>

int w = 0, r = 0, x, y;

void __VERIFIER_atomic_take_write_lock(void) {
    __VERIFIER_assume(w == 0 && r == 0);
    w = 1;
}

void __VERIFIER_atomic_take_read_lock(void) {
    __VERIFIER_assume(w == 0);
    r = r + 1;
}

void __VERIFIER_atomic_release_read_lock(void) { r = r - 1; }

void *writer(void *arg) {
    __VERIFIER_atomic_take_write_lock();
    x = 3;
    w = 0;
    return 0;
}

void *reader(void *arg) {
    int l;
    __VERIFIER_atomic_take_read_lock();
    l = x;
    y = l;
    if (y != x) {
        reach_error();
    }
    __VERIFIER_atomic_release_read_lock();
    return 0;
}

int main(void) {
    pthread_t t1, t2, t3;
    pthread_create(&t1, 0, writer, 0);
    pthread_create(&t2, 0, reader, 0);
    pthread_create(&t3, 0, reader, 0);
    return 0;
}
