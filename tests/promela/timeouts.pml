// timeout is true exactly when nothing else can be done: the watchdog goes on only when the worker is stuck.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect at_last: proved
// SPIN: states: 15

byte x;
byte rescued;

active proctype Worker() {
	do
	:: x < 3 -> x++
	:: x == 9 -> break
	od
}

active proctype Watchdog() {
	do
	:: timeout -> assert(x == 3); rescued++; x = 9; break
	od
}

ltl at_last { <> (rescued == 1) }
