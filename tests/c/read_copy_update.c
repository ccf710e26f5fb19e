//@ expect checks: proved
// Readers count themselves in one of two counters; the updater turns to the other one and waits until the old one is empty.
extern void abort(void);
void reach_error() { abort(); }
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>

int idx = 0;
int ctr1 = 1, ctr2 = 0;
int progress1 = 0;
pthread_mutex_t updating = PTHREAD_MUTEX_INITIALIZER;

void __VERIFIER_atomic_use1(int mine) {
    __VERIFIER_assume(mine <= 0 && ctr1 > 0);
    ctr1++;
}

void __VERIFIER_atomic_use2(int mine) {
    __VERIFIER_assume(mine >= 1 && ctr2 > 0);
    ctr2++;
}

void __VERIFIER_atomic_done(int mine) {
    if (mine <= 0) {
        ctr1--;
    } else {
        ctr2--;
    }
}

void *reader(void *arg) {
    int mine = idx;
    if (mine == 0) {
        __VERIFIER_atomic_use1(mine);
    } else {
        __VERIFIER_atomic_use2(mine);
    }
    progress1 = 1;
    progress1 = 2;
    __VERIFIER_atomic_done(mine);
    return 0;
}

void *updater(void *arg) {
    int old;
    pthread_mutex_lock(&updating);
    int before = progress1;
    __VERIFIER_atomic_begin();
    if (idx <= 0) {
        ctr2++;
        idx = 1;
        ctr1--;
        old = 0;
    } else {
        ctr1++;
        idx = 0;
        ctr2--;
        old = 1;
    }
    __VERIFIER_atomic_end();
    if (old == 0) {
        while (ctr1 > 0) {
        }
    } else {
        while (ctr2 > 0) {
        }
    }
    if (before == 1 && progress1 != 2) {
        reach_error();
    }
    pthread_mutex_unlock(&updating);
    return 0;
}

int main(void) {
    pthread_t r, u;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&u, 0, updater, 0);
    pthread_join(r, 0);
    pthread_join(u, 0);
    return 0;
}
