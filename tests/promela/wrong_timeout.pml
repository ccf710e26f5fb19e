// timeout does not wait for time to pass, but for everybody else to be stuck; a spinning process prevents it.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect rescued: violated
// SPIN: states: 2

byte x;

active proctype Spinner() {
	do
	:: x = 1 - x
	od
}

active proctype Watchdog() {
	timeout -> x = 7;
	assert(false)
}

ltl rescued { <> (x == 7) }
