// The sleeping barber: two chairs for customers who wait; who finds none goes away.
// Source: E. W. Dijkstra, Cooperating sequential processes (1965).
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect all_done: proved
// SPIN: states: 639

#define CHAIRS 1
#define CUSTOMERS 3

byte waiting;
byte ready;
byte called;
byte served, left;

active proctype Barber() {
end:	do
	:: atomic { ready > 0 -> ready-- }
	   atomic { waiting--; called++ }
	   served++
	od
}

active [CUSTOMERS] proctype Customer() {
	if
	:: atomic { waiting < CHAIRS -> waiting++; ready++ }
	   atomic { called > 0 -> called-- }
	:: atomic { waiting >= CHAIRS -> left++ }
	fi;
	assert(served + left <= CUSTOMERS)
}

ltl all_done { <> (served + left == CUSTOMERS) }
