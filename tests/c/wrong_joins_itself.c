//@ expect checks: violated
// A thread that may get its own handle.
#include <pthread.h>
#include <assert.h>

pthread_t t[2];
int turn;

void *f(void *a) {
    pthread_join(t[turn], 0);
    return 0;
}

void *g(void *a) { return 0; }

int main(void) {
    pthread_create(&t[0], 0, g, 0);
    pthread_create(&t[1], 0, f, 0);
    turn = 1;
    return 0;
}
