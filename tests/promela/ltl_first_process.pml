// A label without a pid is that of the first process of its kind, while that is there.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect first: proved
//@ expect once: proved
//@ expect not_all: violated
//@ expect reached: proved
// SPIN: states: 13

byte turn;
byte entered;

active [3] proctype P() {
	turn == _pid;
critical:
	entered++;
	turn++
}

ltl first { [] (P@critical -> turn == 0) }
ltl once { [] (entered > 0 -> [] !P@critical) }
ltl not_all { [] (turn == 1 -> <> P@critical) }
ltl reached { <> P@critical }
