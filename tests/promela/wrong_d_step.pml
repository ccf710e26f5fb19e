// The same exchange of two variables, once in one step and once in three: the sum is seen to change.
//@ expect checks: violated
//@ expect deadlock_free: proved

byte x = 1, y = 2;

active proctype Careful() {
	byte t;
	d_step { t = x; x = y; y = t }
}

active proctype Careless() {
	byte t;
	t = x;
	x = y;
	y = t
}

active proctype Observer() {
	assert(x + y == 3)
}
