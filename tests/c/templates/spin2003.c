//@ expect checks: proved for all N
// A spin lock around two writes.
int x = 1;
int m = 0;

thread[N] P {
    atomic {
        assume(m == 0);
        m = 1;
    }
    x = 0;
    x = 1;
    assert(x >= 1);
    atomic {
        assume(m == 1);
        m = 0;
    }
}
