//@ expect checks: violated
// An enumeration without negative members has an unsigned type, as gcc says.
#include <assert.h>

enum colour { RED, GREEN };
enum colour c = RED;

int main(void) {
    c = c - 1;
    assert(c < 0);
    return 0;
}
