// The queue lock of Craig, Landin and Hagersten: a process spins at the cell of the one before it, and takes that cell over.
// Source: T. S. Craig, Building FIFO and priority-queuing spin locks (1993).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 15552

#define N 3

bool busy[4];
byte tail = N;
byte inside;

active [N] proctype P() {
	byte mine = _pid;
	byte before;
	do
	:: busy[mine] = true;
	   atomic { before = tail; tail = mine }
	   !busy[before];
	   inside++;
	   assert(inside == 1);
	   inside--;
	   busy[mine] = false;
	   d_step { mine = before; before = 0 }
	od
}
