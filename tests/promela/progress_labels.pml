// Every cycle comes by a progress label: the token is passed on again and again.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect no_non_progress_cycle: proved
// SPIN: states: 4

byte token;

active [2] proctype P() {
	do
	:: token == _pid ->
progress:	token = 1 - token
	od
}
