//@ expect checks: proved
// Double-checked initialisation: `ready` is set last, so nobody uses what is not there, and it is made once.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
int ready = 0, value = 0, made = 0;

int get(void) {
    if (!ready) {
        pthread_mutex_lock(&once);
        if (!ready) {
            made++;
            value = 7;
            ready = 1;
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
    assert(made == 1);
    return 0;
}
