// An older process cannot die before a younger one, so the wait of the youngest for it never ends.
//@ expect checks: proved
//@ expect deadlock_free: violated
// SPIN: states: 2

active proctype Old() {
	skip
}

active proctype Young() {
	_nr_pr == 1
}
