//@ expect checks: violated
// The remainder of a number that may be negative is no index.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int slots[4];

void *put(void *arg) {
    int slot = __VERIFIER_nondet_int() % 4;
    slots[slot] = 1;
    return 0;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, put, 0);
    pthread_join(a, 0);
}
