//@ expect checks: proved
// Threads get addresses of elements of an array.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#define N 2
int res[N];
int ids[N];
void *t(void *arg) { int i = *(int *)arg; res[i] = i * i; return 0; }
int main(void) {
    pthread_t th[N];
    for (int i = 0; i < N; i++) {
        ids[i] = i;
        if (pthread_create(th + i, NULL, t, &ids[i]) != 0) return 1;
    }
    int s = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(th[i], NULL);
        s += res[i];
    }
    assert(s == 1);
    return 0;
}
