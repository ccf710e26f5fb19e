//@ expect checks: proved
// The pair is written and read under one lock, so nobody sees half of it.
#include <pthread.h>
#include <assert.h>

#define SETTERS 2

static int a = 0;
static int b = 0;
static pthread_mutex_t pair = PTHREAD_MUTEX_INITIALIZER;

static void *set(void *unused) {
    pthread_mutex_lock(&pair);
    a = 1;
    b = -1;
    pthread_mutex_unlock(&pair);
    return NULL;
}

static void *look(void *unused) {
    pthread_mutex_lock(&pair);
    int good = (a == 0 && b == 0) || (a == 1 && b == -1);
    pthread_mutex_unlock(&pair);
    assert(good);
    return NULL;
}

int main(void) {
    pthread_t setters[SETTERS], checker;
    for (int i = 0; i < SETTERS; i++) {
        pthread_create(&setters[i], NULL, set, NULL);
    }
    pthread_create(&checker, NULL, look, NULL);
    for (int i = 0; i < SETTERS; i++) {
        pthread_join(setters[i], NULL);
    }
    pthread_join(checker, NULL);
    return 0;
}
