//@ expect checks: proved
// Peterson's mutual exclusion for two threads, with busy waiting.
extern void abort(void);
void reach_error() { abort(); }
void __VERIFIER_assert(int cond) {
    if (!(cond)) {
    ERROR: {
        reach_error();
        abort();
    }
    }
    return;
}
#include <pthread.h>

int wants1 = 0, wants2 = 0;
int turn;
int inside = 0;

void *thr1(void *arg) {
    wants1 = 1;
    turn = 1;
    int f = wants2;
    int t = turn;
    while (f == 1 && t == 1) {
        f = wants2;
        t = turn;
    }
    inside = 0;
    __VERIFIER_assert(inside <= 0);
    wants1 = 0;
    return 0;
}

void *thr2(void *arg) {
    wants2 = 1;
    turn = 0;
    int f = wants1;
    int t = turn;
    while (f == 1 && t == 0) {
        f = wants1;
        t = turn;
    }
    inside = 1;
    __VERIFIER_assert(inside >= 1);
    wants2 = 0;
    return 0;
}

int main() {
    pthread_t t1, t2;
    pthread_create(&t1, 0, thr1, 0);
    pthread_create(&t2, 0, thr2, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
