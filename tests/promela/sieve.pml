// The sieve of Eratosthenes as a pipeline: each stage keeps the first number it gets and passes on what that one does
// not divide. The channels are handed over as parameters.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 1497

#define MAX 9

chan pipe[5] = [1] of { byte };
byte primes;

proctype Stage(byte k; chan in; chan out) {
	byte mine, x;
	in?mine;
	if
	:: mine != 0 -> d_step { primes++; assert(mine == 2 || mine % 2 == 1) }
	:: else -> out!0; goto done
	fi;
	do
	:: in?x ->
		if
		:: x == 0 -> out!0; break
		:: x != 0 && x % mine != 0 -> out!x
		:: else
		fi
	od;
done:
	skip
}

init {
	byte i, x;
	atomic {
		run Stage(0, pipe[0], pipe[1]);
		run Stage(1, pipe[1], pipe[2]);
		run Stage(2, pipe[2], pipe[3]);
		run Stage(3, pipe[3], pipe[4])
	}
	for (i : 2 .. MAX) {
		pipe[0]!i
	}
	pipe[0]!0;
	pipe[4]?x;
	assert(x == 0 && primes == 4)
}
