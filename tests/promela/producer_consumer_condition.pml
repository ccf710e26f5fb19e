// Producers and consumers of a buffer of one place, with a lock and two condition variables: a waiting process gives up
// the lock, and takes it again after it was signalled.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 273

#define SIZE 1

bool lock;
byte fill;
byte waiting_space, waiting_items, go_space, go_items;

inline acquire() { atomic { !lock -> lock = true } }
inline release() { lock = false }
inline wait(waiting, go) {
	atomic { waiting++; lock = false }
	atomic { go > 0 -> go-- }
	acquire()
}
inline signal(waiting, go) {
	d_step {
		if
		:: waiting > 0 -> waiting--; go++
		:: else
		fi
	}
}

active [2] proctype Producer() {
	do
	:: acquire();
	   do
	   :: fill == SIZE -> wait(waiting_space, go_space)
	   :: else -> break
	   od;
	   fill++;
	   assert(fill <= SIZE);
	   signal(waiting_items, go_items);
	   release()
	od
}

active proctype Consumer() {
	do
	:: acquire();
	   do
	   :: fill == 0 -> wait(waiting_items, go_items)
	   :: else -> break
	   od;
	   assert(fill > 0);
	   fill--;
	   signal(waiting_space, go_space);
	   release()
	od
}
