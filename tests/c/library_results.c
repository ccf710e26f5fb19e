//@ expect checks: proved
// What functions of libraries give, on ways that may be taken side by side.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t b;
sem_t s;
int serial;

void *side(void *a) {
    int r = pthread_rwlock_trywrlock(&l);
    assert(r == 0 || r == EBUSY);
    if (r == 0) {
        assert(pthread_rwlock_rdlock(&l) == EDEADLK);
        assert(pthread_rwlock_unlock(&l) == 0);
    }
    assert(sem_post(&s) == 0);
    r = pthread_barrier_wait(&b);
    assert(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
    if (r != 0) __atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int main(void) {
    pthread_t t, u;
    assert(sem_init(&s, 0, 0) == 0);
    assert(pthread_barrier_init(&b, 0, 2) == 0);
    pthread_create(&t, 0, side, 0);
    pthread_create(&u, 0, side, 0);
    assert(sem_wait(&s) == 0);
    int r = sem_trywait(&s);
    assert(r == 0 || r == -1);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(serial == 1);
    assert(pthread_barrier_destroy(&b) == 0);
    return 0;
}
