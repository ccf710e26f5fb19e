// Knuth's algorithm for two processes: three values of control per process, and a variable k that says whose turn it is.
// Source: D. E. Knuth, Additional comments on a problem in concurrent programming control (1966).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 144

mtype = { out, asking, in };

mtype control[2] = out;
byte k;
byte inside;

active [2] proctype P() {
	byte me = _pid, other = 1 - _pid;
L0:	control[me] = asking;
L1:	if
	:: k == me -> goto L2
	:: k != me ->
		if
		:: control[other] != out -> goto L1
		:: else -> goto L2
		fi
	fi;
L2:	control[me] = in;
	if
	:: control[other] == in -> goto L0
	:: else
	fi;
	k = me;
	inside++;
	assert(inside == 1);
	inside--;
	k = other;
	control[me] = out;
	goto L0
}
