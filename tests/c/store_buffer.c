//@ expect checks: proved
// Each of two threads has a buffer of one store in front of the memory, and empties it before it reads what the other one stores.
extern void abort(void);
void reach_error(void) {}
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

void check(int holds) {
    if (!holds) {
        reach_error();
        abort();
    }
}

int x = 0, y = 0, kept_x, kept_y, seen_x = -1, seen_y = -1;
_Bool full_x = 0, full_y = 0;

void *first(void *arg) {
    __VERIFIER_atomic_begin();
    check(!full_x);
    kept_x = 1;
    full_x = 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    x = full_x ? kept_x : x;
    full_x = full_x ? (_Bool)0 : full_x;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    seen_y = y;
    __VERIFIER_atomic_end();
    return 0;
}

void *second(void *arg) {
    __VERIFIER_atomic_begin();
    kept_y = 1;
    full_y = 1;
    check(full_y || !full_x);
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    y = full_y ? kept_y : y;
    full_y = full_y && y == 1 ? (_Bool)0 : full_y;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    seen_x = x;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    check(!(seen_x == 0 && seen_y == 0) && !full_x && !full_y);
    return 0;
}
