//@ expect checks: proved for all N
// unverif_13.c with bounds for r.
int r = 0, s = 0;

thread[N] P {
    int l = 0;
    r++;
    assert(0 < r && r <= N);
    if (r == 1) {
        while (1) {
            s++;
            l++;
            assert(s == l && 0 < r && r <= N);
        }
    }
}
