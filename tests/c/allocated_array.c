//@ expect checks: proved
// An array from calloc behind a pointer outside of functions.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <stdlib.h>
int *data;
int len = 4;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *t(void *a) {
    for (int i = 0; i < len; i++) {
        pthread_mutex_lock(&m);
        data[i] = data[i] + 1;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    data = (int *)calloc(4, sizeof(int));
    pthread_create(&a, 0, t, 0);
    pthread_create(&b, 0, t, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(data[0] == 2 && data[3] == 2);
}
