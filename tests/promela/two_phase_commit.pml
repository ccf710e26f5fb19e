// Two-phase commit with two participants that vote as they like: nobody commits if one has voted no.
//@ expect checks: proved
//@ expect deadlock_free: proved
//@ expect agree: proved
//@ expect careful: proved
//@ expect decided: proved
// SPIN: states: 452

#define N 2

mtype = { prepare, yes, no, commit, abort };
chan to[N] = [1] of { mtype };
chan votes = [N] of { mtype };
mtype:outcome = { undecided, committed, aborted };
mtype:outcome result[N];
bool refused;

active [N] proctype Participant() {
	result[_pid] = undecided;
	to[_pid]?prepare;
	if
	:: votes!yes
	:: refused = true; votes!no
	fi;
	if
	:: to[_pid]?commit -> result[_pid] = committed
	:: to[_pid]?abort -> result[_pid] = aborted
	fi
}

active proctype Coordinator() {
	byte i, count;
	mtype decision;
	for (i : 0 .. N - 1) {
		to[i]!prepare
	}
	for (i : 0 .. N - 1) {
		if
		:: votes?yes -> count++
		:: votes?no
		fi
	}
	decision = (count == N -> commit : abort);
	for (i : 0 .. N - 1) {
		to[i]!decision
	}
}

ltl agree { [] !(result[0] == committed && result[1] == aborted) }
ltl careful { [] (refused -> result[0] != committed) }
ltl decided { <> (result[0] == committed || result[0] == aborted) }
