// Receives that take a message only if a field has the value of a variable or of an expression.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 26

chan q = [2] of { byte, byte };
byte turn;

active [2] proctype Sender() {
	q!_pid, 10 + _pid
}

active proctype Taker() {
	byte v;
	do
	:: turn < 2 ->
		q??eval(turn), v;
		assert(v == 10 + turn);
		turn++
	:: else -> break
	od;
	assert(turn == 2)
}
