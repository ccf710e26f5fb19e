//@ expect checks: violated
// The weak form of compare-and-exchange may fail although the value is the expected one, so it belongs in a loop.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x = 5;

void *change(void *arg) {
    int expected = 5;
    int done = atomic_compare_exchange_weak(&x, &expected, 6);
    assert(done || expected != 5);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, change, 0);
    pthread_join(t, 0);
    return 0;
}
