// Lamport's fast mutual exclusion without the wait for the others' flags: whoever was between its test of x and its
// assignment of y is not seen.
//@ expect checks: violated
//@ expect valid_end_states: proved

byte x, y;
bool b[3];
byte inside;

proctype P(byte i) {
start:
	b[i] = true;
	x = i;
	if
	:: y != 0 -> b[i] = false; y == 0; goto start
	:: y == 0
	fi;
	y = i;
	if
	:: x != i ->
		b[i] = false;
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
	atomic { run P(1); run P(2) }
}
