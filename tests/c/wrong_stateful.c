//@ expect checks: violated
// As stateful.c, but the second thread takes `second` without its lock, so a decrement can be lost.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
int first = 10, second = 10;

void *adds(void *arg) {
    pthread_mutex_lock(&first_lock);
    first++;
    pthread_mutex_unlock(&first_lock);
    pthread_mutex_lock(&second_lock);
    second--;
    pthread_mutex_unlock(&second_lock);
    return 0;
}

void *takes(void *arg) {
    pthread_mutex_lock(&first_lock);
    first -= 5;
    pthread_mutex_unlock(&first_lock);
    second -= 6;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, takes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (!(first == 6 && second == 3)) {
        goto ERROR;
    }
    return 0;
ERROR:
    reach_error();
    abort();
}
