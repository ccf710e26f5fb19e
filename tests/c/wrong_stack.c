//@ expect checks: violated
// As stack.c, but the one that pops asks a flag that stays up, not the height.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

#define SIZE 2
enum answer { NO, YES };

static int items[SIZE];
static int top = 0;
pthread_mutex_t m;
enum answer filled = NO;

void *t1(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        items[top] = i;
        top++;
        filled = YES;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

void *t2(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (filled == YES) {
            if (top == 0) {
                reach_error();
            }
            top--;
        }
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t id1, id2;
    pthread_mutex_init(&m, 0);
    pthread_create(&id1, NULL, t1, NULL);
    pthread_create(&id2, NULL, t2, NULL);
    pthread_join(id1, NULL);
    pthread_join(id2, NULL);
    return 0;
}
