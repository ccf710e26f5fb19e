// Dijkstra's binary semaphore as a process that is spoken to by rendezvous.
//@ expect checks: proved
//@ expect valid_end_states: proved
// SPIN: states: 39

mtype = { p, v };
chan sema = [0] of { mtype };
byte inside;

active proctype Semaphore() {
	byte count = 1;
end:	do
	:: (count == 1) -> sema!p; count = 0
	:: (count == 0) -> sema?v; count = 1
	od
}

active [3] proctype User() {
end:	do
	:: sema?p;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   sema!v
	od
}
