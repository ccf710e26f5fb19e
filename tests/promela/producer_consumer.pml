// A producer and a consumer with a channel of two places; the consumer sees the numbers in order.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 124

#define LAST 5

chan buffer = [2] of { byte };

active proctype Producer() {
	byte i;
	for (i : 1 .. LAST) {
		buffer!i
	}
}

active proctype Consumer() {
	byte x, expected = 1;
	do
	:: buffer?x;
	   assert(x == expected);
	   expected++
	:: expected > LAST -> break
	od
}
