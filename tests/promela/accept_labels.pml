// Acceptance labels: the label is passed at most twice, so no cycle has it.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect no_acceptance_cycle: proved
// SPIN: states: 5

byte tries;

active proctype P() {
	do
	:: tries < 2 ->
accept_try:	tries++
	:: tries = tries
	od
}
