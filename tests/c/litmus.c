//@ expect checks: proved
// Store buffering with fences, with the names that generated programs have.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void *P0(void *arg);
void *P1(void *arg);
int __unbuffered_cnt = 0;
int __unbuffered_p0_EAX = 0;
int __unbuffered_p1_EAX = 0;
_Bool main$tmp_guard0;
_Bool main$tmp_guard1;
int x = 0, y = 0;
_Bool x$flush_delayed;
int x$mem_tmp;
_Bool weak$$choice0;
void fence(void) { __sync_synchronize(); }
void isync(void) {}
void *P0(void *arg) {
    __VERIFIER_atomic_begin();
    x = 1;
    __VERIFIER_atomic_end();
    fence();
    __VERIFIER_atomic_begin();
    __unbuffered_p0_EAX = y;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    __unbuffered_cnt = __unbuffered_cnt + 1;
    __VERIFIER_atomic_end();
    return 0;
}
void *P1(void *arg) {
    __VERIFIER_atomic_begin();
    y = 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    weak$$choice0 = __VERIFIER_nondet_int();
    x$flush_delayed = weak$$choice0;
    x$mem_tmp = x;
    x = x$flush_delayed ? x$mem_tmp : x;
    x$flush_delayed = (_Bool)0;
    __unbuffered_p1_EAX = x;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    __unbuffered_cnt = __unbuffered_cnt + 1;
    __VERIFIER_atomic_end();
    return 0;
}
int main() {
    pthread_t t1, t2;
    pthread_create(&t1, NULL, P0, NULL);
    pthread_create(&t2, NULL, P1, NULL);
    __VERIFIER_atomic_begin();
    main$tmp_guard0 = __unbuffered_cnt == 2;
    __VERIFIER_atomic_end();
    assume_abort_if_not(main$tmp_guard0);
    __VERIFIER_atomic_begin();
    main$tmp_guard1 = !(__unbuffered_p0_EAX == 0 && __unbuffered_p1_EAX == 0);
    __VERIFIER_atomic_end();
    if (!main$tmp_guard1) { reach_error(); abort(); }
    return 0;
}
