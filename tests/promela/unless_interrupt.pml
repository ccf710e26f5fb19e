// A loop that an interrupt leaves: the escape is tested before every statement of the loop.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 23

bool stop;
byte n;

active proctype Worker() {
	do
	:: n = (n + 1) % 3
	od unless {
		stop -> n = 7
	};
	assert(n == 7)
}

active proctype Interrupt() {
	skip;
	stop = true
}
