// A counter that is a byte, and a limit that is out of its reach: it starts again at zero.
//@ expect checks: violated
//@ expect deadlock_free: proved

byte count = 253;
byte steps;

active proctype P() {
	do
	:: steps < 5 ->
		count++;
		steps++;
		assert(count >= 253)
	:: else -> break
	od
}
