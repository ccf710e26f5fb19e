//@ expect checks: violated
// A barrier for no thread cannot be initialised.
#include <pthread.h>
#include <assert.h>

pthread_barrier_t b;

int main(void) {
    int r = pthread_barrier_init(&b, 0, 0);
    assert(r == 0);
    return 0;
}
