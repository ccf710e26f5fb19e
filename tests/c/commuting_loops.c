//@ expect checks: proved
// Two threads go through the same bounded number of steps; when both have ended, their results agree, whatever the bound.
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}
void reach_error() { abort(); }
extern unsigned int __VERIFIER_nondet_uint(void);
#include <pthread.h>

unsigned int n, s1 = 0, s2 = 0;

void *up(void *arg) {
    for (unsigned int i = 0; i < n; i++) {
        s1 += 2;
    }
    return 0;
}

void *twice(void *arg) {
    for (unsigned int i = 0; i < n; i++) {
        s2++;
    }
    s2 = s2 + s2;
    return 0;
}

int main(void) {
    pthread_t a, b;
    n = __VERIFIER_nondet_uint();
    assume_abort_if_not(n <= 3);
    pthread_create(&a, 0, up, 0);
    pthread_create(&b, 0, twice, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assume_abort_if_not(s1 != s2);
    reach_error();
    return 0;
}
