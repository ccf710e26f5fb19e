// A rendezvous in the middle of an atomic sequence hands the exclusive right to the receiver.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 16

chan c = [0] of { byte };
byte x, y;

active proctype Sender() {
	atomic {
		x = 1;
		c!5;
		x = 2
	}
	assert(x == 2)
}

active proctype Receiver() {
	byte v;
	atomic {
		c?v;
		assert(x == 1);
		y = v;
		assert(x == 1)
	}
}

active proctype Other() {
	assert(x == 0 || y == 5 || x == 2)
}
