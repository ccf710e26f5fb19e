// Dekker's algorithm for two processes: intention flags, and a turn that says who gives way.
// Source: E. W. Dijkstra, Cooperating sequential processes (1965).
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect mutex: proved
// SPIN: states: 146

bool want[2];
byte turn;
byte inside;

active [2] proctype P() {
	byte me = _pid;
	byte other = 1 - _pid;
	do
	:: want[me] = true;
	   do
	   :: want[other] ->
		if
		:: turn == other ->
			want[me] = false;
			turn == me;
			want[me] = true
		:: else
		fi
	   :: else -> break
	   od;
critical:
	   inside++;
	   assert(inside == 1);
	   inside--;
	   turn = other;
	   want[me] = false
	od
}

ltl mutex { [] (inside <= 1) }
