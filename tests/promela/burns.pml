// Burns' algorithm: one bit per process; a process gives way to lower numbers, and waits for higher ones.
// Source: J. E. Burns and N. A. Lynch, Bounds on shared memory for mutual exclusion (1993).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 8299

#define N 3

bit flag[N];
byte inside;

active [N] proctype P() {
	byte k;
again:
	flag[_pid] = 0;
	k = 0;
	do
	:: k < _pid ->
		if
		:: flag[k] == 1 -> goto again
		:: else -> k++
		fi
	:: else -> break
	od;
	flag[_pid] = 1;
	k = 0;
	do
	:: k < _pid ->
		if
		:: flag[k] == 1 -> goto again
		:: else -> k++
		fi
	:: else -> break
	od;
	k = _pid + 1;
	do
	:: k < N -> flag[k] == 0; k++
	:: else -> break
	od;
	inside++;
	assert(inside == 1);
	inside--;
	goto again
}
