//@ expect checks: proved
// A condition variable behind an attempt to lock.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
int ready = 0, val = 0;
void *prod(void *a) {
    pthread_mutex_lock(&mu);
    val = 42;
    ready = 1;
    pthread_cond_broadcast(&cv);
    pthread_mutex_unlock(&mu);
    return (void *)0;
}
void *cons(void *a) {
    if (pthread_mutex_trylock(&mu) == 0) {
        while (!ready)
            pthread_cond_wait(&cv, &mu);
        assert(val == 42);
        pthread_mutex_unlock(&mu);
    }
    return (void *)0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, prod, 0);
    pthread_create(&b, 0, cons, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
