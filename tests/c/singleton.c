//@ expect checks: proved
// Two threads write a letter each, twice; whatever main finds in the end is one of the two.
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

void *starter(void *arg) {
    pthread_t a, b, c;
    pthread_create(&a, 0, writes_x, 0);
    pthread_create(&b, 0, writes_y, 0);
    pthread_create(&c, 0, writes_y, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, starter, 0);
    pthread_join(t, 0);
    if (letter != 'X' && letter != 'Y') {
        reach_error();
    }
    return 0;
}
