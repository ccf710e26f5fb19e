// The same server without the label: that it waits for ever is an invalid end state.
//@ expect checks: proved
//@ expect valid_end_states: violated
// SPIN: states: 7

chan requests = [0] of { byte };
byte served;

active proctype Server() {
	byte r;
	do
	:: requests?r -> served = served + r
	od
}

active proctype Client() {
end:	requests!3;
	requests!4;
	served == 7
}
