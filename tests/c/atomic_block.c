//@ expect checks: proved
// Between __VERIFIER_atomic_begin and _end nobody else moves.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int a = 5, b = 5;

void *move(void *arg) {
    __VERIFIER_atomic_begin();
    a = a - 1;
    b = b + 1;
    __VERIFIER_atomic_end();
    return 0;
}

void *look(void *arg) {
    int sum;
    __VERIFIER_atomic_begin();
    sum = a + b;
    __VERIFIER_atomic_end();
    assert(sum == 10);
    return 0;
}

int main(void) {
    pthread_t m1, m2, l;
    pthread_create(&m1, 0, move, 0);
    pthread_create(&m2, 0, move, 0);
    pthread_create(&l, 0, look, 0);
    return 0;
}
