// Two processes that compete for a lock: somebody always gets it, but one process may never do.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect somebody: proved
//@ expect first: violated
//@ expect second: violated
//@ expect if_free: proved
// SPIN: states: 3

bool lock;
byte who;

active [2] proctype P() {
	do
	:: atomic { !lock -> lock = true; who = _pid + 1 }
	   atomic { who = 0; lock = false }
	od
}

ltl somebody { [] <> lock }
ltl first { [] <> (who == 1) }
ltl second { <> (who == 2) }
ltl if_free { [] (lock -> <> !lock) }
