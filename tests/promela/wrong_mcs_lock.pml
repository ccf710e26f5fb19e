// The queue lock of Mellor-Crummey and Scott, where a process says that it waits only after it is linked: it can lose its
// wake-up and wait for ever.
//@ expect checks: proved
//@ expect deadlock_free: violated
// SPIN: states: 170

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
		next[before] = _pid;
		locked[_pid] = true;
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
