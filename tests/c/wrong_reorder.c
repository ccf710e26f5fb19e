//@ expect checks: violated
// The setter writes two variables one after the other, and the checker may come between them.
#include <pthread.h>
#include <assert.h>
#include <stdlib.h>

#define SETTERS 2

static int a = 0;
static int b = 0;

static void *set(void *unused) {
    a = 1;
    b = -1;
    return NULL;
}

static void *look(void *unused) {
    if (!((a == 0 && b == 0) || (a == 1 && b == -1))) {
        assert(0);
    }
    return NULL;
}

int main(int argc, char *argv[]) {
    pthread_t setters[SETTERS];
    pthread_t checker;
    for (int i = 0; i < SETTERS; i++) {
        pthread_create(&setters[i], NULL, &set, NULL);
    }
    pthread_create(&checker, NULL, &look, NULL);
    for (int i = 0; i < SETTERS; i++) {
        pthread_join(setters[i], NULL);
    }
    pthread_join(checker, NULL);
    return 0;
}
