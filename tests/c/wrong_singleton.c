//@ expect checks: violated
// As singleton.c, but main is sure that the X is the last one.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

char letter = 0;

void *writes_x(void *arg) {
    letter = 'X';
    return NULL;
}

void *writes_y(void *arg) {
    letter = 'Y';
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writes_y, 0);
    pthread_create(&b, 0, writes_x, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (letter != 'X') {
        reach_error();
    }
    return 0;
}
