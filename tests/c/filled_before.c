//@ expect checks: proved
// Local arrays and structs that are filled before they are read, each in its way.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

struct job {
    int id;
    int parts[3];
};

void *work(void *arg) {
    struct job *job = arg;
    assert(job->id == 7 && job->parts[2] == 2);
    return 0;
}

int main(void) {
    pthread_t t;
    struct job job;
    int table[2][3];
    int either[2];
    job.id = 7;
    for (int i = 0; i < 3; i++) {
        job.parts[i] = i;
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            table[i][k] = i + k;
        }
    }
    if (__VERIFIER_nondet_int()) {
        either[0] = 1;
        either[1] = 0;
    } else {
        either[0] = 0;
        either[1] = 1;
    }
    pthread_create(&t, 0, work, &job);
    assert(table[1][2] == 3 && either[0] + either[1] == 1);
    pthread_join(t, 0);
}
