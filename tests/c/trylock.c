//@ expect checks: proved
// Whoever does not get the lock at once goes without; the one that has it is alone.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside = 0, refused = 0;

void *attempt(void *arg) {
    if (pthread_mutex_trylock(&m) == 0) {
        inside++;
        assert(inside == 1);
        inside--;
        pthread_mutex_unlock(&m);
    } else {
        refused = 1;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, attempt, 0);
    pthread_create(&b, 0, attempt, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(inside == 0);
    return 0;
}
