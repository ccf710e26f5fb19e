//@ expect checks: violated
// Peterson's protocol with the two writes of the entry exchanged: the flag comes too late.
extern void abort(void);
void reach_error() { abort(); }
void __VERIFIER_assert(int cond) {
    if (!cond) {
        reach_error();
        abort();
    }
}
#include <pthread.h>

int wants1 = 0, wants2 = 0;
int turn;
int inside = 0;

void *thr1(void *arg) {
    turn = 1;
    wants1 = 1;
    while (wants2 == 1 && turn == 1) {
    }
    inside = 0;
    __VERIFIER_assert(inside <= 0);
    wants1 = 0;
    return 0;
}

void *thr2(void *arg) {
    turn = 0;
    wants2 = 1;
    while (wants1 == 1 && turn == 0) {
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
    return 0;
}
