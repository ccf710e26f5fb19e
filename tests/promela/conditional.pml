// Conditional expressions, bit operators, shifts, division and remainder.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 11

byte r;

active proctype P() {
	int x = -7;
	byte m = 12;
	r = (x < 0 -> 1 : 2);
	assert(r == 1);
	assert(x / 2 == -3 && x % 2 == -1);
	assert((m & 10) == 8 && (m | 3) == 15 && (m ^ 5) == 9);
	assert(m << 1 == 24 && m >> 2 == 3);
	assert(~m == -13);
	assert(!(m == 12) == 0);
	r = (m > 3) + (m > 20);
	assert(r == 1)
}
