//@ expect checks: proved
// Two threads take elements of a queue.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
typedef struct {
    pthread_mutex_t cs;
    long head, tail;
    int elems[4];
    long mask;
} WSQ;
WSQ q;
int taken[2];
static void push(WSQ *q, int e) {
    long t = q->tail;
    q->elems[t & q->mask] = e;
    q->tail = t + 1;
}
static _Bool steal(WSQ *q, int *e) {
    _Bool found;
    pthread_mutex_lock(&q->cs);
    long h = q->head;
    q->head = h + 1;
    if (h < q->tail) {
        *e = q->elems[h & q->mask];
        found = 1;
    } else {
        q->head = h;
        found = 0;
    }
    pthread_mutex_unlock(&q->cs);
    return found;
}
void *stealer(void *arg) {
    int e = 0;
    if (steal(&q, &e)) {
        assert(taken[e] == 0);
        taken[e] = 1;
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    q.mask = 3;
    q.head = q.tail = 0;
    push(&q, 0);
    push(&q, 1);
    pthread_create(&a, 0, stealer, 0);
    pthread_create(&b, 0, stealer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
