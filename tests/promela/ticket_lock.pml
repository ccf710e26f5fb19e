// The ticket lock, with tickets of two bits that wrap around: that is right as long as fewer than four processes wait.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 1709

#define N 3

unsigned next : 2 = 3;
unsigned serving : 2 = 3;
byte inside;

active [N] proctype P() {
	unsigned mine : 2;
	do
	:: atomic { mine = next; next++ }
	   serving == mine;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   serving = serving + 1
	od
}
