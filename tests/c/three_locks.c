//@ expect checks: proved
// A read-write lock, a spin lock and a semaphore.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <semaphore.h>
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t sp;
sem_t s;
int a = 0, b = 0, c = 0;
void *r(void *x) {
    pthread_rwlock_rdlock(&rw);
    int v = a;
    assert(v == a);
    pthread_rwlock_unlock(&rw);
    pthread_spin_lock(&sp);
    b++;
    pthread_spin_unlock(&sp);
    sem_post(&s);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_spin_init(&sp, PTHREAD_PROCESS_PRIVATE);
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, r, 0);
    pthread_rwlock_wrlock(&rw);
    a = 1;
    a = 2;
    pthread_rwlock_unlock(&rw);
    sem_wait(&s);
    assert(b == 1);
    pthread_join(t, 0);
    sem_destroy(&s);
    return 0;
}
