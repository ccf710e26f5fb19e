// Lamport's bakery for two processes, each of which goes in three times at most, so that numbers stay small.
// Source: L. Lamport, A new solution of Dijkstra's concurrent programming problem (1974).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 13400

#define N 2

bool choosing[N];
byte number[N];
byte inside;

inline highest(result) {
	d_step {
		if
		:: number[0] > number[1] -> result = number[0]
		:: else -> result = number[1]
		fi
	}
}

active [N] proctype P() {
	byte k, m, rounds;
	do
	:: rounds == 3 -> break
	:: rounds < 3 ->
	   rounds++;
	   choosing[_pid] = true;
	   highest(m);
	   number[_pid] = m + 1;
	   choosing[_pid] = false;
	   m = 0;
	   for (k : 0 .. N - 1) {
		!choosing[k];
		(number[k] == 0 || number[k] > number[_pid] || (number[k] == number[_pid] && k >= _pid))
	   }
	   inside++;
	   assert(inside == 1);
	   inside--;
	   number[_pid] = 0
	od
}
