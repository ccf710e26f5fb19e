// A process may go around without progress for ever, by taking the second option only.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect no_non_progress_cycle: violated
// SPIN: states: 4

byte done;

active proctype P() {
	do
	:: done = 1 - done;
progress_work:	skip
	:: done = done
	od
}
