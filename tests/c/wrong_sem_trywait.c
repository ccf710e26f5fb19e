//@ expect checks: violated
// sem_trywait says -1 where there is nothing to take.
#include <semaphore.h>
#include <assert.h>

int main(void) {
    sem_t s;
    sem_init(&s, 0, 0);
    assert(sem_trywait(&s) != -1);
    return 0;
}
