// Hyman's algorithm, which was published as a solution for two processes and is none.
// Source: H. Hyman, Comments on a problem in concurrent programming control (1966).
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect mutex: violated
// SPIN: states: 70

bool b[2] = true;
byte k;
byte inside;

active [2] proctype P() {
	do
	:: b[_pid] = false;
	   do
	   :: k != _pid ->
		b[1 - _pid];
		k = _pid
	   :: else -> break
	   od;
	   inside++;
	   inside--;
	   b[_pid] = true
	od
}

ltl mutex { [] (inside < 2) }
