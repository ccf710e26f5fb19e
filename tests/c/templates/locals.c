//@ expect checks: proved for all N, M
// A barrier for two kinds of threads, with work of their own before it. The first value of sval is arbitrary.
int sval;
int wait = 0;

thread[N] A {
    int l = 0;
    l = sval;
    l++;
    wait++;
}

thread[M] B {
    int l = 0;
    l = sval;
    l++;
    wait++;
    assume(wait == N + M);
    assert(wait == N + M);
}
