//@ expect checks: violated
// The same without the lock, from a number below.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int max = -1, x, y;

void *first(void *arg) {
    if (x > max) {
        max = x;
    }
    return 0;
}

void *second(void *arg) {
    if (y > max) {
        max = y;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    x = __VERIFIER_nondet_int();
    y = __VERIFIER_nondet_int();
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(max >= x && max >= y);
}
