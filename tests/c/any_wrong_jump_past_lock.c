//@ expect checks: violated
// The loop is entered behind the lock, so `x` is not protected by it.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

void *locked(void *a) {
    pthread_mutex_lock(&m);
    x = 1;
    assert(x == 1);
    pthread_mutex_unlock(&m);
    return 0;
}

void *jumps(void *a) {
    int i = 0;
    goto in;
    while (i < 2) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    in:
        x = 2;
        i++;
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, locked, 0);
        pthread_create(&t, 0, jumps, 0);
    }
}
