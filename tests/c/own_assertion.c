//@ expect checks: proved
// A later declaration keeps the value of the definition, a case is taken once, and an assertion of one's own does what its body says.
extern void abort(void);
void reach_error() { abort(); }
void __VERIFIER_assert(int cond) {
    if (!cond) {
        reach_error();
    }
}

int y;
int x = 1;
int x;
int y = 2;

int main(void) {
    x = x + y;
    switch (x) {
    case 2:
        reach_error();
    case 3:
        break;
    default:
        reach_error();
    }
    __VERIFIER_assert(x == 3);
    return 0;
}
