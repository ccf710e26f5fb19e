//@ expect checks: violated
// A thread that has a read-write lock for writing does not get it again: the result is EDEADLK.
#include <pthread.h>
#include <assert.h>

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

int main(void) {
    pthread_rwlock_wrlock(&l);
    int r = pthread_rwlock_wrlock(&l);
    assert(r == 0);
    return 0;
}
