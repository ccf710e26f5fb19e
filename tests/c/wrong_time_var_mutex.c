//@ expect checks: violated
// As time_var_mutex.c, but the inode is said to be taken already, so `busy` is never set.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int block, busy = 0, inode = 1;
pthread_mutex_t m_inode = PTHREAD_MUTEX_INITIALIZER, m_busy = PTHREAD_MUTEX_INITIALIZER;

void *allocator(void *arg) {
    pthread_mutex_lock(&m_inode);
    if (inode == 0) {
        pthread_mutex_lock(&m_busy);
        busy = 1;
        pthread_mutex_unlock(&m_busy);
        inode = 1;
    }
    block = 1;
    if (!(block == 1)) {
        reach_error();
    }
    pthread_mutex_unlock(&m_inode);
    return NULL;
}

void *de_allocator(void *arg) {
    pthread_mutex_lock(&m_busy);
    if (busy == 0) {
        block = 0;
        if (!(block == 0)) {
            reach_error();
        }
    }
    pthread_mutex_unlock(&m_busy);
    return NULL;
}

int main(void) {
    pthread_t t1, t2;
    pthread_create(&t1, 0, allocator, 0);
    pthread_create(&t2, 0, de_allocator, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
