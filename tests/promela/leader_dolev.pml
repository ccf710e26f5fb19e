// Leader election in a ring of one direction: an active node learns the numbers of the two active nodes before it, and
// stays active, with the number of its neighbour, if that one is a local maximum.
// Source: D. Dolev, M. Klawe and M. Rodeh, An O(n log n) unidirectional algorithm (1982).
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect elected: proved
//@ expect never_two: proved
// SPIN: states: 663

#define N 3

mtype = { one, two, winner };
chan link[N] = [2 * N] of { mtype, byte };
byte leaders;

proctype Node(byte at; byte mine) {
	bool active_node = true, know;
	byte value, neighbour, maximum;
	maximum = mine;
	link[(at + 1) % N]!one(mine);
end:	do
	:: link[at]?one(value) ->
		if
		:: active_node ->
			if
			:: value != maximum ->
				link[(at + 1) % N]!two(value);
				neighbour = value
			:: else ->
				know = true;
				leaders++;
				assert(maximum == N);
				link[(at + 1) % N]!winner(value)
			fi
		:: else -> link[(at + 1) % N]!one(value)
		fi
	:: link[at]?two(value) ->
		if
		:: active_node ->
			if
			:: neighbour > value && neighbour > maximum ->
				maximum = neighbour;
				link[(at + 1) % N]!one(neighbour)
			:: else -> active_node = false
			fi
		:: else -> link[(at + 1) % N]!two(value)
		fi
	:: link[at]?winner(value) ->
		if
		:: !know -> know = true; link[(at + 1) % N]!winner(value)
		:: else
		fi;
		break
	od
}

init {
	atomic {
		run Node(0, 1);
		run Node(1, 3);
		run Node(2, 2)
	}
}

ltl elected { <> (leaders == 1) }
ltl never_two { [] (leaders < 2) }
