//@ expect checks: proved
// One function serves two counters and two locks, which it gets by their addresses.
#include <pthread.h>
#include <assert.h>

static pthread_mutex_t apples_lock = PTHREAD_MUTEX_INITIALIZER, pears_lock = PTHREAD_MUTEX_INITIALIZER;
static int apples, pears;

static void add(int *counter, pthread_mutex_t *lock, int how_many) {
    pthread_mutex_lock(lock);
    *counter += how_many;
    pthread_mutex_unlock(lock);
}

void *picker(void *arg) {
    add(&apples, &apples_lock, 2);
    add(&pears, &pears_lock, 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, picker, 0);
    pthread_create(&b, 0, picker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(apples == 4 && pears == 2);
    return 0;
}
