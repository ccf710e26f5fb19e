//@ expect checks: proved for all N, M
// The height of a stack with N threads that push and M that pop.
int top = 0;

thread[N] push {
    assert(0 <= top && top < N);
    top++;
}

thread[M] pop {
    atomic {
        if (top > 0) {
            top--;
        }
    }
    assert(0 <= top && top <= N);
}
