// The alternating bit protocol, where the receiver acknowledges what it waits for and not what it got, over channels
// that lose messages; the sender takes every acknowledgement for its own.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define MAX 3

mtype = { msg, ack };
chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype };

active proctype Sender() {
	byte data;
	bit seq;
	do
	:: to_receiver!msg(data, seq)
	:: to_sender?ack ->
		seq = 1 - seq;
		data = (data + 1) % MAX
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
		to_sender!ack
	od
}
