//@ expect checks: proved for all N, M
// N threads increment X, M others decrement it.
int X = 0;

thread[N] inc {
    assert(-M <= X && X < N);
    X++;
    assert(-M < X && X <= N);
}

thread[M] dec {
    assert(-M < X && X <= N);
    X--;
    assert(-M <= X && X < N);
}
