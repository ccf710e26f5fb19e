//@ expect checks: violated
// What is printed is computed, and that may fail.
#include <stdio.h>

int x;

int main(void) {
    printf("%d\n", 1 / x);
    return 0;
}
