//@ expect checks: proved
// The error stands where only a `goto` leads; and a jump back in `main` repeats nothing but itself, so the threads are two.
extern void abort(void);
#include <pthread.h>
void reach_error(void) {}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count = 0;

void *adder(void *arg) {
    pthread_mutex_lock(&lock);
    int before = count;
    count = before + 1;
    if (count != before + 1)
        goto ERROR;
    pthread_mutex_unlock(&lock);
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
