//@ expect checks: violated
// As triangular.c with the limit that is reached: 3, 6, 7, 8, 9, 10.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int i = 3, j = 6;

#define TIMES 2
#define LIMIT (2 * TIMES + 6)

void *t1(void *arg) {
    for (int k = 0; k < TIMES; k++) {
        i = j + 1;
    }
    pthread_exit(NULL);
}

void *t2(void *arg) {
    for (int k = 0; k < TIMES; k++) {
        j = i + 1;
    }
    pthread_exit(NULL);
}

int main(int argc, char **argv) {
    pthread_t id1, id2;
    pthread_create(&id1, NULL, t1, NULL);
    pthread_create(&id2, NULL, t2, NULL);
    int at_i = i >= LIMIT;
    int at_j = j >= LIMIT;
    if (at_i || at_j) {
    ERROR: {
        reach_error();
        abort();
    }
    }
    return 0;
}
