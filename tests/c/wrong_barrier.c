//@ expect checks: violated
// As barrier.c, but the arrivals are counted without the lock and compared with one too few.
#include <pthread.h>
#include <assert.h>

#define PARTIES 2

volatile int arrived = 0;
int written[PARTIES];

void *party(void *arg) {
    int me = (int)(long)arg;
    written[me] = 1;
    arrived++;
    while (arrived < PARTIES - 1) {
        ;
    }
    assert(written[(me + 1) % PARTIES] == 1);
    return 0;
}

int main(void) {
    pthread_t t[PARTIES];
    for (long i = 0; i < PARTIES; i++) {
        pthread_create(&t[i], 0, party, (void *)i);
    }
    return 0;
}
