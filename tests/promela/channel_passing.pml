// A client sends the channel on which it wants its answer.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 73

mtype = { ask };
chan server = [1] of { mtype, chan };
byte served;

active [2] proctype Client() {
	chan mine = [1] of { byte };
	byte x;
	server!ask(mine);
	mine?x;
	assert(x == 42)
}

active proctype Server() {
	chan who;
end:	do
	:: server?ask(who) -> who!42; served++
	od
}
