//@ expect checks: proved
// An amount that is at most what is there moves from one account to another.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int from, to, total;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *transfer(void *arg) {
    int amount = __VERIFIER_nondet_int();
    pthread_mutex_lock(&m);
    if (amount >= 0 && amount <= from) {
        from = from - amount;
        to = to + amount;
    }
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    from = __VERIFIER_nondet_int();
    to = __VERIFIER_nondet_int();
    assume_abort_if_not(0 <= from && from <= 3);
    assume_abort_if_not(to >= 0);
    assume_abort_if_not(to <= 3);
    total = from + to;
    pthread_create(&a, 0, transfer, 0);
    pthread_create(&b, 0, transfer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(from + to == total && from >= 0);
}
