//@ expect checks: proved
// Any number of readers and one writer; the writer waits until nobody reads.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
#include <pthread.h>

int readers = 0, writing = 0;
int x = 0, y = 0;

void __VERIFIER_atomic_begin_read(void) {
    __VERIFIER_assume(writing == 0);
    readers++;
}

void __VERIFIER_atomic_end_read(void) { readers--; }

void __VERIFIER_atomic_begin_write(void) {
    __VERIFIER_assume(writing == 0 && readers == 0);
    writing = 1;
}

void *reader(void *arg) {
    __VERIFIER_atomic_begin_read();
    if (x != y) {
        reach_error();
    }
    __VERIFIER_atomic_end_read();
    return 0;
}

void *writer(void *arg) {
    __VERIFIER_atomic_begin_write();
    x = 1;
    y = 1;
    writing = 0;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    while (1) {
        pthread_create(&t, 0, reader, 0);
    }
}
