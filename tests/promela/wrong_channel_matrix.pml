// Channels in an array of records, where one index is that of the wrong array.
//@ expect checks: proved
//@ expect valid_end_states: violated
// SPIN: states: 7943

#define N 3

typedef Row {
	chan to[N] = [1] of { byte, bool };
	byte sent
};
Row from[N];
byte heard[N];

proctype Node(byte me) {
	byte other;
	byte value;
	for (other : 0 .. N - 1) {
		if
		:: other != me -> from[me].to[other]!me + 1, me > other; from[me].sent++
		:: else
		fi
	}
	for (other : 0 .. N - 1) {
		if
		:: other != me ->
			from[me].to[other]?value, eval(other > me);
			assert(value == other + 1 && empty(from[other].to[me]));
			heard[me] = heard[me] + value
		:: else
		fi
	}
	assert(heard[me] == 6 - (me + 1) && from[me].sent == N - 1)
}

init {
	atomic { run Node(0); run Node(1); run Node(2) }
}
