//@ expect checks: proved
// A hand-over through a condition variable with broadcast: main waits until both have reported.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int reported;
} board_t;

board_t board;
int result[2];

void *reporter(void *arg) {
    long id = (long)arg;
    result[id] = (int)id + 5;
    pthread_mutex_lock(&board.lock);
    board.reported++;
    pthread_cond_broadcast(&board.changed);
    pthread_mutex_unlock(&board.lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_mutex_init(&board.lock, NULL);
    pthread_cond_init(&board.changed, NULL);
    pthread_create(&a, NULL, reporter, (void *)0);
    pthread_create(&b, NULL, reporter, (void *)1);
    pthread_mutex_lock(&board.lock);
    while (board.reported < 2) {
        pthread_cond_wait(&board.changed, &board.lock);
    }
    pthread_mutex_unlock(&board.lock);
    if (result[0] != 5 || result[1] != 6) {
        reach_error();
    }
    return 0;
}
