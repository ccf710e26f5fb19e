//@ expect checks: violated
// As indexer.c without the locks, and with the same hash for both: one overwrites the other.
#include <pthread.h>
#include <assert.h>

#define SIZE 4
#define THREADS 2

int table[SIZE];

void *thread_routine(void *arg) {
    int tid = (int)(long)arg;
    int value = 2 * tid + 1;
    int h = (value * 2) % SIZE;
    while (table[h] != 0) {
        h = (h + 1) % SIZE;
    }
    table[h] = value;
    assert(table[h] == value);
    return NULL;
}

int main(void) {
    pthread_t tids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&tids[i], NULL, thread_routine, (void *)(long)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(tids[i], NULL);
    }
    return 0;
}
