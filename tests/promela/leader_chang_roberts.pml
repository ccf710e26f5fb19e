// Leader election in a ring: a node passes on numbers higher than its own, and the one that gets its own back is the leader.
// Source: E. Chang and R. Roberts, An improved algorithm for decentralized extrema-finding (1979).
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect one_leader: proved
//@ expect elected_at_last: proved
//@ expect all_know: proved
// SPIN: states: 134

#define N 3

mtype = { candidate, elected };
chan link[N] = [N] of { mtype, byte };
byte leaders;
byte known;

proctype Node(byte at; byte mine) {
	byte seen;
	link[(at + 1) % N]!candidate(mine);
end:	do
	:: link[at]?candidate(seen) ->
		if
		:: seen > mine -> link[(at + 1) % N]!candidate(seen)
		:: seen < mine -> skip
		:: seen == mine ->
			leaders++;
			assert(mine == N);
			link[(at + 1) % N]!elected(mine)
		fi
	:: link[at]?elected(seen) ->
		known++;
		if
		:: seen != mine -> link[(at + 1) % N]!elected(seen)
		:: else
		fi;
		break
	od
}

init {
	atomic {
		run Node(0, 2);
		run Node(1, 1);
		run Node(2, 3)
	}
}

ltl one_leader { [] (leaders <= 1) }
ltl elected_at_last { <> (leaders == 1) }
ltl all_know { <> (known == N) }
