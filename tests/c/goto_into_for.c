//@ expect checks: proved
// Who jumps into a loop adds a round to those that its bounds say.
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
    assert(x <= 5);
    return 0;
}
