// Anderson's lock: an array of slots, of which one has the permission; a process takes a number and waits at its slot.
// Source: T. E. Anderson, The performance of spin lock alternatives (1990).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 976

#define N 3

bool may[N] = { true, false, false };
byte next;
byte inside;

active [N] proctype P() {
	byte slot;
	do
	:: atomic { slot = next; next = (next + 1) % N }
	   may[slot];
	   may[slot] = false;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   may[(slot + 1) % N] = true
	od
}
