//@ expect checks: proved
// As many threads as an input says, each with its handle in an array; all of them are waited for.
extern void abort(void);
#include <assert.h>
#include <pthread.h>

extern unsigned int __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count = 0;

void *adder(void *arg) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    int i;
    int n = __VERIFIER_nondet_uint();
    if (!(n >= 1 && n <= 3)) {
        abort();
    }
    for (i = 0; i < n; i++) {
        pthread_create(&threads[i], 0, adder, 0);
    }
    for (i = 0; i < n; i++) {
        pthread_join(threads[i], 0);
    }
    assert(count == n);
    return 0;
}
