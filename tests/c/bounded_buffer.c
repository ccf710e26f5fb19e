//@ expect checks: proved
// Producer and consumer with a buffer of one place, and two condition variables; waits are in loops, so waking up for nothing does no harm.
#include <pthread.h>
#include <assert.h>

#define ROUNDS 2

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
int num = 0;

void *producer(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        while (num > 0) {
            pthread_cond_wait(&empty, &m);
        }
        num++;
        assert(num == 1);
        pthread_cond_signal(&full);
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

void *consumer(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        while (num == 0) {
            pthread_cond_wait(&full, &m);
        }
        num--;
        assert(num == 0);
        pthread_cond_signal(&empty);
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void) {
    pthread_t p, c;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    assert(num == 0);
    return 0;
}
