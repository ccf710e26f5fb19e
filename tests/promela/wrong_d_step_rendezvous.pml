// The receive of a rendezvous is the first statement of a `d_step`: the value arrives, and it is not 4.
//@ expect checks: violated
//@ expect valid_end_states: proved

chan c = [0] of { byte };
byte got;

active proctype Sender() {
end:
	c ! 5
}

active proctype Receiver() {
	byte x;
end:
	d_step { c ? x; got = x }
	assert(got == 4)
}
