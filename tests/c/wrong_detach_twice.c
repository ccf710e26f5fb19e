//@ expect checks: violated
// A thread may be detached once.
#include <pthread.h>
#include <assert.h>

void *f(void *a) { return 0; }

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    assert(pthread_detach(t) == 0);
    assert(pthread_detach(t) == 0);
    return 0;
}
