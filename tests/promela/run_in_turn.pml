// A process that starts the next of a chain, with one less to do, and waits for its answer.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 39

chan answer[4] = [0] of { byte };

proctype Sum(byte n) {
	byte x;
	if
	:: n == 0 -> x = 0
	:: n > 0 ->
		run Sum(n - 1);
		answer[n - 1]?x;
		x = x + n
	fi;
	answer[n]!x
}

init {
	byte result;
	run Sum(3);
	answer[3]?result;
	assert(result == 6)
}
