//@ expect checks: violated
// Waiting on a condition variable gives the lock away: what was read before it is old.
#include <pthread.h>
#include <assert.h>

int x = 0, go = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

void *waits(void *arg) {
    pthread_mutex_lock(&m);
    int before = x;
    while (!go) {
        pthread_cond_wait(&c, &m);
    }
    assert(x == before);
    pthread_mutex_unlock(&m);
    return 0;
}

void *sets(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    go = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, waits, 0);
        pthread_create(&t, 0, sets, 0);
    }
}
