// Peterson's filter for N processes: N-1 levels, at each of which the last to arrive waits.
// Source: G. L. Peterson, Myths about the mutual exclusion problem (1981).
// SPIN: define: N=3
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 36963

#ifndef N
#define N 2
#endif

byte level[N];
byte last[N];
byte inside;

active [N] proctype P() {
	byte l, k;
	bool ahead;
	do
	:: l = 1;
	   do
	   :: l < N ->
		level[_pid] = l;
		last[l] = _pid;
wait:		skip;
		d_step {
			ahead = false;
			k = 0;
			do
			:: k < N ->
				if
				:: k != _pid && level[k] >= l -> ahead = true
				:: else
				fi;
				k++
			:: else -> break
			od;
			k = 0
		}
		if
		:: ahead && last[l] == _pid -> goto wait
		:: else
		fi;
		l++
	   :: else -> break
	   od;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   level[_pid] = 0;
	   l = 0
	od
}
