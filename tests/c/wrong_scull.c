//@ expect checks: violated
// As scull.c, but a write may go past the end: the index check fails.
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>

#define QUANTUM 4

int dev_data[QUANTUM];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *arg) {
    int pos = __VERIFIER_nondet_int();
    assume_abort_if_not(pos >= 0 && pos <= QUANTUM);
    pthread_mutex_lock(&lock);
    dev_data[pos] = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t w1, w2;
    pthread_create(&w1, 0, writer, 0);
    pthread_create(&w2, 0, writer, 0);
    pthread_join(w1, 0);
    pthread_join(w2, 0);
    return 0;
}
