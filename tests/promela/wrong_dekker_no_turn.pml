// Dekker's algorithm without the turn: each waits for the other's flag and keeps its own up. Mutual exclusion
// holds, but both can wait for each other without end, which is a deadlock.
//@ expect checks: proved
//@ expect deadlock_free: violated
// SPIN: states: 20

bool want[2];
byte inside;

active [2] proctype P() {
	do
	:: want[_pid] = true;
	   !want[1 - _pid];
	   inside++;
	   assert(inside == 1);
	   inside--;
	   want[_pid] = false
	od
}
