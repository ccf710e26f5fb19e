//@ expect checks: proved
// A server does commands until one of them says that it is to stop.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int state = 0, stopped = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *server(void *arg) {
    while (1) {
        int command = __VERIFIER_nondet_int();
        pthread_mutex_lock(&m);
        switch (command) {
        case 1:
            state = 1;
            break;
        case 2:
            if (state == 1) {
                state = 2;
            }
            break;
        case 100:
            state = 0;
            stopped = 1;
            pthread_mutex_unlock(&m);
            return 0;
        default:
            break;
        }
        pthread_mutex_unlock(&m);
    }
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, server, 0);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        __VERIFIER_assert(0 <= state && state <= 2);
        __VERIFIER_assert(!stopped || state == 0);
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, 0);
    __VERIFIER_assert(stopped);
}
