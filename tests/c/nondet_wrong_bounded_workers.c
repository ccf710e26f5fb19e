//@ expect checks: violated
// The same without a lock.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int n, done = 0;

void *worker(void *arg) {
    for (int i = 0; i < n; i++) {
        done++;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    n = __VERIFIER_nondet_int();
    assume_abort_if_not(n > 0 && n < 5);
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(done == 2 * n);
}
