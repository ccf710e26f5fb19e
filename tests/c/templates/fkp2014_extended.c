//@ expect checks: proved for all N
// fkp2014.c with an upper bound.
int t = 0;
int s = 0;

thread[N] P {
    t++;
    assert(0 < t - s && t - s <= N);
    s++;
}
