//@ expect checks: proved
// A spin lock from compare-and-swap of C11, around a plain increment.
#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>

_Atomic int locked = 0;
int counter = 0;

static void acquire(void) {
    int expected = 0;
    while (!atomic_compare_exchange_strong(&locked, &expected, 1)) {
        expected = 0;
    }
}

static void release(void) { atomic_store(&locked, 0); }

void *work(void *unused) {
    acquire();
    counter = counter + 1;
    release();
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_create(&c, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    assert(counter == 3);
}
