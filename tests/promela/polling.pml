// A process looks into queues before it takes anything: len, full, empty and polls.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 49

chan low = [2] of { byte };
chan high = [1] of { byte };
byte taken;

active proctype Source() {
	low!1;
	high!9;
	low!2
}

active proctype Sink() {
	byte x;
	do
	:: high?[9] -> high?x; assert(x == 9); taken++
	:: empty(high) && len(low) > 0 -> low?x; assert(x < 3); taken++
	:: taken == 3 -> break
	od;
	assert(empty(low) && nfull(high) && nfull(low))
}
