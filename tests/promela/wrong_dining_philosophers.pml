// Dining philosophers who all take the fork at the left first. Forks are channels with a token.
//@ expect checks: proved
//@ expect valid_end_states: violated
// SPIN: states: 36

#define N 3

chan fork[N] = [1] of { bit };

proctype Philosopher(byte i) {
	do
	:: fork[i]?_;
	   fork[(i + 1) % N]?_;
	   skip;
	   fork[i]!1;
	   fork[(i + 1) % N]!1
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			fork[i]!1;
			run Philosopher(i)
		}
	}
}
