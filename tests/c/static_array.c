//@ expect checks: proved
// A `static` array of a function begins with its values, before anybody calls it.
#include <assert.h>
#include <pthread.h>

struct pair {
    int first, second;
};

int next(void) {
    static int a[2] = {1, 2};
    static struct pair p = {3, 4};
    p.first++;
    return a[0]++ + a[1] + p.second;
}

void *f(void *arg) {
    static int seen[3] = {7, 8, 9};
    assert(seen[1] == 8);
    seen[1] = 8;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    assert(next() == 7);
    assert(next() == 8);
    pthread_join(t, 0);
    return 0;
}
