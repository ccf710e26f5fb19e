//@ expect checks: violated
// Somebody else may hold the lock just now: then trylock fails, however short the time is for which it is held.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int x = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    x = x + 1;
    pthread_mutex_unlock(&m);
    return 0;
}

void *visitor(void *arg) {
    if (pthread_mutex_trylock(&m) != 0) {
        reach_error();
    }
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, visitor, 0);
    while (1) {
        pthread_create(&t, 0, worker, 0);
    }
}
