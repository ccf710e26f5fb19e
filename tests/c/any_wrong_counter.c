//@ expect checks: violated
// As any_locked_counter.c without the lock.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int counter = 0;

void *worker(void *arg) {
    int before = counter;
    counter = before + 1;
    if (counter != before + 1) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, worker, 0);
    }
}
