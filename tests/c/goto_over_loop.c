//@ expect checks: proved
// One branch jumps over a loop, the other into it.
#include <assert.h>

extern _Bool __VERIFIER_nondet_bool(void);
int x;

int main(void) {
    if (__VERIFIER_nondet_bool()) {
        goto over;
    } else {
        goto into;
    }
    while (x < 3) {
        x = 10;
    into:
        x++;
    }
over:
    assert(x == 0 || x == 11);
    return 0;
}
