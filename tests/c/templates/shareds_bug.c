//@ expect checks: violated
// shareds.c without the wait at the barrier.
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
    assert(sval1 > 0);
}
