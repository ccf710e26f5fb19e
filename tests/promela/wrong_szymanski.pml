// Szymanski's algorithm without the last wait for processes with lower numbers.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define N 2

byte flag[N];
byte inside;

#define nobody_past_door	((flag[0] < 3) && (flag[1] < 3))
#define somebody_waits		((flag[0] == 1) || (flag[1] == 1))
#define somebody_through	((flag[0] == 4) || (flag[1] == 4))

active [N] proctype P() {
	do
	:: flag[_pid] = 1;
	   nobody_past_door;
	   flag[_pid] = 3;
	   if
	   :: somebody_waits -> flag[_pid] = 2; somebody_through
	   :: else
	   fi;
	   flag[_pid] = 4;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   flag[_pid] = 0
	od
}
