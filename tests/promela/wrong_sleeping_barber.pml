// The sleeping barber who looks for customers and falls asleep in two steps: a customer comes in between, thinks that
// the barber is awake, and both wait.
//@ expect checks: proved
//@ expect valid_end_states: violated
// SPIN: states: 81

bool asleep;
byte waiting, called;

active proctype Barber() {
end:	do
	:: if
	   :: waiting == 0 ->
		asleep = true;
		!asleep
	   :: waiting > 0 ->
		waiting--;
		called++
	   fi
	od
}

active [2] proctype Customer() {
	d_step {
		waiting++;
		if
		:: asleep -> asleep = false
		:: else
		fi
	}
	atomic { called > 0; called-- }
}
