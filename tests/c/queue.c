//@ expect checks: proved
// A ring of two places under a lock; the consumer takes what the producer put, in order.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>
#include <stdbool.h>

#define SIZE 2
#define ITEMS 3

struct ring {
    int cells[SIZE];
    int head;
    int tail;
    int amount;
};

struct ring ring;
pthread_mutex_t m;

static bool put(int value) {
    if (ring.amount == SIZE) {
        return false;
    }
    ring.cells[ring.tail] = value;
    ring.tail = (ring.tail + 1) % SIZE;
    ring.amount++;
    return true;
}

static int take(void) {
    int value = ring.cells[ring.head];
    ring.head = (ring.head + 1) % SIZE;
    ring.amount--;
    return value;
}

void *producer(void *arg) {
    int next = 1;
    while (next <= ITEMS) {
        pthread_mutex_lock(&m);
        if (put(next)) {
            next++;
        }
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

void *consumer(void *arg) {
    int expected = 1;
    while (expected <= ITEMS) {
        pthread_mutex_lock(&m);
        if (ring.amount > 0) {
            int got = take();
            if (got != expected) {
                reach_error();
            }
            expected++;
        }
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void) {
    pthread_t p, c;
    pthread_mutex_init(&m, 0);
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    pthread_mutex_destroy(&m);
    return 0;
}
