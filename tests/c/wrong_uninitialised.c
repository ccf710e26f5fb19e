//@ expect checks: violated
// Of a local array only two elements are written.
#include <assert.h>

int main(void) {
    int a[3];
    a[0] = 1;
    a[1] = 2;
    assert(a[0] == 1 && a[1] == 2);
    assert(a[2] == 0);
}
