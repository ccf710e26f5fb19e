//@ expect checks: proved
// As many steps up as down.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
typedef unsigned long int pthread_t_;
int N, x, pos1, pos2;
void *thread1(void *_argptr) {
    while (pos1 < N) {
        __VERIFIER_atomic_begin();
        x = x + 1;
        pos1++;
        __VERIFIER_atomic_end();
    }
    return 0;
}
void *thread2(void *_argptr) {
    while (pos2 < N) {
        __VERIFIER_atomic_begin();
        x = x - 1;
        pos2++;
        __VERIFIER_atomic_end();
    }
    return 0;
}
int main() {
    pthread_t t1, t2;
    N = __VERIFIER_nondet_int();
    x = 0;
    assume_abort_if_not(N >= 0 && N < 6);
    pthread_create(&t1, 0, thread1, 0);
    pthread_create(&t2, 0, thread2, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    assume_abort_if_not(!(x == 0));
    reach_error();
    return 0;
}
