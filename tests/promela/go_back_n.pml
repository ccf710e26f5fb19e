// Go-back-n with a window of two and sequence numbers modulo three; the line to the receiver may lose a message.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 2913

#define W 2
#define M 3

chan data_line = [2] of { byte };
chan ack_line = [2] of { byte };

active proctype Sender() {
	byte base, next, a;
	do
	:: ((next + M - base) % M) < W && nfull(data_line) ->
		data_line!next;
		next = (next + 1) % M
	:: ack_line?a ->
		if
		:: ((a + M - base) % M) < ((next + M - base) % M) -> base = (a + 1) % M
		:: else
		fi;
		a = 0
	:: next != base && empty(data_line) && empty(ack_line) -> next = base
	od
}

active proctype Receiver() {
	byte expected, got;
	do
	:: data_line?got ->
		if
		:: got == expected ->
			ack_line!got;
			expected = (expected + 1) % M
		:: got != expected ->
			if
			:: nfull(ack_line) -> ack_line!((expected + M - 1) % M)
			:: full(ack_line)
			fi
		fi;
		got = 0
	:: data_line?_
	od
}
