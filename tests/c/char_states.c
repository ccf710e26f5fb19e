//@ expect checks: proved
// Characters, bits, and states of an enumeration.
extern void abort(void);
#include <assert.h>
#include <pthread.h>
void reach_error() { assert(0); }
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
enum state { IDLE = 0, BUSY, DONE };
static volatile enum state st = IDLE;
static unsigned char buf[8];
static unsigned long used;
void *t(void *a) {
    const char c = 'a';
    buf[0] = (unsigned char)(c | 0x80u);
    st = BUSY;
    st = DONE;
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    switch (st) {
    case IDLE:
    case BUSY:
        break;
    case DONE:
        assert((buf[0] & 0x7f) == 'a');
        break;
    default:
        assert(0);
    }
    pthread_join(a, 0);
}
