//@ expect checks: violated
// As any_tickets.c, but a customer is served before it takes its ticket.
extern void abort(void);
void reach_error() { abort(); }
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken = 0, served = 0;

void *customer(void *arg) {
    served++;
    int t = taken;
    if (t < served - 1) {
        reach_error();
    }
    taken++;
    return 0;
}

int main(void) {
    pthread_t t;
    while (__VERIFIER_nondet_int()) {
        pthread_create(&t, 0, customer, 0);
    }
    return 0;
}
