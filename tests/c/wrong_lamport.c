//@ expect checks: violated
// Lamport's fast mutual exclusion without the second reading of x.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int y = 0;
int z;

void *thr1(void *arg) {
start:
    if (y != 0) {
        goto start;
    }
    y = 1;
    if (y != 1) {
        goto start;
    }
    z = 0;
    if (z > 0) {
        reach_error();
    }
    y = 0;
    return 0;
}

void *thr2(void *arg) {
start:
    if (y != 0) {
        goto start;
    }
    y = 2;
    if (y != 2) {
        goto start;
    }
    z = 1;
    if (z < 1) {
        reach_error();
    }
    y = 0;
    return 0;
}

int main() {
    pthread_t t1, t2;
    pthread_create(&t1, 0, thr1, 0);
    pthread_create(&t2, 0, thr2, 0);
    return 0;
}
