//@ expect checks: proved
// Two accounts with a lock each.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
typedef struct account {
    int balance;
    pthread_mutex_t lock;
} account_t;
account_t acc[2];
static void move(account_t *a, account_t *b, int n) {
    pthread_mutex_lock(&a->lock);
    pthread_mutex_lock(&b->lock);
    a->balance -= n;
    b->balance += n;
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&a->lock);
}
void *one(void *unused) { move(&acc[0], &acc[1], 5); return NULL; }
void *two(void *unused) { move(&acc[0], &acc[1], 7); return NULL; }
int main() {
    pthread_t x, y;
    acc[0].balance = 100;
    acc[1].balance = 0;
    pthread_mutex_init(&acc[0].lock, NULL);
    pthread_mutex_init(&acc[1].lock, NULL);
    pthread_create(&x, NULL, one, NULL);
    pthread_create(&y, NULL, two, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    assert(acc[0].balance + acc[1].balance == 100);
    assert(acc[1].balance == 12);
    pthread_mutex_destroy(&acc[0].lock);
    pthread_mutex_destroy(&acc[1].lock);
    return 0;
}
