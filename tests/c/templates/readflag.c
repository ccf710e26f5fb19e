//@ expect checks: proved for all N
// N threads set a flag and take it back; behind the barrier it is down.
int read = 0;
int waiting = 0;

thread[N] P {
    read = 1;
    read = 0;
    waiting++;
    assume(waiting == N);
    assert(read == 0);
}
