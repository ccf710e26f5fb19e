//@ expect checks: violated
// A division by what another thread may make 0 after the test.
#include <pthread.h>

int parts = 2, share = 0;

void *clear(void *arg) {
    parts = 0;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, clear, 0);
    if (parts != 0) {
        share = 10 / parts;
    }
    return 0;
}
