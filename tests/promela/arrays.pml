// Arrays of every kind of value, global and local, with indices that are computed.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 813

byte bytes[3] = 7;
byte left[2];
bool flags[2];
mtype = { a, b, c };
mtype kinds[3];
short shorts[2] = { 5, 300 };

active [2] proctype P() {
	byte mine[3];
	byte i;
	for (i : 0 .. 2) {
		mine[i] = bytes[2 - i] + i
	}
	kinds[mine[2] - 7 - _pid] = (_pid == 0 -> b : c);
	flags[_pid] = mine[2] > mine[0];
	left[_pid] = bytes[_pid] - mine[0];
	assert(left[_pid] == 0 && flags[_pid] && shorts[0] - 6 < 0 && shorts[1] == 300);
	for (i in mine) {
		assert(mine[i] == 7 + i)
	}
	assert(kinds[2] != a)
}
