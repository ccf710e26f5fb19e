//@ expect checks: violated
// Functions that have a body do what it says: this assumption assumes nothing, and the declaration after the definition keeps its value.
extern void abort(void);
void reach_error() { abort(); }
void assume_abort_if_not(int cond) {}
void __VERIFIER_assert(int cond) {
    if (!cond) {
        reach_error();
    }
}

int x = 1;
extern int x;

int main(void) {
    assume_abort_if_not(x == 0);
    x = x + 1;
    __VERIFIER_assert(x == 1);
    return 0;
}
