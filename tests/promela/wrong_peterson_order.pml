// Peterson's algorithm with its two first assignments exchanged: the turn is given away before the flag is up.
//@ expect checks: violated
//@ expect deadlock_free: proved

bool flag[2];
bit turn;
byte inside;

active [2] proctype P() {
	do
	:: turn = 1 - _pid;
	   flag[_pid] = true;
	   (!flag[1 - _pid] || turn == _pid);
	   inside = inside + 1;
	   assert(inside == 1);
	   inside = inside - 1;
	   flag[_pid] = false
	od
}
