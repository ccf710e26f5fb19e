// A never claim that a run can follow: the value goes up twice without going down.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect never: violated
// SPIN: states: 7

byte x;

active proctype P() {
	do
	:: x < 2 -> x++
	:: x > 0 -> x--
	od
}

never {
	do
	:: x == 0
	:: x == 1 -> break
	od;
	do
	:: x == 1
	:: x == 2 -> break
	od
}
