//@ expect checks: proved
// A barrier by hand: a counter under a lock, and everybody waits until it has its full value.
#include <pthread.h>
#include <assert.h>

#define PARTIES 3

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int arrived = 0;
int written[PARTIES];

void *party(void *arg) {
    int me = (int)(long)arg;
    written[me] = 1;
    pthread_mutex_lock(&lock);
    arrived++;
    pthread_mutex_unlock(&lock);
    while (arrived < PARTIES) {
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
    for (long i = 0; i < PARTIES; ++i) {
        pthread_join(t[i], 0);
    }
    return 0;
}
