//@ expect checks: proved
// Threads with numbers put what they have into a table by hashing, with a lock for each entry.
#include <pthread.h>
#include <assert.h>

#define SIZE 4
#define THREADS 2

int table[SIZE];
pthread_mutex_t cas_lock[SIZE];

static int claim(int h, int value) {
    int done = 0;
    pthread_mutex_lock(&cas_lock[h]);
    if (table[h] == 0) {
        table[h] = value;
        done = 1;
    }
    pthread_mutex_unlock(&cas_lock[h]);
    return done;
}

void *thread_routine(void *arg) {
    int tid = (int)(long)arg;
    int value = tid + 10;
    int h = (value * 3) % SIZE;
    while (claim(h, value) == 0) {
        h = (h + 1) % SIZE;
    }
    assert(table[h] == value);
    return NULL;
}

int main(void) {
    pthread_t tids[THREADS];
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_init(&cas_lock[i], NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&tids[i], NULL, thread_routine, (void *)(long)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(tids[i], NULL);
    }
    return 0;
}
