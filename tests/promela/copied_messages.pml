// Receives that leave the message in the channel, of the first message or of any that fits; numbers below zero as patterns.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 20

mtype = { data, stop };

chan c = [3] of { mtype, short };
short n, m;
byte seen;

active proctype Sender() {
	c ! data(-2);
	c ! data(4);
	c ! stop, -1
}

active proctype Receiver() {
	c ? <data, n>;
	assert(n == -2 && len(c) >= 1);
	c ?? <stop, m>;
	assert(m == -1);
	c ?? <data(4)> -> seen++;
	c ? data, -2;
	c ?? stop(m);
	c ? data(n);
	assert(n == 4 && len(c) == 0)
}
