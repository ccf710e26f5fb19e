//@ expect checks: violated
// The element is written only after the thread that reads it has been created.
#include <assert.h>
#include <pthread.h>

void *read(void *argument) {
    int own = *(int *)argument;
    assert(own < 2);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int numbers[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, read, &numbers[i]);
        numbers[i] = 1;
    }
}
