//@ expect checks: violated
// As read_copy_update.c, but the updater does not wait for those in the old counter.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int readers = 0;
int progress1 = 0;

void *reader(void *arg) {
    __sync_fetch_and_add(&readers, 1);
    progress1 = 1;
    progress1 = 2;
    __sync_fetch_and_sub(&readers, 1);
    return 0;
}

void *updater(void *arg) {
    int before = progress1;
    if (readers >= 0 && before == 1 && progress1 != 2) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t r, u;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&u, 0, updater, 0);
    pthread_join(r, 0);
    pthread_join(u, 0);
    return 0;
}
