// A declaration behind a statement is a step that sets the variable, each time that control comes by.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 89

byte x, rounds;

active proctype P() {
	byte first = 3;
	x = first;
again:
	skip;
	byte late = x + 1;
	byte plain;
	late++;
	plain++;
	assert(plain == 1 && late == x + 2);
	if
	:: rounds < 2 -> rounds++; goto again
	:: else
	fi;
	{
		short inner = -1;
		assert(inner < 0)
	}
}

active proctype Q() {
	rounds++
}
