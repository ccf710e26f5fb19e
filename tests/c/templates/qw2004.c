//@ expect checks: proved for all N
// The Bluetooth driver: nobody works in a driver that has been stopped.
int pending = 1;
bool flag = false, event = false, stopped = false;

thread[N] add {
    atomic {
        if (flag) {
            goto leave;
        }
        pending++;
    }
    assert(!stopped);
    atomic {
        pending--;
        if (pending == 0) {
            event = true;
        }
    }
leave:
    ;
}

thread stop {
    flag = true;
    atomic {
        pending--;
        if (pending == 0) {
            event = true;
        }
    }
    assume(event);
    stopped = true;
}
