//@ expect checks: proved
// An increment without locks: read, and try to swap until nobody came between. The counter only grows, so there is no ABA.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

unsigned value = 0;

static unsigned NonblockingCounter_increment(void) {
    unsigned v;
    int done = 0;
    while (!done) {
        v = value;
        if (__sync_bool_compare_and_swap(&value, v, v + 1)) {
            done = 1;
        }
    }
    return v + 1;
}

void *worker(void *arg) {
    unsigned mine = NonblockingCounter_increment();
    if (!(value >= mine)) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (value != 2u) {
        reach_error();
    }
    return 0;
}
