// The queue lock of Craig, Landin and Hagersten, where a process keeps its own cell: the next in the queue may find
// that the cell is busy again, which makes both wait.
//@ expect checks: proved
//@ expect deadlock_free: violated
// SPIN: states: 66

#define N 2

bool busy[3];
byte tail = N;
byte inside;

active [N] proctype P() {
	byte before;
	do
	:: busy[_pid] = true;
	   atomic { before = tail; tail = _pid }
	   !busy[before];
	   before = 0;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   busy[_pid] = false
	od
}
