//@ expect checks: proved
// Main prepares, and only then starts threads: all of them find what it prepared.
#include <pthread.h>
#include <assert.h>

int ready = 0, limit = 0;

void *thr(void *arg) {
    assert(ready == 1);
    assert(limit == 8);
    return 0;
}

int main(void) {
    pthread_t t;
    limit = 8;
    ready = 1;
    while (1) {
        pthread_create(&t, 0, thr, 0);
    }
}
