// Inlines that call inlines, with arrays and expressions as arguments, and with variables of their own.
//@ expect checks: proved
//@ expect deadlock_free: proved
// SPIN: states: 26

byte a[3];
byte total;

inline add(target, amount) {
	target = target + amount
}

inline add_twice(target, amount) {
	add(target, amount);
	add(target, (amount) * 2)
}

inline sum(into) {
	byte i;
	for (i : 0 .. 2) {
		add(into, a[i])
	}
}

active [2] proctype P() {
	add_twice(a[_pid], _pid + 1)
}

init {
	a[0] == 3 && a[1] == 6;
	sum(total);
	assert(total == 9)
}
