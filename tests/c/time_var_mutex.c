//@ expect checks: proved
// A block is allocated once: whoever finds the inode not busy frees the block, under two locks.
extern void abort(void);
void reach_error() { abort(); }
#include <pthread.h>

int block;
int busy;
int inode;
pthread_mutex_t m_inode, m_busy;

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
    inode = 0;
    busy = 0;
    pthread_mutex_init(&m_inode, 0);
    pthread_mutex_init(&m_busy, 0);
    pthread_create(&t1, 0, allocator, 0);
    pthread_create(&t2, 0, de_allocator, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
