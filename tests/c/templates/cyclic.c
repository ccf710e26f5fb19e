//@ expect checks: proved for all N, M
// Two barriers one after the other, for two kinds of threads.
int w1 = 0, w2 = 0;

thread[N] A {
    w1++;
    assume(w1 == N + M);
    w2++;
    assume(w2 == N + M);
}

thread[M] B {
    assert(w1 != N + M);
    w1++;
    assume(w1 == N + M);
    w2++;
    assume(w2 == N + M);
}
