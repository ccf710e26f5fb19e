// Szymanski's algorithm with five values of a flag per process: a waiting room whose door is closed behind a group.
// Tests of all flags are single steps here.
// Source: B. K. Szymanski, A simple solution to Lamport's concurrent programming problem (1988).
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 99

#define N 2

byte flag[N];
byte inside;

#define nobody_past_door	((flag[0] < 3) && (flag[1] < 3))
#define somebody_waits		((flag[0] == 1) || (flag[1] == 1))
#define somebody_through	((flag[0] == 4) || (flag[1] == 4))
#define lower_out		(_pid == 0 || flag[0] < 2)
#define higher_settled		(_pid == 1 || flag[1] < 2 || flag[1] > 3)

active [N] proctype P() {
	do
	:: flag[_pid] = 1;
	   nobody_past_door;
	   flag[_pid] = 3;
	   if
	   :: somebody_waits ->
		flag[_pid] = 2;
		somebody_through
	   :: else
	   fi;
	   flag[_pid] = 4;
	   lower_out;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   higher_settled;
	   flag[_pid] = 0
	od
}
