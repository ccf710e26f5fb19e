//@ expect checks: proved
// A variable called `i` outside of functions, which two threads of one function read.
#include <assert.h>
#include <pthread.h>

int i;
int reads = 0;

void *reader(void *arg) {
    assert(i == 7);
    reads++;
    return 0;
}

int main(void) {
    pthread_t first, second;
    i = 7;
    pthread_create(&first, 0, reader, 0);
    pthread_create(&second, 0, reader, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(i == 7 && reads >= 1);
    return 0;
}
