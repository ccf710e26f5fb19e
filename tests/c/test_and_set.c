//@ expect checks: proved
// A lock from gcc's test-and-set; the holder's two writes are not seen half done.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

static int latch = 0;
static int a = 0, b = 0;

void *work(void *arg) {
    while (__sync_lock_test_and_set(&latch, 1)) {
    }
    a++;
    b++;
    if (a != b) {
        reach_error();
    }
    __sync_lock_release(&latch);
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
