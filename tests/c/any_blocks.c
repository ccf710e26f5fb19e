//@ expect checks: proved
// Threads share out a list of any length: each takes a block of ten under a lock and goes through it, always inside the list.
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error() { abort(); }
#include <pthread.h>

int len;
int next = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *thr(void *arg) {
    int c = 0, end = 0;
    pthread_mutex_lock(&m);
    if (next + 10 <= len) {
        c = next;
        next = next + 10;
        end = next;
    }
    pthread_mutex_unlock(&m);
    while (c < end) {
        if (!(0 <= c && c < len)) {
            reach_error();
        }
        c = c + 1;
    }
    return 0;
}

int main(void) {
    pthread_t t;
    len = __VERIFIER_nondet_int();
    while (1) {
        pthread_create(&t, 0, thr, 0);
    }
}
