//@ expect checks: violated
// All threads get the address of one variable, which may have changed until they look.
#include <assert.h>
#include <pthread.h>

int seen[3];

void *work(void *arg) {
    int id = *(int *)arg;
    assert(id < 2);
    seen[id] = 1;
    return 0;
}

int main(void) {
    pthread_t t[2];
    int i;
    for (i = 0; i < 2; i++) {
        pthread_create(&t[i], 0, work, &i);
    }
}
