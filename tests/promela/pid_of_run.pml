// The pid that `run` gives is stored as its variable is wide: the third process has an even one.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 15

bit odd;
byte n, p;

proctype Child() {
	n++
}

init {
	atomic {
		p = run Child();
		odd = run Child();
		assert(p == 1 && odd == 0)
	}
	n == 2;
	assert(n + p == 3)
}
