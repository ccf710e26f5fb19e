// A server that waits for ever for requests is at a valid end.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 7

chan requests = [0] of { byte };
byte served;

active proctype Server() {
	byte r;
end_idle:
	do
	:: requests?r -> served = served + r
	od
}

active proctype Client() {
	requests!3;
	requests!4;
	served == 7
}
