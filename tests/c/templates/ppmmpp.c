//@ expect checks: proved for all N
// Up, down and up again.
int X = 0;

thread[N] P {
    assert(0 <= X && X < N);
    X++;
    assert(0 < X && X <= N);
    X--;
    assert(0 <= X && X < N);
    X++;
    assert(0 < X && X <= N);
}
