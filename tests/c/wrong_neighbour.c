//@ expect checks: violated
// Each thread is given a pointer to an element that has been written, and reads the next one, which may not have been.
#include <assert.h>
#include <pthread.h>

void *compare(void *argument) {
    char *own = argument;
    assert(own[1] == 0 || own[1] == 1);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    char numbers[3];
    for (int i = 0; i < 2; i++) {
        numbers[i] = 1;
        pthread_create(&threads[i], 0, compare, &numbers[i]);
    }
    numbers[2] = 1;
}
