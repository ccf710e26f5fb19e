//@ expect checks: violated
// A mutex is released by a thread that does not hold it.
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int busy = 0;

void *other(void *arg) {
    if (busy) {
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    pthread_mutex_lock(&m);
    busy = 1;
    busy = 0;
    pthread_mutex_unlock(&m);
    return 0;
}
