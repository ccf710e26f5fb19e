//@ expect checks: violated
// Dekker's protocol where the second thread looks before it raises its flag.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int flag1 = 0, flag2 = 0;
int turn = 0;
int x;

void *thr1(void *arg) {
    flag1 = 1;
    while (flag2 >= 1) {
        if (turn != 0) {
            flag1 = 0;
            while (turn != 0) {
            }
            flag1 = 1;
        }
    }
    x = 0;
    if (!(x <= 0)) {
        reach_error();
    }
    turn = 1;
    flag1 = 0;
    return 0;
}

void *thr2(void *arg) {
    while (flag1 >= 1) {
        while (turn != 1) {
        }
    }
    flag2 = 1;
    x = 1;
    if (!(x >= 1)) {
        reach_error();
    }
    turn = 0;
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
