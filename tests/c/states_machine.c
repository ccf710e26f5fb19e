//@ expect checks: proved
// A machine of three states, driven by one thread and observed by another: it never goes back but from the end to the beginning.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

typedef enum { IDLE, RUNNING = 5, STOPPED } state_t;

state_t state = IDLE;

void *drive(void *arg) {
    int rounds = 0;
    do {
        switch (state) {
        case IDLE:
            state = RUNNING;
            break;
        case RUNNING:
            state = STOPPED;
            break;
        default:
            state = IDLE;
        }
        rounds++;
    } while (rounds < 4);
    return 0;
}

void *observe(void *arg) {
    state_t s = state;
    if (s == 5) {
        s = state;
    }
    if (s != IDLE && s != RUNNING && s != STOPPED) {
        reach_error();
    }
    return 0;
}

int main(void) {
    pthread_t d, o;
    pthread_create(&d, 0, drive, 0);
    pthread_create(&o, 0, observe, 0);
    pthread_join(d, 0);
    if (state != RUNNING) {
        reach_error();
    }
    return 0;
}
