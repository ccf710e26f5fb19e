//@ expect checks: violated
// As driver_races.c, but the device is taken away while somebody may have it open.
#include <pthread.h>
#include <assert.h>

static int registered, users;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *user(void *arg) {
    pthread_mutex_lock(&mutex);
    int mine = registered;
    if (mine) {
        users++;
    }
    pthread_mutex_unlock(&mutex);
    if (mine) {
        assert(registered);
    }
    return 0;
}

int main(void) {
    pthread_t a;
    registered = 1;
    pthread_create(&a, 0, user, 0);
    pthread_mutex_lock(&mutex);
    registered = 0;
    pthread_mutex_unlock(&mutex);
    pthread_join(a, 0);
    return 0;
}
