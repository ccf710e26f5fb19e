//@ expect checks: violated
// As any_stack.c, but the one that pops looks before it takes the lock.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int top = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *push(void *arg) {
    pthread_mutex_lock(&m);
    top++;
    pthread_mutex_unlock(&m);
    return 0;
}

void *pop(void *arg) {
    if (top > 0) {
        pthread_mutex_lock(&m);
        top--;
        if (top < 0) {
            reach_error();
        }
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, push, 0);
        pthread_create(&t, 0, pop, 0);
    }
}
