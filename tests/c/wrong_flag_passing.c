//@ expect checks: violated
// As flag_passing.c with the flag first.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>
#include <stdbool.h>

int data = 0;
volatile bool ready = false;

void *sender(void *arg) {
    ready = true;
    data = 42;
    return 0;
}

void *receiver(void *arg) {
    while (!ready) {
    }
    if (data != 42) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t s, r;
    pthread_create(&r, 0, receiver, 0);
    pthread_create(&s, 0, sender, 0);
    return 0;
}
