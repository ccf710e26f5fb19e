//@ expect checks: violated
// As double_checked.c, but `ready` is set before the value is there.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
int ready = 0, value = 0;

int get(void) {
    if (!ready) {
        pthread_mutex_lock(&once);
        if (!ready) {
            ready = 1;
            value = 7;
        }
        pthread_mutex_unlock(&once);
    }
    return value;
}

void *user(void *arg) {
    int v = get();
    assert(v == 7);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
