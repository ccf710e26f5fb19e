//@ expect checks: violated
// Memory from malloc begins with nothing in particular.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct arg {
    int id, flag;
};

void *work(void *p) {
    struct arg *arg = p;
    assert(arg->flag == 0);
    free(arg);
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        struct arg *arg = malloc(sizeof(struct arg));
        arg->id = i;
        pthread_create(&t[i], 0, work, arg);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], 0);
    }
}
