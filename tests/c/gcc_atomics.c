//@ expect checks: proved
// gcc's builtins with memory orders; the orders are weaker than what is checked, which is sequential consistency.
#include <pthread.h>
#include <assert.h>

int turns = 0;
int owner = -1;

void *play(void *arg) {
    int me = (int)(long)arg;
    int nobody = -1;
    if (__atomic_compare_exchange_n(&owner, &nobody, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    } else {
        assert(nobody != -1);
    }
    int old = __atomic_exchange_n(&turns, 1, __ATOMIC_SEQ_CST);
    assert(old == 0 || old == 1 || old == 2);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, play, (void *)1);
    pthread_create(&b, 0, play, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int last = __atomic_load_n(&owner, __ATOMIC_SEQ_CST);
    assert(last == 1 || last == 2);
    return 0;
}
