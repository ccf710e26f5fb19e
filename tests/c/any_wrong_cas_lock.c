//@ expect checks: violated
// As any_cas_lock.c, but the lock is given back before the work is done.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int held = 0;
int owner_works = 0;

void *thr(void *arg) {
    while (!__sync_bool_compare_and_swap(&held, 0, 1)) {
    }
    held = 0;
    owner_works = 1;
    if (owner_works != 1) {
        reach_error();
    }
    owner_works = 0;
    return 0;
}

int main(void) {
    pthread_t t;
    for (;;) {
        pthread_create(&t, 0, thr, 0);
    }
}
