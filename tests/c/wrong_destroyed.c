//@ expect checks: violated
// A mutex is destroyed that a thread may hold.
#include <pthread.h>

int x = 0;
pthread_mutex_t m;

void *work(void *arg) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_init(&m, 0);
    pthread_create(&t, 0, work, 0);
    pthread_mutex_destroy(&m);
    return 0;
}
