//@ expect checks: proved
// Pointers outside of functions that keep their values.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
struct { int datum; pthread_mutex_t mutex; } A, B;
pthread_mutex_t *const pm = &A.mutex;
int *p = &A.datum;
void *t_fun(void *arg) {
    pthread_mutex_lock(pm);
    *p = *p + 1;
    pthread_mutex_unlock(pm);
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_mutex_init(&A.mutex, NULL);
    pthread_create(&t, NULL, t_fun, NULL);
    pthread_mutex_lock(&A.mutex);
    A.datum++;
    pthread_mutex_unlock(&A.mutex);
    pthread_join(t, NULL);
    assert(A.datum == 2);
    return 0;
}
