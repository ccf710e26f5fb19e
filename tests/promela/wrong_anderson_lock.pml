// Anderson's lock with fewer slots than processes: two wait at the same slot.
//@ expect checks: violated
//@ expect valid_end_states: proved

#define SLOTS 2
#define N 3

bool may[SLOTS];
byte next;
byte inside;

proctype P() {
	byte slot;
	do
	:: atomic { slot = next; next = (next + 1) % SLOTS }
	   may[slot];
	   inside++;
	   assert(inside == 1);
	   inside--;
	   may[slot] = false;
	   may[(slot + 1) % SLOTS] = true
	od
}

init {
	atomic {
		may[0] = true;
		run P(); run P(); run P()
	}
}
