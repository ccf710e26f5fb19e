// Lamport's bakery without the flags that say who is choosing.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define N 2

byte number[N];
byte inside;

active [N] proctype P() {
	byte k, m;
	d_step {
		if
		:: number[0] > number[1] -> m = number[0]
		:: else -> m = number[1]
		fi
	}
	number[_pid] = m + 1;
	for (k : 0 .. N - 1) {
		(number[k] == 0 || number[k] > number[_pid] || (number[k] == number[_pid] && k >= _pid))
	}
	inside++;
	assert(inside == 1);
	inside--;
	number[_pid] = 0
}
