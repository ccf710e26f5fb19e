// Acceptance labels: the process can come back to the label without end.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect no_acceptance_cycle: violated
// SPIN: states: 4

bit x;

active proctype P() {
	do
	:: x = 1 - x;
accept_again:	skip
	od
}
