// A token goes around a ring of rendezvous channels; who has it may work.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 69

#define N 4

chan ring[N] = [0] of { bit };
byte working;

proctype Node(byte i) {
	if
	:: i == 0 -> goto have
	:: else
	fi;
wait:
	ring[i]?1;
have:
	if
	:: working++; assert(working == 1); working--
	:: skip
	fi;
	ring[(i + 1) % N]!1;
	goto wait
}

init {
	byte k = 0;
	atomic {
		do
		:: k < N -> run Node(k); k++
		:: k == N -> break
		od
	}
}
