//@ expect checks: proved
// Unsigned integers wrap around, and what is cut off by a conversion is gone.
#include <pthread.h>
#include <assert.h>
#include <stdint.h>

uint8_t small = 250;
unsigned int large = 0;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *add(void *arg) {
    pthread_mutex_lock(&m);
    small += 3;
    large -= 1;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(small == 0);
    assert(large == 4294967294u);
    return 0;
}
