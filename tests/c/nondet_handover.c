//@ expect checks: proved
// Any value is handed over through a flag.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int data, sent;
volatile int ready = 0;

void *receiver(void *arg) {
    while (!ready) {
    }
    __VERIFIER_assert(data == sent);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, receiver, 0);
    int value = __VERIFIER_nondet_int();
    sent = value;
    data = value;
    ready = 1;
    pthread_join(t, 0);
}
