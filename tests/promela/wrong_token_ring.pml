// A ring with two tokens.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define N 3

chan ring[N] = [1] of { bit };
byte working;

active [N] proctype Node() {
	if
	:: _pid != 1 -> ring[(_pid + 1) % N]!1
	:: else
	fi;
	do
	:: ring[_pid]?1 ->
		working++;
		assert(working == 1);
		working--;
		ring[(_pid + 1) % N]!1
	od
}
