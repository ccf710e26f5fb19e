//@ expect checks: violated
// An array that is declared anew in each round does not keep what it held in the last one.
#include <assert.h>

int main(void) {
    for (int round = 0; round < 2; round++) {
        int a[2];
        if (round == 0)
            a[1] = 5;
        if (round == 0)
            a[0] = 5;
        if (round == 1)
            assert(a[0] == 5);
    }
}
