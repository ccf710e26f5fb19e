//@ expect checks: proved
// Lamport's fast mutual exclusion, two threads, with gotos as the paper has them.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int x = 0, y = 0;
int b1 = 0, b2 = 0;
int z;

void *thr1(void *arg) {
start:
    b1 = 1;
    x = 1;
    if (y != 0) {
        b1 = 0;
        while (y != 0) {
        }
        goto start;
    }
    y = 1;
    if (x != 1) {
        b1 = 0;
        while (b2 >= 1) {
        }
        if (y != 1) {
            while (y != 0) {
            }
            goto start;
        }
    }
    z = 0;
    if (z > 0) {
        reach_error();
    }
    y = 0;
    b1 = 0;
    return 0;
}

void *thr2(void *arg) {
start:
    b2 = 1;
    x = 2;
    if (y != 0) {
        b2 = 0;
        while (y != 0) {
        }
        goto start;
    }
    y = 2;
    if (x != 2) {
        b2 = 0;
        while (b1 >= 1) {
        }
        if (y != 2) {
            while (y != 0) {
            }
            goto start;
        }
    }
    z = 1;
    if (z < 1) {
        reach_error();
    }
    y = 0;
    b2 = 0;
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
