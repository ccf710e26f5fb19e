// The alternating bit protocol over channels that can lose messages: what is delivered is what was sent, in order.
// Source: K. A. Bartlett, R. A. Scantlebury and P. T. Wilkinson, A note on reliable full-duplex transmission (1969).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 664

#define MAX 3

mtype = { msg, ack };
chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype, bit };

active proctype Sender() {
	byte data;
	bit seq, got;
	do
	:: to_receiver!msg(data, seq)
	:: to_sender?ack(got) ->
		if
		:: got == seq ->
			seq = 1 - seq;
			data = (data + 1) % MAX
		:: else
		fi
	:: to_receiver?_,_,_
	od
}

active proctype Receiver() {
	byte data, expected;
	bit seq, wanted;
	do
	:: to_receiver?msg(data, seq) ->
		if
		:: seq == wanted ->
			assert(data == expected);
			expected = (expected + 1) % MAX;
			wanted = 1 - wanted
		:: else
		fi;
		to_sender!ack(seq)
	:: to_sender?_,_
	od
}
