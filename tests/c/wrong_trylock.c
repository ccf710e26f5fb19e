//@ expect checks: violated
// Nobody looks at what trylock says, so a thread that was refused releases the lock of the other.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int inside = 0;

void *attempt(void *arg) {
    pthread_mutex_trylock(&m);
    inside = inside + 1;
    assert(inside == 1);
    inside = inside - 1;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, attempt, 0);
    pthread_create(&b, 0, attempt, 0);
    return 0;
}
