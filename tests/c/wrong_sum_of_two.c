//@ expect checks: violated
// As sum_of_two.c, but the bound is one that an interleaving in turns reaches: 1, 1, 2, 3, 5, 8.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int i = 1, j = 1;

#define ROUNDS 2

void *left(void *unused) {
    for (int k = 0; k < ROUNDS; k++) {
        i += j;
    }
    return 0;
}

void *right(void *unused) {
    for (int k = 0; k < ROUNDS; k++) {
        j += i;
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    int seen_i = i;
    int seen_j = j;
    if (seen_i >= 8 || seen_j >= 8) {
        reach_error();
    }
    return 0;
}
