// Dining philosophers, of whom one takes the forks in the other order.
// Source: E. W. Dijkstra, Hierarchical ordering of sequential processes (1971).
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect somebody_eats: proved
// SPIN: states: 144

#define N 3

bool taken[N];
byte eating;

active [N] proctype Philosopher() {
	byte first, second;
	atomic {
		if
		:: _pid == 0 -> first = N - 1; second = 0
		:: else -> first = _pid - 1; second = _pid
		fi;
		if
		:: _pid == 0 -> first = 0; second = N - 1
		:: else
		fi
	}
	do
	:: atomic { !taken[first] -> taken[first] = true }
	   atomic { !taken[second] -> taken[second] = true }
	   eating++;
	   assert(eating == 1);
	   eating--;
	   taken[second] = false;
	   taken[first] = false
	od
}

ltl somebody_eats { []<> (eating > 0) }
