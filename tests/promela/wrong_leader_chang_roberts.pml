// Leader election in a ring, where a node passes on all numbers but its own: all become leaders.
//@ expect checks: violated
//@ expect valid_end_states: proved

#define N 3

chan link[N] = [N] of { byte };
byte leaders;

proctype Node(byte at; byte mine) {
	byte seen;
	link[(at + 1) % N]!mine;
end:	do
	:: link[at]?seen ->
		if
		:: seen != mine -> link[(at + 1) % N]!seen
		:: else -> leaders++; assert(leaders == 1)
		fi
	od
}

init {
	atomic { run Node(0, 2); run Node(1, 1); run Node(2, 3) }
}
