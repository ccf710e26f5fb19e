//@ expect checks: proved
// Each thread is given a pointer to an element that has just been written; the others are not written yet.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int sum;

void *add(void *argument) {
    int own = *(int *)argument;
    pthread_mutex_lock(&lock);
    sum += own;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    int numbers[3];
    for (int i = 0; i < 3; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], 0, add, &numbers[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(sum == 3);
}
