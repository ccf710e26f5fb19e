//@ expect checks: proved
// The barrier of the library, for two: what was written before it is seen behind it.
#include <pthread.h>
#include <assert.h>

pthread_barrier_t meet;
int left_ready, right_ready;

void *left(void *arg) {
    left_ready = 1;
    pthread_barrier_wait(&meet);
    assert(right_ready == 1);
    return NULL;
}

void *right(void *arg) {
    right_ready = 1;
    pthread_barrier_wait(&meet);
    assert(left_ready == 1);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&meet, NULL, 2);
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
