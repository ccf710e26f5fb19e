// A rendezvous may begin a `d_step`: what follows the receive belongs to the same step.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 53

chan c = [0] of { byte, byte };
byte sum, sent;

active proctype Sender() {
	do
	:: sent < 3 -> sent++; c ! sent, 2
	:: sent == 3 -> break
	od;
	atomic { sent = 0; c ! 0, 0; sent = 7 }
}

active [2] proctype Receiver() {
	byte n, by;
end:
	do
	:: d_step {
		c ? n, by;
		do
		:: by > 0 -> by--; sum = sum + n
		:: else -> break
		od;
		n = 0
	}
	:: d_step { c ? 0, n; sum++ } -> break
	od
}

active proctype Watcher() {
	assert(sum % 2 == 0 || sum == 13)
}
