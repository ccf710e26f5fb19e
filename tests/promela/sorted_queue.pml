// Messages that are put in by order and taken out of the middle.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 16

chan q = [4] of { byte, byte };
byte got;

init {
	byte x;
	q!!3, 1;
	q!!1, 2;
	q!!2, 3;
	assert(len(q) == 3);
	assert(q?[1, 2]);
	assert(!q?[3, 1] && q??[3, 1]);
	q??3, x;
	assert(x == 1);
	q?x, got;
	assert(x == 1 && got == 2);
	q?<x, got>;
	assert(x == 2 && got == 3 && len(q) == 1);
	q?x, got;
	assert(empty(q) && nfull(q))
}
