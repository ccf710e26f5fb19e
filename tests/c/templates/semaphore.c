//@ expect checks: proved for all N
// N threads meet at a place for N, and each then goes through a semaphore that it opens.
int waiting = 0, open = 0;

thread[N] P {
    waiting++;
    atomic {
        assume(waiting == N);
        open++;
    }
    assert(open != 0 && (open < 1 || waiting == N));
    atomic {
        assume(open >= 1);
        open--;
    }
}
