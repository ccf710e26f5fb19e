//@ expect checks: proved for all N
// The maximum of N arbitrary numbers, one in each thread: whatever was announced last is not greater. Variables without a value begin with any.
int max, arb;
int waiting = 0;

thread[N] P {
    int val;
    arb = val;
    atomic {
        if (max < val) {
            max = val;
        }
    }
    waiting++;
    assume(waiting == N);
    atomic {
        assert(arb <= max);
    }
}
