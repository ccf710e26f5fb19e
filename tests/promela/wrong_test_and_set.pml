// A lock whose test and set are two steps.
//@ expect checks: violated
//@ expect deadlock_free: proved

bool held;
byte inside;

active [2] proctype P() {
	do
	:: !held;
	   held = true;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   held = false
	od
}
