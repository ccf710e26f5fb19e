//@ expect checks: proved for all N
// The mirror image of pp.c.
int X = 0;

thread[N] P {
    assert(-N < X && X <= 0);
    X--;
    assert(-N <= X && X < 0);
}
