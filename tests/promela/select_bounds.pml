// A bound that is no number makes `select` a loop that counts up: others see the values on the way, and labels stand behind the first.
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect comes_to_one: proved
//@ expect both: violated
// SPIN: states: 248

#define N 4

byte x = 9, y, tries;
bool low, high;

active proctype Chooser() {
	select (x : 1 .. (N - 1));
again:
	select (y : x .. x + 1);
	tries++;
	if
	:: tries < 2 -> goto again
	:: else
	fi;
	d_step { select (y : 0 .. x); tries = 0 }
	assert(y == 0)
}

active proctype Watcher() {
end:
	x == 1 -> low = true;
end_high:
	x == 3 -> high = true
}

ltl comes_to_one { <> (x == 1) }
ltl both { [] !(low && high) }
