//@ expect checks: violated
// A value beyond SEM_VALUE_MAX: sem_init fails.
#include <semaphore.h>
#include <assert.h>

int main(void) {
    sem_t s;
    int r = sem_init(&s, 0, 2147483648u);
    assert(r == 0);
    return 0;
}
