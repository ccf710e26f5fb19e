// A sliding window as large as the number of sequence numbers: after a loss of the acknowledgements the receiver takes
// what is repeated for something new.
//@ expect checks: violated
//@ expect valid_end_states: proved

#define W 2

chan data_line = [2] of { bit, byte };
chan ack_line = [2] of { bit };

active proctype Sender() {
	byte base, sent;
	bit a;
	do
	:: sent < base + W && sent < 3 && nfull(data_line) -> data_line!(sent % 2), sent; sent++
	:: ack_line?a ->
		if
		:: base < sent && a == base % 2 -> base++
		:: else
		fi
	:: sent > base && empty(data_line) && empty(ack_line) -> sent = base
	:: base == 3 -> break
	od
}

active proctype Receiver() {
	byte expected, value;
	bit s;
end:	do
	:: data_line?s,value ->
		if
		:: s == expected % 2 && expected < 4 ->
			assert(value == expected);
			expected++;
			if
			:: ack_line!s
			:: skip
			fi
		:: else -> ack_line!s
		fi
	od
}
