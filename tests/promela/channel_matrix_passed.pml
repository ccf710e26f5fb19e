// Rendezvous by a matrix: its channels are handed to processes that send, and named by the one that receives.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 41

#define N 2

typedef Row { chan to[N] = [0] of { byte } };
Row from[N];
byte got;

proctype Giver(chan out; byte what) {
	out!what
}

active proctype Taker() {
	byte x;
	do
	:: from[0].to[1]?x -> got = got + x
	:: from[1].to[0]?x -> got = got + x
	:: got == 7 -> break
	od;
	assert(x == 3 || x == 4)
}

init {
	atomic { run Giver(from[0].to[1], 3); run Giver(from[1].to[0], 4) }
}
