// Two processes put numbers into one channel by order; whoever takes them out gets the smallest first.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 16

chan q = [3] of { byte };
byte low, high;

active proctype Sender() {
	q!!2;
	q!!0
}

active proctype Other() {
	q!!1
}

active proctype Taker() {
	byte last;
	len(q) == 3;
	q?low; q?last;
	assert(low <= last);
	q?high;
	assert(last <= high);
	assert(low == 0 && last == 1 && high == 2)
}
