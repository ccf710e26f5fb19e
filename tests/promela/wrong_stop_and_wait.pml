// Stop and wait without a timeout: the first lost message stops everything.
//@ expect checks: proved
//@ expect valid_end_states: violated
// SPIN: states: 24

chan out = [0] of { byte };
chan in = [0] of { byte };
chan back = [1] of { bit };

active proctype Sender() {
	byte i;
	for (i : 1 .. 3) {
		out!i;
		back?1
	}
}

active proctype Line() {
	byte x;
end:	do
	:: out?x;
	   if
	   :: in!x
	   :: true
	   fi
	od
}

active proctype Receiver() {
	byte x;
end:	do
	:: in?x -> back!1
	od
}
