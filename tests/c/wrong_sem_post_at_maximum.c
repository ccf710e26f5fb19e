//@ expect checks: violated
// A semaphore at its maximum cannot be posted.
#include <semaphore.h>
#include <assert.h>

int main(void) {
    sem_t s;
    sem_init(&s, 0, 2147483647);
    int r = sem_post(&s);
    assert(r == 0);
    return 0;
}
