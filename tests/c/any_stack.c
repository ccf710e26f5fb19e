//@ expect checks: proved
// The height of a stack with any number of threads that push and pop: it is never below 0, and a push is never lost.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int top = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *push(void *arg) {
    pthread_mutex_lock(&m);
    top++;
    if (top < 1) {
        reach_error();
    }
    pthread_mutex_unlock(&m);
    return 0;
}

void *pop(void *arg) {
    pthread_mutex_lock(&m);
    if (top > 0) {
        top--;
    }
    if (top < 0) {
        reach_error();
    }
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, push, 0);
        pthread_create(&t, 0, pop, 0);
    }
}
