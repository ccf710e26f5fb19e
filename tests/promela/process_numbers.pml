// The number of processes goes down only when the youngest dies: _nr_pr and the order of dying.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 15

byte started;

proctype Child() {
	started++
}

init {
	assert(_nr_pr == 1);
	run Child();
	run Child();
	(_nr_pr == 1);
	assert(started == 2)
}
