// Control by goto only: into and out of loops, and to labels in front of choices.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 23

byte n, rounds;

active proctype P() {
	goto middle;
top:
	if
	:: n >= 3 -> goto out
	:: else -> n++
	fi;
middle:
	do
	:: rounds < 4 -> rounds++; goto top
	:: n == 3 -> break
	:: rounds == 4 && n < 3 -> goto stuck
	od;
out:
	assert(n == 3 && rounds <= 4);
	goto last;
stuck:
	assert(false);
last:
	skip
}
