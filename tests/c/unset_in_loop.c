//@ expect checks: proved
// An array that is declared anew in each round, filled as far as it is read, by loops and conditions that guard the index.
#include <assert.h>

int main(void) {
    for (int round = 1; round < 4; round++) {
        int a[4];
        int n = 0;
        while (n < round)
            a[n++] = round;
        int i = 0;
        while (i < n && a[i] == round)
            i++;
        assert(i == round);
    }
}
