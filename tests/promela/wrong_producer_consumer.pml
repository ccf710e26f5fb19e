// Producers and consumers with one condition variable for both: a signal can wake a process of the same kind, which
// goes to sleep again, and then all are asleep.
//@ expect checks: proved
//@ expect deadlock_free: violated
// SPIN: states: 1236

bool lock;
byte fill;
byte waiting, go;

inline acquire() { atomic { !lock -> lock = true } }
inline wait() {
	atomic { waiting++; lock = false }
	atomic { go > 0 -> go-- }
	acquire()
}
inline signal() {
	atomic {
		if
		:: waiting > 0 -> waiting--; go++
		:: else
		fi;
		lock = false
	}
}

active [2] proctype Producer() {
	do
	:: acquire();
	   do
	   :: fill == 1 -> wait()
	   :: else -> break
	   od;
	   fill++;
	   signal()
	od
}

active [2] proctype Consumer() {
	do
	:: acquire();
	   do
	   :: fill == 0 -> wait()
	   :: else -> break
	   od;
	   fill--;
	   signal()
	od
}
