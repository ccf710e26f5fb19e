//@ expect checks: violated
// The same, with a bound that the round that is jumped into breaks.
#include <assert.h>

extern _Bool __VERIFIER_nondet_bool(void);
int x;

int main(void) {
    int i = 0;
    if (__VERIFIER_nondet_bool()) goto L;
    for (i = 1; i < 5; i++) {
    L:
        x++;
    }
    assert(x <= 4);
    return 0;
}
