// A counting semaphore as a channel of tokens: at most two of three processes are inside.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 136

#define N 3

mtype = { token };
chan sema = [2] of { mtype };
byte inside;

active [N] proctype P() {
	do
	:: sema?token;
	   inside++;
	   assert(inside <= 2);
	   inside--;
	   sema!token
	od
}

init {
	sema!token;
	sema!token
}
