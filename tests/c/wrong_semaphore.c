//@ expect checks: violated
// As semaphore.c, but both begin open.
#include <pthread.h>
#include <semaphore.h>
#include <assert.h>

sem_t ping, pong;
int ball = 0;

void *first(void *arg) {
    sem_wait(&ping);
    assert(ball == 0);
    ball = 1;
    sem_post(&pong);
    return 0;
}

void *second(void *arg) {
    sem_wait(&pong);
    assert(ball == 1);
    ball = 0;
    sem_post(&ping);
    return 0;
}

int main(void) {
    pthread_t a, b;
    sem_init(&ping, 0, 1);
    sem_init(&pong, 0, 1);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
