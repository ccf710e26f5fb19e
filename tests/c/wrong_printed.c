//@ expect checks: violated
// What is printed does not matter, but whether it could be printed is not known.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

int printed = 0;

void *printer(void *arg) {
    printed = printf("seven\n") > 0;
    return 0;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, printer, 0);
    pthread_join(id, 0);
    assert(printed == 0);
    return 0;
}
