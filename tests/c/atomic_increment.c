//@ expect checks: proved
// On an _Atomic int, x++ and x += 2 are one step.
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>

_Atomic int x = 0;

void *inc(void *arg) {
    x++;
    x += 2;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, inc, 0);
    pthread_create(&b, 0, inc, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 6);
    return 0;
}
