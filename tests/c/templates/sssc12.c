//@ expect checks: proved for all N
// Threads share out a list of arbitrary length in blocks of ten.
int len;
int next = 0;

thread[N] P {
    int c = 0;
    int end = 0;
    assume(len > 0);
    atomic {
        if (next + 10 <= len) {
            c = next;
            next = next + 10;
            end = next;
        }
    }
    while (c < end) {
        assert(0 <= c && c < len);
        c++;
    }
}
