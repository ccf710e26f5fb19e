//@ expect checks: proved for all N, M
// Behind the barrier, somebody has incremented sval1.
int sval1 = 0, sval2 = 0, wait = 0;

thread[N] A {
    int l = 0;
    sval1++;
    l++;
    wait++;
}

thread[M] B {
    int l = 0;
    sval2++;
    l++;
    wait++;
    assume(wait == N + M);
    assert(sval1 > 0);
}
