//@ expect checks: violated
// Test, and then set: two steps.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

static int latch = 0;
static int a = 0, b = 0;

void *work(void *arg) {
    while (latch) {
    }
    latch = 1;
    a++;
    b++;
    if (a != b) {
        reach_error();
    }
    latch = 0;
    return 0;
}

int main(void) {
    pthread_t p, q;
    pthread_create(&p, 0, work, 0);
    pthread_create(&q, 0, work, 0);
    pthread_join(p, 0);
    pthread_join(q, 0);
    return 0;
}
