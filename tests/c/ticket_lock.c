//@ expect checks: proved
// A ticket lock from an atomic increment, for three threads.
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>

atomic_uint dispenser, shown;
int inside;

void *worker(void *arg) {
    unsigned int mine = atomic_fetch_add(&dispenser, 1);
    while (atomic_load(&shown) != mine) {
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_fetch_add(&shown, 1);
    return NULL;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], NULL, worker, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    assert(atomic_load(&shown) == 3);
    return 0;
}
