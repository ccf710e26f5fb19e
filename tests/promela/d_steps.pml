// Deterministic steps with loops and choices inside are one step each: nobody sees an array half sorted.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 56

#define N 4

byte a[N] = { 3, 1, 2, 0 };
bool done;

active proctype Sorter() {
	byte i, j, t;
	d_step {
		i = 0;
		do
		:: i < N - 1 ->
			j = 0;
			do
			:: j < N - 1 - i ->
				if
				:: a[j] > a[j + 1] -> t = a[j]; a[j] = a[j + 1]; a[j + 1] = t
				:: else
				fi;
				j++
			:: else -> break
			od;
			i++
		:: else -> break
		od;
		i = 0; j = 0; t = 0
	}
	done = true
}

active proctype Reader() {
	byte k;
	done;
	for (k : 0 .. N - 1) {
		assert(a[k] == k)
	}
}

active proctype Watcher() {
	assert((a[0] == 0) == (a[3] == 3))
}
