// Peterson's algorithm for two processes.
// Source: G. L. Peterson, Myths about the mutual exclusion problem (1981).
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect never_both: proved
//@ expect starves: violated
// SPIN: states: 38

bool flag[2];
bit turn;
byte inside;

active [2] proctype P() {
again:
	flag[_pid] = 1;
	turn = 1 - _pid;
	!flag[1 - _pid] || turn == _pid;
	inside++;
cs:	assert(inside == 1);
	inside--;
	flag[_pid] = 0;
	goto again
}

ltl never_both { [] !(P[0]@cs && P[1]@cs) }
ltl starves { []<> (P[0]@cs) }
