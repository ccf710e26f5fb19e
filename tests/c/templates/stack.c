//@ expect checks: proved for all N, M
// The height of a stack with N threads that push and M that pop: below N for whoever is about to push, at most N wherever somebody pops.
int top = 0;

thread[N] push {
    assert(0 <= top && top < N);
    top++;
}

thread[M] pop {
    assert(0 <= top && top <= N);
    atomic {
        if (top > 0) {
            top--;
        }
    }
    assert(0 <= top && top <= N);
}
