//@ expect checks: proved
// Threads of two kinds, started in pairs: when all have ended, the sum of what they did is 0.
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

atomic_int balance = 0, ended = 0;

void *gives(void *arg) {
    atomic_fetch_add(&balance, 1);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

void *takes(void *arg) {
    atomic_fetch_sub(&balance, 1);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int started = 0;
    while (__VERIFIER_nondet_int() != 0) {
        pthread_create(&a, NULL, gives, NULL);
        pthread_create(&b, NULL, takes, NULL);
        started += 2;
    }
    __VERIFIER_assume(atomic_load(&ended) == started);
    assert(balance == 0);
    return 0;
}
