//@ expect checks: proved
// Each thread increments under a lock and takes its increment back under the lock: the counter is never negative, and not 0 between.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int users = 0;

void *user(void *arg) {
    pthread_mutex_lock(&m);
    users++;
    pthread_mutex_unlock(&m);

    pthread_mutex_lock(&m);
    assert(users > 0);
    users--;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, user, 0);
    }
}
