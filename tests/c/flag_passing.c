//@ expect checks: proved
// Message passing: the data is written before the flag, and read after it. Under sequential consistency that suffices.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>
#include <stdbool.h>

int data = 0;
volatile bool ready = false;

void *sender(void *arg) {
    data = 42;
    ready = true;
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
    pthread_join(s, 0);
    pthread_join(r, 0);
    return 0;
}
