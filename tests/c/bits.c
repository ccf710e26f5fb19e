//@ expect checks: proved
// Two threads set bits of a word with atomic or, and none is lost.
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int word;

void *set(void *arg) {
    int mask = 1 << (int)(long)arg;
    atomic_fetch_or(&word, mask);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, set, (void *)0);
    pthread_create(&b, 0, set, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int w = atomic_load(&word);
    assert(w == 5 && (w & 4) != 0 && (w ^ 1) == 4);
    return 0;
}
