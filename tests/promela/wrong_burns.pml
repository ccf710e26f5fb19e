// Burns' algorithm without the second look at the processes with lower numbers.
//@ expect checks: violated
//@ expect deadlock_free: proved

#define N 2

bit flag[N];
byte inside;

active [N] proctype P() {
	byte k;
	do
	:: flag[_pid] = 0;
	   for (k : 0 .. N - 1) {
		(k >= _pid || flag[k] == 0)
	   }
	   flag[_pid] = 1;
	   for (k : 0 .. N - 1) {
		(k <= _pid || flag[k] == 0)
	   }
	   k = 0;
	   inside++;
	   assert(inside == 1);
	   inside--
	od
}
