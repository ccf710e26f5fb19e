// A barrier with a counter that the last to leave resets: a fast process arrives again before a slow one has left, and
// both kinds of counting mix.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define N 2

byte arrived;
byte round[N];

active [N] proctype P() {
	do
	:: round[_pid] = (round[_pid] + 1) % 4;
	   arrived++;
	   arrived >= N;
	   assert(round[0] == round[1]);
	   arrived--
	od
}
