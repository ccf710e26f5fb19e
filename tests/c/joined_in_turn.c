//@ expect checks: proved
// With a join between them, two threads are one after the other; no lock is needed.
#include <pthread.h>
#include <assert.h>

int x = 1;

void *twice(void *arg) {
    x = x * 2;
    return 0;
}

void *plus(void *arg) {
    x = x + 3;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, twice, 0);
    pthread_join(t, 0);
    assert(x == 2);
    pthread_create(&t, 0, plus, 0);
    pthread_join(t, 0);
    assert(x == 5);
    return 0;
}
