//@ expect checks: proved
// As wrong_sigma.c, but places are handed out by an atomic increment.
#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>

#define SIZE 3

int place[SIZE];
atomic_int next_place = 0;

void *fill(void *arg) {
    int mine = atomic_fetch_add(&next_place, 1);
    place[mine] = 1;
    return 0;
}

int main(void) {
    pthread_t t[SIZE];
    for (int i = 0; i < SIZE; i++) {
        pthread_create(&t[i], 0, fill, 0);
    }
    for (int i = 0; i < SIZE; i++) {
        pthread_join(t[i], 0);
    }
    int sum = 0;
    for (int i = 0; i < SIZE; i++) {
        sum += place[i];
    }
    assert(sum == SIZE);
    return 0;
}
