// A barrier that turns its sense around: the last to arrive resets the counter and flips the common sense, for which the
// others wait. Nobody is ever more than one round ahead.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 1284

#define N 3

byte count = N;
bool sense;
byte round[N];

active [N] proctype P() {
	bool mine = true;
	do
	:: round[_pid] = (round[_pid] + 1) % 3;
	   if
	   :: atomic { count == 1 -> count = N; sense = mine }
	   :: atomic { count > 1 -> count-- }
	      sense == mine
	   fi;
	   assert(round[(_pid + 1) % N] != (round[_pid] + 2) % 3);
	   mine = !mine
	od
}
