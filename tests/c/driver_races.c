//@ expect checks: proved
// A driver that is registered, used and removed: after the removal its lock is gone, and nobody uses it, since they were joined.
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>
#include <assert.h>

struct device {
    int registered;
    int users;
};

static struct device dev;
static pthread_mutex_t mutex;

static int open_device(void) {
    int answer = -1;
    pthread_mutex_lock(&mutex);
    if (dev.registered) {
        dev.users++;
        answer = 0;
    }
    pthread_mutex_unlock(&mutex);
    return answer;
}

static void close_device(void) {
    pthread_mutex_lock(&mutex);
    dev.users--;
    assert(dev.users >= 0);
    pthread_mutex_unlock(&mutex);
}

void *user(void *arg) {
    if (open_device() == 0) {
        assert(dev.registered);
        close_device();
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    int probe = __VERIFIER_nondet_int();
    pthread_mutex_init(&mutex, 0);
    if (probe < 0) {
        pthread_mutex_destroy(&mutex);
        return -1;
    }
    dev.registered = 1;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(dev.users == 0);
    dev.registered = 0;
    pthread_mutex_destroy(&mutex);
    return 0;
}
