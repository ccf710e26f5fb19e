//@ expect checks: proved
// A slot is chosen by the remainder of an input.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int slots[4];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *put(void *arg) {
    unsigned int slot = __VERIFIER_nondet_uint() % 4;
    pthread_mutex_lock(&m);
    slots[slot] = slots[slot] + 1;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, put, 0);
    pthread_create(&b, 0, put, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    __VERIFIER_assert(slots[0] + slots[1] + slots[2] + slots[3] == 2);
}
