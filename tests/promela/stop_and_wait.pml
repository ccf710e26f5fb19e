// Stop and wait over a line that loses messages: a timeout repeats what was not acknowledged, and a bit tells repeated
// messages from new ones. Losing is a choice of the line's process.
//@ expect checks: proved
//@ expect valid_end_states: proved
//@ expect in_order: proved
//@ expect all_arrive: violated
// SPIN: states: 42

mtype = { data, acknowledge };
chan sender_out = [0] of { mtype, bit };
chan receiver_in = [0] of { mtype, bit };
chan back = [1] of { mtype, bit };
byte sent, delivered;

active proctype Sender() {
	bit s;
	sent = 1;
	do
	:: sender_out!data(s);
	   if
	   :: back?acknowledge(eval(s)) ->
		s = 1 - s;
		if
		:: sent == 3 -> break
		:: else -> sent++
		fi
	   :: timeout -> skip
	   fi
	od
}

active proctype Line() {
	bit b;
end:	do
	:: sender_out?data(b);
	   if
	   :: receiver_in!data(b)
	   :: skip
	   fi
	od
}

active proctype Receiver() {
	bit b, wanted;
end:	do
	:: receiver_in?data(b) ->
		if
		:: b == wanted -> delivered++; assert(delivered == sent); wanted = 1 - wanted
		:: else
		fi;
		back!acknowledge(b)
	od
}

ltl in_order { [] (delivered <= sent) }
ltl all_arrive { <> (delivered == 3) }
