//@ expect checks: proved
// Money is moved between two accounts under both locks, always in the same order; arbitrary small amounts, and the sum stays.
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}
void reach_error() { abort(); }
extern unsigned char __VERIFIER_nondet_uchar(void);
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int money;
};

struct account mine, yours;

void *give(void *arg) {
    unsigned char amount = __VERIFIER_nondet_uchar();
    assume_abort_if_not(amount <= 2);
    pthread_mutex_lock(&mine.lock);
    pthread_mutex_lock(&yours.lock);
    mine.money -= amount;
    yours.money += amount;
    pthread_mutex_unlock(&yours.lock);
    pthread_mutex_unlock(&mine.lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_mutex_init(&mine.lock, NULL);
    pthread_mutex_init(&yours.lock, NULL);
    mine.money = 10;
    yours.money = 10;
    pthread_create(&a, NULL, give, NULL);
    pthread_create(&b, NULL, give, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (mine.money + yours.money != 20 || mine.money < 6) {
        reach_error();
    }
    return 0;
}
