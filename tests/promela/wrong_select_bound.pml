// `select` with an expression as bound passes through the values below the one that it stops at.
//@ expect checks: violated
//@ expect valid_end_states: proved

#define N 4

byte x = 9;

active proctype Chooser() {
	select (x : 1 .. (N - 1))
}

active proctype Watcher() {
end:
	x == 1;
end2:
	x == 3 -> assert(false)
}
