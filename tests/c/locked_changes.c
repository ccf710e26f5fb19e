//@ expect checks: proved
// What is changed under a lock and changed back.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <unistd.h>
extern void __goblint_check(int);
int glob1 = 5;
pthread_mutex_t mutex1 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t mutex2 = PTHREAD_MUTEX_INITIALIZER;
void __VERIFIER_assert(int cond) { if (!(cond)) { ERROR: {reach_error();abort();} } }
static void *t_fun(void *arg) {
    int t;
    pthread_mutex_lock(&mutex1);
    t = glob1;
    __VERIFIER_assert(t == 5);
    glob1 = -10;
    __VERIFIER_assert(glob1 == -10);
    glob1 = t;
    pthread_mutex_unlock(&mutex1);
    return NULL;
}
int main(void) {
    pthread_t id;
    __VERIFIER_assert(glob1 == 5);
    pthread_create(&id, NULL, t_fun, NULL);
    pthread_mutex_lock(&mutex1);
    glob1++;
    __VERIFIER_assert(glob1 == 6);
    glob1--;
    pthread_mutex_unlock(&mutex1);
    pthread_join(id, NULL);
    return 0;
}
