//@ expect checks: proved
// Jobs in an array of structures: what a thread has found out is read after it has ended, and nobody but the thread has written it.
#include <assert.h>
#include <pthread.h>

struct job {
    int first, end;
    int sum;
};

int data[4] = {1, 2, 3, 4};

void *work(void *argument) {
    struct job *job = argument;
    job->sum = 0;
    for (int i = job->first; i < job->end; i++)
        job->sum += data[i];
    return 0;
}

int main(void) {
    pthread_t threads[2];
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        jobs[i].first = 2 * i;
        jobs[i].end = 2 * i + 2;
        pthread_create(&threads[i], 0, work, &jobs[i]);
    }
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
        sum += jobs[i].sum;
    }
    assert(sum == 10);
}
