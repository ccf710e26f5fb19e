//@ expect checks: violated
// Three threads add under a lock, and the last asks too late whether the other two were there first.
#include <pthread.h>
#include <assert.h>

pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int total = 0;

void *one(void *arg) {
    pthread_mutex_lock(&guard);
    total = total + 1;
    pthread_mutex_unlock(&guard);
    return NULL;
}

void *two(void *arg) {
    pthread_mutex_lock(&guard);
    total = total + 2;
    pthread_mutex_unlock(&guard);
    return NULL;
}

void *judge(void *arg) {
    pthread_mutex_lock(&guard);
    assert(total < 3);
    pthread_mutex_unlock(&guard);
    return NULL;
}

int main() {
    pthread_t a, b, c;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_create(&c, NULL, judge, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
