//@ expect checks: proved
// A flag that goes up and never down: who has seen it up sees it up again.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>
#include <stdbool.h>

volatile bool up = false;

void *raise_it(void *arg) {
    up = true;
    return 0;
}

void *watch(void *arg) {
    while (!up) {
    }
    if (!up) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, raise_it, 0);
        pthread_create(&t, 0, watch, 0);
    }
}
