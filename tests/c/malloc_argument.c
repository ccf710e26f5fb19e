//@ expect checks: proved
// Arguments of threads in memory from malloc.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <stdlib.h>
typedef struct {
    int id;
    int amount;
} args_t;
int sum = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *add(void *p) {
    args_t *a = (args_t *)p;
    pthread_mutex_lock(&m);
    sum += a->amount;
    pthread_mutex_unlock(&m);
    free(a);
    return NULL;
}
int main(void) {
    pthread_t t1, t2;
    args_t *x = malloc(sizeof(args_t));
    args_t *y = (args_t *)malloc(sizeof(*y));
    x->id = 1;
    x->amount = 2;
    y->id = 2;
    y->amount = 3;
    pthread_create(&t1, NULL, add, x);
    pthread_create(&t2, NULL, add, y);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    if (sum != 5)
        reach_error();
    return 0;
}
