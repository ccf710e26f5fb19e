//@ expect checks: proved
// The weak form of compare-and-exchange in a loop: whoever gets through has added one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x = 0;

void *add(void *arg) {
    int seen = 0;
    while (!atomic_compare_exchange_weak(&x, &seen, seen + 1)) {
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
