// Formulas with the words for the operators.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect either: proved
//@ expect follows: proved
//@ expect same: proved
//@ expect strict: proved
//@ expect strong: proved
//@ expect weak: proved
//@ expect freed: proved
//@ expect never_up: violated
// SPIN: states: 10

bool up, seen;
byte x;

active proctype P() {
	do
	:: x < 2 -> x++; up = !up
	:: x == 2 -> break
	od;
	seen = true
}

ltl either { (always !seen) || (eventually (x == 2)) }
ltl follows { always ((x == 2) implies (eventually seen)) }
ltl same { (eventually seen) equivalent (eventually (x == 2)) }
ltl strict { !seen until (x == 2) }
ltl strong { !seen stronguntil (x == 1) }
ltl weak { !seen weakuntil (x == 2) }
ltl freed { (x == 2) release !seen }
ltl never_up { always !up }
