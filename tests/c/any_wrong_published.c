//@ expect checks: violated
// As any_published.c, but main begins to start threads too early.
#include <pthread.h>
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int ready = 0, limit = 0;

void *thr(void *arg) {
    if (ready) {
        assert(limit == 8);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    ready = 1;
    while (__VERIFIER_nondet_int()) {
        pthread_create(&t, 0, thr, 0);
    }
    limit = 8;
    return 0;
}
