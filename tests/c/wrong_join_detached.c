//@ expect checks: violated
// A detached thread cannot be joined.
#include <pthread.h>
#include <assert.h>

void *f(void *a) { return 0; }

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    pthread_detach(t);
    assert(pthread_join(t, 0) == 0);
    return 0;
}
