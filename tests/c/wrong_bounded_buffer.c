//@ expect checks: violated
// Two consumers, and `if` where `while` should be: who is woken up does not look again.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t full = PTHREAD_COND_INITIALIZER;
int num = 0;

void *producer(void *arg) {
    pthread_mutex_lock(&m);
    num++;
    pthread_cond_broadcast(&full);
    pthread_mutex_unlock(&m);
    return NULL;
}

void *consumer(void *arg) {
    pthread_mutex_lock(&m);
    if (num == 0) {
        pthread_cond_wait(&full, &m);
    }
    num--;
    assert(num >= 0);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t p, c1, c2;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c1, NULL, consumer, NULL);
    pthread_create(&c2, NULL, consumer, NULL);
    return 0;
}
