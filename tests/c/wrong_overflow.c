//@ expect checks: violated
// The largest int is not the largest for long: the other thread adds one to it.
#include <pthread.h>
#include <limits.h>

int x = INT_MAX - 1;

void *inc(void *arg) {
    x = x + 1;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, inc, 0);
    pthread_create(&b, 0, inc, 0);
    return 0;
}
