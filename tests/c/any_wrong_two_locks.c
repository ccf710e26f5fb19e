//@ expect checks: violated
// Everybody holds a lock, but not the same one.
#include <pthread.h>
#include <assert.h>

int x = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

void *first(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    assert(x == 1);
    pthread_mutex_unlock(&m);
    return 0;
}

void *second(void *arg) {
    pthread_mutex_lock(&n);
    x = 2;
    pthread_mutex_unlock(&n);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, first, 0);
        pthread_create(&t, 0, second, 0);
    }
}
