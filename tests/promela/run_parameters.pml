// Processes that are started one after the other with parameters of all kinds, and that hand on a result.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 63

mtype = { red, green };
chan results = [3] of { byte, mtype };

proctype Worker(byte n; mtype colour; bool twice; short bias) {
	byte x = n + bias;
	if
	:: twice -> x = 2 * x
	:: else
	fi;
	results!x, colour
}

init {
	byte x, sum;
	mtype c;
	pid first;
	first = run Worker(3, red, true, -1);
	assert(first == 1);
	run Worker(5, green, false, 2);
	results??x, eval(red);
	assert(x == 4);
	results?x, c;
	assert(x == 7 && c == green);
	sum = x
}
