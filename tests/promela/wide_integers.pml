// Integers of 32 bits of which few values occur, though neither types nor guards say so.
// Source: the problem of L. Collatz, from 27 on.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect positive: proved
//@ expect finishes: proved
//@ expect high: proved
//@ expect higher: violated
// SPIN: states: 336

int n = 27, steps;

active proctype Collatz() {
	do
	:: n == 1 -> break
	:: n != 1 && n % 2 == 0 -> n = n / 2; steps++
	:: n != 1 && n % 2 == 1 -> n = 3 * n + 1; steps++
	od
}

ltl positive { [] (n > 0) }
ltl finishes { <> (n == 1) }
ltl high { <> (n == 9232) }
ltl higher { <> (n > 9232) }
