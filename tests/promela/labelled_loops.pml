// The counter of `for` is set in front of what a label of the loop names: a jump there does not set it again.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 75

byte i, rounds, n;
byte a[3];

active proctype Counter() {
again:
	for (i : 0 .. 2) {
		skip; skip; rounds++
	}
	if
	:: n == 0 -> n++; goto again
	:: else
	fi;
	assert(rounds == 3);
	for (i in a) {
		a[i] = i;
		if
		:: i == 1 -> break
		:: else
		fi
	}
	assert(i == 1 && a[2] == 0)
}

active proctype Watcher() {
	i == 2 unless n == 1
}
