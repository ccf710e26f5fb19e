//@ expect checks: proved for all N
// N threads increment X and decrement it again: X is the number of those between.
int X = 0;

thread[N] P {
    assert(0 <= X && X < N);
    X++;
    assert(0 < X && X <= N);
    X--;
    assert(0 <= X && X < N);
}
