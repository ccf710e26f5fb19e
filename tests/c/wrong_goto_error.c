//@ expect checks: violated
// The error is a label.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
int flag = 0, data = 0;
void *w(void *a) { data = 1; flag = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if (data == 1 && flag == 0)
        goto ERROR;
    return 0;
ERROR:
    reach_error();
    return 1;
}
