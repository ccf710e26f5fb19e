//@ expect checks: proved
// A small device: reads and writes of a buffer of known size under one lock, with arbitrary requests.
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (!cond) {
        abort();
    }
}
void reach_error() { abort(); }
extern int __VERIFIER_nondet_int(void);
#include <pthread.h>

#define QUANTUM 4

int dev_size = 0;
int dev_data[QUANTUM];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int device_write(int pos, int count) {
    int result = 0;
    pthread_mutex_lock(&lock);
    if (pos + count <= QUANTUM) {
        dev_data[pos] = 1;
        if (dev_size < pos + count) {
            dev_size = pos + count;
        }
        result = count;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int device_read(int pos, int count) {
    int result = 0;
    pthread_mutex_lock(&lock);
    if (pos < dev_size) {
        if (pos + count > dev_size) {
            count = dev_size - pos;
        }
        if (!(count >= 0 && pos + count <= QUANTUM)) {
            reach_error();
        }
        result = count;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void *writer(void *arg) {
    int pos = __VERIFIER_nondet_int();
    assume_abort_if_not(pos >= 0 && pos < QUANTUM);
    device_write(pos, 2);
    return NULL;
}

void *reader(void *arg) {
    int pos = __VERIFIER_nondet_int();
    assume_abort_if_not(0 <= pos && pos <= 3);
    int n = device_read(pos, 3);
    if (n > 3) {
        reach_error();
    }
    return NULL;
}

int main(void) {
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
