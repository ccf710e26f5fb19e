//@ expect checks: violated
// What a thread has found out is read without waiting for the thread: it may still have any value.
#include <assert.h>
#include <pthread.h>

struct job {
    int number;
    char found;
};

void *work(void *argument) {
    struct job *job = argument;
    job->found = job->number == 1;
    return 0;
}

int main(void) {
    pthread_t threads[2];
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        jobs[i].number = i;
        pthread_create(&threads[i], 0, work, &jobs[i]);
    }
    pthread_join(threads[0], 0);
    assert(jobs[0].found == 0);
    assert(jobs[1].found == 0 || jobs[1].found == 1);
}
