//@ expect checks: violated
// This assumption stops where its condition holds: the body says so, whatever the name says.
#include <assert.h>
extern void abort(void);
void assume_abort_if_not(int cond) {
    if (cond) {
        abort();
    }
}

int x = 1;

int main(void) {
    x = x + 1;
    assume_abort_if_not(x == 3);
    assert(x == 3);
    return 0;
}
