//@ expect checks: violated
// One of three inputs is the bad one, and only if the other thread has come first.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int cond);
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>

int mode = 0;

void *set(void *arg) {
    mode = 2;
    return 0;
}

int main(void) {
    pthread_t t;
    int choice = __VERIFIER_nondet_int();
    __VERIFIER_assume(choice >= 1 && choice <= 3);
    pthread_create(&t, 0, set, 0);
    if (mode + choice == 5) {
        reach_error();
    }
    return 0;
}
