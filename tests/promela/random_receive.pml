// Two processes take from one queue what is meant for them, in whatever order it stands there.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect total: proved
// SPIN: states: 83

mtype = { left, right };
chan q = [3] of { mtype, byte };
byte sum;

active proctype Source() {
	q!left(1);
	q!right(2);
	q!left(4);
	q!right(8)
}

active proctype Left() {
	byte x;
	q??left(x);
	sum = sum + x;
	q??left(x);
	assert(x == 4);
	sum = sum + x
}

active proctype Right() {
	byte x;
	q??right(x);
	assert(x == 2);
	sum = sum + x;
	q??right(x);
	sum = sum + x
}

ltl total { <> (sum == 15) }
