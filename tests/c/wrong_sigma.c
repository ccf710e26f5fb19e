//@ expect checks: violated
// Each thread takes a free place of an array by reading an index and then moving it on: two may take the same.
#include <pthread.h>
#include <assert.h>

#define SIZE 3

int place[SIZE];
int next_place = 0;

void *fill(void *arg) {
    place[next_place] = 1;
    next_place = next_place + 1;
    return 0;
}

int main(void) {
    pthread_t t[SIZE];
    for (int i = 0; i < SIZE; i++) {
        place[i] = 0;
    }
    for (int i = 0; i < SIZE; i++) {
        pthread_create(&t[i], 0, fill, 0);
    }
    for (int i = 0; i < SIZE; i++) {
        pthread_join(t[i], 0);
    }
    int sum = 0;
    for (int i = 0; i < SIZE; i++) {
        sum += place[i];
    }
    assert(sum == SIZE);
    return 0;
}
