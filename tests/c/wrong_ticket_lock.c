//@ expect checks: violated
// A ticket lock whose tickets are taken by reading and then writing: two may get the same.
#include <pthread.h>
#include <assert.h>

volatile unsigned dispenser = 0, shown = 0;
int inside = 0;

void *worker(void *arg) {
    unsigned mine = dispenser++;
    while (shown != mine) {
    }
    inside++;
    assert(inside == 1);
    inside--;
    shown++;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
