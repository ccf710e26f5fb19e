//@ expect checks: proved
// Whoever finds that it came first counts for ever, in a shared counter and in one of its own: nobody else writes the shared one.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int come = 0;
int shared_count = 0;

void *thr(void *arg) {
    int own = 0;
    int place = __sync_add_and_fetch(&come, 1);
    if (place == 1) {
        while (1) {
            __sync_fetch_and_add(&shared_count, 1);
            own++;
            if (shared_count != own) {
                reach_error();
            }
        }
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, thr, 0);
    }
}
