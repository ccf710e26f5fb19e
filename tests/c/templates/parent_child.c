//@ expect checks: proved
// A parent starts children, as many as it likes, and waits for them: then none is at work.
int count = 0, active = 0, done = 0;

thread parent {
    while (*) {
        atomic {
            count++;
            start child;
        }
    }
    assume(done == count);
    assert(active == 0);
}

thread[] child {
    active++;
    active--;
    done++;
}
