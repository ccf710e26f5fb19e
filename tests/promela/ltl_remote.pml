// Formulas over labels and local variables of processes.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect finishes: proved
//@ expect local_bound: proved
//@ expect order: proved
//@ expect too_early: violated
//@ expect reached: proved
// SPIN: states: 13

byte shared_value;

active proctype A() {
	byte x;
work:	do
	:: x < 3 -> x++
	:: x == 3 -> goto finished
	od;
finished:
	shared_value = x
}

active proctype B() {
	shared_value == 3;
late:	skip
}

ltl finishes { <> A@finished }
ltl local_bound { [] (A:x <= 3) }
ltl order { [] (B@late -> shared_value == 3) }
ltl too_early { [] (A:x < 3) }
ltl reached { <> B@late }
