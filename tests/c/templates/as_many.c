//@ expect checks: proved
// Threads of two kinds, started in pairs: when all have ended, as many of one kind have as of the other.
int started = 0, ended = 0, finished_a = 0, finished_b = 0;

thread parent {
    while (*) {
        atomic {
            started = started + 2;
            start a;
            start b;
        }
    }
    assume(ended == started);
    assert(finished_a == finished_b);
}

thread[] a {
    finished_a++;
    ended++;
}

thread[] b {
    finished_b++;
    ended++;
}
