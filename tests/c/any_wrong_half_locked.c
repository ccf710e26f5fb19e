//@ expect checks: violated
// The writers hold the lock, but the reader does not: it sees the two counters between their increments.
#include <pthread.h>
#include <assert.h>

int x = 0, y = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *arg) {
    pthread_mutex_lock(&m);
    x++;
    y++;
    pthread_mutex_unlock(&m);
    return 0;
}

void *reader(void *arg) {
    int seen = x;
    assert(seen <= y);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, writer, 0);
        pthread_create(&t, 0, reader, 0);
    }
}
