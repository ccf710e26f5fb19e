// An atomic sequence that blocks gives up its right: another process sees what it has half done.
//@ expect checks: violated
//@ expect deadlock_free: proved

byte x;
bool open;

active proctype P() {
	atomic {
		x = 1;
		open;
		x = 2
	}
}

active proctype Q() {
	assert(x != 1);
	open = true
}
