// The queue lock of Mellor-Crummey and Scott: each process spins at a cell of its own and is woken by the one before.
// Source: J. M. Mellor-Crummey and M. L. Scott, Algorithms for scalable synchronization (1991).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 142

#define N 2
#define NOBODY N

byte tail = NOBODY;
byte next[N] = NOBODY;
bool locked[N];
byte inside;

active [N] proctype P() {
	byte before;
	do
	:: next[_pid] = NOBODY;
	   atomic { before = tail; tail = _pid }
	   if
	   :: before != NOBODY ->
		locked[_pid] = true;
		next[before] = _pid;
		!locked[_pid]
	   :: else
	   fi;
	   before = 0;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   if
	   :: next[_pid] == NOBODY ->
		if
		:: atomic { tail == _pid -> tail = NOBODY }
		:: atomic { tail != _pid -> skip }
		   next[_pid] != NOBODY;
		   locked[next[_pid]] = false
		fi
	   :: else -> locked[next[_pid]] = false
	   fi
	od
}
