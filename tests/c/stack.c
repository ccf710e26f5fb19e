//@ expect checks: proved
// A stack of three with one thread that pushes and one that pops; an empty stack is never popped.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

#define SIZE 3

static unsigned int items[SIZE];
static int top = 0;
pthread_mutex_t m;

int push(unsigned int x) {
    if (top == SIZE) {
        return -1;
    }
    items[top] = x;
    top++;
    return 0;
}

int pop(void) {
    if (top == 0) {
        reach_error();
        return -2;
    }
    top--;
    return (int)items[top];
}

void *t1(void *arg) {
    int i;
    for (i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (push(i) == -1) {
            reach_error();
        }
        pthread_mutex_unlock(&m);
    }
    return 0;
}

void *t2(void *arg) {
    int i;
    for (i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&m);
        if (top > 0) {
            pop();
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
