// Inlines that give a result, and labels in inlines that are called twice.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 118

byte x, y, z;

inline larger(a, b) {
	return (a > b -> a : b)
}

inline upto(v, most) {
	do
	:: v < most -> v++
	:: v >= most -> goto enough
	od;
	enough: skip
}

active proctype P() {
	x = larger(2, 5);
	upto(y, x);
	assert(y == 5);
	y = larger(y, 7);
	upto(x, 6);
	assert(x == 6 && y == 7)
}

active proctype Q() {
	z = larger(x, y)
}
