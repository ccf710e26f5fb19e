// Two-phase commit, where a participant that has not heard the decision decides by itself after a while.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect agree: violated
// SPIN: states: 189

#define N 2

mtype = { yes, no, commit, abort };
chan to[N] = [1] of { mtype };
chan votes = [N] of { mtype };
mtype result[N];

active [N] proctype Participant() {
	mtype m;
	if
	:: votes!yes
	:: votes!no
	fi;
	if
	:: to[_pid]?m -> result[_pid] = m
	:: result[_pid] = abort
	fi
}

active proctype Coordinator() {
	bool all = true;
	if
	:: votes?yes
	:: votes?no -> all = false
	fi;
	if
	:: votes?yes
	:: votes?no -> all = false
	fi;
	if
	:: all -> to[0]!commit; to[1]!commit
	:: else -> to[0]!abort; to[1]!abort
	fi
}

ltl agree { [] !(result[0] == commit && result[1] == abort) }
