//@ expect checks: proved
// A semaphore with one permit is a lock for any number of threads.
#include <pthread.h>
#include <semaphore.h>
#include <assert.h>

sem_t permit;
int inside = 0;

void *thr(void *arg) {
    sem_wait(&permit);
    inside = 1;
    assert(inside == 1);
    inside = 0;
    sem_post(&permit);
    return 0;
}

int main(void) {
    pthread_t t;
    sem_init(&permit, 0, 1);
    while (1) {
        pthread_create(&t, 0, thr, 0);
    }
}
