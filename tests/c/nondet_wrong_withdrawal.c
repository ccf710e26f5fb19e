//@ expect checks: violated
// The balance is looked at without the lock.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int from = 10;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *take(void *arg) {
    int amount = __VERIFIER_nondet_int();
    if (amount < 0 || amount > from) {
        return 0;
    }
    pthread_mutex_lock(&m);
    from = from - amount;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(from >= 0);
}
