//@ expect checks: proved
// Any number of threads use a counter under a lock; whoever holds the lock finds what it wrote.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int counter = 0;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    int before = counter;
    counter = before + 1;
    if (counter != before + 1) {
        reach_error();
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, worker, 0);
    }
}
