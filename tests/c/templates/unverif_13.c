//@ expect checks: proved for all N
// Whoever finds that it came first counts for ever, in a shared counter and in one of its own.
int r = 0, s = 0;

thread[N] P {
    int l = 0;
    r++;
    if (r == 1) {
        while (true) {
            s++;
            l++;
            assert(s == l);
        }
    }
}
