// Lamport's fast mutual exclusion, algorithm 2, for two processes with numbers 1 and 2: without contention a process
// enters after a constant number of accesses.
// Source: L. Lamport, A fast mutual exclusion algorithm (1987).
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 716

#define N 2

byte x, y;
bool b[3];
byte inside;

proctype P(byte i) {
	byte j;
start:
	b[i] = true;
	x = i;
	if
	:: y != 0 ->
		b[i] = false;
		y == 0;
		goto start
	:: y == 0
	fi;
	y = i;
	if
	:: x != i ->
		b[i] = false;
		for (j : 1 .. N) {
			!b[j]
		}
		j = 0;
		if
		:: y != i -> y == 0; goto start
		:: y == i
		fi
	:: x == i
	fi;
	inside++;
	assert(inside == 1);
	inside--;
	y = 0;
	b[i] = false;
	goto start
}

init {
	atomic {
		run P(1);
		run P(2)
	}
}
