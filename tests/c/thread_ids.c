//@ expect checks: proved
// Threads get their numbers as arguments.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
#include <stdlib.h>
#include <stdio.h>
#define N 3
int cells[N];
void *fill(void *arg) {
    long id = (long)arg;
    cells[id] = id + 1;
    printf("%ld\n", id);
    pthread_exit(NULL);
}
int main(int argc, char *argv[]) {
    pthread_t threads[N];
    int rc;
    long t;
    for (t = 0; t < N; t++) {
        rc = pthread_create(&threads[t], NULL, fill, (void *)t);
        if (rc) {
            printf("error %d\n", rc);
            exit(-1);
        }
    }
    for (t = 0; t < N; t++)
        pthread_join(threads[t], NULL);
    for (t = 0; t < N; t++)
        assert(cells[t] == t + 1);
    return 0;
}
