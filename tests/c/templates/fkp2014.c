//@ expect checks: proved for all N
// A ticket lock, abstracted to its two counters.
int t = 0;
int s = 0;

thread[N] P {
    t++;
    assert(0 < t - s);
    s++;
}
