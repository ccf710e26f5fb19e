//@ expect checks: proved
// The right side of && and || is not evaluated when the left one decides: neither the division nor the increment happens.
#include <pthread.h>
#include <assert.h>

int divisor = 0, touched = 0;

static int touch(int result) {
    touched++;
    return result;
}

void *look(void *arg) {
    int safe = divisor != 0 && 10 / divisor > 1;
    int either = 1 || touch(1);
    int chosen = divisor == 0 ? 3 : touch(4);
    assert(!safe && either && chosen == 3);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(touched == 0);
    return 0;
}
