//@ expect checks: proved
// Threads do what truth values say that nobody knows.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
void reach_error(void) { abort(); }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
#include <pthread.h>
int turn = 0, used = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *user(void *arg) {
    _Bool polite = __VERIFIER_nondet_bool();
    if (polite || __VERIFIER_nondet_int()) {
        pthread_mutex_lock(&m);
        used++;
        __VERIFIER_assert(used == 1);
        used--;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    if (__VERIFIER_nondet_bool()) {
        pthread_create(&c, 0, user, 0);
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
}
