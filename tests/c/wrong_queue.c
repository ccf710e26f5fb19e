//@ expect checks: violated
// As queue.c, but the consumer looks at the amount before it takes the lock, and there are two consumers.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

#define SIZE 2

int cells[SIZE];
int amount = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *producer(void *arg) {
    pthread_mutex_lock(&m);
    cells[amount] = 7;
    amount++;
    pthread_mutex_unlock(&m);
    return NULL;
}

void *consumer(void *arg) {
    if (amount > 0) {
        pthread_mutex_lock(&m);
        amount--;
        if (amount < 0) {
            reach_error();
        }
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void) {
    pthread_t p, c1, c2;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c1, NULL, consumer, NULL);
    pthread_create(&c2, NULL, consumer, NULL);
    return 0;
}
