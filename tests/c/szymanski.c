//@ expect checks: proved
// Szymanski's mutual exclusion for two threads: the flags are the rooms of his waiting hall.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int flag1 = 0, flag2 = 0;
int x;

void *thr1(void *arg) {
    int f;
    flag1 = 1;
    do {
        f = flag2;
    } while (f >= 3);
    flag1 = 3;
    if (flag2 == 1) {
        flag1 = 2;
        do {
            f = flag2;
        } while (f != 4);
    }
    flag1 = 4;
    x = 0;
    if (x > 0) {
        reach_error();
    }
    do {
        f = flag2;
    } while (f == 2 || f == 3);
    flag1 = 0;
    return 0;
}

void *thr2(void *arg) {
    int f;
    flag2 = 1;
    do {
        f = flag1;
    } while (f >= 3);
    flag2 = 3;
    if (flag1 == 1) {
        flag2 = 2;
        do {
            f = flag1;
        } while (f != 4);
    }
    flag2 = 4;
    do {
        f = flag1;
    } while (f >= 2);
    x = 1;
    if (x < 1) {
        reach_error();
    }
    flag2 = 0;
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
