//@ expect checks: proved for all N
// N threads increment X once each: X is the number of those that have.
int X = 0;

thread[N] P {
    assert(0 <= X && X < N);
    X++;
    assert(0 < X && X <= N);
}
