// select gives any value of a range, for runs over one.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect small: violated
// SPIN: states: 71

byte x, sum;

init {
	byte i;
	select (x : 2 .. 5);
	assert(x >= 2 && x <= 5);
	for (i : 1 .. x) {
		sum = sum + i
	}
	assert(sum == x * (x + 1) / 2);
	assert(i == x + 1)
}

ltl small { [] (x < 5) }
