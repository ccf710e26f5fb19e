//@ expect checks: violated
// The error stands where only a `goto` leads, and without the lock one does.
extern void abort(void);
#include <pthread.h>
void reach_error(void) {}

int count = 0;

void *adder(void *arg) {
    int before = count;
    count = before + 1;
    if (count != before + 1)
        goto ERROR;
    if (0) {
    ERROR:
        reach_error();
        abort();
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    if (count != 0) {
    again:
        reach_error();
        goto again;
    }
    pthread_create(&one, 0, adder, 0);
    pthread_create(&two, 0, adder, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    if (count != 2)
        reach_error();
    return 0;
}
