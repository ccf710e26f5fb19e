// A jump is a step where a block or an atomic sequence begins with it, and nowhere else but in an option that begins with it.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 167

byte x, i;

inline leave() {
	goto out
}

active proctype Jumper() {
	do
	:: x < 2 -> x++; { break }
	:: { break }
	:: atomic { x = 3; { break } }
	od;
	again: { goto on; x = 9 };
	on: x++;
	for (i : 0 .. 1) { skip; skip; break };
	for (i : 0 .. 1) { { break } };
	atomic { { goto in }; x = 4 };
	in: { x = 5; goto near; x = 6 } unless { x == 7 };
	near:
	if
	:: x == 5 -> x = 1; goto again
	:: else -> leave()
	fi;
	x = 8;
	out: skip
}

active proctype Other() {
	x = 7
}
