// A lock that is taken by test-and-set, with the wait in front of it (test-and-test-and-set), three processes.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect one: proved
//@ expect everybody: proved
// SPIN: states: 351

bool held;
byte inside;

inline test_and_set(var, old) {
	atomic { old = var; var = true }
}

active [3] proctype P() {
	bool old = true;
	do
	:: do
	   :: old -> !held; test_and_set(held, old)
	   :: !old -> break
	   od;
	   old = true;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   held = false
	od
}

ltl one { always (inside < 2) }
ltl everybody { always eventually (inside == 1) }
